/* Qwen's pieces, used by its many relatives. */
#ifndef CORE_ARCH_MODELS_QWEN_H
#define CORE_ARCH_MODELS_QWEN_H

#include "core/arch/arch.h"

extern const struct arch arch_qwen2moe;
extern const struct arch arch_qwen3;
extern const struct arch arch_qwen3moe;
extern const struct arch arch_qwen3next;
extern const struct arch arch_qwen35;
extern const struct arch arch_qwen35moe;

/* A variable of a chat template: as it is when it is a string, as JSON otherwise. */
#define TEMPLATE_TEXT(name) "{{ " name " if " name " is string else " name " | tojson }}"
/* add_chat_template([{"name": "systemone", "template": …}]); n bytes, copied. */
int qwen_systemone(struct conv *c, const char *template, size_t n);
/* "{arch}.decision.temperature.NAME" */
int qwen_temperature(struct conv *c, const char *name, double value);

#endif
