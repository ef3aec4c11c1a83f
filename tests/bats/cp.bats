# hfgguf cp: files onto a disk, whole or not at all.
load common

setup_file() { make_models; }

setup() {
	OUT=$BATS_TEST_TMPDIR/out
	mkdir "$OUT"
}

teardown() { unmount_all; }

part() { find "$OUT" -name '.*.hfgguf-part'; }

# A tmpfs of a size: a disk that is full soon.
small_disk() {
	((EUID == 0)) && mount -t tmpfs -o "size=$1" tmpfs "$OUT" 2>/dev/null || skip "cannot mount a tmpfs"
}

@test "cp into a folder writes every file under its name and nothing else" {
	run "$HFGGUF" cp "$SMALL" "$OUT" -o type=F16:Q8_0
	assert_success
	assert_output ""
	assert_equal "$(cd "$OUT" && sha256sum -- *)" "$("$HFGGUF" sum "$SMALL" -o type=F16:Q8_0 | sort -k2)"
	assert_equal "$(find "$OUT" -type f | wc -l)" 2
}

@test "cp to a file name takes that name" {
	"$HFGGUF" cp "$SMALL" "$OUT/mine.gguf"
	cmp "$OUT/mine.gguf" <("$HFGGUF" cat "$SMALL")
}

@test "cp of one of several files" {
	name=$("$HFGGUF" ls "$SMALL" -o type=F16:Q8_0 | awk 'NR == 2 {print $2}')
	"$HFGGUF" cp "$SMALL" "$OUT" "$name" -o type=F16:Q8_0
	assert_equal "$(ls "$OUT")" "$name"
}

@test "cp of several files to one name is refused" {
	run "$HFGGUF" cp "$SMALL" "$OUT/one" -o type=F16:Q8_0
	assert_failure 1
	assert_output --partial "directory"
	assert_equal "$(ls -A "$OUT")" ""
}

@test "cp into a missing folder is refused" {
	run "$HFGGUF" cp "$SMALL" "$OUT/nothing/"
	assert_failure 1
	run "$HFGGUF" cp "$SMALL" "$OUT/nothing/x.gguf"
	assert_failure 1
	assert_output --partial "No such file"
}

@test "cp --verify reads what it wrote" {
	run "$HFGGUF" cp "$LARGE" "$OUT" --verify
	assert_success
	assert_equal "$(cd "$OUT" && sha256sum -- *)" "$("$HFGGUF" sum "$LARGE")"
}

@test "the copy has the time of the mounted file" {
	"$HFGGUF" cp "$SMALL" "$OUT/a"
	sleep 1.1
	"$HFGGUF" cp "$SMALL" "$OUT/b"
	assert_equal "$(stat -c %y "$OUT/a")" "$(stat -c %y "$OUT/b")"
}

@test "cp replaces an existing file" {
	echo old >"$OUT/x"
	"$HFGGUF" cp "$SMALL" "$OUT/x"
	cmp "$OUT/x" <("$HFGGUF" cat "$SMALL")
}

@test "a part of an earlier run is continued" {
	"$HFGGUF" cp "$LARGE" "$OUT/x"
	# Full disk after a part: the way to get one without racing a signal.
	run bash -c 'ulimit -f 4000; trap "" XFSZ; "$0" cp "$1" "$2/y"' "$HFGGUF" "$LARGE" "$OUT"
	assert_failure 1
	assert_not_exist "$OUT/y"
	part=$(part)
	inode=$(stat -c %i "$part")
	assert_equal "$(stat -c %s "$part")" $((4000 * 1024))
	run "$HFGGUF" cp "$LARGE" "$OUT/y"
	assert_success
	assert_equal "$(stat -c %i "$OUT/y")" "$inode"
	cmp "$OUT/x" "$OUT/y"
	assert_equal "$(part)" ""
}

@test "an interrupted cp says where it stopped, and the next one goes on from there" {
	[[ ! ${SANITIZED:-} ]] || skip "a sanitizer wants to be the first library"
	echo "slow 100" >"$BATS_TEST_TMPDIR/faults"
	LD_PRELOAD=$TOOLS/faults.so HFGGUF_FAULTS=$BATS_TEST_TMPDIR/faults "$HFGGUF" cp "$LARGE" "$OUT/y" \
		2>"$BATS_TEST_TMPDIR/said" 3>&- &
	pid=$!
	begun() { [[ -s $(part) ]]; }
	eventually 20 begun
	kill -INT $pid
	status=0
	wait $pid || status=$?
	assert_equal "$status" 130
	part=$(part)
	inode=$(stat -c %i "$part")
	assert_equal "$(cat "$BATS_TEST_TMPDIR/said")" \
		"hfgguf: $OUT/y: stopped; the same command goes on from byte $(stat -c %s "$part")"
	"$HFGGUF" cp "$LARGE" "$OUT/y"
	assert_equal "$(stat -c %i "$OUT/y")" "$inode"
	cmp "$OUT/y" <("$HFGGUF" cat "$LARGE")
}

@test "a part whose end is wrong is begun anew" {
	run bash -c 'ulimit -f 4000; trap "" XFSZ; "$0" cp "$1" "$2/y"' "$HFGGUF" "$LARGE" "$OUT"
	assert_failure 1
	truncate -s -3000 "$(part)"
	truncate -s +3000 "$(part)"
	run "$HFGGUF" cp "$LARGE" "$OUT/y"
	assert_success
	cmp "$OUT/y" <("$HFGGUF" cat "$LARGE")
}

@test "a part made with other options is not continued but removed" {
	run bash -c 'ulimit -f 4000; trap "" XFSZ; "$0" cp "$1" "$2/y" -o outtype=f16' "$HFGGUF" "$LARGE" "$OUT"
	assert_failure 1
	"$HFGGUF" cp "$LARGE" "$OUT/y" -o outtype=q8_0
	cmp "$OUT/y" <("$HFGGUF" cat "$LARGE" -o outtype=q8_0)
	assert_equal "$(part)" ""
}

@test "a full disk is told before the work, and nothing is left" {
	small_disk 1m
	run "$HFGGUF" cp "$LARGE" "$OUT"
	assert_failure 1
	assert_output --partial "No space left"
	assert_equal "$(ls -A "$OUT")" ""
	assert_equal "${#lines[@]}" 1
}

@test "cp into a folder that cannot be written is refused" {
	small_disk 20m
	mount -o remount,ro "$OUT"
	run "$HFGGUF" cp "$SMALL" "$OUT"
	assert_failure 1
	assert_output --partial "Read-only"
}

@test "a file is on the disk before it has its name" {
	command -v strace >/dev/null || skip "no strace"
	[[ ! ${SANITIZED:-} ]] || skip "leaks are not looked for under strace"
	run strace -qq -e trace=fsync,rename,renameat,renameat2 -e signal=none "$HFGGUF" cp "$SMALL" "$OUT/x"
	assert_success
	assert_equal "$(sed 's/(.*//; s/at2*$//' <<<"$output" | xargs)" "fsync rename fsync"
}

@test "two writers of one file: the second is refused" {
	key=$(bash -c 'ulimit -f 4000; trap "" XFSZ; "$0" cp "$1" "$2/y"' "$HFGGUF" "$LARGE" "$OUT" 2>/dev/null; part)
	exec 9<"$key"
	flock 9
	run "$HFGGUF" cp "$LARGE" "$OUT/y"
	exec 9<&-
	assert_failure 1
	assert_output --partial "another"
}

@test "a terminal sees progress, a pipe nothing" {
	command -v script >/dev/null || skip "no script(1)"
	run script -qec "'$HFGGUF' cp '$LARGE' '$OUT/a'" /dev/null
	assert_success
	assert_output --regexp '\[[#.]{20}\] +[0-9]+% [0-9.]+ [kM]?B/[0-9.]+ [kM]?B [0-9.]+ [kMG]?B/s [0-9-]+:[0-9-]{2}'
	run "$HFGGUF" cp "$LARGE" "$OUT/b"
	assert_output ""
}
