/* Internal: bytes of tiktoken-like vocabularies. Thread safe. */
#ifndef CORE_VOCAB_VOCAB_BYTES_H
#define CORE_VOCAB_VOCAB_BYTES_H

#include "core/util/str.h"

/* Appends n bytes in GPT-2's printable alphabet (bytes_to_unicode), as UTF-8. */
void bytes_to_text(const char *p, size_t n, struct buf *out);
/* Appends the decoded bytes; false when the text is not base64 or memory is out. */
bool base64_decode(const char *p, size_t n, struct buf *out);

#endif
