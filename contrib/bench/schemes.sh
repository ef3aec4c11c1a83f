#!/bin/bash
# Times reading quantized checkpoints as bf16: schemes.sh [NAME...]. Prints TSV: scheme, ours, the reference's (GB of output a
# second of one core), ratio.
#
# Models have one layer of Llama-7B's shape: 0.36 GB of output each, in the page cache. A time is CPU time, user and system, so
# that a loaded machine changes it less; ours is the best of three `hfgguf cat -o outtype=bf16,threads=1`. With
# HFGGUF_REFERENCE=folder of llama.cpp's sources (and HFGGUF_REFERENCE_PYTHON) that converts the same folder in the same run;
# what it takes for a tiny model, most of it imports, is not counted. "-": it refuses the scheme.
. "$(dirname "$0")/../../tests/lib.bash"
scratch
hidden=4096 ff=11008

# made NAME [DIMENSIONS]: prints the folder of a model of tests/schemes/spec.py.
made() {
	local out=$TMP/${2:-tiny}
	mkdir -p "$out"
	python3 "$ROOT/tests/schemes/spec.py" "$@" >"$TMP/$1.json" && "$MKMODEL" "$TMP/$1.json" "$out"
}

# spent COMMAND...: its CPU time, user and system, in seconds; nothing when it fails.
spent() {
	local TIMEFORMAT='%U %S' times
	times=$({ time "$@" >/dev/null 2>"$TMP/err"; } 2>&1) && awk '{ print $1 + $2 }' <<<"$times"
}

convert() {
	OMP_NUM_THREADS=1 spent "${HFGGUF_REFERENCE_PYTHON:-python3}" "$HFGGUF_REFERENCE/convert_hf_to_gguf.py" "$1" --outtype bf16 --outfile "$TMP/out.gguf"
}

ours() {
	local i
	for i in 1 2 3; do
		spent "$HFGGUF" cat "$1" -o outtype=bf16,threads=1
	done | sort -n | head -n 1
}

# row NAME BYTES OURS THEIRS TINY: times in seconds; THEIRS may be empty.
row() {
	awk -v name="$1" -v bytes="$2" -v ours="$3" -v theirs="$4" -v tiny="$5" 'BEGIN {
		gb = bytes / 1e9
		theirs = theirs == "" ? 0 : theirs - tiny
		printf "%s\t%.2f", name, gb / ours
		if (theirs > 0)
			printf "\t%.3f\t%.0f\n", gb / theirs, theirs / ours
		else
			print "\t-\t-"
	}'
}

if (($# == 0)); then
	set -- fp8 int8 modelopt packed4-sym packed4-asym packed4-act packed8-sym packed3-asym dense3 gptq4-sym gptq4-act \
		gptq8-sym gptq3 awq mxfp4 nvfp4 bitnet bnb-nf4 bnb-nf4-nested bnb-int8
fi
for name; do
	model=$(made "$name" $hidden $ff 1) || exit
	cat "$model"/*.safetensors >/dev/null
	theirs='' tiny=''
	[[ ! $HFGGUF_REFERENCE ]] || { theirs=$(convert "$model") && tiny=$(convert "$(made "$name")"); } || theirs=''
	row "$name" "$("$HFGGUF" ls "$model" -o outtype=bf16 | awk '{ print $1 }')" "$(ours "$model")" "$theirs" "$tiny"
	rm -rf "$TMP/$hidden" "$TMP/out.gguf"
done
