#include "core/util/err.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

int err_set(struct err *err, enum hfgguf_status code, const char *fmt, ...)
{
	va_list ap;

	if (err->code)
		return err->code;
	err->code = code;
	va_start(ap, fmt);
	vsnprintf(err->msg, sizeof(err->msg), fmt, ap);
	va_end(ap);
	return code;
}

int err_nomem(struct err *err)
{
	return err_set(err, HFGGUF_NOMEM, "out of memory");
}

int err_errno(struct err *err, enum hfgguf_status code, const char *fmt, ...)
{
	int saved = errno;
	va_list ap;
	char text[1024], why[128];

	if (err->code)
		return err->code;
	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	return err_set(err, saved == ENOMEM ? HFGGUF_NOMEM : code, "%s: %s", text,
		       strerror_r(saved, why, sizeof(why)));
}

void err_prefix(struct err *err, const char *fmt, ...)
{
	char text[sizeof(err->msg)], head[512];
	va_list ap;

	if (!err->code)
		return;
	va_start(ap, fmt);
	vsnprintf(head, sizeof(head), fmt, ap);
	va_end(ap);
	snprintf(text, sizeof(text), "%s", err->msg);
	snprintf(err->msg, sizeof(err->msg), "%s: %.1500s", head, text);
}

void err_clear(struct err *err)
{
	err->code = 0;
	err->msg[0] = 0;
}

const char *hfgguf_strerror(int status)
{
	switch (status < 0 ? status : -status) {
	case HFGGUF_OK: return "success";
	case HFGGUF_NOMEM: return "out of memory";
	case HFGGUF_IO: return "a source cannot be read";
	case HFGGUF_NOT_FOUND: return "not found";
	case HFGGUF_CORRUPT: return "a source is damaged or contradicts itself";
	case HFGGUF_UNSUPPORTED: return "not supported";
	case HFGGUF_OPTION: return "bad option";
	case HFGGUF_RANGE: return "size or offset out of range";
	case HFGGUF_INTERRUPTED: return "interrupted";
	}
	return "unknown error";
}
