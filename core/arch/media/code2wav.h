/* The decoder from codes to sound that Qwen 3 TTS keeps in a folder of its own. */
#ifndef CORE_ARCH_MEDIA_CODE2WAV_H
#define CORE_ARCH_MEDIA_CODE2WAV_H

#include "core/arch/media/media.h"

enum { CODE2WAV_BOOKS = 15 }; /* codebooks behind the first, of all models */

/* generate_extra_tensors: its tensors, under their GGUF names. */
int code2wav_tensors(struct conv *c);

#endif
