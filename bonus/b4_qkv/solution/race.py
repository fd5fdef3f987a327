"""Checks and times every rung beside three nn.Linear, one concatenated, and cuBLAS alone, on one H100 or H200.

    python3 bonus/b4_qkv/solution/race.py [rungs] [hopper] [large]

Needs nvcc and PyTorch. A kernel is held against float64 on odd shapes first: what is wrong is not
timed. Times are those of CUDA graphs of sixteen calls over copies of x and the weights: sixteen
copies where these are small, for of four the L2 still holds a part. Each is measured twice, with the
others between: after a pause, and after half a second of nothing else, when the GPU is at the power
that it is allowed, and its clock falls. With 'large' products of 4096 and 8192 come too.
"""
import math
import pathlib
import sys
import time

import torch
import torch.nn.functional as F

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[2] / "python"))
import racing  # noqa: E402 (it lies in python/)

NAMES = ("COLUMNS", "TALL", "STAGES", "GROUP")
TILES = [(64, 1, 9, 16), (128, 1, 6, 16), (128, 2, 4, 8), (160, 1, 5, 16), (160, 2, 4, 8)]  # of hopper.cu
RUNGS = {"three products": "_versions/1_three/kernels.cu", "product, split": "_versions/2_split/kernels.cu", "epilogue": "kernels.cu"}
CHECKED = [  # batch, seq, hidden, heads, heads of k and v, dim
    (1, 1, 8, 1, 1, 8), (1, 2, 64, 2, 1, 16), (2, 17, 72, 3, 1, 40), (3, 113, 1000, 6, 2, 64), (1, 300, 640, 5, 5, 72),
    (1, 128, 3584, 32, 4, 128), (2, 1000, 256, 8, 2, 128),
]
RACES = [(1, 128, 3584, 32, 4, 128), (2, 256, 3584, 32, 4, 128), (4, 512, 3584, 32, 4, 128), (8, 1024, 3584, 32, 4, 128)]
LARGE = [(1, 4096, 4096, 30, 1, 128), (1, 8192, 8192, 62, 1, 128)]

torch.manual_seed(0)
PROCESSORS = racing.processors()
FILES = {}


def file_of(way, kind):
    """The file of a rung or of a tile of hopper.cu, compiled for a type."""
    if (way, kind) not in FILES:
        macros = {"BRAIN": 1} if kind == torch.bfloat16 else {}
        if way not in RUNGS:
            macros |= zip(NAMES, way)
        FILES[way, kind] = racing.File(HERE / RUNGS.get(way, "hopper.cu"), macros)
    return FILES[way, kind]


def shared_of(tile):
    columns, tall, stages, *_ = tile
    return stages * (128 * tall + (columns + 63) // 64 * 64) * 128 + 16 * stages + 1024


def outputs_of(x, heads, kv, dim, tokens_first):
    batch, seq = x.shape[:2]
    shape = (lambda n: (batch, seq, n, dim)) if tokens_first else (lambda n: (batch, n, seq, dim))
    return [torch.full(shape(n), math.nan, device="cuda", dtype=x.dtype) for n in (heads, kv, kv)]


def hopper(tile, x, w, bias, heads, kv, dim, first=0):
    """A function that runs the kernel, and its outputs, which are NaN until then."""
    batch, seq, hidden = x.shape
    columns, tall, *_ = tile
    rows, outputs, height = batch * seq, w.shape[1], 128 * tall
    out = outputs_of(x, heads, kv, dim, first)
    tiles = -(-rows // height) * -(-outputs // columns)
    blocks = min(tiles, PROCESSORS)
    maps = racing.TensorMap(x.view(rows, hidden), 64, height), racing.TensorMap(w, 64, 64)
    go = file_of(tile, x.dtype).kernel("project").launcher(
        (blocks, 1), 384, shared_of(tile), *maps, w if bias is None else bias, *out, rows, hidden, outputs, seq, heads, kv, dim, first,
        int(bias is not None), early=True)
    return go, out


def rung(way, x, w, bias, heads, kv, dim, first=0):
    """The same for the rungs before, as qkv.go launches them."""
    batch, seq, hidden = x.shape
    rows, outputs, kernel = batch * seq, w.shape[1], file_of(way, x.dtype).kernel
    out, biased, b = outputs_of(x, heads, kv, dim, first), int(bias is not None), w if bias is None else bias

    def tiles(width):
        over = lambda side: (-(-rows // side), -(-width // side))
        side = 128 if math.prod(over(128)) >= 2 * PROCESSORS else 64
        shared = 3 * 2 * 64 * 2 * side
        return kernel(f"project{side}"), over(side), 256 if side == 128 else 128, shared
    moving = lambda width: (-(-width // 1024), -(-rows // 8))
    if way == "epilogue":
        go = racing.Kernel.launcher(*tiles(outputs), x, w, b, *out, rows, hidden, outputs, seq, heads, kv, dim, first, biased)
        return go, out
    held = torch.empty(rows * outputs, device="cuda", dtype=x.dtype)
    if way == "product, split":
        steps = [racing.Kernel.launcher(*tiles(outputs), x, w, b, held, rows, hidden, outputs, biased),
                 kernel("split").launcher(moving(outputs), 128, 0, held, held, *out, rows, outputs, seq, heads, kv, dim, first, 0)]
    else:
        steps, column = [], 0
        for to, n in zip(out, (heads, kv, kv)):
            steps.append(racing.Kernel.launcher(*tiles(n * dim), x, w, b, held, rows, hidden, outputs, biased, column, n * dim))
            steps.append(kernel("move").launcher(moving(n * dim), 128, 0, held, n * dim, column, held, to, rows, seq, n, dim, first, 0))
            column += n * dim

    def go():
        for step in steps:
            step()
    return go, out


def run(way, *args):
    return (rung if way in RUNGS else hopper)(way, *args)


def check(way):
    """The worst ratio of the kernel's error to that of the plain mixed way: float32, rounded once."""
    worst = 0
    for batch, seq, hidden, heads, kv, dim in CHECKED:
        for kind in (torch.float16, torch.bfloat16):
            for first in (0, 1):
                x = (torch.randn(batch, seq, hidden, device="cuda") * (8 if first else 1)).to(kind)
                w = (torch.randn(hidden, (heads + 2 * kv) * dim, device="cuda") / math.sqrt(hidden)).to(kind)
                bias = torch.randn(w.shape[1], device="cuda").to(kind) if seq != 17 else None
                go, out = run(way, x, w, bias, heads, kv, dim, first)
                go()
                want = x.double() @ w.double() + (0 if bias is None else bias.double())
                plain = (x.float() @ w.float() + (0 if bias is None else bias.float())).to(kind)
                got = torch.cat([(t if first else t.transpose(1, 2)).reshape(batch, seq, -1) for t in out], 2)
                ratio = racing.error(got, want) / racing.error(plain, want)
                if not ratio < 1.5:
                    print(" ", way, (batch, seq, hidden, heads, kv, dim), kind, first, f"{ratio:.2f}", flush=True)
                    return math.inf
                worst = max(worst, ratio)
    return worst


def micros(fs):
    """Of one call of the list: after a pause, and after half a second of nothing else."""
    graph = racing.graph_of(fs, 16)
    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))

    def once(ms):
        """Runs the graph for about so long, and tells how long it takes."""
        times = max(2, round(ms / once.ms))
        begin.record()
        for _ in range(times):
            graph.replay()
        end.record()
        end.synchronize()
        once.ms = begin.elapsed_time(end) / times
        return once.ms * 1e3 / 16
    once.ms = 1
    once(2)
    time.sleep(0.2)
    first = once(20)
    once(500)
    return first, once(20)


def peers(xs, ws, bias, heads, kv, dim):
    """Ways of PyTorch, each a list of calls over the copies."""
    batch, seq, hidden = xs[0].shape
    cuts = (heads * dim, kv * dim, kv * dim)

    def three(x, w):
        return [F.linear(x, m, b).view(batch, seq, -1, dim).transpose(1, 2).contiguous() for m, b in zip(w, bias.split(cuts))]

    def one(x, w):
        y = F.linear(x, w, bias).view(batch, seq, -1, dim).transpose(1, 2)
        return [t.contiguous() for t in y.split((heads, kv, kv), 1)]
    wide = [w.t().contiguous() for w in ws]
    return {"three linears": [lambda x=x, w=w.split(cuts): three(x, w) for x, w in zip(xs, wide)],
            "one linear": [lambda x=x, w=w: one(x, w) for x, w in zip(xs, wide)],
            "product alone": [lambda x=x, w=w: F.linear(x, w) for x, w in zip(xs, wide)],
            "product alone, w as ours": [lambda x=x, w=w: x @ w for x, w in zip(xs, ws)]}


def main(which):
    ways = [way for name in which if name != "large" for way in (RUNGS if name == "rungs" else TILES)]
    racing.compile_all([file_of(way, kind) for way in ways for kind in (torch.float16, torch.bfloat16)])
    print(torch.cuda.get_device_name(), "PyTorch", torch.__version__, PROCESSORS, "processors;", *NAMES)
    fit = []
    for way in ways:
        worst = check(way)
        print(f"{way}: errors at most {worst:.2f} x the plain mixed way's", "" if worst < 1.5 else "WRONG", flush=True)
        if worst < 1.5:
            fit.append(way)
    for batch, seq, hidden, heads, kv, dim in RACES + (LARGE if "large" in which else []):
        outputs, rows = (heads + 2 * kv) * dim, batch * seq
        copies = 2 if rows * hidden > 5e6 else 16
        xs = [torch.randn(batch, seq, hidden, device="cuda", dtype=torch.float16) for _ in range(copies)]
        ws = [(torch.randn(hidden, outputs, device="cuda") * 0.02).half() for _ in range(copies)]
        bias = torch.randn(outputs, device="cuda", dtype=torch.float16)
        ways = peers(xs, ws, bias, heads, kv, dim)
        for way in fit:
            if way not in RUNGS and not PROCESSORS / 3 < -(-rows // (128 * way[1])) * -(-outputs // way[0]) < 12 * PROCESSORS:
                continue
            ways[str(way)] = [run(way, x, w, bias, heads, kv, dim)[0] for x, w in zip(xs, ws)]
        took = {name: [] for name in ways}
        for _ in range(2):
            for name, way in ways.items():
                took[name].append(micros(way))
        flops = 2 * rows * hidden * outputs
        print(f"{batch} x {seq} x {hidden} to {outputs}: microseconds, twice; three linears' time over its; TFLOP/s; the same at full power")
        for name, runs in took.items():
            line = f"  {name:26}"
            for t, base in zip(zip(*runs), zip(*took["three linears"])):
                line += f" {t[0]:8.2f} {t[1]:8.2f} {min(base) / min(t):6.2f} {flops / min(t) / 1e6:5.0f}   "
            print(line, flush=True)
        del xs, ws, ways


if __name__ == "__main__":
    main(sys.argv[1:] or ["rungs", "hopper"])
