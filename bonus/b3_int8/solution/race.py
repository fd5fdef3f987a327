"""Checks and times INT8 attention beside SageAttention 1, cuDNN and FlashAttention-2, on one GPU in one run.

    python3 bonus/b3_int8/solution/race.py

Needs nvcc, PyTorch and the package sageattention (the version in Triton, 1.0.6). Codes are checked first,
then outputs against float64 attention of those very codes; what is wrong is not timed. Then comes
what the format costs, against float64 attention of the inputs. Times have quantising in them. They are
medians of a fifth of a second, of CUDA graphs, the L2 emptied before each; all of it twice, the peers in between.
"""
import ctypes
import math
import os
import pathlib
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

import torch
import torch.nn.functional as F
from torch.nn.attention import SDPBackend, sdpa_kernel
from triton.testing import do_bench

sys.path.append(str(pathlib.Path(__file__).resolve().parents[3] / "scripts"))
from rungs import rung  # noqa: E402

HERE = pathlib.Path(__file__).parent
INCLUDE = HERE / "../../../device/nvcc/include"
WORK = pathlib.Path(tempfile.mkdtemp())
BLOCK = 64
FLAVOURS = ["tensor", "1_dp4a", "2_mma", "block", "hopper"]  # all but the first are by block
SHAPES = [  # batch, heads, heads of k and v, queries, keys, dim
    (1, 1, 1, 1, 1, 128), (1, 2, 2, 2, 2, 64), (1, 2, 2, 17, 300, 128), (1, 2, 1, 113, 113, 128),
    (2, 4, 2, 1000, 1000, 128), (1, 4, 1, 333, 777, 64), (1, 2, 2, 70, 40, 64), (1, 2, 2, 2048, 2048, 128),
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
    file, *flags = job
    cubin = WORK / ("_".join([file.replace("/", "_"), *flags]) + ".cubin")
    subprocess.run(["nvcc", "-cubin", "-gencode=arch=compute_90a,code=sm_90a", "-std=c++17", "-O3", f"-I{INCLUDE}", *flags, "-o", cubin,
                    rung(HERE, f"{file}.cu")], check=True)
    return cubin.read_bytes()


def job_of(flavour, dim):
    return {"tensor": ("attention", f"-DDIM={dim}", "-DTENSOR"), "block": ("attention", f"-DDIM={dim}"),
            "hopper": ("hopper", f"-DDIM={dim}")}.get(flavour, (f"_versions/{flavour}/attention", f"-DDIM={dim}"))


JOBS = [("quantise", f"-DDIM={dim}") for dim in (64, 128)] + [job_of(f, d) for f in FLAVOURS for d in (64, 128)]
with ThreadPoolExecutor() as pool:
    CUBINS = dict(zip(JOBS, pool.map(compile_one, JOBS)))


def function(job, name):
    module, f = ctypes.c_void_p(), ctypes.c_void_p()
    call("cuModuleLoadData", ctypes.byref(module), CUBINS[job])
    call("cuModuleGetFunction", ctypes.byref(f), module, name.encode())
    return f


def launcher(f, grid, threads, shared, *args):
    """A function that launches on the current stream; tensors are passed by address, pairs are (address, what keeps it)."""
    held = []
    for a in args:
        held.append(ctypes.c_uint64(a.data_ptr()) if isinstance(a, torch.Tensor) else
                    ctypes.c_int(int(a)) if isinstance(a, (int, bool)) else
                    ctypes.c_float(a) if isinstance(a, float) else a)
    array = (ctypes.c_void_p * len(held))(*(a[0] if isinstance(a, tuple) else ctypes.addressof(a) for a in held))
    call("cuFuncSetAttribute", f, 8, shared)

    def go(keep=(args, held)):
        stream = ctypes.c_void_p(torch.cuda.current_stream().cuda_stream)
        call("cuLaunchKernel", f, *grid, 1, threads, 1, 1, shared, stream, array, None)
    return go


def tensor_map(x, rows):
    """A map of x [heads, rows, dim], by boxes of 128 bytes or a row, and what keeps it alive."""
    heads, length, dim = x.shape
    size = x.element_size()
    wide = min(dim, 128 // size)
    held = ctypes.create_string_buffer(192)
    at = (ctypes.addressof(held) + 63) // 64 * 64
    call("cuTensorMapEncodeTiled", ctypes.c_void_p(at), 6 if size == 2 else 0, 3, ctypes.c_void_p(x.data_ptr()),
         (ctypes.c_uint64 * 3)(dim, length, heads), (ctypes.c_uint64 * 2)(size * dim, size * dim * length),
         (ctypes.c_uint32 * 3)(wide, rows, 1), (ctypes.c_uint32 * 3)(1, 1, 1), 0, 3 if wide * size == 128 else 2, 2, 0)
    return at, held


class Attention:
    """One flavour on one set of inputs: self.quantise(), self.attend(), self() for both."""

    def __init__(self, flavour, q, k, v, causal):
        (batch, heads, n, dim), kv, m = q.shape, k.shape[1], k.shape[2]
        self.tensor, self.out = flavour == "tensor", torch.full_like(q, math.nan)
        new = lambda kind, *shape: torch.full(shape, 0x7FC00000 if kind == torch.int32 else 0, device="cuda", dtype=kind)
        self.codes = [torch.full_like(x, 99, dtype=torch.int8) for x in (q, k, v)]
        quantise = ("quantise", f"-DDIM={dim}")
        scale = math.log2(math.e) / math.sqrt(dim)
        if self.tensor:
            self.affine, self.extents = new(torch.float32, 3, 2), new(torch.int32, 3, 2)
            self.sums = [new(torch.int32, x.numel() // dim) for x in (q, k, v)]
            extents, codes = function(quantise, "extents"), function(quantise, "tensorCodes")
            steps = [self.extents.zero_]
            for i, x in enumerate((q, k, v)):
                pieces = x.numel() // 8
                steps.append(launcher(extents, (min((pieces + 255) // 256, 1056), 1), 256, 0, x, pieces, self.extents[i]))
                steps.append(launcher(codes, ((pieces + 255) // 256, 1), 256, 0, x, pieces, self.extents[i], self.codes[i],
                                      self.affine[i], self.sums[i]))
            tables, value = (self.affine, self.sums[1]), self.codes[2]
        else:
            blocks = lambda x: -(-x.shape[2] // BLOCK)
            self.mean = new(torch.float32, batch, kv, dim)
            self.scales = [new(torch.float32, *x.shape[:2], blocks(x)) for x in (q, k)]
            codes, means = function(quantise, "blockCodes"), function(quantise, "means")
            steps = [launcher(means, (dim // 16, batch * kv), 256, 0, k, m, self.mean)]
            for i, x in enumerate((q, k)):
                steps.append(launcher(codes, (blocks(x), x.shape[0] * x.shape[1]), 128, 0, x, x.shape[2], self.mean, i == 1,
                                      self.codes[i], self.scales[i]))
            tables, value = self.scales, v
        self.steps = steps
        scalars = (n, m, heads // kv, causal, scale)
        f = function(job_of(flavour, dim), "attention")
        if flavour == "hopper":
            rows = 192
            maps = [tensor_map(x.view(-1, x.shape[2], dim), r) for x, r in ((self.codes[0], 64), (self.codes[1], 128), (v, 128))]
            shared = dim * (rows + 2 * 128 + 2 * 2 * 128) + 2048
            self.attend = launcher(f, (-(-n // rows), batch * heads), 512, shared, *maps, self.out, *tables, *scalars)
        else:
            rows, threads, shared = (64, 256, 0) if flavour == "1_dp4a" else (128, 128, dim * (128 + 64 + 2 * 64))
            self.attend = launcher(f, (-(-n // rows), batch * heads), threads, shared, *self.codes[:2], value, self.out, *tables, *scalars)

    def quantise(self):
        for step in self.steps:
            step()

    def __call__(self):
        self.quantise()
        self.attend()

    def decoded(self, q, k, v):
        """q, k and v as the codes have them, in float64, and the largest error of a code, in steps."""
        if self.tensor:
            back = [(c.double() - a[1]) * a[0] for c, a in zip(self.codes, self.affine.double())]
            steps = [a[0] for a in self.affine.double()]
            want = (q, k, v)
        else:
            spread = [s.double().repeat_interleave(BLOCK, 2)[:, :, :x.shape[2], None] for s, x in zip(self.scales, (q, k))]
            mean = self.mean.double()[:, :, None]
            back = [self.codes[0].double() * spread[0], self.codes[1].double() * spread[1] + mean, v.double()]
            steps, want = spread, (q, k)
        off = max(((b - x.double()) / s).abs().max().item() for b, x, s in zip(back, want, steps))
        return back, off


def truth(q, k, v, causal):
    group = q.shape[1] // k.shape[1]
    q, k, v = q.double(), k.double().repeat_interleave(group, 1), v.double().repeat_interleave(group, 1)
    s = q @ k.mT / math.sqrt(q.shape[-1])
    if causal:
        n, m = s.shape[-2:]
        s = s.masked_fill(torch.ones(n, m, device="cuda", dtype=torch.bool).triu(m - n + 1), -math.inf)
    return torch.nan_to_num(s.softmax(-1)) @ v  # a row that sees nothing is NaN, and should be zeros


def error(x, want):
    return ((x.double() - want).square().mean() / want.square().mean().clamp(min=1e-30)).sqrt().item()


def inputs(batch, heads, kv, n, m, dim, size=1.0, outliers=False):
    q = size * torch.randn(batch, heads, n, dim, device="cuda")
    k, v = (torch.randn(batch, kv, m, dim, device="cuda") for _ in range(2))
    if outliers:  # one column in eight of k has a large mean
        k += 20 * torch.randn(dim, device="cuda") * (torch.arange(dim, device="cuda") % 8 == 5)
    return q.half(), k.half(), v.half()


def check(flavour):
    """The worst error against float64 attention of the codes, and the worst code's, in steps."""
    worst, steps = 0, 0
    for shape in SHAPES:
        for causal in (False, True):
            for size in (1, 8):  # large queries make a row of one key
                q, k, v = inputs(*shape, size, outliers=size == 1)
                a = Attention(flavour, q, k, v, causal)
                a()
                back, off = a.decoded(q, k, v)
                e = error(a.out, truth(*back, causal))
                worst, steps = max(worst, e if e == e else math.inf), max(steps, off)
    return worst, steps


def format_costs():
    print("what the format costs, 1 x 8 x 2048 x 128: 1 - cosine, relative L1, RMS; against float64 of the inputs")
    for outliers in (False, True):
        q, k, v = inputs(1, 8, 8, 2048, 2048, 128, outliers=outliers)
        want = truth(q, k, v, False)
        ways = {f: Attention(f, q, k, v, False) for f in FLAVOURS}
        outs = {"halves": F.scaled_dot_product_attention(q, k, v)}
        for f, a in ways.items():
            a()
            outs[f] = a.out
        try:
            from sageattention import sageattn
            outs["Sage 1"] = sageattn(q, k, v, is_causal=False)
        except Exception as e:
            print("Sage 1:", type(e).__name__, e)
        for name, x in outs.items():
            x = x.double()
            cosine = 1 - (x * want).sum() / (x.norm() * want.norm())
            print(f"  {'outliers' if outliers else 'normal  '} {name:7} {cosine.item():.2e} "
                  f"{((x - want).abs().sum() / want.abs().sum()).item():.2e} {error(x, want):.2e}")


def rate(f, flops):
    f()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        f()
    return flops / do_bench(graph.replay, warmup=50, rep=200, return_mode="median") / 1e9


def main():
    print(torch.cuda.get_device_name(), "PyTorch", torch.__version__, "cuDNN", torch.backends.cudnn.version())
    fit = []
    for flavour in FLAVOURS:
        worst, steps = check(flavour)
        good = worst < 8e-4 and steps < 0.501
        print(f"{flavour}: RMS error against its own codes at most {worst:.2e}, codes at most {steps:.4f} steps off", "" if good else "WRONG, not timed")
        if good:
            fit.append(flavour)
    format_costs()
    try:
        from sageattention import sageattn
    except Exception as e:
        sageattn = None
        print("Sage 1:", type(e).__name__, e)
    print("TFLOP/s, each twice: cuDNN, FlashAttention-2, Sage 1 |", *fit, "| quantising alone, us")
    for batch, heads, n, dim in RACES:
        for causal in (False, True):
            q, k, v = inputs(batch, heads, heads, n, n, dim)
            flops = 4 * batch * heads * n * n * dim * (0.5 if causal else 1)
            ways = [Attention(f, q, k, v, causal) for f in fit]

            def peer(backend):
                with sdpa_kernel(backend):
                    return rate(lambda: F.scaled_dot_product_attention(q, k, v, is_causal=causal), flops)
            row = [[] for _ in range(3 + len(fit))]
            for _ in range(2):
                row[0].append(peer(SDPBackend.CUDNN_ATTENTION))
                row[1].append(peer(SDPBackend.FLASH_ATTENTION))
                row[2].append(rate(lambda: sageattn(q, k, v, is_causal=causal), flops) if sageattn else math.nan)
                for i, a in enumerate(ways):
                    row[3 + i].append(rate(a, flops))
            quantising = [flops / rate(a.quantise, flops) / 1e6 for a in ways]
            print(f"{batch} x {heads} x {n} x {dim} {'causal' if causal else 'full  '}", *(" {:4.0f} {:4.0f}".format(*x) for x in row),
                  " ".join(f"{t:.0f}" for t in quantising), sep=" |", flush=True)


main()
