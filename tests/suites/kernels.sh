# Kernels: every type and CPU tier against C, and C against ggml where the library can be had.
. "$(dirname "$0")/../lib.bash"

args=()
[[ -n ${GGML:-} ]] && args=(--ggml "$GGML")
check "kernels of all CPU tiers agree${GGML:+, and with ggml}" "$TOOLS/check_kernels" "${args[@]}"
