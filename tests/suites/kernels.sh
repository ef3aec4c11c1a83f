# Kernels: every type and CPU tier against C, and C against ggml itself where its library can be had.
. "$(dirname "$0")/../lib.bash"
scratch

# IQ1_M is apart: builds of ggml differ in a few of its bytes; the reference's are held by the fixture models.
as_ggml() {
	"$TOOLS/check_kernels" --ggml "$1" --blocks 1000 --iq-blocks 150 >"$TMP/log"
	(($? < 2)) && [[ -s $TMP/log ]] && ! grep DIFFER "$TMP/log" | grep -v '^quantize *IQ1_M '
}

check "kernels: all CPU tiers agree" "$TOOLS/check_kernels" ${SANITIZED:+--blocks 500 --iq-blocks 50}
[[ ${SANITIZED:-} ]] && exit
real=$(realpath -m "${HFGGUF_TEST_CACHE:-$BUILD/real}")
if why=$("$ROOT/tests/real/setup.sh" "$real" ggml); then
	check "kernels: quantize and dequantize as ggml does" as_ggml "$(find "$real/ggml" -name libggml-base.so)"
else
	skipped "kernels: quantize and dequantize as ggml does" "$why"
fi
