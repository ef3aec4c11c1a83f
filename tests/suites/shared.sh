# Where the specification lies beside the tree: are the embedded fixtures still the same?
. "$(dirname "$0")/../lib.bash"

shared=${HFGGUF_SHARED:-$ROOT/../shared}
what="shared: the embedded fixtures are those of $shared/zoo"
if [[ ! -d $shared/zoo/golden ]]; then
	skipped "shared: the embedded fixtures are up to date" "no specification beside the tree"
elif ! python3 -c 'import numpy' 2>/dev/null; then
	skipped "$what" "no numpy"
else
	check "$what" cmp <(python3 -B "$ROOT/tests/data/pack.py" "$shared" --tables) "$ROOT/tests/data/golden.tsv"
fi
