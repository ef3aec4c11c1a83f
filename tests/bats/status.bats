# What a mount tells about itself: .hfgguf/ and extended attributes.
load common

setup_file() { make_models; }
setup() { make_mount_point; }
teardown() { unmount_all; }

@test ".hfgguf is there by name and listed nowhere" {
	"$MOUNT" "$SMALL" "$MNT"
	assert_dir_exist "$MNT/.hfgguf"
	assert_equal "$(ls -A "$MNT" | grep -c hfgguf$)" 0
	assert_equal "$(find "$MNT" -name .hfgguf | wc -l)" 0
}

@test ".hfgguf holds plan, stats and log" {
	"$MOUNT" "$SMALL" "$MNT"
	run ls -A "$MNT/.hfgguf"
	assert_line plan.json
	assert_line stats
	assert_line log
	assert_line "$(basename "$(only_file "$MNT")").plan.json"
}

@test "plan.json is the plan, with its true size" {
	"$MOUNT" "$SMALL" "$MNT"
	cmp "$MNT/.hfgguf/plan.json" <("$HFGGUF" plan --json "$SMALL")
	assert_equal "$(stat -c %s "$MNT/.hfgguf/plan.json")" "$("$HFGGUF" plan --json "$SMALL" | wc -c)"
	cmp "$MNT/.hfgguf/$(basename "$(only_file "$MNT")").plan.json" "$MNT/.hfgguf/plan.json"
}

@test "each of several files has its plan, plan.json has all" {
	command -v jq >/dev/null || skip "no jq"
	"$MOUNT" "$SMALL" "$MNT" -o type=F16:Q8_0
	assert_equal "$(jq length "$MNT/.hfgguf/plan.json")" 2
	for f in "$MNT"/*.gguf; do
		cmp "$MNT/.hfgguf/$(basename "$f").plan.json" \
			<("$HFGGUF" plan --json "$SMALL" "$(basename "$f")" -o type=F16:Q8_0)
	done
}

@test "stats change while mounted" {
	"$MOUNT" "$LARGE" "$MNT"
	a=$(cat "$MNT/.hfgguf/stats")
	cat "$(only_file "$MNT")" >/dev/null
	b=$(cat "$MNT/.hfgguf/stats")
	[[ $a && $a != "$b" ]]
	run "$HFGGUF" stats "$MNT"
	assert_success
	assert_line --regexp '^[a-z_0-9.]+ +[0-9]+'
}

@test "no name in .hfgguf that is not known" {
	"$MOUNT" "$SMALL" "$MNT"
	assert_not_exist "$MNT/.hfgguf/nothing"
	assert_not_exist "$MNT/.hfgguf/.plan.json"
	assert_not_exist "$MNT/.hfgguf/x.plan.json"
}

@test "extended attributes describe a file" {
	command -v getfattr >/dev/null || skip "no getfattr"
	"$MOUNT" "$SMALL" "$MNT" -o outtype=q8_0
	run getfattr -d --absolute-names "$(only_file "$MNT")"
	assert_success
	assert_line 'user.hfgguf.arch="llama"'
	assert_line --regexp '^user.hfgguf.type='
	assert_line --regexp '^user.hfgguf.options="outtype=q8_0"'
	run getfattr -n user.hfgguf.nothing "$(only_file "$MNT")"
	assert_failure
	assert_output --partial "No such attribute"
}
