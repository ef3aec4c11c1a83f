# What the design promises of architectures: a new one is a row of facts, and nothing else changes.
. "$(dirname "$0")/../lib.bash"
scratch
cd "$ROOT" || exit 1

# The engine knows no class by name: only rows do.
named=$(grep -nE '"[A-Za-z0-9_]+(ForCausalLM|ForConditionalGeneration|LMHeadModel)' core/arch/*.c core/gguf/*.c core/file/*.c \
	fs/*.c | grep -v 'core/arch/find.c')
if [[ $named ]]; then
	not_ok "design: only rows name classes"
	note "$named"
else
	ok "design: only rows name classes"
fi

# A Llama with other names for its attention's matrices, written down here as its author would.
cat >"$TMP/fresh.c" <<'C'
/* Fresh: Llama, whose queries and keys are called otherwise. */
#include "core/arch/arch.h"

static const struct name_rule names[] = {
	REPLACE("*.self_attn.q_query.weight", ".q_query.", ".q_proj."),
	REPLACE("*.self_attn.k_key.weight", ".k_key.", ".k_proj."),
	NAMES_END
};

static const struct param_rule params[] = { SUPER, U32_MAY("expert_count", "n_fresh_experts"), PARAMS_END };

const struct arch arch_fresh = {
	.classes = "FreshForCausalLM",
	.module = "fresh",
	.gguf = "llama",
	.parent = &arch_llama,
	.names = names,
	.params = params,
};
C
mkdir -p "$TMP/core/arch/models"
cp core/arch/find.c "$TMP/core/arch/"
{ cat core/arch/models/list.h; echo 'ROW(arch_fresh)'; } >"$TMP/core/arch/models/list.h"

# The list is the only file that is not new; all else comes from the library as it was built.
build_fresh() {
	local flags
	read -ra flags < <(pkg-config --cflags --libs libcjson liblz4 libpcre2-8 libutf8proc libprotobuf-c yaml-0.1 libcrypto \
		libxxhash fuse3)
	mapfile -t objects < <(find "$BUILD/fs" -name '*.o')
	${CC:-cc} -std=gnu11 -O1 -pthread -D_GNU_SOURCE -D_FILE_OFFSET_BITS=64 -I"$TMP" -I. -Iinclude ${CFLAGS:-} ${LDFLAGS:-} \
		-o "$TMP/hfgguf" "$TMP/fresh.c" "$TMP/core/arch/find.c" "${objects[@]}" "$BUILD/libhfgguf.a" "${flags[@]}" -lm
}

check "design: a row of $(grep -c . "$TMP/fresh.c") lines and a line in the list build" build_fresh || exit 1
dir=$(own_copy Tiny-Llama-2L-Chat "$TMP/models")
sed -i 's/"LlamaForCausalLM"/"FreshForCausalLM"/' "$dir/config.json"
for f in "$dir"/*.safetensors; do
	st "$f" 'h = {k.replace("q_proj", "q_query").replace("k_proj", "k_key"): v for k, v in h.items()}'
done
sed -i 's/q_proj/q_query/g; s/k_proj/k_key/g' "$dir"/*.index.json
check "design: others refuse it" test "$("$HFGGUF" ls "$dir" 2>&1 | grep -c 'FreshForCausalLM is not supported')" = 1
check "design: the new program makes of it what is made of the Llama it was" \
	test "$("$TMP/hfgguf" sum "$dir" -o outtype=f16 | cut -d' ' -f1)" = "$(golden Tiny-Llama-2L-Chat outtype=f16)"
