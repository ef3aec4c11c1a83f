/*
 * What the config classes of transformers 4.57.6 say: parameters with their defaults, aliases of attributes
 * (attribute_map), attributes that cannot be set, parameters that are not kept. A table of facts, written by a script
 * from the classes themselves; the rules for derived values are in config_programs.c. The JSON has ' for ".
 */
#include "core/source/config_class.h"

const char *const config_base_defaults =
	  "{'return_dict': true, 'output_hidden_states': false, 'torchscript': false, 'dtype': null, "
	  "'pruned_heads': {}, 'tie_word_embeddings': true, 'chunk_size_feed_forward': 0, "
	  "'is_encoder_decoder': false, 'is_decoder': false, 'cross_attention_hidden_size': null, "
	  "'add_cross_attention': false, 'tie_encoder_decoder': false, 'architectures': null, "
	  "'finetuning_task': null, 'id2label': null, 'label2id': null, 'task_specific_params': null, "
	  "'problem_type': null, 'tokenizer_class': null, 'prefix': null, 'bos_token_id': null, "
	  "'pad_token_id': null, 'eos_token_id': null, 'sep_token_id': null, 'decoder_start_token_id': null, "
	  "'max_length': 20, 'min_length': 0, 'do_sample': false, 'early_stopping': false, 'num_beams': 1, "
	  "'temperature': 1.0, 'top_k': 50, 'top_p': 1.0, 'typical_p': 1.0, 'repetition_penalty': 1.0, "
	  "'length_penalty': 1.0, 'no_repeat_ngram_size': 0, 'encoder_no_repeat_ngram_size': 0, "
	  "'bad_words_ids': null, 'num_return_sequences': 1, 'output_scores': false, "
	  "'return_dict_in_generate': false, 'forced_bos_token_id': null, 'forced_eos_token_id': null, "
	  "'remove_invalid_values': false, 'exponential_decay_length_penalty': null, "
	  "'suppress_tokens': null, 'begin_suppress_tokens': null, 'num_beam_groups': 1, "
	  "'diversity_penalty': 0.0, 'tf_legacy_loss': false, 'use_bfloat16': false, "
	  "'output_attentions': false}";

const struct config_class config_classes[] = {
	{ "ApertusConfig", "apertus",
	  "",
	  "", "",
	  "{'vocab_size': 131072, 'hidden_size': 4096, 'intermediate_size': 14336, 'num_hidden_layers': 32, "
	  "'num_attention_heads': 32, 'num_key_value_heads': null, 'hidden_act': 'xielu', "
	  "'max_position_embeddings': 65536, 'initializer_range': 0.02, 'rms_norm_eps': 1e-05, "
	  "'use_cache': true, 'pad_token_id': 3, 'bos_token_id': 1, 'eos_token_id': 2, "
	  "'tie_word_embeddings': false, 'rope_theta': 12000000.0, 'rope_scaling': {'rope_type': 'llama3', "
	  "'factor': 8.0, 'original_max_position_embeddings': 8192, 'low_freq_factor': 1.0, "
	  "'high_freq_factor': 4.0}, 'attention_bias': false, 'attention_dropout': 0.0}" },
	{ "ArceeConfig", "arcee",
	  "",
	  "", "",
	  "{'vocab_size': 32000, 'hidden_size': 2560, 'intermediate_size': 18432, 'num_hidden_layers': 32, "
	  "'num_attention_heads': 32, 'num_key_value_heads': null, 'hidden_act': 'relu2', "
	  "'max_position_embeddings': 4096, 'initializer_range': 0.02, 'rms_norm_eps': 1e-05, "
	  "'use_cache': true, 'pad_token_id': null, 'bos_token_id': 128000, 'eos_token_id': 128001, "
	  "'tie_word_embeddings': false, 'rope_theta': 10000.0, 'rope_scaling': null, "
	  "'attention_bias': false, 'attention_dropout': 0.0, 'mlp_bias': false, 'head_dim': null}" },
	{ "BambaConfig", "bamba",
	  "",
	  "layers_block_type", "",
	  "{'vocab_size': 128000, 'tie_word_embeddings': false, 'hidden_size': 4096, "
	  "'intermediate_size': 14336, 'num_hidden_layers': 32, 'num_attention_heads': 32, "
	  "'num_key_value_heads': 8, 'hidden_act': 'silu', 'initializer_range': 0.02, 'rms_norm_eps': 1e-05, "
	  "'use_cache': true, 'num_logits_to_keep': 1, 'pad_token_id': 0, 'bos_token_id': 1, "
	  "'eos_token_id': 2, 'max_position_embeddings': 262144, 'attention_dropout': 0.0, "
	  "'attn_layer_indices': null, 'mamba_n_heads': 128, 'mamba_d_head': 'auto', 'mamba_n_groups': 1, "
	  "'mamba_d_state': 256, 'mamba_d_conv': 4, 'mamba_expand': 2, 'mamba_chunk_size': 256, "
	  "'mamba_conv_bias': true, 'mamba_proj_bias': false, 'z_loss_coefficient': 0.0}" },
	{ "BertConfig", "bert",
	  "",
	  "", "",
	  "{'vocab_size': 30522, 'hidden_size': 768, 'num_hidden_layers': 12, 'num_attention_heads': 12, "
	  "'intermediate_size': 3072, 'hidden_act': 'gelu', 'hidden_dropout_prob': 0.1, "
	  "'attention_probs_dropout_prob': 0.1, 'max_position_embeddings': 512, 'type_vocab_size': 2, "
	  "'initializer_range': 0.02, 'layer_norm_eps': 1e-12, 'pad_token_id': 0, "
	  "'position_embedding_type': 'absolute', 'use_cache': true, 'classifier_dropout': null}" },
	{ "BitNetConfig", "bitnet",
	  "",
	  "", "",
	  "{'vocab_size': 128256, 'hidden_size': 2560, 'intermediate_size': 6912, 'num_hidden_layers': 30, "
	  "'num_attention_heads': 20, 'num_key_value_heads': 5, 'hidden_act': 'relu2', "
	  "'max_position_embeddings': 2048, 'initializer_range': 0.02, 'rms_norm_eps': 1e-05, "
	  "'use_cache': true, 'pad_token_id': null, 'bos_token_id': 128000, 'eos_token_id': 128001, "
	  "'tie_word_embeddings': false, 'rope_theta': 500000.0, 'attention_bias': false, "
	  "'attention_dropout': 0.0}" },
	{ "Blip2QFormerConfig", "blip_2_qformer",
	  "",
	  "", "",
	  "{'vocab_size': 30522, 'hidden_size': 768, 'num_hidden_layers': 12, 'num_attention_heads': 12, "
	  "'intermediate_size': 3072, 'hidden_act': 'gelu', 'hidden_dropout_prob': 0.1, "
	  "'attention_probs_dropout_prob': 0.1, 'max_position_embeddings': 512, 'initializer_range': 0.02, "
	  "'layer_norm_eps': 1e-12, 'pad_token_id': 0, 'position_embedding_type': 'absolute', "
	  "'cross_attention_frequency': 2, 'encoder_hidden_size': 1408, 'use_qformer_text_input': false}" },
	{ "BloomConfig", "bloom",
	  "num_hidden_layers n_layer num_attention_heads n_head",
	  "", "",
	  "{'vocab_size': 250880, 'hidden_size': 64, 'n_layer': 2, 'n_head': 8, 'layer_norm_epsilon': 1e-05, "
	  "'initializer_range': 0.02, 'use_cache': true, 'bos_token_id': 1, 'eos_token_id': 2, "
	  "'apply_residual_connection_post_layernorm': false, 'hidden_dropout': 0.0, "
	  "'attention_dropout': 0.0, 'pretraining_tp': 1, 'slow_but_exact': false}" },
	{ "CLIPVisionConfig", "clip_vision_model",
	  "",
	  "", "",
	  "{'hidden_size': 768, 'intermediate_size': 3072, 'projection_dim': 512, 'num_hidden_layers': 12, "
	  "'num_attention_heads': 12, 'num_channels': 3, 'image_size': 224, 'patch_size': 32, "
	  "'hidden_act': 'quick_gelu', 'layer_norm_eps': 1e-05, 'attention_dropout': 0.0, "
	  "'initializer_range': 0.02, 'initializer_factor': 1.0}" },
	{ "CamembertConfig", "camembert",
	  "",
	  "", "",
	  "{'vocab_size': 30522, 'hidden_size': 768, 'num_hidden_layers': 12, 'num_attention_heads': 12, "
	  "'intermediate_size': 3072, 'hidden_act': 'gelu', 'hidden_dropout_prob': 0.1, "
	  "'attention_probs_dropout_prob': 0.1, 'max_position_embeddings': 512, 'type_vocab_size': 2, "
	  "'initializer_range': 0.02, 'layer_norm_eps': 1e-12, 'pad_token_id': 1, 'bos_token_id': 0, "
	  "'eos_token_id': 2, 'position_embedding_type': 'absolute', 'use_cache': true, "
	  "'classifier_dropout': null}" },
	{ "ChameleonConfig", "chameleon",
	  "",
	  "", "",
	  "{'vocab_size': 65536, 'hidden_size': 4096, 'intermediate_size': 11008, 'num_hidden_layers': 32, "
	  "'num_attention_heads': 32, 'num_key_value_heads': 32, 'hidden_act': 'silu', "
	  "'max_position_embeddings': 4096, 'initializer_range': 0.02, 'rms_norm_eps': 1e-05, "
	  "'use_cache': true, 'pad_token_id': null, 'bos_token_id': 1, 'eos_token_id': 2, "
	  "'tie_word_embeddings': false, 'rope_theta': 10000.0, 'rope_scaling': null, "
	  "'attention_bias': false, 'attention_dropout': 0.0, 'model_parallel_size': 1, 'swin_norm': false, "
	  "'vq_config': null, 'vocabulary_map': null, 'mlp_bias': false}" },
	{ "ChameleonVQVAEConfig", "chameleon_vqgan",
	  "",
	  "", "",
	  "{'embed_dim': 256, 'num_embeddings': 8192, 'double_latent': false, 'latent_channels': 256, "
	  "'resolution': 512, 'in_channels': 3, 'base_channels': 128, 'channel_multiplier': [1, 1, 2, 2, 4], "
	  "'num_res_blocks': 2, 'attn_resolutions': null, 'dropout': 0.0, 'attn_type': 'vanilla', "
	  "'initializer_range': 0.02}" },
	{ "Cohere2Config", "cohere2",
	  "",
	  "", "",
	  "{'vocab_size': 256000, 'hidden_size': 8192, 'intermediate_size': 22528, 'logit_scale': 0.0625, "
	  "'num_hidden_layers': 40, 'num_attention_heads': 64, 'num_key_value_heads': null, "
	  "'hidden_act': 'silu', 'max_position_embeddings': 8192, 'initializer_range': 0.02, "
	  "'layer_norm_eps': 1e-05, 'use_cache': true, 'pad_token_id': 0, 'bos_token_id': 5, "
	  "'eos_token_id': 255001, 'tie_word_embeddings': true, 'rope_theta': 10000.0, 'rope_scaling': null, "
	  "'attention_bias': false, 'attention_dropout': 0.0, 'sliding_window': 4096, 'layer_types': null}" },
	{ "CohereConfig", "cohere",
	  "",
	  "", "",
	  "{'vocab_size': 256000, 'hidden_size': 8192, 'intermediate_size': 22528, 'logit_scale': 0.0625, "
	  "'num_hidden_layers': 40, 'num_attention_heads': 64, 'num_key_value_heads': null, "
	  "'hidden_act': 'silu', 'max_position_embeddings': 8192, 'initializer_range': 0.02, "
	  "'layer_norm_eps': 1e-05, 'use_cache': true, 'pad_token_id': 0, 'bos_token_id': 5, "
	  "'eos_token_id': 255001, 'tie_word_embeddings': true, 'rope_theta': 10000.0, 'rope_scaling': null, "
	  "'attention_bias': false, 'attention_dropout': 0.0, 'use_qk_norm': false}" },
	{ "DbrxAttentionConfig", "",
	  "",
	  "", "",
	  "{'attn_pdrop': 0.0, 'clip_qkv': null, 'kv_n_heads': 1, 'rope_theta': 10000.0}" },
	{ "DbrxConfig", "dbrx",
	  "num_attention_heads n_heads hidden_size d_model num_hidden_layers n_layers "
	  "max_position_embeddings max_seq_len",
	  "", "",
	  "{'d_model': 2048, 'n_heads': 16, 'n_layers': 24, 'max_seq_len': 2048, 'vocab_size': 32000, "
	  "'resid_pdrop': 0.0, 'emb_pdrop': 0.0, 'attn_config': null, 'ffn_config': null, 'use_cache': true, "
	  "'initializer_range': 0.02, 'output_router_logits': false}" },
	{ "DbrxFFNConfig", "",
	  "",
	  "", "",
	  "{'ffn_act_fn': null, 'ffn_hidden_size': 3584, 'moe_num_experts': 4, 'moe_top_k': 1, "
	  "'moe_jitter_eps': null, 'moe_loss_weight': 0.01, 'moe_normalize_expert_weights': 1.0}" },
	{ "DeepseekV2Config", "deepseek_v2",
	  "",
	  "", "",
	  "{'vocab_size': 32000, 'hidden_size': 4096, 'intermediate_size': 11008, 'num_hidden_layers': 32, "
	  "'num_attention_heads': 32, 'num_key_value_heads': null, 'hidden_act': 'silu', "
	  "'max_position_embeddings': 2048, 'initializer_range': 0.02, 'rms_norm_eps': 1e-06, "
	  "'use_cache': true, 'pad_token_id': null, 'bos_token_id': 1, 'eos_token_id': 2, "
	  "'tie_word_embeddings': false, 'rope_theta': 10000.0, 'rope_scaling': null, "
	  "'attention_bias': false, 'attention_dropout': 0.0, 'mlp_bias': false, 'aux_loss_alpha': 0.001, "
	  "'first_k_dense_replace': 0, 'kv_lora_rank': 512, 'q_lora_rank': 1536, 'n_group': null, "
	  "'n_routed_experts': 64, 'n_shared_experts': 2, 'qk_nope_head_dim': 128, 'qk_rope_head_dim': 64, "
	  "'routed_scaling_factor': 1.0, 'seq_aux': true, 'topk_group': null, 'topk_method': 'greedy', "
	  "'v_head_dim': 128, 'num_experts_per_tok': null, 'norm_topk_prob': false, "
	  "'moe_intermediate_size': 1407}" },
	{ "DeepseekV3Config", "deepseek_v3",
	  "",
	  "", "",
	  "{'vocab_size': 129280, 'hidden_size': 7168, 'intermediate_size': 18432, "
	  "'moe_intermediate_size': 2048, 'num_hidden_layers': 61, 'num_attention_heads': 128, "
	  "'num_key_value_heads': 128, 'n_shared_experts': 1, 'n_routed_experts': 256, "
	  "'routed_scaling_factor': 2.5, 'kv_lora_rank': 512, 'q_lora_rank': 1536, 'qk_rope_head_dim': 64, "
	  "'v_head_dim': 128, 'qk_nope_head_dim': 128, 'n_group': 8, 'topk_group': 4, "
	  "'num_experts_per_tok': 8, 'first_k_dense_replace': 3, 'norm_topk_prob': true, "
	  "'hidden_act': 'silu', 'max_position_embeddings': 4096, 'initializer_range': 0.02, "
	  "'rms_norm_eps': 1e-06, 'use_cache': true, 'pad_token_id': null, 'bos_token_id': 0, "
	  "'eos_token_id': 1, 'pretraining_tp': 1, 'tie_word_embeddings': false, 'rope_theta': 10000.0, "
	  "'rope_scaling': null, 'rope_interleave': true, 'attention_bias': false, 'attention_dropout': 0.0}" },
	{ "DistilBertConfig", "distilbert",
	  "hidden_size dim num_attention_heads n_heads num_hidden_layers n_layers",
	  "", "",
	  "{'vocab_size': 30522, 'max_position_embeddings': 512, 'sinusoidal_pos_embds': false, "
	  "'n_layers': 6, 'n_heads': 12, 'dim': 768, 'hidden_dim': 3072, 'dropout': 0.1, "
	  "'attention_dropout': 0.1, 'activation': 'gelu', 'initializer_range': 0.02, 'qa_dropout': 0.1, "
	  "'seq_classif_dropout': 0.2, 'pad_token_id': 0}" },
	{ "Dots1Config", "dots1",
	  "",
	  "", "",
	  "{'vocab_size': 152064, 'hidden_size': 4608, 'intermediate_size': 10944, "
	  "'moe_intermediate_size': 1408, 'num_hidden_layers': 62, 'num_attention_heads': 32, "
	  "'num_key_value_heads': 32, 'n_shared_experts': null, 'n_routed_experts': null, 'n_group': 1, "
	  "'topk_group': 1, 'num_experts_per_tok': null, 'first_k_dense_replace': 0, "
	  "'norm_topk_prob': false, 'hidden_act': 'silu', 'max_position_embeddings': 2048, "
	  "'initializer_range': 0.02, 'rms_norm_eps': 1e-06, 'use_cache': true, "
	  "'tie_word_embeddings': false, 'rope_theta': 10000.0, 'rope_scaling': null, "
	  "'attention_bias': false, 'attention_dropout': 0.0, 'routed_scaling_factor': 1.0, "
	  "'sliding_window': 4096, 'max_window_layers': 62, 'layer_types': null}" },
	{ "Ernie4_5Config", "ernie4_5",
	  "",
	  "", "",
	  "{'vocab_size': 103424, 'hidden_size': 1024, 'intermediate_size': 3072, 'num_hidden_layers': 18, "
	  "'num_attention_heads': 16, 'num_key_value_heads': 2, 'hidden_act': 'silu', "
	  "'max_position_embeddings': 131072, 'initializer_range': 0.02, 'rms_norm_eps': 1e-05, "
	  "'use_cache': true, 'pad_token_id': 0, 'bos_token_id': 1, 'eos_token_id': 2, "
	  "'tie_word_embeddings': true, 'rope_theta': 500000.0, 'rope_scaling': null, 'use_bias': false, "
	  "'head_dim': 128}" },
	{ "Ernie4_5_MoeConfig", "ernie4_5_moe",
	  "num_experts moe_num_experts num_experts_per_tok moe_k",
	  "", "",
	  "{'vocab_size': 103424, 'pad_token_id': 0, 'bos_token_id': 1, 'eos_token_id': 2, "
	  "'hidden_size': 2560, 'intermediate_size': 12288, 'num_hidden_layers': 28, "
	  "'num_attention_heads': 20, 'num_key_value_heads': 4, 'hidden_act': 'silu', "
	  "'max_position_embeddings': 131072, 'initializer_range': 0.02, 'rms_norm_eps': 1e-05, "
	  "'use_cache': true, 'tie_word_embeddings': true, 'rope_theta': 500000.0, 'rope_scaling': null, "
	  "'use_bias': false, 'moe_intermediate_size': 1536, 'moe_k': 6, 'moe_num_experts': 64, "
	  "'moe_num_shared_experts': 2, 'moe_layer_start_index': 1, 'moe_layer_end_index': -1, "
	  "'moe_layer_interval': 1, 'moe_norm_min': 1e-12, 'output_router_logits': false, "
	  "'router_aux_loss_coef': 0.001}" },
	{ "Exaone4Config", "exaone4",
	  "",
	  "", "",
	  "{'vocab_size': 102400, 'hidden_size': 4096, 'intermediate_size': 16384, 'num_hidden_layers': 32, "
	  "'num_attention_heads': 32, 'num_key_value_heads': 32, 'hidden_act': 'silu', "
	  "'max_position_embeddings': 2048, 'initializer_range': 0.02, 'rms_norm_eps': 1e-05, "
	  "'use_cache': true, 'bos_token_id': 0, 'eos_token_id': 2, 'tie_word_embeddings': false, "
	  "'rope_theta': 10000.0, 'rope_scaling': null, 'attention_dropout': 0.0, 'sliding_window': 4096, "
	  "'sliding_window_pattern': 4, 'layer_types': null}" },
	{ "FalconConfig", "falcon",
	  "",
	  "head_dim rotary", "",
	  "{'vocab_size': 65024, 'hidden_size': 4544, 'num_hidden_layers': 32, 'num_attention_heads': 71, "
	  "'num_ln_in_parallel_attn': null, 'layer_norm_epsilon': 1e-05, 'initializer_range': 0.02, "
	  "'use_cache': true, 'hidden_dropout': 0.0, 'attention_dropout': 0.0, 'num_kv_heads': null, "
	  "'alibi': false, 'new_decoder_architecture': false, 'multi_query': true, 'parallel_attn': true, "
	  "'bias': false, 'max_position_embeddings': 2048, 'rope_theta': 10000.0, 'rope_scaling': null, "
	  "'bos_token_id': 11, 'eos_token_id': 11, 'ffn_hidden_size': null, 'activation': 'gelu'}" },
	{ "FalconH1Config", "falcon_h1",
	  "",
	  "layers_block_type", "",
	  "{'vocab_size': 128000, 'tie_word_embeddings': false, 'hidden_size': 4096, "
	  "'intermediate_size': 14336, 'num_hidden_layers': 32, 'num_attention_heads': 32, "
	  "'num_key_value_heads': 8, 'hidden_act': 'silu', 'initializer_range': 0.02, 'rms_norm_eps': 1e-05, "
	  "'use_cache': true, 'num_logits_to_keep': 1, 'pad_token_id': 0, 'bos_token_id': 1, "
	  "'eos_token_id': 2, 'max_position_embeddings': 8192, 'attention_dropout': 0.0, "
	  "'mamba_d_ssm': 1024, 'mamba_n_heads': 128, 'mamba_d_head': 'auto', 'mamba_n_groups': 1, "
	  "'mamba_d_state': 256, 'mamba_d_conv': 4, 'mamba_expand': 2, 'mamba_chunk_size': 256, "
	  "'mamba_conv_bias': true, 'mamba_proj_bias': false, 'mamba_norm_before_gate': true, "
	  "'mamba_rms_norm': false, 'projectors_bias': false, 'rope_theta': 100000.0, 'rope_scaling': null, "
	  "'lm_head_multiplier': 1.0, 'embedding_multiplier': 1.0, 'mlp_multipliers': null, "
	  "'key_multiplier': null, 'attention_out_multiplier': null, 'attention_in_multiplier': null, "
	  "'ssm_multipliers': null, 'ssm_in_multiplier': null, 'ssm_out_multiplier': null}" },
	{ "FalconMambaConfig", "falcon_mamba",
	  "",
	  "", "",
	  "{'vocab_size': 50280, 'hidden_size': 768, 'state_size': 16, 'num_hidden_layers': 32, "
	  "'layer_norm_epsilon': 1e-05, 'pad_token_id': 0, 'bos_token_id': 0, 'eos_token_id': 0, "
	  "'expand': 2, 'conv_kernel': 4, 'use_bias': false, 'use_conv_bias': true, 'hidden_act': 'silu', "
	  "'initializer_range': 0.1, 'residual_in_fp32': true, 'time_step_rank': 'auto', "
	  "'time_step_scale': 1.0, 'time_step_min': 0.001, 'time_step_max': 0.1, "
	  "'time_step_init_scheme': 'random', 'time_step_floor': 0.0001, 'rescale_prenorm_residual': false, "
	  "'use_cache': true, 'use_falcon_mambapy': false, 'mixer_rms_eps': 1e-06}" },
	{ "GPT2Config", "gpt2",
	  "hidden_size n_embd max_position_embeddings n_positions num_attention_heads n_head "
	  "num_hidden_layers n_layer",
	  "", "",
	  "{'vocab_size': 50257, 'n_positions': 1024, 'n_embd': 768, 'n_layer': 12, 'n_head': 12, "
	  "'n_inner': null, 'activation_function': 'gelu_new', 'resid_pdrop': 0.1, 'embd_pdrop': 0.1, "
	  "'attn_pdrop': 0.1, 'layer_norm_epsilon': 1e-05, 'initializer_range': 0.02, "
	  "'summary_type': 'cls_index', 'summary_use_proj': true, 'summary_activation': null, "
	  "'summary_proj_to_labels': true, 'summary_first_dropout': 0.1, 'scale_attn_weights': true, "
	  "'use_cache': true, 'bos_token_id': 50256, 'eos_token_id': 50256, "
	  "'scale_attn_by_inverse_layer_idx': false, 'reorder_and_upcast_attn': false}" },
	{ "GPTBigCodeConfig", "gpt_bigcode",
	  "hidden_size n_embd max_position_embeddings n_positions num_attention_heads n_head "
	  "num_hidden_layers n_layer",
	  "", "",
	  "{'vocab_size': 50257, 'n_positions': 1024, 'n_embd': 768, 'n_layer': 12, 'n_head': 12, "
	  "'n_inner': null, 'activation_function': 'gelu_pytorch_tanh', 'resid_pdrop': 0.1, "
	  "'embd_pdrop': 0.1, 'attn_pdrop': 0.1, 'layer_norm_epsilon': 1e-05, 'initializer_range': 0.02, "
	  "'scale_attn_weights': true, 'use_cache': true, 'bos_token_id': 50256, 'eos_token_id': 50256, "
	  "'attention_softmax_in_fp32': true, 'scale_attention_softmax_in_fp32': true, 'multi_query': true}" },
	{ "GPTNeoXConfig", "gpt_neox",
	  "",
	  "", "",
	  "{'vocab_size': 50432, 'hidden_size': 6144, 'num_hidden_layers': 44, 'num_attention_heads': 64, "
	  "'intermediate_size': 24576, 'hidden_act': 'gelu', 'rotary_pct': 0.25, 'rotary_emb_base': 10000, "
	  "'attention_dropout': 0.0, 'hidden_dropout': 0.0, 'classifier_dropout': 0.1, "
	  "'max_position_embeddings': 2048, 'initializer_range': 0.02, 'layer_norm_eps': 1e-05, "
	  "'use_cache': true, 'bos_token_id': 0, 'eos_token_id': 2, 'tie_word_embeddings': false, "
	  "'use_parallel_residual': true, 'rope_scaling': null, 'attention_bias': true}" },
	{ "Gemma2Config", "gemma2",
	  "",
	  "", "",
	  "{'vocab_size': 256000, 'hidden_size': 2304, 'intermediate_size': 9216, 'num_hidden_layers': 26, "
	  "'num_attention_heads': 8, 'num_key_value_heads': 4, 'head_dim': 256, "
	  "'hidden_activation': 'gelu_pytorch_tanh', 'max_position_embeddings': 8192, "
	  "'initializer_range': 0.02, 'rms_norm_eps': 1e-06, 'use_cache': true, 'pad_token_id': 0, "
	  "'eos_token_id': 1, 'bos_token_id': 2, 'tie_word_embeddings': true, 'rope_theta': 10000.0, "
	  "'attention_bias': false, 'attention_dropout': 0.0, 'query_pre_attn_scalar': 256, "
	  "'sliding_window': 4096, 'layer_types': null, 'final_logit_softcapping': 30.0, "
	  "'attn_logit_softcapping': 50.0}" },
	{ "Gemma3Config", "gemma3",
	  "image_token_id image_token_index boi_token_id boi_token_index eoi_token_id eoi_token_index",
	  "", "",
	  "{'text_config': null, 'vision_config': null, 'mm_tokens_per_image': 256, "
	  "'boi_token_index': 255999, 'eoi_token_index': 256000, 'image_token_index': 262144, "
	  "'initializer_range': 0.02}" },
	{ "Gemma3TextConfig", "gemma3_text",
	  "",
	  "", "",
	  "{'vocab_size': 262208, 'hidden_size': 2304, 'intermediate_size': 9216, 'num_hidden_layers': 26, "
	  "'num_attention_heads': 8, 'num_key_value_heads': 4, 'head_dim': 256, "
	  "'hidden_activation': 'gelu_pytorch_tanh', 'max_position_embeddings': 131072, "
	  "'initializer_range': 0.02, 'rms_norm_eps': 1e-06, 'use_cache': true, 'pad_token_id': 0, "
	  "'eos_token_id': 1, 'bos_token_id': 2, 'tie_word_embeddings': true, 'rope_theta': 1000000.0, "
	  "'attention_bias': false, 'attention_dropout': 0.0, 'query_pre_attn_scalar': 256, "
	  "'sliding_window': 4096, 'layer_types': null, 'final_logit_softcapping': null, "
	  "'attn_logit_softcapping': null, 'rope_scaling': null, 'rope_local_base_freq': 10000.0, "
	  "'use_bidirectional_attention': false}" },
	{ "Gemma3nAudioConfig", "gemma3n_audio",
	  "",
	  "", "",
	  "{'vocab_size': 128, 'vocab_offset': 262272, 'input_feat_size': 128, 'hidden_size': 1536, "
	  "'rms_norm_eps': 1e-06, 'gradient_clipping': 10000000000.0, 'conf_attention_chunk_size': 12, "
	  "'conf_attention_context_left': 13, 'conf_attention_context_right': 0, "
	  "'conf_attention_logit_cap': 50.0, 'conf_num_attention_heads': 8, 'conf_num_hidden_layers': 12, "
	  "'conf_conv_kernel_size': 5, 'conf_reduction_factor': 4, 'conf_residual_weight': 0.5, "
	  "'sscp_conv_channel_size': [128, 32], 'sscp_conv_group_norm_eps': 0.001, "
	  "'sscp_conv_kernel_size': [[3, 3], [3, 3]], 'sscp_conv_stride_size': [[2, 2], [2, 2]]}" },
	{ "Gemma3nConfig", "gemma3n",
	  "",
	  "", "",
	  "{'text_config': null, 'vision_config': null, 'audio_config': null, "
	  "'audio_soft_tokens_per_image': 188, 'vision_soft_tokens_per_image': 256, 'boi_token_id': 255999, "
	  "'eoi_token_id': 262144, 'image_token_id': 262145, 'boa_token_id': 256000, 'eoa_token_id': 262272, "
	  "'audio_token_id': 262273, 'initializer_range': 0.02}" },
	{ "Gemma3nTextConfig", "gemma3n_text",
	  "",
	  "", "",
	  "{'vocab_size': 262400, 'vocab_size_per_layer_input': 262144, 'hidden_size': 2048, "
	  "'hidden_size_per_layer_input': 256, 'intermediate_size': 16384, 'num_hidden_layers': 35, "
	  "'num_attention_heads': 8, 'num_key_value_heads': 2, 'head_dim': 256, "
	  "'hidden_activation': 'gelu_pytorch_tanh', 'max_position_embeddings': 32768, "
	  "'initializer_range': 0.02, 'rms_norm_eps': 1e-06, 'use_cache': true, 'pad_token_id': 0, "
	  "'eos_token_id': 1, 'bos_token_id': 2, 'rope_theta': 1000000.0, 'rope_scaling': null, "
	  "'rope_local_base_freq': 10000.0, 'attention_bias': false, 'attention_dropout': 0.0, "
	  "'sliding_window': 512, 'layer_types': null, 'final_logit_softcapping': 30.0, "
	  "'altup_active_idx': 0, 'altup_coef_clip': 120.0, 'altup_correct_scale': true, "
	  "'altup_num_inputs': 4, 'num_kv_shared_layers': 15, 'laurel_rank': 64, "
	  "'activation_sparsity_pattern': null}" },
	{ "Gemma3nVisionConfig", "gemma3n_vision",
	  "",
	  "", "",
	  "{'initializer_range': 0.02, 'do_pooling': false, 'architecture': 'mobilenetv5_300m_enc', "
	  "'hidden_size': 2048, 'vocab_size': 128, 'vocab_offset': 262144, 'rms_norm_eps': 1e-06, "
	  "'model_args': null}" },
	{ "GemmaConfig", "gemma",
	  "",
	  "", "",
	  "{'vocab_size': 256000, 'hidden_size': 3072, 'intermediate_size': 24576, 'num_hidden_layers': 28, "
	  "'num_attention_heads': 16, 'num_key_value_heads': 16, 'head_dim': 256, "
	  "'hidden_act': 'gelu_pytorch_tanh', 'hidden_activation': null, 'max_position_embeddings': 8192, "
	  "'initializer_range': 0.02, 'rms_norm_eps': 1e-06, 'use_cache': true, 'pad_token_id': 0, "
	  "'eos_token_id': 1, 'bos_token_id': 2, 'tie_word_embeddings': true, 'rope_theta': 10000.0, "
	  "'attention_bias': false, 'attention_dropout': 0.0}" },
	{ "Glm4Config", "glm4",
	  "",
	  "", "",
	  "{'vocab_size': 151552, 'hidden_size': 4096, 'intermediate_size': 13696, 'num_hidden_layers': 40, "
	  "'num_attention_heads': 32, 'num_key_value_heads': 2, 'partial_rotary_factor': 0.5, "
	  "'head_dim': 128, 'hidden_act': 'silu', 'attention_dropout': 0.0, "
	  "'max_position_embeddings': 131072, 'initializer_range': 0.02, 'rms_norm_eps': 1.5625e-07, "
	  "'use_cache': true, 'tie_word_embeddings': false, 'rope_theta': 10000.0, 'pad_token_id': 151329, "
	  "'eos_token_id': [151329, 151336, 151338], 'bos_token_id': null, 'attention_bias': true}" },
	{ "Glm4MoeConfig", "glm4_moe",
	  "",
	  "", "",
	  "{'vocab_size': 151552, 'hidden_size': 4096, 'intermediate_size': 10944, 'num_hidden_layers': 46, "
	  "'num_attention_heads': 96, 'partial_rotary_factor': 0.5, 'num_key_value_heads': 8, "
	  "'hidden_act': 'silu', 'max_position_embeddings': 131072, 'initializer_range': 0.02, "
	  "'rms_norm_eps': 1e-05, 'use_cache': true, 'tie_word_embeddings': false, 'rope_theta': 10000.0, "
	  "'rope_scaling': null, 'attention_bias': false, 'attention_dropout': 0.0, "
	  "'moe_intermediate_size': 1408, 'num_experts_per_tok': 8, 'n_shared_experts': 1, "
	  "'n_routed_experts': 128, 'routed_scaling_factor': 1.0, 'n_group': 1, 'topk_group': 1, "
	  "'first_k_dense_replace': 1, 'norm_topk_prob': true, 'use_qk_norm': false}" },
	{ "Glm4vConfig", "glm4v",
	  "",
	  "", "",
	  "{'text_config': null, 'vision_config': null, 'image_token_id': 151343, 'video_token_id': 151344, "
	  "'image_start_token_id': 151339, 'image_end_token_id': 151340, 'video_start_token_id': 151341, "
	  "'video_end_token_id': 151342}" },
	{ "Glm4vMoeConfig", "glm4v_moe",
	  "",
	  "", "",
	  "{'text_config': null, 'vision_config': null, 'image_token_id': 151363, 'video_token_id': 151364, "
	  "'image_start_token_id': 151339, 'image_end_token_id': 151340, 'video_start_token_id': 151341, "
	  "'video_end_token_id': 151342}" },
	{ "Glm4vMoeTextConfig", "Glm4vMoe_text",
	  "",
	  "", "",
	  "{'vocab_size': 151424, 'hidden_size': 4096, 'intermediate_size': 10944, 'num_hidden_layers': 46, "
	  "'num_attention_heads': 96, 'partial_rotary_factor': 0.5, 'num_key_value_heads': 8, "
	  "'hidden_act': 'silu', 'max_position_embeddings': 65536, 'initializer_range': 0.02, "
	  "'rms_norm_eps': 1e-05, 'use_cache': true, 'tie_word_embeddings': false, 'rope_theta': 10000.0, "
	  "'rope_scaling': null, 'attention_bias': true, 'attention_dropout': 0.0, "
	  "'moe_intermediate_size': 1408, 'num_experts_per_tok': 8, 'n_shared_experts': 1, "
	  "'n_routed_experts': 128, 'routed_scaling_factor': 1.0, 'n_group': 1, 'topk_group': 1, "
	  "'first_k_dense_replace': 1, 'norm_topk_prob': true}" },
	{ "Glm4vMoeVisionConfig", "glm4v_moe",
	  "",
	  "", "",
	  "{'depth': 24, 'hidden_size': 1536, 'hidden_act': 'silu', 'attention_bias': false, "
	  "'attention_dropout': 0.0, 'num_heads': 12, 'in_channels': 3, 'image_size': 336, 'patch_size': 14, "
	  "'rms_norm_eps': 1e-05, 'spatial_merge_size': 2, 'temporal_patch_size': 2, "
	  "'out_hidden_size': 4096, 'intermediate_size': 13696, 'initializer_range': 0.02}" },
	{ "Glm4vTextConfig", "glm4v_text",
	  "",
	  "", "",
	  "{'vocab_size': 151552, 'hidden_size': 4096, 'intermediate_size': 13696, 'num_hidden_layers': 40, "
	  "'num_attention_heads': 32, 'num_key_value_heads': 2, 'hidden_act': 'silu', "
	  "'max_position_embeddings': 32768, 'initializer_range': 0.02, 'rms_norm_eps': 1e-05, "
	  "'use_cache': true, 'tie_word_embeddings': false, 'rope_theta': 10000.0, 'attention_dropout': 0.0, "
	  "'rope_scaling': null, 'image_token_id': null, 'video_token_id': null}" },
	{ "Glm4vVisionConfig", "glm4v",
	  "",
	  "", "",
	  "{'depth': 24, 'hidden_size': 1536, 'hidden_act': 'silu', 'attention_bias': false, "
	  "'attention_dropout': 0.0, 'num_heads': 12, 'in_channels': 3, 'image_size': 336, 'patch_size': 14, "
	  "'rms_norm_eps': 1e-05, 'spatial_merge_size': 2, 'temporal_patch_size': 2, "
	  "'out_hidden_size': 4096, 'intermediate_size': 13696, 'initializer_range': 0.02}" },
	{ "GlmConfig", "glm",
	  "",
	  "", "",
	  "{'vocab_size': 151552, 'hidden_size': 4096, 'intermediate_size': 13696, 'num_hidden_layers': 40, "
	  "'num_attention_heads': 32, 'num_key_value_heads': 2, 'partial_rotary_factor': 0.5, "
	  "'head_dim': 128, 'hidden_act': 'silu', 'attention_dropout': 0.0, "
	  "'max_position_embeddings': 131072, 'initializer_range': 0.02, 'rms_norm_eps': 1.5625e-07, "
	  "'use_cache': true, 'tie_word_embeddings': false, 'rope_theta': 10000.0, 'pad_token_id': 151329, "
	  "'eos_token_id': [151329, 151336, 151338], 'bos_token_id': null, 'attention_bias': true}" },
	{ "GptOssConfig", "gpt_oss",
	  "",
	  "", "",
	  "{'num_hidden_layers': 36, 'num_local_experts': 128, 'vocab_size': 201088, 'hidden_size': 2880, "
	  "'intermediate_size': 2880, 'head_dim': 64, 'num_attention_heads': 64, 'num_key_value_heads': 8, "
	  "'sliding_window': 128, 'rope_theta': 150000.0, 'tie_word_embeddings': false, "
	  "'hidden_act': 'silu', 'initializer_range': 0.02, 'max_position_embeddings': 131072, "
	  "'rms_norm_eps': 1e-05, 'rope_scaling': {'rope_type': 'yarn', 'factor': 32.0, 'beta_fast': 32.0, "
	  "'beta_slow': 1.0, 'truncate': false, 'original_max_position_embeddings': 4096}, "
	  "'attention_dropout': 0.0, 'num_experts_per_tok': 4, 'router_aux_loss_coef': 0.9, "
	  "'output_router_logits': false, 'use_cache': true, 'layer_types': null}" },
	{ "GraniteConfig", "granite",
	  "",
	  "", "",
	  "{'vocab_size': 32000, 'hidden_size': 4096, 'intermediate_size': 11008, 'num_hidden_layers': 32, "
	  "'num_attention_heads': 32, 'num_key_value_heads': null, 'hidden_act': 'silu', "
	  "'max_position_embeddings': 2048, 'initializer_range': 0.02, 'rms_norm_eps': 1e-06, "
	  "'use_cache': true, 'pad_token_id': null, 'bos_token_id': 1, 'eos_token_id': 2, "
	  "'tie_word_embeddings': false, 'rope_theta': 10000.0, 'rope_scaling': null, "
	  "'attention_bias': false, 'attention_dropout': 0.0, 'mlp_bias': false, "
	  "'embedding_multiplier': 1.0, 'logits_scaling': 1.0, 'residual_multiplier': 1.0, "
	  "'attention_multiplier': 1.0}" },
	{ "GraniteMoeConfig", "granitemoe",
	  "",
	  "", "",
	  "{'vocab_size': 32000, 'hidden_size': 4096, 'intermediate_size': 11008, 'num_hidden_layers': 32, "
	  "'num_attention_heads': 32, 'num_key_value_heads': null, 'hidden_act': 'silu', "
	  "'max_position_embeddings': 2048, 'initializer_range': 0.02, 'rms_norm_eps': 1e-06, "
	  "'use_cache': true, 'pad_token_id': null, 'bos_token_id': 1, 'eos_token_id': 2, "
	  "'tie_word_embeddings': false, 'rope_theta': 10000.0, 'rope_scaling': null, "
	  "'attention_bias': false, 'attention_dropout': 0.0, 'embedding_multiplier': 1.0, "
	  "'logits_scaling': 1.0, 'residual_multiplier': 1.0, 'attention_multiplier': 1.0, "
	  "'num_local_experts': 8, 'num_experts_per_tok': 2, 'output_router_logits': false, "
	  "'router_aux_loss_coef': 0.001}" },
	{ "GraniteMoeHybridConfig", "granitemoehybrid",
	  "layers_block_type layer_types",
	  "", "",
	  "{'vocab_size': 32000, 'hidden_size': 4096, 'intermediate_size': 11008, 'num_hidden_layers': 32, "
	  "'num_attention_heads': 32, 'num_key_value_heads': null, 'hidden_act': 'silu', "
	  "'max_position_embeddings': 2048, 'initializer_range': 0.02, 'rms_norm_eps': 1e-06, "
	  "'use_cache': true, 'pad_token_id': null, 'bos_token_id': 1, 'eos_token_id': 2, "
	  "'tie_word_embeddings': false, 'rope_theta': 10000.0, 'rope_scaling': null, "
	  "'attention_bias': false, 'attention_dropout': 0.0, 'embedding_multiplier': 1.0, "
	  "'logits_scaling': 1.0, 'residual_multiplier': 1.0, 'attention_multiplier': 1.0, "
	  "'num_local_experts': 8, 'num_experts_per_tok': 2, 'output_router_logits': false, "
	  "'router_aux_loss_coef': 0.001, 'shared_intermediate_size': 1024, 'position_embedding_type': null, "
	  "'layer_types': null, 'mamba_n_heads': 128, 'mamba_n_groups': 1, 'mamba_d_state': 256, "
	  "'mamba_d_head': 'auto', 'mamba_d_conv': 4, 'mamba_expand': 2, 'mamba_chunk_size': 256, "
	  "'mamba_conv_bias': true, 'mamba_proj_bias': false}" },
	{ "GraniteMoeSharedConfig", "granitemoeshared",
	  "",
	  "", "",
	  "{'vocab_size': 32000, 'hidden_size': 4096, 'intermediate_size': 11008, 'num_hidden_layers': 32, "
	  "'num_attention_heads': 32, 'num_key_value_heads': null, 'hidden_act': 'silu', "
	  "'max_position_embeddings': 2048, 'initializer_range': 0.02, 'rms_norm_eps': 1e-06, "
	  "'use_cache': true, 'pad_token_id': null, 'bos_token_id': 1, 'eos_token_id': 2, "
	  "'tie_word_embeddings': false, 'rope_theta': 10000.0, 'rope_scaling': null, "
	  "'attention_bias': false, 'attention_dropout': 0.0, 'embedding_multiplier': 1.0, "
	  "'logits_scaling': 1.0, 'residual_multiplier': 1.0, 'attention_multiplier': 1.0, "
	  "'num_local_experts': 8, 'num_experts_per_tok': 2, 'output_router_logits': false, "
	  "'router_aux_loss_coef': 0.001, 'shared_intermediate_size': 0}" },
	{ "GraniteSpeechConfig", "granite_speech",
	  "audio_token_id audio_token_index",
	  "", "",
	  "{'text_config': null, 'encoder_config': null, 'projector_config': null, "
	  "'audio_token_index': 49155, 'initializer_range': 0.02, 'has_lora_adapter': true, "
	  "'downsample_rate': 5, 'window_size': 15}" },
	{ "GraniteSpeechEncoderConfig", "granite_speech_encoder",
	  "",
	  "", "",
	  "{'input_dim': 160, 'num_layers': 10, 'hidden_dim': 1024, 'feedforward_mult': 4, 'num_heads': 8, "
	  "'dim_head': 128, 'output_dim': 42, 'context_size': 200, 'max_pos_emb': 512, 'dropout': 0.1, "
	  "'conv_kernel_size': 15, 'conv_expansion_factor': 2}" },
	{ "HunYuanDenseV1Config", "hunyuan_v1_dense",
	  "",
	  "", "eod_token_id",
	  "{'vocab_size': 290943, 'hidden_size': 4096, 'intermediate_size': 11008, 'num_hidden_layers': 32, "
	  "'num_attention_heads': 32, 'num_key_value_heads': null, 'hidden_act': 'silu', "
	  "'max_position_embeddings': 2048, 'initializer_range': 0.02, 'rms_norm_eps': 1e-05, "
	  "'use_cache': true, 'pad_token_id': 0, 'bos_token_id': 1, 'eos_token_id': 2, 'eod_token_id': 3, "
	  "'pretraining_tp': 1, 'tie_word_embeddings': false, 'rope_theta': 10000.0, 'rope_scaling': null, "
	  "'attention_bias': false, 'attention_dropout': 0.0, 'head_dim': null}" },
	{ "HunYuanMoEV1Config", "hunyuan_v1_moe",
	  "",
	  "", "eod_token_id",
	  "{'vocab_size': 290943, 'hidden_size': 4096, 'intermediate_size': 11008, 'num_hidden_layers': 32, "
	  "'num_attention_heads': 32, 'num_key_value_heads': null, 'hidden_act': 'silu', "
	  "'max_position_embeddings': 2048, 'initializer_range': 0.02, 'rms_norm_eps': 1e-05, "
	  "'use_cache': true, 'pad_token_id': 0, 'bos_token_id': 1, 'eos_token_id': 2, 'eod_token_id': 3, "
	  "'sep_token_id': 4, 'pretraining_tp': 1, 'tie_word_embeddings': false, 'rope_theta': 10000.0, "
	  "'rope_scaling': null, 'attention_bias': false, 'attention_dropout': 0.0, 'num_experts': 1, "
	  "'moe_topk': 1, 'head_dim': null}" },
	{ "Idefics3Config", "idefics3",
	  "",
	  "", "",
	  "{'use_cache': true, 'image_token_id': 128257, 'tie_word_embeddings': false, "
	  "'vision_config': null, 'text_config': null, 'scale_factor': 2, 'pad_token_id': 128002}" },
	{ "Idefics3VisionConfig", "idefics3_vision",
	  "",
	  "", "",
	  "{'hidden_size': 1152, 'intermediate_size': 3072, 'num_hidden_layers': 12, "
	  "'num_attention_heads': 16, 'num_channels': 3, 'image_size': 224, 'patch_size': 32, "
	  "'hidden_act': 'gelu_pytorch_tanh', 'layer_norm_eps': 1e-06, 'attention_dropout': 0.0, "
	  "'initializer_range': 0.02}" },
	{ "InternVLConfig", "internvl",
	  "",
	  "", "",
	  "{'vision_config': null, 'text_config': null, 'image_token_id': 151667, 'image_seq_length': 256, "
	  "'downsample_ratio': 0.5, 'projector_hidden_act': 'gelu', 'vision_feature_layer': -1, "
	  "'vision_feature_select_strategy': 'default'}" },
	{ "InternVLVisionConfig", "internvl_vision",
	  "",
	  "", "",
	  "{'hidden_size': 1024, 'num_hidden_layers': 24, 'num_attention_heads': 16, "
	  "'attention_bias': false, 'use_qk_norm': false, 'intermediate_size': 4096, 'hidden_act': 'gelu', "
	  "'hidden_dropout_prob': 0.0, 'attention_dropout': 0.0, 'projection_dropout': 0.0, "
	  "'initializer_range': 0.02, 'norm_type': 'layer_norm', 'layer_norm_eps': 1e-06, "
	  "'image_size': [448, 448], 'patch_size': [14, 14], 'num_channels': 3, 'use_mask_token': false, "
	  "'use_absolute_position_embeddings': true, 'layer_scale_init_value': 0.1, 'use_mean_pooling': true}" },
	{ "JambaConfig", "jamba",
	  "",
	  "layers_block_type layers_num_experts", "",
	  "{'vocab_size': 65536, 'tie_word_embeddings': false, 'hidden_size': 4096, "
	  "'intermediate_size': 14336, 'num_hidden_layers': 32, 'num_attention_heads': 32, "
	  "'num_key_value_heads': 8, 'hidden_act': 'silu', 'initializer_range': 0.02, 'rms_norm_eps': 1e-06, "
	  "'use_cache': true, 'num_logits_to_keep': 1, 'output_router_logits': false, "
	  "'router_aux_loss_coef': 0.001, 'pad_token_id': 0, 'bos_token_id': 1, 'eos_token_id': 2, "
	  "'sliding_window': null, 'max_position_embeddings': 262144, 'attention_dropout': 0.0, "
	  "'num_experts_per_tok': 2, 'num_experts': 16, 'expert_layer_period': 2, 'expert_layer_offset': 1, "
	  "'attn_layer_period': 8, 'attn_layer_offset': 4, 'use_mamba_kernels': true, 'mamba_d_state': 16, "
	  "'mamba_d_conv': 4, 'mamba_expand': 2, 'mamba_dt_rank': 'auto', 'mamba_conv_bias': true, "
	  "'mamba_proj_bias': false}" },
	{ "JanusConfig", "janus",
	  "",
	  "", "",
	  "{'text_config': null, 'vision_config': null, 'vq_config': null, 'image_token_id': 100581}" },
	{ "JanusVQVAEConfig", "janus_vqgan",
	  "",
	  "", "",
	  "{'embed_dim': 8, 'num_embeddings': 16384, 'double_latent': false, 'latent_channels': 256, "
	  "'num_patches': 32, 'in_channels': 3, 'out_channels': 3, 'base_channels': 128, "
	  "'channel_multiplier': [1, 1, 2, 2, 4], 'num_res_blocks': 2, 'dropout': 0.0, "
	  "'initializer_range': 0.02, 'projection_dim': 2048, 'num_hidden_layers': 2, 'hidden_act': 'gelu', "
	  "'image_token_embed_dim': 2048}" },
	{ "JanusVisionConfig", "janus_vision_model",
	  "",
	  "", "",
	  "{'hidden_size': 1024, 'num_hidden_layers': 24, 'num_attention_heads': 16, 'num_channels': 3, "
	  "'patch_size': 16, 'image_size': 384, 'attention_dropout': 0.0, 'layer_norm_eps': 1e-06, "
	  "'hidden_act': 'gelu', 'mlp_ratio': 4.0, 'attention_bias': true, 'hidden_dropout_rate': 0.0, "
	  "'projection_dim': 2048, 'projection_dropout': 0.0, 'use_qk_norm': false, "
	  "'initializer_range': 0.02, 'depth': 2, 'num_image_tokens': 576}" },
	{ "Lfm2Config", "lfm2",
	  "",
	  "", "full_attn_idxs",
	  "{'vocab_size': 65536, 'hidden_size': 2560, 'intermediate_size': 12288, 'num_hidden_layers': 32, "
	  "'num_attention_heads': 32, 'num_key_value_heads': 8, 'max_position_embeddings': 128000, "
	  "'initializer_range': 0.02, 'norm_eps': 1e-05, 'use_cache': true, 'pad_token_id': 0, "
	  "'bos_token_id': 1, 'eos_token_id': 2, 'tie_word_embeddings': true, 'rope_theta': 1000000.0, "
	  "'conv_bias': false, 'conv_L_cache': 3, 'block_multiple_of': 256, 'block_ffn_dim_multiplier': 1.0, "
	  "'block_auto_adjust_ff_dim': true, 'full_attn_idxs': null, 'layer_types': null}" },
	{ "Lfm2VlConfig", "lfm2-vl",
	  "",
	  "", "",
	  "{'vision_config': null, 'text_config': null, 'image_token_id': 396, "
	  "'projector_hidden_act': 'gelu', 'projector_hidden_size': 2560, 'projector_bias': true, "
	  "'downsample_factor': 2}" },
	{ "Llama4Config", "llama4",
	  "image_token_id image_token_index boi_token_id boi_token_index eoi_token_id eoi_token_index",
	  "", "",
	  "{'vision_config': null, 'text_config': null, 'boi_token_index': 200080, "
	  "'eoi_token_index': 200081, 'image_token_index': 200092, 'tie_word_embeddings': false}" },
	{ "Llama4TextConfig", "llama4_text",
	  "",
	  "", "no_rope_layer_interval",
	  "{'vocab_size': 202048, 'hidden_size': 5120, 'intermediate_size': 8192, "
	  "'intermediate_size_mlp': 16384, 'num_hidden_layers': 48, 'num_attention_heads': 40, "
	  "'num_key_value_heads': 8, 'head_dim': 128, 'hidden_act': 'silu', "
	  "'max_position_embeddings': 131072, 'initializer_range': 0.02, 'rms_norm_eps': 1e-05, "
	  "'use_cache': true, 'pad_token_id': null, 'bos_token_id': 1, 'eos_token_id': 2, "
	  "'tie_word_embeddings': false, 'rope_theta': 500000, 'attention_dropout': 0.0, "
	  "'num_experts_per_tok': 1, 'num_local_experts': 16, 'moe_layers': null, "
	  "'interleave_moe_layer_step': 1, 'use_qk_norm': true, 'output_router_logits': false, "
	  "'router_aux_loss_coef': 0.001, 'router_jitter_noise': 0.0, 'rope_scaling': null, "
	  "'no_rope_layers': null, 'no_rope_layer_interval': 4, 'attention_chunk_size': 8192, "
	  "'layer_types': null, 'attn_temperature_tuning': true, 'floor_scale': 8192, 'attn_scale': 0.1}" },
	{ "Llama4VisionConfig", "llama4_vision_model",
	  "",
	  "", "",
	  "{'hidden_size': 768, 'hidden_act': 'gelu', 'num_hidden_layers': 34, 'num_attention_heads': 16, "
	  "'num_channels': 3, 'intermediate_size': 5632, 'vision_output_dim': 7680, 'image_size': 448, "
	  "'patch_size': 14, 'norm_eps': 1e-05, 'vision_feature_select_strategy': 'default', "
	  "'initializer_range': 0.02, 'pixel_shuffle_ratio': 0.5, 'projector_input_dim': 4096, "
	  "'projector_output_dim': 4096, 'multi_modal_projector_bias': false, 'projector_dropout': 0.0, "
	  "'attention_dropout': 0.0, 'rope_theta': 10000}" },
	{ "LlamaConfig", "llama",
	  "",
	  "", "",
	  "{'vocab_size': 32000, 'hidden_size': 4096, 'intermediate_size': 11008, 'num_hidden_layers': 32, "
	  "'num_attention_heads': 32, 'num_key_value_heads': null, 'hidden_act': 'silu', "
	  "'max_position_embeddings': 2048, 'initializer_range': 0.02, 'rms_norm_eps': 1e-06, "
	  "'use_cache': true, 'pad_token_id': null, 'bos_token_id': 1, 'eos_token_id': 2, "
	  "'pretraining_tp': 1, 'tie_word_embeddings': false, 'rope_theta': 10000.0, 'rope_scaling': null, "
	  "'attention_bias': false, 'attention_dropout': 0.0, 'mlp_bias': false, 'head_dim': null}" },
	{ "LlavaConfig", "llava",
	  "image_token_id image_token_index",
	  "", "",
	  "{'vision_config': null, 'text_config': null, 'image_token_index': 32000, "
	  "'projector_hidden_act': 'gelu', 'vision_feature_select_strategy': 'default', "
	  "'vision_feature_layer': -2, 'image_seq_length': 576, 'multimodal_projector_bias': true}" },
	{ "MT5Config", "mt5",
	  "hidden_size d_model num_attention_heads num_heads num_hidden_layers num_layers head_dim d_kv",
	  "", "",
	  "{'vocab_size': 250112, 'd_model': 512, 'd_kv': 64, 'd_ff': 1024, 'num_layers': 8, "
	  "'num_decoder_layers': null, 'num_heads': 6, 'relative_attention_num_buckets': 32, "
	  "'relative_attention_max_distance': 128, 'dropout_rate': 0.1, 'layer_norm_epsilon': 1e-06, "
	  "'initializer_factor': 1.0, 'feed_forward_proj': 'gated-gelu', 'is_encoder_decoder': true, "
	  "'use_cache': true, 'tokenizer_class': 'T5Tokenizer', 'tie_word_embeddings': false, "
	  "'pad_token_id': 0, 'eos_token_id': 1, 'decoder_start_token_id': 0, 'classifier_dropout': 0.0}" },
	{ "Mamba2Config", "mamba2",
	  "",
	  "", "",
	  "{'num_heads': 128, 'head_dim': 64, 'vocab_size': 32768, 'hidden_size': 4096, 'state_size': 128, "
	  "'num_hidden_layers': 64, 'layer_norm_epsilon': 1e-05, 'pad_token_id': 1, 'bos_token_id': 0, "
	  "'eos_token_id': 2, 'expand': 2, 'conv_kernel': 4, 'n_groups': 8, 'use_bias': false, "
	  "'use_conv_bias': true, 'hidden_act': 'silu', 'initializer_range': 0.1, 'residual_in_fp32': true, "
	  "'time_step_rank': 'auto', 'time_step_min': 0.001, 'time_step_max': 0.1, "
	  "'time_step_floor': 0.0001, 'time_step_limit': [0.0, Infinity], 'rescale_prenorm_residual': false, "
	  "'use_cache': true, 'rms_norm': true, 'chunk_size': 256, 'tie_word_embeddings': false}" },
	{ "MambaConfig", "mamba",
	  "",
	  "", "",
	  "{'vocab_size': 50280, 'hidden_size': 768, 'state_size': 16, 'num_hidden_layers': 32, "
	  "'layer_norm_epsilon': 1e-05, 'pad_token_id': 0, 'bos_token_id': 0, 'eos_token_id': 0, "
	  "'expand': 2, 'conv_kernel': 4, 'use_bias': false, 'use_conv_bias': true, 'hidden_act': 'silu', "
	  "'initializer_range': 0.1, 'residual_in_fp32': true, 'time_step_rank': 'auto', "
	  "'time_step_scale': 1.0, 'time_step_min': 0.001, 'time_step_max': 0.1, "
	  "'time_step_init_scheme': 'random', 'time_step_floor': 0.0001, 'rescale_prenorm_residual': false, "
	  "'use_cache': true, 'use_mambapy': false}" },
	{ "MinistralConfig", "ministral",
	  "",
	  "", "",
	  "{'vocab_size': 32000, 'hidden_size': 4096, 'intermediate_size': 14336, 'num_hidden_layers': 32, "
	  "'num_attention_heads': 32, 'num_key_value_heads': 8, 'head_dim': null, 'hidden_act': 'silu', "
	  "'max_position_embeddings': 131072, 'initializer_range': 0.02, 'rms_norm_eps': 1e-06, "
	  "'use_cache': true, 'pad_token_id': null, 'bos_token_id': 1, 'eos_token_id': 2, "
	  "'tie_word_embeddings': false, 'rope_theta': 10000.0, 'sliding_window': 4096, "
	  "'attention_dropout': 0.0, 'layer_types': null}" },
	{ "Mistral3Config", "mistral3",
	  "image_token_id image_token_index",
	  "", "",
	  "{'vision_config': null, 'text_config': null, 'image_token_index': 10, "
	  "'projector_hidden_act': 'gelu', 'vision_feature_layer': -1, 'multimodal_projector_bias': false, "
	  "'spatial_merge_size': 2}" },
	{ "MistralConfig", "mistral",
	  "",
	  "", "",
	  "{'vocab_size': 32000, 'hidden_size': 4096, 'intermediate_size': 14336, 'num_hidden_layers': 32, "
	  "'num_attention_heads': 32, 'num_key_value_heads': 8, 'head_dim': null, 'hidden_act': 'silu', "
	  "'max_position_embeddings': 131072, 'initializer_range': 0.02, 'rms_norm_eps': 1e-06, "
	  "'use_cache': true, 'pad_token_id': null, 'bos_token_id': 1, 'eos_token_id': 2, "
	  "'tie_word_embeddings': false, 'rope_theta': 10000.0, 'sliding_window': 4096, "
	  "'attention_dropout': 0.0}" },
	{ "MixtralConfig", "mixtral",
	  "",
	  "", "",
	  "{'vocab_size': 32000, 'hidden_size': 4096, 'intermediate_size': 14336, 'num_hidden_layers': 32, "
	  "'num_attention_heads': 32, 'num_key_value_heads': 8, 'head_dim': null, 'hidden_act': 'silu', "
	  "'max_position_embeddings': 131072, 'initializer_range': 0.02, 'rms_norm_eps': 1e-05, "
	  "'use_cache': true, 'pad_token_id': null, 'bos_token_id': 1, 'eos_token_id': 2, "
	  "'tie_word_embeddings': false, 'rope_theta': 1000000.0, 'sliding_window': null, "
	  "'attention_dropout': 0.0, 'num_experts_per_tok': 2, 'num_local_experts': 8, "
	  "'output_router_logits': false, 'router_aux_loss_coef': 0.001, 'router_jitter_noise': 0.0}" },
	{ "ModernBertConfig", "modernbert",
	  "rope_theta global_rope_theta",
	  "", "reference_compile",
	  "{'vocab_size': 50368, 'hidden_size': 768, 'intermediate_size': 1152, 'num_hidden_layers': 22, "
	  "'num_attention_heads': 12, 'hidden_activation': 'gelu', 'max_position_embeddings': 8192, "
	  "'initializer_range': 0.02, 'initializer_cutoff_factor': 2.0, 'norm_eps': 1e-05, "
	  "'norm_bias': false, 'pad_token_id': 50283, 'eos_token_id': 50282, 'bos_token_id': 50281, "
	  "'cls_token_id': 50281, 'sep_token_id': 50282, 'global_rope_theta': 160000.0, "
	  "'attention_bias': false, 'attention_dropout': 0.0, 'global_attn_every_n_layers': 3, "
	  "'local_attention': 128, 'local_rope_theta': 10000.0, 'embedding_dropout': 0.0, 'mlp_bias': false, "
	  "'mlp_dropout': 0.0, 'decoder_bias': true, 'classifier_pooling': 'cls', 'classifier_dropout': 0.0, "
	  "'classifier_bias': false, 'classifier_activation': 'gelu', 'deterministic_flash_attn': false, "
	  "'sparse_prediction': false, 'sparse_pred_ignore_index': -100, 'reference_compile': null, "
	  "'repad_logits_with_grad': false}" },
	{ "MptAttentionConfig", "",
	  "",
	  "", "",
	  "{'attn_type': 'multihead_attention', 'attn_pdrop': 0, 'attn_impl': 'torch', 'clip_qkv': null, "
	  "'softmax_scale': null, 'prefix_lm': false, 'qk_ln': false, 'attn_uses_sequence_id': false, "
	  "'alibi': true, 'alibi_bias_max': 8}" },
	{ "MptConfig", "mpt",
	  "num_attention_heads n_heads hidden_size d_model num_hidden_layers n_layers",
	  "", "",
	  "{'d_model': 2048, 'n_heads': 16, 'n_layers': 24, 'expansion_ratio': 4, 'max_seq_len': 2048, "
	  "'vocab_size': 50368, 'resid_pdrop': 0.0, 'layer_norm_epsilon': 1e-05, 'emb_pdrop': 0.0, "
	  "'learned_pos_emb': true, 'attn_config': null, 'init_device': 'cpu', 'logit_scale': null, "
	  "'no_bias': true, 'verbose': 0, 'embedding_fraction': 1.0, 'norm_type': 'low_precision_layernorm', "
	  "'use_cache': false, 'initializer_range': 0.02}" },
	{ "NemotronConfig", "nemotron",
	  "",
	  "", "",
	  "{'vocab_size': 256000, 'hidden_size': 6144, 'intermediate_size': 24576, 'num_hidden_layers': 32, "
	  "'num_attention_heads': 48, 'head_dim': null, 'num_key_value_heads': null, 'hidden_act': 'relu2', "
	  "'max_position_embeddings': 4096, 'initializer_range': 0.0134, 'norm_eps': 1e-05, "
	  "'use_cache': true, 'pad_token_id': null, 'bos_token_id': 2, 'eos_token_id': 3, "
	  "'tie_word_embeddings': false, 'rope_theta': 10000.0, 'partial_rotary_factor': 0.5, "
	  "'attention_bias': false, 'attention_dropout': 0.0, 'mlp_bias': false}" },
	{ "Olmo2Config", "olmo2",
	  "",
	  "", "",
	  "{'vocab_size': 50304, 'hidden_size': 4096, 'intermediate_size': 11008, 'num_hidden_layers': 32, "
	  "'num_attention_heads': 32, 'num_key_value_heads': null, 'hidden_act': 'silu', "
	  "'max_position_embeddings': 2048, 'initializer_range': 0.02, 'use_cache': true, 'pad_token_id': 1, "
	  "'bos_token_id': null, 'eos_token_id': 50279, 'tie_word_embeddings': false, 'rope_theta': 10000.0, "
	  "'rope_scaling': null, 'attention_bias': false, 'attention_dropout': 0.0, 'rms_norm_eps': 1e-05}" },
	{ "Olmo3Config", "olmo3",
	  "",
	  "", "",
	  "{'vocab_size': 50304, 'hidden_size': 4096, 'intermediate_size': 11008, 'num_hidden_layers': 32, "
	  "'num_attention_heads': 32, 'num_key_value_heads': null, 'hidden_act': 'silu', "
	  "'max_position_embeddings': 2048, 'initializer_range': 0.02, 'use_cache': true, 'pad_token_id': 1, "
	  "'bos_token_id': null, 'eos_token_id': 50279, 'tie_word_embeddings': false, 'rope_theta': 10000.0, "
	  "'rope_scaling': null, 'attention_bias': false, 'attention_dropout': 0.0, 'rms_norm_eps': 1e-05, "
	  "'sliding_window': 4096, 'layer_types': null}" },
	{ "OlmoConfig", "olmo",
	  "",
	  "", "",
	  "{'vocab_size': 50304, 'hidden_size': 4096, 'intermediate_size': 11008, 'num_hidden_layers': 32, "
	  "'num_attention_heads': 32, 'num_key_value_heads': null, 'hidden_act': 'silu', "
	  "'max_position_embeddings': 2048, 'initializer_range': 0.02, 'use_cache': true, 'pad_token_id': 1, "
	  "'bos_token_id': null, 'eos_token_id': 50279, 'tie_word_embeddings': false, 'rope_theta': 10000.0, "
	  "'rope_scaling': null, 'attention_bias': false, 'attention_dropout': 0.0, 'clip_qkv': null}" },
	{ "OlmoeConfig", "olmoe",
	  "",
	  "", "",
	  "{'vocab_size': 50304, 'hidden_size': 2048, 'intermediate_size': 2048, 'num_hidden_layers': 16, "
	  "'num_attention_heads': 16, 'num_key_value_heads': null, 'hidden_act': 'silu', "
	  "'max_position_embeddings': 4096, 'initializer_range': 0.02, 'rms_norm_eps': 1e-05, "
	  "'use_cache': true, 'pad_token_id': 1, 'bos_token_id': null, 'eos_token_id': 50279, "
	  "'tie_word_embeddings': false, 'rope_theta': 10000.0, 'rope_scaling': null, "
	  "'attention_bias': false, 'attention_dropout': 0.0, 'clip_qkv': null, 'num_experts_per_tok': 8, "
	  "'num_experts': 64, 'output_router_logits': false, 'router_aux_loss_coef': 0.01, "
	  "'norm_topk_prob': false}" },
	{ "Phi3Config", "phi3",
	  "",
	  "", "",
	  "{'vocab_size': 32064, 'hidden_size': 3072, 'intermediate_size': 8192, 'num_hidden_layers': 32, "
	  "'num_attention_heads': 32, 'num_key_value_heads': null, 'resid_pdrop': 0.0, 'embd_pdrop': 0.0, "
	  "'attention_dropout': 0.0, 'hidden_act': 'silu', 'max_position_embeddings': 4096, "
	  "'original_max_position_embeddings': 4096, 'initializer_range': 0.02, 'rms_norm_eps': 1e-05, "
	  "'use_cache': true, 'tie_word_embeddings': false, 'rope_theta': 10000.0, 'rope_scaling': null, "
	  "'partial_rotary_factor': 1.0, 'bos_token_id': 1, 'eos_token_id': 32000, 'pad_token_id': 32000, "
	  "'sliding_window': null}" },
	{ "PhiConfig", "phi",
	  "",
	  "", "",
	  "{'vocab_size': 51200, 'hidden_size': 2048, 'intermediate_size': 8192, 'num_hidden_layers': 24, "
	  "'num_attention_heads': 32, 'num_key_value_heads': null, 'resid_pdrop': 0.0, 'embd_pdrop': 0.0, "
	  "'attention_dropout': 0.0, 'hidden_act': 'gelu_new', 'max_position_embeddings': 2048, "
	  "'initializer_range': 0.02, 'layer_norm_eps': 1e-05, 'use_cache': true, "
	  "'tie_word_embeddings': false, 'rope_theta': 10000.0, 'rope_scaling': null, "
	  "'partial_rotary_factor': 0.5, 'qk_layernorm': false, 'bos_token_id': 1, 'eos_token_id': 2}" },
	{ "PhimoeConfig", "phimoe",
	  "",
	  "", "",
	  "{'vocab_size': 32064, 'hidden_size': 4096, 'intermediate_size': 6400, 'num_hidden_layers': 32, "
	  "'num_attention_heads': 32, 'num_key_value_heads': 8, 'hidden_act': 'silu', "
	  "'max_position_embeddings': 131072, 'initializer_range': 0.02, 'rms_norm_eps': 1e-05, "
	  "'use_cache': true, 'pad_token_id': null, 'bos_token_id': 1, 'eos_token_id': 2, "
	  "'tie_word_embeddings': false, 'rope_theta': 1000000.0, 'rope_scaling': null, "
	  "'sliding_window': null, 'attention_dropout': 0.0, 'num_experts_per_tok': 2, "
	  "'num_local_experts': 16, 'output_router_logits': false, 'router_aux_loss_coef': 0.001, "
	  "'router_jitter_noise': 0.01, 'input_jitter_noise': 0.0, 'attention_bias': false, "
	  "'lm_head_bias': false}" },
	{ "PixtralVisionConfig", "pixtral",
	  "",
	  "", "",
	  "{'hidden_size': 1024, 'intermediate_size': 4096, 'num_hidden_layers': 24, "
	  "'num_attention_heads': 16, 'num_channels': 3, 'image_size': 1024, 'patch_size': 16, "
	  "'hidden_act': 'gelu', 'attention_dropout': 0.0, 'rope_theta': 10000.0, 'initializer_range': 0.02}" },
	{ "Qwen2AudioConfig", "qwen2_audio",
	  "audio_token_id audio_token_index",
	  "", "",
	  "{'audio_config': null, 'text_config': null, 'audio_token_index': 151646}" },
	{ "Qwen2AudioEncoderConfig", "qwen2_audio_encoder",
	  "",
	  "", "",
	  "{'num_mel_bins': 128, 'encoder_layers': 32, 'encoder_attention_heads': 20, "
	  "'encoder_ffn_dim': 5120, 'encoder_layerdrop': 0.0, 'd_model': 1280, 'dropout': 0.0, "
	  "'attention_dropout': 0.0, 'activation_function': 'gelu', 'activation_dropout': 0.0, "
	  "'scale_embedding': false, 'initializer_range': 0.02, 'max_source_positions': 1500}" },
	{ "Qwen2Config", "qwen2",
	  "",
	  "", "",
	  "{'vocab_size': 151936, 'hidden_size': 4096, 'intermediate_size': 22016, 'num_hidden_layers': 32, "
	  "'num_attention_heads': 32, 'num_key_value_heads': 32, 'hidden_act': 'silu', "
	  "'max_position_embeddings': 32768, 'initializer_range': 0.02, 'rms_norm_eps': 1e-06, "
	  "'use_cache': true, 'tie_word_embeddings': false, 'rope_theta': 10000.0, 'rope_scaling': null, "
	  "'use_sliding_window': false, 'sliding_window': 4096, 'max_window_layers': 28, "
	  "'layer_types': null, 'attention_dropout': 0.0}" },
	{ "Qwen2MoeConfig", "qwen2_moe",
	  "",
	  "", "",
	  "{'vocab_size': 151936, 'hidden_size': 2048, 'intermediate_size': 5632, 'num_hidden_layers': 24, "
	  "'num_attention_heads': 16, 'num_key_value_heads': 16, 'hidden_act': 'silu', "
	  "'max_position_embeddings': 32768, 'initializer_range': 0.02, 'rms_norm_eps': 1e-06, "
	  "'use_cache': true, 'tie_word_embeddings': false, 'rope_theta': 10000.0, 'rope_scaling': null, "
	  "'use_sliding_window': false, 'sliding_window': 4096, 'max_window_layers': 28, "
	  "'attention_dropout': 0.0, 'decoder_sparse_step': 1, 'moe_intermediate_size': 1408, "
	  "'shared_expert_intermediate_size': 5632, 'num_experts_per_tok': 4, 'num_experts': 60, "
	  "'norm_topk_prob': false, 'output_router_logits': false, 'router_aux_loss_coef': 0.001, "
	  "'mlp_only_layers': null, 'qkv_bias': true}" },
	{ "Qwen2VLConfig", "qwen2_vl",
	  "",
	  "", "",
	  "{'text_config': null, 'vision_config': null, 'image_token_id': 151655, 'video_token_id': 151656, "
	  "'vision_start_token_id': 151652, 'vision_end_token_id': 151653}" },
	{ "Qwen2VLTextConfig", "qwen2_vl_text",
	  "",
	  "", "",
	  "{'vocab_size': 152064, 'hidden_size': 8192, 'intermediate_size': 29568, 'num_hidden_layers': 80, "
	  "'num_attention_heads': 64, 'num_key_value_heads': 8, 'hidden_act': 'silu', "
	  "'max_position_embeddings': 32768, 'initializer_range': 0.02, 'rms_norm_eps': 1e-05, "
	  "'use_cache': true, 'tie_word_embeddings': false, 'rope_theta': 1000000.0, "
	  "'use_sliding_window': false, 'sliding_window': 4096, 'max_window_layers': 80, "
	  "'layer_types': null, 'attention_dropout': 0.0, 'rope_scaling': null}" },
	{ "Qwen2VLVisionConfig", "qwen2_vl",
	  "",
	  "", "",
	  "{'depth': 32, 'embed_dim': 1280, 'hidden_size': 3584, 'hidden_act': 'quick_gelu', 'mlp_ratio': 4, "
	  "'num_heads': 16, 'in_channels': 3, 'patch_size': 14, 'spatial_merge_size': 2, "
	  "'temporal_patch_size': 2, 'initializer_range': 0.02}" },
	{ "Qwen2_5OmniAudioEncoderConfig", "qwen2_5_omni_audio_encoder",
	  "",
	  "", "",
	  "{'num_mel_bins': 128, 'encoder_layers': 32, 'encoder_attention_heads': 20, "
	  "'encoder_ffn_dim': 5120, 'd_model': 1280, 'dropout': 0, 'attention_dropout': 0, "
	  "'activation_function': 'gelu', 'activation_dropout': 0, 'scale_embedding': false, "
	  "'initializer_range': 0.02, 'max_source_positions': 1500, 'n_window': 100, 'output_dim': 3584}" },
	{ "Qwen2_5OmniBigVGANConfig", "qwen2_5_omni_bigvgan",
	  "",
	  "", "",
	  "{'mel_dim': 80, 'upsample_initial_channel': 1536, 'resblock_kernel_sizes': [3, 7, 11], "
	  "'resblock_dilation_sizes': [[1, 3, 5], [1, 3, 5], [1, 3, 5]], 'upsample_rates': [5, 3, 2, 2, 2, "
	  "2], 'upsample_kernel_sizes': [11, 7, 4, 4, 4, 4]}" },
	{ "Qwen2_5OmniConfig", "qwen2_5_omni",
	  "",
	  "", "",
	  "{'thinker_config': null, 'talker_config': null, 'token2wav_config': null, "
	  "'enable_audio_output': true}" },
	{ "Qwen2_5OmniDiTConfig", "qwen2_5_omni_dit",
	  "",
	  "", "",
	  "{'hidden_size': 1024, 'num_hidden_layers': 22, 'num_attention_heads': 16, 'ff_mult': 2, "
	  "'emb_dim': 512, 'head_dim': 64, 'rope_theta': 10000.0, 'max_position_embeddings': 32768, "
	  "'block_size': 24, 'look_ahead_layers': [10], 'look_backward_layers': [0, 20], 'repeats': 2, "
	  "'num_embeds': 8193, 'mel_dim': 80, 'dropout': 0.1, 'enc_emb_dim': 192, 'enc_dim': 128, "
	  "'enc_channels': [256, 256, 256, 256, 768], 'enc_kernel_sizes': [5, 3, 3, 3, 1], "
	  "'enc_dilations': [1, 2, 3, 4, 1], 'enc_attention_channels': 64, 'enc_res2net_scale': 2, "
	  "'enc_se_channels': 64}" },
	{ "Qwen2_5OmniTalkerConfig", "qwen2_5_omni_talker",
	  "image_token_id image_token_index video_token_id video_token_index audio_token_id audio_token_index",
	  "", "",
	  "{'audio_token_index': 151646, 'image_token_index': 151655, 'video_token_index': 151656, "
	  "'vocab_size': 8448, 'tts_text_start_token_id': 151860, 'tts_text_end_token_id': 151861, "
	  "'tts_text_pad_token_id': 151859, 'tts_codec_start_token_id': 8293, "
	  "'tts_codec_end_token_id': 8294, 'tts_codec_pad_token_id': 8292, 'tts_codec_mask_token_id': 8296, "
	  "'vision_start_token_id': 151652, 'vision_end_token_id': 151653, 'embedding_size': 3584, "
	  "'hidden_size': 3584, 'intermediate_size': 18944, 'num_hidden_layers': 28, "
	  "'num_attention_heads': 28, 'num_key_value_heads': 4, 'hidden_act': 'silu', "
	  "'max_position_embeddings': 32768, 'rms_norm_eps': 1e-06, 'head_dim': 128, 'use_cache': true, "
	  "'tie_word_embeddings': false, 'rope_theta': 1000000.0, 'use_sliding_window': false, "
	  "'sliding_window': 32768, 'max_window_layers': 28, 'attention_dropout': 0.0, 'rope_scaling': null, "
	  "'position_id_per_seconds': 25, 'seconds_per_chunk': 2, 'audio_start_token_id': 151647, "
	  "'audio_end_token_id': 151648, 'initializer_range': 0.02, 'spatial_merge_size': 2, "
	  "'layer_types': null}" },
	{ "Qwen2_5OmniTextConfig", "qwen2_5_omni_text",
	  "",
	  "", "",
	  "{'vocab_size': 152064, 'hidden_size': 3584, 'intermediate_size': 18944, 'num_hidden_layers': 28, "
	  "'num_attention_heads': 28, 'num_key_value_heads': 4, 'hidden_act': 'silu', "
	  "'max_position_embeddings': 32768, 'initializer_range': 0.02, 'rms_norm_eps': 1e-06, "
	  "'use_cache': true, 'tie_word_embeddings': false, 'rope_theta': 1000000.0, 'rope_scaling': null, "
	  "'use_sliding_window': false, 'sliding_window': 32768, 'max_window_layers': 28, "
	  "'layer_types': null, 'attention_dropout': 0.0}" },
	{ "Qwen2_5OmniThinkerConfig", "qwen2_5_omni_thinker",
	  "image_token_id image_token_index video_token_id video_token_index audio_token_id audio_token_index",
	  "", "",
	  "{'audio_config': null, 'vision_config': null, 'text_config': null, 'audio_token_index': 151646, "
	  "'image_token_index': 151655, 'video_token_index': 151656, 'position_id_per_seconds': 25, "
	  "'seconds_per_chunk': 2, 'audio_start_token_id': 151647, 'audio_end_token_id': 151648, "
	  "'user_token_id': 872, 'initializer_range': 0.02}" },
	{ "Qwen2_5OmniToken2WavConfig", "qwen2_5_omni_token2wav",
	  "",
	  "", "",
	  "{'dit_config': null, 'bigvgan_config': null}" },
	{ "Qwen2_5OmniVisionEncoderConfig", "qwen2_5_omni_vision_encoder",
	  "",
	  "", "",
	  "{'depth': 32, 'hidden_size': 3584, 'hidden_act': 'silu', 'intermediate_size': 3420, "
	  "'num_heads': 16, 'in_channels': 3, 'patch_size': 14, 'spatial_merge_size': 2, "
	  "'temporal_patch_size': 2, 'window_size': 112, 'out_hidden_size': 3584, "
	  "'fullatt_block_indexes': [7, 15, 23, 31], 'initializer_range': 0.02}" },
	{ "Qwen2_5_VLConfig", "qwen2_5_vl",
	  "",
	  "", "",
	  "{'text_config': null, 'vision_config': null, 'image_token_id': 151655, 'video_token_id': 151656, "
	  "'vision_start_token_id': 151652, 'vision_end_token_id': 151653}" },
	{ "Qwen2_5_VLTextConfig", "qwen2_5_vl_text",
	  "",
	  "", "",
	  "{'vocab_size': 152064, 'hidden_size': 8192, 'intermediate_size': 29568, 'num_hidden_layers': 80, "
	  "'num_attention_heads': 64, 'num_key_value_heads': 8, 'hidden_act': 'silu', "
	  "'max_position_embeddings': 32768, 'initializer_range': 0.02, 'rms_norm_eps': 1e-05, "
	  "'use_cache': true, 'tie_word_embeddings': false, 'rope_theta': 1000000.0, "
	  "'use_sliding_window': false, 'sliding_window': 4096, 'max_window_layers': 80, "
	  "'layer_types': null, 'attention_dropout': 0.0, 'rope_scaling': null}" },
	{ "Qwen2_5_VLVisionConfig", "qwen2_5_vl",
	  "",
	  "", "",
	  "{'depth': 32, 'hidden_size': 3584, 'hidden_act': 'silu', 'intermediate_size': 3420, "
	  "'num_heads': 16, 'in_channels': 3, 'patch_size': 14, 'spatial_merge_size': 2, "
	  "'temporal_patch_size': 2, 'tokens_per_second': 4, 'window_size': 112, 'out_hidden_size': 3584, "
	  "'fullatt_block_indexes': [7, 15, 23, 31], 'initializer_range': 0.02}" },
	{ "Qwen3Config", "qwen3",
	  "",
	  "", "",
	  "{'vocab_size': 151936, 'hidden_size': 4096, 'intermediate_size': 22016, 'num_hidden_layers': 32, "
	  "'num_attention_heads': 32, 'num_key_value_heads': 32, 'head_dim': 128, 'hidden_act': 'silu', "
	  "'max_position_embeddings': 32768, 'initializer_range': 0.02, 'rms_norm_eps': 1e-06, "
	  "'use_cache': true, 'tie_word_embeddings': false, 'rope_theta': 10000.0, 'rope_scaling': null, "
	  "'attention_bias': false, 'use_sliding_window': false, 'sliding_window': 4096, "
	  "'max_window_layers': 28, 'layer_types': null, 'attention_dropout': 0.0}" },
	{ "Qwen3MoeConfig", "qwen3_moe",
	  "",
	  "", "",
	  "{'vocab_size': 151936, 'hidden_size': 2048, 'intermediate_size': 6144, 'num_hidden_layers': 24, "
	  "'num_attention_heads': 32, 'num_key_value_heads': 4, 'hidden_act': 'silu', "
	  "'max_position_embeddings': 32768, 'initializer_range': 0.02, 'rms_norm_eps': 1e-06, "
	  "'use_cache': true, 'tie_word_embeddings': false, 'rope_theta': 10000.0, 'rope_scaling': null, "
	  "'attention_bias': false, 'use_sliding_window': false, 'sliding_window': 4096, "
	  "'attention_dropout': 0.0, 'decoder_sparse_step': 1, 'moe_intermediate_size': 768, "
	  "'num_experts_per_tok': 8, 'num_experts': 128, 'norm_topk_prob': false, "
	  "'output_router_logits': false, 'router_aux_loss_coef': 0.001, 'mlp_only_layers': null}" },
	{ "Qwen3NextConfig", "qwen3_next",
	  "",
	  "", "",
	  "{'vocab_size': 151936, 'hidden_size': 2048, 'intermediate_size': 5632, 'num_hidden_layers': 48, "
	  "'num_attention_heads': 16, 'num_key_value_heads': 2, 'hidden_act': 'silu', "
	  "'max_position_embeddings': 32768, 'initializer_range': 0.02, 'rms_norm_eps': 1e-06, "
	  "'use_cache': true, 'tie_word_embeddings': false, 'rope_theta': 10000.0, 'rope_scaling': null, "
	  "'partial_rotary_factor': 0.25, 'attention_bias': false, 'attention_dropout': 0.0, "
	  "'head_dim': 256, 'linear_conv_kernel_dim': 4, 'linear_key_head_dim': 128, "
	  "'linear_value_head_dim': 128, 'linear_num_key_heads': 16, 'linear_num_value_heads': 32, "
	  "'decoder_sparse_step': 1, 'moe_intermediate_size': 512, 'shared_expert_intermediate_size': 512, "
	  "'num_experts_per_tok': 10, 'num_experts': 512, 'norm_topk_prob': true, "
	  "'output_router_logits': false, 'router_aux_loss_coef': 0.001, 'mlp_only_layers': [], "
	  "'layer_types': null}" },
	{ "Qwen3OmniMoeAudioEncoderConfig", "qwen3_omni_moe_audio_encoder",
	  "",
	  "", "",
	  "{'num_mel_bins': 128, 'encoder_layers': 32, 'encoder_attention_heads': 20, "
	  "'encoder_ffn_dim': 5120, 'd_model': 1280, 'dropout': 0, 'attention_dropout': 0, "
	  "'activation_function': 'gelu', 'activation_dropout': 0, 'scale_embedding': false, "
	  "'initializer_range': 0.02, 'max_source_positions': 1500, 'n_window': 100, 'output_dim': 3584, "
	  "'n_window_infer': 400, 'conv_chunksize': 500, 'downsample_hidden_size': 480}" },
	{ "Qwen3OmniMoeCode2WavConfig", "",
	  "",
	  "layer_types", "",
	  "{'codebook_size': 2048, 'hidden_size': 1024, 'max_position_embeddings': 8000, "
	  "'rope_theta': 10000, 'num_attention_heads': 16, 'num_key_value_heads': 16, "
	  "'attention_bias': false, 'sliding_window': 72, 'intermediate_size': 3072, 'hidden_act': 'silu', "
	  "'layer_scale_initial_scale': 0.01, 'rms_norm_eps': 1e-05, 'num_hidden_layers': 8, "
	  "'num_quantizers': 16, 'upsample_rates': [8, 5, 4, 3], 'upsampling_ratios': [2, 2], "
	  "'decoder_dim': 1536, 'attention_dropout': 0.0}" },
	{ "Qwen3OmniMoeConfig", "qwen3_omni_moe",
	  "",
	  "", "",
	  "{'thinker_config': null, 'talker_config': null, 'code2wav_config': null, "
	  "'enable_audio_output': true, 'im_start_token_id': 151644, 'im_end_token_id': 151645, "
	  "'tts_pad_token_id': 151671, 'tts_bos_token_id': 151672, 'tts_eos_token_id': 151673, "
	  "'system_token_id': 8948, 'user_token_id': 872, 'assistant_token_id': 77091}" },
	{ "Qwen3OmniMoeTalkerCodePredictorConfig", "qwen3_omni_moe_talker_code_predictor",
	  "",
	  "", "",
	  "{'vocab_size': 2048, 'hidden_size': 1024, 'intermediate_size': 3072, 'num_hidden_layers': 5, "
	  "'num_attention_heads': 16, 'num_key_value_heads': 8, 'head_dim': 128, 'hidden_act': 'silu', "
	  "'max_position_embeddings': 32768, 'initializer_range': 0.02, 'rms_norm_eps': 1e-06, "
	  "'use_cache': true, 'tie_word_embeddings': false, 'rope_theta': 10000, 'rope_scaling': null, "
	  "'attention_bias': false, 'sliding_window': null, 'layer_types': null, 'attention_dropout': 0, "
	  "'num_code_groups': 32}" },
	{ "Qwen3OmniMoeTalkerConfig", "",
	  "",
	  "", "",
	  "{'code_predictor_config': null, 'text_config': null, 'num_code_groups': 32, "
	  "'thinker_hidden_size': 2048, 'codec_eos_token_id': 4198, 'accept_hidden_layer': 18, "
	  "'codec_nothink_id': 4203, 'codec_think_bos_id': 4204, 'codec_think_eos_id': 4205, "
	  "'codec_pad_id': 4196, 'codec_bos_id': 4197, 'audio_token_id': 151646, 'image_token_id': 151655, "
	  "'video_token_id': 151656, 'vision_start_token_id': 151652, 'position_id_per_seconds': 25, "
	  "'audio_start_token_id': 151669, 'speaker_id': null}" },
	{ "Qwen3OmniMoeTalkerTextConfig", "qwen3_omni_moe_talker_text",
	  "",
	  "", "",
	  "{'vocab_size': 3072, 'hidden_size': 1024, 'intermediate_size': 2048, 'num_hidden_layers': 20, "
	  "'num_attention_heads': 16, 'num_key_value_heads': 2, 'hidden_act': 'silu', "
	  "'max_position_embeddings': 32768, 'initializer_range': 0.02, 'rms_norm_eps': 1e-06, "
	  "'use_cache': true, 'tie_word_embeddings': false, 'rope_theta': 10000, 'rope_scaling': null, "
	  "'attention_bias': false, 'sliding_window': null, 'attention_dropout': 0, "
	  "'decoder_sparse_step': 1, 'moe_intermediate_size': 384, 'num_experts_per_tok': 8, "
	  "'num_experts': 128, 'norm_topk_prob': false, 'output_router_logits': false, "
	  "'router_aux_loss_coef': 0.001, 'mlp_only_layers': null}" },
	{ "Qwen3OmniMoeTextConfig", "qwen3_omni_moe_text",
	  "",
	  "", "",
	  "{'vocab_size': 3584, 'hidden_size': 2048, 'intermediate_size': 18944, 'num_hidden_layers': 28, "
	  "'num_attention_heads': 28, 'num_key_value_heads': 4, 'hidden_act': 'silu', "
	  "'max_position_embeddings': 32768, 'initializer_range': 0.02, 'rms_norm_eps': 1e-06, "
	  "'use_cache': true, 'tie_word_embeddings': false, 'rope_theta': 1000000.0, 'rope_scaling': null, "
	  "'attention_bias': false, 'sliding_window': null, 'attention_dropout': 0, "
	  "'decoder_sparse_step': 1, 'moe_intermediate_size': 768, 'num_experts_per_tok': 8, "
	  "'num_experts': 128, 'norm_topk_prob': true, 'output_router_logits': false, "
	  "'router_aux_loss_coef': 0.001, 'mlp_only_layers': null}" },
	{ "Qwen3OmniMoeThinkerConfig", "qwen3_omni_moe_thinker",
	  "",
	  "", "",
	  "{'audio_config': null, 'vision_config': null, 'text_config': null, 'audio_token_id': 151646, "
	  "'image_token_id': 151655, 'video_token_id': 151656, 'position_id_per_seconds': 25, "
	  "'audio_start_token_id': 151647, 'user_token_id': 872, 'initializer_range': 0.02}" },
	{ "Qwen3OmniMoeVisionEncoderConfig", "qwen3_omni_moe_vision_encoder",
	  "",
	  "", "",
	  "{'depth': 27, 'hidden_size': 1152, 'hidden_act': 'gelu_pytorch_tanh', 'intermediate_size': 4304, "
	  "'num_heads': 16, 'in_channels': 3, 'patch_size': 16, 'spatial_merge_size': 2, "
	  "'temporal_patch_size': 2, 'out_hidden_size': 3584, 'num_position_embeddings': 2304, "
	  "'deepstack_visual_indexes': [8, 16, 24], 'initializer_range': 0.02}" },
	{ "Qwen3VLConfig", "qwen3_vl",
	  "",
	  "", "",
	  "{'text_config': null, 'vision_config': null, 'image_token_id': 151655, 'video_token_id': 151656, "
	  "'vision_start_token_id': 151652, 'vision_end_token_id': 151653, 'tie_word_embeddings': false}" },
	{ "Qwen3VLMoeConfig", "qwen3_vl_moe",
	  "",
	  "", "",
	  "{'text_config': null, 'vision_config': null, 'image_token_id': 151655, 'video_token_id': 151656, "
	  "'vision_start_token_id': 151652, 'vision_end_token_id': 151653, 'tie_word_embeddings': false}" },
	{ "Qwen3VLMoeTextConfig", "qwen3_vl_moe_text",
	  "",
	  "", "",
	  "{'vocab_size': 151936, 'hidden_size': 2048, 'intermediate_size': 5632, 'num_hidden_layers': 24, "
	  "'num_attention_heads': 16, 'num_key_value_heads': 16, 'hidden_act': 'silu', "
	  "'max_position_embeddings': 128000, 'initializer_range': 0.02, 'rms_norm_eps': 1e-06, "
	  "'use_cache': true, 'tie_word_embeddings': false, 'rope_theta': 5000000.0, "
	  "'attention_bias': false, 'attention_dropout': 0.0, 'decoder_sparse_step': 1, "
	  "'moe_intermediate_size': 1408, 'num_experts_per_tok': 4, 'num_experts': 60, "
	  "'norm_topk_prob': true, 'router_aux_loss_coef': 0.001, 'mlp_only_layers': null, "
	  "'rope_scaling': null, 'head_dim': null}" },
	{ "Qwen3VLMoeVisionConfig", "qwen3_vl_moe",
	  "",
	  "", "",
	  "{'depth': 27, 'hidden_size': 1152, 'hidden_act': 'gelu_pytorch_tanh', 'intermediate_size': 4304, "
	  "'num_heads': 16, 'in_channels': 3, 'patch_size': 16, 'spatial_merge_size': 2, "
	  "'temporal_patch_size': 2, 'out_hidden_size': 3584, 'num_position_embeddings': 2304, "
	  "'deepstack_visual_indexes': [8, 16, 24], 'initializer_range': 0.02}" },
	{ "Qwen3VLTextConfig", "qwen3_vl_text",
	  "",
	  "", "",
	  "{'vocab_size': 151936, 'hidden_size': 4096, 'intermediate_size': 22016, 'num_hidden_layers': 32, "
	  "'num_attention_heads': 32, 'num_key_value_heads': 32, 'head_dim': 128, 'hidden_act': 'silu', "
	  "'max_position_embeddings': 128000, 'initializer_range': 0.02, 'rms_norm_eps': 1e-06, "
	  "'use_cache': true, 'tie_word_embeddings': false, 'rope_theta': 5000000.0, 'rope_scaling': null, "
	  "'attention_bias': false, 'attention_dropout': 0.0}" },
	{ "Qwen3VLVisionConfig", "qwen3_vl",
	  "",
	  "", "",
	  "{'depth': 27, 'hidden_size': 1152, 'hidden_act': 'gelu_pytorch_tanh', 'intermediate_size': 4304, "
	  "'num_heads': 16, 'in_channels': 3, 'patch_size': 16, 'spatial_merge_size': 2, "
	  "'temporal_patch_size': 2, 'out_hidden_size': 3584, 'num_position_embeddings': 2304, "
	  "'deepstack_visual_indexes': [8, 16, 24], 'initializer_range': 0.02}" },
	{ "RobertaConfig", "roberta",
	  "",
	  "", "",
	  "{'vocab_size': 50265, 'hidden_size': 768, 'num_hidden_layers': 12, 'num_attention_heads': 12, "
	  "'intermediate_size': 3072, 'hidden_act': 'gelu', 'hidden_dropout_prob': 0.1, "
	  "'attention_probs_dropout_prob': 0.1, 'max_position_embeddings': 512, 'type_vocab_size': 2, "
	  "'initializer_range': 0.02, 'layer_norm_eps': 1e-12, 'pad_token_id': 1, 'bos_token_id': 0, "
	  "'eos_token_id': 2, 'position_embedding_type': 'absolute', 'use_cache': true, "
	  "'classifier_dropout': null}" },
	{ "SeedOssConfig", "seed_oss",
	  "",
	  "", "",
	  "{'vocab_size': 155136, 'hidden_size': 4096, 'intermediate_size': 27648, 'num_hidden_layers': 64, "
	  "'num_attention_heads': 80, 'num_key_value_heads': 8, 'hidden_act': 'silu', "
	  "'max_position_embeddings': 524288, 'initializer_range': 0.02, 'rms_norm_eps': 1e-06, "
	  "'use_cache': true, 'pad_token_id': 1, 'bos_token_id': 0, 'eos_token_id': 2, 'pretraining_tp': 1, "
	  "'tie_word_embeddings': false, 'rope_theta': 10000.0, 'rope_scaling': null, "
	  "'attention_bias': true, 'attention_out_bias': false, 'attention_dropout': 0.1, "
	  "'residual_dropout': 0.1, 'mlp_bias': false, 'head_dim': 128}" },
	{ "ShieldGemma2Config", "shieldgemma2",
	  "image_token_id image_token_index boi_token_id boi_token_index eoi_token_id eoi_token_index",
	  "", "",
	  "{'text_config': null, 'vision_config': null, 'mm_tokens_per_image': 256, "
	  "'boi_token_index': 255999, 'eoi_token_index': 256000, 'image_token_index': 262144, "
	  "'initializer_range': 0.02}" },
	{ "Siglip2VisionConfig", "siglip2_vision_model",
	  "",
	  "", "",
	  "{'hidden_size': 768, 'intermediate_size': 3072, 'num_hidden_layers': 12, "
	  "'num_attention_heads': 12, 'num_channels': 3, 'num_patches': 256, 'patch_size': 16, "
	  "'hidden_act': 'gelu_pytorch_tanh', 'layer_norm_eps': 1e-06, 'attention_dropout': 0.0}" },
	{ "SiglipVisionConfig", "siglip_vision_model",
	  "",
	  "", "",
	  "{'hidden_size': 768, 'intermediate_size': 3072, 'num_hidden_layers': 12, "
	  "'num_attention_heads': 12, 'num_channels': 3, 'image_size': 224, 'patch_size': 16, "
	  "'hidden_act': 'gelu_pytorch_tanh', 'layer_norm_eps': 1e-06, 'attention_dropout': 0.0}" },
	{ "SmolLM3Config", "smollm3",
	  "",
	  "", "",
	  "{'vocab_size': 128256, 'hidden_size': 2048, 'intermediate_size': 11008, 'num_hidden_layers': 36, "
	  "'num_attention_heads': 16, 'num_key_value_heads': 4, 'hidden_act': 'silu', "
	  "'max_position_embeddings': 32768, 'initializer_range': 0.02, 'rms_norm_eps': 1e-06, "
	  "'use_cache': true, 'pad_token_id': 128004, 'bos_token_id': 128000, 'eos_token_id': 128001, "
	  "'rope_theta': 2000000.0, 'rope_scaling': null, 'use_sliding_window': false, "
	  "'sliding_window': null, 'no_rope_layers': null, 'no_rope_layer_interval': 4, 'layer_types': null, "
	  "'attention_bias': false, 'attention_dropout': 0.0, 'mlp_bias': false}" },
	{ "SmolVLMConfig", "smolvlm",
	  "",
	  "", "",
	  "{'use_cache': true, 'image_token_id': 128257, 'tie_word_embeddings': false, "
	  "'vision_config': null, 'text_config': null, 'scale_factor': 2, 'pad_token_id': 128002}" },
	{ "SmolVLMVisionConfig", "smolvlm_vision",
	  "",
	  "", "",
	  "{'hidden_size': 1152, 'intermediate_size': 3072, 'num_hidden_layers': 12, "
	  "'num_attention_heads': 16, 'num_channels': 3, 'image_size': 224, 'patch_size': 32, "
	  "'hidden_act': 'gelu_pytorch_tanh', 'layer_norm_eps': 1e-06, 'attention_dropout': 0.0, "
	  "'initializer_range': 0.02}" },
	{ "StableLmConfig", "stablelm",
	  "",
	  "", "",
	  "{'vocab_size': 50304, 'intermediate_size': 6912, 'hidden_size': 2560, 'num_hidden_layers': 32, "
	  "'num_attention_heads': 32, 'num_key_value_heads': 32, 'hidden_act': 'silu', "
	  "'max_position_embeddings': 4096, 'initializer_range': 0.02, 'layer_norm_eps': 1e-05, "
	  "'use_cache': true, 'tie_word_embeddings': false, 'rope_theta': 10000, 'rope_scaling': null, "
	  "'use_qkv_bias': false, 'qk_layernorm': false, 'use_parallel_residual': false, "
	  "'hidden_dropout': 0.0, 'attention_dropout': 0.0, 'partial_rotary_factor': 0.25, "
	  "'bos_token_id': 0, 'eos_token_id': 0}" },
	{ "Starcoder2Config", "starcoder2",
	  "",
	  "", "",
	  "{'vocab_size': 49152, 'hidden_size': 3072, 'intermediate_size': 12288, 'num_hidden_layers': 30, "
	  "'num_attention_heads': 24, 'num_key_value_heads': 2, 'hidden_act': 'gelu_pytorch_tanh', "
	  "'max_position_embeddings': 4096, 'initializer_range': 0.018042, 'norm_epsilon': 1e-05, "
	  "'use_cache': true, 'bos_token_id': 50256, 'eos_token_id': 50256, 'rope_theta': 10000.0, "
	  "'rope_scaling': null, 'sliding_window': null, 'attention_dropout': 0.0, 'residual_dropout': 0.0, "
	  "'embedding_dropout': 0.0, 'use_bias': true}" },
	{ "T5Config", "t5",
	  "hidden_size d_model num_attention_heads num_heads num_hidden_layers num_layers head_dim d_kv",
	  "", "",
	  "{'vocab_size': 32128, 'd_model': 512, 'd_kv': 64, 'd_ff': 2048, 'num_layers': 6, "
	  "'num_decoder_layers': null, 'num_heads': 8, 'relative_attention_num_buckets': 32, "
	  "'relative_attention_max_distance': 128, 'dropout_rate': 0.1, 'layer_norm_epsilon': 1e-06, "
	  "'initializer_factor': 1.0, 'feed_forward_proj': 'relu', 'is_encoder_decoder': true, "
	  "'use_cache': true, 'pad_token_id': 0, 'eos_token_id': 1, 'classifier_dropout': 0.0}" },
	{ "UMT5Config", "umt5",
	  "hidden_size d_model num_attention_heads num_heads num_hidden_layers num_layers head_dim d_kv",
	  "", "",
	  "{'vocab_size': 250112, 'd_model': 512, 'd_kv': 64, 'd_ff': 1024, 'num_layers': 8, "
	  "'num_decoder_layers': null, 'num_heads': 6, 'relative_attention_num_buckets': 32, "
	  "'relative_attention_max_distance': 128, 'dropout_rate': 0.1, 'layer_norm_epsilon': 1e-06, "
	  "'initializer_factor': 1.0, 'feed_forward_proj': 'gated-gelu', 'is_encoder_decoder': true, "
	  "'use_cache': true, 'tokenizer_class': 'T5Tokenizer', 'tie_word_embeddings': true, "
	  "'pad_token_id': 0, 'eos_token_id': 1, 'decoder_start_token_id': 0, 'classifier_dropout': 0.0}" },
	{ "VoxtralConfig", "voxtral",
	  "",
	  "", "",
	  "{'audio_config': null, 'text_config': null, 'audio_token_id': null, "
	  "'projector_hidden_act': 'gelu'}" },
	{ "VoxtralEncoderConfig", "voxtral_encoder",
	  "d_model hidden_size encoder_layers num_hidden_layers encoder_attention_heads "
	  "num_attention_heads encoder_ffn_dim intermediate_size encoder_layerdrop layerdrop",
	  "", "",
	  "{'vocab_size': 51866, 'hidden_size': 1280, 'intermediate_size': 5120, 'num_hidden_layers': 32, "
	  "'num_attention_heads': 20, 'scale_embedding': false, 'activation_function': 'gelu', "
	  "'num_mel_bins': 128, 'max_source_positions': 1500, 'initializer_range': 0.02, "
	  "'attention_dropout': 0.0}" },
	{ "WhisperConfig", "whisper",
	  "num_key_value_heads encoder_attention_heads num_attention_heads encoder_attention_heads "
	  "hidden_size d_model",
	  "", "",
	  "{'vocab_size': 51865, 'num_mel_bins': 80, 'encoder_layers': 4, 'encoder_attention_heads': 6, "
	  "'decoder_layers': 4, 'decoder_attention_heads': 6, 'decoder_ffn_dim': 1536, "
	  "'encoder_ffn_dim': 1536, 'encoder_layerdrop': 0.0, 'decoder_layerdrop': 0.0, "
	  "'decoder_start_token_id': 50257, 'use_cache': true, 'is_encoder_decoder': true, "
	  "'activation_function': 'gelu', 'd_model': 384, 'dropout': 0.0, 'attention_dropout': 0.0, "
	  "'activation_dropout': 0.0, 'init_std': 0.02, 'scale_embedding': false, "
	  "'max_source_positions': 1500, 'max_target_positions': 448, 'pad_token_id': 50256, "
	  "'bos_token_id': 50256, 'eos_token_id': 50256, 'suppress_tokens': null, "
	  "'begin_suppress_tokens': [220, 50256], 'use_weighted_layer_sum': false, "
	  "'classifier_proj_size': 256, 'apply_spec_augment': false, 'mask_time_prob': 0.05, "
	  "'mask_time_length': 10, 'mask_time_min_masks': 2, 'mask_feature_prob': 0.0, "
	  "'mask_feature_length': 10, 'mask_feature_min_masks': 0, 'median_filter_width': 7}" },
	{ "XLMRobertaConfig", "xlm-roberta",
	  "",
	  "", "",
	  "{'vocab_size': 30522, 'hidden_size': 768, 'num_hidden_layers': 12, 'num_attention_heads': 12, "
	  "'intermediate_size': 3072, 'hidden_act': 'gelu', 'hidden_dropout_prob': 0.1, "
	  "'attention_probs_dropout_prob': 0.1, 'max_position_embeddings': 512, 'type_vocab_size': 2, "
	  "'initializer_range': 0.02, 'layer_norm_eps': 1e-12, 'pad_token_id': 1, 'bos_token_id': 0, "
	  "'eos_token_id': 2, 'position_embedding_type': 'absolute', 'use_cache': true, "
	  "'classifier_dropout': null}" },
	{ NULL, NULL, NULL, NULL, NULL, NULL },
};

/*
 * Every model_type that transformers knows, the longest first, as AutoConfig searches a path for them. The class is
 * NULL where no converter class wants such a model.
 */
const struct config_type config_types[] = {
	{ "fastspeech2_conformer_with_hifigan", NULL },
	{ "audio-spectrogram-transformer", NULL },
	{ "chinese_clip_vision_model", NULL },
	{ "vision-text-dual-encoder", NULL },
	{ "time_series_transformer", NULL },
	{ "speech-encoder-decoder", NULL },
	{ "trajectory_transformer", NULL },
	{ "vision-encoder-decoder", NULL },
	{ "dinov2_with_registers", NULL },
	{ "fastspeech2_conformer", NULL },
	{ "kyutai_speech_to_text", NULL },
	{ "prompt_depth_anything", NULL },
	{ "decision_transformer", NULL },
	{ "edgetam_vision_model", NULL },
	{ "roberta-prelayernorm", NULL },
	{ "sam2_hiera_det_model", NULL },
	{ "siglip2_vision_model", "Siglip2VisionConfig" },
	{ "qwen2_audio_encoder", "Qwen2AudioEncoderConfig" },
	{ "sam_hq_vision_model", NULL },
	{ "siglip_vision_model", "SiglipVisionConfig" },
	{ "switch_transformers", NULL },
	{ "aimv2_vision_model", NULL },
	{ "deepseek_vl_hybrid", NULL },
	{ "modernbert-decoder", NULL },
	{ "perception_encoder", NULL },
	{ "wav2vec2-conformer", NULL },
	{ "clip_vision_model", "CLIPVisionConfig" },
	{ "gpt_neox_japanese", NULL },
	{ "instructblipvideo", NULL },
	{ "mm-grounding-dino", NULL },
	{ "qwen3_vl_moe_text", "Qwen3VLMoeTextConfig" },
	{ "sam2_vision_model", NULL },
	{ "table-transformer", NULL },
	{ "blenderbot-small", NULL },
	{ "conditional_detr", NULL },
	{ "granitemoehybrid", "GraniteMoeHybridConfig" },
	{ "granitemoeshared", "GraniteMoeSharedConfig" },
	{ "hunyuan_v1_dense", "HunYuanDenseV1Config" },
	{ "llava_next_video", NULL },
	{ "parakeet_encoder", NULL },
	{ "sam_vision_model", NULL },
	{ "speech_to_text_2", NULL },
	{ "vitpose_backbone", NULL },
	{ "bert-generation", NULL },
	{ "bigbird_pegasus", NULL },
	{ "clip_text_model", NULL },
	{ "data2vec-vision", NULL },
	{ "deformable_detr", NULL },
	{ "dinov3_convnext", NULL },
	{ "efficientformer", NULL },
	{ "encoder-decoder", NULL },
	{ "gptsan-japanese", NULL },
	{ "idefics3_vision", "Idefics3VisionConfig" },
	{ "internvl_vision", "InternVLVisionConfig" },
	{ "llava_onevision", NULL },
	{ "maskformer-swin", NULL },
	{ "musicgen_melody", NULL },
	{ "phi4_multimodal", NULL },
	{ "qwen2_5_vl_text", "Qwen2_5_VLTextConfig" },
	{ "recurrent_gemma", NULL },
	{ "seamless_m4t_v2", NULL },
	{ "voxtral_encoder", "VoxtralEncoderConfig" },
	{ "blip_2_qformer", "Blip2QFormerConfig" },
	{ "cohere2_vision", NULL },
	{ "data2vec-audio", NULL },
	{ "depth_anything", NULL },
	{ "efficientloftr", NULL },
	{ "gemma3n_vision", "Gemma3nVisionConfig" },
	{ "glm4v_moe_text", "Glm4vMoeTextConfig" },
	{ "granite_speech", "GraniteSpeechConfig" },
	{ "grounding-dino", NULL },
	{ "hunyuan_v1_moe", "HunYuanMoEV1Config" },
	{ "qwen3_omni_moe", "Qwen3OmniMoeConfig" },
	{ "rt_detr_resnet", NULL },
	{ "smolvlm_vision", "SmolVLMVisionConfig" },
	{ "speech_to_text", NULL },
	{ "xlm-prophetnet", NULL },
	{ "xlm-roberta-xl", NULL },
	{ "data2vec-text", NULL },
	{ "edgetam_video", NULL },
	{ "gemma3n_audio", "Gemma3nAudioConfig" },
	{ "granitevision", NULL },
	{ "longcat_flash", NULL },
	{ "megatron-bert", NULL },
	{ "nystromformer", NULL },
	{ "perception_lm", NULL },
	{ "qwen2_vl_text", "Qwen2VLTextConfig" },
	{ "qwen3_vl_text", "Qwen3VLTextConfig" },
	{ "timm_backbone", NULL },
	{ "unispeech-sat", NULL },
	{ "wav2vec2-bert", NULL },
	{ "chinese_clip", NULL },
	{ "efficientnet", NULL },
	{ "ernie4_5_moe", "Ernie4_5_MoeConfig" },
	{ "falcon_mamba", "FalconMambaConfig" },
	{ "gemma3n_text", "Gemma3nTextConfig" },
	{ "instructblip", NULL },
	{ "mobilenet_v1", NULL },
	{ "mobilenet_v2", NULL },
	{ "parakeet_ctc", NULL },
	{ "patchtsmixer", NULL },
	{ "qwen2_5_omni", "Qwen2_5OmniConfig" },
	{ "qwen3_vl_moe", "Qwen3VLMoeConfig" },
	{ "seamless_m4t", NULL },
	{ "shieldgemma2", "ShieldGemma2Config" },
	{ "timm_wrapper", NULL },
	{ "bridgetower", NULL },
	{ "deepseek_v2", "DeepseekV2Config" },
	{ "deepseek_v3", "DeepseekV3Config" },
	{ "deepseek_vl", NULL },
	{ "gemma3_text", "Gemma3TextConfig" },
	{ "gpt_bigcode", "GPTBigCodeConfig" },
	{ "llama4_text", "Llama4TextConfig" },
	{ "mask2former", NULL },
	{ "mobilevitv2", NULL },
	{ "omdet-turbo", NULL },
	{ "qwen2_audio", "Qwen2AudioConfig" },
	{ "squeezebert", NULL },
	{ "swiftformer", NULL },
	{ "timesformer", NULL },
	{ "video_llava", NULL },
	{ "visual_bert", NULL },
	{ "xlm-roberta", "XLMRobertaConfig" },
	{ "autoformer", NULL },
	{ "aya_vision", NULL },
	{ "blenderbot", NULL },
	{ "code_llama", "LlamaConfig" },
	{ "convnextv2", NULL },
	{ "deberta-v2", NULL },
	{ "dinov3_vit", NULL },
	{ "distilbert", "DistilBertConfig" },
	{ "donut-swin", NULL },
	{ "glm4v_text", "Glm4vTextConfig" },
	{ "granitemoe", "GraniteMoeConfig" },
	{ "graphormer", NULL },
	{ "kosmos-2.5", NULL },
	{ "layoutlmv2", NULL },
	{ "layoutlmv3", NULL },
	{ "llava_next", NULL },
	{ "longformer", NULL },
	{ "maskformer", NULL },
	{ "metaclip_2", NULL },
	{ "mobilebert", NULL },
	{ "modernbert", "ModernBertConfig" },
	{ "open-llama", NULL },
	{ "openai-gpt", NULL },
	{ "pix2struct", NULL },
	{ "poolformer", NULL },
	{ "prophetnet", NULL },
	{ "qwen2_5_vl", "Qwen2_5_VLConfig" },
	{ "qwen3_next", "Qwen3NextConfig" },
	{ "rt_detr_v2", NULL },
	{ "sam2_video", NULL },
	{ "starcoder2", "Starcoder2Config" },
	{ "superpoint", NULL },
	{ "transfo-xl", NULL },
	{ "vaultgemma", NULL },
	{ "vit_hybrid", NULL },
	{ "aria_text", NULL },
	{ "camembert", "CamembertConfig" },
	{ "chameleon", "ChameleonConfig" },
	{ "depth_pro", NULL },
	{ "diffllama", NULL },
	{ "falcon_h1", "FalconH1Config" },
	{ "flex_olmo", NULL },
	{ "florence2", NULL },
	{ "glm4v_moe", "Glm4vMoeConfig" },
	{ "lightglue", NULL },
	{ "ministral", "MinistralConfig" },
	{ "mobilevit", NULL },
	{ "moonshine", NULL },
	{ "oneformer", NULL },
	{ "paligemma", NULL },
	{ "pegasus_x", NULL },
	{ "perceiver", NULL },
	{ "persimmon", NULL },
	{ "pop2piano", NULL },
	{ "qwen2_moe", "Qwen2MoeConfig" },
	{ "qwen3_moe", "Qwen3MoeConfig" },
	{ "retribert", NULL },
	{ "segformer", NULL },
	{ "superglue", NULL },
	{ "unispeech", NULL },
	{ "big_bird", NULL },
	{ "colqwen2", NULL },
	{ "convbert", NULL },
	{ "convnext", NULL },
	{ "dab-detr", NULL },
	{ "ernie4_5", "Ernie4_5Config" },
	{ "flaubert", NULL },
	{ "focalnet", NULL },
	{ "glm4_moe", "Glm4MoeConfig" },
	{ "got_ocr2", NULL },
	{ "gpt_neox", "GPTNeoXConfig" },
	{ "groupvit", NULL },
	{ "hgnet_v2", NULL },
	{ "idefics2", NULL },
	{ "idefics3", "Idefics3Config" },
	{ "imagegpt", NULL },
	{ "informer", NULL },
	{ "internvl", "InternVLConfig" },
	{ "kosmos-2", NULL },
	{ "layoutlm", NULL },
	{ "markuplm", NULL },
	{ "mistral3", "Mistral3Config" },
	{ "musicgen", NULL },
	{ "nemotron", "NemotronConfig" },
	{ "nllb-moe", NULL },
	{ "patchtst", NULL },
	{ "qwen2_vl", "Qwen2VLConfig" },
	{ "qwen3_vl", "Qwen3VLConfig" },
	{ "reformer", NULL },
	{ "roc_bert", NULL },
	{ "roformer", NULL },
	{ "seed_oss", "SeedOssConfig" },
	{ "speecht5", NULL },
	{ "splinter", NULL },
	{ "stablelm", "StableLmConfig" },
	{ "videomae", NULL },
	{ "vipllava", NULL },
	{ "vitmatte", NULL },
	{ "wav2vec2", NULL },
	{ "zoedepth", NULL },
	{ "altclip", NULL },
	{ "apertus", "ApertusConfig" },
	{ "clipseg", NULL },
	{ "codegen", NULL },
	{ "cohere2", "Cohere2Config" },
	{ "colpali", NULL },
	{ "deberta", NULL },
	{ "edgetam", NULL },
	{ "electra", NULL },
	{ "encodec", NULL },
	{ "ernie_m", NULL },
	{ "exaone4", "Exaone4Config" },
	{ "gemma3n", "Gemma3nConfig" },
	{ "gpt-sw3", "GPT2Config" },
	{ "gpt_neo", NULL },
	{ "gpt_oss", "GptOssConfig" },
	{ "granite", "GraniteConfig" },
	{ "idefics", NULL },
	{ "jukebox", NULL },
	{ "lfm2_vl", "Lfm2VlConfig" },
	{ "m2m_100", NULL },
	{ "mgp-str", NULL },
	{ "minimax", NULL },
	{ "mistral", "MistralConfig" },
	{ "mixtral", "MixtralConfig" },
	{ "pegasus", NULL },
	{ "pixtral", "PixtralVisionConfig" },
	{ "qdqbert", NULL },
	{ "rembert", NULL },
	{ "roberta", "RobertaConfig" },
	{ "rt_detr", NULL },
	{ "siglip2", NULL },
	{ "smollm3", "SmolLM3Config" },
	{ "smolvlm", "SmolVLMConfig" },
	{ "swin2sr", NULL },
	{ "t5gemma", NULL },
	{ "textnet", NULL },
	{ "timesfm", NULL },
	{ "univnet", NULL },
	{ "upernet", NULL },
	{ "vit_mae", NULL },
	{ "vit_msn", NULL },
	{ "vitpose", NULL },
	{ "voxtral", "VoxtralConfig" },
	{ "whisper", "WhisperConfig" },
	{ "albert", NULL },
	{ "biogpt", NULL },
	{ "bitnet", "BitNetConfig" },
	{ "blip-2", NULL },
	{ "canine", NULL },
	{ "cohere", "CohereConfig" },
	{ "cpmant", NULL },
	{ "d_fine", NULL },
	{ "dinov2", NULL },
	{ "evolla", NULL },
	{ "falcon", "FalconConfig" },
	{ "funnel", NULL },
	{ "gemma2", "Gemma2Config" },
	{ "gemma3", "Gemma3Config" },
	{ "helium", NULL },
	{ "hubert", NULL },
	{ "jetmoe", NULL },
	{ "llama4", "Llama4Config" },
	{ "longt5", NULL },
	{ "lxmert", NULL },
	{ "mamba2", "Mamba2Config" },
	{ "marian", NULL },
	{ "mllama", NULL },
	{ "nougat", NULL },
	{ "owlvit", NULL },
	{ "phimoe", "PhimoeConfig" },
	{ "plbart", NULL },
	{ "pvt_v2", NULL },
	{ "regnet", NULL },
	{ "resnet", NULL },
	{ "sam_hq", NULL },
	{ "seggpt", NULL },
	{ "siglip", NULL },
	{ "swinv2", NULL },
	{ "vitdet", NULL },
	{ "vjepa2", NULL },
	{ "xcodec", NULL },
	{ "zamba2", NULL },
	{ "aimv2", NULL },
	{ "align", NULL },
	{ "arcee", "ArceeConfig" },
	{ "bamba", "BambaConfig" },
	{ "bloom", "BloomConfig" },
	{ "dinat", NULL },
	{ "dots1", "Dots1Config" },
	{ "ernie", NULL },
	{ "flava", NULL },
	{ "gemma", "GemmaConfig" },
	{ "glm4v", "Glm4vConfig" },
	{ "hiera", NULL },
	{ "ibert", NULL },
	{ "ijepa", NULL },
	{ "jamba", "JambaConfig" },
	{ "janus", "JanusConfig" },
	{ "levit", NULL },
	{ "llama", "LlamaConfig" },
	{ "llava", "LlavaConfig" },
	{ "mamba", "MambaConfig" },
	{ "mbart", NULL },
	{ "mctct", NULL },
	{ "moshi", NULL },
	{ "mpnet", NULL },
	{ "nezha", NULL },
	{ "olmo2", "Olmo2Config" },
	{ "olmo3", "Olmo3Config" },
	{ "olmoe", "OlmoeConfig" },
	{ "ovis2", NULL },
	{ "owlv2", NULL },
	{ "qwen2", "Qwen2Config" },
	{ "qwen3", "Qwen3Config" },
	{ "realm", NULL },
	{ "sew-d", NULL },
	{ "tapas", NULL },
	{ "trocr", NULL },
	{ "vivit", NULL },
	{ "wavlm", NULL },
	{ "xclip", NULL },
	{ "xlnet", NULL },
	{ "xlstm", NULL },
	{ "yolos", NULL },
	{ "zamba", NULL },
	{ "aria", NULL },
	{ "bark", NULL },
	{ "bart", NULL },
	{ "beit", NULL },
	{ "bert", "BertConfig" },
	{ "blip", NULL },
	{ "bros", NULL },
	{ "clap", NULL },
	{ "clip", NULL },
	{ "clvp", NULL },
	{ "ctrl", NULL },
	{ "dbrx", "DbrxConfig" },
	{ "deit", NULL },
	{ "deta", NULL },
	{ "detr", NULL },
	{ "doge", NULL },
	{ "emu3", NULL },
	{ "eomt", NULL },
	{ "fnet", NULL },
	{ "fsmt", NULL },
	{ "fuyu", NULL },
	{ "glm4", "Glm4Config" },
	{ "glpn", NULL },
	{ "gpt2", "GPT2Config" },
	{ "gptj", NULL },
	{ "lfm2", "Lfm2Config" },
	{ "lilt", NULL },
	{ "luke", NULL },
	{ "mega", NULL },
	{ "mimi", NULL },
	{ "mlcd", NULL },
	{ "olmo", "OlmoConfig" },
	{ "phi3", "Phi3Config" },
	{ "rwkv", NULL },
	{ "sam2", NULL },
	{ "swin", NULL },
	{ "tvlt", NULL },
	{ "udop", NULL },
	{ "umt5", "UMT5Config" },
	{ "vilt", NULL },
	{ "vits", NULL },
	{ "xglm", NULL },
	{ "xmod", NULL },
	{ "yoso", NULL },
	{ "bit", NULL },
	{ "blt", NULL },
	{ "csm", NULL },
	{ "cvt", NULL },
	{ "dac", NULL },
	{ "dia", NULL },
	{ "dpr", NULL },
	{ "dpt", NULL },
	{ "esm", NULL },
	{ "git", NULL },
	{ "glm", "GlmConfig" },
	{ "led", NULL },
	{ "mpt", "MptConfig" },
	{ "mra", NULL },
	{ "mt5", "MT5Config" },
	{ "mvp", NULL },
	{ "nat", NULL },
	{ "opt", NULL },
	{ "phi", "PhiConfig" },
	{ "pvt", NULL },
	{ "rag", NULL },
	{ "sam", NULL },
	{ "sew", NULL },
	{ "tvp", NULL },
	{ "van", NULL },
	{ "vit", NULL },
	{ "xlm", NULL },
	{ "t5", "T5Config" },
	{ NULL, NULL },
};
