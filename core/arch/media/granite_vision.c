/* Granite 4 Vision: a projector for each place where the text model takes in a picture (conversion/granite.py). */
#include "core/arch/conv.h"
#include "core/arch/media/hparams.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_PROJECTORS = 4096 };

struct projector {
	int64_t vision_layer, text_layer; /* from which layer to which */
	bool spatial;                     /* else "layerwise" */
	int number;                       /* among those of its kind: the one in the tensors' names */
	const char *prefix;
};

struct projectors {
	size_t n;
	struct projector v[];
};

/* Places in the list count where nothing else tells two apart: Python's sort is stable. */
static int compare(int64_t a, int64_t b, const struct projector *x, const struct projector *y)
{
	return a != b ? (a < b ? -1 : 1) : x->number - y->number;
}

static int by_pair(const void *x, const void *y)
{
	const struct projector *a = x, *b = y;

	return a->vision_layer != b->vision_layer ? (a->vision_layer < b->vision_layer ? -1 : 1)
						  : compare(a->text_layer, b->text_layer, a, b);
}

static int by_text_layer(const void *x, const void *y)
{
	const struct projector *a = x, *b = y;

	if (a->text_layer == b->text_layer && a->spatial != b->spatial)
		return a->spatial - b->spatial;
	return compare(a->text_layer, b->text_layer, a, b);
}

/* A negative number counts from the end. */
static int64_t layer(int64_t i, int64_t n)
{
	return i < 0 ? n + i : i;
}

static int layerwise(struct conv *c, struct projectors *p, const json *map, int64_t n_vision, int64_t n_text)
{
	json_for(pair, map) {
		struct projector *one = &p->v[p->n];

		if (!cJSON_IsArray(pair) || json_count(pair) != 2 || !json_int(pair->child, &one->vision_layer) ||
		    !json_int(pair->child->next, &one->text_layer))
			return conv_bad(c, "\"deepstack_layer_map\" must hold pairs of layers");
		one->number = (int)p->n++;
	}
	qsort(p->v, p->n, sizeof(p->v[0]), by_pair);
	for (size_t i = 0; i < p->n; i++) {
		p->v[i].vision_layer = layer(p->v[i].vision_layer, n_vision);
		p->v[i].text_layer = layer(p->v[i].text_layer, n_text);
		p->v[i].number = (int)i;
	}
	return 0;
}

static int spatial(struct conv *c, struct projectors *p, const json *layers, int64_t n_vision)
{
	int64_t from;
	int number = 0;

	if (!json_true(layers))
		return 0;
	if (media_int_or(c, c->global, "spatial_vision_layer", -1, &from))
		return c->err->code;
	json_for(x, layers) {
		struct projector *one = &p->v[p->n++];

		*one = (struct projector){ .vision_layer = layer(from, n_vision), .spatial = true, .number = number++ };
		if (!json_int(x, &one->text_layer))
			return conv_bad(c, "\"spatial_target_layers\" must hold layers");
	}
	return 0;
}

static int init(struct conv *c)
{
	const json *map = json_get(c->global, "deepstack_layer_map");
	const json *layers = json_get(c->global, "spatial_target_layers");
	size_t n = json_count(map) + json_count(layers);
	struct projectors *p;
	int64_t n_vision, n_text;

	if ((json_true(map) && !cJSON_IsArray(map)) || (json_true(layers) && !cJSON_IsArray(layers)) ||
	    n > MAX_PROJECTORS)
		return conv_bad(c, "\"deepstack_layer_map\" and \"spatial_target_layers\" must be lists, of at most %d "
				   "layers", MAX_PROJECTORS);
	if (media_int(c, json_get(c->global, "text_config"), "num_hidden_layers", &n_text) ||
	    media_int(c, c->vision, "num_hidden_layers", &n_vision))
		return c->err->code;
	if (n_text < 0 || n_text > INT32_MAX || n_vision < 0 || n_vision > INT32_MAX)
		return conv_bad(c, "%lld and %lld layers", (long long)n_text, (long long)n_vision);
	c->own = p = arena_alloc(c->arena, sizeof(*p) + n * sizeof(p->v[0]));
	if (!p)
		return err_nomem(c->err);
	if (layerwise(c, p, map, n_vision, n_text) || spatial(c, p, layers, n_vision))
		return c->err->code;
	qsort(p->v, p->n, sizeof(p->v[0]), by_text_layer);
	for (size_t i = 0; i < p->n; i++) {
		p->v[i].prefix = conv_printf(c, "model.%s_projectors.%d", p->v[i].spatial ? "spatial" : "layerwise",
					     p->v[i].number);
		if (!p->v[i].prefix)
			return c->err->code;
	}
	return 0;
}

/* ---- parameters ---- */

/* int() of a text that ends in `end`: a number, and blanks around it. What is behind, or NULL. */
static const char *number_before(const char *s, char end, uint32_t *out)
{
	char *rest;
	unsigned long v;

	s += strspn(s, " \t\n\r\v\f");
	s += *s == '+';
	if (!isdigit((unsigned char)*s))
		return NULL;
	v = strtoul(s, &rest, 10);
	rest += strspn(rest, " \t\n\r\v\f");
	*out = (uint32_t)v;
	return v <= UINT32_MAX && *rest == end ? rest + 1 : NULL;
}

/* "4/8": tokens of a side, and patches of a side that they stand for */
static int sides(struct conv *c)
{
	const char *rate = json_str(json_get(c->global, "downsample_rate")), *behind;
	uint32_t query, window;

	if (!rate)
		return conv_lacks(c, "downsample_rate");
	behind = number_before(rate, '/', &query);
	if (!behind || !number_before(behind, 0, &window))
		return conv_bad(c, "a \"downsample_rate\" of \"%.40s\", where \"4/8\" or the like is expected", rate);
	kv_u32(&c->kv, "clip.vision.projector.query_side", query);
	kv_u32(&c->kv, "clip.vision.projector.window_side", window);
	return 0;
}

static int layers_of(struct conv *c)
{
	const struct projectors *p = c->own;
	int32_t *from = arena_array(c->arena, p->n, sizeof(*from));
	int32_t *offsets = arena_array(c->arena, p->n, sizeof(*offsets));

	if (!from || !offsets)
		return err_nomem(c->err);
	for (size_t i = 0; i < p->n; i++) {
		if (p->v[i].vision_layer < INT32_MIN || p->v[i].vision_layer > INT32_MAX)
			return conv_bad(c, "no projector can take layer %lld", (long long)p->v[i].vision_layer);
		from[i] = (int32_t)p->v[i].vision_layer;
		offsets[i] = p->v[i].spatial ? p->v[i].number : -1;
	}
	kv_array_ref(&c->kv, "clip.vision.feature_layer", KV_I32, from, p->n);
	kv_array_ref(&c->kv, "clip.vision.projector.spatial_offsets", KV_I32, offsets, p->n);
	return 0;
}

/* [[height, width], …] becomes width, height, … */
static int pinpoints(struct conv *c)
{
	const json *list = json_get(c->global, "image_grid_pinpoints");
	size_t n = 0;
	int32_t *flat;

	if (!json_true(list))
		return 0;
	flat = arena_array(c->arena, 2 * json_count(list), sizeof(*flat));
	if (!flat)
		return err_nomem(c->err);
	json_for(pair, list) {
		int64_t h, w;

		if (!cJSON_IsArray(pair) || json_count(pair) != 2 || !json_int(pair->child, &h) ||
		    !json_int(pair->child->next, &w) || h < INT32_MIN || h > INT32_MAX || w < INT32_MIN ||
		    w > INT32_MAX)
			return conv_bad(c, "\"image_grid_pinpoints\" must hold pairs of sizes");
		flat[n++] = (int32_t)w;
		flat[n++] = (int32_t)h;
	}
	kv_array_ref(&c->kv, "clip.vision.image_grid_pinpoints", KV_I32, flat, n);
	return 0;
}

static const struct param_rule params[] = {
	SUPER,
	PROJECTOR("granite4_vision"),
	V_F32_OR("attention.layer_norm_epsilon", "layer_norm_eps", 1e-6),
	USE_GELU,
	V_U32_OR("preproc_image_size", "image_size", 384),
	CALL(sides),
	CALL(layers_of),
	CALL(pinpoints),
	PARAMS_END
};

/* ---- tensors ---- */

static const struct name_rule names[] = { DROP("*vision_model.head* lm_head*"), NAMES_END };

/* ".N." at or behind s: its dot, or NULL. *end: the dot behind the number. */
static const char *number_in(const char *s, const char **end)
{
	while ((s = strchr(s, '.'))) {
		size_t n = strspn(s + 1, "0123456789");

		if (n && s[1 + n] == '.') {
			*end = s + 1 + n;
			return s;
		}
		s++;
	}
	return NULL;
}

/*
 * The number of the projector within its kind gives way to its number among all. A second number, of the layer within
 * the projector, takes that in, and the first goes: there is one such layer in all published models. The first prefix
 * that fits counts, "…projectors.1" for "…projectors.10" too, as in the reference.
 */
static int op_renumber(struct conv *c, const struct tensor_rule *r, struct item *it, const struct tensor_rule *rest)
{
	const struct projectors *p = c->own;
	const char *first, *behind, *second, *end, *name = it->name;
	size_t i = 0;

	(void)r;
	(void)rest;
	while (i < p->n && !str_starts(name, p->v[i].prefix))
		i++;
	if (i == p->n)
		return ITEM_ON;
	first = number_in(name, &behind);
	if (!first)
		return err_set(c->err, HFGGUF_CORRUPT, "a number is expected in its name");
	/* the dot behind a number belongs to it: of two neighbours only the first counts */
	second = number_in(behind + 1, &end);
	if (second && number_in(end + 1, &(const char *){ NULL }))
		return err_set(c->err, HFGGUF_CORRUPT, "no more than two numbers are expected in its name");
	it->name = second ? conv_printf(c, "%.*s%.*s.%zu%s", (int)(first - name), name, (int)(second - behind), behind,
					i, end)
			  : conv_printf(c, "%.*s.%zu%s", (int)(first - name), name, i, behind);
	return it->name ? ITEM_ON : c->err->code;
}

static const struct tensor_rule tensors[] = {
	{ "*", op_renumber, NULL, 0 },
	{ NULL, NULL, NULL, 0 }
};

const struct arch media_granite_vision = {
	.classes = "Granite4VisionForConditionalGeneration",
	.module = "granite",
	.parent = &arch_media,
	.init = init,
	.names = names,
	.params = params,
	.tensors = tensors,
};
