# Reading a mount: every way gives the bytes of hfgguf cat.
load common

setup_file() {
	make_models
	if ! fuse_missing >/dev/null; then
		mkdir "$BATS_FILE_TMPDIR/mnt"
		"$MOUNT" "$LARGE" "$BATS_FILE_TMPDIR/mnt" -o type=F16:Q8_0
		cat_name=$("$HFGGUF" ls "$LARGE" -o type=F16 | sed 's/^ *[0-9]*  //')
		"$HFGGUF" cat "$LARGE" -o type=F16 >"$BATS_FILE_TMPDIR/copy"
		export cat_name
	fi
}

teardown_file() { umount "$BATS_FILE_TMPDIR/mnt" 2>/dev/null || true; }

setup() {
	need_fuse
	MNT=$BATS_FILE_TMPDIR/mnt
	FILE=$MNT/$cat_name
	COPY=$BATS_FILE_TMPDIR/copy
	SIZE=$(stat -c %s "$COPY")
}

# same BS SKIP COUNT [FLAGS]: dd of both is the same.
same() {
	cmp <(dd if="$FILE" bs="$1" skip="$2" count="$3" ${4:+iflag=$4} status=none) \
		<(dd if="$COPY" bs="$1" skip="$2" count="$3" status=none)
}

@test "size, blocks, mode and links of a file" {
	run stat -c '%s %b %B %o %a %h' "$FILE"
	assert_output "$SIZE $(((SIZE + 511) / 512)) 512 4096 444 1"
	run stat -c '%a %h %F' "$MNT"
	assert_output "555 2 directory"
}

@test "inode numbers and times are the same after a remount" {
	mkdir "$BATS_TEST_TMPDIR/again"
	a=$(cd "$MNT" && stat -c '%i %Y %y %n' . -- *)
	"$MOUNT" "$LARGE" "$BATS_TEST_TMPDIR/again" -o type=F16:Q8_0
	b=$(cd "$BATS_TEST_TMPDIR/again" && stat -c '%i %Y %y %n' . -- *)
	umount "$BATS_TEST_TMPDIR/again"
	assert_equal "$b" "$a"
}

@test "df shows a full file system" {
	run stat -f -c '%a %f' "$MNT"
	assert_output "0 0"
}

@test "whole files: cmp, cp, sha256sum" {
	cmp "$FILE" "$COPY"
	cp "$FILE" "$BATS_TEST_TMPDIR/x"
	cmp "$BATS_TEST_TMPDIR/x" "$COPY"
	cd "$MNT"
	run sha256sum -c <("$HFGGUF" sum "$LARGE" -o type=F16:Q8_0)
	assert_success
}

@test "odd offsets and sizes" {
	same 1 0 3
	same 1 4095 2
	same 4097 3 50
	same 100003 1 7
	same 13 1000 999
	same 1 $((SIZE - 1)) 1
}

@test "reading past the end gives nothing" {
	assert_equal "$(dd if="$FILE" bs=1 skip=$((SIZE - 2)) count=100 status=none | wc -c)" 2
	assert_equal "$(dd if="$FILE" bs=4096 skip=$((SIZE / 4096 + 5)) count=1 status=none 2>/dev/null | wc -c)" 0
}

@test "O_DIRECT in large and small blocks, to the end" {
	same 1M 0 100 direct
	same 4096 17 9 direct
	same 512 $((SIZE / 512 - 3)) 100 direct
}

@test "eight readers at once" {
	local pids=() i
	for i in 0 1 2 3 4 5 6 7; do
		same $((65536 + i * 4096 + i)) "$i" 1000 "$( ((i % 2)) && echo nocache)" 3>&- &
		pids+=($!)
	done
	for i in "${pids[@]}"; do
		wait "$i"
	done
}

@test "sixteen threads map all of it" {
	run "$(tool mmap_all)" 16 "$FILE" "$COPY"
	assert_success
	assert_output ""
}

@test "rsync takes everything, and nothing the second time" {
	command -v rsync >/dev/null || skip "no rsync"
	mkdir "$BATS_TEST_TMPDIR/to"
	rsync -a "$MNT/" "$BATS_TEST_TMPDIR/to/"
	assert_equal "$(ls -A "$BATS_TEST_TMPDIR/to")" "$(ls "$MNT")"
	cmp "$BATS_TEST_TMPDIR/to/$cat_name" "$COPY"
	run rsync -ai "$MNT/" "$BATS_TEST_TMPDIR/to/"
	assert_output ""
}

@test "rsync takes nothing from a copy made by hfgguf cp" {
	command -v rsync >/dev/null || skip "no rsync"
	mkdir "$BATS_TEST_TMPDIR/to"
	"$HFGGUF" cp "$LARGE" "$BATS_TEST_TMPDIR/to" -o type=F16:Q8_0
	run rsync -ain --no-perms --no-owner --no-group --omit-dir-times "$MNT/" "$BATS_TEST_TMPDIR/to/"
	assert_output ""
}

# Bytes the server has written, answers to the kernel above all.
written() { awk '$1 == "wchar:" { print $2 }' "/proc/$(server "$MNT")/io"; }

@test "the page cache is kept between opens" {
	[[ -r /proc/self/io ]] || skip "no /proc/PID/io"
	cat "$FILE" >/dev/null
	before=$(written)
	cmp "$FILE" "$COPY"
	(($(written) - before < SIZE / 10))
}

@test "every kind of writing says read-only file system" {
	((EUID == 0)) || skip "others are refused for lack of permission first"
	for command in "touch '$MNT/new'" "rm '$FILE'" "mkdir '$MNT/d'" "rmdir '$MNT/.hfgguf'" "mv '$FILE' '$MNT/x'" \
		"ln -s a '$MNT/l'" "ln '$FILE' '$MNT/h'" "truncate -s 0 '$FILE'" "chmod 600 '$FILE'" "chown 1 '$FILE'" \
		"touch -d 2001-01-01 '$FILE'" "echo x >>'$FILE'" "mkfifo '$MNT/p'" "setfattr -n user.a -v b '$FILE'"; do
		run bash -c "$command"
		assert_failure
		assert_output --partial "Read-only file system"
	done
}

@test "find sees the GGUF files only" {
	assert_equal "$(find "$MNT" -mindepth 1 | wc -l)" 2
	assert_equal "$(find "$MNT" -type f -name '*.gguf' | wc -l)" 2
}
