/*
 * FP8 checkpoints: "fp8" (blocks, as DeepSeek publishes them; one scale a tensor, as Mistral does, in the Hugging Face
 * and in its own names) and "fbgemm_fp8" (a scale a row).
 */
#include "core/scheme/parts.h"

#include <string.h>

/* The config's weight_block_size; 0 when there is none. -1: refused. */
static int block_size(struct job *j, const json *list, uint64_t block[TENSOR_MAX_DIMS])
{
	int n = 0;

	json_for(v, list) {
		int64_t size;

		if (n == TENSOR_MAX_DIMS || !json_int(v, &size) || size <= 0)
			return err_set(j->err, HFGGUF_CORRUPT,
				       "config.json: a block size of the quantization is no size"),
			       -1;
		block[n++] = (uint64_t)size;
	}
	return n;
}

static int wrap(struct job *j, const char *scale_name, const char *suffix, const char *tail, const struct tensor *scale,
		int n_block, const uint64_t *block)
{
	const char *name = job_name(j, scale_name, strlen(suffix), tail);

	if (job_put(j, name, t_scaled(j->b, job_need(j, scale_name, suffix, tail), scale, n_block, block)))
		return j->err->code;
	job_remove(j, scale_name);
	return job_q8(j, name);
}

/* Names that the reference does not read come behind its own: AutoFP8's, and static scales. */
static const struct { const char *suffix, *tail; } scales[] = {
	{ "_scale_inv", "" },
	{ "qscale_weight", "weight" },
	{ ".weight_scale", ".weight" },
};

int scheme_fp8(struct job *j)
{
	uint64_t block[TENSOR_MAX_DIMS];
	int n_block = block_size(j, json_get(j->config, "weight_block_size"), block);

	job_for(j, name, t)
		for (size_t k = 0; k < sizeof(scales) / sizeof(scales[0]) && n_block >= 0; k++)
			if (str_ends(name, scales[k].suffix)) {
				(void)wrap(j, name, scales[k].suffix, scales[k].tail, t, n_block, block);
				break;
			}
	if (!j->err->code)
		job_drop_unused(j, "activation_scale .qscale_act .input_scale .k_scale .v_scale .input_scale_ub");
	return j->err->code;
}
