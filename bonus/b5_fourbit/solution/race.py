"""Checks and times the kernels beside bitsandbytes' NF4 and cuBLAS in halves, on one GPU in one run.

    python3 bonus/b5_fourbit/solution/race.py

Needs nvcc and PyTorch; bitsandbytes is timed if it can be imported. Every kernel is held against
float64 on odd shapes first: what is wrong is not timed. Times are those of CUDA graphs over copies
of the weights that together are larger than the L2, of sixteen calls at least; medians, each twice,
with the others between.
"""
import math
import os
import pathlib
import sys

import torch
import torch.nn.functional as F

try:
    import bitsandbytes
    import bitsandbytes.functional
except Exception as why:  # not there, or no library for this CUDA
    bitsandbytes = None
    print("without bitsandbytes:", str(why).split("\n")[0][:100])

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[2] / "python"))
import racing  # noqa: E402 (it lies in python/)

FILES = [HERE / os.environ.get("KERNELS", "kernels.cu"), HERE / os.environ.get("ROW", "row.cu")]
ONE = (1024, 256 * 256 + 8 * 16 * 33 * 4)  # threads and shared memory of project1, as in fourbit.go
FORMATS = ("NF4", "MXFP4")
CHECKED = [  # rows, hidden, heads, heads of k and v, dim
    (1, 128, 1, 1, 8), (1, 4480, 96, 8, 128), (1, 14336, 24, 4, 120), (2, 256, 2, 1, 16), (7, 768, 12, 12, 64), (8, 384, 3, 1, 40), (9, 4096, 8, 2, 128),
    (16, 640, 4, 2, 64), (17, 768, 12, 12, 64), (64, 128, 1, 1, 8), (113, 1152, 5, 1, 72), (300, 4096, 32, 8, 128),
]
WAYS = [("project8", 16, 3, 1, 1), ("project16", 16, 3, 1, 2), ("project64", 8, 2, 2, 8)]  # fourbit.go has them
RACES = [(4096, 24, 4, 128), (4096, 96, 8, 128), (14336, 24, 4, 128), (768, 12, 12, 64)]
ROWS = [1, 8, 16, 64, 128, 2048]
TABLE = [-1.0, -0.6961928009986877, -0.5250730514526367, -0.39491748809814453, -0.28444138169288635,
         -0.18477343022823334, -0.09105003625154495, 0.0, 0.07958029955625534, 0.16093020141124725,
         0.24611230194568634, 0.33791524171829224, 0.44070982933044434, 0.5626170039176941, 0.7229568362236023, 1.0]
E2M1 = [0, 0.5, 1, 1.5, 2, 3, 4, 6]

torch.manual_seed(0)


def shared_of(warps, stages, tall, wide):
    """As in fourbit.go."""
    return 256 * 256 + warps * ((2 if wide <= 2 else 1) * 512 * tall * wide + stages * 16 * tall * 160)


PROCESSORS = racing.processors()
KERNELS = {form: [racing.File(file, {form: 1}) for file in FILES] for form in FORMATS}  # kernels of many rows, of one


def weights(form, outputs, hidden):
    """Random codes and scales: of every code, and scales near those of a trained layer."""
    codes = torch.randint(0, 256, (outputs, hidden // 2), device="cuda", dtype=torch.uint8)
    if form == "NF4":
        return codes, (torch.rand(outputs, hidden // 64, device="cuda") + 0.5) / 32
    return codes, torch.randint(120, 124, (outputs, hidden // 32), device="cuda", dtype=torch.uint8)


def dequantised(form, codes, scales, hidden):
    """By PyTorch, in float64."""
    high, low = codes >> 4, codes & 15
    if form == "NF4":
        table, parts, factor = TABLE, (high, low), scales.double()
    else:
        table, parts, factor = E2M1 + [-x for x in E2M1], (low, high), torch.exp2(scales.double() - 127)
    numbers = torch.tensor(table, device="cuda", dtype=torch.float64)[torch.stack(parts, -1).long()]
    return numbers.view(-1, hidden) * factor.repeat_interleave(hidden // factor.shape[1], 1)


def project(form, x, codes, scales, bias, heads, kv, dim, out=None):
    """A function that runs the kernel for so many rows, and its outputs, which are NaN until then."""
    rows, hidden = x.shape
    outputs = (heads + 2 * kv) * dim
    out = out or [torch.full((n, rows, dim), math.nan, device="cuda", dtype=torch.float16) for n in (heads, kv, kv)]
    many, one = KERNELS[form]
    if rows == 1:
        grid, numbers = (min(PROCESSORS, -(-outputs // 16)), 1), [hidden, outputs, heads, kv, dim]
        return one.kernel("project1").launcher(grid, *ONE, x, codes, scales, bias, *out, *numbers, early=True), out
    name, warps, stages, tall, wide = next((w for w in WAYS if rows <= 8 * w[4]), WAYS[-1])
    grid = (min(PROCESSORS, -(-outputs // (16 * tall))), -(-rows // (8 * wide)))
    block, shared = 32 * warps, shared_of(warps, stages, tall, wide)
    numbers = [rows, hidden, outputs, rows, heads, kv, dim]
    return many.kernel(name).launcher(grid, block, shared, x, codes, scales, bias, *out, *numbers, early=True), out


def check(form):
    """The worst ratio of the kernel's error to that of the plain mixed way: float32, rounded once."""
    worst = 0
    for rows, hidden, heads, kv, dim in CHECKED:
        outputs = (heads + 2 * kv) * dim
        codes, scales = weights(form, outputs, hidden)
        w = dequantised(form, codes, scales, hidden)
        flat = torch.empty(outputs, hidden, device="cuda")
        dequantise = KERNELS[form][0].kernel("dequantise")
        dequantise.launcher(((outputs * hidden + 1023) // 1024, 1), 256, 0, codes, scales, flat, outputs * hidden, hidden)()
        if not torch.equal(flat, w.float()):
            print(form, "dequantise is wrong:", (flat != w.float()).sum().item(), "numbers of", outputs, "x", hidden)
            return math.inf
        x = torch.randn(rows, hidden, device="cuda").half()
        bias = torch.randn(outputs, device="cuda").half()
        go, out = project(form, x, codes, scales, bias, heads, kv, dim)
        go()
        want = x.double() @ w.T + bias.double()
        plain = want.float().half()
        got = torch.cat([t.transpose(0, 1).reshape(rows, -1) for t in out], 1)
        ratio = racing.error(got, want) / racing.error(plain, want)
        if not ratio < 2:
            print(form, "project is wrong:", rows, hidden, heads, kv, dim, f"{ratio:.2f} x")
        worst = max(worst, ratio if ratio == ratio else math.inf)
    return worst


def micros(fs):
    return racing.graph_us(fs, max(len(fs), 16), warmup=10, rep=40)  # so the start of a graph counts for little, and as much for all


def main():
    print(torch.cuda.get_device_name(), "PyTorch", torch.__version__,
          "bitsandbytes", bitsandbytes.__version__ if bitsandbytes else "none")
    racing.compile_all([file for files in KERNELS.values() for file in files])
    fit = []
    for form in FORMATS:
        worst = check(form)
        print(form, f"errors at most {worst:.2f} x the plain mixed way's", "" if worst < 2 else "WRONG, not timed")
        if worst < 2:
            fit.append(form)
    print("microseconds: cuBLAS halves | bitsandbytes NF4 |", " | ".join(fit))
    for hidden, heads, kv, dim in RACES:
        outputs = (heads + 2 * kv) * dim
        copies = max(4, math.ceil(3e8 / (hidden * outputs / 2)))
        wide = [torch.randn(outputs, hidden, device="cuda", dtype=torch.float16) / 32 for _ in range(max(4, copies // 4))]
        packed = {form: [weights(form, outputs, hidden) for _ in range(copies)] for form in fit}
        theirs = [bitsandbytes.functional.quantize_4bit(wide[i % len(wide)], quant_type="nf4")
                  for i in range(copies)] if bitsandbytes else []
        bias = torch.randn(outputs, device="cuda", dtype=torch.float16)
        for rows in ROWS:
            x = torch.randn(rows, hidden, device="cuda", dtype=torch.float16)
            ways = [[lambda w=w: F.linear(x, w, bias) for w in wide]]
            if theirs:
                ways.append([lambda w=w: bitsandbytes.matmul_4bit(x, w[0].t(), w[1], bias=bias) for w in theirs])
            for form in fit:
                ways.append([project(form, x, *w, bias, heads, kv, dim)[0] for w in packed[form]])
            took = [[] for _ in ways]
            for _ in range(2):
                for i, way in enumerate(ways):
                    took[i].append(micros(way))
            print(f"{hidden:5} x {outputs:5}, {rows:4} rows", *(" {:7.2f} {:7.2f}".format(*t) for t in took),
                  sep=" |", flush=True)


if __name__ == "__main__":
    main()
