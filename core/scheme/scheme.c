#include "core/scheme/scheme.h"

int scheme_apply(struct tensor_set *set, const json *hparams, struct build *b)
{
	const json *config = json_some(hparams, "quantization_config");
	const char *method = json_str(json_some(config, "quant_method"));

	(void)set;
	if (!method)
		return 0;
	return err_set(b->err, HFGGUF_UNSUPPORTED,
		       "config.json: weights quantized with \"%s\" cannot be read yet; use the unquantized checkpoint", method);
}

const char *scheme_table(void)
{
	return "none\tF64 F32 F16 BF16 and integer safetensors\n";
}
