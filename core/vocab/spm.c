#include "core/vocab/spm.h"

#include "core/util/vec.h"

#include <string.h>

/*
 * Wire format: a message is a run of fields; a field is the varint (number << 3 | wire type) and a value that is a
 * varint (0), 8 bytes (1), a varint length and that many bytes (2), or 4 bytes (5). Groups (3, 4) are not used here.
 */
enum { WIRE_VARINT = 0, WIRE_FIXED64 = 1, WIRE_BYTES = 2, WIRE_FIXED32 = 5 };

struct field {
	uint32_t number, wire;
	uint64_t value;         /* varint and fixed */
	struct spm_bytes bytes; /* WIRE_BYTES */
};

static bool read_varint(struct spm_bytes *in, uint64_t *out)
{
	*out = 0;
	for (unsigned shift = 0; shift < 70 && in->n; shift += 7) {
		unsigned char c = (unsigned char)*in->p;

		in->p++;
		in->n--;
		if (shift < 64)
			*out |= (uint64_t)(c & 127) << shift;
		if (c < 128)
			return true;
	}
	return false;
}

static bool read_fixed(struct spm_bytes *in, size_t size, uint64_t *out)
{
	*out = 0;
	if (in->n < size)
		return false;
	for (size_t i = 0; i < size; i++)
		*out |= (uint64_t)(unsigned char)in->p[i] << 8 * i;
	in->p += size;
	in->n -= size;
	return true;
}

/* Next field of a message; false with *bad set when it is malformed, false alone at the end. */
static bool next_field(struct spm_bytes *in, struct field *f, bool *bad)
{
	uint64_t tag;

	if (!in->n)
		return false;
	*bad = true;
	if (!read_varint(in, &tag) || tag >> 3 == 0 || tag >> 3 > 0x1fffffff)
		return false;
	*f = (struct field){ .number = (uint32_t)(tag >> 3), .wire = tag & 7 };
	switch (f->wire) {
	case WIRE_VARINT:
		*bad = !read_varint(in, &f->value);
		break;
	case WIRE_FIXED64:
	case WIRE_FIXED32:
		*bad = !read_fixed(in, f->wire == WIRE_FIXED64 ? 8 : 4, &f->value);
		break;
	case WIRE_BYTES:
		if (!read_varint(in, &f->value) || f->value > in->n)
			return false;
		f->bytes = (struct spm_bytes){ in->p, (size_t)f->value };
		in->p += f->value;
		in->n -= (size_t)f->value;
		*bad = false;
		break;
	default:
		return false;
	}
	return !*bad;
}

static bool parse_piece(struct spm_bytes in, struct spm_piece *out)
{
	struct field f;
	bool bad = false;

	*out = (struct spm_piece){ "", 0, 0, SPM_NORMAL };
	while (next_field(&in, &f, &bad)) {
		if (f.number == 1 && f.wire == WIRE_BYTES) {
			out->text = f.bytes.p;
			out->len = f.bytes.n;
		} else if (f.number == 2 && f.wire == WIRE_FIXED32) {
			uint32_t bits = (uint32_t)f.value;

			memcpy(&out->score, &bits, sizeof(bits));
		} else if (f.number == 3 && f.wire == WIRE_VARINT && f.value >= SPM_NORMAL && f.value <= SPM_BYTE) {
			out->type = (int)f.value;
		}
	}
	return !bad;
}

/* Where the value of a trainer_spec or normalizer_spec field goes. */
struct slot {
	uint32_t number;
	int32_t *integer;
	bool *flag;
	struct spm_bytes *bytes;
};

static bool parse_spec(struct spm_bytes in, const struct slot *slots, size_t n)
{
	struct field f;
	bool bad = false;

	while (next_field(&in, &f, &bad)) {
		for (size_t i = 0; i < n; i++) {
			const struct slot *s = &slots[i];

			if (s->number != f.number || (f.wire == WIRE_BYTES) != (s->bytes != NULL))
				continue;
			if (s->integer)
				*s->integer = (int32_t)f.value;
			else if (s->flag)
				*s->flag = f.value != 0;
			else
				*s->bytes = f.bytes;
		}
	}
	return !bad;
}

static bool parse_trainer(struct spm_bytes in, struct spm_model *m)
{
	int32_t type = m->trainer.model_type;
	const struct slot slots[] = {
		{ .number = 3, .integer = &type },
		{ .number = 4, .integer = &m->trainer.vocab_size },
		{ .number = 24, .flag = &m->trainer.treat_whitespace_as_suffix },
		{ .number = 35, .flag = &m->trainer.byte_fallback },
		{ .number = 40, .integer = &m->trainer.unk_id },
		{ .number = 41, .integer = &m->trainer.bos_id },
		{ .number = 42, .integer = &m->trainer.eos_id },
		{ .number = 43, .integer = &m->trainer.pad_id },
		{ .number = 44, .bytes = &m->trainer.unk_surface },
		{ .number = 45, .bytes = &m->trainer.unk_piece },
		{ .number = 46, .bytes = &m->trainer.bos_piece },
		{ .number = 47, .bytes = &m->trainer.eos_piece },
		{ .number = 48, .bytes = &m->trainer.pad_piece },
	};
	bool ok = parse_spec(in, slots, sizeof(slots) / sizeof(*slots));

	m->trainer.model_type = type;
	return ok;
}

static bool parse_normalizer(struct spm_bytes in, struct spm_model *m)
{
	const struct slot slots[] = {
		{ .number = 1, .bytes = &m->normalizer.name },
		{ .number = 2, .bytes = &m->normalizer.precompiled_charsmap },
		{ .number = 3, .flag = &m->normalizer.add_dummy_prefix },
		{ .number = 4, .flag = &m->normalizer.remove_extra_whitespaces },
		{ .number = 5, .flag = &m->normalizer.escape_whitespaces },
	};

	return parse_spec(in, slots, sizeof(slots) / sizeof(*slots));
}

static void set_defaults(struct spm_model *m)
{
	*m = (struct spm_model){ 0 };
	m->trainer.model_type = SPM_UNIGRAM;
	m->trainer.vocab_size = 8000;
	m->trainer.bos_id = 1;
	m->trainer.eos_id = 2;
	m->trainer.pad_id = -1;
	m->trainer.unk_surface = (struct spm_bytes){ " \xe2\x81\x87 ", 5 };
	m->trainer.unk_piece = (struct spm_bytes){ "<unk>", 5 };
	m->trainer.bos_piece = (struct spm_bytes){ "<s>", 3 };
	m->trainer.eos_piece = (struct spm_bytes){ "</s>", 4 };
	m->trainer.pad_piece = (struct spm_bytes){ "<pad>", 5 };
	m->normalizer.name = m->normalizer.precompiled_charsmap = (struct spm_bytes){ "", 0 };
	m->normalizer.add_dummy_prefix = true;
	m->normalizer.remove_extra_whitespaces = true;
	m->normalizer.escape_whitespaces = true;
}

int spm_parse(const char *data, size_t n, struct spm_model *out, struct err *err)
{
	static const char lfs[] = "version https://git-lfs";
	struct spm_bytes in = { data, n };
	VEC(struct spm_piece) pieces = VEC_INIT;
	struct field f;
	bool bad = false;

	set_defaults(out);
	if (n >= sizeof(lfs) - 1 && !memcmp(data, lfs, sizeof(lfs) - 1))
		return err_set(err, HFGGUF_CORRUPT,
			       "the sentencepiece model is a Git LFS pointer, not the file: git lfs pull");
	while (!bad && next_field(&in, &f, &bad)) {
		struct spm_piece piece;

		if (f.wire != WIRE_BYTES)
			continue;
		if (f.number == 1) {
			bad = !parse_piece(f.bytes, &piece);
			if (!bad && !vec_push(&pieces, piece)) {
				vec_free(&pieces);
				return err_nomem(err);
			}
		} else if (f.number == 2) {
			bad = !parse_trainer(f.bytes, out);
		} else if (f.number == 3) {
			bad = !parse_normalizer(f.bytes, out);
		}
	}
	if (bad || !pieces.n) {
		vec_free(&pieces);
		return err_set(err, HFGGUF_CORRUPT, "the sentencepiece model is %s: fetch the file again",
			       bad ? "truncated or damaged" : "without pieces");
	}
	out->pieces = pieces.v;
	out->n = pieces.n;
	return 0;
}

void spm_free(struct spm_model *m)
{
	free(m->pieces);
	m->pieces = NULL;
	m->n = 0;
}
