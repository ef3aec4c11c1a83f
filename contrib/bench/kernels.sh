#!/bin/bash
# Times the quantizers beside ggml's: kernels.sh [LIBGGML-BASE.SO]. Prints TSV: type, ours, ggml's (ns a weight), ratio.
#
# One core, one run: for each type ours and ggml's take turns, 15 times 5 ms each, and the best of each counts, so that
# whatever else the machine does hits both. 8192 normal weights in rows of 1024, in the cache; "+imatrix" rows have
# importance weights. Without a library it takes libggml-python's, from the Python registry.
. "$(dirname "$0")/../../tests/lib.bash"

lib=$1
if [[ ! $lib ]]; then
	cache=$(realpath -m "${HFGGUF_TEST_CACHE:-$BUILD/real}")
	why=$("$ROOT/tests/real/setup.sh" "$cache" ggml) || { echo "$why" >&2; exit 1; }
	lib=$(find "$cache/ggml" -name libggml-base.so | head -n 1)
fi
MAKEFLAGS= make -s -C "$ROOT" BUILD="$BUILD" "$BUILD/tests/check_kernels" >&2 || exit
exec "$BUILD/tests/check_kernels" --bench --tsv --ggml "$lib"
