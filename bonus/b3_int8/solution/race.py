"""Checks and times INT8 attention beside SageAttention 1, cuDNN and FlashAttention-2, on one GPU in one run.

    python3 bonus/b3_int8/solution/race.py

Needs nvcc, PyTorch and the package sageattention (the version in Triton, 1.0.6). Codes are checked first,
then outputs against float64 attention of those very codes; what is wrong is not timed. Then comes
what the format costs, against float64 attention of the inputs. Times have quantising in them. They are
medians of a fifth of a second, of CUDA graphs, the L2 emptied before each; all of it twice, the peers in between.
"""
import math
import pathlib
import sys

import torch
import torch.nn.functional as F
from torch.nn.attention import SDPBackend, sdpa_kernel

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[2] / "python"))
import racing  # noqa: E402 (it lies in python/)

BLOCK = 64
FLAVOURS = ["tensor", "1_dp4a", "2_mma", "block", "hopper"]  # all but the first are by block
SHAPES = [  # batch, heads, heads of k and v, queries, keys, dim
    (1, 1, 1, 1, 1, 128), (1, 2, 2, 2, 2, 64), (1, 2, 2, 17, 300, 128), (1, 2, 1, 113, 113, 128),
    (2, 4, 2, 1000, 1000, 128), (1, 4, 1, 333, 777, 64), (1, 2, 2, 70, 40, 64), (1, 2, 2, 2048, 2048, 128),
]
RACES = [(1, 16, 16384, 128), (4, 32, 4096, 128), (1, 32, 16384, 64)]

torch.manual_seed(0)


def job_of(flavour):
    """A flavour's file, and its macros but for DIM."""
    return {"tensor": ("attention", {"TENSOR": 1}), "block": ("attention", {}), "hopper": ("hopper", {})}.get(
        flavour, (f"_versions/{flavour}/attention", {}))


QUANTISE = {dim: racing.File(HERE / "quantise.cu", {"DIM": dim}) for dim in (64, 128)}
FILES = {(flavour, dim): racing.File(racing.rung(HERE, f"{file}.cu"), {"DIM": dim, **macros})
         for flavour in FLAVOURS for file, macros in [job_of(flavour)] for dim in (64, 128)}


class Attention:
    """One flavour on one set of inputs: self.quantise(), self.attend(), self() for both."""

    def __init__(self, flavour, q, k, v, causal):
        (batch, heads, n, dim), kv, m = q.shape, k.shape[1], k.shape[2]
        self.tensor, self.out = flavour == "tensor", torch.full_like(q, math.nan)
        new = lambda kind, *shape: torch.full(shape, 0x7FC00000 if kind == torch.int32 else 0, device="cuda", dtype=kind)
        self.codes = [torch.full_like(x, 99, dtype=torch.int8) for x in (q, k, v)]
        quantise = QUANTISE[dim].kernel
        scale = math.log2(math.e) / math.sqrt(dim)
        if self.tensor:
            self.affine, self.extents = new(torch.float32, 3, 2), new(torch.int32, 3, 2)
            self.sums = [new(torch.int32, x.numel() // dim) for x in (q, k, v)]
            extents, codes = quantise("extents"), quantise("tensorCodes")
            steps = [self.extents.zero_]
            for i, x in enumerate((q, k, v)):
                pieces = x.numel() // 8
                steps.append(extents.launcher((min((pieces + 255) // 256, 1056), 1), 256, 0, x, pieces, self.extents[i]))
                steps.append(codes.launcher(((pieces + 255) // 256, 1), 256, 0, x, pieces, self.extents[i], self.codes[i],
                                            self.affine[i], self.sums[i]))
            tables, value = (self.affine, self.sums[1]), self.codes[2]
        else:
            blocks = lambda x: -(-x.shape[2] // BLOCK)
            self.mean = new(torch.float32, batch, kv, dim)
            self.scales = [new(torch.float32, *x.shape[:2], blocks(x)) for x in (q, k)]
            codes, means = quantise("blockCodes"), quantise("means")
            steps = [means.launcher((dim // 16, batch * kv), 256, 0, k, m, self.mean)]
            for i, x in enumerate((q, k)):
                steps.append(codes.launcher((blocks(x), x.shape[0] * x.shape[1]), 128, 0, x, x.shape[2], self.mean, i == 1,
                                            self.codes[i], self.scales[i]))
            tables, value = self.scales, v
        self.steps = steps
        scalars = (n, m, heads // kv, causal, scale)
        f = FILES[flavour, dim].kernel("attention")
        if flavour == "hopper":
            consumers = 4 - dim // 64  # as hopper.cu has it
            rows = 64 * consumers
            maps = [racing.TensorMap(x.view(-1, x.shape[2], dim), min(dim, 128 // x.element_size()), r)
                    for x, r in ((self.codes[0], 64), (self.codes[1], 128), (v, 128), (self.out, 16))]
            blocks = min(racing.processors(), -(-n // rows) * batch * heads)
            self.attend = f.launcher((blocks,), 128 * (consumers + 1), 3 * dim * (rows + 2 * 128) + 2048,
                                     *maps, *tables, n, m, batch * heads, heads // kv, causal, scale)
        else:
            rows, threads, shared = (64, 256, 0) if flavour == "1_dp4a" else (128, 128, dim * (128 + 64 + 2 * 64))
            self.attend = f.launcher((-(-n // rows), batch * heads), threads, shared, *self.codes[:2], value, self.out, *tables, *scalars)

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
                e = racing.error(a.out, truth(*back, causal))
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
                  f"{((x - want).abs().sum() / want.abs().sum()).item():.2e} {racing.error(x, want):.2e}")


def rate(f, flops):
    return flops / racing.graph_us([f], warmup=50, rep=200) / 1e6


def main():
    print(torch.cuda.get_device_name(), "PyTorch", torch.__version__, "cuDNN", torch.backends.cudnn.version())
    racing.compile_all([*QUANTISE.values(), *FILES.values()])
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


if __name__ == "__main__":
    main()
