# Random parallel reads through the library, on models that differ in how their rows are made.
. "$(dirname "$0")/../lib.bash"
scratch

while read -r name options; do
	dir=$(model "$name" "$TMP") || exit 1
	timeout -k 5 300 "$TOOLS/parread" "$dir" "$options" 8 "${PARALLEL_READS:-400}"
	status=$?
	((status < 2)) || not_ok "parallel: $name ends with status $status"
	rm -rf "$dir"
done <<'LIST'
Tiny-Llama-2L-Chat outtype=f32
Llama-3.2-1B-Instruct outtype=q8_0
Mixtral-8x7B-Instruct-v0.1 outtype=q8_0
bloom-560m outtype=f16
gemma-2-2b-jpn-it outtype=bf16
mamba-130m-hf outtype=q8_0
Bit-Llama-1.58-tq outtype=tq2_0
Qwen2.5-0.5B-Instruct outtype=f16,split-max-size=100K
LIST
