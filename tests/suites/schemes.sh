# Quantized checkpoints: values against the formats' definitions in numpy, files against the reference's, native blocks
# against a reader nobody here wrote, and what small reads cost.
. "$(dirname "$0")/../lib.bash"
scratch
oracle=$ROOT/tests/schemes
table=$ROOT/tests/data/schemes.tsv
real=$(realpath -m "${HFGGUF_TEST_CACHE:-$BUILD/real}")

# All models of spec.py below $TMP/made, and with weights as the oracle has them below $TMP/plain.
make_models() {
	local f
	mkdir -p "$TMP"/{specs,made,plain,large}
	python3 "$oracle/spec.py" --all "$TMP/specs" || return
	for f in "$TMP"/specs/*; do
		"$MKMODEL" "$f" "$TMP/made" >/dev/null || return
	done
	python3 "$oracle/oracle.py" "$TMP/plain" "$TMP"/made/*
}

# model_of NAME [plain|large]: its folder.
model_of() { echo "$TMP/${2:-made}/Quantized-$1"; }

sum_of() { "$HFGGUF" sum "$@" 2>&1; }

# is_row NAME TYPE FILE SHA [TIER]
is_row() {
	local got
	got=$(HFGGUF_CPU=$5 sum_of "$(model_of "$1")" -o "outtype=$2")
	[[ $got == "$4  $3" ]] || { echo "$2${5:+ on tier $5} is not the reference's: $got"; return 1; }
}

# reference NAME WAY: all rows of the table, in this CPU's tier and, the first, in lower ones. Where the reference refuses
# the model its sums are those of the dequantized one.
reference() {
	local name=$1 type file sha first=1 tier
	while IFS=$'\t' read -r type file sha; do
		is_row "$name" "$type" "$file" "$sha" "" || return
		for tier in ${first:+c avx2}; do
			is_row "$name" "$type" "$file" "$sha" $tier || return
		done
		first=
	done < <(awk -F'\t' -v n="$name" '$1 == n { print $3 "\t" $4 "\t" $5 }' "$table")
	[[ ! $first ]] || { echo "no row of the table"; return 1; }
	[[ $2 == "as it is" ]] || same_values "$name"
}

same_values() {
	[[ $(sum_of "$(model_of "$1")" -o outtype=f32) == "$(sum_of "$(model_of "$1" plain)" -o outtype=f32)" ]] ||
		{ echo "other values than the oracle's"; return 1; }
}

# cost NAME TENSOR OUTTYPE: source bytes of the dearest of 100 reads of 4 KiB in a tensor of a larger model.
cost() {
	local dir at size
	dir=$(model_of "$1" large)
	if [[ ! -e $dir ]]; then
		python3 "$oracle/spec.py" "$1" 2048 1536 1 >"$TMP/large.json" && "$MKMODEL" "$TMP/large.json" "$TMP/large" >/dev/null || return
	fi
	read -r at size < <("$HFGGUF" plan "$dir" --json -o "outtype=$3" | jq -r ".tensors[] | select(.name == \"$2\") | \"\(.offset) \(.size)\"")
	"$TOOLS/readcost" "$dir" "outtype=$3,threads=1" "$at" "$size" 100
}

# cheap NAME TENSOR OUTTYPE
cheap() {
	local bytes what="schemes: $1: 4 KiB of $2 as $3 take at most 64 KiB of source"
	bytes=$(cost "$@" 2>&1)
	if [[ $bytes =~ ^[0-9]+$ ]] && ((bytes <= 65536)); then ok "$what"; else not_ok "$what"; fi
	note "$bytes bytes"
}

if ! python3 -c 'import numpy' 2>/dev/null; then
	skipped "schemes: quantized checkpoints" "Python has no numpy"
	exit
fi
check "schemes: models are made" make_models || exit
check "schemes: the table has every model" diff <(cut -f1 "$table" | sort -u) <(basename -as .json "$TMP"/specs/* | sort)
while IFS=$'\t' read -r name way; do
	check "schemes: $name: the reference's bytes ($way)" reference "$name" "$way"
done < <(cut -f1,2 "$table" | uniq)

if ! why=$("$ROOT/tests/real/setup.sh" "$real" reader); then
	skipped "schemes: native blocks" "$why"
else
	"$real/venv/bin/python" "$oracle/check_native.py" "$HFGGUF" "$TMP/made" "$TMP/plain" <<-END
		packed4-sym Q4_0
		packed4-channel Q4_0
		packed4-tensor Q4_0
		packed4-moe Q4_0
		packed4-wide Q4_0
		packed4-wide - native-strict
		packed4-asym Q4_1
		packed4-asym - native-strict
		packed4-act -
		packed4-odd -
		packed8-sym Q8_0
		packed3-asym -
		gptq4-sym Q4_0
		gptq4-sym Q4_0 native-strict
		gptq4-no-index Q4_0
		gptq4-asym Q4_1
		gptq4-act -
		gptq8-sym Q8_0
		awq Q4_1
		awq-g32 Q4_1
		awq-moe Q4_1
		int8 Q8_0
		int8 Q8_0 native-strict
		int8-moe Q8_0
		int8-groups Q8_0
		int8-groups Q8_0 native-strict
		groups Q4_1
		mxfp4 MXFP4
		mxfp4 MXFP4 native-strict
		mxfp4-moe MXFP4
		nvfp4 NVFP4
		bitnet TQ2_0
		bitnet TQ2_0 native-strict
		fp8 -
	END
fi

while read -r name tensor outtype; do
	cheap "$name" "$tensor" "$outtype"
done <<'END'
packed4-moe blk.0.ffn_gate_exps.weight bf16
packed4-moe blk.0.ffn_down_exps.weight q8_0
packed4-moe blk.0.ffn_up_exps.weight native
packed4-act blk.0.ffn_up.weight bf16
gptq3-moe blk.0.ffn_up_exps.weight bf16
gptq2-act-moe blk.0.ffn_down_exps.weight bf16
awq-moe blk.0.ffn_up_exps.weight bf16
awq-moe blk.0.ffn_down_exps.weight native
bnb-nf4-moe blk.0.ffn_up_exps.weight bf16
int8-moe blk.0.ffn_up_exps.weight bf16
fp8-moe blk.0.ffn_up_exps.weight f32
mxfp4-moe blk.0.ffn_down_exps.weight bf16
mxfp4-moe blk.0.ffn_up_exps.weight native
nvfp4 blk.0.ffn_up.weight bf16
gptq4-sym blk.0.ffn_up.weight bf16
gptq8-sym blk.0.ffn_down.weight bf16
END
