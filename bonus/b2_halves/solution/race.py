"""Checks and times the two kernels beside cuDNN and FlashAttention-2 and 4, on one GPU in one run.

    python3 bonus/b2_halves/solution/race.py

Needs nvcc, PyTorch, and for hopper.cu an H100 or H200; FlashAttention-4 is timed if flash-attn-4 is installed.
A kernel is held against float64 on odd shapes first: what is wrong is not timed. Peers and kernels take turns, each
as a graph of 40 ms: once after the same work, as a GPU under load does it, and once after a pause of 50 ms, for 4 ms,
before it lowers its clock. The table has the medians of seven turns of either.
"""
import math
import pathlib
import sys
import time

import torch
import torch.nn.functional as F
from torch.nn.attention import SDPBackend, sdpa_kernel

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[2] / "python"))
import racing  # noqa: E402 (it lies in python/)

KERNELS = ["kernels", "hopper"]
SHAPES = [  # batch, heads, heads of k and v, queries, keys, dim
    (1, 1, 1, 1, 1, 128), (1, 2, 2, 2, 2, 64), (1, 2, 2, 17, 300, 128), (1, 2, 1, 113, 113, 128),
    (2, 4, 2, 1000, 1000, 128), (1, 4, 1, 333, 777, 64), (1, 2, 2, 4096, 4096, 128),
    (2, 4, 2, 777, 333, 128), (3, 64, 8, 450, 450, 64),
]
RACES = [(1, 16, 16384, 128), (4, 32, 4096, 128), (16, 16, 1024, 128), (1, 32, 16384, 64)]

torch.manual_seed(0)
FILES = {}


def file_of(kernel, dim, kind):
    """The kernel's file, compiled for a dimension and a type."""
    key = kernel, dim, kind
    if key not in FILES:
        FILES[key] = racing.File(HERE / f"{kernel}.cu", {"DIM": dim, **({"BRAIN": 1} if kind == torch.bfloat16 else {})})
    return FILES[key]


def attention(kernel, q, k, v, causal):
    """A function that runs the kernel, and its output, which is NaN until then."""
    (batch, heads, n, dim), kv, m = q.shape, k.shape[1], k.shape[2]
    out = torch.full_like(q, math.nan)
    scale = math.log2(math.e) / math.sqrt(dim)
    launch = file_of(kernel, dim, q.dtype).kernel("attention").launcher
    if kernel == "kernels":
        go = launch((-(-n // 128), batch * heads), 128, 2 * dim * (128 + 2 * 64), q, k, v, out, n, m, heads // kv, causal, scale)
        return go, out
    consumers = 4 - dim // 64  # as hopper.cu has it
    maps = [racing.TensorMap(x.view(-1, x.shape[2], dim), 64, rows) for x, rows in ((q, 64), (k, 128), (v, 128), (out, 16))]
    blocks = min(racing.processors(), -(-n // (64 * consumers)) * batch * heads)
    go = launch((blocks,), 128 * (consumers + 1), 2 * dim * (2 * 64 * consumers + 4 * 128) + 2048,
                *maps, n, m, batch * heads, heads // kv, causal, scale)
    return go, out


def truth(q, k, v, causal):
    group = q.shape[1] // k.shape[1]
    q, k, v = q.double(), k.double().repeat_interleave(group, 1), v.double().repeat_interleave(group, 1)
    s = q @ k.mT / math.sqrt(q.shape[-1])
    if causal:
        n, m = s.shape[-2:]
        s = s.masked_fill(torch.ones(n, m, device="cuda", dtype=torch.bool).triu(m - n + 1), -math.inf)
    return s.softmax(-1).nan_to_num() @ v  # a row that sees no key is zeros


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
                        q, k.repeat_interleave(group, 1), v.repeat_interleave(group, 1), attn_mask=mask).nan_to_num()
                    ratio = racing.error(out, want) / max(racing.error(theirs, want), 1e-5)
                    worst = max(worst, ratio if ratio == ratio else math.inf)
    return worst


def milliseconds(graph, calls):
    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    begin.record()
    graph.replay()
    end.record()
    end.synchronize()
    return begin.elapsed_time(end) / calls


def times(functions, turns=7):
    """The medians in ms of each, under load and after a pause."""
    graphs = []
    for f in functions:
        one = milliseconds(racing.graph_of([f]), 1)
        graphs.append([(racing.graph_of([f], calls), calls) for calls in (max(1, int(40 / one)), max(1, int(4 / one)))])
    found = [([], []) for _ in functions]
    for _ in range(turns):
        for (long, short), (loaded, rested) in zip(graphs, found):
            long[0].replay()
            loaded.append(milliseconds(*long))
            torch.cuda.synchronize()
            time.sleep(0.05)
            rested.append(milliseconds(*short))
    return [tuple(sorted(x)[turns // 2] for x in each) for each in found]


def peers(q, k, v, causal):
    def sdpa(backend):
        def call():
            with sdpa_kernel(backend):
                return F.scaled_dot_product_attention(q, k, v, is_causal=causal)
        return call
    yield "cuDNN", sdpa(SDPBackend.CUDNN_ATTENTION)
    yield "FlashAttention-2", sdpa(SDPBackend.FLASH_ATTENTION)
    try:
        from flash_attn.cute import flash_attn_func
    except ImportError:
        return
    by_token = [x.transpose(1, 2).contiguous() for x in (q, k, v)]
    yield "FlashAttention-4", lambda: flash_attn_func(*by_token, causal=causal)


def main():
    print(torch.cuda.get_device_name(), "PyTorch", torch.__version__, "cuDNN", torch.backends.cudnn.version())
    racing.compile_all([file_of(k, dim, kind) for k in KERNELS for dim in (64, 128) for kind in (torch.float16, torch.bfloat16)])
    fit = []
    for kernel in KERNELS:
        worst = check(kernel)
        print(kernel, f"errors at most {worst:.2f} x PyTorch's", "" if worst < 1.5 else "WRONG, not timed")
        if worst < 1.5:
            fit.append(kernel)
    print("TFLOP/s under load and after a pause")
    for batch, heads, n, dim in RACES:
        for causal in (False, True):
            q, k, v = (torch.randn(batch, heads, n, dim, device="cuda", dtype=torch.float16) for _ in range(3))
            flops = 4 * batch * heads * n * n * dim * (0.5 if causal else 1)
            ways = dict(peers(q, k, v, causal)) | {f"{kernel}.cu": attention(kernel, q, k, v, causal)[0] for kernel in fit}
            rates = (f"{name} {flops / loaded / 1e9:.0f} {flops / rested / 1e9:.0f}"
                     for name, (loaded, rested) in zip(ways, times(list(ways.values()))))
            print(f"{batch} x {heads} x {n} x {dim} {'causal' if causal else 'full'}", *rates, sep=" | ", flush=True)


if __name__ == "__main__":
    main()
