# Projectors: the vision or audio side of a model as a file beside the text's.
load common

setup() { variant InternVL3-1B-hf; }
teardown() { unmount_all; }

# Two runs of the converter for one model: the names.
TEXT_FILE=InternVL3-95K-1b-hf-BF16.gguf
PROJECTOR=mmproj-InternVL3-1b-hf-BF16.gguf

names() { "$HFGGUF" ls "$DIR" -o "${1:-outtype=auto}" | awk '{ print $2 }' | paste -sd' '; }

@test "a model with a vision part shows its text file and its projector side by side" {
	assert_equal "$(names)" "$TEXT_FILE $PROJECTOR"
	make_mount_point
	"$MOUNT" "$DIR" "$MNT"
	assert_exists "$MNT/$TEXT_FILE"
	cmp "$MNT/$PROJECTOR" <("$HFGGUF" cat "$DIR" -o mmproj)
}

@test "with mmproj there is only the projector" {
	assert_equal "$(names mmproj)" "$PROJECTOR"
}

@test "a text file's bytes do not change with its projector" {
	local with
	with=$("$HFGGUF" cat "$DIR" "$TEXT_FILE" | sha256sum)
	rm "$DIR/preprocessor_config.json"
	assert_equal "$(names)" "$TEXT_FILE"
	assert_equal "$("$HFGGUF" cat "$DIR" | sha256sum)" "$with"
}

@test "a projector that cannot be made leaves the text file, and the plan says why" {
	rm "$DIR/preprocessor_config.json"
	run "$HFGGUF" plan "$DIR"
	assert_success
	assert_line --regexp 'text only: .*no projector: preprocessor_config.json: "image_mean" must be there'
	refused mmproj image_mean preprocessor_config.json
}

@test "a command that takes one file takes the text file" {
	run "$HFGGUF" cp "$DIR" "$BATS_TEST_TMPDIR/copy.gguf"
	assert_success
	cmp "$BATS_TEST_TMPDIR/copy.gguf" <("$HFGGUF" cat "$DIR" "$TEXT_FILE")
	cmp <("$HFGGUF" cat "$DIR") "$BATS_TEST_TMPDIR/copy.gguf"
}

@test "types that come to the same projector show it once" {
	assert_equal "$(names type=Q4_K_M:Q6_K)" \
		"InternVL3-95K-1b-hf-Q4_K_M.gguf $PROJECTOR InternVL3-95K-1b-hf-Q6_K.gguf"
	assert_equal "$(names type=Q8_0:Q4_K_M)" "InternVL3-95K-1b-hf-Q8_0.gguf mmproj-InternVL3-1b-hf-Q8_0.gguf \
InternVL3-95K-1b-hf-Q4_K_M.gguf $PROJECTOR"
}

@test "a file name, vocab-only and other parts of a model are for one file" {
	assert_equal "$(names outfile=a.gguf)" a.gguf
	assert_equal "$(names vocab-only)" "InternVL3-hf-vocab.gguf"
	assert_equal "$(names mmproj,outfile=p-{ftype}.gguf)" p-bf16.gguf
	refused mmproj,vocab-only exclude
}

@test "a quantized projector is what llama-quantize makes of it" {
	assert_equal "$(sum_of mmproj,outtype=f16,quantize=Q4_K_M | cut -c1-16)" c983577798a9fd76
	assert_equal "$(sum_of mmproj,outtype=f32,quantize=Q8_0 | cut -c1-16)" b747a3c24ad705f1
	assert_equal "$(names mmproj,quantize=Q4_K_M)" mmproj-InternVL3-1b-hf-Q4_K_M.gguf
}

@test "where llama-quantize aborts at a projector, the plan says what is done" {
	run "$HFGGUF" plan "$DIR" -o mmproj,quantize=Q2_K
	assert_success
	assert_line --partial "llama-quantize aborts"
	run "$HFGGUF" plan "$DIR" -o mmproj,quantize=Q6_K
	refute_line --partial "llama-quantize aborts"
}

@test "a class without a projector is refused with mmproj" {
	DIR=$(model Tiny-Llama-2L-Chat "$BATS_TEST_TMPDIR/models")
	refused mmproj LlamaForCausalLM "no vision or audio side"
	variant Tiny-Llama-2L-Chat 'c["architectures"] = ["NoSuchModel"]'
	refused mmproj NoSuchModel
}

@test "sizes of an encoder that no file can have are refused" {
	for change in 'c["vision_config"]["num_hidden_layers"] = -1' 'c["vision_config"]["num_hidden_layers"] = 70000' \
		'c["vision_config"]["image_size"] = [-5]' 'c["vision_config"]["image_size"] = "448"' \
		'c["text_config"]["hidden_size"] = 0' 'c["vision_config"] = 7' 'c["downsample_ratio"] = 0'; do
		variant InternVL3-1B-hf "$change"
		run "$HFGGUF" ls "$DIR" -o mmproj
		assert_failure 1
		assert_equal "${#lines[@]}" 1
	done
}
