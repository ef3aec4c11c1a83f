# What people who do this job run into: a test begins with the row it stands for. Sums are those of the files that the
# reference converter makes of the same folders.
load common

setup_file() {
	export TINY=Tiny-Llama-2L-Chat
}
teardown() { unmount_all; }

# The value of a key in the plan, and whether a tensor is there.
key_of() { "$HFGGUF" plan "$DIR" -o "${2:-outtype=f16}" | awk -v k="$1" '$1 == k { $1 = $2 = ""; print substr($0, 3) }'; }
has_tensor() { "$HFGGUF" plan "$DIR" -o outtype=f16 | grep -q "^  $1 "; }

# edit FILE STATEMENTS...: changes a JSON file j.
edit() {
	python3 - "$@" <<-'END'
		import json, sys
		path, *statements = sys.argv[1:]
		scope = {"j": json.load(open(path))}
		for statement in statements:
		    exec(statement, scope)
		json.dump(scope["j"], open(path, "w"))
	END
}

lfs_pointer() {
	printf 'version https://git-lfs.github.com/spec/v1\noid sha256:%064d\nsize 499723\n' 0 >"$1"
}

@test "c01 c02 c06: the mount helper refuses what the library refuses" {
	variant $TINY
	rm "$DIR/model-00002-of-00002.safetensors"
	refused outtype=f16 "model-00002-of-00002.safetensors" "model.layers.1" "download"
	variant $TINY
	st "$DIR/model-00002-of-00002.safetensors" 'h["stray.weight"] = h.pop("model.norm.weight")'
	refused outtype=f16 "model.norm.weight" "stray.weight"
	rm -r "${DIR:?}"/*
	refused outtype=f16 "config.json"
}

@test "c03: consolidated weights beside a set with an index change nothing" {
	variant $TINY
	cp "$DIR/model-00001-of-00002.safetensors" "$DIR/consolidated.safetensors"
	is_sum 1c2d2fc90e370041cec09a223b9ba5c81059b73454508370a230549d77963e57
}

@test "c04: a shard that lacks its last byte is refused with both sizes" {
	variant $TINY
	file=$DIR/model-00002-of-00002.safetensors
	size=$(stat -c %s "$file")
	truncate -s -1 "$file"
	refused outtype=f16 "model-00002-of-00002.safetensors" "$((size - 1))"
}

@test "c05: a Git LFS pointer in place of any file is refused by name" {
	for file in config.json tokenizer.model tokenizer_config.json model-00001-of-00002.safetensors; do
		variant $TINY
		lfs_pointer "$DIR/$file"
		refused outtype=f16 "$file: a Git LFS pointer" "git lfs pull"
	done
	variant Qwen3-Embedding-0.6B
	for file in tokenizer.json modules.json; do
		mv "$DIR/$file" "$DIR/kept"
		lfs_pointer "$DIR/$file"
		refused outtype=f16 "$file: a Git LFS pointer"
		assert_equal "$(grep -o "$DIR" <<<"$output" | wc -l)" "$(grep -c "$DIR" <<<"$output")"
		mv "$DIR/kept" "$DIR/$file"
	done
}

@test "c07: architectures missing, null or empty: model_type tells" {
	for change in 'del c["architectures"]' 'c["architectures"] = None' 'c["architectures"] = []'; do
		variant $TINY "$change"
		is_sum 1c2d2fc90e370041cec09a223b9ba5c81059b73454508370a230549d77963e57
	done
}

@test "c07: no architectures and a model_type that does not tell: refused, arch= helps" {
	variant $TINY 'del c["architectures"], c["model_type"]'
	refused outtype=f16 "config.json" "architectures" "arch="
	is_sum b118b86c8fb5f96039a15e12d37b286061ae72c0d91eb217bcf59a7bf60786e5 outtype=f16,arch=LlamaForCausalLM
	variant $TINY 'del c["architectures"]; c["model_type"] = "no_such_vl"'
	refused outtype=f16 "no_such_vl" "arch="
}

@test "c07: an architecture nobody knows is refused with the nearest of its name, or of its model_type" {
	for pair in JanusFlow:Janus Gemma5:Gemma4 Deepseek_V5:DeepseekV4 qwen4:Qwen3 Phi5:Phi3; do
		variant $TINY "c['architectures'] = ['${pair%:*}ForCausalLM']; c['model_type'] = 'new'"
		refused outtype=f16 "${pair%:*}ForCausalLM" "nearest: ${pair#*:}For"
	done
	variant $TINY 'c["architectures"] = ["MyOwnForCausalLM"]; c["model_type"] = "starcoder2"'
	refused outtype=f16 MyOwnForCausalLM "nearest: Starcoder2ForCausalLM"
	variant $TINY 'c["architectures"] = ["Xyzzy"]; c["model_type"] = "new"'
	refused outtype=f16 Xyzzy "hfgguf archs"
}

@test "c07: an architecture nobody knows is refused, arch= overrides it" {
	variant $TINY 'c["architectures"] = ["NoSuchForCausalLM"]'
	refused outtype=f16 "NoSuchForCausalLM" "arch="
	is_sum 1c2d2fc90e370041cec09a223b9ba5c81059b73454508370a230549d77963e57 outtype=f16,arch=LlamaForCausalLM
	refused arch=Nothing "Nothing"
}

@test "c08: nested configurations count, over the top level" {
	for key in text_config llm_config language_config; do
		variant $TINY "c['$key'] = {k: c.pop(k) for k in list(c) if re.match('.*(_size|num_|rms_|rope_|max_)', k)}" \
			'c["model_type"] = "unknown_vl"; c["rms_norm_eps"] = 1e-3'
		is_sum b118b86c8fb5f96039a15e12d37b286061ae72c0d91eb217bcf59a7bf60786e5
	done
}

@test "c08: the architecture of a nested configuration comes first" {
	variant $TINY 't = dict(c); c.clear()' \
		'c.update(architectures=["SomeVLForConditionalGeneration"], model_type="unknown_vl", text_config=t)'
	is_sum b118b86c8fb5f96039a15e12d37b286061ae72c0d91eb217bcf59a7bf60786e5
}

@test "c09: no lm_head, tied or not: no output.weight is made up" {
	for tied in True False; do
		variant $TINY "del w['lm_head.weight']; c['tie_word_embeddings'] = $tied"
		is_sum ecc015ac63cb0580a7076011134083659a21184099ecd6d502825ae2e4e269a9
		! has_tensor output.weight
	done
}

@test "c09: lm_head stored although tied is kept" {
	variant $TINY 'c["tie_word_embeddings"] = True'
	is_sum 1c2d2fc90e370041cec09a223b9ba5c81059b73454508370a230549d77963e57
	has_tensor output.weight
}

@test "c10: names without model., with language_model., with model.language_model." {
	variant $TINY 'w = {re.sub("^model[.]", "", k): v for k, v in w.items()}'
	is_sum ea74b2c7e4749df98028bcd19045df043d6eea56dc595c39d4f90692230f0479
	variant $TINY 'w = {"language_model." + k: v for k, v in w.items()}'
	is_sum 2a79471e844a2869afe60e986045212d0921b8743735e54e9f27d8365516f5ff
	variant $TINY 'del w["lm_head.weight"]' \
		'w = {"model.language_model." + k.removeprefix("model."): v for k, v in w.items()}'
	is_sum 0fc178c14d0da94a208013e450590f795d856c76d8e687030810e2c8ce1bb942
}

@test "c10: a tensor no rule knows is refused by name, ignore-unknown leaves it out" {
	for name in model.layers.0.self_attn.strange.weight model.layers.2.mlp.up_proj.weight; do
		variant $TINY "w['$name'] = ['BF16', [96, 64], ['n', -4]]"
		refused outtype=f16 "$name" "ignore-unknown"
		is_sum 1c2d2fc90e370041cec09a223b9ba5c81059b73454508370a230549d77963e57 outtype=f16,ignore-unknown
	done
}

@test "c14: an embedding and vocab_size larger than the vocabulary" {
	variant $TINY 'w["model.embed_tokens.weight"][1] = w["lm_head.weight"][1] = [576, 64]'
	is_sum 147445accf5f6bda00f3926e300a521c5a285bc7229f6d9668d39e9b4b73dca1
	variant $TINY 'w["model.embed_tokens.weight"][1] = w["lm_head.weight"][1] = [576, 64]; c["vocab_size"] = 576'
	is_sum 1f29a95f53306be90d81c296758e963f061b0a13cfbb6127395944cc51929fcc
}

@test "c14: a sentencepiece vocabulary larger than vocab_size" {
	variant $TINY 'w["model.embed_tokens.weight"][1] = w["lm_head.weight"][1] = [400, 64]; c["vocab_size"] = 400'
	is_sum 83e50f80334127c8ffc9cbd961ad119475465f8e1c9e4a0035527e3a05c7d771
}

@test "c14: token ids beyond vocab_size are refused with both numbers" {
	variant Llama-3.2-1B-Instruct 'c["vocab_size"] = 384'
	refused outtype=f16 128255 384 vocab_size
}

# A Llama with the tokenizer of phi-2: byte-level BPE.
bpe() {
	variant $TINY 'del f["tokenizer.model"]; c["vocab_size"] = 51200' \
		'for x in ("tokenizer.json", "tokenizer_config.json"): f[x] = {"copy": "phi-2/" + x}' "$@"
}

@test "c15: an unknown hash with known rules takes their name and says so" {
	bpe
	assert_equal "$(key_of tokenizer.ggml.pre)" '"phi-2"'
	edit "$DIR/tokenizer.json" 'del j["model"]["merges"][20000:]'
	assert_equal "$(key_of tokenizer.ggml.pre)" '"gpt-2"'
	run "$HFGGUF" plan "$DIR"
	assert_output --regexp 'note: pre-tokenizer "gpt-2" because .* unknown'
}

@test "c15: rules nobody knows are refused, pre= names some" {
	bpe
	edit "$DIR/tokenizer.json" 'j["pre_tokenizer"] = {"type": "Sequence", "pretokenizers": [
		{"type": "Split", "pattern": {"Regex": "[^x]+|x"}, "behavior": "Isolated", "invert": False},
		{"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": False}]}'
	refused outtype=f16 "pre=" "hash" 'closest known rules are those of "' "another pre_tokenizer"
	assert_equal "$(key_of tokenizer.ggml.pre outtype=f16,pre=gpt-2)" '"gpt-2"'
}

@test "c15: tokens --pre says that a hash is unknown, and which known rules are closest" {
	bpe
	edit "$DIR/tokenizer.json" 'del j["model"]["merges"][20000:]'
	run --separate-stderr "$HFGGUF" tokens --pre "$DIR"
	assert_success
	assert_output --regexp '^[0-9a-f]{64}  gpt-2$'
	[[ $stderr == *rules*unknown* ]]
	edit "$DIR/tokenizer.json" 'j["normalizer"] = {"type": "NFKC"}'
	run --separate-stderr "$HFGGUF" tokens --pre "$DIR"
	assert_success
	assert_line --index 0 --regexp '^[0-9a-f]{64}  unknown$'
	assert_line --index 1 --regexp 'closest known rules are those of "olmo", with another normalizer: .*pre=NAME$'
}

@test "c15: a pattern that cannot be compiled and an unknown kind are refused" {
	bpe
	edit "$DIR/tokenizer.json" 'j["pre_tokenizer"] = {"type": "Split", "pattern": {"Regex": "(?<=[a"},
		"behavior": "Isolated", "invert": False}'
	refused outtype=f16 "pattern" "(?<=[a"
	edit "$DIR/tokenizer.json" 'j["pre_tokenizer"] = {"type": "Magic"}'
	refused outtype=f16 "Magic"
}

@test "c16: the vocabulary's file is missing: named" {
	variant $TINY 'del f["tokenizer.model"]'
	refused outtype=f16 tokenizer.json tokenizer.model
	variant gemma-2b-it 'del f["tokenizer.model"]'
	refused outtype=f16 tokenizer.model missing
	variant gpt2 'f.pop("tokenizer.json"); f["tokenizer.model"] = {"copy": "spm-tiny/tokenizer.model"}'
	refused outtype=f16 tokenizer.json
}

@test "c16: tokenizer.model where the class also takes tokenizer.json" {
	variant Qwen2.5-0.5B-Instruct 'del f["tokenizer.json"]; f["tokenizer.model"] = {"copy": "spm-tiny/tokenizer.model"}'
	is_sum d8c5cdfd60bb08c416789a6a025d5ee618b4b8b2aad9449e7ced633e21c4df9e
	variant $TINY 'f["tokenizer.json"] = {"copy": "llama-bpe/tokenizer.json"}'
	is_sum 368e108be3c965bfda9834f8f95b7add6229f5b5a649c481b621c507cc9b809a
}

# tokenizer_config.json with these other keys.
config_with() { echo "f['tokenizer_config.json'] = {'json': {'tokenizer_class': 'LlamaTokenizer', 'bos_token': '<s>', $1}}"; }
no_template() { config_with "'eos_token': '</s>'"; }

@test "c16: a Jina model whose pre-tokenizer is Whitespace names it so, whatever its hash" {
	variant jina-embeddings-v2-small-en 'del f["vocab.txt"], f["special_tokens_map.json"]' 'c["vocab_size"] = 9' \
		'w["embeddings.word_embeddings.weight"][1][0] = 9' \
		'f["tokenizer_config.json"] = {"json": dict(tokenizer_class="RobertaTokenizer", bos_token="<s>", eos_token="</s>")}' \
		'special = [dict(id=i, content=t, single_word=False, lstrip=False, rstrip=False, normalized=False, special=True)
			for i, t in enumerate(("<s>", "</s>", "<unk>"))]' \
		'f["tokenizer.json"] = {"json": dict(version="1.0", added_tokens=special, pre_tokenizer=dict(type="Whitespace"),
			model=dict(type="BPE", unk_token="<unk>", merges=[["a", "b"]],
			vocab=dict(zip(("<s>", "</s>", "<unk>", "a", "b", "ab", "<x>"), range(7)))))}'
	is_sum 76caf7f04299eba6c1835a3a86acbf16604c78d9f7e7de5cca90cd4da5ca0abd
	assert_equal "$(key_of tokenizer.ggml.pre)" '"whitespace"'
}

@test "c17: a template in tokenizer_config.json comes before all files" {
	for file in 'f["chat_template.jinja"] = "JINJA"' 'f["additional_chat_templates/tool_use.jinja"] = "TOOL"' \
		'f["chat_template.json"] = {"json": {"chat_template": "FROM JSON"}}'; do
		variant $TINY "$file"
		is_sum 1c2d2fc90e370041cec09a223b9ba5c81059b73454508370a230549d77963e57
	done
}

@test "c17: lists of named templates in tokenizer_config.json" {
	variant $TINY "$(config_with "'chat_template': [dict(name='default', template='D'), dict(name='tool_use', template='T')]")"
	is_sum 39bb762e48eeb5977b0680f3580752043cdf30469083d5254c4afbfad259eb77
	variant $TINY "$(config_with "'chat_template': [dict(name='default', template='D')]")"
	is_sum 54fb8522a12a35220fb55dde080972fe1d22a67b1a635799b6fe4128b92e2ef1
}

# file_template SUM STATEMENTS...: without a template in tokenizer_config.json.
file_template() {
	local sum=$1
	shift
	variant $TINY "$(no_template)" "$@"
	is_sum "$sum"
}

@test "c17: without one: chat_template.jinja, then chat_template.json" {
	json='f["chat_template.json"] = {"json": {"chat_template": "FROM JSON"}}'
	file_template 69b1f0d34af01bfa6208b13376602778d0d3a3012d4414dea8a28aabf83de2ee "$json" 'f["chat_template.jinja"] = "JINJA"'
	file_template e634d3d118fc5e4d27ec350f76a7af114d0ea9cae1e211adb3230b7f354a03fd "$json"
	file_template 164e7619848e986f98a19e1562f87c60a0e1928176f921a390e8cf8cea20f426 'f["chat_template.json"] = {"json":
		{"chat_template": [dict(name="default", template="JD"), dict(name="x y", template="XY")]}}'
	file_template 122852e4dd758949b041b44b42d0991da2dd18429355731961465c5d4a9286fc 'f["chat_template.jinja"] = ""'
}

@test "c17: additional_chat_templates go with chat_template.jinja only" {
	tool='f["additional_chat_templates/tool_use.jinja"] = "TOOL"'
	file_template 24d75b37bda0dd86943bf87fab9929e580ad7bf5ee6bc416b4dcc05f7d3b9df6 "$tool" 'f["chat_template.jinja"] = "JINJA"'
	file_template 122852e4dd758949b041b44b42d0991da2dd18429355731961465c5d4a9286fc "$tool"
}

@test "c17: a template of 1 MiB, and one with CRLF, control and wide characters" {
	file_template bf63b50d486cf7be79ec4141dfdcc97d5e785c1f57ad2922a1a4ca029c6809f4 \
		'f["chat_template.jinja"] = "x{{ y }}\n" * 131072'
	file_template 37f80776e097c5a87b76963dcb6faea60b9ba6faadccc9f18f57b8f2d635d742 \
		'f["chat_template.jinja"] = "line\r\nnext\r\n\ttab\u0001 é 🦙\r"'
	file_template 5131ff897362f415c342a2bee4a2b2e2d4611b5acc2243255c1a776706db2856 \
		'f["chat_template.jinja"] = "JINJA {{ bos_token }}\n"'
}

@test "c18: rows that do not fit the type's blocks: the plan names the type taken and the bits per weight" {
	variant Quant-Odd-Rows
	run "$HFGGUF" plan "$DIR" -o quantize=Q4_K_M
	assert_success
	assert_line --regexp '^note: .*: rows of [0-9]+ do not fit Q4_K blocks, Q5_0 instead$'
	assert_line --regexp ', [0-9]+\.[0-9]{2} bits per weight$'
	for type in Q2_K Q3_K_S Q4_K_S Q5_K_S Q6_K IQ3_XXS IQ3_S IQ4_XS; do
		run "$HFGGUF" plan "$DIR" -o quantize=$type
		assert_success
		assert_line --regexp '^note: .* do not fit'
	done
}

@test "c18: the plan's bits per weight are those of its tensors" {
	command -v jq >/dev/null || skip "no jq"
	variant Quant-Odd-Rows
	run jq -r '.bits_per_weight as $b | [.tensors[].size] as $s | [.tensors[].shape | reduce .[] as $d (1; . * $d)] as $n
		| ($s | add) * 8 / ($n | add) - $b | fabs < 0.001' < <("$HFGGUF" plan --json "$DIR" -o quantize=Q4_K_M)
	assert_output true
}

@test "c19: rows of 33 and 14 with q8_0 become F16" {
	for n in 33 14; do
		variant $TINY "w = {k: [v[0], [$n if x == 96 else x for x in v[1]], v[2]] for k, v in w.items()}" \
			"c['intermediate_size'] = $n"
		run "$HFGGUF" plan "$DIR" -o outtype=q8_0
		assert_line --regexp "blk.1.ffn_down.weight +F16 +\[$n, 64\]"
		assert_line --partial "rows of $n do not fit Q8_0 blocks, F16 instead"
		case $n in
		33) is_sum 0321ca90482a545b9c88564d18ca009902dc3ff34009098a802d5568bd8e0868 outtype=q8_0 ;;
		14) is_sum a31edee001bec72c39a661288170f89f9c1764ae930a8eac3b958da4ddba44d8 outtype=q8_0 ;;
		esac
	done
}

@test "c20: types that need an importance matrix are refused without one" {
	variant Quant-Imatrix-8L
	for type in IQ2_XXS IQ2_XS IQ2_S IQ1_S IQ1_M Q2_K_S; do
		refused quantize=$type "blk.0." "imatrix="
	done
}

@test "c20: an importance matrix that lacks a tensor is refused where the type needs it" {
	variant Quant-Imatrix-8L
	matrix=imatrix=$FIXTURES/extra/quant-imatrix-0.gguf
	"$HFGGUF" ls "$DIR" -o "quantize=IQ2_XXS,$matrix"
	refused "quantize=IQ2_XXS,$matrix,exclude-weights=blk.3.ffn_up" blk.3.ffn_up.weight
	"$HFGGUF" ls "$DIR" -o "quantize=Q4_K_M,$matrix,exclude-weights=blk.3.ffn_up"
}

@test "c20: the old form of an importance matrix; wrong files are refused by name" {
	variant Quant-Imatrix-8L
	python3 - "$BATS_TEST_TMPDIR/old.dat" <<-'END'
		import struct, sys
		name, values = b"blk.0.attn_q.weight", [float(i + 1) for i in range(256)]
		open(sys.argv[1], "wb").write(struct.pack("<ii", 1, len(name)) + name + struct.pack("<ii256f", 3, 256, *values)
		                              + struct.pack("<ii", 7, 4) + b"data")
	END
	run "$HFGGUF" plan "$DIR" -o "quantize=Q4_K_M,imatrix=$BATS_TEST_TMPDIR/old.dat"
	assert_success
	assert_line --regexp 'quantize.imatrix.entries_count +u32 1$'
	assert_line --regexp 'quantize.imatrix.chunks_count +u32 7$'
	refused "quantize=IQ2_XXS,imatrix=$BATS_TEST_TMPDIR/old.dat" "blk.0.attn_k.weight"
	printf '\377\377\377\177' >"$BATS_TEST_TMPDIR/bad.dat"
	for file in "$BATS_TEST_TMPDIR/bad.dat" "$BATS_TEST_TMPDIR/none" "$DIR/config.json" "$DIR" /dev/zero; do
		refused "quantize=Q4_K_M,imatrix=$file" "imatrix=$file"
	done
}

# odd_values TYPE: NaN, infinities, subnormals, the largest values and rows of zero, NaN and inf in the embedding.
odd_values() {
	variant $TINY "w = {k: ['$1', *v[1:]] for k, v in w.items()}"
	st "$DIR/model-00001-of-00002.safetensors" "import struct; t = '$1'" '
values = {"BF16": [0x7fc0, 0x7f80, 0xff80, 1, 0x8001, 0x4780, 0x477f, 0xc780, 0x7f7f, 0xffff, 0x3300],
          "F16": [0x7e00, 0x7c00, 0xfc00, 1, 0x8001, 0x7bff, 0xfbff, 0x03ff],
          "F32": [0x7fc00000, 0x7f800000, 0xff800000, 1, 0x80000001, 0x477fe000, 0x477ff000, 0xc7800000, 0x7f7fffff,
                  0x33000000, 0x33000001, 0x38800000]}[t]
n = 4 if t == "F32" else 2
def put(at, v, count=1): d[at:at + n * count] = v.to_bytes(n, "little") * count
start = h["model.embed_tokens.weight"]["data_offsets"][0]
for i, v in enumerate(values): put(start + 65 * i * n, v)
for i, v in enumerate([0, 1, values[0], values[1]]): put(start + (40 + i) * 64 * n, v, 64)'
}

@test "c21: NaN, infinities, subnormals and large values in every source type: the reference's bytes" {
	while read -r source type sum; do
		[[ ${made:-} == "$source" ]] || odd_values "$source"
		made=$source
		is_sum "$sum" "outtype=$type"
	done <<-END
		BF16 f32 9ccdff4370e0d8ea64cee87b877fb004d01c971fb3c2ab09218308521950c9e7
		BF16 f16 4670a666102c1700d222325cf656a4d822d4e96c836e57a9abd7205196cb31e2
		BF16 bf16 b0c486825e56bcdb16951bff09035c4985d547484989877784d309f970bf200e
		BF16 q8_0 7a72bab97005821d55ac2acf8d2fe576d010112d8f3dafb112c7ba9b809390a5
		F16 f32 c5a4c0171e33f98597e86fbefb3ac9641702e876ed064e14f41287f915741591
		F16 f16 f3be51f1551608fa2a770866191d756f8bedd82ae4aca5e66d3b513e619ecef5
		F16 bf16 06e8ae19b3ce76b1437e97687b98c054f978c3f19d3f5149f7789d5420b2ef83
		F16 q8_0 b98a8ee9d322ad08c185e48b662ffc6c4605e1a44ccaa41bd4878d5a74ef4327
		F32 f32 9d3de5900544c2345871015bdf9095b20933030521a240ed23974da6cb2d27b2
		F32 f16 7f03c412f9002f372c82240e1c5f36fd2c757fc85329dc682fe61a8fbd99e807
		F32 bf16 ddb57b7c3eddfc884ed9a412b872d6c5dff232968169a0da76b1c90933ff6709
		F32 q8_0 78382936133296108ec8373cb26709aab3e41f6cb723cd6c7dff3d2648ed9633
	END
}

@test "c21: every other type reads them without an end" {
	odd_values F32
	run "$HFGGUF" sum "$DIR" -o type=TQ1_0:TQ2_0:Q4_0:Q4_1:Q5_0:Q5_1:Q8_0:Q2_K:Q3_K_M:Q4_K_M:Q5_K_M:Q6_K:IQ3_XXS:IQ3_S:IQ4_NL:IQ4_XS
	assert_success
}

@test "c21: check counts such values" {
	odd_values F32
	run "$HFGGUF" check "$DIR" -o outtype=f16
	assert_output --regexp '[Nn]a[Nn]'
	assert_output --regexp '[Ii]nf'
}

# rope VALUE SUM: the tiny Llama with a longer context and this rope_scaling.
rope() {
	variant $TINY 'c["max_position_embeddings"] = 8192' "c.update($1)"
	is_sum "$2"
}

@test "c22: yarn, under both names of its type" {
	for key in rope_type type; do
		rope "rope_scaling={'$key': 'yarn', 'factor': 4.0, 'original_max_position_embeddings': 2048}" \
			f5dcc8663918fd95509ac612b86a2bcc9c5f9f8a85c90ac1c11cdbfb671b2638
	done
}

@test "c22: rope_parameters in place of rope_scaling, flat and by kind of layer" {
	y="'rope_type': 'yarn', 'factor': 4.0, 'original_max_position_embeddings': 2048, 'rope_theta': 20000.0"
	rope "rope_parameters={$y}" c4b50d6902ffdfd72c4fa78dcfb4f9a9fc4841e1d0bff167675b18099d6dfbd8
	rope "rope_parameters={'full_attention': {$y}, 'sliding_attention': {'rope_type': 'default', 'rope_theta': 10000.0}}" \
		be401c39d80103304e4eae783354dd0d6d26f40713eabfe8437c2a1d85d0decd
	rope "rope_parameters={'rope_type': 'llama3', 'factor': 8.0, 'low_freq_factor': 1.0, 'high_freq_factor': 4.0,
		'original_max_position_embeddings': 2048, 'rope_theta': 5e5}" \
		17773031dec524d11e3158d016c24cbda3b030e939f9e1064851528754dcbd2e
}

@test "c22: llama3, whole and with the factors left to their defaults" {
	l="'rope_type': 'llama3', 'factor': 8.0"
	rope "rope_scaling={$l, 'low_freq_factor': 1.0, 'high_freq_factor': 4.0, 'original_max_position_embeddings': 2048}" \
		2b168e49568840e0fafdc4aa5c6ad9168c475bf63dad1b17e50fe11f62490275
	rope "rope_scaling={$l}" 7b56315ff91c1184bf1384f6d90c583f5a79fe19599667fecf96e1d9f0191ddb
	rope "rope_scaling={$l, 'low_freq_factor': 4.0, 'high_freq_factor': 4.0, 'original_max_position_embeddings': 2048}" \
		79a19a7339ed4a7918479aa0f32e9fc0ce258f97715c3a06f0f57e419ae7e3bb
}

@test "c22: linear, dynamic and an unknown kind" {
	rope "rope_scaling={'rope_type': 'linear', 'factor': 2.0}" \
		f59e7012c93856a6beee66d358ddc80b750b568d1b4fcc8dec569cfa11eabdc9
	for kind in dynamic nonsense; do
		rope "rope_scaling={'rope_type': '$kind', 'factor': 2.0}" \
			2b313b83f6acc443d3760d7ca4674fcbdd40768a76200cfa47b317cfe733ac8f
	done
}

@test "c22: longrope under both names of its type, and without its own original context" {
	for change in '' 's = c["rope_scaling"]; s["rope_type"] = s.pop("type")' 'del c["original_max_position_embeddings"]'; do
		variant Phi-4-mini-instruct "$change"
		is_sum 23d9b70eb586718ab8e5130ff36ce7bce09b1f6a0cacdab2036b3165d95720ba
	done
}

@test "c22: half-given scaling is refused, naming the key" {
	while IFS='|' read -r value key; do
		variant $TINY 'c["max_position_embeddings"] = 8192' "c['rope_scaling'] = {$value}"
		refused outtype=f16 config.json "\"$key\""
	done <<-END
		'rope_type': 'yarn', 'factor': 4.0|original_max_position_embeddings
		'rope_type': 'yarn', 'original_max_position_embeddings': 2048|factor
		'rope_type': 'yarn', 'original_max_position_embeddings': 2048, 'factor': '4'|factor
		'rope_type': 'linear'|factor
	END
	variant Phi-4-mini-instruct 'del c["rope_scaling"]["short_factor"]'
	refused outtype=f16 config.json short_factor
	variant Phi-4-mini-instruct 'c["rope_scaling"]["short_factor"].pop()'
	refused outtype=f16 config.json short_factor
	variant Phi-4-mini-instruct 'del c["rope_scaling"]["type"]'
	refused outtype=f16 config.json type
}

@test "c23: 4 KiB of stacked experts read little from the experts' shards" {
	[[ -r /proc/self/io ]] || skip "no /proc/PID/io"
	make_mount_point
	variant Mixtral-8x7B-Instruct-v0.1 'w = {k: [v[0], [2048 if x == c["intermediate_size"] else x for x in v[1]], v[2]]
		if ".experts." in k else v for k, v in w.items()}; c["intermediate_size"] = 2048'
	"$MOUNT" "$DIR" "$MNT" -o outtype=q8_0
	f=$(only_file "$MNT")
	taken() { awk '$1 == "rchar:" { print $2 }' "/proc/$(server)/io"; }
	before=$(taken)
	at=$(($(stat -c %s "$f") / 8192))
	cmp <(dd if="$f" bs=4096 skip=$at count=1 iflag=direct status=none) \
		<("$HFGGUF" cat "$DIR" -o outtype=q8_0 | dd bs=4096 skip=$at count=1 iflag=fullblock status=none)
	(($(taken) - before < 4 << 20))
}

@test "c25: the plan of a model with a vision part says what is not in the file" {
	variant SmolVLM2-2.2B-Instruct
	run "$HFGGUF" plan "$DIR"
	assert_success
	assert_line --regexp '(text only|mmproj)'
}

@test "c29: reads at offsets no file has, and of nothing" {
	make_mount_point
	variant $TINY
	"$MOUNT" "$DIR" "$MNT" -o outtype=f16
	run python3 - "$(only_file "$MNT")" <<-'END'
		import os, sys
		fd = os.open(sys.argv[1], os.O_RDONLY)
		size = os.fstat(fd).st_size
		assert os.pread(fd, 0, 5) == b""
		assert os.pread(fd, 1, size) == b"" and os.pread(fd, 9, size - 1) == os.pread(fd, 1, size - 1) != b""
		assert os.pread(fd, 4096, (1 << 63) - 8192) == b""
		assert os.pread(fd, size + 100, 0)[100:] == os.pread(fd, size, 100)
		assert os.lseek(fd, -4, os.SEEK_END) == size - 4 and len(os.read(fd, 100)) == 4
	END
	assert_success
}

@test "c30: a model whose folder and files cannot be written, as another user" {
	((EUID == 0)) || skip "not root"
	command -v setpriv >/dev/null || skip "no setpriv"
	variant $TINY
	chmod a+rx "$BATS_RUN_TMPDIR" "$BATS_FILE_TMPDIR" "$BATS_TEST_TMPDIR" "$BATS_TEST_TMPDIR/.." "$DIR/.."
	chmod -R a+rX,a-w "$DIR"
	run setpriv --reuid=65534 --regid=65534 --clear-groups "$HFGGUF" sum "$DIR" -o outtype=f16
	assert_success
	assert_output --partial 1c2d2fc90e370041cec09a223b9ba5c81059b73454508370a230549d77963e57
}

@test "c30: a file that may not be read is refused by name" {
	((EUID == 0)) || skip "not root"
	command -v setpriv >/dev/null || skip "no setpriv"
	variant $TINY
	chmod a+rx "$BATS_RUN_TMPDIR" "$BATS_FILE_TMPDIR" "$BATS_TEST_TMPDIR" "$BATS_TEST_TMPDIR/.." "$DIR/.." "$DIR"
	for file in config.json tokenizer.model model-00002-of-00002.safetensors; do
		chmod 000 "$DIR/$file"
		run setpriv --reuid=65534 --regid=65534 --clear-groups "$HFGGUF" ls "$DIR"
		assert_failure 1
		assert_output --partial "$file: cannot open: Permission denied"
		chmod 644 "$DIR/$file"
	done
}

@test "c31: a path in a configuration that leaves the folder is refused by name" {
	for path in ../x /etc 1_Pooling/../../x; do
		variant Qwen3-Embedding-0.6B "f['modules.json']['json'][1]['path'] = '$path'"
		refused outtype=f16 "$path/config.json" "leads out of"
	done
}

@test "c31: files that are symbolic links out of the folder are followed, as the hub cache lays them" {
	variant $TINY
	mkdir "$BATS_TEST_TMPDIR/blobs"
	for f in "$DIR"/*; do
		mv "$f" "$BATS_TEST_TMPDIR/blobs/"
		ln -s "../../blobs/$(basename "$f")" "$f"
	done
	is_sum 1c2d2fc90e370041cec09a223b9ba5c81059b73454508370a230549d77963e57
}

@test "a folder, a device or a pipe in place of a file is refused at once" {
	variant $TINY
	rm "$DIR/tokenizer_config.json"
	mkfifo "$DIR/tokenizer_config.json"
	refused outtype=f16 "tokenizer_config.json: not a regular file"
	ln -sf /dev/zero "$DIR/tokenizer_config.json"
	refused outtype=f16 "tokenizer_config.json: not a regular file"
}

@test "counts that no model has are refused by name" {
	variant $TINY 'c["num_key_value_heads"] = 0'
	refused outtype=f16 "4 heads, 0 of them for keys"
	variant $TINY 'c["num_attention_heads"] = 0'
	refused outtype=f16 "0 heads"
	for n in -2 1000000000; do
		variant $TINY "c['num_hidden_layers'] = $n"
		refused outtype=f16 "config.json: $n layers"
	done
}

@test "outfile= that is no name for a file is refused" {
	variant $TINY
	for name in . .. .hfgguf a/b /x ''; do
		refused "outfile=$name" "outfile=$name:"
	done
	refused "outfile=x,type=F16:Q8_0" "outfile=x" "{ftype}"
	assert_equal "$("$HFGGUF" ls "$DIR" -o 'outfile={ftype},type=F16:Q8_0' | wc -l)" 2
}

@test "a name too long for a file system is refused, outfile= helps" {
	variant $TINY
	printf -- '---\nbasename: %s\n---\n' "$(printf 'x%.0s' {1..250})" >"$DIR/README.md"
	refused outtype=f16 "file name of 2" "outfile="
	assert_equal "$("$HFGGUF" ls "$DIR" -o outfile=short.gguf | awk '{ print $2 }')" short.gguf
}

@test "quantizing a big-endian file is refused, as llama-quantize does" {
	variant $TINY
	refused bigendian,quantize=Q4_K_M bigendian
	refused bigendian,type=F16:Q4_K_M bigendian
}

@test "plan --json is JSON where a key holds infinity" {
	variant gemma-3n-text-0.2B
	run python3 -c '
import json, sys
def bad(name): raise ValueError(name)
json.load(sys.stdin, parse_constant=bad)' < <("$HFGGUF" plan --json "$DIR")
	assert_success
}

@test "a suggestion for a mistyped option is like it" {
	variant $TINY
	refused x=1 '"x" is unknown'
	refute_output --partial "did you mean"
	refused outypt=f16 'did you mean "outtype"'
}
