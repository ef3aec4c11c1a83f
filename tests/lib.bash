# Helpers of the suites (`. tests/lib.bash`) and of bats files (`load ../lib`). Nothing here runs on loading.
#
# ROOT      the source tree             HFGGUF    the program under test
# BUILD     where it was built          MOUNT     the mount helper
# FIXTURES  unpacked tests/data         MKMODEL   the fixture generator

ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
BUILD=$(cd "$ROOT" && realpath -m "${BUILD:-build}")
HFGGUF=$BUILD/hfgguf
MOUNT=$BUILD/mount.hfgguf
TOOLS=$BUILD/tests
MKMODEL=$TOOLS/mkmodel
FIXTURES=$TOOLS/fixtures
export HFGGUF_TEST_TOKENIZERS=$FIXTURES/tokenizers
export LC_ALL=C.UTF-8

# model NAME [OUT]: makes a fixture model below OUT, prints its folder.
model() {
	"$MKMODEL" "$FIXTURES/specs/$1.json" "${2:-${BATS_TEST_TMPDIR:?}/models}"
}

# own_copy NAME [OUT]: the same with tokenizer files that may be changed.
own_copy() {
	"$MKMODEL" --copy "$FIXTURES/specs/$1.json" "${2:-${BATS_TEST_TMPDIR:?}/models}"
}

# golden NAME OPTIONS: the sha256 the reference's file has ("@" in options: the model's folder).
golden() {
	awk -F'\t' -v m="$1" -v o="$2" '$1 == m && $2 == o { print $5 }' "$ROOT/tests/data/golden.tsv"
}

# st FILE STATEMENTS: changes a safetensors file by Python statements on h (header, a dict), d (data) and more: see the tool.
st() {
	python3 "$ROOT/tests/tools/st.py" "$@"
}

# fuse_missing: why nothing can be mounted here; false when it can.
fuse_missing() {
	if [[ ! -w /dev/fuse ]]; then
		echo "/dev/fuse is missing or not writable"
	elif ((EUID)) && ! command -v fusermount3 >/dev/null; then
		echo "fusermount3 is missing"
	else
		return 1
	fi
}

# For bats: skips the test when nothing can be mounted.
need_fuse() {
	local why
	if why=$(fuse_missing); then skip "$why"; fi
}

# eventually SECONDS COMMAND...: repeats a command until it succeeds.
eventually() {
	local end=$((SECONDS + $1))
	shift
	until "$@"; do
		((SECONDS < end)) || return 1
		sleep 0.1
	done
}

# daemon_of FOLDER: process ids of the daemons of a mount point.
daemon_of() {
	local found program
	for found in $(grep -lFzx -- "$1" /proc/[0-9]*/cmdline 2>/dev/null); do
		{ IFS= read -rd '' program <"$found"; } 2>/dev/null
		[[ $program == *hfgguf ]] && basename "${found%/cmdline}"
	done
	return 0
}

gone() { ! kill -0 "$1" 2>/dev/null; }

# unmount FOLDER...: unmounts what is mounted and waits for the daemons to end.
unmount() {
	local dir pid pids
	for dir; do
		mountpoint -q -- "$dir" || continue
		pids=$(daemon_of "$dir")
		if ! umount -- "$dir" 2>/dev/null && ! fusermount3 -u -- "$dir"; then
			fusermount3 -uz -- "$dir"
		fi
		for pid in $pids; do
			eventually 20 gone "$pid" || {
				echo "process $pid of $dir does not end: $(tr '\0' ' ' <"/proc/$pid/cmdline")"
				return 1
			}
		done
	done
}

# ---- for suites: TAP without numbers ----

ok() { printf 'ok - %s\n' "$*"; }
not_ok() { printf 'not ok - %s\n' "$*"; }
skipped() { printf 'ok - %s # SKIP %s\n' "$1" "$2"; }
note() { printf '%s\n' "$*" | sed 's/^/# /'; }

# check DESCRIPTION COMMAND...: ok when the command succeeds; its output is shown when not.
check() {
	local what=$1 out
	shift
	if out=$("$@" 2>&1); then
		ok "$what"
	else
		not_ok "$what"
		note "$out" | tail -n 40
		return 1
	fi
}

# scratch: makes the private folder $TMP, removed at exit with everything mounted in it.
scratch() {
	TMP=$(mktemp -d "${TMPDIR:-/tmp}/hfgguf-test.XXXXXX")
	trap 'leave' EXIT
}

leave() {
	local dir
	while read -r dir; do
		unmount "$dir"
	done < <(awk -v p="$TMP/" 'index($5, p) == 1 { print $5 }' /proc/self/mountinfo)
	rm -rf "$TMP"
}
