"""Checks and times the two kernels beside PyTorch's cuDNN and FlashAttention-2, on one GPU in one run.

    python3 bonus/b2_halves/solution/race.py

Needs nvcc, PyTorch, and for hopper.cu an H100 or H200. A kernel is held against float64 on odd
shapes first: what is wrong is not timed. Times are medians of a quarter of a second each, twice,
with the peers in between; the table shows both.
"""
import math
import pathlib
import sys

import torch
import torch.nn.functional as F
from torch.nn.attention import SDPBackend, sdpa_kernel
from triton.testing import do_bench

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[2] / "python"))
import racing  # noqa: E402 (it lies in python/)

KERNELS = [  # file, defines
    ("kernels", {}),
    ("hopper", {"CONSUMERS": 3, "AHEAD": 0}),
    ("hopper", {"CONSUMERS": 2, "AHEAD": 1}),
]
SHAPES = [  # batch, heads, heads of k and v, queries, keys, dim
    (1, 1, 1, 1, 1, 128), (1, 2, 2, 2, 2, 64), (1, 2, 2, 17, 300, 128), (1, 2, 1, 113, 113, 128),
    (2, 4, 2, 1000, 1000, 128), (1, 4, 1, 333, 777, 64), (1, 2, 2, 4096, 4096, 128),
]
RACES = [(1, 16, 16384, 128), (4, 32, 4096, 128), (1, 32, 16384, 64)]

torch.manual_seed(0)
FILES = {}


def file_of(kernel, dim, kind):
    """The kernel's file, compiled for a dimension and a type."""
    file, defines = kernel
    key = file, *defines.items(), dim, kind
    if key not in FILES:
        FILES[key] = racing.File(HERE / f"{file}.cu", {**defines, "DIM": dim, **({"BRAIN": 1} if kind == torch.bfloat16 else {})})
    return FILES[key]


def attention(kernel, q, k, v, causal):
    """A function that runs the kernel, and its output, which is NaN until then."""
    file, defines = kernel
    (batch, heads, n, dim), kv, m = q.shape, k.shape[1], k.shape[2]
    out = torch.full_like(q, math.nan)
    if file == "hopper":
        consumers = defines["CONSUMERS"]
        rows, threads, shared = 64 * consumers, 128 * (consumers + 1), 2 * dim * (64 * consumers + 4 * 128) + 2048
        inputs = [racing.TensorMap(x.view(-1, x.shape[2], dim), 64, r) for x, r in ((q, 64), (k, 128), (v, 128))]
    else:
        rows, threads, shared, inputs = 128, 128, 2 * dim * (128 + 2 * 64), (q, k, v)
    go = file_of(kernel, dim, q.dtype).kernel("attention").launcher(
        (-(-n // rows), batch * heads), threads, shared, *inputs, out, n, m, heads // kv, causal, math.log2(math.e) / math.sqrt(dim))
    return go, out


def truth(q, k, v, causal):
    group = q.shape[1] // k.shape[1]
    q, k, v = q.double(), k.double().repeat_interleave(group, 1), v.double().repeat_interleave(group, 1)
    s = q @ k.mT / math.sqrt(q.shape[-1])
    if causal:
        n, m = s.shape[-2:]
        s = s.masked_fill(torch.ones(n, m, device="cuda", dtype=torch.bool).triu(m - n + 1), -math.inf)
    return s.softmax(-1) @ v


def check(kernel):
    """The worst ratio of the kernel's error to PyTorch's, over all shapes."""
    worst = 0
    for batch, heads, kv, n, m, dim in SHAPES:
        for kind in (torch.float16, torch.bfloat16):
            for causal in (False, True):
                for size in (1, 8):  # large ones make a row of one key
                    q = size * torch.randn(batch, heads, n, dim, device="cuda").to(kind)
                    k, v = (torch.randn(batch, kv, m, dim, device="cuda").to(kind) for _ in range(2))
                    go, out = attention(kernel, q, k, v, causal)
                    go()
                    want, group = truth(q, k, v, causal), heads // kv
                    mask = torch.ones(n, m, device="cuda", dtype=torch.bool).tril(m - n) if causal else None
                    theirs = F.scaled_dot_product_attention(
                        q, k.repeat_interleave(group, 1), v.repeat_interleave(group, 1), attn_mask=mask)
                    ratio = racing.error(out, want) / max(racing.error(theirs, want), 1e-5)
                    worst = max(worst, ratio if ratio == ratio else math.inf)
    return worst


def rate(f, flops):
    return flops / do_bench(f, warmup=50, rep=250, return_mode="median") / 1e9


def main():
    print(torch.cuda.get_device_name(), "PyTorch", torch.__version__, "cuDNN", torch.backends.cudnn.version())
    racing.compile_all([file_of(k, dim, kind) for k in KERNELS for dim in (64, 128) for kind in (torch.float16, torch.bfloat16)])
    fit = []
    for kernel in KERNELS:
        worst = check(kernel)
        print(kernel, f"errors at most {worst:.2f} x PyTorch's", "" if worst < 1.5 else "WRONG, not timed")
        if worst < 1.5:
            fit.append(kernel)
    print("TFLOP/s: cuDNN, FlashAttention-2 |", *fit)
    for batch, heads, n, dim in RACES:
        for causal in (False, True):
            q, k, v = (torch.randn(batch, heads, n, dim, device="cuda", dtype=torch.float16) for _ in range(3))
            flops = 4 * batch * heads * n * n * dim * (0.5 if causal else 1)

            def peer(backend):
                with sdpa_kernel(backend):
                    return rate(lambda: F.scaled_dot_product_attention(q, k, v, is_causal=causal), flops)
            row = [[] for _ in range(2 + len(fit))]
            for _ in range(2):
                row[0].append(peer(SDPBackend.CUDNN_ATTENTION))
                row[1].append(peer(SDPBackend.FLASH_ATTENTION))
                for i, kernel in enumerate(fit):
                    row[2 + i].append(rate(attention(kernel, q, k, v, causal)[0], flops))
            print(f"{batch} x {heads} x {n} x {dim} {'causal' if causal else 'full  '}",
                  *(" {:4.0f} {:4.0f}".format(*x) for x in row), sep=" |", flush=True)


if __name__ == "__main__":
    main()
