/*
 * Multi-token prediction ("NextN"): layers behind the last of the model, which many classes export with it, without it
 * (no-mtp) or alone (mtp). All of them count and filter these layers in the same way.
 */
#include "core/arch/conv.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

int64_t conv_main_layers(const struct conv *c)
{
	static const char *const keys[] = { "n_layers", "num_hidden_layers", "n_layer", "num_layers" };
	const json *text = json_get(c->hparams, "text_config");

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		const json *v = json_get(text, keys[i]) ? json_get(text, keys[i]) : json_get(c->hparams, keys[i]);
		int64_t n;

		if (json_int(v, &n))
			return n;
	}
	return INT64_MAX;
}

bool conv_is_nextn(const struct conv *c, const char *name)
{
	char *end;
	long long layer;

	if (!str_starts(name, "model.layers.") || !isdigit((unsigned char)name[13]))
		return false;
	layer = strtoll(name + 13, &end, 10);
	return *end == '.' && layer >= conv_main_layers(c);
}

int name_nextn(struct conv *c, const char *name, char *out)
{
	(void)out;
	if (conv_is_nextn(c, name))
		return !c->opt->no_mtp;
	return !c->opt->mtp || str_in(name, "model.embed_tokens.weight model.norm.weight lm_head.weight");
}

int init_nextn(struct conv *c)
{
	int64_t more = conv_int_or(c, "num_nextn_predict_layers", 0);

	if (more <= 0 || c->opt->no_mtp)
		return 0;
	if (more > 65535 - c->block_count)
		return conv_bad(c, "%lld prediction layers, more than a model can have", (long long)more);
	return conv_remap(c, c->kv.arch, c->block_count + (int)more);
}

int param_nextn(struct conv *c)
{
	int64_t n = conv_int_or(c, "num_nextn_predict_layers", -1);

	if (n >= 0 && !c->opt->no_mtp)
		kv_u32(&c->kv, "{arch}.nextn_predict_layers", (uint32_t)n);
	return 0;
}

enum mtp_export conv_mtp(const struct conv *c)
{
	const struct arch *a = c->arch;

	while (a && a->mtp == MTP_INHERIT)
		a = arch_parent(a);
	return a ? a->mtp : MTP_NO;
}

bool conv_no_mtp(const struct conv *c)
{
	bool no = c->opt->no_mtp;

	for (const struct arch *a = c->arch; a && !no; a = arch_parent(a))
		no = a->no_mtp;
	return no;
}
