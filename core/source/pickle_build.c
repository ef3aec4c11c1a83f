/*
 * The few things that a pickle may name: what makes dicts, storages and tensors. See torch/_utils.py for what each
 * function is given.
 */
#include "core/source/pickle_machine.h"

#include "core/util/checked.h"

#include <string.h>

typedef struct pickle_value value;
typedef struct pickle_machine machine;

static int build_dict(machine *m, const struct pickle_list *args, value *out)
{
	if (args->n)
		return pickle_bad(m, "makes a dict in an unknown way");
	out->kind = PICKLE_DICT;
	out->u.list = pickle_alloc(m, 1, sizeof(*out->u.list));
	return out->u.list ? 0 : m->err->code;
}

static bool is_list(const value *v)
{
	return v->kind == PICKLE_TUPLE || v->kind == PICKLE_LIST;
}

/* Sizes and strides; both lists have this length. */
static int read_shape(machine *m, const value *size, const value *stride, struct pickle_tensor *t)
{
	if (!is_list(size) || !is_list(stride) || size->u.list->n != stride->u.list->n)
		return pickle_bad(m, "describes a tensor in an unknown way");
	if (size->u.list->n > SOURCE_MAX_DIMS)
		return err_set(m->err, HFGGUF_UNSUPPORTED, "a tensor of %zu dimensions is more than %d",
			       size->u.list->n, SOURCE_MAX_DIMS);
	t->n_dims = (int)size->u.list->n;
	for (int d = 0; d < t->n_dims; d++) {
		const value *n = &size->u.list->v[d], *step = &stride->u.list->v[d];

		if (n->kind != PICKLE_INT || step->kind != PICKLE_INT || n->u.i < 0 || step->u.i < 0)
			return pickle_bad(m, "gives a tensor a size that is no size");
		t->dims[d] = (uint64_t)n->u.i;
		t->strides[d] = (uint64_t)step->u.i;
	}
	return 0;
}

/* All elements lie within the storage. */
static int check_reach(machine *m, const struct pickle_tensor *t)
{
	uint64_t n, last = t->offset, have = t->storage->size_bytes / dtype_table[t->dtype].size;
	bool fits = true;

	if (!checked_product(t->dims, t->n_dims, &n))
		return pickle_bad(m, "gives a tensor a size that overflows");
	for (int d = 0; n && d < t->n_dims; d++) {
		uint64_t way;

		fits = fits && checked_mul(t->dims[d] - 1, t->strides[d], &way) && checked_add(last, way, &last);
	}
	if (!n || (fits && last < have))
		return 0;
	return err_set(m->err, HFGGUF_CORRUPT, "a tensor reaches beyond the %llu elements of its storage '%.64s'; save "
		       "it anew with torch.save", (unsigned long long)have, t->storage->key);
}

static int add_tensor(machine *m, const value *storage, const value *offset, const value *size,
		      const value *stride, enum dtype dtype, value *out)
{
	struct pickle_tensor *t;

	if (storage->kind != PICKLE_STORAGE || offset->kind != PICKLE_INT || offset->u.i < 0)
		return pickle_bad(m, "describes a tensor in an unknown way");
	t = pickle_alloc(m, 1, sizeof(*t));
	if (!t)
		return m->err->code;
	t->storage = storage->u.storage;
	t->offset = (uint64_t)offset->u.i;
	t->dtype = dtype == DT_COUNT ? t->storage->dtype : dtype;
	if (t->dtype == DT_COUNT)
		return pickle_bad(m, "describes a tensor without its type");
	if (read_shape(m, size, stride, t) || check_reach(m, t))
		return m->err->code;
	out->kind = PICKLE_TENSOR;
	out->u.tensor = t;
	return vec_push(&m->out->tensors, t) ? 0 : err_nomem(m->err);
}

/* Flags of a view: conjugated, negated. */
static int check_flags(machine *m, const struct pickle_list *args, size_t at)
{
	const value *v = at < args->n ? &args->v[at] : NULL;

	if (!v || v->kind == PICKLE_NONE || (v->kind == PICKLE_DICT && !v->u.list->n))
		return 0;
	return err_set(m->err, HFGGUF_UNSUPPORTED, "a tensor that is a negated or conjugated view is not read: "
		       "save a clone of it");
}

/* _rebuild_tensor(storage, offset, size, stride), _rebuild_tensor_v2(…, requires_grad, hooks, flags) */
static int build_tensor(machine *m, const struct pickle_list *args, value *out)
{
	if (args->n < 4 || args->n > 7)
		return pickle_bad(m, "describes a tensor in an unknown way");
	if (check_flags(m, args, 6))
		return m->err->code;
	return add_tensor(m, &args->v[0], &args->v[1], &args->v[2], &args->v[3], DT_COUNT, out);
}

/* _rebuild_tensor_v3(storage, offset, size, stride, requires_grad, hooks, dtype, flags): untyped storages */
static int build_tensor_v3(machine *m, const struct pickle_list *args, value *out)
{
	const value *type = args->n > 6 ? &args->v[6] : NULL;

	if (!type || args->n > 8 || type->kind != PICKLE_NAME || type->u.name->is_storage ||
	    type->u.name->dtype == DT_COUNT)
		return pickle_bad(m, "describes a tensor in an unknown way");
	if (check_flags(m, args, 7))
		return m->err->code;
	return add_tensor(m, &args->v[0], &args->v[1], &args->v[2], &args->v[3], type->u.name->dtype, out);
}

/* _rebuild_parameter(tensor, …) */
static int build_parameter(machine *m, const struct pickle_list *args, value *out)
{
	if (!args->n || args->v[0].kind != PICKLE_TENSOR)
		return pickle_bad(m, "makes a parameter of what is no tensor");
	*out = args->v[0];
	return 0;
}

#define CALLED(name, build) { name, build, DT_COUNT, false }
#define TYPE(name, dtype) { "torch." name, NULL, dtype, false }
#define STORAGE(name, dtype) { "torch." name, NULL, dtype, true }

static const struct pickle_name names[] = {
	CALLED("collections.OrderedDict", build_dict),
	CALLED("torch._utils._rebuild_tensor", build_tensor),
	CALLED("torch._utils._rebuild_tensor_v2", build_tensor),
	CALLED("torch._utils._rebuild_tensor_v3", build_tensor_v3),
	CALLED("torch._utils._rebuild_parameter", build_parameter),
	CALLED("torch._utils._rebuild_parameter_with_state", build_parameter),
	STORAGE("DoubleStorage", DT_F64), STORAGE("FloatStorage", DT_F32), STORAGE("HalfStorage", DT_F16),
	STORAGE("BFloat16Storage", DT_BF16), STORAGE("LongStorage", DT_I64), STORAGE("IntStorage", DT_I32),
	STORAGE("ShortStorage", DT_I16), STORAGE("CharStorage", DT_I8), STORAGE("ByteStorage", DT_U8),
	STORAGE("BoolStorage", DT_BOOL), STORAGE("storage.UntypedStorage", DT_COUNT),
	TYPE("float64", DT_F64), TYPE("float32", DT_F32), TYPE("float16", DT_F16), TYPE("bfloat16", DT_BF16),
	TYPE("float8_e4m3fn", DT_F8_E4M3), TYPE("float8_e5m2", DT_F8_E5M2), TYPE("float8_e8m0fnu", DT_F8_E8M0),
	TYPE("int64", DT_I64), TYPE("int32", DT_I32), TYPE("int16", DT_I16), TYPE("int8", DT_I8),
	TYPE("uint64", DT_U64), TYPE("uint32", DT_U32), TYPE("uint16", DT_U16), TYPE("uint8", DT_U8),
	TYPE("bool", DT_BOOL),
};

const struct pickle_name *pickle_name_find(const char *text)
{
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strcmp(names[i].name, text))
			return &names[i];
	return NULL;
}
