/* LoRA adapters as PEFT writes them: adapter_config.json beside adapter_model.safetensors (or .bin). */
#ifndef CORE_SOURCE_ADAPTER_H
#define CORE_SOURCE_ADAPTER_H

#include "core/source/source.h"

/* Does the directory of s hold an adapter? */
bool adapter_is(const struct source *s);
/* The file with its weights, as convert_lora_to_gguf.py chooses it; NULL with err set when there is none. */
const char *adapter_weights(const struct source *s, struct err *err);
/* base_model_name_or_path, allocated in s's arena; NULL when it is not named, or with err set. */
const char *adapter_base(struct source *s, struct err *err);

#endif
