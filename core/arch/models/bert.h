/* BertModel's pieces, used by its many relatives. */
#ifndef CORE_ARCH_MODELS_BERT_H
#define CORE_ARCH_MODELS_BERT_H

#include "core/arch/arch.h"

extern const struct arch arch_bert;
extern const struct arch arch_modernbert;

/* c->own of the classes whose position embeddings begin behind the padding token; NULL: all rows count. */
struct bert_positions {
	uint64_t first;
};

/* .init of RoBERTa's kind: max_position_embeddings without the rows up to the padding token. */
int bert_init_positions(struct conv *c);
/* Cuts those rows off. */
tensor_op bert_op_positions;

#endif
