/* What classes derived from Granite's hybrid of Mamba 2 and attention take from it. */
#ifndef CORE_ARCH_MODELS_GRANITE_H
#define CORE_ARCH_MODELS_GRANITE_H

#include "core/arch/models/mamba.h"

extern const struct arch arch_granitemoe;

struct hybrid { /* begins the state of such a class (conv.own) */
	struct mamba2 m; /* first: what op_mamba2_shape finds in c->own */
	bool *attention; /* per layer, room for one more */
	bool mixed;      /* some layers are Mamba's */
};

/* .init: c->own becomes h (zeroed); mark tells which layers have attention. */
int hybrid_begin(struct conv *c, struct hybrid *h, int (*mark)(struct conv *c, struct hybrid *h));

int param_hybrid_sizes(struct conv *c);
int param_hybrid_attention(struct conv *c);
int param_hybrid_checks(struct conv *c);

/* set_gguf_parameters behind GraniteMoe's; a key may begin with "mamba_". */
#define HYBRID_PARAMS                                                                                             \
	U32("ssm.conv_kernel", "conv_kernel d_conv mamba_conv_kernel mamba_d_conv"),                              \
	U32("ssm.state_size", "state_size d_state state_dim ssm_state_size mamba_state_size mamba_d_state "       \
	    "mamba_state_dim mamba_ssm_state_size"),                                                              \
	CALL(param_hybrid_sizes),                                                                                 \
	U32("ssm.time_step_rank", "n_heads num_heads mamba_n_heads mamba_num_heads"), /* clients want heads */    \
	CALL(param_hybrid_attention),                                                                             \
	CALL(param_hybrid_checks)

/* Merged projections and layers with attention go on; Mamba's get their shapes; the rest has no layer. */
tensor_op op_hybrid;

#endif
