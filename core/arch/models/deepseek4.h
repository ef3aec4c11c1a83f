/* What the DSpark draft of DeepSeek 4 shares with it. */
#ifndef CORE_ARCH_MODELS_DEEPSEEK4_H
#define CORE_ARCH_MODELS_DEEPSEEK4_H

#include "core/arch/arch.h"

extern const struct arch arch_deepseek4, arch_deepseek4_dspark;

struct ds4_name { /* the class's own names; GGUF name = format of kind + suffix */
	const char *name;
	enum model_tensor kind;
	const char *suffix;
};

/* Writes it under the kind of the row that has this name; *done false when none has. */
int ds4_emit(struct conv *c, const struct item *it, const struct ds4_name *rows, size_t n, const char *name,
	     bool *done);

#endif
