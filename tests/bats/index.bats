# index=DIR: what makes the next mount of a model instant.
load common

setup_file() { make_models; }

setup() {
	INDEX=$BATS_TEST_TMPDIR/index
	mkdir "$INDEX"
	MODEL=$BATS_TEST_TMPDIR/model
	cp -rL "$SMALL" "$MODEL"
	chmod -R u+w "$MODEL"
	settle
}

teardown() {
	chmod -R u+w "$BATS_TEST_TMPDIR"
	unmount_all
}

# What was changed in the last two seconds is not indexed: a second change might not be told from it.
settle() { find "$MODEL" -type f -exec touch -d "${1:-1 hour ago}" {} +; }

entries() { find "$INDEX" -type f | wc -l; }

# indexed N OPTIONS: made, and again from the index, the sums are those without one, and there are N entries.
indexed() {
	local i
	for i in new known; do
		run "$HFGGUF" sum "$MODEL" -o "$2,index=$INDEX"
		assert_success
		assert_output "$("$HFGGUF" sum "$MODEL" -o "$2")"
	done
	assert_equal "$(entries)" "$1"
}

@test "files, times, plan and bytes are the same with an index, new and known" {
	for i in new known; do
		for command in ls "plan --json" plan sum; do
			run "$HFGGUF" $command "$MODEL" -o "type=F16:Q8_0,index=$INDEX"
			assert_success
			assert_output "$("$HFGGUF" $command "$MODEL" -o type=F16:Q8_0)"
		done
		assert_equal "$(entries)" 1
	done
}

@test "a mount from an index: inodes, times, attributes and bytes" {
	make_mount_point
	mkdir "$BATS_TEST_TMPDIR/other"
	"$HFGGUF" ls "$MODEL" -o "type=F16:Q8_0,index=$INDEX"
	"$MOUNT" "$MODEL" "$MNT" -o "type=F16:Q8_0,index=$INDEX"
	"$MOUNT" "$MODEL" "$BATS_TEST_TMPDIR/other" -o type=F16:Q8_0
	assert_equal "$(cd "$MNT" && stat -c '%i %s %y %n' . -- *)" "$(cd "$BATS_TEST_TMPDIR/other" && stat -c '%i %s %y %n' . -- *)"
	assert_equal "$(getfattr -d "$MNT"/* 2>/dev/null | grep -v options | sed 's|^# file: .*/||')" \
		"$(getfattr -d "$BATS_TEST_TMPDIR/other"/* 2>/dev/null | grep -v options | sed 's|^# file: .*/||')"
	for f in "$MNT"/*; do
		cmp "$f" "$BATS_TEST_TMPDIR/other/$(basename "$f")"
	done
	cmp "$MNT/.hfgguf/plan.json" "$BATS_TEST_TMPDIR/other/.hfgguf/plan.json"
}

@test "a mount from an index, of a model and an option's file that are named from here" {
	make_mount_point
	cd "$(dirname "$MODEL")"
	printf '{"general.name": "Named"}' >m.json
	touch -d '1 hour ago' m.json
	"$HFGGUF" ls "$(basename "$MODEL")" -o "metadata=m.json,index=$INDEX"
	"$MOUNT" "$(basename "$MODEL")" "$MNT" -o "metadata=m.json,index=$INDEX"
	cmp "$MNT"/*.gguf <("$HFGGUF" cat "$(basename "$MODEL")" -o metadata=m.json)
}

@test "the header is served from the index, weights open later" {
	command -v strace >/dev/null || skip "no strace"
	[[ ! ${SANITIZED:-} ]] || skip "leaks are not looked for under strace"
	"$HFGGUF" ls "$MODEL" -o "index=$INDEX"
	run strace -f -qq -e trace=openat -o "$BATS_TEST_TMPDIR/trace" "$HFGGUF" ls "$MODEL" -o "index=$INDEX"
	assert_success
	run grep -c safetensors "$BATS_TEST_TMPDIR/trace"
	assert_output 0
}

@test "a model that changed is planned anew" {
	before=$("$HFGGUF" sum "$MODEL" -o "index=$INDEX")
	st "$(find "$MODEL" -name '*.safetensors' | head -n 1)" "d[100:200] = bytes(100)"
	settle "30 minutes ago"
	run "$HFGGUF" sum "$MODEL" -o "index=$INDEX"
	assert_success
	assert_output "$("$HFGGUF" sum "$MODEL")"
	[[ $output != "$before" ]]
	assert_equal "$(entries)" 2
}

@test "a model that has just changed is not indexed" {
	touch "$MODEL/config.json"
	"$HFGGUF" ls "$MODEL" -o "index=$INDEX"
	assert_equal "$(entries)" 0
}

@test "other options have entries of their own" {
	"$HFGGUF" ls "$MODEL" -o "index=$INDEX"
	"$HFGGUF" ls "$MODEL" -o "index=$INDEX,outtype=q8_0"
	assert_equal "$(entries)" 2
}

@test "a file that an option names is a part of the model: changed, replaced, behind a link" {
	meta=$BATS_TEST_TMPDIR/meta.json
	echo '{"general.description": "one"}' >"$meta"
	touch -d "1 hour ago" "$meta"
	indexed 1 "metadata=$meta"
	echo '{"general.description": "two"}' >"$meta"
	touch -d "30 minutes ago" "$meta"
	indexed 2 "metadata=$meta"
	ln -s meta.json "$BATS_TEST_TMPDIR/link.json"
	indexed 3 "metadata=$BATS_TEST_TMPDIR/link.json"
	echo '{"general.description": "six"}' >"$BATS_TEST_TMPDIR/other.json"
	touch -d "30 minutes ago" "$BATS_TEST_TMPDIR/other.json"
	ln -sfn other.json "$BATS_TEST_TMPDIR/link.json"
	indexed 4 "metadata=$BATS_TEST_TMPDIR/link.json"
}

@test "the base of an adapter is a part of it, also when the hub cache moves on" {
	MODEL=$(own_copy Llama-3-8B-Instruct-lora-r16)
	export HF_HUB_CACHE=$BATS_TEST_TMPDIR/hub
	repo=$HF_HUB_CACHE/models--acme--other-base
	mkdir -p "$repo/refs" "$repo/snapshots"
	cp -r "$MODEL/base" "$repo/snapshots/01"
	cp -r "$MODEL/base" "$repo/snapshots/23"
	sed -i 's/"num_attention_heads": [0-9]*/"num_attention_heads": 2/' "$repo/snapshots/23/config.json"
	find "$repo" "$MODEL" -type f -exec touch -d "1 hour ago" {} +
	printf 01 >"$repo/refs/main"
	indexed 1 base-model-id=acme/other-base
	before=$output
	printf 23 >"$repo/refs/main"
	indexed 2 base-model-id=acme/other-base
	[[ $output != "$before" ]]
}

@test "a folder under another name is another model" {
	cd "$MODEL"
	indexed_here() { MODEL=. indexed "$@"; }
	indexed_here 1 outtype=f16
	mv "$MODEL" "$MODEL-9B"
	indexed_here 2 outtype=f16
}

@test "many processes make the same entry at once" {
	want=$("$HFGGUF" sum "$MODEL")
	for i in 1 2 3 4 5 6; do
		"$HFGGUF" sum "$MODEL" -o "index=$INDEX" >"$BATS_TEST_TMPDIR/sum.$i" 3>&- &
	done
	wait
	for i in 1 2 3 4 5 6; do
		assert_equal "$(cat "$BATS_TEST_TMPDIR/sum.$i")" "$want"
	done
	assert_equal "$(entries)" 1
}

@test "unmounting while the plan behind an index is still made" {
	make_mount_point
	"$HFGGUF" ls "$MODEL" -o "index=$INDEX"
	for i in 1 2 3 4 5 6 7 8; do
		"$MOUNT" "$MODEL" "$MNT" -o "index=$INDEX"
		pid=$(server)
		((i % 2)) || head -c 1000000 "$MNT"/*.gguf >/dev/null
		umount "$MNT"
		eventually 20 gone "$pid"
	done
}

@test "a damaged index is made anew" {
	"$HFGGUF" ls "$MODEL" -o "index=$INDEX"
	entry=$(echo "$INDEX"/*)
	cp "$entry" "$BATS_TEST_TMPDIR/good"
	size=$(stat -c %s "$entry")
	for damage in "truncate -s $((size / 2)) '$entry'" "truncate -s 0 '$entry'" "truncate -s +1 '$entry'" \
		"printf 'X' | dd of='$entry' bs=1 seek=0 conv=notrunc" "printf 'X' | dd of='$entry' bs=1 seek=19 conv=notrunc" \
		"printf 'XX' | dd of='$entry' bs=1 seek=$((size / 2)) conv=notrunc"; do
		bash -c "$damage" 2>/dev/null
		run "$HFGGUF" sum "$MODEL" -o "index=$INDEX"
		assert_success
		assert_output "$("$HFGGUF" sum "$MODEL")"
		cmp "$entry" "$BATS_TEST_TMPDIR/good"
	done
}

@test "c26: an index folder that is missing: goes on without it, one warning" {
	run --separate-stderr "$HFGGUF" ls "$MODEL" -o "index=$INDEX/none"
	assert_success
	assert_output "$("$HFGGUF" ls "$MODEL")"
	assert_equal "${#stderr_lines[@]}" 1
	[[ $stderr == *"index=$INDEX/none"* ]]
}

@test "c26: an index folder that is read-only: goes on without it, one warning" {
	((EUID == 0)) || chmod 555 "$INDEX"
	if ((EUID == 0)); then
		mount -t tmpfs -o ro tmpfs "$INDEX" || skip "cannot mount a tmpfs"
	fi
	run --separate-stderr "$HFGGUF" ls "$MODEL" -o "index=$INDEX"
	assert_success
	assert_equal "${#stderr_lines[@]}" 1
}

@test "c26: an index folder that is full: goes on without it, one warning, nothing half is left" {
	((EUID == 0)) && mount -t tmpfs -o size=8k tmpfs "$INDEX" || skip "cannot mount a tmpfs"
	dd if=/dev/zero of="$INDEX/full" bs=4096 count=2 status=none
	run --separate-stderr "$HFGGUF" ls "$MODEL" -o "index=$INDEX"
	assert_success
	assert_equal "${#stderr_lines[@]}" 1
	assert_equal "$(entries)" 1
	make_mount_point
	run "$MOUNT" "$MODEL" "$MNT" -o "index=$INDEX"
	assert_success
	assert_output --partial "index="
	cmp "$(only_file "$MNT")" <("$HFGGUF" cat "$MODEL")
	run cat "$MNT/.hfgguf/log"
	assert_output --partial "index="
}

@test "an index folder in the model's is refused" {
	mkdir "$MODEL/sub"
	for dir in "$MODEL" "$MODEL/sub" "$MODEL/../model/sub"; do
		run "$HFGGUF" ls "$MODEL" -o "index=$dir"
		assert_failure 1
		assert_output --partial "index="
	done
	assert_equal "$(find "$MODEL" -name '*index' | wc -l)" 0
}
