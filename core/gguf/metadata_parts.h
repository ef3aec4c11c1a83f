/*
 * What the files of the metadata share; nothing outside of core/gguf/metadata*.c and naming.c includes this.
 *
 * A field's value keeps its type, because the reference does: a list of ints in `tags` becomes an array of INT32, a
 * false or empty value is not written, and a license list is joined by commas. Where the reference would stop (a
 * version that YAML reads as a number), the text as it was written in the source is used, and a note says so.
 */
#ifndef CORE_GGUF_METADATA_PARTS_H
#define CORE_GGUF_METADATA_PARTS_H

#include "core/gguf/metadata.h"
#include "core/util/str.h"
#include "core/util/vec.h"

#define TEXT(literal) ((struct text){ literal, sizeof(literal) - 1 })

enum value_kind {
	VALUE_NONE, /* Python's None */
	VALUE_TEXT,
	VALUE_INT,
	VALUE_NUM,
	VALUE_BOOL,
	VALUE_LIST,
	VALUE_OTHER, /* a date, a mapping: nothing that the format can hold */
};

struct value {
	enum value_kind kind;
	bool truth;          /* Python's bool(value) */
	struct text s;       /* any scalar as text */
	int64_t i;           /* VALUE_INT, VALUE_BOOL */
	double d;            /* any number or bool */
	struct value *items; /* VALUE_LIST */
	size_t n;
};

enum field { /* in the order in which set_gguf_meta_model writes them */
	F_SEQUENCE, F_TOP_K, F_TOP_P, F_MIN_P, F_XTC_PROBABILITY, F_XTC_THRESHOLD, F_TEMP, F_PENALTY_LAST_N,
	F_PENALTY_REPEAT, F_MIROSTAT, F_MIROSTAT_TAU, F_MIROSTAT_ETA,
	F_NAME, F_AUTHOR, F_VERSION, F_ORGANIZATION, F_FINETUNE, F_BASENAME, F_DESCRIPTION, F_QUANTIZED_BY,
	F_SIZE_LABEL, F_LICENSE, F_LICENSE_NAME, F_LICENSE_LINK, F_URL, F_DOI, F_UUID, F_REPO_URL,
	F_SOURCE_URL, F_SOURCE_DOI, F_SOURCE_UUID, F_SOURCE_REPO_URL,
	F_TAGS, F_LANGUAGES, /* behind base models and datasets */
	F_COUNT
};

struct field_info {
	const char *key;
	enum kv_type type;
	bool fixed; /* the --metadata file cannot change it */
};
extern const struct field_info metadata_fields[F_COUNT];

enum origin_part {
	O_NAME, O_AUTHOR, O_VERSION, O_ORGANIZATION, O_DESCRIPTION, O_URL, O_DOI, O_UUID, O_REPO_URL,
	O_COUNT
};
extern const char *const metadata_origin_parts[O_COUNT];

struct origin { /* a base model or a dataset */
	struct value part[O_COUNT];
};

struct origins {
	bool set; /* present, if only as an empty list: the count is written */
	size_t n;
	struct origin *v;
};

struct metadata {
	struct arena *arena;
	int64_t total_params;
	struct value field[F_COUNT];
	struct origins base_models, datasets;
	VEC(const char *) notes; /* freed by metadata_load, which leaves an arena copy in .v */
	bool failed;             /* an allocation failed */
};

/* Arena memory; NULL sets m->failed. */
void *md_alloc(struct metadata *m, size_t n, size_t size);
struct text md_copy(struct metadata *m, const char *p, size_t n);
/* Moves the buffer's bytes into the arena and frees the buffer. */
struct text md_take(struct metadata *m, struct buf *b);
void md_note(struct metadata *m, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

struct value value_text(struct text s);
struct value value_of_json(struct metadata *m, const json *j);
/* Appends to a list value, which starts as VALUE_NONE. */
void value_append(struct metadata *m, struct value *list, const json *item);
/* The kind that all items of a list have, or VALUE_NONE. */
enum value_kind value_common_kind(const struct value *v);
/* Does a key of this type (a string or a number) take the value as it is? */
bool value_is_writable(const struct value *v, enum kv_type type);
/* The dict of an origin; anything else gives an empty one. */
struct origin origin_of_json(struct metadata *m, const json *j);

/* metadata_text.c: Python's str, by code points. A byte that is not UTF-8 is the code point DC00 + byte. */
struct ucs {
	uint32_t *p;
	size_t n;
};

struct ucs ucs_decode(struct metadata *m, struct text s);
void ucs_encode(struct buf *b, const uint32_t *p, size_t n);
bool py_space(uint32_t c);   /* str.isspace */
bool py_alpha(uint32_t c);   /* str.isalpha */
bool py_decimal(uint32_t c); /* str.isdecimal, \d */
bool py_word(uint32_t c);    /* \w */
int py_digit(uint32_t c);    /* value of a decimal digit */
uint32_t py_fold(uint32_t c); /* the ASCII lower case letter that c is equal to under re.IGNORECASE, or c */
bool ucs_is_lower(struct ucs s);
void ucs_title(struct buf *b, struct ucs s); /* str.title of one that ucs_is_lower */
struct text text_strip(struct text s);
bool text_eq(struct text a, struct text b);

/* metadata_name.c */
struct model_id { /* p == NULL: None */
	struct text full, org, basename, finetune, version, size_label;
};

/* get_model_id_components(id, m->total_params) */
struct model_id model_id_parse(struct metadata *m, struct text id);
/* Metadata.id_to_title */
struct text id_to_title(struct metadata *m, struct text s);

/* metadata_scalar.c */
struct scan { /* a scalar being looked at; taken by value */
	const char *p, *end;
};

/* The type of a plain scalar without a tag, as the last word of the tag: null bool float int timestamp merge str. */
const char *scalar_plain_type(struct scan s);
bool scalar_is_int(struct scan s);
bool scalar_is_float(struct scan s);
/* Is the whole scalar one of these short space-separated words? */
bool scalar_in(struct scan s, const char *words);
/* Number node of one that scalar_is_int or scalar_is_float; NULL when memory is out. */
json *scalar_number(struct scan s, bool is_float_type);

/*
 * metadata_yaml.c: yaml.safe_load of one document as a JSON tree, or NULL with err set. Scalars that are no strings
 * keep their text in valuestring; what JSON does not have (dates, …) is a cJSON_Raw. Of members with equal names the
 * first counts, their order means nothing. *more is set when further documents follow. An empty text gives a JSON null.
 */
json *yaml_load(const char *text, size_t n, bool *more, struct err *err);

/* metadata_card.c */
/* Front matter of a README.md as yaml.safe_load gets it, into b; false when there is none. */
bool card_front_matter(const char *readme, size_t n, struct buf *b);
/* load_model_card: an object, or NULL when there is none (then perhaps with a note). */
json *card_load(struct metadata *m, struct source *src, struct err *err);
/* The part of apply_metadata_heuristic that is about the model card. */
void card_apply(struct metadata *m, const json *card);

#endif
