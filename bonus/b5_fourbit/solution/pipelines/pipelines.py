"""Compares four ways to attention from weights of four bits, and a fifth beside them, on one GPU.

    python3 bonus/b5_fourbit/solution/pipelines/pipelines.py [FORMAT] > pipelines.txt
    python3 bonus/b5_fourbit/solution/pipelines/picture.py < pipelines.txt > pipelines.svg

FORMAT is NF4 or MXFP4. Each way goes from x to attention's output, causal, in halves:

  naive      weights to float32, three products, scores, scale and mask, softmax, sum: six kernels
  tiled      the same in tiles, the softmax in chunks: six kernels
  fused      weights to float32, [q|k|v] as one product in tiles, attention of b2: three
  four bits  this task's product, attention of b2: two
  offline    like fused, but the weights are in float32 from the start: two

At GPT-2's size the weights are those of a folder `weights` (wq.npy … bv.npy, [in, out]), if there
is one; otherwise, and at the other size, they are random. All that is written: launches, bytes that
kernels move if each reads and writes its tensors once, bytes held by weights and by what lies between
kernels, microseconds (the median of a graph's replays, with the weights pushed out of the L2), and the
error against float64 on the weights as the format has them.
"""
import ctypes
import math
import os
import pathlib
import subprocess
import sys

import numpy
import torch
from triton.testing import do_bench

HERE = pathlib.Path(__file__).parent
sys.path.insert(0, str(HERE.parent))
import race  # noqa: E402: beside this folder

HALVES = os.environ.get("HALVES", HERE / "../../../b2_halves/solution/kernels.cu")
SIZES = [("GPT-2", 768, 12, 12, 64), ("hidden 4096", 4096, 32, 8, 128)]
ROWS = [1, 16, 128, 2048]
NAMES = ["product_naive", "product_tiled", "product_fused", "scores_naive", "scores_tiled", "mask",
         "softmax_naive", "softmax_chunks", "sum_naive", "sum_tiled"]


def load(file, names, *flags):
    cubin = race.WORK / f"{file.stem}{''.join(flags)}.cubin"
    subprocess.run(["nvcc", "-cubin", "-gencode=arch=compute_90a,code=sm_90a", "-std=c++17", "-O3", *flags, "-o", cubin, file],
                   check=True)
    module, found = ctypes.c_void_p(), {}
    race.call("cuModuleLoadData", ctypes.byref(module), cubin.read_bytes())
    for name in names:
        found[name] = ctypes.c_void_p()
        race.call("cuModuleGetFunction", ctypes.byref(found[name]), module, name.encode())
    return found


def launch(f, grid, block, shared, *args):
    """A function that launches; floats are float32, whole numbers int."""
    held = [ctypes.c_uint64(a.data_ptr()) if torch.is_tensor(a) else
            ctypes.c_float(a) if isinstance(a, float) else ctypes.c_int(a) for a in args]
    pointers = (ctypes.c_void_p * len(held))(*map(ctypes.addressof, held))

    def go(keep=(held, args)):
        stream = ctypes.c_void_p(torch.cuda.current_stream().cuda_stream)
        race.call("cuLaunchKernel", f, *grid, block, 1, 1, shared, stream, pointers, None)
    return go


def quantised(form, w):
    """Codes and scales of w [outputs, hidden]."""
    block = 64 if form == "NF4" else 32
    parts = w.float().view(-1, block)
    most = parts.abs().amax(1, keepdim=True)
    if form == "NF4":
        table, scale, kept = race.TABLE, most, most.view(w.shape[0], -1)
    else:
        exponent = torch.floor(torch.log2(most)) - 2
        table, scale = sorted([-x for x in race.E2M1[1:]] + race.E2M1), torch.exp2(exponent)
        kept = (exponent + 127).to(torch.uint8).view(w.shape[0], -1)
    middles = torch.tensor([(a + b) / 2 for a, b in zip(table, table[1:])], device="cuda")
    place = torch.bucketize(parts / scale, middles)
    if form == "NF4":
        codes, high = place.to(torch.uint8).view(-1, 2), 0
    else:
        value = torch.tensor(table, device="cuda")[place]
        size = torch.searchsorted(torch.tensor(race.E2M1, device="cuda", dtype=torch.float32), value.abs())
        codes, high = (size + 8 * (value < 0)).to(torch.uint8).view(-1, 2), 1
    return (codes[:, high] << 4 | codes[:, 1 - high]).view(w.shape[0], -1).contiguous(), kept.contiguous()


def layer(name, hidden, outputs):
    """Weights [outputs, hidden], bias, and where they come from."""
    folder = pathlib.Path("weights")
    if name == "GPT-2" and (folder / "wq.npy").exists():
        w = numpy.concatenate([numpy.load(folder / f"w{x}.npy") for x in "qkv"], 1).T
        b = numpy.concatenate([numpy.load(folder / f"b{x}.npy") for x in "qkv"])
        if w.shape == (outputs, hidden):
            return torch.tensor(w.copy(), device="cuda"), torch.tensor(b, device="cuda").half(), f"weights of {folder.resolve()}"
        print(f"# {folder}: {w.shape[::-1]}, want {(hidden, outputs)}: random weights instead", file=sys.stderr)
    return torch.randn(outputs, hidden, device="cuda") / math.sqrt(hidden), torch.randn(outputs, device="cuda").half() / 8, "random weights"


def ways(form, x, packed, bias, heads, kv, dim, k, flash):
    """For each way: its launches, its output as [rows, heads * dim], and (bytes moved, held between kernels)."""
    codes, scales = packed
    rows, hidden = x.shape
    outputs, group = (heads + 2 * kv) * dim, heads // kv
    wide = torch.empty(outputs, hidden, device="cuda")
    grid = lambda n, each: -(-n // each)
    four, full = codes.nbytes + scales.nbytes, wide.nbytes
    read = launch(race.KERNELS[form]["dequantise"], (grid(outputs * hidden, 1024), 1, 1), 256, 0, codes, scales, wide, outputs * hidden, hidden)
    read()  # offline has them
    cut = [0, heads * dim, (heads + kv) * dim, outputs]
    float32 = [torch.empty(rows, b - a, device="cuda") for a, b in zip(cut, cut[1:])]
    s = torch.empty(heads, rows, rows, device="cuda")
    whole = torch.full((rows, heads * dim), math.nan, device="cuda", dtype=torch.float16)
    by_heads = torch.full((heads, rows, dim), math.nan, device="cuda", dtype=torch.float16)
    halves = [torch.empty(n, rows, dim, device="cuda", dtype=torch.float16) for n in (heads, kv, kv)]

    def steps(kind):
        tall = kind == "tiled"
        over = lambda n: (grid(n, 32), grid(rows, 32)) if tall else (grid(n, 128), rows)
        block = 256 if tall else 128
        all_ = [read]
        for (a, b), to in zip(zip(cut, cut[1:]), float32):
            all_.append(launch(k[f"product_{kind}"], (*over(b - a), 1), block, 0, x, wide[a:b], bias[a:b], to, rows, hidden, b - a))
        all_.append(launch(k[f"scores_{kind}"], (*over(rows), heads), block, 0, *float32[:2], s, rows, heads, kv, dim))
        all_.append(launch(k["mask"], (grid(rows, 128), rows, heads), 128, 0, s, rows, 1 / math.sqrt(dim)))
        if tall:
            all_.append(launch(k["softmax_chunks"], (grid(heads * rows, 4), 1, 1), 128, 0, s, rows, heads * rows))
        else:
            all_.append(launch(k["softmax_naive"], (grid(heads * rows, 128), 1, 1), 128, 0, s, rows, heads * rows))
        all_.append(launch(k[f"sum_{kind}"], (*over(dim), heads), block, 0, s, float32[2], whole, rows, heads, kv, dim))
        return all_

    fused = launch(k["product_fused"], (grid(outputs, 32), grid(rows, 32), 1), 256, 0, x, wide, bias, *halves, rows, hidden, heads, kv, dim)
    attend = launch(flash[dim], (grid(rows, 128), heads, 1), 128, 2 * dim * 256, *halves, by_heads, rows, rows, group, 1,
                    math.log2(math.e) / math.sqrt(dim))
    product = race.project(form, x, codes, scales, bias, heads, kv, dim, halves)[0]
    between, narrow = sum(t.nbytes for t in float32), sum(t.nbytes for t in halves)
    of_heads = lambda: by_heads.transpose(0, 1).reshape(rows, -1)
    slow = four + 2 * full + 3 * x.nbytes + 2 * between + 6 * s.nbytes + whole.nbytes
    last = narrow * 2 + by_heads.nbytes + x.nbytes
    return {
        "naive": (steps("naive"), lambda: whole, slow, four, full + between + s.nbytes),
        "tiled": (steps("tiled"), lambda: whole, slow, four, full + between + s.nbytes),
        "fused": ([read, fused, attend], of_heads, four + 2 * full + last, four, full + narrow),
        "four bits": ([product, attend], of_heads, four + last, four, narrow),
        "offline": ([fused, attend], of_heads, full + last, full, narrow),
    }


def truth(x, w, bias, heads, kv, dim):
    y = x.double() @ w.T + bias.double()
    q, k, v = (t.view(len(x), -1, dim).transpose(0, 1) for t in y.split((heads * dim, kv * dim, kv * dim), 1))
    k, v = k.repeat_interleave(heads // kv, 0), v.repeat_interleave(heads // kv, 0)
    s = (q @ k.mT / math.sqrt(dim)).masked_fill(torch.ones(len(x), len(x), device="cuda", dtype=torch.bool).triu(1), -math.inf)
    return (s.softmax(-1) @ v).transpose(0, 1).reshape(len(x), -1)


def main():
    form = sys.argv[1] if len(sys.argv) > 1 else "NF4"
    if form not in race.FORMATS:
        sys.exit(f"{form}: want one of {', '.join(race.FORMATS)}")
    k = load(HERE / "pipelines.cu", NAMES)
    flash = {}
    for dim in (64, 128):
        flash[dim] = load(pathlib.Path(HALVES), ["attention"], f"-DDIM={dim}")["attention"]
        race.call("cuFuncSetAttribute", flash[dim], 8, 2 * dim * 256)
    print(f"# {torch.cuda.get_device_name()}, {form}")
    print("size        rows  way        launches  moved MB  weights MB  between MB        us    error")
    for name, hidden, heads, kv, dim in SIZES:
        w, bias, where = layer(name, hidden, (heads + 2 * kv) * dim)
        print(f"# {name}: {where}, {w.shape[1]} to {w.shape[0]}")
        packed = quantised(form, w)
        exact = race.dequantised(form, *packed, hidden)
        for rows in ROWS:
            x = torch.randn(rows, hidden, device="cuda").half()
            want = truth(x, exact, bias, heads, kv, dim)
            for way, (calls, out, moved, weights, between) in ways(form, x, packed, bias, heads, kv, dim, k, flash).items():
                for f in calls:
                    f()
                error = race.error(out(), want)
                graph = torch.cuda.CUDAGraph()
                with torch.cuda.graph(graph):
                    for f in calls:
                        f()
                took = do_bench(graph.replay, warmup=5, rep=25, return_mode="median") * 1e3  # which empties the L2
                print(f"{name:11} {rows:4}  {way:10} {len(calls):8} {moved / 1e6:9.2f} {weights / 1e6:11.3f} {between / 1e6:11.3f} {took:9.1f} {error:8.1e}",
                      flush=True)

main()
