/*
 * Pickles as torch.save writes them, read by a machine that knows plain values, storages and tensors, and calls
 * nothing: a pickle is a program, and what it names is data from a stranger. It takes the instructions of protocol 2
 * that tensors need; any other, and any name that is not in its table, is refused by that name.
 *
 * Time and memory are linear in the pickle's length, up to limits that no real file reaches. Values may contain
 * themselves: whoever walks them looks at a known depth only.
 */
#ifndef CORE_SOURCE_PICKLE_H
#define CORE_SOURCE_PICKLE_H

#include "core/source/source.h"
#include "core/util/vec.h"

enum pickle_kind {
	PICKLE_NONE, PICKLE_BOOL, PICKLE_INT, PICKLE_FLOAT, PICKLE_TEXT, PICKLE_LIST, PICKLE_TUPLE, PICKLE_DICT,
	PICKLE_NAME, PICKLE_STORAGE, PICKLE_TENSOR
};

struct pickle_list;
struct pickle_name;

struct pickle_storage {
	const char *key;     /* its name in the archive: "data/KEY" */
	uint64_t size_bytes; /* as the pickle says */
	enum dtype dtype;    /* DT_COUNT: not typed */
};

struct pickle_tensor {
	const struct pickle_storage *storage;
	enum dtype dtype;
	int n_dims;
	uint64_t dims[SOURCE_MAX_DIMS], strides[SOURCE_MAX_DIMS]; /* in elements */
	uint64_t offset;                                          /* of the first one, in elements */
	uint32_t index; /* for the caller: set to where the tensor is put */
};

struct pickle_value {
	enum pickle_kind kind;
	union {
		int64_t i;        /* PICKLE_INT, PICKLE_BOOL */
		double f;         /* PICKLE_FLOAT */
		const char *text; /* PICKLE_TEXT: UTF-8 without NUL inside */
		struct pickle_list *list; /* PICKLE_LIST, PICKLE_TUPLE; PICKLE_DICT: key, value, key, value … */
		const struct pickle_name *name;
		const struct pickle_storage *storage;
		struct pickle_tensor *tensor;
	} u;
};

struct pickle_list {
	struct pickle_value *v;
	size_t n, cap;
};

struct pickle {
	struct pickle_value root;
	VEC(struct pickle_tensor *) tensors; /* all that were built */
};

/*
 * Reads n bytes. Values are allocated in the arena. Checked of tensors: types, numbers of dimensions, and that all
 * elements lie within their storage's size. Errors do not name the file. pickle_free is due in any case.
 */
int pickle_read(const void *p, size_t n, struct arena *arena, struct pickle *out, struct err *err);
void pickle_free(struct pickle *p);
/* Value of a text key of a dict (the last, if there are several), or NULL; dict may be NULL or anything else. */
const struct pickle_value *pickle_get(const struct pickle_value *dict, const char *key);
/* "a list": for messages. */
const char *pickle_kind_name(enum pickle_kind kind);

#endif
