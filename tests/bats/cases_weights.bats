# What people who do this job run into, where it is about weights that are quantized already, or stacked. Sums are those of
# the files that the reference converter makes of the same folders, or of the dequantized ones where it refuses them.
load common

setup_file() {
	export TINY=Tiny-Llama-2L-Chat
}
teardown() { unmount_all; }

# quantized NAME [STATEMENTS...]: a model of tests/schemes/spec.py, changed by Python statements, at $DIR.
quantized() {
	local name=$1
	shift
	python3 "$ROOT/tests/schemes/spec.py" "$name" >"$BATS_TEST_TMPDIR/quantized.json"
	python3 "$ROOT/tests/tools/spec.py" "$BATS_TEST_TMPDIR/quantized.json" "$@" >"$BATS_TEST_TMPDIR/spec.json"
	rm -rf "$BATS_TEST_TMPDIR/models"
	DIR=$("$MKMODEL" --copy "$BATS_TEST_TMPDIR/spec.json" "$BATS_TEST_TMPDIR/models")
}

# as_reference NAME: every sum of the table, which has some.
as_reference() {
	local rows type sum
	rows=$(awk -F'\t' -v n="$1" '$1 == n { print $3, $5 }' "$ROOT/tests/data/schemes.tsv")
	assert [ -n "$rows" ]
	while read -r type sum; do
		is_sum "$sum" "outtype=$type"
	done <<<"$rows"
}

# cost OUTTYPE TENSOR: the most source bytes that a read of 4 KiB of the tensor takes.
cost() {
	local at size
	# the text file is the first of those with a projector
	read -r at size < <("$HFGGUF" plan "$DIR" --json -o "outtype=$1" | jq -r --arg name "$2" \
		'if type == "array" then .[0] else . end | .tensors[] | select(.name == $name) | "\(.offset) \(.size)"')
	"$(tool readcost)" "$DIR" "outtype=$1,threads=1" "$at" "$size" 50
}

@test "c11: weights of bitsandbytes: nf4, fp4, nested or not, and int8" {
	for name in bnb-nf4 bnb-nf4-nested bnb-fp4 bnb-fp4-nested bnb-int8 bnb-nf4-moe; do
		quantized $name
		as_reference $name
	done
}

@test "c11: packed weights without their description are refused by name" {
	quantized bnb-nf4-nested 'del w["model.layers.0.mlp.up_proj.weight.quant_state.bitsandbytes__nf4"]'
	refused outtype=f16 model.layers.0.mlp.up_proj.weight quant_state
}

@test "c11: int8 weights in a layout of the GPU's are refused by name" {
	quantized bnb-int8 'w["model.layers.1.mlp.up_proj.weight_format"][2] = ["c", 2]'
	refused outtype=f16 model.layers.1.mlp.up_proj layout
}

@test "c11: a method nobody here knows is refused by name" {
	quantized bnb-int8 'c["quantization_config"]["quant_method"] = "hqq"'
	refused outtype=f16 config.json hqq
}

@test "c12: FP8 blocks of 128 in a matrix of 130 x 130, E5M2 in odd blocks" {
	for name in fp8-130 fp8-odd; do
		quantized $name
		as_reference $name
	done
}

@test "c12: one FP8 scale a tensor, of shape [1] and []" {
	quantized fp8-scalar
	as_reference fp8-scalar
}

@test "c13: scales of activations are left out and listed" {
	for name in fp8-scalar modelopt; do
		quantized $name
		as_reference $name
		run "$HFGGUF" plan "$DIR"
		assert_output --partial "scales of activations are not used"
		assert_line --regexp '^  model.layers.0.mlp.up_proj.(input|activation)_scale$'
		"$HFGGUF" plan "$DIR" --json | jq -e '.unused | index("model.layers.0.self_attn.k_proj.activation_scale",
			"model.layers.0.self_attn.k_proj.k_scale") | numbers' >/dev/null
	done
}

@test "c13: scales of a cache and of inputs beside any kind of weights are left out" {
	quantized packed4-sym 'w["model.layers.0.self_attn.k_proj.k_scale"] = ["BF16", [1], ["c", 1.0]]' \
		'w["model.layers.1.self_attn.q_proj.input_scale"] = ["F32", [1], ["c", 1.0]]'
	as_reference packed4-sym
	"$HFGGUF" plan "$DIR" --json | jq -e '.unused == ["model.layers.0.self_attn.k_proj.k_scale",
		"model.layers.1.self_attn.q_proj.input_scale"]' >/dev/null
}

@test "c21: NaN, infinities and subnormals among scales of any scheme: no abort, counted, the same in plain C" {
	for name in packed4-asym gptq4-asym awq int8-groups fp8 bnb-nf4 mxfp4; do
		quantized $name '
for k, v in w.items():
    if re.search("(scale|scales|scale_inv|absmax)$", k) and v[0] != "U8":
        n = 1
        for d in v[1]: n *= d
        v[0], v[2] = "F32", ["v", [float(x) for x in ([float("nan"), float("inf"), 1e-40, -0.0, 3e38, -65504.0, 1e-7] * n)[:n]]]'
		for type in f32 f16 bf16 q8_0 native; do
			want=$(sum_of "outtype=$type")
			assert_equal "$(HFGGUF_CPU=c sum_of "outtype=$type")" "$want"
		done
		run "$HFGGUF" check "$DIR" -o outtype=f16
		[[ $name == mxfp4 ]] || assert_output --regexp '[0-9] NaN, [0-9]+ infinite, [0-9]+ overflow the type'
	done
}

@test "c23: 4 KiB of experts that lie in several shards" {
	variant Mixtral-8x7B-Instruct-v0.1 'w = {k: [v[0], [2048 if x == c["intermediate_size"] else x for x in v[1]], v[2]]
		if ".experts." in k else v for k, v in w.items()}; c["intermediate_size"] = 2048'
	(($(cost q8_0 blk.0.ffn_down_exps.weight) < 1 << 20))
}

@test "c23: 4 KiB of experts that are stacked, fused and transposed" {
	variant Llama-4-Scout-17B-16E-Instruct 't = c["text_config"]
for k, v in w.items():
    if ".experts." in k: v[1] = [16, 64, 8192] if "gate_up" in k else [16, 4096, 64]
    if ".router." in k: v[1] = [16, 64]
t["num_local_experts"], t["intermediate_size"] = 16, 4096
w.update({k: [v[0], [4096 if x == 64 and i != ("down" in k) else x for i, x in enumerate(v[1])], v[2]]
    for k, v in w.items() if "shared_expert" in k})'
	for name in down gate up; do
		(($(cost bf16 blk.0.ffn_${name}_exps.weight) < 1200 << 10))
	done
}
