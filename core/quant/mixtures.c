/* Table: llama-quantize's file types, by name and number (tools/quantize/quantize.cpp,
 * llama_ftype_get_default_type). */
#include "core/quant/policy.h"

#include <ctype.h>
#include <stdlib.h>
#include <strings.h>

#define ROW(name, type) { #name, MIX_##name, GGML_##type, false }

static const struct mixture mixtures[] = {
	ROW(Q1_0, Q1_0), ROW(Q2_0, Q2_0), ROW(Q4_0, Q4_0), ROW(Q4_1, Q4_1), ROW(MXFP4_MOE, MXFP4), ROW(Q5_0, Q5_0),
	ROW(Q5_1, Q5_1), ROW(IQ2_XXS, IQ2_XXS), ROW(IQ2_XS, IQ2_XS), ROW(IQ2_S, IQ2_XS), ROW(IQ2_M, IQ2_S),
	ROW(IQ1_S, IQ1_S), ROW(IQ1_M, IQ1_M), ROW(TQ1_0, TQ1_0), ROW(TQ2_0, TQ2_0), ROW(Q2_K, Q2_K), ROW(Q2_K_S, Q2_K),
	ROW(IQ3_XXS, IQ3_XXS), ROW(IQ3_S, IQ3_S), ROW(IQ3_M, IQ3_S), ROW(IQ3_XS, IQ3_S), ROW(Q3_K_S, Q3_K),
	ROW(Q3_K_M, Q3_K), ROW(Q3_K_L, Q3_K), ROW(IQ4_NL, IQ4_NL), ROW(IQ4_XS, IQ4_XS), ROW(Q4_K_S, Q4_K),
	ROW(Q4_K_M, Q4_K), ROW(Q5_K_S, Q5_K), ROW(Q5_K_M, Q5_K), ROW(Q6_K, Q6_K), ROW(Q8_0, Q8_0), ROW(F16, F16),
	ROW(BF16, BF16), ROW(F32, F32),
	{ "COPY", MIX_F32, GGML_F32, true },
};

static const struct { const char *alias, *name; } aliases[] = {
	{ "Q3_K", "Q3_K_M" }, { "Q4_K", "Q4_K_M" }, { "Q5_K", "Q5_K_M" },
};

enum { N_MIXTURES = sizeof(mixtures) / sizeof(mixtures[0]) };

const struct mixture *mixture_at(size_t i)
{
	return i < N_MIXTURES ? &mixtures[i] : NULL;
}

const struct mixture *mixture_find(const char *name)
{
	char *end;
	long number;

	for (size_t i = 0; i < sizeof(aliases) / sizeof(aliases[0]); i++)
		if (!strcasecmp(name, aliases[i].alias))
			name = aliases[i].name;
	for (size_t i = 0; i < N_MIXTURES; i++)
		if (!strcasecmp(name, mixtures[i].name))
			return &mixtures[i];
	number = strtol(name, &end, 10);
	for (size_t i = 0; isdigit((unsigned char)*name) && !*end && i < N_MIXTURES; i++)
		if (mixtures[i].mix == number)
			return &mixtures[i];
	return NULL;
}
