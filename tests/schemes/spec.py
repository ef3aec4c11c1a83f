#!/usr/bin/env python3
"""Prints the spec, for mkmodel, of a model that is quantized in one of many ways.

  spec.py --all FOLDER             tiny models of all names: FOLDER/NAME.json
  spec.py NAME                     a tiny model
  spec.py NAME HIDDEN FF LAYERS    one of these dimensions, heads of 128

A scheme is what config.json says of it and a function that gives a module's tensors: [suffix, dtype, shape, kind].
"""
import json, sys


def up(n, unit):
    return -(-n // unit)


def scale(e=-6):
    return ["u", e, 2.0 ** (e - 2)]


# ---- schemes ----

def gptq(bits, group=64, sym=True, act=False, v2=False, index=True, symmetric_zeros=False, dtype="F16"):
    middle = (1 << bits - 1) - (not v2)
    word = sum(middle << i for i in range(0, 32, bits)) & 0xFFFFFFFF
    zeros = ["c", word - (word >> 31 << 32)] if symmetric_zeros else ["b"]

    def tensors(name, rows, cols):
        groups = up(cols, group) if group > 0 else 1
        yield ".qweight", "I32", [cols * bits // 32, rows], ["b"]
        yield ".qzeros", "I32", [groups, rows * bits // 32], zeros
        yield ".scales", dtype, [groups, rows], scale()
        if index:
            yield ".g_idx", "I32", [cols], ["i", 0, groups] if act else ["g", group if group > 0 else cols]

    return dict(quant_method="gptq", bits=bits, group_size=group, desc_act=act, sym=sym,
                checkpoint_format="gptq_v2" if v2 else "gptq"), tensors


def awq(group=64, dtype="F16"):
    def tensors(name, rows, cols):
        groups = up(cols, group) if group > 0 else 1
        yield ".qweight", "I32", [cols, rows // 8], ["b"]
        yield ".qzeros", "I32", [groups, rows // 8], ["b"]
        yield ".scales", dtype, [groups, rows], scale()

    return dict(quant_method="awq", bits=4, group_size=group, version="gemm", zero_point=True), tensors


def ct_weights(bits, kind="int", strategy="group", group=None, symmetric=True, block=None, actorder=None):
    return dict(num_bits=bits, type=kind, symmetric=symmetric, group_size=group, strategy=strategy, block_structure=block,
                dynamic=False, actorder=actorder)


def ct(fmt, *groups):
    """groups: (targets, format or None, weights)"""
    table = {}
    for i, (targets, own, weights) in enumerate(groups):
        table[f"group_{i}"] = dict(targets=targets, weights=weights, input_activations=None, output_activations=None)
        if own:
            table[f"group_{i}"]["format"] = own
    return dict(quant_method="compressed-tensors", format=fmt, quantization_status="compressed", ignore=["lm_head"],
                config_groups=table)


def packed_tensors(bits, group, sym, act, dtype, exponent, dense):
    def words(n):
        return up(n * bits, 32) if dense else up(n, 32 // bits)

    def tensors(name, rows, cols):
        groups = up(cols, group) if group > 0 else 1
        yield ".weight_packed", "I32", [rows, words(cols)], ["b"]
        yield ".weight_scale", dtype, [rows, groups] if group else [1], scale(exponent)
        yield ".weight_shape", "I64", [2], ["v", [rows, cols]]
        if not sym:
            yield ".weight_zero_point", "I32", [words(rows), groups], ["b"]
        if act:
            yield ".weight_g_idx", "I32", [cols], ["i", 0, groups]

    return tensors


def packed(bits, group=32, sym=True, act=False, dtype="BF16", exponent=-6, dense=False):
    weights = ct_weights(bits, strategy="group" if group > 0 else "channel" if group else "tensor", group=group, symmetric=sym,
                         actorder="group" if act else None)
    return ct("pack-quantized", (["Linear"], None, weights)), packed_tensors(bits, group, sym, act, dtype, exponent, dense)


def int8_tensors(name, rows, cols):
    yield ".weight", "I8", [rows, cols], ["b"]
    yield ".weight_scale", "BF16", [rows, 1], scale(-9)


def int8_groups():
    """Groups of columns share a scale, which the reference does not take."""
    def tensors(name, rows, cols):
        yield ".weight", "I8", [rows, cols], ["b"]
        yield ".weight_scale", "F16", [rows, up(cols, 32)], scale(-9)

    return ct("int-quantized", (["Linear"], None, ct_weights(8, group=32))), tensors


def int8():
    return ct("int-quantized", (["Linear"], None, ct_weights(8, strategy="channel"))), int8_tensors


def groups():
    """8 bit where a pattern says so, int8 a row where the name does, else 4 bit."""
    config = ct("mixed-precision",
                (["re:.*down_proj$"], "pack-quantized", ct_weights(8, group=32)),
                (["model.layers.1.self_attn.o_proj"], "int-quantized", ct_weights(8, strategy="channel", group=-1)),
                (["Linear"], "pack-quantized", ct_weights(4, group=64, symmetric=False)))

    def tensors(name, rows, cols):
        if name.endswith("down_proj"):
            return packed_tensors(8, 32, True, False, "BF16", -6, False)(name, rows, cols)
        if name == "model.layers.1.self_attn.o_proj":
            return int8_tensors(name, rows, cols)
        return packed_tensors(4, 64, False, False, "F16", -6, False)(name, rows, cols)

    return config, tensors


def fp8(block=(128, 128), dtype="F8_E4M3", scales="F32"):
    """block None: one number a tensor, of shape [] or [1], and others that are not used."""
    def tensors(name, rows, cols):
        yield ".weight", dtype, [rows, cols], ["b"]
        if block:
            yield ".weight_scale_inv", scales, [up(rows, block[0]), up(cols, block[1])], scale(-9)
        else:
            yield ".weight_scale_inv", scales, [1] if "_proj" in name and name[-6] in "eop" else [], scale(-9)
            yield ".activation_scale", scales, [], ["c", 1.0]

    return dict(quant_method="fp8", weight_block_size=list(block) if block else None), tensors


def float8(strategy, block=None):
    def tensors(name, rows, cols):
        yield ".weight", "F8_E4M3", [rows, cols], ["b"]
        yield ".weight_scale", "BF16", [up(rows, block[0]), up(cols, block[1])] if block else [rows, 1], scale(-9)

    return ct("float-quantized", (["Linear"], None, ct_weights(8, "float", strategy, block=block))), tensors


def modelopt():
    def tensors(name, rows, cols):
        yield ".weight", "F8_E4M3", [rows, cols], ["b"]
        yield ".weight_scale", "F32", [rows] if "mlp" in name else [], scale(-9)
        yield ".input_scale", "F32", [], scale(-9)
        if name.endswith("k_proj"):
            yield ".k_scale", "F32", [], scale(-9)

    return dict(quant_method="modelopt", quant_algo="FP8"), tensors


def mxfp4():
    def tensors(name, rows, cols):
        yield ".weight_packed", "U8", [rows, cols // 2], ["b"]
        yield ".weight_scale", "U8", [rows, cols // 32], ["i", 115, 125]

    return ct("mxfp4-pack-quantized", (["Linear"], None, ct_weights(4, "float", group=32))), tensors


def nvfp4():
    def tensors(name, rows, cols):
        yield ".weight_packed", "U8", [rows, cols // 2], ["b"]
        yield ".weight_scale", "F8_E4M3", [rows, cols // 16], ["i", 1, 0x7E]
        yield ".weight_global_scale", "F32", [1], ["u", 9, 256.0]
        yield ".input_global_scale", "F32", [1], ["u", 9, 256.0]

    return ct("nvfp4-pack-quantized", (["Linear"], None, ct_weights(4, "float", "tensor_group", 16))), tensors


def bitnet():
    def tensors(name, rows, cols):
        yield ".weight", "U8", [rows // 4, cols], ["b"]
        yield ".weight_scale", "BF16", [1], ["v", [4.0 if "gate" in name else 3.0]]

    return dict(quant_method="bitnet", linear_class="bitlinear", quantization_mode="offline"), tensors


NF4 = [-1.0, -0.6961928009986877, -0.5250730514526367, -0.39491748809814453, -0.28444138169288635, -0.18477343022823334,
       -0.09105003625154495, 0.0, 0.07958029955625534, 0.16093020141124725, 0.24611230194568634, 0.33791524171829224,
       0.44070982933044434, 0.5626170039176941, 0.7229568362236023, 1.0]
FP4 = [0.0, 0.005208333333333333, 0.6666666666666666, 1.0, 0.3333333333333333, 0.5, 0.16666666666666666, 0.25]
FP4 += [-v for v in FP4]


def bnb4(kind, nested, block=64, nested_block=256):
    def tensors(name, rows, cols):
        n, n_blocks = rows * cols, up(rows * cols, block)
        state = dict(quant_type=kind, blocksize=block, dtype="bfloat16", shape=[rows, cols])
        if nested:
            state.update(nested_blocksize=nested_block, nested_dtype="float32", nested_offset=0.03125 + 2.0 ** -20)
        text = json.dumps(state).encode()
        yield ".weight", "U8", [up(n, 2), 1], ["b"]
        yield ".weight.quant_map", "F32", [16], ["v", NF4 if kind == "nf4" else FP4]
        if nested:
            yield ".weight.absmax", "U8", [n_blocks], ["b"]
            yield ".weight.nested_absmax", "F32", [up(n_blocks, nested_block)], scale()
            yield ".weight.nested_quant_map", "F32", [256], ["u", 0, 0.0]
        else:
            yield ".weight.absmax", "F32", [n_blocks], scale()
        yield ".weight.quant_state.bitsandbytes__" + kind, "U8", [len(text)], ["v", list(text)]

    return dict(quant_method="bitsandbytes", load_in_4bit=True, load_in_8bit=False, bnb_4bit_quant_type=kind,
                bnb_4bit_use_double_quant=nested), tensors


def bnb8():
    def tensors(name, rows, cols):
        yield ".weight", "I8", [rows, cols], ["b"]
        yield ".SCB", "F32", [rows], scale(0)
        yield ".weight_format", "U8", [], ["c", 0]

    return dict(quant_method="bitsandbytes", load_in_4bit=False, load_in_8bit=True), tensors


# ---- models ----

def config_of(hidden, ff, layers, head, moe):
    heads, kv = (6, 3) if head == 32 else (hidden // head, max(1, hidden // head // 4))
    c = dict(architectures=["LlamaForCausalLM"], model_type="llama", hidden_size=hidden, intermediate_size=ff,
             num_hidden_layers=layers, num_attention_heads=heads, num_key_value_heads=kv, head_dim=head, vocab_size=512,
             rms_norm_eps=1e-6, rope_theta=1e6, max_position_embeddings=4096, bos_token_id=1, eos_token_id=2,
             tie_word_embeddings=False, torch_dtype="bfloat16")
    if moe:
        c.update(architectures=["MixtralForCausalLM"], model_type="mixtral", num_local_experts=4, num_experts_per_tok=2)
    return c


def modules(c, moe):
    """(name, rows, columns) of what is quantized."""
    hidden, ff, head = c["hidden_size"], c["intermediate_size"], c["head_dim"]
    q, kv = c["num_attention_heads"] * head, c["num_key_value_heads"] * head
    parts = [f"block_sparse_moe.experts.{i}.w%d" for i in range(c["num_local_experts"])] if moe else ["mlp.%s_proj"]
    for i in range(c["num_hidden_layers"]):
        at = f"model.layers.{i}."
        for name, rows, cols in (("q", q, hidden), ("k", kv, hidden), ("v", kv, hidden), ("o", hidden, q)):
            yield f"{at}self_attn.{name}_proj", rows, cols
        for part in parts:
            for name, rows, cols in (("gate", ff, hidden), ("up", ff, hidden), ("down", hidden, ff)):
                yield at + part % ({"gate": 1, "up": 3, "down": 2}[name] if moe else name), rows, cols


def plain(c, moe):
    hidden, norm = c["hidden_size"], ["u", -3, 1.0]
    yield "model.embed_tokens.weight", "BF16", [c["vocab_size"], hidden], ["n", -4]
    yield "lm_head.weight", "BF16", [c["vocab_size"], hidden], ["n", -4]
    yield "model.norm.weight", "BF16", [hidden], norm
    for i in range(c["num_hidden_layers"]):
        at = f"model.layers.{i}."
        for name in ("input_layernorm", "post_attention_layernorm"):
            yield f"{at}{name}.weight", "BF16", [hidden], norm
        if moe:
            yield f"{at}block_sparse_moe.gate.weight", "BF16", [c["num_local_experts"], hidden], ["n", -4]


TINY = {"k256": (256, 512, 2), "": (192, 320, 2), "odd": (180, 332, 1), "k160": (160, 352, 1), "130": (130, 130, 1)}

# name: (scheme, tiny dimensions, experts)
MODELS = {
    "gptq3": (gptq(3), "", False),
    "gptq3-act": (gptq(3, group=32, act=True, sym=False), "", False),
    "gptq3-v2-channel": (gptq(3, group=-1, v2=True, index=False), "", False),
    "gptq3-moe": (gptq(3), "", True),
    "gptq4-no-index": (gptq(4, index=False, group=128), "", False),
    "gptq4-sym": (gptq(4, group=32, symmetric_zeros=True), "", False),
    "gptq4-asym": (gptq(4, group=64, sym=False, dtype="BF16"), "", False),
    "gptq4-act": (gptq(4, group=64, act=True), "", False),
    "gptq8-sym": (gptq(8, group=64, symmetric_zeros=True, v2=True), "", False),
    "awq": (awq(), "", False),
    "awq-g32": (awq(32, "BF16"), "", False),
    "awq-channel": (awq(-1), "", False),
    "awq-moe": (awq(), "", True),
    "packed2": (packed(2), "", False),
    "packed3-asym": (packed(3, sym=False), "", False),
    "packed4-sym": (packed(4), "", False),
    "packed4-channel": (packed(4, group=-1), "", False),
    "packed4-tensor": (packed(4, group=0), "", False),
    "packed4-asym": (packed(4, group=64, sym=False), "", False),
    "packed4-act": (packed(4, group=64, act=True), "", False),
    "packed4-moe": (packed(4, group=32), "", True),
    "packed4-wide": (packed(4, dtype="F32", exponent=-30), "", False),
    "packed5-act": (packed(5, group=64, act=True, sym=False), "", False),
    "packed6-channel": (packed(6, group=-1, sym=False, dtype="F16"), "", False),
    "packed7": (packed(7, group=64, dtype="F32"), "", False),
    "dense3": (packed(3, dense=True), "", False),
    "dense5-asym-act": (packed(5, group=64, act=True, sym=False, dense=True), "", False),
    "dense6-channel": (packed(6, group=-1, sym=False, dtype="F16", dense=True), "odd", False),
    "dense7-asym": (packed(7, group=64, sym=False, dtype="F32", dense=True), "", False),
    "packed8-sym": (packed(8), "", False),
    "int8": (int8(), "", False),
    "int8-moe": (int8(), "", True),
    "groups": (groups(), "", False),
    "bnb-nf4": (bnb4("nf4", False), "", False),
    "bnb-nf4-nested": (bnb4("nf4", True), "", False),
    "bnb-fp4": (bnb4("fp4", False, block=4096), "", False),
    "bnb-fp4-nested": (bnb4("fp4", True, block=128, nested_block=64), "", False),
    "bnb-int8": (bnb8(), "", False),
    "bnb-nf4-moe": (bnb4("nf4", True), "", True),
    "int8-odd": (int8(), "odd", False),
    "int8-groups": (int8_groups(), "", False),
    "gptq2-act-moe": (gptq(2, group=16, act=True, v2=True), "", True),
    "gptq4-odd": (gptq(4, group=16, sym=False, dtype="F32"), "k160", False),
    "gptq8-channel": (gptq(8, group=-1, sym=False), "k160", False),
    "packed4-odd": (packed(4, group=16, sym=False, dtype="F16"), "k160", False),
    "packed8-odd": (packed(8, group=4, sym=False, dtype="F32"), "odd", False),
    "fp8": (fp8(), "", False),
    "fp8-130": (fp8(), "130", False),
    "fp8-odd": (fp8((48, 64), "F8_E5M2", "BF16"), "odd", False),
    "fp8-scalar": (fp8(None, "F8_E5M2"), "odd", False),
    "fp8-moe": (fp8((64, 128), scales="BF16"), "k160", True),
    "float8-channel": (float8("channel"), "odd", False),
    "float8-block": (float8("block", [128, 32]), "odd", False),
    "modelopt": (modelopt(), "odd", False),
    "mxfp4": (mxfp4(), "", False),
    "mxfp4-moe": (mxfp4(), "", True),
    "nvfp4": (nvfp4(), "", False),
    "bitnet": (bitnet(), "k256", False),
}


def spec(name, dims=None):
    (quantization, tensors), tiny, moe = MODELS[name]
    c = config_of(*(dims or TINY[tiny]), 128 if dims else 32, moe)
    c["quantization_config"] = quantization
    weights = [list(t) for t in plain(c, moe)]
    for module, rows, cols in modules(c, moe):
        weights += [[module + suffix, *rest] for suffix, *rest in tensors(module, rows, cols)]
    files = {"config.json": {"json": c}}
    for f in ("tokenizer.model", "tokenizer_config.json"):
        files[f] = {"copy": "spm-tiny/" + f}
    return dict(name="Quantized-" + name, seed=7, files=files, weights={"model.safetensors": weights}, runs=[], quants=[])


if __name__ == "__main__":
    if sys.argv[1] == "--all":
        for name in MODELS:
            with open(f"{sys.argv[2]}/{name}.json", "w") as f:
                json.dump(spec(name), f)
    else:
        json.dump(spec(sys.argv[1], [int(n) for n in sys.argv[2:]] or None), sys.stdout)
