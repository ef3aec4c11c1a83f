# Kernels: every type and CPU tier against C, and C against ggml itself where its library can be had.
. "$(dirname "$0")/../lib.bash"
scratch

# IQ1_M is apart: ggml's libraries in the registries are of other versions; the fixture models hold the reference's.
as_ggml() {
	"$TOOLS/check_kernels" --ggml "$1" --blocks 1000 --iq-blocks 150
}

# The same bytes on another kind of machine: NEON against C there, and C there against C here.
on_arm() {
	local options=(--digest --blocks 100 --iq-blocks 20)
	"$ROOT/tests/kernels/emulate.sh" neon "${options[@]}" >"$TMP/arm" || return
	"$TOOLS/check_kernels" "${options[@]}" | diff - "$TMP/arm"
}

check "kernels: all CPU tiers agree" "$TOOLS/check_kernels" ${SANITIZED:+--blocks 500 --iq-blocks 50}
[[ ${SANITIZED:-} ]] && exit
real=$(realpath -m "${HFGGUF_TEST_CACHE:-$BUILD/real}")
if why=$("$ROOT/tests/real/setup.sh" "$real" ggml); then
	check "kernels: quantize and dequantize as ggml does" as_ggml "$(find "$real/ggml" -name libggml-base.so)"
else
	skipped "kernels: quantize and dequantize as ggml does" "$why"
fi
if command -v aarch64-linux-gnu-gcc qemu-aarch64-static >/dev/null; then
	check "kernels: the same bytes on AArch64, with and without NEON" on_arm
else
	skipped "kernels: the same bytes on AArch64, with and without NEON" "no cross compiler and emulator"
fi
