# Quantized checkpoints: values against the formats' definitions in numpy, files against the reference's, native blocks
# against a reader nobody here wrote, and what small reads cost.
. "$(dirname "$0")/../lib.bash"
scratch
oracle=$ROOT/tests/schemes
real=$(realpath -m "${HFGGUF_TEST_CACHE:-$BUILD/real}")

# made NAME [DIMENSIONS]: prints the folder of a model of tests/schemes/spec.py.
made() {
	local folder=$TMP/made${2:+.large}
	mkdir -p "$folder"
	python3 "$oracle/spec.py" "$@" >"$TMP/$1.json" && "$MKMODEL" "$TMP/$1.json" "$folder"
}

# The same with weights as the oracle has them; made once.
plain() {
	local out=$TMP/plain/Quantized-$1
	[[ -e $out/model.safetensors ]] || python3 "$oracle/oracle.py" "$TMP/made/Quantized-$1" "$out" || return
	echo "$out"
}

sum_of() { "$HFGGUF" sum "$@" 2>&1; }

# reference NAME WAY: all rows of the table, in this CPU's tier and, the first, in plain C. Where the reference refuses
# the model its sums are those of the dequantized one.
reference() {
	local dir type file sha first=1 name=$1
	dir=$(made "$name") || return
	while IFS=$'\t' read -r type file sha; do
		[[ $(sum_of "$dir" -o "outtype=$type") == "$sha  $file" ]] || { echo "$type is not the reference's"; return 1; }
		[[ ! $first || $(HFGGUF_CPU=c sum_of "$dir" -o "outtype=$type") == "$sha  $file" ]] ||
			{ echo "$type differs in plain C"; return 1; }
		first=
	done < <(awk -F'\t' -v n="$name" '$1 == n { print $3 "\t" $4 "\t" $5 }' "$ROOT/tests/data/schemes.tsv")
	[[ ! $first ]] || { echo "no row of the table"; return 1; }
	[[ $2 == "as it is" ]] || same_values "$dir" "$name"
}

same_values() {
	local dir
	dir=$(plain "$2") || return
	[[ $(sum_of "$1" -o outtype=f32) == "$(sum_of "$dir" -o outtype=f32)" ]] || { echo "other values than the oracle's"; return 1; }
}

# native NAME TYPE [OUTTYPE]
native() {
	local dir
	dir=$(plain "$1") || return
	"$real/venv/bin/python" "$oracle/check_native.py" "$HFGGUF" "$TMP/made/Quantized-$1" "$dir" "${@:2}"
}

# cheap NAME TENSOR OUTTYPE LIMIT: the dearest of 100 reads of 4 KiB in a tensor of a larger model.
cheap() {
	local dir worst at size
	dir=$TMP/made.large/Quantized-$1
	[[ -e $dir ]] || dir=$(made "$1" 2048 1536 1) || return
	read -r at size < <("$HFGGUF" plan "$dir" --json -o "outtype=$3" | jq -r ".tensors[] | select(.name == \"$2\") | \"\(.offset) \(.size)\"")
	worst=$("$TOOLS/readcost" "$dir" "outtype=$3,threads=1" "$at" "$size" 100) || return
	echo "$worst bytes"
	((worst <= $4))
}

while IFS=$'\t' read -r name way; do
	check "schemes: $name: the reference's bytes${way:+ ($way)}" reference "$name" "$way"
done < <(cut -f1,2 "$ROOT/tests/data/schemes.tsv" | uniq)

if ! why=$("$ROOT/tests/real/setup.sh" "$real" reader); then
	skipped "schemes: native blocks" "$why"
else
	while read -r name type outtype; do
		check "schemes: $name: outtype=${outtype:-native} keeps the values, as counted, in $type" native "$name" "$type" $outtype
	done <<-END
		packed4-sym Q4_0
		packed4-channel Q4_0
		packed4-tensor Q4_0
		packed4-moe Q4_0
		packed4-wide Q4_0
		packed4-wide - native-strict
		packed4-asym Q4_1
		packed4-asym - native-strict
		packed4-act -
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
		int8-moe Q8_0
		int8-groups Q8_0
		groups Q4_1
		mxfp4 MXFP4
		mxfp4-moe MXFP4
		nvfp4 NVFP4
		bitnet TQ2_0
		bitnet TQ2_0 native-strict
		fp8 -
	END
fi

while read -r name tensor outtype limit; do
	check "schemes: $name: a read of 4 KiB of $tensor as $outtype reads at most ${limit:-64} KiB" cheap "$name" "$tensor" "$outtype" $((${limit:-64} * 1024))
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
END
