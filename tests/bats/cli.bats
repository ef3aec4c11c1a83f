# The command line without a mount.
load common

setup_file() { make_models; }

@test "ls gives size and name of every file" {
	run "$HFGGUF" ls "$SMALL"
	assert_success
	assert_line --regexp '^ *[0-9]+  .+\.gguf$'
	size=$(awk '{print $1}' <<<"$output")
	assert_equal "$("$HFGGUF" cat "$SMALL" | wc -c)" "$size"
}

@test "options may stand anywhere and be repeated" {
	a=$("$HFGGUF" ls "$SMALL" -o outtype=f16,model-name=Abc)
	assert_equal "$("$HFGGUF" ls -o outtype=f16 "$SMALL" -o model-name=Abc)" "$a"
	assert_equal "$("$HFGGUF" ls -omodel-name=Abc -oouttype=f16 -- "$SMALL")" "$a"
}

@test "an empty option list is fine" {
	run "$HFGGUF" ls "$SMALL" -o ""
	assert_success
}

@test "options of mounting are ignored by other commands" {
	a=$("$HFGGUF" sum "$SMALL" -o outtype=f16)
	assert_equal "$("$HFGGUF" sum "$SMALL" -o ro,allow_other,timeout=5,outtype=f16,_netdev,x-gvfs-show)" "$a"
}

@test "an unknown option is refused by name" {
	run "$HFGGUF" ls "$SMALL" -o no-such-option=1
	assert_failure 1
	assert_output --partial no-such-option
	assert_equal "${#lines[@]}" 1
}

@test "sum is what sha256sum -c takes" {
	cd "$BATS_TEST_TMPDIR"
	"$HFGGUF" sum "$SMALL" >sums
	"$HFGGUF" cp "$SMALL" .
	run sha256sum -c sums
	assert_success
}

@test "sum gives one file when it is named" {
	name=$("$HFGGUF" ls "$SMALL" | awk '{print $2}')
	assert_equal "$("$HFGGUF" sum "$SMALL" "$name")" "$("$HFGGUF" sum "$SMALL")"
}

@test "with little memory sum gives the right sum or none" {
	[[ ! ${SANITIZED:-} ]] || skip "a sanitizer wants more address space"
	want=$("$HFGGUF" sum "$SMALL")
	for kib in 30000 45000 50000 55000 60000 65000 70000 90000; do
		if have=$(ulimit -v $kib && "$HFGGUF" sum "$SMALL" 2>/dev/null); then
			assert_equal "$have" "$want"
		fi
	done
}

@test "sum keeps the order of ls for several files" {
	assert_equal "$("$HFGGUF" sum "$LARGE" -o type=F16:Q8_0:BF16:F32 | cut -c67-)" \
		"$("$HFGGUF" ls "$LARGE" -o type=F16:Q8_0:BF16:F32 | sed 's/^ *[0-9]*  //')"
}

@test "cat into a pipe and into a file gives the bytes of sum" {
	sum=$("$HFGGUF" sum "$LARGE" | cut -d' ' -f1)
	assert_equal "$("$HFGGUF" cat "$LARGE" | sha256sum | cut -d' ' -f1)" "$sum"
	"$HFGGUF" cat "$LARGE" >"$BATS_TEST_TMPDIR/out"
	assert_equal "$(sha256sum <"$BATS_TEST_TMPDIR/out" | cut -d' ' -f1)" "$sum"
}

@test "cat to a closed pipe ends quietly" {
	run bash -c '"$0" cat "$1" | head -c 100 | wc -c' "$HFGGUF" "$LARGE"
	assert_success
	assert_output 100
}

@test "a closed stdin, stdout or stderr is left closed" {
	want=$("$HFGGUF" sum "$SMALL")
	assert_equal "$("$HFGGUF" sum "$SMALL" <&- 2>&-)" "$want"
	run bash -c '"$0" cat "$1" >&-' "$HFGGUF" "$SMALL"
	assert_failure 1
	assert_output --partial "Bad file descriptor"
}

@test "cat to a full disk fails" {
	[[ -w /dev/full ]] || skip "no /dev/full"
	run bash -c '"$0" cat "$1" >/dev/full' "$HFGGUF" "$SMALL"
	assert_failure 1
	assert_output --partial "No space left"
}

@test "a printing command to a full disk fails" {
	[[ -w /dev/full ]] || skip "no /dev/full"
	run bash -c '"$0" ls "$1" >/dev/full' "$HFGGUF" "$SMALL"
	assert_failure 1
}

@test "cat of several files wants a name" {
	run "$HFGGUF" cat "$SMALL" -o type=F16:Q8_0
	assert_failure 1
	assert_output --partial "name one"
	name=$("$HFGGUF" ls "$SMALL" -o type=F16:Q8_0 | awk 'NR == 2 {print $2}')
	run --separate-stderr "$HFGGUF" cat "$SMALL" "$name" -o type=F16:Q8_0
	assert_success
	assert_equal "$stderr" ""
}

@test "an unknown file is refused by name" {
	run "$HFGGUF" cat "$SMALL" nothing.gguf
	assert_failure 1
	assert_output --partial nothing.gguf
}

@test "plan --json is JSON, for one file and for several" {
	command -v jq >/dev/null || skip "no jq"
	run jq -e 'type == "object"' < <("$HFGGUF" plan --json "$SMALL")
	assert_success
	run jq -e 'type == "array" and length == 2' < <("$HFGGUF" plan "$SMALL" --json -o type=F16:Q8_0)
	assert_success
}

@test "plan is text for people" {
	run "$HFGGUF" plan "$SMALL"
	assert_success
	assert_output
}

@test "verify is silent about an equal file and tells what differs" {
	cd "$BATS_TEST_TMPDIR"
	"$HFGGUF" cat "$SMALL" >copy.gguf
	run "$HFGGUF" verify "$SMALL" copy.gguf
	assert_success
	assert_output ""
	printf 'x' | dd of=copy.gguf bs=1 seek=$(($(stat -c %s copy.gguf) - 40)) conv=notrunc status=none
	run "$HFGGUF" verify "$SMALL" copy.gguf
	assert_failure 1
	assert_output --partial "differs from"
}

@test "verify finds what lies between the tensors" {
	cd "$BATS_TEST_TMPDIR"
	"$HFGGUF" cat "$SMALL" -o outtype=q8_0 >copy.gguf
	printf '\2' | dd of=copy.gguf bs=1 seek=4 conv=notrunc status=none
	run "$HFGGUF" verify "$SMALL" copy.gguf -o outtype=q8_0
	assert_failure 1
	assert_output --partial "header: another version"
	"$HFGGUF" cat "$SMALL" -o vocab-only >vocab.gguf
	printf x >>vocab.gguf
	run "$HFGGUF" verify "$SMALL" vocab.gguf -o vocab-only
	assert_failure 1
	assert_output --partial "size: "
}

@test "verify reads big-endian files" {
	cd "$BATS_TEST_TMPDIR"
	"$HFGGUF" cat "$SMALL" -o bigendian >copy.gguf
	"$HFGGUF" verify "$SMALL" copy.gguf -o bigendian
	run "$HFGGUF" verify "$SMALL" copy.gguf
	assert_failure 1
	assert_output --partial "byte order: big-endian, expected little-endian"
	printf 'x' | dd of=copy.gguf bs=1 seek=$(($(stat -c %s copy.gguf) - 40)) conv=notrunc status=none
	run "$HFGGUF" verify "$SMALL" copy.gguf -o bigendian
	assert_failure 1
	assert_output --regexp "tensor .*: differs"
}

@test "a missing model is refused in one line" {
	run "$HFGGUF" ls "$BATS_TEST_TMPDIR/nothing-there"
	assert_failure 1
	assert_equal "${#lines[@]}" 1
	assert_output --regexp '^hfgguf: .*nothing-there'
}

@test "errors go to stderr, not stdout" {
	run --separate-stderr "$HFGGUF" sum "$BATS_TEST_TMPDIR"
	assert_failure 1
	assert_equal "$output" ""
	[[ $stderr == hfgguf:* ]]
}

@test "a name with a newline cannot split a message" {
	run "$HFGGUF" ls "$BATS_TEST_TMPDIR/a
b"
	assert_failure 1
	assert_equal "${#lines[@]}" 1
}

@test "help fits 80 columns and goes to stdout" {
	for bin in "$HFGGUF" "$MOUNT"; do
		run --separate-stderr "$bin" --help
		assert_success
		assert_equal "$stderr" ""
		run awk 'length > 80' <<<"$output"
		assert_output ""
	done
}

@test "help of a command" {
	run "$HFGGUF" cp --help
	assert_success
	assert_output --partial "--verify"
}

@test "wrong command lines give a usage line and exit 1" {
	for args in "" "frobnicate x" "ls" "ls a b" "ls --json $SMALL" "ls $SMALL -o" "cat --nothing $SMALL"; do
		run "$HFGGUF" $args
		assert_failure 1
		assert_output --regexp '^hfgguf: '
		assert_equal "${#lines[@]}" 1
	done
}

@test "options lists every option for completion" {
	run "$HFGGUF" options
	assert_success
	assert_line --regexp $'^outtype\t[^\t]+\t.+'
	assert_line --regexp $'^timeout\tSECONDS\t.+'
	run awk -F'\t' 'NF != 3 || $1 == "" || $3 == ""' <<<"$output"
	assert_output ""
}

@test "archs lists name, classes and module of every row, no class twice but for its projector" {
	run --separate-stderr "$HFGGUF" archs
	assert_success
	assert_line $'llama4\tLlama4ForConditionalGeneration Llama4ForCausalLM\tllama'
	run awk -F'\t' 'NF != 3 || $1 == "" || $2 == "" || $3 == "" { print }
		{ n = split($2, w, " "); for (i = 1; i <= n; i++) if (seen[$1 == "clip", w[i]]++) print w[i] }' <<<"$output"
	assert_output ""
}

@test "README lists the architectures that the program has" {
	run "$ROOT/contrib/readme.sh" --check
	assert_success
}

@test "archs, types, schemes and version print something" {
	for what in archs types schemes version; do
		run "$HFGGUF" $what
		assert_success
		assert_output
	done
}

@test "tokens prints ids as a JSON list, --pre a hash and a name" {
	run "$HFGGUF" tokens "$LARGE" <<<"Hello world"
	assert_success
	assert_output --regexp '^\[[0-9]+(, [0-9]+)*\]$'
	run "$HFGGUF" tokens --pre "$LARGE"
	assert_success
	assert_output --regexp '^[0-9a-f]+  .+$'
}

@test "stats of something that is no mount is refused" {
	run "$HFGGUF" stats "$BATS_TEST_TMPDIR"
	assert_failure 1
	assert_output --partial "not a mount"
}
