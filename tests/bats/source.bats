# The model's own files while mounted: never written, and noticed when they change.
load common

setup_file() { make_models; }
setup() { make_mount_point; }
teardown() { unmount_all; }

# A copy of the model with files of its own, at $OWN.
own() {
	OWN=$BATS_TEST_TMPDIR/own
	cp -rL "$LARGE" "$OWN"
	chmod -R u+w "$OWN"
	WEIGHTS=$(ls "$OWN"/*.safetensors | head -n 1)
}

@test "a truncated source gives EIO and a line in the log" {
	own
	"$MOUNT" "$OWN" "$MNT" -o outtype=f16
	truncate -s 5000 "$WEIGHTS"
	run bash -c 'cat "$0" >/dev/null' "$(only_file "$MNT")"
	assert_failure
	assert_output --partial "Input/output error"
	run cat "$MNT/.hfgguf/log"
	assert_output --partial "$(basename "$WEIGHTS")"
}

@test "many failed reads are said a few times only" {
	own
	"$HFGGUF" mount -f "$OWN" "$MNT" -o outtype=f16 2>"$BATS_TEST_TMPDIR/said" 3>&- &
	pid=$!
	eventually 20 is_mounted "$MNT"
	truncate -s 5000 "$WEIGHTS"
	f=$(only_file "$MNT")
	last=$(($(stat -c %s "$f") / 4096 - 1)) # the weights are at the end
	for i in {1..60}; do
		dd if="$f" bs=4096 skip=$((last - i % 8)) count=1 of=/dev/null iflag=direct status=none 2>/dev/null || true
	done
	umount "$MNT"
	wait $pid
	lines=$(wc -l <"$BATS_TEST_TMPDIR/said")
	((lines >= 1 && lines < 20))
}

@test "a rewritten source is never mixed in" {
	own
	"$HFGGUF" cat "$OWN" -o outtype=f16 >"$BATS_TEST_TMPDIR/before"
	"$MOUNT" "$OWN" "$MNT" -o outtype=f16
	sleep 0.05
	dd if=/dev/urandom of="$WEIGHTS" bs=4096 seek=100 count=1000 conv=notrunc status=none
	run bash -c 'cat "$0" >"$1"' "$(only_file "$MNT")" "$BATS_TEST_TMPDIR/after"
	((status)) || cmp "$BATS_TEST_TMPDIR/before" "$BATS_TEST_TMPDIR/after"
	cmp -n "$(stat -c %s "$BATS_TEST_TMPDIR/after")" "$BATS_TEST_TMPDIR/before" "$BATS_TEST_TMPDIR/after"
}

@test "a source replaced by rename: the old bytes stay" {
	own
	"$HFGGUF" cat "$OWN" -o outtype=f16 >"$BATS_TEST_TMPDIR/before"
	"$MOUNT" "$OWN" "$MNT" -o outtype=f16
	head -c 100000 /dev/urandom >"$OWN/new"
	mv "$OWN/new" "$WEIGHTS"
	cmp "$(only_file "$MNT")" "$BATS_TEST_TMPDIR/before"
}

@test "a source deleted while mounted: the old bytes stay" {
	own
	"$HFGGUF" cat "$OWN" -o outtype=f16 >"$BATS_TEST_TMPDIR/before"
	"$MOUNT" "$OWN" "$MNT" -o outtype=f16
	rm -r "$OWN"
	cmp "$(only_file "$MNT")" "$BATS_TEST_TMPDIR/before"
}

@test "a model on a read-only file system" {
	((EUID == 0)) || skip "only root can mount one"
	own
	mount --bind "$OWN" "$OWN" && mount -o remount,bind,ro "$OWN" || skip "cannot bind-mount"
	run touch "$OWN/x"
	assert_failure
	"$MOUNT" "$OWN" "$MNT" -o outtype=q8_0
	cmp "$(only_file "$MNT")" <("$HFGGUF" cat "$OWN" -o outtype=q8_0)
}

@test "nothing is written beside the model" {
	own
	find "$OWN" -printf '%p %s %T@ %i\n' | sort >"$BATS_TEST_TMPDIR/a"
	"$MOUNT" "$OWN" "$MNT" -o type=F16:Q8_0
	cat "$MNT"/*.gguf "$MNT"/.hfgguf/* >/dev/null
	umount "$MNT"
	"$HFGGUF" sum "$OWN" >/dev/null
	"$HFGGUF" plan "$OWN" >/dev/null
	find "$OWN" -printf '%p %s %T@ %i\n' | sort >"$BATS_TEST_TMPDIR/b"
	diff "$BATS_TEST_TMPDIR/a" "$BATS_TEST_TMPDIR/b"
}
