#!/usr/bin/env python3
"""What a quantized checkpoint's numbers are, by each format's own definition and numpy alone (nothing of hfgguf).

  oracle.py OUT IN...    writes each model to a folder of its name in OUT, with float32 weights and without quantization_config

All arithmetic is float32, one rounding an operation, in the order that the format's own library has.
"""
import json, os, re, struct, sys

import numpy as np

F32 = np.float32
PLAIN = {"F64": "<f8", "F32": "<f4", "F16": "<f2", "I64": "<i8", "I32": "<i4", "I16": "<i2", "I8": "i1", "U8": "u1", "BOOL": "u1"}


def float_table(exponent_bits, mantissa_bits, bias):
    """Values of all codes of a small float type, sign first."""
    out = []
    for code in range(1 << 1 + exponent_bits + mantissa_bits):
        m, e = code & (1 << mantissa_bits) - 1, code >> mantissa_bits & (1 << exponent_bits) - 1
        v = 2.0 ** (e - bias) * (1 + m / 2 ** mantissa_bits) if e else 2.0 ** (1 - bias) * m / 2 ** mantissa_bits
        out.append(-v if code >> exponent_bits + mantissa_bits else v)
    return np.array(out, F32)


E4M3, E5M2, E2M1 = float_table(4, 3, 7), float_table(5, 2, 15), float_table(2, 1, 1)
E4M3[[0x7F, 0xFF]] = np.nan


class Tensor:
    def __init__(self, dtype, shape, raw):
        self.dtype, self.shape, self.raw = dtype, shape, raw

    def codes(self):
        """The stored numbers: integers, or bytes of types that numpy lacks."""
        return np.frombuffer(self.raw, PLAIN.get(self.dtype, "<u2" if self.dtype == "BF16" else "u1")).reshape(self.shape)

    def floats(self):
        c = self.codes()
        if self.dtype == "BF16":
            return (c.astype("<u4") << 16).view("<f4")
        return E4M3[c] if self.dtype == "F8_E4M3" else E5M2[c] if self.dtype == "F8_E5M2" else c.astype(F32)

    def unsigned(self):
        return self.codes().astype("<i4").view("<u4")


def load(path):
    with open(path, "rb") as f:
        head = json.loads(f.read(struct.unpack("<Q", f.read(8))[0]))
        data = f.read()
    head.pop("__metadata__", None)
    return {k: Tensor(v["dtype"], v["shape"], data[slice(*v["data_offsets"])]) for k, v in head.items()}


def store(path, tensors):
    head, at = {"__metadata__": {"format": "pt"}}, 0
    for name, t in tensors.items():
        head[name] = {"dtype": t.dtype, "shape": list(t.shape), "data_offsets": [at, at + len(t.raw)]}
        at += len(t.raw)
    text = json.dumps(head).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as f:
        f.write(struct.pack("<Q", len(text)) + text)
        f.writelines(t.raw for t in tensors.values())


# ---- packed integers ----

def stream(words, bits):
    """Words of each row as one stream of bits, lowest first, cut into values."""
    as_bits = np.unpackbits(np.ascontiguousarray(words).view("u1"), axis=-1, bitorder="little")
    as_bits = as_bits[..., :as_bits.shape[-1] // bits * bits]
    return (as_bits.reshape(*words.shape[:-1], -1, bits).astype("i4") << np.arange(bits)).sum(-1)


def fields(words, bits):
    """Each word's own values, lowest first; bits that make no whole value are unused."""
    shifts = np.arange(32 // bits, dtype="<u4") * np.uint32(bits)
    return (words[..., None] >> shifts & np.uint32((1 << bits) - 1)).reshape(*words.shape[:-1], -1).astype("i4")


def affine(q, zero, scale, group_of):
    """q [rows, columns]; zero and scale [rows, groups]"""
    return (q - zero[:, group_of]).astype(F32) * scale[:, group_of]


def in_order(columns, n_groups, size):
    return np.arange(columns) // (size if size and size > 0 else columns)


# ---- schemes: each takes the tensors of a module by suffix ----

def gptq(m, config):
    words, n_groups = m["qweight"].unsigned(), m["scales"].shape[0]
    q = stream(words.T, config["bits"])
    zero = stream(m["qzeros"].unsigned(), config["bits"]) + (config.get("checkpoint_format", "gptq") == "gptq")
    group = m["g_idx"].codes() if "g_idx" in m else in_order(q.shape[1], n_groups, config["group_size"])
    return affine(q, zero.T, m["scales"].floats().T, group)


AWQ_ROWS = [0, 2, 4, 6, 1, 3, 5, 7]  # nibble i of a word holds this row of its eight


def awq(m, config):
    def rows(words):
        out = np.empty((words.shape[0], words.shape[1] * 8), "i4")
        for i, row in enumerate(AWQ_ROWS):
            out[:, row::8] = words >> np.uint32(4 * i) & np.uint32(15)
        return out.T

    q, zero, scale = rows(m["qweight"].unsigned()), rows(m["qzeros"].unsigned()), m["scales"].floats().T
    return affine(q, zero, scale, in_order(q.shape[1], scale.shape[1], config["group_size"]))


def pack_quantized(m, weights):
    bits, (rows, columns), words = weights["num_bits"], m["weight_shape"].codes(), m["weight_packed"].unsigned()
    unpack = fields if words.shape[1] == -(-columns // (32 // bits)) else stream  # the library's newer way
    q = unpack(words, bits)[:, :columns]
    scale = m["weight_scale"].floats().reshape(-1, m["weight_scale"].shape[-1])
    scale = np.broadcast_to(scale, (rows, scale.shape[1]))  # one of the whole tensor, else as it is
    zero = np.full(scale.shape, 1 << bits - 1)
    if "weight_zero_point" in m:  # packed along the rows
        zero = unpack(m["weight_zero_point"].unsigned().T, bits).T[:rows]
    group = m["weight_g_idx"].codes() if "weight_g_idx" in m else in_order(columns, scale.shape[1], weights["group_size"])
    return affine(q, zero, scale, group)


def nibbles(packed):
    return np.stack([packed & 15, packed >> 4], -1).reshape(*packed.shape[:-1], -1)


def fp4(m, weights, fmt):
    group, scale = (32, np.exp2(m["weight_scale"].codes().astype(F32) - 127)) if fmt.startswith("mxfp4") else (
        16, m["weight_scale"].floats())
    value = E2M1[nibbles(m["weight_packed"].codes())] * np.repeat(scale, group, -1)
    if "weight_global_scale" in m:
        value = value * (F32(1) / m["weight_global_scale"].floats())
    return value


def blocks(m, scale, block):
    """block: rows and columns that share a scale, or None: it is of a row or of the whole tensor."""
    w = m["weight"].floats()
    if block:
        scale = np.repeat(np.repeat(scale, block[0], 0), block[1], 1)[:w.shape[0], :w.shape[1]]
    return w * scale.reshape(scale.shape if scale.ndim == 2 else (-1, 1))


def plain(m, weights):
    block = [1, weights["group_size"]] if weights["strategy"] == "group" else weights.get("block_structure")
    return blocks(m, m["weight_scale"].floats(), block)


def group_for(module, groups):
    """By name, then by pattern, then by class."""
    for test in (lambda t: t == module, lambda t: t.startswith("re:") and re.match(t[3:], module), lambda t: "." not in t):
        for g in groups:
            if any(test(t) for t in g["targets"]):
                return g


def compressed_tensors(m, config, module):
    g = group_for(module, config["config_groups"].values())
    fmt = g.get("format", config["format"])
    if fmt.endswith("fp4-pack-quantized"):
        return fp4(m, g["weights"], fmt)
    return (pack_quantized if fmt == "pack-quantized" else plain)(m, g["weights"])


def fp8(m, config):
    return blocks(m, m["weight_scale_inv"].floats(), config["weight_block_size"])


def modelopt(m, config):
    return blocks(m, m["weight_scale"].floats(), None)


def bitnet(m, config):
    planes = [m["weight"].codes() >> shift & 3 for shift in (0, 2, 4, 6)]
    return (np.concatenate(planes).astype(F32) - 1) / m["weight_scale"].floats()


def bitsandbytes(m, config):
    if "SCB" in m:
        return m["weight"].floats() * m["SCB"].floats()[:, None] * F32(7.874015718698502e-3)
    state = next(json.loads(t.raw) for k, t in m.items() if "bitsandbytes__" in k)
    packed, n = m["weight"].codes().reshape(-1), int(np.prod(state["shape"]))
    q = np.stack([packed >> 4, packed & 15], -1).reshape(-1)[:n]
    absmax = m["weight.absmax"].floats()
    if "weight.nested_absmax" in m:
        outer = np.repeat(m["weight.nested_absmax"].floats(), state["nested_blocksize"])[:absmax.size]
        absmax = m["weight.nested_quant_map"].floats()[m["weight.absmax"].codes()] * outer + F32(state["nested_offset"])
    return (m["weight.quant_map"].floats()[q] * np.repeat(absmax, state["blocksize"])[:n]).reshape(state["shape"])


SCHEMES = {"gptq": gptq, "awq": awq, "fp8": fp8, "modelopt": modelopt, "bitnet": bitnet, "bitsandbytes": bitsandbytes}
MARKS = ("qweight", "weight_packed", "weight_scale", "weight_scale_inv", "weight.absmax", "SCB")


def dequantize(tensors, config):
    """{module: float32 matrix}, and the names of the tensors that they are made of."""
    out, used = {}, set()
    for name in tensors:
        module = next((name[:-len(mark) - 1] for mark in MARKS if name.endswith("." + mark)), None)
        if module and module not in out:
            m = {k[len(module) + 1:]: t for k, t in tensors.items() if k.startswith(module + ".")}
            method = config["quant_method"]
            with np.errstate(all="ignore"):
                value = compressed_tensors(m, config, module) if method == "compressed-tensors" else SCHEMES[method](m, config)
            assert value.dtype == F32
            out[module] = value
            used |= {f"{module}.{k}" for k in m}
    return out, used


def main(src, dst):
    config = json.load(open(os.path.join(src, "config.json")))
    tensors = load(os.path.join(src, "model.safetensors"))
    values, used = dequantize(tensors, config.pop("quantization_config"))
    kept = {k: t for k, t in tensors.items() if k not in used}
    kept.update({k + ".weight": Tensor("F32", v.shape, v.astype("<f4").tobytes()) for k, v in values.items()})
    os.makedirs(dst, exist_ok=True)
    for f in os.listdir(src):
        if f not in ("config.json", "model.safetensors") and not os.path.lexists(os.path.join(dst, f)):
            os.symlink(os.path.realpath(os.path.join(src, f)), os.path.join(dst, f))
    json.dump(config, open(os.path.join(dst, "config.json"), "w"), indent=2)
    store(os.path.join(dst, "model.safetensors"), kept)


if __name__ == "__main__":
    for model in sys.argv[2:]:
        main(model, os.path.join(sys.argv[1], os.path.basename(model)))
