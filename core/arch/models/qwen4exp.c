/*
 * Qwen 4 (conversion/qwen4exp.py): Qwen 3.5's layers with hyper-connections, an indexer for sparse attention, and
 * embeddings of n-grams, whose hash constants become KV and whose shards become one table.
 */
#include "core/arch/models/qwen.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

struct qwen4exp {
	const struct tensor **shards; /* by index; NULL: not come yet */
	uint64_t n_shards, n_come, row;
	const struct tensor *fc_embedding, *fc_hidden; /* the one waits for the other */
};

static int init(struct conv *c)
{
	struct qwen4exp *q = arena_alloc(c->arena, sizeof(*q));
	int64_t n = conv_int_or(c, "split_ngram_parts", 0);

	if (n < 0 || n > 1 << 20)
		return conv_bad(c, "\"split_ngram_parts\" %lld", (long long)n);
	if (!q || !(q->shards = arena_array(c->arena, (size_t)n + 1, sizeof(*q->shards))))
		return err_nomem(c->err);
	q->n_shards = (uint64_t)n;
	c->own = q;
	return 0;
}

/* ---- hyper-parameters ---- */

/* Full attention is compressed, also the prediction layers'. */
static int compress_ratios(struct conv *c)
{
	const json *types = json_get(c->hparams, "layer_types");
	size_t n = (size_t)c->block_count, i = 0;
	int32_t *list = arena_array(c->arena, n + 1, sizeof(*list));
	int64_t ratio, layers;

	if (!list)
		return err_nomem(c->err);
	if (conv_count(c, "indexer_compress_ratio", &ratio) || conv_count(c, "num_hidden_layers", &layers))
		return c->err->code;
	if ((int64_t)json_count(types) < layers)
		return conv_bad(c, "a \"layer_types\" of %zu for %lld layers", json_count(types), (long long)layers);
	for (size_t k = 0; k < n; k++)
		list[k] = (int32_t)ratio;
	json_for(t, types) {
		if (i == n || (int64_t)i == layers)
			break;
		if (!json_str(t) || strcmp(json_str(t), "full_attention"))
			list[i] = 0;
		i++;
	}
	kv_array_ref(&c->kv, "{arch}.attention.compress_ratios", KV_I32, list, n);
	return 0;
}

/* The n-grams' hash starts anew at the last of several end tokens. */
static int end_token(struct conv *c)
{
	const json *eos = json_get(c->hparams, "eos_token_id");
	int64_t id;

	if (cJSON_IsArray(eos))
		eos = cJSON_GetArrayItem(eos, cJSON_GetArraySize(eos) - 1);
	if (!json_int(eos, &id))
		return conv_bad(c, "no \"eos_token_id\", which the hash of n-grams needs");
	kv_u32(&c->kv, "{arch}.ple.eos_token_id", (uint32_t)id);
	return 0;
}

/* 64-bit integers of the checkpoint, exact. */
static int constants(struct conv *c, const char *ending, const char *kv)
{
	struct tensor_ctx ctx = { c->src, NULL, c->err };
	const struct tensor *t = NULL;
	uint64_t *list;

	for (size_t i = 0; i < c->in.n && !t; i++)
		if (c->in.v[i].t && str_ends(c->in.v[i].name, ending))
			t = c->in.v[i].t;
	if (!t || t->dtype != DT_I64 || t->n_dims != 1 || t->n > 1 << 20)
		return err_set(c->err, HFGGUF_NOT_FOUND, "the tensor …%s, a list of 64-bit integers, is not there",
			       ending);
	list = arena_array(c->arena, t->n + 1, sizeof(*list));
	ctx.scratch = scratch_new();
	if (!list || !ctx.scratch)
		err_nomem(c->err);
	else if (!tensor_read(t, 0, t->n, list, &ctx))
		kv_array_ref(&c->kv, kv, KV_U64, list, t->n);
	scratch_free(ctx.scratch);
	return c->err->code;
}

/* Numbered from 1 in the config. */
static int ple_layers(struct conv *c, const json *ids)
{
	size_t n = json_count(ids), i = 0;
	int32_t *list = arena_array(c->arena, n, sizeof(*list));
	int64_t id;

	if (!list)
		return err_nomem(c->err);
	json_for(x, ids) {
		if (!json_int(x, &id) || id < 1 || id > INT32_MAX)
			return conv_bad(c, "\"ple_layer_ids\" must be layers");
		list[i++] = (int32_t)(id - 1);
	}
	kv_array_ref(&c->kv, "{arch}.ple.layers", KV_I32, list, n);
	return 0;
}

static int ple_sizes(struct conv *c)
{
	static const struct { const char *key, *kv; } list[] = {
		{ "ngram_size", "{arch}.ple.ngram_size" },
		{ "heads_per_ngram", "{arch}.ple.heads_per_ngram" },
		{ "ple_conv_kernel_size", "{arch}.ple.conv_kernel" },
	};
	int64_t v;

	for (size_t i = 0; i < sizeof(list) / sizeof(list[0]); i++) {
		if (conv_count(c, list[i].key, &v))
			return c->err->code;
		kv_u32(&c->kv, list[i].kv, (uint32_t)v);
	}
	return 0;
}

static int ple(struct conv *c)
{
	const struct qwen4exp *q = c->own;
	const json *ids = json_get(c->hparams, "ple_layer_ids"), *image = json_some(c->hparams, "image_token_id");
	int64_t id;

	if (!cJSON_IsArray(ids))
		return conv_bad(c, "no \"ple_layer_ids\"");
	if (!json_count(ids) || c->opt->mtp) /* the prediction layers do not use them */
		return 0;
	if (ple_layers(c, ids) || ple_sizes(c) || end_token(c))
		return c->err->code;
	if (json_int(image, &id))
		kv_u32(&c->kv, "{arch}.ple.image_token_id", (uint32_t)id);
	if (q->n_come)
		kv_u32(&c->kv, "{arch}.embedding_length_per_layer_input", (uint32_t)q->row);
	if (constants(c, "ple_embedding.layer_multipliers", "{arch}.ple.layer_multipliers") ||
	    constants(c, "ple_embedding.ngram_heads_offsets", "{arch}.ple.head_offsets"))
		return c->err->code;
	return constants(c, "ple_embedding.ngram_heads_vocab_sizes", "{arch}.ple.head_vocab_sizes");
}

static const struct param_rule params[] = {
	SUPER,
	U32("hyper_connection.count", "hc_count"),
	U32("hyper_connection.low_rank", "hc_lowrank"),
	U32("attention.indexer.head_count", "indexer_n_heads"),
	U32("attention.indexer.key_length", "indexer_head_dim"),
	U32("attention.indexer.top_k", "indexer_budget"),
	CALL(compress_ratios),
	CALL(ple),
	PARAMS_END
};

/* ---- tensors ---- */

/* Shards come in any order; the last one brings the table, in the order of their numbers. */
static int op_shard(struct conv *c, const struct tensor_rule *r, struct item *it, const struct tensor_rule *rest)
{
	struct qwen4exp *q = c->own;
	const char *at = strstr(it->name, ".shard_") + sizeof(".shard_") - 1;
	uint64_t i = isdigit((unsigned char)*at) ? strtoull(at, NULL, 10) : UINT64_MAX;

	(void)r;
	(void)rest;
	if (i >= q->n_shards || it->t->n_dims != 2 || (q->n_come && it->t->dims[1] != q->row))
		return err_set(c->err, HFGGUF_CORRUPT, "one of %llu shards with rows of the same length is expected",
			       (unsigned long long)q->n_shards);
	q->row = it->t->dims[1];
	q->n_come += !q->shards[i];
	q->shards[i] = it->t;
	if (q->n_come < q->n_shards)
		return ITEM_DONE;
	return conv_emit(c, it, conv_name(c, MT_PER_LAYER_TOKEN_EMBD, -1, ".weight"),
			 t_cat(&c->b, q->shards, (uint32_t)q->n_shards, 0)) ? c->err->code : ITEM_DONE;
}

/* fc_embedding(e) + fc_hidden(h) is one matrix on [e; h]. */
static int op_fc(struct conv *c, const struct tensor_rule *r, struct item *it, const struct tensor_rule *rest)
{
	struct qwen4exp *q = c->own;
	const struct tensor *parts[2];

	(void)rest;
	if (r->num != 0)
		q->fc_hidden = it->t;
	else
		q->fc_embedding = it->t;
	if (!q->fc_hidden || !q->fc_embedding)
		return ITEM_DONE;
	parts[0] = q->fc_embedding;
	parts[1] = q->fc_hidden;
	q->fc_embedding = q->fc_hidden = NULL;
	return conv_emit(c, it, conv_name(c, MT_NEXTN_EH_PROJ, it->bid, ".weight"), t_cat(&c->b, parts, 2, 1)) ?
		       c->err->code : ITEM_DONE;
}

/* One projection feeds the indexer's q and k. */
static int op_index_qk(struct conv *c, const struct tensor_rule *r, struct item *it, const struct tensor_rule *rest)
{
	int64_t heads, dim;
	uint64_t n;

	(void)r;
	(void)rest;
	if (conv_count(c, "indexer_n_heads", &heads) || conv_count(c, "indexer_head_dim", &dim))
		return c->err->code;
	n = (uint64_t)(heads * dim);
	if (it->t->n_dims < 1 || it->t->dims[0] < n)
		return err_set(c->err, HFGGUF_CORRUPT, "at least %llu rows are expected", (unsigned long long)n);
	if (conv_emit(c, it, conv_name(c, MT_INDEXER_Q_PROJ, it->bid, ".weight"), t_slice(&c->b, it->t, 0, 0, n)) ||
	    conv_emit(c, it, conv_name(c, MT_INDEXER_K_PROJ, it->bid, ".weight"),
		      t_slice(&c->b, it->t, 0, n, it->t->dims[0] - n)))
		return c->err->code;
	return ITEM_DONE;
}

/* Norms stored as the difference to 1 that no other rule sees, and ones that no other rule must see again. */
#define PLE_NORMS "*.ple.norm_key.weight *.ple.norm_query.weight *.ple.norm_conv.weight " \
		  "*.indexer.q_layernorm.weight *.indexer.k_layernorm.weight"

static const struct tensor_rule tensors[] = {
	/* in KV, as no float holds them */
	{ "*ple_embedding.layer_multipliers *ple_embedding.ngram_heads_offsets *ple_embedding.ngram_heads_vocab_sizes",
	  op_drop, NULL, 0 },
	{ "*.ngram_embedding.shard_*", op_shard, NULL, 0 },
	{ "*.nextn_fc_embedding.weight", op_fc, NULL, 0 },
	{ "*.nextn_fc_hidden.weight", op_fc, NULL, 1 },
	{ "*.indexer.index_qk_proj.weight*", op_index_qk, NULL, 0 },
	{ PLE_NORMS, op_add_one, NULL, 0 },
	{ "*.ple.conv1d.weight", op_squeeze, NULL, 0 },
	{ PLE_NORMS " *.ple.conv1d.weight", op_direct, NULL, 0 },
	{ NULL, NULL, NULL, 0 }
};

static int finish(struct conv *c)
{
	const struct qwen4exp *q = c->own;

	if (q->fc_embedding || q->fc_hidden)
		return err_set(c->err, HFGGUF_NOT_FOUND, "one of mtp.fc_embedding and mtp.fc_hidden is not there");
	if (q->n_come && q->n_come != q->n_shards)
		return err_set(c->err, HFGGUF_NOT_FOUND, "%llu of %llu shards of the n-grams' embeddings are there",
			       (unsigned long long)q->n_come, (unsigned long long)q->n_shards);
	return 0;
}

const struct arch arch_qwen4exp = {
	.classes = "Qwen4ExpForConditionalGeneration Qwen4ExpForCausalLM",
	.module = "qwen4exp",
	.gguf = "qwen4exp",
	.parent = &arch_qwen35,
	.init = init,
	.params = params,
	.tensors = tensors,
	.finish = finish,
};
