#include "core/scheme/parts.h"

#include <string.h>

/* What is recognised, by quant_method; several methods may share a function. */
static const struct {
	const char *method;
	scheme_fn *apply;
} methods[] = {
	{ "fp8", scheme_fp8 },
	{ "fbgemm_fp8", scheme_fp8 },
	{ "bitnet", scheme_bitnet },
	{ "gptq", scheme_gptq },
	{ "awq", scheme_awq },
	{ "compressed-tensors", scheme_compressed_tensors },
	{ "modelopt", scheme_modelopt },
	{ "bitsandbytes", scheme_bnb },
};

/* Text of `hfgguf schemes`: quant_method, format, what is read. */
static const char table[] =
	"none\tF64 F32 F16 BF16 and integer safetensors\n"
	"fp8\tE4M3 and E5M2, a scale a tensor or block (weight_scale_inv, Mistral's qscale_weight)\n"
	"fbgemm_fp8\tE4M3, a scale a row\n"
	"bitnet\tpacked ternary weights\n"
	"gptq\t2, 3, 4 and 8 bit, gptq and gptq_v2, with and without g_idx\n"
	"awq\t4 bit, gemm layout\n"
	"bitsandbytes\tnf4 and fp4 (nested absmax or not), int8\n"
	"compressed-tensors\tpack-quantized of 1 to 8 bit, int-, float- and naive-quantized,"
	" nvfp4- and mxfp4-pack-quantized, groups of several\n"
	"modelopt\tFP8, NVFP4, W4A16_NVFP4, MIXED_PRECISION\n";

const char *scheme_table(void)
{
	return table;
}

static struct job job_of(struct scheme *s)
{
	return (struct job){ s->in.set, s->in.b, s->in.b->err, json_get(s->in.hparams, "quantization_config"), s };
}

struct scheme *scheme_open(const struct scheme_in *in)
{
	struct scheme *s = arena_alloc(in->b->arena, sizeof(*s));
	struct job j;

	if (!s)
		return err_nomem(in->b->err), NULL;
	s->in = *in;
	j = job_of(s);
	if (!nvfp4_recognise(&j))
		return s;
	scheme_free(s);
	return NULL;
}

/* Mistral's own format says it in params.json's "quantization". */
static int mistral_method(struct job *j, const char **method)
{
	const char *format = json_str(json_get(json_some(j->out->in.hparams, "quantization"), "qformat_weight"));

	if (!format)
		return 0;
	if (strcmp(format, "fp8_e4m3"))
		return err_set(j->err, HFGGUF_UNSUPPORTED,
			       "params.json: weights in \"%s\" cannot be read; fp8_e4m3 can", format);
	j->config = NULL;
	*method = "fp8";
	return 0;
}

static bool any_ends(const struct tensor_set *set, const char *a, const char *b)
{
	for (size_t i = 0; i < set->n; i++)
		if (set->v[i].t && (str_ends(set->v[i].name, a) || str_ends(set->v[i].name, b)))
			return true;
	return false;
}

int scheme_dequant(struct scheme *s)
{
	struct job j = job_of(s);
	const char *method = json_str(json_some(j.config, "quant_method"));

	if (mistral_method(&j, &method))
		return j.err->code;
	if (!method && json_get(json_some(s->in.hparams, "quantization"), "bits") &&
	    any_ends(j.set, ".scales", ".scales"))
		return job_refuse(&j, "weights quantized by MLX cannot be read");
	if (!method || !*method || (s->nvfp4 && !any_ends(j.set, ".weight_scale", ".weight_scale_inv")))
		return 0;
	for (size_t i = 0; i < sizeof(methods) / sizeof(methods[0]); i++)
		if (!strcmp(methods[i].method, method))
			return methods[i].apply(&j);
	return job_refuse(&j, "weights quantized with \"%s\" cannot be read yet", method);
}

void scheme_free(struct scheme *s)
{
	if (!s)
		return;
	map_free(&s->q8);
	vec_free(&s->blocks);
	vec_free(&s->unused);
}
