/*
 * See pickle.h. The instructions: Lib/pickletools.py of Python. How tensors stand in them: torch/serialization.py and
 * torch/_utils.py, e.g.
 *
 *     torch._utils._rebuild_tensor_v2(persistent id ("storage", torch.HalfStorage, "0", "cpu", 12),
 *                                     offset 0, size (3, 4), stride (4, 1), requires_grad, hooks)
 */
#include "core/source/pickle_machine.h"

#include "core/util/checked.h"

#include <stdlib.h>
#include <string.h>

/* torch.save puts a thousand pairs at a time; the C++ writer puts all of a dict. */
#define STACK_MAX ((size_t)1 << 21)
#define MEMO_MAX ((size_t)1 << 23)
#define MEMORY_MAX ((size_t)256 << 20)
#define NAME_MAX_BYTES 256

typedef struct pickle_value value;
typedef struct pickle_machine machine;

/* ---- memory and stack ---- */

int pickle_bad(machine *m, const char *what)
{
	return err_set(m->err, HFGGUF_CORRUPT, "its pickle %s; save it anew with torch.save", what);
}

void *pickle_alloc(machine *m, size_t n, size_t size)
{
	size_t used = arena_used(m->arena) - m->used_before;
	void *p;

	if (used > MEMORY_MAX || n > (MEMORY_MAX - used) / size) {
		err_set(m->err, HFGGUF_RANGE, "its pickle needs more than %zu MiB of memory", MEMORY_MAX >> 20);
		return NULL;
	}
	p = arena_array(m->arena, n ? n : 1, size);
	if (!p)
		err_nomem(m->err);
	return p;
}

static int push(machine *m, value v)
{
	if (m->stack.n >= STACK_MAX)
		return err_set(m->err, HFGGUF_RANGE, "its pickle holds more than %zu values at a time", STACK_MAX);
	return vec_push(&m->stack, v) ? 0 : err_nomem(m->err);
}

/* How many values lie above the last mark. */
static size_t depth(const machine *m)
{
	return m->stack.n - (m->marks.n ? m->marks.v[m->marks.n - 1] : 0);
}

/* The n-th value from the top, or NULL with err set. */
static value *peek(machine *m, size_t n)
{
	if (depth(m) > n)
		return &m->stack.v[m->stack.n - 1 - n];
	pickle_bad(m, "takes more than it has put");
	return NULL;
}

/* ---- arguments ---- */

static const unsigned char *argument(machine *m, size_t n)
{
	const unsigned char *p = m->p;

	if (n > (size_t)(m->end - p)) {
		pickle_bad(m, "ends too early");
		return NULL;
	}
	m->p += n;
	return p;
}

/* A little-endian number. */
static int number(machine *m, size_t n, uint64_t *out)
{
	const unsigned char *p = argument(m, n);

	*out = 0;
	for (size_t i = n; p && i-- > 0;)
		*out = *out << 8 | p[i];
	return p ? 0 : m->err->code;
}

static int push_int(machine *m, size_t n, bool is_signed)
{
	uint64_t v;

	if (number(m, n, &v))
		return m->err->code;
	if (is_signed && n && n < 8 && v >> (8 * n - 1))
		v |= ~(uint64_t)0 << 8 * n;
	return push(m, (value){ .kind = PICKLE_INT, .u.i = (int64_t)v });
}

/* A length of n_len bytes, then so many. */
static int push_text(machine *m, size_t n_len)
{
	const unsigned char *p;
	uint64_t n;
	char *text;

	if (number(m, n_len, &n) || !(p = argument(m, (size_t)n)))
		return m->err->code;
	if (memchr(p, 0, (size_t)n) || !utf8_valid((const char *)p, (size_t)n))
		return pickle_bad(m, "has a text that is no UTF-8");
	text = pickle_alloc(m, (size_t)n + 1, 1);
	if (!text)
		return m->err->code;
	memcpy(text, p, (size_t)n);
	return push(m, (value){ .kind = PICKLE_TEXT, .u.text = text });
}

/* ---- containers ---- */

/* The n topmost values become one list in their place. */
static int fold(machine *m, enum pickle_kind kind, size_t n)
{
	struct pickle_list *list;

	if (n && !peek(m, n - 1))
		return m->err->code;
	list = pickle_alloc(m, 1, sizeof(*list));
	if (!list || !(list->v = pickle_alloc(m, n, sizeof(*list->v))))
		return m->err->code;
	list->n = list->cap = n;
	m->stack.n -= n;
	if (n)
		memcpy(list->v, m->stack.v + m->stack.n, n * sizeof(*list->v));
	return push(m, (value){ .kind = kind, .u.list = list });
}

/* The n topmost values go into the container below them. */
static int add_to(machine *m, enum pickle_kind kind, size_t n)
{
	value *into = peek(m, n);
	struct pickle_list *list;

	if (!into)
		return m->err->code;
	if (into->kind != kind || (kind == PICKLE_DICT && n % 2))
		return pickle_bad(m, "adds to what takes nothing");
	list = into->u.list;
	if (list->cap - list->n < n) {
		size_t cap = 2 * list->n + n;
		value *v = pickle_alloc(m, cap, sizeof(*v));

		if (!v)
			return m->err->code;
		if (list->n)
			memcpy(v, list->v, list->n * sizeof(*v));
		list->v = v;
		list->cap = cap;
	}
	m->stack.n -= n;
	if (n)
		memcpy(list->v + list->n, m->stack.v + m->stack.n, n * sizeof(*list->v));
	list->n += n;
	return 0;
}

/* Takes the last mark away: how many values lie above it. */
static int unmark(machine *m, size_t *n)
{
	if (!m->marks.n)
		return pickle_bad(m, "has no mark where one is needed");
	*n = depth(m);
	m->marks.n--;
	return 0;
}

/* ---- instructions ---- */

static int op_none(machine *m) { return push(m, (value){ .kind = PICKLE_NONE }); }
static int op_true(machine *m) { return push(m, (value){ .kind = PICKLE_BOOL, .u.i = 1 }); }
static int op_false(machine *m) { return push(m, (value){ .kind = PICKLE_BOOL }); }
static int op_int(machine *m) { return push_int(m, 4, true); }
static int op_int1(machine *m) { return push_int(m, 1, false); }
static int op_int2(machine *m) { return push_int(m, 2, false); }
static int op_text(machine *m) { return push_text(m, 4); }
static int op_text1(machine *m) { return push_text(m, 1); }
static int op_tuple0(machine *m) { return fold(m, PICKLE_TUPLE, 0); }
static int op_tuple1(machine *m) { return fold(m, PICKLE_TUPLE, 1); }
static int op_tuple2(machine *m) { return fold(m, PICKLE_TUPLE, 2); }
static int op_tuple3(machine *m) { return fold(m, PICKLE_TUPLE, 3); }
static int op_list(machine *m) { return fold(m, PICKLE_LIST, 0); }
static int op_dict(machine *m) { return fold(m, PICKLE_DICT, 0); }
static int op_append(machine *m) { return add_to(m, PICKLE_LIST, 1); }
static int op_set(machine *m) { return add_to(m, PICKLE_DICT, 2); }

static int op_long(machine *m)
{
	uint64_t n;

	if (number(m, 1, &n))
		return m->err->code;
	return n <= 8 ? push_int(m, (size_t)n, true) : pickle_bad(m, "holds an integer of more than 64 bits");
}

/* Big-endian, other than all else. */
static int op_float(machine *m)
{
	const unsigned char *p = argument(m, 8);
	uint64_t bits = 0;
	value v = { .kind = PICKLE_FLOAT };

	if (!p)
		return m->err->code;
	for (int i = 0; i < 8; i++)
		bits = bits << 8 | p[i];
	memcpy(&v.u.f, &bits, 8);
	return push(m, v);
}

static int op_mark(machine *m)
{
	if (m->marks.n >= STACK_MAX)
		return pickle_bad(m, "is nested too deeply");
	return vec_push(&m->marks, m->stack.n) ? 0 : err_nomem(m->err);
}

static int op_tuple(machine *m)
{
	size_t n = 0;

	return unmark(m, &n) ? m->err->code : fold(m, PICKLE_TUPLE, n);
}

static int op_appends(machine *m)
{
	size_t n = 0;

	return unmark(m, &n) ? m->err->code : add_to(m, PICKLE_LIST, n);
}

static int op_sets(machine *m)
{
	size_t n = 0;

	return unmark(m, &n) ? m->err->code : add_to(m, PICKLE_DICT, n);
}

static int put(machine *m, size_t n)
{
	const value *top = peek(m, 0);
	uint64_t at;

	if (!top || number(m, n, &at))
		return m->err->code;
	if (at >= MEMO_MAX)
		return pickle_bad(m, "remembers more than a model has");
	while (m->memo.n <= at)
		if (!vec_push(&m->memo, ((value){ .kind = PICKLE_NONE })))
			return err_nomem(m->err);
	m->memo.v[at] = *top;
	return 0;
}

static int get(machine *m, size_t n)
{
	uint64_t at;

	if (number(m, n, &at))
		return m->err->code;
	return at < m->memo.n ? push(m, m->memo.v[at]) : pickle_bad(m, "recalls what it never remembered");
}

static int op_put1(machine *m) { return put(m, 1); }
static int op_put4(machine *m) { return put(m, 4); }
static int op_get1(machine *m) { return get(m, 1); }
static int op_get4(machine *m) { return get(m, 4); }

/* A line of at most max bytes, appended to out with a NUL. */
static int line(machine *m, char *out, size_t max)
{
	const unsigned char *end = memchr(m->p, '\n', (size_t)(m->end - m->p));
	size_t n = end ? (size_t)(end - m->p) : 0;

	if (!end || n > max || memchr(m->p, 0, n) || !utf8_valid((const char *)m->p, n))
		return pickle_bad(m, "has a name that is no name");
	memcpy(out, m->p, n);
	out[n] = 0;
	m->p += n + 1;
	return 0;
}

static int op_global(machine *m)
{
	char text[2 * NAME_MAX_BYTES + 2];
	const struct pickle_name *name;
	size_t n = 0;

	if (line(m, text, NAME_MAX_BYTES))
		return m->err->code;
	n = strlen(text);
	text[n] = '.';
	if (line(m, text + n + 1, NAME_MAX_BYTES))
		return m->err->code;
	name = pickle_name_find(text);
	if (name)
		return push(m, (value){ .kind = PICKLE_NAME, .u.name = name });
	return err_set(m->err, HFGGUF_UNSUPPORTED, "its pickle names %s, which is none of the few that make a plain "
		       "tensor, so it is not read: save the model as safetensors", text);
}

static int op_call(machine *m)
{
	const value *args = peek(m, 0), *what = args ? peek(m, 1) : NULL;
	value out = { .kind = PICKLE_NONE };

	if (!what)
		return m->err->code;
	if (what->kind != PICKLE_NAME || !what->u.name->build || args->kind != PICKLE_TUPLE)
		return pickle_bad(m, "calls what cannot be called");
	if (what->u.name->build(m, args->u.list, &out))
		return m->err->code;
	m->stack.n -= 2;
	return push(m, out);
}

/* An OrderedDict's attributes: of no use here. */
static int op_build(machine *m)
{
	const value *onto = peek(m, 1);

	if (!onto)
		return m->err->code;
	if (onto->kind != PICKLE_DICT)
		return pickle_bad(m, "sets attributes of what has none");
	m->stack.n--;
	return 0;
}

static int bad_storage(machine *m)
{
	return pickle_bad(m, "describes a storage in an unknown way");
}

/* ("storage", class, key, device, number of elements) */
static int op_persistent(machine *m)
{
	const value *id = peek(m, 0), *v = id && id->kind == PICKLE_TUPLE ? id->u.list->v : NULL;
	struct pickle_storage *s;

	if (!id)
		return m->err->code;
	if (!v || id->u.list->n != 5 || v[0].kind != PICKLE_TEXT || strcmp(v[0].u.text, "storage") ||
	    v[1].kind != PICKLE_NAME || !v[1].u.name->is_storage || v[2].kind != PICKLE_TEXT || v[4].kind != PICKLE_INT)
		return bad_storage(m);
	s = pickle_alloc(m, 1, sizeof(*s));
	if (!s)
		return m->err->code;
	s->key = v[2].u.text;
	s->dtype = v[1].u.name->dtype;
	if (v[4].u.i < 0 || !checked_mul((uint64_t)v[4].u.i, s->dtype == DT_COUNT ? 1U : dtype_table[s->dtype].size,
					 &s->size_bytes))
		return bad_storage(m);
	m->stack.n--;
	return push(m, (value){ .kind = PICKLE_STORAGE, .u.storage = s });
}

static int op_protocol(machine *m)
{
	uint64_t n;

	if (number(m, 1, &n) || n <= 3)
		return m->err->code;
	return err_set(m->err, HFGGUF_UNSUPPORTED, "its pickle is of protocol %llu: save it anew with torch.save's "
		       "own, 2", (unsigned long long)n);
}

static int op_stop(machine *m)
{
	const value *top = peek(m, 0);

	if (!top)
		return m->err->code;
	if (m->marks.n)
		return pickle_bad(m, "ends within a list");
	m->out->root = *top;
	m->stopped = true;
	return 0;
}

static int (*const instructions[256])(machine *) = {
	[0x80] = op_protocol, ['.'] = op_stop,
	['N'] = op_none, [0x88] = op_true, [0x89] = op_false,
	['J'] = op_int, ['K'] = op_int1, ['M'] = op_int2, [0x8a] = op_long, ['G'] = op_float,
	['X'] = op_text, ['U'] = op_text1,
	['('] = op_mark, ['t'] = op_tuple, [')'] = op_tuple0,
	[0x85] = op_tuple1, [0x86] = op_tuple2, [0x87] = op_tuple3,
	[']'] = op_list, ['a'] = op_append, ['e'] = op_appends,
	['}'] = op_dict, ['s'] = op_set, ['u'] = op_sets,
	['q'] = op_put1, ['r'] = op_put4, ['h'] = op_get1, ['j'] = op_get4,
	['c'] = op_global, ['R'] = op_call, ['b'] = op_build, ['Q'] = op_persistent,
};

static int run(machine *m)
{
	while (!m->stopped) {
		const unsigned char *op = argument(m, 1);

		if (!op)
			return m->err->code;
		if (!instructions[*op])
			return err_set(m->err, HFGGUF_UNSUPPORTED, "its pickle has the instruction 0x%02x, which no "
				       "tensor needs: save the model as safetensors", *op);
		if (instructions[*op](m))
			return m->err->code;
	}
	return 0;
}

int pickle_read(const void *p, size_t n, struct arena *arena, struct pickle *out, struct err *err)
{
	machine m = { .p = p, .end = (const unsigned char *)p + n, .arena = arena, .out = out, .err = err };

	*out = (struct pickle){ 0 };
	m.used_before = arena_used(arena);
	run(&m);
	vec_free(&m.stack);
	vec_free(&m.memo);
	vec_free(&m.marks);
	return err->code;
}

void pickle_free(struct pickle *p)
{
	vec_free(&p->tensors);
}

const struct pickle_value *pickle_get(const struct pickle_value *dict, const char *key)
{
	for (size_t i = dict && dict->kind == PICKLE_DICT ? dict->u.list->n / 2 : 0; i-- > 0;) {
		const value *k = &dict->u.list->v[2 * i];

		if (k->kind == PICKLE_TEXT && !strcmp(k->u.text, key))
			return k + 1;
	}
	return NULL;
}

const char *pickle_kind_name(enum pickle_kind kind)
{
	static const char *const kinds[] = { "nothing", "a truth value", "an integer", "a number", "a text", "a list",
					     "a tuple", "a dict", "a name", "a storage", "a tensor" };

	return kinds[kind];
}
