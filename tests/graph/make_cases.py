# SPDX-License-Identifier: Apache-2.0
"""Makes cases.bin: inputs and outputs of single operations as torch, onnxruntime and numpy compute them.

Needs torch, onnx, onnxruntime and numpy; run once, by hand:  python make_cases.py cases.bin
The file is little-endian, without alignment: magic, number of cases, then for each case
name, op, text (u8 length + bytes), ints (u8 n + i32), floats (u8 n + f64), tolerance f64,
inputs and outputs (u8 n, then dtype u8 (0 = absent), rank u8, dims i32, data).
Attributes are encoded in the order test_ops.c reads them.
"""
import struct
import sys

import numpy as np
import onnx
import onnxruntime
import torch
import torch.nn.functional as F
from onnx import TensorProto, helper

rng = np.random.default_rng(20240607)
DTYPES = {"float32": 1, "float16": 2, "float64": 4, "int8": 5, "uint8": 6, "int16": 7, "uint16": 8, "int32": 9,
          "uint32": 10, "int64": 11, "uint64": 12, "bool": 13}
cases = []


def add(name, op, ins, outs, ints=(), floats=(), text="", tol=2e-6):
    cases.append((name, op, text, [int(i) for i in ints], [float(f) for f in floats], tol, ins, outs))


def r(*shape, low=-2.0, high=2.0):
    return rng.uniform(low, high, shape).astype(np.float32)


def i64(*values):
    return np.array(values, np.int64)


def ort(op, ins, n_out=1, opset=18, **attrs):
    """One ONNX node through onnxruntime; None marks a left-out input."""
    names = [f"i{k}" if x is not None else "" for k, x in enumerate(ins)]
    outs = [f"o{k}" for k in range(n_out)]
    node = helper.make_node(op, names, outs, **attrs)
    graph = helper.make_graph(
        [node], "case",
        [helper.make_tensor_value_info(n, helper.np_dtype_to_tensor_dtype(x.dtype), x.shape)
         for n, x in zip(names, ins) if x is not None],
        [helper.make_tensor_value_info(o, TensorProto.UNDEFINED, None) for o in outs])
    for o in graph.output:
        o.ClearField("type")
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=9)
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    return session.run(None, {n: x for n, x in zip(names, ins) if x is not None})


def t(x):
    return torch.from_numpy(np.ascontiguousarray(x))


def window(kernel, stride=(1, 1), dilation=(1, 1), pad=(0, 0, 0, 0), same=0):
    return [*kernel, *stride, *dilation, *pad, same]


# --- convolutions (torch in double) ---
for n, c, o, h, w, k, s, d, p, g in [
        (1, 3, 4, 9, 11, (3, 3), (1, 1), (1, 1), (1, 1), 1), (2, 4, 6, 8, 7, (3, 3), (2, 2), (1, 1), (1, 1), 2),
        (1, 5, 5, 10, 6, (5, 3), (1, 2), (1, 1), (2, 0), 5), (1, 2, 3, 13, 12, (3, 3), (1, 1), (2, 3), (2, 3), 1),
        (2, 8, 4, 5, 6, (1, 1), (1, 1), (1, 1), (0, 0), 1), (1, 4, 2, 6, 6, (1, 1), (2, 2), (1, 1), (0, 0), 1),
        (1, 1, 2, 4, 4, (4, 4), (1, 1), (1, 1), (0, 0), 1), (1, 2, 2, 1, 1, (3, 3), (1, 1), (1, 1), (1, 1), 1),
        (1, 3, 2, 7, 7, (7, 7), (2, 2), (1, 1), (3, 3), 1)]:
    x, wt, b = r(n, c, h, w), r(o, c // g, *k), r(o)
    y = F.conv2d(t(x).double(), t(wt).double(), t(b).double(), s, p, d, g).float().numpy()
    add(f"conv {k} s{s} d{d} p{p} g{g}", "conv", [x, wt, b], [y],
        window(k, s, d, (p[0], p[1], p[0], p[1])) + [g, 0, 0], [0, 0])
x, wt = r(1, 2, 8, 9), r(3, 2, 3, 3)
add("conv without bias, uneven pads", "conv", [x, wt],
    [F.conv2d(F.pad(t(x).double(), (0, 1, 2, 0)), t(wt).double()).float().numpy()],
    window((3, 3), pad=(2, 0, 0, 1)) + [1, 0, 0], [0, 0])
for h, w, s, k in [(8, 9, 2, 3), (7, 8, 3, 4), (6, 6, 2, 2)]:
    x, wt = r(1, 2, h, w), r(3, 2, k, k)
    for same, auto in [(1, "SAME_UPPER"), (2, "SAME_LOWER")]:
        add(f"conv {auto} {h}x{w} s{s} k{k}", "conv", [x, wt],
            ort("Conv", [x, wt], auto_pad=auto, strides=[s, s]), window((0, 0), (s, s), same=same) + [1, 0, 0], [0, 0])
x, wt, b, res = r(1, 3, 6, 5), r(4, 3, 3, 3), r(4), r(1, 4, 6, 5)
z = F.conv2d(t(x).double(), t(wt).double(), t(b).double(), padding=1)
add("conv + silu + residual", "conv", [x, wt, b, res], [(F.silu(z) + t(res).double()).float().numpy()],
    window((3, 3), pad=(1, 1, 1, 1)) + [1, 2, 0], [0, 0])
add("conv + residual, then leaky", "conv", [x, wt, b, res],
    [F.leaky_relu(z + t(res).double(), 0.25).float().numpy()], window((3, 3), pad=(1, 1, 1, 1)) + [1, 6, 1], [0.25, 0])
x16 = x.astype(np.float16)
add("conv in f16", "conv", [x16, wt.astype(np.float16), None, res.astype(np.float16)],
    [(F.conv2d(t(x16).double(), t(wt.astype(np.float16)).double(), padding=1)
      + t(res.astype(np.float16)).double()).half().numpy()],
    window((3, 3), pad=(1, 1, 1, 1)) + [1, 0, 0], [0, 0], tol=1e-3)

for n, c, o, h, w, k, s, d, p, op_, g in [
        (1, 3, 4, 5, 6, (3, 3), (2, 2), (1, 1), (1, 1), (1, 1), 1), (2, 4, 6, 4, 3, (2, 2), (2, 2), (1, 1), (0, 0), (0, 0), 2),
        (1, 2, 2, 4, 5, (4, 3), (2, 1), (1, 2), (1, 0), (0, 0), 1), (1, 3, 3, 3, 3, (2, 2), (3, 3), (1, 1), (0, 0), (1, 2), 3)]:
    x, wt, b = r(n, c, h, w), r(c, o // g, *k), r(o)
    y = F.conv_transpose2d(t(x).double(), t(wt).double(), t(b).double(), s, p, op_, g, d).float().numpy()
    add(f"conv_transpose {k} s{s} d{d} p{p} op{op_} g{g}", "conv_transpose", [x, wt, b], [y],
        window(k, s, d, (p[0], p[1], p[0], p[1])) + [*op_, 0, g, 0], [0, 0])
for k, s in [(3, 2), (2, 2), (4, 2), (5, 2), (2, 3)]:
    # Keras SAME: the gradient of a SAME convolution of stride s from an image of h * s pixels
    x, wt = r(1, 2, 4, 3), r(2, 3, k, k)
    full = np.zeros((1, 3, 4 * s + k, 3 * s + k))
    for iy in range(4):
        for ix in range(3):
            full[:, :, iy * s:iy * s + k, ix * s:ix * s + k] += np.einsum(
                "nc,cokl->nokl", x[:, :, iy, ix].astype(float), wt.astype(float))
    crop = max(k - s, 0) // 2
    y = full[:, :, crop:crop + 4 * s, crop:crop + 3 * s].astype(np.float32)
    add(f"conv_transpose Keras same k{k} s{s}", "conv_transpose", [x, wt], [y],
        window((0, 0), (s, s)) + [0, 0, 1, 1, 0], [0, 0])

# --- pooling ---
x = r(1, 2, 9, 10)
for k, s, p, d, ceil in [((2, 2), (2, 2), (0, 0), (1, 1), 0), ((2, 2), (2, 2), (0, 0), (1, 1), 1),
                         ((3, 3), (2, 2), (1, 1), (1, 1), 0), ((3, 3), (2, 2), (1, 1), (1, 1), 1),
                         ((5, 5), (1, 1), (2, 2), (1, 1), 0), ((3, 2), (1, 3), (1, 0), (2, 1), 0),
                         ((3, 3), (3, 3), (1, 1), (1, 1), 1)]:
    y = F.max_pool2d(t(x), k, s, p, d, bool(ceil)).numpy()
    add(f"max_pool {k} s{s} p{p} d{d} ceil{ceil}", "max_pool", [x], [y],
        window(k, s, d, (p[0], p[1], p[0], p[1])) + [ceil, 0])
    if d == (1, 1):
        for include in (0, 1):
            y = F.avg_pool2d(t(x).double(), k, s, p, bool(ceil), bool(include)).float().numpy()
            add(f"avg_pool {k} s{s} p{p} ceil{ceil} include{include}", "avg_pool", [x], [y],
                window(k, s, d, (p[0], p[1], p[0], p[1])) + [ceil, include])
add("max_pool SAME", "max_pool", [x], ort("MaxPool", [x], kernel_shape=[2, 2], strides=[2, 2], auto_pad="SAME_UPPER"),
    window((2, 2), (2, 2), same=1) + [0, 0])
add("max_pool stride 1 SAME", "max_pool", [x], ort("MaxPool", [x], kernel_shape=[2, 2], auto_pad="SAME_UPPER"),
    window((2, 2), same=1) + [0, 0])

# --- resize ---
MODES = {"nearest": 1, "linear": 2, "cubic": 3}
COORDS = {"half_pixel": 1, "asymmetric": 2, "align_corners": 3, "pytorch_half_pixel": 4}
ROUND = {"floor": 1, "round_prefer_floor": 2, "round_prefer_ceil": 3, "ceil": 4}
x = r(1, 2, 5, 6)
for mode, coords, rnd, size in [
        ("nearest", "asymmetric", "floor", (10, 12)), ("nearest", "asymmetric", "floor", (7, 9)),
        ("nearest", "half_pixel", "round_prefer_floor", (8, 3)), ("nearest", "half_pixel", "round_prefer_ceil", (3, 9)),
        ("nearest", "asymmetric", "ceil", (9, 4)), ("nearest", "align_corners", "round_prefer_floor", (9, 11)),
        ("linear", "half_pixel", "floor", (10, 12)), ("linear", "half_pixel", "floor", (3, 4)),
        ("linear", "asymmetric", "floor", (8, 9)), ("linear", "align_corners", "floor", (9, 4)),
        ("linear", "pytorch_half_pixel", "floor", (1, 9)), ("cubic", "half_pixel", "floor", (9, 10)),
        ("cubic", "align_corners", "floor", (7, 8)), ("cubic", "half_pixel", "floor", (3, 4))]:
    y = ort("Resize", [x, None, None, i64(1, 2, *size)], mode=mode, coordinate_transformation_mode=coords,
            nearest_mode=rnd, cubic_coeff_a=-0.75)
    add(f"resize {mode} {coords} {rnd} {size}", "resize", [x, i64(1, 2, *size)], y,
        [MODES[mode], COORDS[coords], ROUND[rnd], 0, 0], [-0.75, 0, 0], tol=1e-5)
for mode in ("nearest", "linear", "cubic"):
    y = ort("Resize", [x, None, np.array([1, 1, 2.0, 1.5], np.float32)], mode=mode, nearest_mode="floor",
            coordinate_transformation_mode="asymmetric" if mode == "nearest" else "half_pixel")
    add(f"resize {mode} by factors", "resize", [x], y, [MODES[mode], 2 if mode == "nearest" else 1, 1, 0, 0],
        [-0.75, 2.0, 1.5], tol=1e-5)
add("upsample nearest, torch", "resize", [x], [F.interpolate(t(x), scale_factor=2).numpy()], [1, 2, 1, 0, 0], [0, 2, 2])
add("upsample bilinear, torch", "resize", [x],
    [F.interpolate(t(x), scale_factor=2, mode="bilinear").numpy()], [2, 1, 1, 0, 0], [0, 2, 2])
x = r(1, 2, 13, 17)
for size in [(6, 5), (13, 8), (20, 4), (5, 17)]:
    y = F.interpolate(t(x), size=size, mode="bilinear", antialias=True).numpy()
    add(f"resize antialias linear {size}", "resize", [x, i64(*size)], [y], [2, 1, 1, 1, 1], [0, 0, 0], tol=1e-5)
    y = F.interpolate(t(x), size=size, mode="bicubic", antialias=True).numpy()
    add(f"resize antialias cubic {size}", "resize", [x, i64(*size)], [y], [3, 1, 1, 1, 1], [-0.5, 0, 0], tol=1e-5)
for mode in ("linear", "cubic"):
    for exclude in (0, 1):
        for antialias in (0, 1):
            if mode == "linear" and exclude and not antialias:
                continue  # onnxruntime refuses it
            size = i64(1, 2, 6, 20)
            y = ort("Resize", [x, None, None, size], mode=mode, antialias=antialias, exclude_outside=exclude)
            add(f"resize {mode} antialias{antialias} exclude{exclude}, onnx", "resize", [x, size], y,
                [MODES[mode], 1, 1, antialias, exclude], [-0.75, 0, 0], tol=1e-5)
x, grid = r(2, 3, 5, 6), r(2, 4, 3, 2, low=-1.3, high=1.3)
for mode in (0, 1):
    for pad in (0, 1):
        for align in (0, 1):
            y = F.grid_sample(t(x), t(grid), ["bilinear", "nearest"][mode], ["zeros", "border"][pad], bool(align))
            add(f"grid_sample {mode}{pad}{align}", "grid_sample", [x, grid], [y.numpy()], [mode, pad, align], tol=1e-5)

# --- linear algebra ---
for a, b in [((3, 4), (4, 5)), ((2, 3, 4), (4, 5)), ((2, 1, 3, 4), (5, 4, 2)), ((4,), (4, 5)), ((2, 3, 4), (4,)),
             ((4,), (4,))]:
    x, y = r(*a), r(*b)
    add(f"matmul {a} {b}", "matmul", [x, y], [np.asarray(np.matmul(x.astype(float), y.astype(float)), np.float32)])
for ta, tb in [(0, 0), (1, 0), (0, 1), (1, 1)]:
    x, y, c = r(*((4, 3) if ta else (3, 4))), r(*((5, 4) if tb else (4, 5))), r(5)
    z = ort("Gemm", [x, y, c], transA=ta, transB=tb, alpha=0.5, beta=2.0)
    add(f"gemm {ta}{tb}", "gemm", [x, y, c], z, [ta, tb], [0.5, 2.0])
for eq, a, b in [("bchw,bkc->bkhw", (2, 3, 4, 2), (2, 5, 3)), ("bmchw,bnmc->bmhwn", (1, 2, 3, 2, 2), (1, 4, 2, 3)),
                 ("ij,ij->", (3, 4), (3, 4)), ("ii,j->ij", (3, 3), (2,))]:
    x, y = r(*a), r(*b)
    add(f"einsum {eq}", "einsum", [x, y], [np.asarray(np.einsum(eq, x.astype(float), y.astype(float)), np.float32)],
        text=eq)
x = r(3, 4)
add("einsum of one", "einsum", [x], [np.ascontiguousarray(x.T)], text="ij->ji")

# --- normalisation ---
x, s, b, m, v = r(2, 3, 4, 5), r(3), r(3), r(3), r(3, low=0.1)
add("batch_norm", "batch_norm", [x, s, b, m, v],
    [F.batch_norm(t(x).double(), t(m).double(), t(v).double(), t(s).double(), t(b).double(), eps=1e-3).float().numpy()],
    [0], [1e-3])
s, b = r(4, 5), r(4, 5)
add("layer_norm", "layer_norm", [x, s, b],
    [F.layer_norm(t(x).double(), (4, 5), t(s).double(), t(b).double(), 1e-6).float().numpy()], [2], [1e-6])
add("layer_norm plain", "layer_norm", [x], [F.layer_norm(t(x).double(), (5,), eps=1e-5).float().numpy()], [-1], [1e-5])
s, b = r(3), r(3)
add("instance_norm", "instance_norm", [x, s, b],
    [F.instance_norm(t(x).double(), weight=t(s).double(), bias=t(b).double(), eps=1e-5).float().numpy()], [0], [1e-5])
for axis in (1, -1):
    add(f"softmax {axis}", "softmax", [x * 30], [F.softmax(t(x * 30).double(), axis).float().numpy()], [axis])
    add(f"log_softmax {axis}", "log_softmax", [x], [F.log_softmax(t(x).double(), axis).float().numpy()], [axis])

# --- one input ---
x = np.concatenate([r(60, low=-8, high=8), np.array([0, -0.5, 0.5, 1.5, 2.5, -2.5, 100, -100], np.float32)])
d = t(x).double()
UNARY = {
    "sigmoid": torch.sigmoid(d), "silu": F.silu(d), "relu": F.relu(d), "gelu": F.gelu(d),
    "gelu_tanh": F.gelu(d, approximate="tanh"), "relu6": F.relu6(d), "hard_swish": F.hardswish(d), "mish": F.mish(d),
    "softplus": F.softplus(d, threshold=1000), "tanh": d.tanh(), "erf": d.erf(), "neg": -d, "abs": d.abs(), "floor": d.floor(),
    "ceil": d.ceil(), "round": d.round(), "sign": d.sign(), "sin": d.sin(), "cos": d.cos(), "atan": d.atan()}
for name, y in UNARY.items():
    add(name, "unary", [x], [y.float().numpy()], text=name, floats=[0, 0])
small = np.clip(x, -20, 20)
add("exp", "unary", [small], [t(small).double().exp().float().numpy()], text="exp", floats=[0, 0])
for name, f in [("log", torch.log), ("sqrt", torch.sqrt), ("reciprocal", torch.reciprocal)]:
    p = r(50, low=0.01, high=9)
    add(name, "unary", [p], [f(t(p).double()).float().numpy()], text=name, floats=[0, 0])
add("leaky", "unary", [x], [F.leaky_relu(d, 0.1).float().numpy()], text="leaky_relu", floats=[0.1, 0])
add("elu", "unary", [x], [F.elu(d, 0.7).float().numpy()], text="elu", floats=[0.7, 0])
add("hard_sigmoid", "unary", [x], ort("HardSigmoid", [x], alpha=0.25, beta=0.4), text="hard_sigmoid", floats=[0.25, 0.4])
flags = rng.integers(0, 2, 9).astype(bool)
add("not", "unary", [flags], [~flags], text="not", floats=[0, 0])
n = np.array([1, np.nan, np.inf], np.float32)
add("is_nan", "unary", [n], [np.isnan(n)], text="is_nan", floats=[0, 0])
whole = np.array([-3, 0, 5, -128], np.int8)
add("neg of i8", "unary", [whole], [-whole], text="neg", floats=[0, 0])
x16 = r(33).astype(np.float16)
add("tanh of f16", "unary", [x16], [np.tanh(x16.astype(float)).astype(np.float16)], text="tanh", floats=[0, 0], tol=1e-3)
x64 = rng.uniform(-2, 2, 17)
add("exp of f64", "unary", [x64], [np.exp(x64)], text="exp", floats=[0, 0], tol=1e-14)
add("clip", "clip", [x], [np.clip(x, -1, 2.5)], floats=[-1, 2.5])
add("clip open above", "clip", [x], [np.maximum(x, 0)], floats=[0, np.inf])
i = rng.integers(-50, 50, 20)
add("clip of i64", "clip", [i], [np.clip(i, -5, 7)], floats=[-5, 7])
for to in ("int64", "uint8", "float16", "float64", "bool"):
    p = r(20, low=0, high=100)
    add(f"cast to {to}", "cast", [p], [p.astype(to)], [DTYPES[to]])
add("cast u8 to f32", "cast", [np.arange(256, dtype=np.uint8)], [np.arange(256, dtype=np.float32)], [1])

# --- two inputs ---
BIN = {"add": np.add, "sub": np.subtract, "mul": np.multiply, "div": np.divide, "min": np.minimum, "max": np.maximum,
       "fmod": np.fmod, "equal": np.equal, "less": np.less, "less_equal": np.less_equal, "greater": np.greater,
       "greater_equal": np.greater_equal}
a, b = r(2, 3, 4), r(3, 1)
for name, f in BIN.items():
    add(f"{name} f32", "binary", [a, b], [f(a, b)], text=name)
ia, ib = rng.integers(-20, 20, (3, 1, 4)), rng.integers(1, 9, (2, 1)) * rng.choice([-1, 1], (2, 1))
for name in ("add", "sub", "mul", "min", "max", "equal", "less", "greater_equal"):
    add(f"{name} i64", "binary", [ia, ib], [BIN[name](ia, ib)], text=name)
add("div i64 truncates", "binary", [ia, ib], [np.trunc(ia / ib).astype(np.int64)], text="div")
add("mod i64", "binary", [ia, ib], [np.mod(ia, ib)], text="mod")
add("fmod i64", "binary", [ia, ib], [np.fmod(ia, ib)], text="fmod")
add("add i32", "binary", [ia.astype(np.int32), ib.astype(np.int32)], [(ia + ib).astype(np.int32)], text="add")
add("sub u8 wraps", "binary", [np.array([3, 200], np.uint8), np.array([5, 100], np.uint8)],
    [np.array([254, 100], np.uint8)], text="sub")
p = r(3, 4, low=0.1)
e = r(4)
add("pow f32", "binary", [p, e], [np.power(p.astype(float), e).astype(np.float32)], text="pow")
add("pow f32 i64", "binary", [p, i64(2)], [np.power(p.astype(float), 2).astype(np.float32)], text="pow")
add("pow i64", "binary", [i64(2, 3, -2), i64(10, 3, 3)], [i64(1024, 27, -8)], text="pow")
fa, fb = rng.integers(0, 2, (3, 4)).astype(bool), rng.integers(0, 2, 4).astype(bool)
for name, f in [("and", np.logical_and), ("or", np.logical_or), ("xor", np.logical_xor), ("equal", np.equal)]:
    add(f"{name} bool", "binary", [fa, fb], [f(fa, fb)], text=name)
add("add f16", "binary", [x16, x16[:1]], [x16 + x16[:1]], text="add", tol=1e-3)
c = rng.integers(0, 2, (2, 1, 4)).astype(bool)
y = r(3, 1)
add("where", "where", [c, y, np.float32(7)], [np.where(c, y, np.float32(7)).astype(np.float32)])

# --- reductions and order ---
RED = {1: "ReduceSum", 2: "ReduceMean", 3: "ReduceMax", 4: "ReduceMin", 5: "ReduceProd", 6: "ReduceL1", 7: "ReduceL2",
       8: "ReduceSumSquare", 9: "ReduceLogSumExp"}
x = r(2, 3, 4, 5)
for kind, op in RED.items():
    for axes, keep in [([1], 1), ([-1, 2], 0), ([], 0), ([0, 3], 1)]:
        y = ort(op, [x, i64(*axes) if axes else None], keepdims=keep) if axes else ort(op, [x], keepdims=keep)
        add(f"{op} {axes} keep{keep}", "reduce", [x], y, [kind, keep, len(axes), *axes], tol=1e-5)
i = rng.integers(-9, 9, (3, 4))
for kind, f in [(1, np.sum), (3, np.max), (4, np.min), (5, np.prod)]:
    add(f"reduce {kind} of i64", "reduce", [i], [f(i, 1)], [kind, 0, 1, 1])
ties = rng.integers(0, 4, (3, 6, 2)).astype(np.float32)
for op, name in [("ArgMax", "arg_max"), ("ArgMin", "arg_min")]:
    for axis, keep, last in [(1, 0, 0), (-1, 1, 0), (1, 1, 1)]:
        add(f"{op} {axis}{keep}{last}", name, [ties], ort(op, [ties], axis=axis, keepdims=keep, select_last_index=last),
            [axis, keep, last])
for axis, k, largest in [(1, 3, 1), (-1, 2, 0), (0, 2, 1), (1, 6, 1)]:
    order = np.argsort(-ties if largest else ties, axis, kind="stable")
    idx = np.take(order, range(k), axis)
    add(f"top_k {axis} {k} {largest}", "top_k", [ties, i64(k)], [np.take_along_axis(ties, idx, axis), idx],
        [axis, largest, 1])
add("top_k of i64", "top_k", [i, i64(2)], [-np.sort(-i, 1)[:, :2], np.argsort(-i, 1, kind="stable")[:, :2]], [1, 1, 1])
for ex in (0, 1):
    for rev in (0, 1):
        add(f"cum_sum {ex}{rev}", "cum_sum", [x, np.array(2, np.int64)],
            ort("CumSum", [x, np.array(2, np.int64)], exclusive=ex, reverse=rev), [ex, rev])
add("cum_sum i64", "cum_sum", [i, i64(0)], [np.cumsum(i, 0)], [0, 0])
z = rng.integers(0, 2, (3, 4)).astype(np.float32)
add("non_zero", "non_zero", [z], [np.stack(np.nonzero(z)).astype(np.int64)])
boxes = np.sort(rng.uniform(0, 30, (2, 40, 2, 2)), 2).reshape(2, 40, 4).astype(np.float32)
scores = r(2, 3, 40, low=0, high=1)
for limit, iou, score in [(5, 0.3, 0.2), (40, 0.5, 0.0), (40, 0.1, 0.6)]:
    ins = [boxes, scores, i64(limit), np.array([iou], np.float32), np.array([score], np.float32)]
    add(f"nms {limit} {iou} {score}", "non_max_suppression", ins, ort("NonMaxSuppression", ins), [0])
centre = np.concatenate([(boxes[..., :2] + boxes[..., 2:]) / 2, boxes[..., 2:] - boxes[..., :2]], -1)
ins = [centre, scores, i64(9), np.array([0.4], np.float32)]
add("nms from centres", "non_max_suppression", ins, ort("NonMaxSuppression", ins, center_point_box=1), [1])

# --- data movement ---
a, b, c = r(2, 3, 4), r(2, 1, 4), r(2, 2, 4)
add("concat", "concat", [a, b, c], [np.concatenate([a, b, c], 1)], [1])
add("concat last", "concat", [a, a], [np.concatenate([a, a], -1)], [-1])
x = r(2, 7, 3)
add("split sizes", "split", [x], list(np.ascontiguousarray(p) for p in np.split(x, [2, 3], 1)), [1, 3, 2, 1, 4])
y = r(2, 6)
add("split equal", "split", [y], [np.ascontiguousarray(p) for p in np.split(y, 3, 1)], [1, 0])
add("split uneven", "split", [x], [x[:, :4].copy(), x[:, 4:].copy()], [1, 0])
x = r(4, 5, 6)
for name, starts, ends, axes, steps, want in [
        ("slice", [1, 0], [3, 4], [0, 2], [1, 2], x[1:3, :, 0:4:2]),
        ("slice negative", [-3], [-1], [1], None, x[:, -3:-1]),
        ("slice backwards", [-1, 4], [-10, 0], [0, 1], [-1, -2], x[::-1, 4:0:-2]),
        ("slice to the end", [2], [2**63 - 1], [2], None, x[:, :, 2:]),
        ("slice nothing", [3], [1], [0], None, x[3:1]),
        ("slice without axes", [1, 2], [9, 4], None, None, x[1:, 2:4])]:
    ins = [x, i64(*starts), i64(*ends), i64(*axes) if axes else None, i64(*steps) if steps else None]
    while ins[-1] is None:
        ins.pop()
    add(name, "slice", ins, [np.ascontiguousarray(want)])
add("slice u8", "slice", [np.arange(9, dtype=np.uint8), i64(8), i64(-20), i64(0), i64(-3)],
    [np.array([8, 5, 2], np.uint8)])
add("reshape", "reshape", [x, i64(0, -1)], [x.reshape(4, 30)])
y = r(1, 1)
add("reshape to scalar", "reshape", [y, np.zeros(0, np.int64)], [y.reshape(())])
for perm in [(2, 0, 1), (0, 2, 1), (2, 1, 0)]:
    add(f"transpose {perm}", "transpose", [x], [np.ascontiguousarray(x.transpose(perm))], perm)
s = r(1, 3, 1, 2)
add("squeeze", "squeeze", [s, i64(0)], [s[0]])
add("squeeze all", "squeeze", [s], [s.squeeze()])
y = r(3)
add("unsqueeze", "unsqueeze", [y, i64(0, -1)], [y.reshape(1, 3, 1)])
add("flatten", "flatten", [s], [s.reshape(3, 2)], [2])
e = r(3, 1)
add("expand", "expand", [e, i64(2, 1, 4)], [np.broadcast_to(e, (2, 3, 4)).copy()])
add("tile", "tile", [s, i64(2, 1, 3, 2)], [np.tile(s, (2, 1, 3, 2))])
p = r(3, 4)
for mode, name in [(0, "constant"), (1, "edge"), (2, "reflect")]:
    add(f"pad {name}", "pad", [p, i64(1, 2, 2, 0)], [np.pad(p, [(1, 2), (2, 0)], mode=name)], [mode])
add("pad with a value", "pad", [p, i64(0, 1, 1, 1), np.float32(9)],
    [np.pad(p, [(0, 1), (1, 1)], constant_values=9)], [0])
add("pad that crops", "pad", [p, i64(-1, 1, 0, -2)], [np.pad(p, [(0, 0), (1, 0)])[1:, :-2].copy()], [0])
idx = np.array([[0, -1], [2, 1]])
add("gather", "gather", [x, idx], [np.take(x, idx, 1)], [1])
add("gather scalar", "gather", [x, np.array(2)], [x[2]], [0])
add("gather i32", "gather", [np.arange(7, dtype=np.int64), np.array([6, 0], np.int32)], [i64(6, 0)], [0])
at = rng.integers(-5, 5, (4, 3, 6))
add("gather_elements", "gather_elements", [x, at], ort("GatherElements", [x, at], axis=1), [1])
nd = np.array([[[0, 1], [3, -1]]])
add("gather_nd", "gather_nd", [x, nd], ort("GatherND", [x, nd]), [0])
nd = rng.integers(0, 5, (4, 2, 1))
add("gather_nd batched", "gather_nd", [x, nd], ort("GatherND", [x, nd], batch_dims=1), [1])
at = np.stack([rng.permutation(6)[:3] for _ in range(4)])[:, None]
up = r(*at.shape)
add("scatter_elements", "scatter_elements", [x, at, up], ort("ScatterElements", [x, at, up], axis=-1), [-1])
nd, up = np.array([[0, 1], [3, 4], [1, -5]]), r(3, 6)
add("scatter_nd", "scatter_nd", [x, nd, up], ort("ScatterND", [x, nd, up]))
x = r(2, 8, 2, 3)
add("depth_to_space", "depth_to_space", [x], ort("DepthToSpace", [x], blocksize=2), [2, 0])
add("depth_to_space crd", "depth_to_space", [x], [F.pixel_shuffle(t(x), 2).numpy()], [2, 1])
y = r(2, 3, 4, 6)
add("space_to_depth", "space_to_depth", [y], ort("SpaceToDepth", [y], blocksize=2), [2, 0])

# --- made from shapes ---
add("shape", "shape", [x], [i64(2, 8, 2, 3)])
add("size", "size", [x], [np.array(96, np.int64)])
add("range i64", "range", [np.array(3), np.array(11), np.array(3)], [i64(3, 6, 9)])
add("range down", "range", [np.array(5), np.array(-1), np.array(-2)], [i64(5, 3, 1)])
f = [np.array(v, np.float32) for v in (0.5, 3.0, 0.7)]
add("range f32", "range", f, [(0.5 + np.arange(4) * np.float64(np.float32(0.7))).astype(np.float32)])
add("constant_of_shape", "constant_of_shape", [i64(2, 3)], [np.full((2, 3), 2.5, np.float32)], [1], [2.5])
hot = np.array([[0, 2], [-1, 5]])
for axis in (-1, 0):
    ins = [hot, i64(4), np.array([-1, 3], np.float32)]
    add(f"one_hot {axis}", "one_hot", ins, ort("OneHot", ins, axis=axis), [axis])
add("eye_like", "eye_like", [r(3, 4)], [np.eye(3, 4, 1, dtype=np.float32)], [0], [1])
add("identity", "identity", [x], [x])
maps, centres, strides = [r(1, 1, 3, 4), r(1, 2, 2, 2)], [], []
for m, s in zip(maps, (8, 16)):
    sy, sx = torch.meshgrid(torch.arange(m.shape[2]) + 0.5, torch.arange(m.shape[3]) + 0.5, indexing="ij")
    centres.append(torch.stack((sx, sy), -1).view(-1, 2))
    strides.append(np.full(m.shape[2] * m.shape[3], s, np.float32))
add("anchors", "anchors", maps, [torch.cat(centres).T[None].float().contiguous().numpy(),
                                np.concatenate(strides)[None, None]], [2], [8, 16])

# --- eight bits ---
x = np.concatenate([r(1, 3, 4, 40, low=-3, high=3), np.full((1, 3, 4, 2), 1e9, np.float32),
                    np.full((1, 3, 4, 1), -np.inf, np.float32),
                    np.tile(np.float32([-1.5, -0.5, 0.5, 1.5, 2.5]) * np.float32(0.25), (1, 3, 4, 1))], axis=3)
for zero in (np.uint8(0), np.uint8(128), np.uint8(255), np.int8(-128), np.int8(0), np.int8(127)):
    for scale in (0.25, 0.0117):
        ins = [x, np.array(scale, np.float32), np.array(zero)]
        y = ort("QuantizeLinear", ins)
        add(f"quantise {zero.dtype} {zero} {scale}", "quantise", ins, y, [1])
        ins = [y[0], *ins[1:]]
        add(f"dequantise {zero.dtype} {zero} {scale}", "dequantise", ins, ort("DequantizeLinear", ins), [1], tol=0)
for axis, shape in ((1, (2, 5, 3)), (0, (4, 2)), (-1, (2, 3, 6))):
    x, n = r(*shape), shape[axis]
    for kind in (np.uint8, np.int8):
        zero = rng.integers(np.iinfo(kind).min, np.iinfo(kind).max + 1, n).astype(kind)
        ins = [x, r(n, low=0.001, high=0.1), zero]
        y = ort("QuantizeLinear", ins, axis=axis)
        add(f"quantise axis {axis} {zero.dtype}", "quantise", ins, y, [axis])
        ins = [y[0], *ins[1:]]
        add(f"dequantise axis {axis} {zero.dtype}", "dequantise", ins, ort("DequantizeLinear", ins, axis=axis), [axis], tol=0)
ins = [rng.integers(-2**31, 2**31 - 1, 6).astype(np.int32), r(6, low=1e-6, high=1e-3)]
add("dequantise i32", "dequantise", ins, ort("DequantizeLinear", ins, axis=0), [0], tol=0)


def tensor(x):
    if x is None:
        return b"\0"
    x = np.asarray(x)
    return (struct.pack("<BB", DTYPES[str(x.dtype)], x.ndim) + struct.pack(f"<{x.ndim}i", *x.shape)
            + np.ascontiguousarray(x).tobytes())


def string(s):
    return struct.pack("<B", len(s.encode())) + s.encode()


blob = b"SKCASES1" + struct.pack("<I", len(cases))
for name, op, text, ints, floats, tol, ins, outs in cases:
    assert all(o is not None for o in outs), name
    blob += string(name) + string(op) + string(text)
    blob += struct.pack(f"<B{len(ints)}i", len(ints), *ints) + struct.pack(f"<B{len(floats)}d", len(floats), *floats)
    blob += struct.pack("<d", tol)
    for group in (ins, outs):
        blob += struct.pack("<B", len(group)) + b"".join(tensor(x) for x in group)
open(sys.argv[1], "wb").write(blob)
print(len(cases), "cases,", len(blob), "bytes")
