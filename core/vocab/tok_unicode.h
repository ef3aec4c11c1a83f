/* Character classes and normalization forms as the tokenizers library has them (see tok_unidata.h). Thread safe. */
#ifndef CORE_VOCAB_TOK_UNICODE_H
#define CORE_VOCAB_TOK_UNICODE_H

#include "core/util/str.h"
#include "core/vocab/tok_unidata.h"

#include <stdbool.h>

bool uc_in(const struct cp_table *t, uint32_t cp);
bool uc_space(uint32_t cp); /* White_Space */
bool uc_numeric(uint32_t cp);
bool uc_punctuation(uint32_t cp);
bool uc_word(uint32_t cp);
bool uc_chinese(uint32_t cp); /* BertNormalizer's handle_chinese_chars */
uint32_t uc_script(uint32_t cp); /* as UnicodeScripts groups them; 0: any */
void uc_add_lower(struct buf *out, uint32_t cp);

enum uc_form { UC_NFC, UC_NFD, UC_NFKC, UC_NFKD };
/* Appends the normalized text. p is valid UTF-8. False when memory is out. */
bool uc_normalize(enum uc_form form, const char *p, size_t n, struct buf *out);

/* Length in bytes of the extended grapheme cluster at p (n > 0 bytes of valid UTF-8). */
size_t uc_grapheme(const char *p, size_t n);

/* The 256 characters that ByteLevel writes for bytes, and back (-1: none). */
uint32_t uc_byte_char(unsigned char byte);
int uc_char_byte(uint32_t cp);

#endif
