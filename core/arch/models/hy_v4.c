/* Hunyuan V4 (conversion/hy_v4.py): DeepSeek's latent attention and routing with hyper-connections, a gated output, a
 * learnt sink, and sparse attention. Its prediction layers are left out. */
#include "core/arch/arch.h"

#include <string.h>

static int init(struct conv *c)
{
	const json *heads = json_get(c->hparams, "num_attention_heads");

	if (!heads)
		return conv_lacks(c, "num_attention_heads");
	/* latent attention has no groups; the config has another number */
	return json_put(c->hparams, "num_key_value_heads", heads) ? 0 : err_nomem(c->err);
}

/* ---- sparse attention: which layers have an indexer of their own ---- */

/* full: one flag a layer, or NULL without sparse attention. */
static int indexers(struct conv *c, bool **full, size_t *n)
{
	static const char *const needed[] = { "index_n_heads", "index_head_dim", "index_topk" };
	const json *own = json_some(c->hparams, "indexer_types");
	const json *list = own ? own : json_some(c->hparams, "layer_types");
	const char *yes = own ? "full" : "sparse_attention deepseek_sparse_attention";
	int64_t layers;
	bool any = own != NULL;
	size_t i = 0;

	*full = NULL;
	if (conv_count(c, "num_hidden_layers", &layers))
		return c->err->code;
	json_for(t, list)
		any = any || (json_str(t) && str_in(json_str(t), yes));
	if (!any)
		return 0;
	if (layers < 0 || layers > c->block_count || json_count(list) < (size_t)layers)
		return conv_bad(c, "\"%s\" must name the type of each layer", own ? "indexer_types" : "layer_types");
	for (size_t k = 0; k < 3; k++)
		if (!json_get(c->hparams, needed[k]))
			return conv_lacks(c, needed[k]);
	*n = (size_t)layers;
	*full = arena_array(c->arena, *n, sizeof(**full));
	if (!*full)
		return err_nomem(c->err);
	json_for(t, list) {
		if (i == *n)
			break;
		if (own && (!json_str(t) || !str_in(json_str(t), "full shared")))
			return conv_bad(c, "the indexer type \"%s\" is not known", json_str(t) ? json_str(t) : "");
		(*full)[i++] = json_str(t) && str_in(json_str(t), yes);
	}
	if (own && *n && !(*full)[0])
		return conv_bad(c, "the first layer must have an indexer: there is none before it to share");
	return 0;
}

/* Full layers must have all of an indexer's tensors, shared ones none. */
static int check_indexers(struct conv *c)
{
	static const char *const parts[] = { "wq_b.weight", "wk.weight", "k_norm.weight", "k_norm.bias",
					     "weights_proj.weight" };
	bool *full;
	size_t n;

	if (indexers(c, &full, &n))
		return c->err->code;
	for (size_t i = 0; full && i < n; i++)
		for (size_t k = 0; k < sizeof(parts) / sizeof(parts[0]); k++) {
			const char *name = conv_printf(c, "model.layers.%zu.self_attn.indexer.%s", i, parts[k]);

			if (!name)
				return c->err->code;
			if (full[i] != (conv_get(c, name) != NULL))
				return err_set(c->err, HFGGUF_CORRUPT,
					       "tensor %s is %sthere, but by the config its layer has %s indexer", name,
					       full[i] ? "not " : "", full[i] ? "an" : "no");
		}
	return 0;
}

/* ---- parameters ---- */

/* One group is none; dense layers may be told by their types alone. */
static int before(struct conv *c)
{
	const json *types = json_some(c->hparams, "mlp_layer_types");
	int64_t dense = 0, said = conv_int_or(c, "first_k_dense_replace", -1);
	bool sparse = false;

	if (conv_int_or(c, "n_group", 0) == 1 && conv_int_or(c, "topk_group", 0) == 1) {
		json_drop(c->hparams, "n_group");
		json_drop(c->hparams, "topk_group");
	}
	json_for(t, types) {
		bool is_dense = json_str(t) && !strcmp(json_str(t), "dense");

		if (is_dense && sparse)
			return conv_bad(c, "\"mlp_layer_types\" has dense layers behind others");
		sparse = sparse || !is_dense;
		dense += is_dense;
	}
	if (types && said >= 0 && said != dense)
		return conv_bad(c, "\"first_k_dense_replace\" is %lld, \"mlp_layer_types\" begins with %lld dense "
				   "layers", (long long)said, (long long)dense);
	if (said >= 0)
		return 0;
	if (!types)
		return conv_lacks(c, "first_k_dense_replace mlp_layer_types");
	return json_put_int(c->hparams, "first_k_dense_replace", dense) ? 0 : err_nomem(c->err);
}

/* Of routed experts alone. */
static int clamp(struct conv *c)
{
	double limit = conv_num_or(c, "swiglu_limit", 0);
	size_t n = (size_t)c->block_count;
	float *limits = arena_array(c->arena, n, sizeof(*limits));

	if (!limits)
		return err_nomem(c->err);
	for (size_t i = 0; i < n; i++)
		limits[i] = (float)limit;
	if (limit > 0)
		kv_array_ref(&c->kv, "{arch}.swiglu_clamp_exp", KV_F32, limits, n);
	return 0;
}

static int sparse(struct conv *c)
{
	static const struct { const char *key, *kv; } numbers[] = {
		{ "index_n_heads", "{arch}.attention.indexer.head_count" },
		{ "index_head_dim", "{arch}.attention.indexer.key_length" },
		{ "index_topk", "{arch}.attention.indexer.top_k" },
	};
	bool *full;
	size_t n;

	if (indexers(c, &full, &n) || !full)
		return c->err->code;
	for (size_t i = 0; i < 3; i++) {
		int64_t v;

		if (conv_count(c, numbers[i].key, &v))
			return c->err->code;
		kv_u32(&c->kv, numbers[i].kv, (uint32_t)v);
	}
	kv_array_ref(&c->kv, "{arch}.attention.indexer.types", KV_BOOL, full, n);
	return 0;
}

static int dropped_layers(struct conv *c)
{
	int64_t n = conv_int_or(c, "num_nextn_predict_layers", 0);

	if (n)
		conv_note(c, "%lld prediction layers are left out, as in the reference", (long long)n);
	return 0;
}

static const struct param_rule params[] = {
	CALL(before),
	SUPER,
	U32_IS("expert_gating_func", 2), /* sigmoid; the config does not say */
	CALL(clamp),
	U32("hyper_connection.count", "hc_mult"),
	F32("hyper_connection.epsilon", "hc_eps"),
	F32("hyper_connection.magnitude", "hc_magnitude"),
	CALL(sparse),
	CALL(dropped_layers),
	PARAMS_END
};

/* ---- tensors ---- */

static const struct name_rule names[] = { DROP("model.mtp_layers.*"), NAMES_END };

/* [experts, 2 ff, hidden], gate first */
static int op_gate_up(struct conv *c, const struct tensor_rule *r, struct item *it, const struct tensor_rule *rest)
{
	int64_t ff;

	(void)r;
	(void)rest;
	if (conv_count(c, "moe_intermediate_size", &ff))
		return c->err->code;
	if (it->t->n_dims != 3 || ff <= 0 || it->t->dims[1] != 2 * (uint64_t)ff)
		return err_set(c->err, HFGGUF_CORRUPT, "twice %lld rows in three dimensions are expected",
			       (long long)ff);
	for (uint64_t i = 0; i < 2; i++) {
		struct item one = *it;

		one.name = conv_name(c, i ? MT_FFN_UP_EXP : MT_FFN_GATE_EXP, it->bid, ".weight");
		one.t = t_slice(&c->b, it->t, 1, i * (uint64_t)ff, (uint64_t)ff);
		if (!one.name || !one.t || conv_map_and_emit(c, &one))
			return c->err->code;
	}
	return ITEM_DONE;
}

static const struct tensor_rule tensors[] = {
	{ "*mlp.experts.gate_up_proj", op_gate_up, NULL, 0 },
	{ "*mlp.experts.down_proj *.self_attn.learnable_sink_param "
	  "*.hc_head.hc_head_fn *.hc_head.hc_head_base *.hc_head.hc_head_scale "
	  "*.hc_attn_layer.hc_pre.hc_fn *.hc_attn_layer.hc_pre.hc_base *.hc_attn_layer.hc_pre.hc_scale "
	  "*.hc_mlp_layer.hc_pre.hc_fn *.hc_mlp_layer.hc_pre.hc_base *.hc_mlp_layer.hc_pre.hc_scale",
	  op_suffix, ".weight", 0 },
	{ "*mlp.experts*", op_plain, NULL, 0 }, /* stacked already */
	{ NULL, NULL, NULL, 0 }
};

/* What their code keeps in float32. */
static int force(struct conv *c, const struct item *it, const char *new_name)
{
	if (str_ends(new_name, "hc_attn_fn.weight") || str_ends(new_name, "hc_ffn_fn.weight") ||
	    str_ends(new_name, "output_hc_fn.weight") || conv_is(c, new_name, MT_INDEXER_K_NORM, it->bid, ".bias"))
		return GGML_F32;
	if (!strcmp(new_name, "output.weight") && json_true(json_get(c->hparams, "enable_lm_head_fp32")))
		return GGML_F32;
	return -1;
}

const struct arch arch_hy_v4 = {
	.classes = "HYV4ForCausalLM",
	.module = "hy_v4",
	.gguf = "hy_v4",
	.parent = &arch_deepseek2,
	.init = init,
	.names = names,
	.params = params,
	.tensors = tensors,
	.extra = check_indexers,
	.force = force,
};
