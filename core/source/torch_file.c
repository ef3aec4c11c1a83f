/*
 * See torch_file.h. Formats: APPNOTE.TXT of PKWARE (zip), Lib/pickletools.py of Python (pickle),
 * torch/serialization.py (how tensors stand in the pickle).
 */
#include "core/source/torch_file.h"

#include "core/util/checked.h"
#include "core/util/vec.h"

#include <stdlib.h>
#include <string.h>

#define TORCH_MAX_BYTES ((size_t)256 << 20)

/* ---- the archive ---- */

struct archive {
	const unsigned char *p;
	size_t n, directory; /* directory: where the entries' list begins */
	unsigned n_entries;
};

struct part {
	const unsigned char *p;
	size_t n;
};

static uint64_t le(const unsigned char *p, int n)
{
	uint64_t v = 0;

	for (int i = n - 1; i >= 0; i--)
		v = v << 8 | p[i];
	return v;
}

/* The end record is at most 64 KiB of comment before the end. */
static bool open_archive(struct archive *a)
{
	size_t least = a->n > 22 + 65535 ? a->n - 22 - 65535 : 0;

	for (size_t at = a->n < 22 ? 0 : a->n - 22 + 1; at-- > least;) {
		if (a->n < 22 || memcmp(a->p + at, "PK\5\6", 4))
			continue;
		a->n_entries = (unsigned)le(a->p + at + 10, 2);
		a->directory = (size_t)le(a->p + at + 16, 4);
		return a->directory <= at;
	}
	return false;
}

/* An entry's bytes: behind its own header, whose name and padding may differ in length from the directory's. */
static bool entry_data(const struct archive *a, const unsigned char *e, struct part *out)
{
	uint64_t at = le(e + 42, 4), size = le(e + 24, 4), start;

	if (le(e + 10, 2) || at + 30 > a->n || memcmp(a->p + at, "PK\3\4", 4))
		return false;
	start = at + 30 + le(a->p + at + 26, 2) + le(a->p + at + 28, 2);
	if (start > a->n || size > a->n - start)
		return false;
	*out = (struct part){ a->p + start, (size_t)size };
	return true;
}

/* The entry whose name is behind its first folder `name`. */
static bool find_entry(const struct archive *a, const char *name, struct part *out)
{
	size_t at = a->directory, n = strlen(name);

	for (unsigned i = 0; i < a->n_entries; i++) {
		const unsigned char *e = a->p + at, *slash;
		size_t len, more;

		if (at + 46 > a->n || memcmp(e, "PK\1\2", 4))
			return false;
		len = (size_t)le(e + 28, 2);
		more = (size_t)(le(e + 30, 2) + le(e + 32, 2));
		if (len + more > a->n - at - 46)
			return false;
		slash = memchr(e + 46, '/', len);
		if (slash && (size_t)(e + 46 + len - slash - 1) == n && !memcmp(slash + 1, name, n))
			return entry_data(a, e, out);
		at += 46 + len + more;
	}
	return false;
}

/* ---- the pickle ---- */

typedef const struct torch_value *value;
typedef VEC(value) value_list;

struct node { /* every value that make() makes; lists grow in place, for they may be known under several names */
	struct torch_value v; /* first */
	size_t cap;
};

struct pickle {
	const struct archive *a;
	struct arena *arena;
	const unsigned char *p, *end;
	value_list stack, memo;
	VEC(size_t) marks;
	const char *bad; /* what is wrong; "" means memory */
};

static const struct { const char *name; enum dtype dtype; } storages[] = {
	{ "torch.FloatStorage", DT_F32 }, { "torch.DoubleStorage", DT_F64 }, { "torch.HalfStorage", DT_F16 },
	{ "torch.BFloat16Storage", DT_BF16 }, { "torch.LongStorage", DT_I64 }, { "torch.IntStorage", DT_I32 },
	{ "torch.ShortStorage", DT_I16 }, { "torch.CharStorage", DT_I8 }, { "torch.ByteStorage", DT_U8 },
	{ "torch.BoolStorage", DT_BOOL },
};

static value fail(struct pickle *k, const char *what)
{
	k->bad = what;
	return NULL;
}

static value make(struct pickle *k, struct torch_value v)
{
	struct node *out = arena_alloc(k->arena, sizeof(*out));

	if (!out)
		return fail(k, "");
	*out = (struct node){ v, v.n_items };
	return &out->v;
}

static bool push(struct pickle *k, value v)
{
	if (v && !vec_push(&k->stack, v))
		k->bad = "";
	return v && !k->bad;
}

static value pop(struct pickle *k)
{
	size_t least = k->marks.n ? k->marks.v[k->marks.n - 1] : 0;

	return k->stack.n > least ? k->stack.v[--k->stack.n] : fail(k, "its pickle takes more than it has put");
}

static bool text_is(value v, const char *text)
{
	return v && v->text && !strcmp(v->text, text);
}

static value make_text(struct pickle *k, enum torch_kind kind, const void *p, size_t n)
{
	char *text = arena_memdup(k->arena, p, n);

	return text ? make(k, (struct torch_value){ .kind = kind, .text = text }) : fail(k, "");
}

/* The n topmost values as a list. */
static value take_list(struct pickle *k, enum torch_kind kind, size_t n)
{
	size_t least = k->marks.n ? k->marks.v[k->marks.n - 1] : 0;
	const void *copy;

	if (n > k->stack.n - least)
		return fail(k, "its pickle takes more than it has put");
	copy = arena_memdup(k->arena, k->stack.v ? (const void *)(k->stack.v + k->stack.n - n) : "", n * sizeof(value));
	if (!copy)
		return fail(k, "");
	k->stack.n -= n;
	return make(k, (struct torch_value){ .kind = kind, .items = copy, .n_items = n });
}

static value take_marked(struct pickle *k, enum torch_kind kind)
{
	size_t start;
	value v;

	if (!k->marks.n)
		return fail(k, "its pickle has no mark where one is needed");
	start = k->marks.v[k->marks.n - 1];
	v = take_list(k, kind, k->stack.n - start);
	k->marks.n--;
	return v;
}

/* The container on top of the stack gets more's items. */
static bool extend(struct pickle *k, value more)
{
	value top = more && k->stack.n ? k->stack.v[k->stack.n - 1] : NULL;
	struct node *to = (struct node *)top;
	value *items;

	if (!top)
		return more && fail(k, "its pickle adds to nothing");
	if (top->kind != TORCH_LIST && top->kind != TORCH_DICT)
		return true;
	if (to->cap - to->v.n_items < more->n_items) {
		to->cap = 2 * to->v.n_items + more->n_items;
		items = arena_array(k->arena, to->cap, sizeof(*items));
		if (!items)
			return fail(k, "") != NULL;
		if (to->v.n_items)
			memcpy(items, to->v.items, to->v.n_items * sizeof(*items));
		to->v.items = items;
	}
	if (more->n_items)
		memcpy((value *)to->v.items + to->v.n_items, more->items, more->n_items * sizeof(*items));
	to->v.n_items += more->n_items;
	return true;
}

/* ---- tensors ---- */

/* ("storage", class, key, place, elements) -> the bytes, as a flat tensor. */
static value storage(struct pickle *k, value id)
{
	char name[128] = "data/";
	struct torch_value t = { .kind = TORCH_TENSOR, .n_dims = 1, .dtype = DT_COUNT };
	struct part bytes;

	if (!id || id->kind != TORCH_LIST || id->n_items < 3 || !text_is(id->items[0], "storage") ||
	    !id->items[2]->text || strlen(id->items[2]->text) > 100)
		return fail(k, "a tensor's storage is described in an unknown way");
	for (size_t i = 0; i < sizeof(storages) / sizeof(storages[0]); i++)
		if (text_is(id->items[1], storages[i].name))
			t.dtype = storages[i].dtype;
	strcat(name, id->items[2]->text);
	if (t.dtype == DT_COUNT || !find_entry(k->a, name, &bytes))
		return fail(k, "a tensor's storage is missing, or of a type that is not supported");
	t.data = bytes.p;
	t.n = t.dims[0] = bytes.n / dtype_table[t.dtype].size;
	return make(k, t);
}

/* _rebuild_tensor_v2(storage, offset, size, stride, …) */
static value tensor(struct pickle *k, value args)
{
	value from = args->n_items >= 4 ? args->items[0] : NULL, size = from ? args->items[2] : NULL;
	value stride = from ? args->items[3] : NULL;
	struct torch_value t = { .kind = TORCH_TENSOR };
	uint64_t offset, step = 1;

	if (!from || from->kind != TORCH_TENSOR || args->items[1]->kind != TORCH_INT || size->kind != TORCH_LIST ||
	    stride->kind != TORCH_LIST || size->n_items != stride->n_items || size->n_items > SOURCE_MAX_DIMS)
		return fail(k, "a tensor is described in an unknown way");
	t.n_dims = (int)size->n_items;
	for (int d = t.n_dims - 1; d >= 0; d--) {
		t.dims[d] = (uint64_t)size->items[d]->i;
		if (size->items[d]->kind != TORCH_INT || stride->items[d]->kind != TORCH_INT || size->items[d]->i < 0 ||
		    (t.dims[d] > 1 && (uint64_t)stride->items[d]->i != step) || !checked_mul(step, t.dims[d], &step))
			return fail(k, "a tensor is not contiguous");
	}
	offset = (uint64_t)args->items[1]->i;
	if (args->items[1]->i < 0 || offset > from->n || step > from->n - offset)
		return fail(k, "a tensor reaches beyond its storage");
	t.dtype = from->dtype;
	t.n = step;
	t.data = (const char *)from->data + offset * dtype_table[t.dtype].size;
	return make(k, t);
}

static value reduce(struct pickle *k)
{
	value args = pop(k), what = args ? pop(k) : NULL;

	if (!what)
		return NULL;
	if (text_is(what, "torch._utils._rebuild_tensor_v2") && args->kind == TORCH_LIST)
		return tensor(k, args);
	if (text_is(what, "collections.OrderedDict"))
		return make(k, (struct torch_value){ .kind = TORCH_DICT });
	return make(k, (struct torch_value){ .kind = TORCH_OTHER, .text = what->text ? what->text : "object" });
}

/* ---- opcodes ---- */

/* n bytes of an argument, or NULL. */
static const unsigned char *argument(struct pickle *k, size_t n)
{
	const unsigned char *p = k->p;

	if (n > (size_t)(k->end - p)) {
		k->bad = "its pickle ends too early";
		return NULL;
	}
	k->p += n;
	return p;
}

static value read_int(struct pickle *k, int n, bool is_signed)
{
	const unsigned char *p = argument(k, (size_t)n);
	uint64_t v = p ? le(p, n) : 0;

	if (!p)
		return NULL;
	if (is_signed && n && n < 8 && p[n - 1] & 0x80)
		v |= ~(uint64_t)0 << (8 * n);
	return make(k, (struct torch_value){ .kind = TORCH_INT, .i = (int64_t)v });
}

/* A length of n_len bytes, then that many; n_len 0: the rest of the line. */
static value read_text(struct pickle *k, int n_len)
{
	const unsigned char *p = argument(k, (size_t)n_len), *newline;
	size_t n;

	if (!p)
		return NULL;
	if (n_len) {
		n = (size_t)le(p, n_len);
		p = argument(k, n);
		return p ? make_text(k, TORCH_TEXT, p, n) : NULL;
	}
	newline = memchr(k->p, '\n', (size_t)(k->end - k->p));
	if (!newline)
		return fail(k, "its pickle ends too early");
	n = (size_t)(newline - k->p);
	p = argument(k, n + 1);
	return make_text(k, TORCH_TEXT, p, n);
}

/* "module.name" */
static value global(struct pickle *k, value module, value name)
{
	char *text = module && name && module->text && name->text ?
			     arena_printf(k->arena, "%s.%s", module->text, name->text) : NULL;

	if (!module || !name)
		return NULL;
	return text ? make(k, (struct torch_value){ .kind = TORCH_OTHER, .text = text }) : fail(k, "");
}

static value read_long(struct pickle *k)
{
	const unsigned char *p = argument(k, 1);

	if (!p)
		return NULL;
	return *p <= 8 ? read_int(k, *p, true) : fail(k, "its pickle holds an integer of more than 64 bits");
}

/* Big-endian, other than all else. */
static value read_float(struct pickle *k)
{
	const unsigned char *p = argument(k, 8);
	uint64_t bits = 0;
	double f;

	for (int i = 0; p && i < 8; i++)
		bits = bits << 8 | p[i];
	memcpy(&f, &bits, 8);
	return p ? make(k, (struct torch_value){ .kind = TORCH_FLOAT, .f = f }) : NULL;
}

static bool memo_put(struct pickle *k, uint64_t at)
{
	value top = k->stack.n ? k->stack.v[k->stack.n - 1] : NULL;

	if (!top || at > 1 << 20)
		return fail(k, "its pickle remembers what is not there") != NULL;
	while (k->memo.n <= at)
		if (!vec_push(&k->memo, (value)NULL))
			return fail(k, "") != NULL;
	k->memo.v[at] = top;
	return true;
}

static bool memo_get(struct pickle *k, int n)
{
	const unsigned char *p = argument(k, (size_t)n);
	uint64_t at = p ? le(p, n) : 0;

	if (!p)
		return false;
	if (at >= k->memo.n || !k->memo.v[at])
		return fail(k, "its pickle recalls what it never remembered") != NULL;
	return push(k, k->memo.v[at]);
}

/* Opcodes that push a value made of their argument. NULL with k->bad NULL: another opcode. */
static value constant(struct pickle *k, unsigned char op)
{
	switch (op) {
	case 'N': return make(k, (struct torch_value){ .kind = TORCH_NONE });
	case 0x88: return make(k, (struct torch_value){ .kind = TORCH_BOOL, .i = 1 });
	case 0x89: return make(k, (struct torch_value){ .kind = TORCH_BOOL });
	case '}': return make(k, (struct torch_value){ .kind = TORCH_DICT });
	case ']': case ')': return make(k, (struct torch_value){ .kind = TORCH_LIST });
	case 'J': return read_int(k, 4, true);
	case 'K': return read_int(k, 1, false);
	case 'M': return read_int(k, 2, false);
	case 0x8a: return read_long(k);
	case 'G': return read_float(k);
	case 'X': case 'T': return read_text(k, 4);
	case 0x8c: case 'U': return read_text(k, 1);
	default: return NULL;
	}
}

/* Those that take values from the stack and push one. */
static value combined(struct pickle *k, unsigned char op)
{
	value a, b;

	switch (op) {
	case 'c':
		a = read_text(k, 0);
		b = a ? read_text(k, 0) : NULL;
		return global(k, a, b);
	case 0x93:
		b = pop(k);
		a = b ? pop(k) : NULL;
		return global(k, a, b);
	case 't': return take_marked(k, TORCH_LIST);
	case 0x85: return take_list(k, TORCH_LIST, 1);
	case 0x86: return take_list(k, TORCH_LIST, 2);
	case 0x87: return take_list(k, TORCH_LIST, 3);
	case 'Q': return storage(k, pop(k));
	case 'R': return reduce(k);
	case 'b': /* the object's state is of no use here */
		return pop(k) ? pop(k) : NULL;
	default: return NULL;
	}
}

/* All others. */
static bool other(struct pickle *k, unsigned char op)
{
	const unsigned char *p;

	switch (op) {
	case 0x80: return argument(k, 1) != NULL;
	case 0x95: return argument(k, 8) != NULL;
	case '(':
		return vec_push(&k->marks, k->stack.n) ? true : fail(k, "") != NULL;
	case 'q':
		p = argument(k, 1);
		return p && memo_put(k, *p);
	case 'r':
		p = argument(k, 4);
		return p && memo_put(k, le(p, 4));
	case 0x94: return memo_put(k, k->memo.n);
	case 'h': return memo_get(k, 1);
	case 'j': return memo_get(k, 4);
	case 'a': return extend(k, take_list(k, TORCH_LIST, 1));
	case 's': return extend(k, take_list(k, TORCH_LIST, 2));
	case 'e': case 'u': return extend(k, take_marked(k, TORCH_LIST));
	default: return fail(k, "its pickle has an instruction that is not supported") != NULL;
	}
}

static value run(struct pickle *k)
{
	while (k->p < k->end) {
		unsigned char op = *k->p++;
		value v;

		if (op == '.')
			return k->marks.n ? fail(k, "its pickle ends within a list") : pop(k);
		v = constant(k, op);
		if (!v && !k->bad)
			v = combined(k, op);
		if (k->bad || (v ? !push(k, v) : !other(k, op)))
			return NULL;
	}
	return fail(k, "its pickle has no end");
}

/* ---- the whole ---- */

static value load(const struct archive *a, struct arena *arena, const char **bad)
{
	struct pickle k = { .a = a, .arena = arena };
	struct part data;
	value v = NULL;

	*bad = "it is no archive of torch.save";
	if (find_entry(a, "data.pkl", &data)) {
		k.p = data.p;
		k.end = data.p + data.n;
		v = run(&k);
		*bad = k.bad;
	}
	vec_free(&k.stack);
	vec_free(&k.memo);
	vec_free(&k.marks);
	return v;
}

const struct torch_value *torch_load(struct source *s, const char *name, struct arena *arena, struct err *err)
{
	struct archive a = { 0 };
	const char *bad = "it is no zip archive";
	char *text = source_read(s, name, TORCH_MAX_BYTES, &a.n, err);
	value v = NULL;

	if (!text)
		return NULL;
	a.p = (const unsigned char *)arena_memdup(arena, text, a.n);
	free(text);
	if (!a.p) {
		err_nomem(err);
		return NULL;
	}
	if (open_archive(&a))
		v = load(&a, arena, &bad);
	if (!v && bad && !*bad)
		err_nomem(err);
	else if (!v)
		err_set(err, HFGGUF_CORRUPT, "%s: %s; save it anew with torch.save", name, bad ? bad : "it is damaged");
	return v;
}

const struct torch_value *torch_get(const struct torch_value *dict, const char *key)
{
	for (size_t i = 0; dict && dict->kind == TORCH_DICT && i + 1 < dict->n_items; i += 2)
		if (dict->items[i]->kind == TORCH_TEXT && !strcmp(dict->items[i]->text, key))
			return dict->items[i + 1];
	return NULL;
}
