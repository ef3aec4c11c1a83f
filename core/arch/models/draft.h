/* What draft models share. */
#ifndef CORE_ARCH_MODELS_DRAFT_H
#define CORE_ARCH_MODELS_DRAFT_H

#include "core/arch/arch.h"

/*
 * "d2t": stored as the distance of a draft's token to the target's, written as the target's token (I64). All must be
 * within n_vocab and different; n_draft: how many there must be, or 0.
 */
int draft_tokens(struct conv *c, const char *name, int64_t n_draft, int64_t n_vocab);

extern const struct arch arch_dflash;
/* .select of Llama: EAGLE-3 drafts name Llama's class. */
const struct arch *eagle3_select(struct conv *c);

#endif
