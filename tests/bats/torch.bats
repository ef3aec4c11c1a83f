# Models whose weights are files of torch.save.
load common

# torch_model HOW: the small model with such files instead, at $MODEL; made once.
torch_model() {
	MODEL=$BATS_FILE_TMPDIR/$1/Tiny-Llama-2L-Chat
	[[ -d $MODEL ]] || own_copy Tiny-Llama-2L-Chat "$BATS_FILE_TMPDIR/$1" >/dev/null
	[[ ! -e $MODEL/model.safetensors.index.json ]] || python3 "$ROOT/tests/tools/torch_twin.py" "$MODEL" "$1"
}

# The file of these options has the golden sum of the model's safetensors.
same_as_twin() {
	local opts
	for opts; do
		run "$HFGGUF" sum "$MODEL" -o "$opts"
		assert_success
		assert_output --partial "$(golden Tiny-Llama-2L-Chat "$opts")"
	done
}

teardown() { unmount_all; }

@test "pytorch_model.bin gives the bytes of its safetensors twin" {
	torch_model plain
	same_as_twin outtype=f32 outtype=f16 outtype=bf16 outtype=q8_0
}

@test "transposed, strided and sliced views of one storage give the same bytes" {
	torch_model views
	same_as_twin outtype=f32 outtype=f16 outtype=bf16 outtype=q8_0
}

@test "tensors keep the order of the file, as the reference reads them" {
	torch_model reversed
	run "$HFGGUF" sum "$MODEL" -o outtype=f16
	assert_output --partial 2f61871231a8a74d586fc7e517408cc0de314714b5c9669892c8fa6b19438a22
	run "$HFGGUF" sum "$MODEL" -o outtype=q8_0
	assert_output --partial a07fead4ad36ae5b56ee5d3cddfc631794a3214963e8678051a622cae076a1df
}

@test "shards are read in the order of their names" {
	torch_model shards
	run "$HFGGUF" sum "$MODEL" -o outtype=f16
	assert_output --partial 0d384b9c197fd0e143ded606f0a2f51e7d555bda99bec47b2bdfa4d21ec46a69
	run "$HFGGUF" sum "$MODEL" -o outtype=q8_0
	assert_output --partial 8fda54bb6af0118f7c047b18104dabb7cbc79a91c885f1788a3a89ea5adc9263
}

@test "stored tensors of such a file are copied, not computed" {
	torch_model shards
	run "$HFGGUF" plan "$MODEL" -o outtype=bf16
	assert_line --regexp 'blk.0.ffn_up.weight .* copy of 1 region: .*up_proj'
}

@test "a mount of pytorch_model.bin reads the same" {
	torch_model views
	make_mount_point
	"$MOUNT" "$MODEL" "$MNT" -o outtype=q8_0
	[[ $(sha256sum <"$(only_file "$MNT")") == "$(golden Tiny-Llama-2L-Chat outtype=q8_0) "* ]]
}

@test "a quantizer's type of it has the bytes of the twin's" {
	torch_model plain
	SAFE=$(model Tiny-Llama-2L-Chat)
	cmp <("$HFGGUF" cat "$MODEL" -o quantize=Q4_K_M) <("$HFGGUF" cat "$SAFE" -o quantize=Q4_K_M)
}

@test "a dict around the dict of tensors is refused with its name" {
	torch_model nested
	run "$HFGGUF" ls "$MODEL"
	assert_failure 1
	assert_output "hfgguf: pytorch_model.bin: 'model' is a dict where a tensor is expected: save the model's state_dict() alone"
}

@test "a pickle that calls anything is refused before it is mounted" {
	torch_model plain
	cp -r "$MODEL" "$BATS_TEST_TMPDIR/bad"
	cd "$BATS_TEST_TMPDIR/bad"
	python3 - <<-'PY'
	import os, pickle, zipfile
	class Evil:
	    def __reduce__(self):
	        return os.system, ("touch called",)
	with zipfile.ZipFile("pytorch_model.bin", "w") as z:
	    z.writestr("pytorch_model/data.pkl", pickle.dumps({"w": Evil()}, protocol=2))
	PY
	make_mount_point
	run "$MOUNT" "$PWD" "$MNT"
	assert_failure 32
	assert_output --partial "pytorch_model.bin: its pickle names posix.system"
	assert_not_exists called
	not_mounted "$MNT"
}

@test "a missing shard of the index is named" {
	torch_model shards
	cp -r "$MODEL" "$BATS_TEST_TMPDIR/cut"
	rm "$BATS_TEST_TMPDIR/cut/pytorch_model-00002-of-00003.bin"
	run "$HFGGUF" ls "$BATS_TEST_TMPDIR/cut"
	assert_failure 1
	assert_output --partial "pytorch_model.bin.index.json names files that are not there: pytorch_model-00002-of-00003.bin"
}
