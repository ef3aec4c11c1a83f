/*
 * A sentencepiece model (tokenizer.model): the serialized protobuf message ModelProto of sentencepiece_model.proto,
 * read by a small wire-format reader. Only what vocabularies and conversions need is kept; unknown fields are skipped.
 */
#ifndef CORE_VOCAB_SPM_H
#define CORE_VOCAB_SPM_H

#include "core/util/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum spm_piece_type { SPM_NORMAL = 1, SPM_UNKNOWN, SPM_CONTROL, SPM_USER_DEFINED, SPM_UNUSED, SPM_BYTE };
enum spm_model_type { SPM_UNIGRAM = 1, SPM_BPE, SPM_WORD, SPM_CHAR };

struct spm_bytes { /* points into the data given to spm_parse; not NUL-terminated */
	const char *p;
	size_t n;
};

struct spm_model {
	struct spm_piece {
		const char *text; /* UTF-8 as stored (not checked), points into the data, not NUL-terminated */
		size_t len;
		float score;
		int type; /* enum spm_piece_type; 1 when absent */
	} *pieces;
	size_t n;
	struct { /* trainer_spec, with the defaults of the .proto */
		int model_type; /* enum spm_model_type */
		int32_t vocab_size, unk_id, bos_id, eos_id, pad_id;
		bool byte_fallback, treat_whitespace_as_suffix;
		struct spm_bytes unk_piece, bos_piece, eos_piece, pad_piece, unk_surface;
	} trainer;
	struct { /* normalizer_spec */
		struct spm_bytes name, precompiled_charsmap;
		bool add_dummy_prefix, remove_extra_whitespaces, escape_whitespaces;
	} normalizer;
};

/* Parses n bytes. data must outlive out, which the caller gives to spm_free. Returns 0, or HFGGUF_CORRUPT / NOMEM with
 * err set (out needs no spm_free then). Thread safe. */
int spm_parse(const char *data, size_t n, struct spm_model *out, struct err *err);
void spm_free(struct spm_model *m);

#endif
