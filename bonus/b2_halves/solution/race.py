"""Checks and times the two kernels beside PyTorch's cuDNN and FlashAttention-2, on one GPU in one run.

    python3 bonus/b2_halves/solution/race.py

Needs nvcc, PyTorch, and for hopper.cu an H100 or H200. A kernel is held against float64 on odd
shapes first: what is wrong is not timed. Times are medians of a quarter of a second each, twice,
with the peers in between; the table shows both.
"""
import ctypes
import math
import pathlib
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

import torch
import torch.nn.functional as F
from torch.nn.attention import SDPBackend, sdpa_kernel
from triton.testing import do_bench

HERE = pathlib.Path(__file__).parent
WORK = pathlib.Path(tempfile.mkdtemp())
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
torch.zeros(1, device="cuda")  # makes the context that the driver's calls below use
driver = ctypes.CDLL("libcuda.so.1")


def call(name, *args):
    if code := getattr(driver, name)(*args):
        text = ctypes.c_char_p()
        driver.cuGetErrorName(code, ctypes.byref(text))
        sys.exit(f"{name}: {text.value.decode()}")


def compile_one(job):
    file, defines = job
    cubin = WORK / ("_".join([file, *(f"{k}{v}" for k, v in defines.items())]) + ".cubin")
    flags = [f"-D{k}={v}" for k, v in defines.items()]
    target = "-gencode=arch=compute_90a,code=sm_90a"
    subprocess.run(["nvcc", "-cubin", target, "-std=c++17", "-O3", *flags, "-o", cubin, HERE / f"{file}.cu"], check=True)
    return cubin.read_bytes()


JOBS = [(file, {**defines, "DIM": dim, **brain})
        for file, defines in KERNELS for dim in (64, 128) for brain in ({}, {"BRAIN": 1})]
with ThreadPoolExecutor() as pool:
    CUBINS = dict(zip(map(str, JOBS), pool.map(compile_one, JOBS)))


def function(job):
    module, f = ctypes.c_void_p(), ctypes.c_void_p()
    call("cuModuleLoadData", ctypes.byref(module), CUBINS[str(job)])
    call("cuModuleGetFunction", ctypes.byref(f), module, b"attention")
    return f


def tensor_map(x, rows):
    """A map of x [heads, rows, dim], by boxes of 64 columns, and what keeps it alive."""
    heads, length, dim = x.shape
    held = ctypes.create_string_buffer(192)
    at = (ctypes.addressof(held) + 63) // 64 * 64
    kind = 9 if x.dtype == torch.bfloat16 else 6
    call("cuTensorMapEncodeTiled", ctypes.c_void_p(at), kind, 3, ctypes.c_void_p(x.data_ptr()),
         (ctypes.c_uint64 * 3)(dim, length, heads), (ctypes.c_uint64 * 2)(2 * dim, 2 * dim * length),
         (ctypes.c_uint32 * 3)(64, rows, 1), (ctypes.c_uint32 * 3)(1, 1, 1), 0, 3, 2, 0)
    return at, held


def attention(kernel, q, k, v, causal):
    """A function that runs the kernel, and its output, which is NaN until then."""
    file, defines = kernel
    (batch, heads, n, dim), kv, m = q.shape, k.shape[1], k.shape[2]
    brain = {"BRAIN": 1} if q.dtype == torch.bfloat16 else {}
    f = function((file, {**defines, "DIM": dim, **brain}))
    out = torch.full_like(q, math.nan)
    scalars = [ctypes.c_uint64(out.data_ptr()), *map(ctypes.c_int, (n, m, heads // kv, causal)),
               ctypes.c_float(math.log2(math.e) / math.sqrt(dim))]
    if file == "hopper":
        consumers = defines["CONSUMERS"]
        rows, threads, shared = 64 * consumers, 128 * (consumers + 1), 2 * dim * (64 * consumers + 4 * 128) + 2048
        held = [tensor_map(x.view(-1, x.shape[2], dim), r) for x, r in ((q, 64), (k, 128), (v, 128))]
        args = [a for a, _ in held]
    else:
        rows, threads, shared, held = 128, 128, 2 * dim * (128 + 2 * 64), None
        pointers = [ctypes.c_uint64(x.data_ptr()) for x in (q, k, v)]
        args, scalars = [], pointers + scalars
    call("cuFuncSetAttribute", f, 8, shared)
    args = (ctypes.c_void_p * (len(args) + len(scalars)))(*args, *map(ctypes.addressof, scalars))
    grid = (n + rows - 1) // rows, batch * heads

    def go(keep=(held, scalars, q, k, v)):
        stream = ctypes.c_void_p(torch.cuda.current_stream().cuda_stream)
        call("cuLaunchKernel", f, *grid, 1, threads, 1, 1, shared, stream, args, None)
    return go, out


def truth(q, k, v, causal):
    group = q.shape[1] // k.shape[1]
    q, k, v = q.double(), k.double().repeat_interleave(group, 1), v.double().repeat_interleave(group, 1)
    s = q @ k.mT / math.sqrt(q.shape[-1])
    if causal:
        n, m = s.shape[-2:]
        s = s.masked_fill(torch.ones(n, m, device="cuda", dtype=torch.bool).triu(m - n + 1), -math.inf)
    return s.softmax(-1) @ v


def error(x, want):
    return ((x.double() - want).square().mean() / want.square().mean()).sqrt().item()


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
                    ratio = error(out, want) / max(error(theirs, want), 1e-5)
                    worst = max(worst, ratio if ratio == ratio else math.inf)
    return worst


def rate(f, flops):
    return flops / do_bench(f, warmup=50, rep=250, return_mode="median") / 1e9


def main():
    print(torch.cuda.get_device_name(), "PyTorch", torch.__version__, "cuDNN", torch.backends.cudnn.version())
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


main()
