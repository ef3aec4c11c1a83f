/* Status codes of libhfgguf. Functions return 0 or one of these, negated where a count is returned too. */
#ifndef HFGGUF_ERROR_H
#define HFGGUF_ERROR_H

enum hfgguf_status {
	HFGGUF_OK = 0,
	HFGGUF_NOMEM = -1,       /* an allocation failed */
	HFGGUF_IO = -2,          /* a source cannot be read, or is not any more what it was at mount */
	HFGGUF_NOT_FOUND = -3,   /* a file, tensor or key that must be there is not */
	HFGGUF_CORRUPT = -4,     /* a source contradicts its format or itself */
	HFGGUF_UNSUPPORTED = -5, /* well-formed, but no rule for it here */
	HFGGUF_OPTION = -6,      /* an option is unknown, malformed or contradicts another */
	HFGGUF_RANGE = -7,       /* a size or offset overflows or is past the end */
	HFGGUF_INTERRUPTED = -8, /* stopped by a signal or by the caller */
};

#ifdef __cplusplus
extern "C" {
#endif

/* A short constant English phrase for a code; never NULL. Thread safe. */
const char *hfgguf_strerror(int status);

#ifdef __cplusplus
}
#endif

#endif
