# For the bats files here: `load common`. Private folder: $BATS_TEST_TMPDIR; mount point: $MNT; a small and a larger
# model, made once a file: $SMALL, $LARGE.
bats_require_minimum_version 1.5.0
load ../lib
bats_load_library bats-support
bats_load_library bats-assert
bats_load_library bats-file

make_models() {
	SMALL=$(model Tiny-Llama-2L-Chat "$BATS_FILE_TMPDIR/models")
	LARGE=$(model Llama-3.2-1B-Instruct "$BATS_FILE_TMPDIR/models")
	export SMALL LARGE
}

make_mount_point() {
	need_fuse
	MNT=$BATS_TEST_TMPDIR/mnt
	mkdir -p "$MNT"
}

# Mount points below a folder, innermost last. /proc/self/mountinfo writes blanks as \040.
mounts_below() {
	local dir
	while read -r _ _ _ _ dir _; do
		dir=${dir//\\040/ } dir=${dir//\\011/$'\t'} dir=${dir//\\012/$'\n'} dir=${dir//\\134/\\}
		[[ $dir != "$1"/* ]] || printf '%s\0' "$dir"
	done </proc/self/mountinfo
}

unmount_all() {
	local dir dirs=()
	while IFS= read -r -d '' dir; do
		dirs=("$dir" "${dirs[@]}")
	done < <(mounts_below "$BATS_TEST_TMPDIR")
	for dir in "${dirs[@]}"; do
		umount -l -- "$dir" 2>/dev/null || fusermount3 -uzq -- "$dir"
	done
}

is_mounted() { mountpoint -q -- "$1"; }
not_mounted() { ! mountpoint -q -- "$1"; }

# The only file in a mount, and what `hfgguf cat` gives for it.
only_file() { local f=("$1"/*.gguf); [[ ${#f[@]} == 1 && -f ${f[0]} ]] && echo "${f[0]}"; }

# The process that serves the mount point, by the argument it was started with.
server() { daemon_of "${1:-$MNT}" | head -n 1; }

# tool NAME: path of the helper program tests/tools/NAME.c.
tool() {
	local built=$TOOLS/$1
	if [[ ! -x $built ]]; then
		built=$BATS_FILE_TMPDIR/$1
		[[ -x $built ]] || "${CC:-cc}" -O1 -pthread -D_GNU_SOURCE -o "$built" "$ROOT/tests/tools/$1.c" || return
	fi
	echo "$built"
}

# variant SPEC STATEMENTS...: a fixture whose spec is changed by Python statements (tests/tools/spec.py), at $DIR.
variant() {
	local spec=$BATS_TEST_TMPDIR/spec.json name=$1
	shift
	python3 "$ROOT/tests/tools/spec.py" "$FIXTURES/specs/$name.json" "$@" >"$spec"
	rm -rf "$BATS_TEST_TMPDIR/models"
	DIR=$("$MKMODEL" --copy "$spec" "$BATS_TEST_TMPDIR/models")
}

sum_of() { "$HFGGUF" sum "$DIR" -o "${1:-outtype=f16}" | cut -d' ' -f1; }
is_sum() { assert_equal "$(sum_of "${2:-outtype=f16}")" "$1"; }

# refused OPTIONS WORDS...: the command and the mount helper refuse $DIR in one line that has the words.
refused() {
	local options=$1 word
	shift
	mkdir -p "$BATS_TEST_TMPDIR/mnt"
	run "$MOUNT" "$DIR" "$BATS_TEST_TMPDIR/mnt" -o "$options"
	assert_failure 32
	not_mounted "$BATS_TEST_TMPDIR/mnt"
	run "$HFGGUF" ls "$DIR" -o "$options"
	assert_failure 1
	assert_equal "${#lines[@]}" 1
	for word; do
		assert_output --partial "$word"
	done
}
