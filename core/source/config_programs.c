/*
 * What the config classes of transformers 4.57.6 derive, in the order of their __init__. A table of facts; the words:
 *
 *     super                 the base class and the keys that are no parameters; last where it is not written.
 *                           super:bare passes no keys on; with super:first aliases of parameters have
 *                           no effect, for the parameters are stored afterwards
 *     kv                    num_key_value_heads: num_attention_heads where null
 *     head_dim              hidden_size // num_attention_heads where null; :always; :true where false as a condition
 *     set:k=v null:k=v      a constant; only where null
 *     copy:k=j nullcopy:k=j the value of another key; only where null
 *     kwarg:k=j renamed:k=j the value of a key that is no parameter, if it is there; if it is there and not null
 *     sum:k=a+b             a sum
 *     in:k=a,b              the class raises unless k is one of these
 *     only:a,b              the class raises on keys but its parameters and these
 *     drop:k                removed
 *     sliding               no sliding_window unless use_sliding_window
 *     rank:k                "auto" is ceil(hidden_size / 16)
 *     rope[:mrope]          rope_scaling: rope_type from type
 *     check_rope[:kind]     rope_config_validation; only where position_embedding_type is kind
 *     layers… check_layers  see config_layers.c
 *     sub:k=Class           a sub-config of this class, default where null
 *     auto:k=type           a sub-config of its own model_type, of this one where it has none
 *     flat:k=Class          as sub, but an absent one is made of the keys that are no parameters
 *
 * and others that one family needs, beside their functions in config_rope.c and config_special.c.
 */
#include "core/source/config_class.h"

#include <stddef.h>

#define LLAMA "kv head_dim rope check_rope"
#define QWEN2 "sliding kv rope check_rope layers_window check_layers"
#define QWEN2_VL_TEXT "sliding kv layers_window check_layers rope:mrope check_rope"
#define QWEN2_MOE "sliding rope check_rope null:mlp_only_layers=[]"
#define T5 "nullcopy:num_decoder_layers=num_layers t5"
#define SILENT "model_type,attn_implementation,transformers_version,_commit_hash,torch_dtype,dtype"

const struct config_program config_programs[] = {
	{ "ApertusConfig", "super kv rope check_rope" },
	{ "ArceeConfig", "super kv head_dim rope check_rope" },
	{ "BambaConfig", "set:attention_bias=false set:mlp_bias=false kv set:rope_theta=10000.0 set:rope_scaling=null "
			 "set:partial_rotary_factor=0.5 mamba_heads" },
	{ "BitNetConfig", "kv" },
	{ "BloomConfig", "renamed:hidden_size=n_embed super drop:n_embed" },
	{ "ChameleonConfig", "check_rope_pair sub:vq_config=ChameleonVQVAEConfig image_token" },
	{ "LlamaConfig", LLAMA },
	{ "CohereConfig", "kv check_rope" },
	{ "Cohere2Config", "kv head_dim:always check_rope super pattern:4 "
			   "layers:_sliding_window_pattern check_layers" },
	{ "DbrxConfig", "sub:attn_config=DbrxAttentionConfig sub:ffn_config=DbrxFFNConfig dbrx "
			"set:tie_word_embeddings=false" },
	{ "DbrxAttentionConfig", "super only:" SILENT },
	{ "DbrxFFNConfig", "super:bare null:ffn_act_fn={'name':'silu'} only:" SILENT },
	{ "DeepseekV2Config", "super kv copy:head_dim=qk_rope_head_dim rope check_rope" },
	{ "DeepseekV3Config", "sum:qk_head_dim=qk_nope_head_dim+qk_rope_head_dim copy:head_dim=qk_rope_head_dim kv "
			      "rope rope_floats check_rope" },
	{ "Dots1Config", "kv layers_window check_layers" },
	{ "Ernie4_5Config", LLAMA },
	{ "Ernie4_5_MoeConfig", "rope check_rope last_layer:moe_layer_end_index" },
	{ "Exaone4Config", "layers_exaone4 check_layers" },
	{ "FalconConfig", "falcon_ffn renamed:hidden_size=n_embed nullcopy:num_kv_heads=num_attention_heads super "
			  "drop:n_embed" },
	{ "FalconH1Config", "set:attention_bias=false set:mlp_bias=false kv mamba_heads:mamba_d_ssm "
			    "null:mlp_multipliers=[1.0,1.0] null:attention_out_multiplier=1.0 "
			    "null:attention_in_multiplier=1.0 null:key_multiplier=1.0 "
			    "null:ssm_multipliers=[1.0,1.0,1.0,1.0,1.0] null:ssm_in_multiplier=1.0 "
			    "null:ssm_out_multiplier=1.0" },
	{ "FalconMambaConfig", "super mamba_inner:given rank:time_step_rank" },
	{ "Gemma2Config", "super layers:2 check_layers" },
	{ "Gemma3Config", "sub:text_config=Gemma3TextConfig sub:vision_config=SiglipVisionConfig" },
	{ "Gemma3TextConfig", "super both_sides check_rope pattern:6 layers:_sliding_window_pattern check_layers" },
	{ "Gemma3nConfig", "sub:text_config=Gemma3nTextConfig sub:vision_config=Gemma3nVisionConfig "
			   "sub:audio_config=Gemma3nAudioConfig" },
	{ "Gemma3nTextConfig", "super check_rope layers:5 check_layers gemma3n" },
	{ "Gemma3nVisionConfig", "super timm_labels" },
	{ "Glm4MoeConfig", "rope check_rope" },
	{ "Glm4vConfig", "super sub:vision_config=Glm4vVisionConfig flat:text_config=Glm4vTextConfig" },
	{ "Glm4vTextConfig", "kv rope check_rope" },
	{ "Glm4vMoeConfig", "super sub:vision_config=Glm4vMoeVisionConfig flat:text_config=Glm4vMoeTextConfig" },
	{ "Glm4vMoeTextConfig", "super rope check_rope" },
	{ "GPTBigCodeConfig", "multi_query" },
	{ "GPTNeoXConfig", "super copy:partial_rotary_factor=rotary_pct copy:rope_theta=rotary_emb_base rope "
			   "check_rope divisible" },
	{ "GptOssConfig", "kv head_dim layers:2 check_layers set:attention_bias=true rope check_rope" },
	{ "GraniteConfig", "kv super check_rope" },
	{ "GraniteSpeechConfig", "auto:text_config=granite auto:projector_config=blip_2_qformer "
				 "sub:encoder_config=GraniteSpeechEncoderConfig" },
	{ "GraniteMoeConfig", "kv set:position_embedding_type='rope' super check_rope" },
	{ "GraniteMoeHybridConfig", "kv layers_mamba mamba_heads super check_rope:rope" },
	{ "GraniteMoeSharedConfig", "kv set:position_embedding_type='rope' super check_rope" },
	{ "HunYuanDenseV1Config", "kv" },
	{ "HunYuanMoEV1Config", "kv" },
	{ "Idefics3Config", "sub:vision_config=Idefics3VisionConfig auto:text_config=llama" },
	{ "InternVLConfig", "sub:vision_config=InternVLVisionConfig auto:text_config=qwen2" },
	{ "InternVLVisionConfig", "super pair:image_size pair:patch_size" },
	{ "JambaConfig", "kv offset:attn offset:expert rank:mamba_dt_rank" },
	{ "JanusConfig", "auto:text_config=llama sub:vision_config=JanusVisionConfig "
			 "sub:vq_config=JanusVQVAEConfig janus" },
	{ "Lfm2Config", "kwarg:rope_theta=theta kwarg:intermediate_size=block_ff_dim layers_lfm2 "
			"kwarg:tie_word_embeddings=tie_embedding" },
	{ "Lfm2VlConfig", "auto:vision_config=siglip2_vision_model auto:text_config=lfm2" },
	{ "Llama4Config", "sub:vision_config=Llama4VisionConfig sub:text_config=Llama4TextConfig" },
	{ "Llama4TextConfig", "super set:attention_bias=false kv head_dim no_rope_layers:true moe_layers "
			      "layers_rope:chunked check_layers" },
	{ "Llama4VisionConfig", "set:_vision_feature_layer=-1 kwarg:_vision_feature_layer=vision_feature_layer" },
	{ "LlavaConfig", "in:vision_feature_select_strategy=default,full auto:vision_config=clip_vision_model "
			 "auto:text_config=llama" },
	{ "MambaConfig", "mamba_inner rank:time_step_rank" },
	{ "Mamba2Config", "mamba2_heads rank:time_step_rank" },
	{ "MinistralConfig", "super kv layers_ministral" },
	{ "MistralConfig", "kv" },
	{ "Mistral3Config", "auto:vision_config=pixtral auto:text_config=mistral" },
	{ "MixtralConfig", "kv" },
	{ "ModernBertConfig", "super:first in:classifier_pooling=cls,mean" },
	{ "MptConfig", "sub:attn_config=MptAttentionConfig" },
	{ "MptAttentionConfig", "super:bare in:attn_type=multihead_attention,multiquery_attention" },
	{ "MT5Config", T5 },
	{ "NemotronConfig", "head_dim check_rope" },
	{ "OlmoConfig", "kv check_rope_pair" },
	{ "Olmo2Config", "super kv check_rope_pair" },
	{ "Olmo3Config", "super kv check_rope layers:4 check_layers:names" },
	{ "OlmoeConfig", "kv rope check_rope" },
	{ "PhiConfig", "kv rope check_rope" },
	{ "Phi3Config", "kv rope_phi3" },
	{ "PhimoeConfig", "kv rope_phimoe check_rope" },
	{ "PixtralVisionConfig", "super head_dim:always" },
	{ "Qwen2Config", QWEN2 },
	{ "Qwen2_5OmniConfig", "sub:thinker_config=Qwen2_5OmniThinkerConfig sub:talker_config=Qwen2_5OmniTalkerConfig "
			       "sub:token2wav_config=Qwen2_5OmniToken2WavConfig" },
	{ "Qwen2_5OmniThinkerConfig", "sub:vision_config=Qwen2_5OmniVisionEncoderConfig "
				      "sub:audio_config=Qwen2_5OmniAudioEncoderConfig "
				      "sub:text_config=Qwen2_5OmniTextConfig" },
	{ "Qwen2_5OmniAudioEncoderConfig", "super copy:num_hidden_layers=encoder_layers" },
	{ "Qwen2_5OmniTextConfig", "super sliding kv rope check_rope null:rope_scaling={'mrope_section':[16,24,24],"
				   "'rope_type':'default','type':'default'} layers_window check_layers" },
	{ "Qwen2_5OmniTalkerConfig", "sliding kv layers_window check_layers" },
	{ "Qwen2_5OmniToken2WavConfig", "sub:dit_config=Qwen2_5OmniDiTConfig "
				       "sub:bigvgan_config=Qwen2_5OmniBigVGANConfig" },
	{ "Qwen2_5_VLConfig", "super sub:vision_config=Qwen2_5_VLVisionConfig flat:text_config=Qwen2_5_VLTextConfig "
			      "into_text" },
	{ "Qwen2_5_VLTextConfig", QWEN2_VL_TEXT },
	{ "Qwen2AudioConfig", "auto:audio_config=qwen2_audio_encoder auto:text_config=qwen2" },
	{ "Qwen2AudioEncoderConfig", "super copy:num_hidden_layers=encoder_layers" },
	{ "Qwen2MoeConfig", QWEN2_MOE },
	{ "Qwen2VLConfig", "super sub:vision_config=Qwen2VLVisionConfig flat:text_config=Qwen2VLTextConfig into_text" },
	{ "Qwen2VLTextConfig", QWEN2_VL_TEXT },
	{ "Qwen3Config", QWEN2 },
	{ "Qwen3MoeConfig", QWEN2_MOE },
	{ "Qwen3NextConfig", "super check_rope layers_linear check_layers" },
	{ "Qwen3OmniMoeConfig", "sub:thinker_config=Qwen3OmniMoeThinkerConfig "
				"sub:talker_config=Qwen3OmniMoeTalkerConfig "
				"sub:code2wav_config=Qwen3OmniMoeCode2WavConfig" },
	{ "Qwen3OmniMoeThinkerConfig", "super sub:vision_config=Qwen3OmniMoeVisionEncoderConfig "
				       "sub:audio_config=Qwen3OmniMoeAudioEncoderConfig "
				       "sub:text_config=Qwen3OmniMoeTextConfig" },
	{ "Qwen3OmniMoeAudioEncoderConfig", "super copy:num_hidden_layers=encoder_layers" },
	{ "Qwen3OmniMoeTextConfig", "super rope check_rope null:mlp_only_layers=[]" },
	{ "Qwen3OmniMoeTalkerConfig", "sub:code_predictor_config=Qwen3OmniMoeTalkerCodePredictorConfig "
				      "sub:text_config=Qwen3OmniMoeTalkerTextConfig" },
	{ "Qwen3OmniMoeTalkerCodePredictorConfig", "super kv rope check_rope layers_window check_layers" },
	{ "Qwen3OmniMoeTalkerTextConfig", "super rope check_rope null:mlp_only_layers=[]" },
	{ "Qwen3VLConfig", "sub:vision_config=Qwen3VLVisionConfig sub:text_config=Qwen3VLTextConfig" },
	{ "Qwen3VLTextConfig", "kv check_rope" },
	{ "Qwen3VLMoeConfig", "sub:vision_config=Qwen3VLMoeVisionConfig sub:text_config=Qwen3VLMoeTextConfig" },
	{ "Qwen3VLMoeTextConfig", "kv head_dim:true check_rope null:mlp_only_layers=[]" },
	{ "SeedOssConfig", LLAMA },
	{ "ShieldGemma2Config", "auto:vision_config=siglip_vision_model auto:text_config=gemma3_text" },
	{ "SmolLM3Config", "super kv no_rope_layers layers_rope:sliding check_layers rope check_rope" },
	{ "SmolVLMConfig", "sub:vision_config=SmolVLMVisionConfig auto:text_config=llama" },
	{ "StableLmConfig", "rope check_rope" },
	{ "Starcoder2Config", "rope check_rope" },
	{ "T5Config", T5 },
	{ "UMT5Config", T5 },
	{ "VoxtralConfig", "auto:audio_config=voxtral_encoder auto:text_config=llama from_text:vocab_size "
			   "from_text:hidden_size" },
	{ "VoxtralEncoderConfig", "super:first set:dropout=0.0 set:layerdrop=0.0 set:activation_dropout=0.0" },
	{ "WhisperConfig", "copy:num_hidden_layers=encoder_layers" },
	{ NULL, NULL },
};

#define IDEFICS3_TEXT "{'rms_norm_eps': 1e-05, 'pad_token_id': null, 'tie_word_embeddings': false}"

const struct config_auto_default config_auto_defaults[] = {
	{ "Idefics3Config", "text_config", IDEFICS3_TEXT, false },
	{ "SmolVLMConfig", "text_config", IDEFICS3_TEXT, false },
	{ "LlavaConfig", "vision_config",
	  "{'intermediate_size': 4096, 'hidden_size': 1024, 'patch_size': 14, 'image_size': 336, "
	  "'num_hidden_layers': 24, 'num_attention_heads': 16, 'vocab_size': 32000, 'projection_dim': 768}", false },
	{ "Mistral3Config", "vision_config",
	  "{'intermediate_size': 4096, 'hidden_size': 1024, 'patch_size': 14, 'image_size': 1540, "
	  "'num_hidden_layers': 24, 'num_attention_heads': 16, 'vocab_size': 32000, 'head_dim': 64, "
	  "'hidden_act': 'gelu'}", false },
	{ "Mistral3Config", "text_config",
	  "{'attention_dropout': 0.0, 'head_dim': 128, 'hidden_act': 'silu', 'hidden_size': 5120, "
	  "'initializer_range': 0.02, 'intermediate_size': 32768, 'max_position_embeddings': 131072, "
	  "'model_type': 'mistral', 'num_attention_heads': 32, 'num_hidden_layers': 40, 'num_key_value_heads': 8, "
	  "'rms_norm_eps': 1e-05, 'rope_theta': 1000000000.0, 'sliding_window': null, 'use_cache': true, "
	  "'vocab_size': 131072}", false },
	{ "Qwen2AudioConfig", "audio_config",
	  "{'d_model': 1280, 'encoder_attention_heads': 20, 'encoder_ffn_dim': 5120, 'encoder_layerdrop': 0.0, "
	  "'encoder_layers': 32, 'num_mel_bins': 128, 'max_source_positions': 1500, 'scale_embedding': false, "
	  "'activation_function': 'gelu'}", false },
	{ "VoxtralConfig", "text_config",
	  "{'vocab_size': 131072, 'hidden_size': 3072, 'intermediate_size': 8192, 'num_hidden_layers': 30, "
	  "'num_key_value_heads': 8, 'max_position_embeddings': 131072, 'rms_norm_eps': 1e-05, 'use_cache': true, "
	  "'rope_theta': 100000000.0, 'head_dim': 128}", true },
	{ NULL, NULL, NULL, false },
};
