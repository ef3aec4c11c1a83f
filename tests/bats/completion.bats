# What bash offers behind the cursor.
load common

setup_file() { make_models; }

setup() {
	ln -s "$HFGGUF" "$BATS_TEST_TMPDIR/hfgguf"
	PATH=$BATS_TEST_TMPDIR:$PATH
	cd "$BATS_TEST_TMPDIR"
	compopt() { :; } # bash has it while completing only
	. "$ROOT/contrib/completion/hfgguf.bash"
}

# offered LINE: what may follow, one a line.
offered() {
	COMP_LINE=$1 COMP_POINT=${#1} COMP_WORDBREAKS=$' \t\n"\'><=;|&(:' COMPREPLY=()
	_hfgguf
	printf '%s\n' "${COMPREPLY[@]}"
}

@test "commands" {
	run offered "hfgguf c"
	assert_line cat
	assert_line check
	refute_line ls
}

@test "options and their values, from the program" {
	run offered "hfgguf ls model -o split-max-s"
	assert_output split-max-size=
	run offered "hfgguf ls model -o outtype=bf"
	assert_output bf16
	run offered "hfgguf ls model -o quantize=Q4_K_"
	assert_output $'Q4_K_S\nQ4_K_M'
	run offered "mount.hfgguf model dir -o type=F16:IQ4_N"
	assert_output IQ4_NL
	run offered "hfgguf ls model -o outtype=f16,arch=OlmoeF"
	assert_output OlmoeForCausalLM
}

@test "virtual files of a model, under the options that are given" {
	for command in cat check plan sum; do
		run offered "hfgguf $command $SMALL -o outtype=q8_0 Tiny"
		assert_output Tiny-Llama-127K-2L-Chat-Q8_0.gguf
	done
}
