# llama-quantize's options: sums are those of the files that the tool makes of the converter's.
load common

setup_file() { make_models; }

sums_of() { # SPEC OPTIONS
	"$HFGGUF" sum "$(model "$1" "$BATS_TEST_TMPDIR/models")" -o "$2"
}

@test "keep-split cuts where the base file is cut, whatever the quantized sizes are" {
	run sums_of Quant-Dense-8L quantize=Q4_K_M,split-max-tensors=30,keep-split
	assert_success
	assert_output - <<-'END'
		321b553cd63167f4ccdf1321ceee3cd55032e35caad3b2349ffb1fc9c1ac911a  Quant-Dense-4.7M-8L-Q4_K_M-00001-of-00003.gguf
		6a498f8cbf7618668bd154aa528c55879462df6eb25692c10ec9b70a08df1427  Quant-Dense-4.7M-8L-Q4_K_M-00002-of-00003.gguf
		bdc104a1635391bcfeeaf5c3769b038090bc9a8fed4ea7d4a8062c7f04220e6f  Quant-Dense-4.7M-8L-Q4_K_M-00003-of-00003.gguf
	END
}

@test "keep-split of a file that is not split gives it a shard's name" {
	run sums_of Quant-Dense-8L quantize=Q4_K_M,keep-split
	assert_success
	assert_output --regexp '^[0-9a-f]{64}  Quant-Dense-4.7M-8L-Q4_K_M-00001-of-00001.gguf$'
}

@test "without keep-split the shards of the base are joined" {
	run sums_of Quant-Dense-8L quantize=Q4_K_M
	one=$output
	run sums_of Quant-Dense-8L quantize=Q4_K_M,split-max-tensors=30
	assert_output "$one"
}

@test "prune-layers takes a layer from encoder and decoder" {
	run sums_of sentence-t5-base quantize=Q5_0,prune-layers=1
	assert_success
	assert_output --partial 1b34a1f123cdf47171970a2995aef34f8b5f907788b8df3f932a46baaf488721
}

@test "prune-layers that leave a shard empty are refused with keep-split" {
	run sums_of Quant-Dense-8L quantize=Q4_K_M,split-max-tensors=3,keep-split,prune-layers=1
	assert_failure
	assert_output --partial "leaves shard"
}

@test "prune-layers wants numbers" {
	run sums_of Quant-Dense-8L quantize=Q4_K_M,prune-layers=one
	assert_failure
	assert_output --partial "prune-layers=one"
}

@test "tensor-type-file stands for its words, in their place among the options" {
	printf 'attn_q=q5_1  ffn_down\\.weight=IQ4_NL\nblk\\.0\\..*=q8_0\n\n' >"$BATS_TEST_TMPDIR/types"
	run sums_of Quant-Dense-8L "tensor-type=token_embd=q4_1,tensor-type-file=$BATS_TEST_TMPDIR/types,tensor-type=attn_q=q4_0,quantize=Q4_K_M"
	assert_success
	assert_output --partial d39c869e134d37778af169a0c213609439d1c9f6221e6c4c77578abe4ccd86c4
	run "$HFGGUF" ls "$SMALL" -o tensor-type-file=/nowhere/types,quantize=Q4_K_M
	assert_failure 1
	assert_output --partial "/nowhere/types: No such file"
	echo "attn_q=q9_9" >"$BATS_TEST_TMPDIR/types"
	run sums_of Quant-Dense-8L "tensor-type-file=$BATS_TEST_TMPDIR/types,quantize=Q4_K_M"
	assert_failure
	assert_output --partial "q9_9"
}

@test "override-kv decides the types, too" {
	run sums_of Quant-Dense-8L quantize=Q4_K_M,override-kv=llama.attention.head_count_kv=int:1
	assert_success
	assert_output --partial d10da3875e405840c698d4e15be39f17776065ce46742a6099c68299d965ff6d
}

@test "what llama-quantize's loader would not take is refused" {
	m=$(model Qwen-7B-Chat)
	run "$HFGGUF" ls "$m"
	assert_success
	run "$HFGGUF" ls "$m" -o quantize=Q8_0
	assert_failure 1
	assert_output --partial "qwen.attention.layer_norm_rms_epsilon"
	run "$HFGGUF" ls "$m" -o quantize=Q8_0,override-kv=qwen.attention.layer_norm_rms_epsilon=float:1e-5
	assert_success
	run "$HFGGUF" ls "$SMALL" -o quantize=Q8_0,override-kv=llama.expert_count=int:8
	assert_failure 1
	assert_output --partial "expert_"
}
