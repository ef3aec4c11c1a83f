/* LFM2's audio encoder (conversion/lfm2.py). */
#include "core/arch/media/conformer.h"
#include "core/arch/media/hparams.h"

static json *encoder(struct conv *c)
{
	return conv_part(c->global, "encoder");
}

static int sizes(struct conv *c)
{
	if (media_need(c, c->audio, "encoder") || media_alias(c, c->audio, "hidden_size", "d_model") ||
	    media_alias(c, c->audio, "intermediate_size", "d_model") ||
	    media_alias(c, c->audio, "num_attention_heads", "n_heads"))
		return c->err->code;
	return 0;
}

static const struct param_rule params[] = {
	CALL(sizes),
	SUPER,
	PROJECTOR("lfm2a"),
	A_U32("num_mel_bins", "feat_in"),
	A_F32_IS("attention.layer_norm_epsilon", 1e-5),
	PARAMS_END
};

/* The language model, and what makes its audio output. */
static const struct name_rule names[] = {
	DROP("lfm.* *audio_loss_weight* *codebook_offsets* *depth_embeddings* *depth_linear* *depthformer*"),
	NAMES_END
};

const struct arch media_lfm2_audio = {
	.classes = "Lfm2AudioForConditionalGeneration",
	.module = "lfm2",
	.parent = &media_conformer,
	.encoders = HAS_AUDIO,
	.audio = encoder,
	.names = names,
	.params = params,
};
