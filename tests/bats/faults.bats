# Faults of disks, memory and threads (tests/preload/faults.c): EIO for what they touch and nothing else, everything
# again when they are over, and a mount that can always be taken away.
load common

setup_file() {
	make_models
	export WEIGHTS_SIZE=$(stat -c %s "$LARGE"/*.safetensors)
}

setup() {
	make_mount_point
	[[ ! ${SANITIZED:-} ]] || skip "a sanitizer wants to be the first library"
	FAULTS=$BATS_TEST_TMPDIR/faults
	COPY=$BATS_TEST_TMPDIR/copy
}

teardown() {
	rm -f "$FAULTS"
	unmount_all
}

# mount_with OPTIONS: LARGE, with faults to come; FILE is its file, COPY what it should be.
mount_with() {
	LD_PRELOAD=$TOOLS/faults.so HFGGUF_FAULTS=$FAULTS "$MOUNT" "$LARGE" "$MNT" -o "$1"
	FILE=$(only_file "$MNT")
	"$HFGGUF" cat "$LARGE" -o "$1" >"$COPY"
	SIZE=$(stat -c %s "$COPY")
}

fault() { printf '%s\n' "$@" >"$FAULTS"; }
no_fault() { rm -f "$FAULTS"; }

# drop: nothing of FILE in the page cache.
drop() { dd of="$FILE" if=/dev/null oflag=nocache conv=notrunc,fdatasync status=none 2>/dev/null || dd if="$FILE" iflag=nocache count=0 status=none; }

whole() { drop && cmp "$FILE" "$COPY"; }

# A bad place of 4 KiB in the middle of the weights.
middle() { echo "$((WEIGHTS_SIZE / 2)) $((WEIGHTS_SIZE / 2 + 4096))"; }

@test "a bad place in the weights: EIO for what comes from it, verbatim, and recovery" {
	mount_with outtype=bf16
	fault "error $(middle)"
	run "$(tool bad_pages)" "$FILE" "$COPY"
	assert_success
	((output >= 1 && output <= 64))
	no_fault
	whole
}

@test "a bad place in the weights: EIO for the rows on it, computed, and recovery" {
	for type in q8_0 f16; do
		mount_with outtype=$type,cache_size=0
		fault "error $(middle)"
		run "$(tool bad_pages)" "$FILE" "$COPY"
		assert_success
		((output >= 1 && output <= 8))
		no_fault
		whole
		umount "$MNT"
	done
}

@test "bytes that are cached are read through a fault" {
	mount_with outtype=q8_0
	cat "$FILE" >/dev/null
	fault "error 0 $WEIGHTS_SIZE"
	whole
}

@test "a short read is an error, never bytes of something else" {
	for type in outtype=bf16 outtype=f16 outtype=q8_0,cache_size=0; do
		mount_with $type
		fault "short $(middle)"
		run cmp "$FILE" "$COPY"
		assert_failure
		assert_output --partial "Input/output error"
		run cat "$MNT/.hfgguf/log"
		assert_output --partial "expected"
		no_fault
		whole
		umount "$MNT"
	done
}

@test "slow reads are slow, no more" {
	mount_with outtype=q8_0
	fault "slow 3"
	whole
}

@test "memory that cannot be had: an error for the read, and recovery" {
	for type in outtype=bf16 outtype=q8_0 quantize=Q4_K_M; do
		mount_with $type,cache_size=0
		fault "nomem 65536"
		run cmp "$FILE" "$COPY"
		if ((status)); then # the verbatim one may do without
			assert_output --regexp "Cannot allocate memory|Input/output error"
		fi
		no_fault
		whole
		umount "$MNT"
	done
}

@test "workers that die: the bytes are right, and read-ahead goes on" {
	mount_with outtype=q8_0,threads=2
	fault "die 0 $WEIGHTS_SIZE"
	for ((i = 0; i < 100; i++)); do # the reader may be faster than the workers
		whole
		(($(awk '$1 == "cache_failures" { print $2 }' "$MNT/.hfgguf/stats") == 0)) || break
		umount "$MNT"
		mount_with outtype=q8_0,threads=2
	done
	((i < 100))
	no_fault
	whole
	pid=$(server)
	eventually 20 bash -c 'cat /proc/$0/task/*/comm | grep -q hfgguf-worker || cat "$1" >/dev/null' "$pid" "$FILE"
}

@test "a source that hangs: others read on, and the mount can be taken away" {
	mount_with outtype=q8_0
	mkdir "$BATS_TEST_TMPDIR/other"
	"$MOUNT" "$SMALL" "$BATS_TEST_TMPDIR/other"
	pid=$(server)
	fault hang
	cat "$FILE" >/dev/null 2>&1 3>&- &
	reader=$!
	sleep 0.3
	kill -0 $reader
	timeout 10 cat "$(only_file "$BATS_TEST_TMPDIR/other")" >/dev/null
	timeout 10 ls -l "$MNT" >/dev/null
	timeout 10 cat "$MNT/.hfgguf/stats" >/dev/null
	timeout 10 umount -l "$MNT"
	not_mounted "$MNT"
	no_fault
	wait $reader
	eventually 10 gone "$pid"
}

@test "umount -f ends readers of a source that hangs" {
	((EUID == 0)) || skip "only root may"
	mount_with outtype=q8_0
	pid=$(server)
	fault hang
	cat "$FILE" >"$BATS_TEST_TMPDIR/out" 2>&1 3>&- &
	reader=$!
	sleep 0.3
	timeout 10 umount -f "$MNT" || timeout 10 umount -l "$MNT"
	not_mounted "$MNT"
	no_fault
	eventually 10 gone "$pid"
	wait $reader || true
}

@test "kill -9 while reads are waiting: readers get an error, the mount point can be used again" {
	mount_with outtype=q8_0
	fault hang
	cat "$FILE" >/dev/null 2>"$BATS_TEST_TMPDIR/said" 3>&- &
	reader=$!
	sleep 0.3
	kill -9 "$(server)"
	run wait $reader
	eventually 10 gone $reader
	no_fault
	"$MOUNT" "$LARGE" "$MNT" -o outtype=q8_0
	cmp "$(only_file "$MNT")" "$COPY"
}
