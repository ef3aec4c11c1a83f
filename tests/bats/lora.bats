# LoRA adapters: a file of their own, made by the class of their base model.
load common

setup_file() {
	ADAPTER=$(model Llama-3-8B-Instruct-lora-r16 "$BATS_FILE_TMPDIR/models")
	export ADAPTER
}

teardown() { unmount_all; }

# own_adapter: a copy that may be changed, at $OWN.
own_adapter() {
	OWN=$BATS_TEST_TMPDIR/$(basename "$ADAPTER")
	cp -r "$ADAPTER" "$OWN"
}

# hub REPO FOLDER: puts a folder into a hub cache of the test's own as this repository.
hub() {
	export HF_HUB_CACHE=$BATS_TEST_TMPDIR/hub
	local repo=$HF_HUB_CACHE/models--${1//\//--}
	mkdir -p "$repo/refs" "$repo/snapshots"
	printf 0123 >"$repo/refs/main"
	cp -r "$2" "$repo/snapshots/0123"
}

@test "an adapter's file is f32 unless another type is asked for" {
	run "$HFGGUF" ls "$ADAPTER" -o base="$ADAPTER/base"
	assert_success
	assert_output --partial "Llama-3-8B-Instruct-r16-F32-LoRA.gguf"
	run "$HFGGUF" ls "$ADAPTER" -o base="$ADAPTER/base",type=F16:Q8_0
	assert_output --partial "Llama-3-8B-Instruct-r16-F16-LoRA.gguf"
	assert_output --partial "Llama-3-8B-Instruct-r16-Q8_0-LoRA.gguf"
}

@test "adapter_model.bin gives the bytes of adapter_model.safetensors" {
	own_adapter
	python3 "$ROOT/tests/tools/torch_twin.py" "$OWN" adapter
	assert_not_exists "$OWN/adapter_model.safetensors"
	for t in f32 f16 q8_0; do
		cmp <("$HFGGUF" cat "$OWN" -o base="$OWN/base",outtype=$t) \
			<("$HFGGUF" cat "$ADAPTER" -o base="$ADAPTER/base",outtype=$t)
	done
}

@test "auto takes the type that the adapter has" {
	own_adapter
	st "$OWN/adapter_model.safetensors" 'for t in h.values(): t["dtype"] = t.get("dtype", "").replace("BF16", "F16")'
	run "$HFGGUF" ls "$OWN" -o base="$OWN/base",outtype=auto
	assert_output --partial "-F16-LoRA.gguf"
}

@test "the base's weights do not matter" {
	base=$(own_copy Llama-3.2-1B-Instruct)
	own_adapter
	cp "$OWN/base/config.json" "$base/config.json"
	cmp <("$HFGGUF" cat "$ADAPTER" -o base="$base") <("$HFGGUF" cat "$ADAPTER" -o base="$ADAPTER/base")
}

@test "without base= the base that the adapter names is looked up in the hub cache" {
	hub acme/base-model "$ADAPTER/base"
	cmp <("$HFGGUF" cat "$ADAPTER") <("$HFGGUF" cat "$ADAPTER" -o base="$ADAPTER/base")
}

@test "an adapter whose base is nowhere is refused with the base's name" {
	export HF_HUB_CACHE=$BATS_TEST_TMPDIR/none
	run "$HFGGUF" ls "$ADAPTER"
	assert_failure 1
	assert_output --partial "a LoRA adapter, not a model"
	assert_output --partial "acme/base-model, which is not in the hub cache"
	assert_output --partial "-o base=DIR"
}

@test "base-model-id= looks in the hub cache and names the model" {
	hub acme/Other-8B "$ADAPTER/base"
	run "$HFGGUF" plan "$ADAPTER" -o base-model-id=acme/Other-8B
	assert_success
	assert_output --regexp 'general.name +string "acme/Other-8B"'
}

@test "a mount tells of the adapter, and reads as cat does" {
	make_mount_point
	"$MOUNT" "$ADAPTER" "$MNT" -o base="$ADAPTER/base",outtype=q8_0
	[[ $(findmnt -no SOURCE "$MNT") == "$ADAPTER" ]]
	cmp "$(only_file "$MNT")" <("$HFGGUF" cat "$ADAPTER" -o base="$ADAPTER/base",outtype=q8_0)
}

@test "the invocation string becomes tokens of the base, without the first" {
	base=$(own_copy Llama-3.2-1B-Instruct)
	own_adapter
	python3 - "$OWN/adapter_config.json" <<-'PY'
	import json, sys
	c = json.load(open(sys.argv[1]))
	c["invocation_string"] = "Hello, world: now!"
	json.dump(c, open(sys.argv[1], "w"))
	PY
	ids=$(printf 'Hello, world: now!' | "$HFGGUF" tokens "$base" | sed -E 's/^\[[0-9]+, /[/')
	run "$HFGGUF" plan "$OWN" --json -o base="$base"
	assert_output --partial "\"key\": \"adapter.alora.invocation_tokens\", \"type\": \"array\", \"item\": \"u32\""
	assert_output --partial "\"value\": $ids}"
}

@test "a matrix that was trained whole is refused by its name" {
	own_adapter
	st "$OWN/adapter_model.safetensors" \
		'h["base_model.model.lm_head.weight"] = h.pop(next(n for n in h if "k_proj.lora_A" in n))'
	run "$HFGGUF" ls "$OWN" -o base="$OWN/base"
	assert_failure 1
	assert_output --partial "base_model.model.lm_head.weight is neither lora_A nor lora_B"
}

@test "a pair that lacks a half is refused by its name" {
	own_adapter
	st "$OWN/adapter_model.safetensors" \
		'n = next(n for n in h if "k_proj.lora_A" in n)' 'h[n.replace("k_proj", "x_proj")] = h.pop(n)'
	run "$HFGGUF" ls "$OWN" -o base="$OWN/base"
	assert_failure 1
	assert_output --partial "self_attn.x_proj.weight there is only lora_A"
}

@test "factors of different ranks are refused" {
	own_adapter
	st "$OWN/adapter_model.safetensors" \
		't = h[next(n for n in h if "q_proj.lora_A" in n)]' 't["shape"] = [t["shape"][0] // 2, t["shape"][1] * 2]'
	run "$HFGGUF" ls "$OWN" -o base="$OWN/base"
	assert_failure 1
	assert_output --partial "do not have the same rank"
}

@test "what is for models only is refused" {
	for o in quantize=Q4_K_M vocab-only mmproj outtype=tq1_0 outtype=native split-max-tensors=2 fuse-qkv; do
		run "$HFGGUF" ls "$ADAPTER" -o base="$ADAPTER/base",$o
		assert_failure 1
	done
	SMALL=$(model Tiny-Llama-2L-Chat)
	run "$HFGGUF" ls "$SMALL" -o base="$SMALL"
	assert_failure 1
	assert_output --partial "is no LoRA adapter"
}

@test "an adapter without lora_alpha is refused" {
	own_adapter
	sed -i 's/lora_alpha/lora_beta/' "$OWN/adapter_config.json"
	run "$HFGGUF" ls "$OWN" -o base="$OWN/base"
	assert_failure 1
	assert_output --partial '"lora_alpha" must be there'
}
