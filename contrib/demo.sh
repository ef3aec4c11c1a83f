#!/bin/bash
# `make demo`: builds, makes a small model folder, mounts it, shows it to programs that know nothing of it, unmounts.
cd "$(dirname "$0")/.." || exit 1
set -e

step() { printf '\n\033[1m== %s\033[0m\n' "$*"; }
run() { printf '$ %s\n' "$*"; "$@"; }

if ((EUID == 0)); then
	step "Debian packages"
	.ci/packages demo >/dev/null
	echo "all there"
fi

step "Build"
${MAKE:-make} -s -j"$(nproc)" BUILD="${BUILD:-build}" all "${BUILD:-build}/tests/mkmodel" "${BUILD:-build}/tests/fixtures/.done"
. tests/lib.bash
scratch

step "A model folder as Hugging Face has it (tiny, but with a real tokenizer)"
dir=$(model "${1:-Qwen2.5-0.5B-Instruct}" "$TMP")
run ls -lL "$dir"

if why=$(fuse_missing); then
	step "Nothing can be mounted here ($why): the same file by hfgguf cp"
	mkdir "$TMP/gguf"
	run "$HFGGUF" cp "$dir" "$TMP/gguf" -o outtype=q8_0
else
	step "Mounted as GGUF, 8 bits a weight: nothing is converted until it is read"
	mkdir "$TMP/gguf"
	run "$MOUNT" "$dir" "$TMP/gguf" -o outtype=q8_0
fi
run ls -l "$TMP/gguf"
file=$(echo "$TMP"/gguf/*.gguf)

step "The same bytes as convert_hf_to_gguf.py --outtype q8_0 writes"
run sha256sum "$file"
echo "$(golden "$(basename "$dir")" outtype=q8_0)  by the reference"
[[ $(sha256sum <"$file") == "$(golden "$(basename "$dir")" outtype=q8_0)  -" ]]

step "Read by the gguf package of Python"
if why=$(tests/real/setup.sh "$BUILD/real" reader); then
	run "$BUILD/real/venv/bin/python" tests/real/read_gguf.py "$file"
else
	echo "($why; so hfgguf's own plan instead)"
	"$HFGGUF" plan "$dir" -o outtype=q8_0 | head -n 20
fi

if mountpoint -q "$TMP/gguf"; then
	step "Unmounted"
	run umount "$TMP/gguf" 2>/dev/null || run fusermount3 -u "$TMP/gguf"
fi
cat <<END

Point llama.cpp at a mounted file of a model of yours:
  $MOUNT ~/models/SOME-MODEL /mnt/gguf -o outtype=q8_0
  llama-server -m /mnt/gguf/SOME-MODEL-Q8_0.gguf
END
