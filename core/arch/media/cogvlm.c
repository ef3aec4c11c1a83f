/* CogVLM (conversion/cogvlm.py). */
#include "core/arch/media/pieces.h"

static const struct name_rule cogvlm_names[] = { KEEP_ONLY("model.vision.*"), NAMES_END };

static const struct param_rule cogvlm_params[] = {
	SUPER,
	V_F32_OR("attention.layer_norm_epsilon", "layer_norm_eps", 1e-6),
	PROJECTOR("cogvlm"),
	PARAMS_END
};

const struct arch media_cogvlm = {
	.classes = "CogVLMForCausalLM",
	.module = "cogvlm",
	.parent = &arch_media,
	.init = media_need_vision,
	.names = cogvlm_names,
	.params = cogvlm_params,
};
