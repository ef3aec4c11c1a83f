/* Dots3 Note: a pyramid of experts for images, a conformer-like encoder for sound (conversion/dots3.py). */
#include "core/arch/media/hparams.h"

#include <stdlib.h>
#include <string.h>

/* ---- what the graph that runs it takes for granted ---- */

enum need { IS_TRUE, IS_FALSE, IS_TEXT, IS_NUMBER };

static const struct {
	enum param_of of;
	const char *part, *key; /* part: the object of the config that has the key, or NULL */
	enum need need;
	const char *text;
	double number;
	bool may_lack;
} needs[] = {
	{ OF_VISION, NULL, "adapter_type", IS_TEXT, "patch_merger", 0, false },
	{ OF_VISION, NULL, "pre_pixel_shuffle", IS_TRUE, NULL, 0, false },
	{ OF_VISION, NULL, "router_scoring_func", IS_TEXT, "sigmoid", 0, true },
	{ OF_VISION, NULL, "router_scale", IS_NUMBER, NULL, 1, true },
	{ OF_VISION, NULL, "temporal_patch_size", IS_NUMBER, NULL, 1, true },
	{ OF_VISION, NULL, "use_bias", IS_FALSE, NULL, 0, true },
	{ OF_VISION, NULL, "use_qk_norm", IS_TRUE, NULL, 0, false },
	{ OF_AUDIO, NULL, "use_conv2d_stem", IS_TRUE, NULL, 0, false },
	{ OF_AUDIO, NULL, "use_rope", IS_TRUE, NULL, 0, false },
	{ OF_AUDIO, NULL, "use_rms_norm", IS_TRUE, NULL, 0, false },
	{ OF_AUDIO, NULL, "use_causal", IS_FALSE, NULL, 0, true },
	{ OF_AUDIO, "whisper_config", "activation_function", IS_TEXT, "swiglu", 0, false },
	{ OF_AUDIO, NULL, "merge_factor", IS_NUMBER, NULL, 1, true },
	{ OF_AUDIO, NULL, "chunk_seconds", IS_NUMBER, NULL, 60, false },
	{ OF_AUDIO, "rope_parameters", "partial_rotary_factor", IS_NUMBER, NULL, 0.5, false },
	{ OF_AUDIO, "rope_parameters", "rope_theta", IS_NUMBER, NULL, 10000, false },
};

static bool is_met(const json *v, enum need need, const char *text, double number)
{
	double x;

	switch (need) {
	case IS_TRUE: return json_true(v);
	case IS_FALSE: return !json_true(v);
	case IS_TEXT: return json_str(v) && !strcmp(json_str(v), text);
	default: return json_num(v, &x) && x == number;
	}
}

static int check_needs(struct conv *c)
{
	for (size_t i = 0; i < sizeof(needs) / sizeof(needs[0]); i++) {
		const json *of = conv_of(c, needs[i].of), *v;

		v = json_get(needs[i].part ? json_get(of, needs[i].part) : of, needs[i].key);
		if (!(needs[i].may_lack && !v) && !is_met(v, needs[i].need, needs[i].text, needs[i].number))
			return conv_bad(c, "\"%s\" of the %s encoder has a value that GGUF cannot tell", needs[i].key,
					needs[i].of == OF_VISION ? "vision" : "audio");
	}
	return 0;
}

/* ---- the configs ---- */

/* Under the names that MmprojModel looks for. */
static json *dots3_audio(struct conv *c)
{
	static const struct { const char *to, *from; } names[] = {
		{ "hidden_size", "d_model" },
		{ "intermediate_size", "encoder_ffn_dim" },
		{ "num_attention_heads", "encoder_attention_heads" },
		{ "num_hidden_layers", "encoder_layers" },
	};
	json *config = conv_part(c->global, "audio_config");

	if (json_is_null(config))
		return NULL;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		const json *v = json_get(json_get(config, "whisper_config"), names[i].from);

		if (json_is_null(v))
			conv_lacks(c, names[i].from);
		else if (!json_put(config, names[i].to, v))
			err_nomem(c->err);
		if (c->err->code)
			return NULL;
	}
	return config;
}

struct dots3 {
	int32_t *n_experts; /* one a layer, 0: dense */
	uint64_t *n_held;   /* parts of experts that wait */
	size_t n_layers;
};

static int read_pyramid(struct conv *c, struct dots3 *d)
{
	const json *list = json_get(c->vision, "pyramid_num_routed");
	size_t i = 0;

	if (json_is_null(list))
		return conv_lacks(c, "pyramid_num_routed");
	if (!cJSON_IsArray(list))
		return conv_bad(c, "\"pyramid_num_routed\" must be a list");
	d->n_layers = json_count(list);
	d->n_experts = arena_array(c->arena, d->n_layers, sizeof(*d->n_experts));
	d->n_held = arena_array(c->arena, d->n_layers, sizeof(*d->n_held));
	if (!d->n_experts || !d->n_held)
		return err_nomem(c->err);
	json_for(x, list) {
		int64_t n;

		if (!json_is_int(x) || !json_int(x, &n) || n > INT32_MAX)
			return conv_bad(c, "\"pyramid_num_routed\" must hold numbers of experts");
		d->n_experts[i++] = n > 0 ? (int32_t)n : 0;
	}
	return 0;
}

/* The preprocessor's config has the image's values in a part of its own. */
static int merge_preproc(struct conv *c)
{
	const json *part = json_get(c->preproc, "vision_config");
	json *copy;
	bool ok;

	if (!part)
		return 0;
	if (!cJSON_IsObject(part))
		return err_set(c->err, HFGGUF_CORRUPT, "preprocessor_config.json: \"vision_config\" must be an object");
	copy = cJSON_Duplicate(part, true);
	ok = copy && json_merge(c->preproc, copy);
	json_free(copy);
	return ok ? 0 : err_nomem(c->err);
}

static int dots3_init(struct conv *c)
{
	struct dots3 *d = arena_alloc(c->arena, sizeof(*d));

	if (!d)
		return err_nomem(c->err);
	c->own = d;
	if (media_need_vision(c) || (!cJSON_IsObject(c->audio) && conv_lacks(c, "audio_config")) || merge_preproc(c))
		return c->err->code;
	/* here hidden_size is the adapter's width, and images may have any size */
	if (!json_get(c->vision, "embed_dim"))
		return conv_lacks(c, "embed_dim");
	if (media_rename(c, OF_VISION, "hidden_size", "embed_dim"))
		return c->err->code;
	if (!json_put_int(c->vision, "image_size", 0))
		return err_nomem(c->err);
	return read_pyramid(c, d) || check_needs(c) ? c->err->code : 0;
}

/* ---- parameters ---- */

static int dots3_experts(struct conv *c)
{
	const struct dots3 *d = c->own;

	kv_array(&c->kv, "clip.vision.expert_count_per_layer", KV_I32, d->n_experts, d->n_layers);
	return media_put_whole(c, OF_VISION, "capacity_factor", "clip.vision.expert_used_count");
}

static int dots3_mel_bins(struct conv *c)
{
	int64_t n;

	if (!json_int(json_get(json_get(c->audio, "whisper_config"), "num_mel_bins"), &n))
		return conv_lacks(c, "num_mel_bins");
	return media_u32(c, "clip.audio.num_mel_bins", "num_mel_bins", n);
}

static const struct param_rule dots3_params[] = {
	SUPER,
	V_PROJECTOR("dots3note_v"),
	USE_SILU,
	V_F32("attention.layer_norm_epsilon", "rms_norm_eps"),
	V_U32("spatial_merge_size", "spatial_merge_size"),
	IMAGE_U32("clip.vision.image_min_pixels", "min_pixels"),
	IMAGE_U32("clip.vision.image_max_pixels", "max_pixels"),
	CALL(dots3_experts),
	A_PROJECTOR("dots3note_a"),
	CALL(dots3_mel_bins),
	A_F32_IS("attention.layer_norm_epsilon", 1e-6),
	PARAMS_END
};

/* ---- tensors ---- */

/* Gate and up in one, the gate first, and larger by one where they are odd. */
static int op_gate_up(struct conv *c, const struct tensor_rule *r, struct item *it, const struct tensor_rule *rest)
{
	static const char *const names[] = { ".fc1_gate.", ".fc1_up." };
	uint64_t n, half;

	(void)r;
	if (!it->t->n_dims || it->t->dims[0] < 2)
		return err_set(c->err, HFGGUF_CORRUPT, "has no halves for gate and up");
	n = it->t->dims[0];
	half = n - n / 2;
	for (int i = 0; i < 2; i++) {
		struct item part = *it;
		int e;

		part.name = conv_replaced(c, it->name, ".fc1.", 5, names[i], strlen(names[i]));
		part.t = t_slice(&c->b, it->t, 0, i ? half : 0, i ? n - half : half);
		e = part.name && part.t ? conv_continue(c, &part, rest) : c->err->code;
		if (e)
			return e;
	}
	return ITEM_DONE;
}

/* One tensor of what all experts of a layer have under this name. */
static int stack(struct conv *c, const struct item *it, const char *w, uint64_t n, const struct tensor_rule *rest)
{
	const struct tensor **parts = calloc(n, sizeof(*parts));
	struct item one = *it;
	int e = parts ? 0 : err_nomem(c->err);

	for (uint64_t x = 0; x < n && !e; x++) {
		const char *name = conv_printf(c, "vision_encoder.blocks.%d.mlp.experts.%llu.%s.weight", it->bid,
					       (unsigned long long)x, w);

		if (!name)
			e = c->err->code;
		else if (!(parts[x] = set_get(&c->held, name)))
			e = err_set(c->err, HFGGUF_NOT_FOUND, "expert tensor %s is not there", name);
		else
			set_remove(&c->held, name);
	}
	if (!e) {
		one.t = t_stack(&c->b, parts, (uint32_t)n);
		one.name = conv_printf(c, "vision_encoder.blocks.%d.mlp.experts.%s.weight", it->bid, w);
		e = one.t && one.name ? conv_continue(c, &one, rest) : c->err->code;
	}
	free(parts);
	return e;
}

/* op_stack_experts where each layer has its own number of them */
static int op_experts(struct conv *c, const struct tensor_rule *r, struct item *it, const struct tensor_rule *rest)
{
	static const char *const words[] = { "fc1", "fc2", "fc3" };
	struct dots3 *d = c->own;
	uint64_t n;
	int e = 0;

	(void)r;
	if (it->bid < 0 || (size_t)it->bid >= d->n_layers || !d->n_experts[it->bid])
		return err_set(c->err, HFGGUF_CORRUPT,
			       "\"pyramid_num_routed\" of config.json gives layer %d no experts", it->bid);
	n = (uint64_t)d->n_experts[it->bid];
	if (!set_get(&c->held, it->name))
		d->n_held[it->bid]++;
	if (!set_put(&c->held, it->name, it->t))
		return err_nomem(c->err);
	if (d->n_held[it->bid] < 3 * n)
		return ITEM_DONE;
	d->n_held[it->bid] = 0;
	for (size_t i = 0; i < 3 && !e; i++)
		e = stack(c, it, words[i], n, rest);
	return e ? e : ITEM_DONE;
}

static const struct name_rule dots3_names[] = { KEEP_ONLY("vision_encoder.* audio_encoder.*"), NAMES_END };

static const struct tensor_rule dots3_tensors[] = {
	{ "*.gate_weight *.router_bias", op_suffix, ".weight", 0 },
	{ "*.speech_encoder.layers.*.fc1.*", op_gate_up, NULL, 0 },
	{ "*.mlp.experts.*", op_experts, NULL, 0 },
	{ NULL, NULL, NULL, 0 }
};

static int dots3_force(struct conv *c, const struct item *it, const char *new_name)
{
	if (name_matches(new_name, "*.ffn_gate_inp.* *.exp_probs_b.* *.conv2d* *a.conv_out*"))
		return GGML_F32;
	return media_force(c, it, new_name);
}

const struct arch media_dots3 = {
	.classes = "Dots3NoteForCausalLM Dots3NoteForConditionalGeneration",
	.module = "dots3",
	.parent = &arch_media,
	.encoders = HAS_VISION | HAS_AUDIO,
	.init = dots3_init,
	.names = dots3_names,
	.params = dots3_params,
	.tensors = dots3_tensors,
	.force = dots3_force,
	.audio = dots3_audio,
};
