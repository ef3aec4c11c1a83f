#!/usr/bin/env python3
"""Turns a model's safetensors into files of torch.save, without torch: torch_twin.py FOLDER HOW

HOW: plain      pytorch_model.bin, tensors in the order in which the reference reads the safetensors
     reversed   the same in the opposite order
     shards     three files and an index, tensors dealt out in turn
     views      matrices as transposed, strided and sliced views, all of one element type in one storage
     nested     {"model": the dict}
     adapter    adapter_model.bin, tensors in the order of the file
"""
import collections, json, os, pickle, struct, sys, types, zipfile

TYPES = {"F64": ("Double", 8), "F32": ("Float", 4), "F16": ("Half", 2), "BF16": ("BFloat16", 2), "I64": ("Long", 8),
         "I32": ("Int", 4), "I16": ("Short", 2), "I8": ("Char", 1), "U8": ("Byte", 1), "BOOL": ("Bool", 1)}


def module(name, **members):
    m = types.ModuleType(name)
    for key, value in members.items():
        value.__module__, value.__qualname__ = name, key
        setattr(m, key, value)
    sys.modules[name] = m
    return m


def rebuild():
    pass


torch = module("torch", **{t + "Storage": type(t + "Storage", (), {}) for t, _ in TYPES.values()})
torch._utils = module("torch._utils", _rebuild_tensor_v2=rebuild)


class Storage:
    def __init__(self, dtype, data):
        self.kind, self.size = TYPES[dtype]
        self.data = data


class Tensor:
    def __init__(self, storage, offset, shape, strides):
        self.args = storage, offset, tuple(shape), tuple(strides), False, collections.OrderedDict()

    def __reduce__(self):
        return rebuild, self.args


class Pickler(pickle.Pickler):
    def __init__(self, f, storages):
        super().__init__(f, protocol=2)
        self.storages = storages

    def persistent_id(self, x):
        if not isinstance(x, Storage):
            return None
        if x not in self.storages:
            self.storages.append(x)
        kind = getattr(torch, x.kind + "Storage")
        return "storage", kind, str(self.storages.index(x)), "cpu", len(x.data) // x.size


def save(path, value):
    name, storages = os.path.splitext(os.path.basename(path))[0], []
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as z:
        with z.open(name + "/data.pkl", "w") as f:
            Pickler(f, storages).dump(value)
        z.writestr(name + "/byteorder", "little")
        for i, s in enumerate(storages):
            z.writestr(f"{name}/data/{i}", s.data)
        z.writestr(name + "/version", "3\n")


def contiguous(shape):
    strides, n = [], 1
    for d in reversed(shape):
        strides.insert(0, n)
        n *= d
    return strides


def place(data, size, shape, strides, offset, into):
    """Copies elements in order to where a view with these strides finds them."""
    index = [0] * len(shape)
    for i in range(0, len(data), size):
        at = (offset + sum(k * s for k, s in zip(index, strides))) * size
        into[at:at + size] = data[i:i + size]
        for d in reversed(range(len(shape))):
            index[d] += 1
            if index[d] < shape[d]:
                break
            index[d] = 0


def views(tensors):
    """Every element type has one storage; vectors get every third element of theirs, matrices take turns."""
    out, pools = {}, {}
    for i, (name, (dtype, shape, data)) in enumerate(tensors.items()):
        strides, gap = contiguous(shape), 1
        if len(shape) == 2 and i % 3 == 0:
            strides = [1, shape[0]]
        elif len(shape) == 2 and i % 3 == 1:
            strides = [shape[1] + 5, 1]
        elif len(shape) == 1:
            strides = [3]
        span = 1 + sum((d - 1) * s for d, s in zip(shape, strides)) if all(shape) else 0
        pool = pools.setdefault(dtype, Storage(dtype, bytearray()))
        offset = len(pool.data) // pool.size + gap
        pool.data += bytes((gap + span) * pool.size)
        place(data, pool.size, shape, strides, offset, pool.data)
        out[name] = Tensor(pool, offset, shape, strides)
    return out


def whole(tensors):
    return {n: Tensor(Storage(d, data), 0, s, contiguous(s)) for n, (d, s, data) in tensors.items()}


folder, how = sys.argv[1:]
tensors = {}
for f in sorted(os.listdir(folder)):
    if f.endswith(".safetensors"):
        raw = open(os.path.join(folder, f), "rb").read()
        n = struct.unpack_from("<Q", raw)[0]
        header = json.loads(raw[8:8 + n])
        for name, t in header.items() if how == "adapter" else sorted(header.items()):
            if name != "__metadata__":
                tensors[name] = t["dtype"], t["shape"], raw[8 + n + t["data_offsets"][0]:8 + n + t["data_offsets"][1]]
    if f.endswith(".safetensors") or f == "model.safetensors.index.json":
        os.remove(os.path.join(folder, f))
if how == "reversed":
    tensors = dict(reversed(tensors.items()))
out = os.path.join(folder, "pytorch_model.bin")
if how in ("plain", "reversed"):
    state = collections.OrderedDict(whole(tensors))
    state._metadata = collections.OrderedDict({"": {"version": 1}})
    save(out, state)
elif how == "shards":
    weight_map = {}
    for k in range(3):
        name = f"pytorch_model-{k + 1:05d}-of-00003.bin"
        part = dict(list(whole(tensors).items())[k::3])
        save(os.path.join(folder, name), part)
        weight_map.update(dict.fromkeys(part, name))
    json.dump({"metadata": {}, "weight_map": weight_map}, open(out + ".index.json", "w"))
elif how == "views":
    save(out, views(tensors))
elif how == "nested":
    save(out, {"model": whole(tensors)})
elif how == "adapter":
    save(os.path.join(folder, "adapter_model.bin"), whole(tensors))
else:
    sys.exit(__doc__)
