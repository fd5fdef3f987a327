"""Checks and times all versions beside PyTorch's own backward passes, on one GPU in one run.

    python3 bonus/b10_backward/solution/race.py             all
    python3 bonus/b10_backward/solution/race.py check       no times

Needs nvcc, PyTorch and an H100 or H200; versions are put together by out/bin/grader. A version is held against float64 on odd
shapes first: what is wrong is not timed. Then the same bits twice, then times: medians of graphs, in turns. Rates count the
five products of a backward pass, whoever does seven; of a causal one half.
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

HALVES = "halves.cu"
VERSIONS = ["_versions/1_written/kernels.cu", "_versions/2_atomics/kernels.cu", "_versions/3_owned/kernels.cu", "kernels.cu"]
SHAPES = [  # batch, heads, heads of k and v, queries, keys, dim
    (1, 1, 1, 1, 1, 64), (1, 2, 1, 2, 2, 128), (1, 4, 2, 17, 113, 64), (1, 2, 2, 113, 70, 128), (2, 4, 1, 333, 300, 128),
    (2, 4, 2, 300, 333, 64), (1, 2, 1, 1024, 1024, 128),
]
RACES = [(1, 8, 4096, 128), (1, 16, 4096, 128), (4, 16, 2048, 64), (1, 16, 16384, 128)]
MOST_ROWS = 65535  # that version 1 may have in a race: each is a row of its grid

torch.manual_seed(0)
FILES = {}


def file_of(version, dim, kind):
    key = version, dim, kind
    if key not in FILES:
        FILES[key] = racing.File(racing.rung(HERE, version), {"DIM": dim, **({"BRAIN": 1} if kind == torch.bfloat16 else {})})
    return FILES[key]


def gradients(version, given, causal):
    """A function that makes dq, dk and dv, and these, which are NaN until then."""
    q, k, v, out, lse, g = given
    (batch, heads, n, dim), kv, m = q.shape, k.shape[1], k.shape[2]
    dq, dk, dv = (torch.full_like(x, math.nan) for x in (q, k, v))
    file, group, scale = file_of(version, dim, q.dtype), heads // kv, 1 / math.sqrt(dim)
    first = [q, k, v, out, lse, g]
    sizes = n, m, group
    if "1_written" in version:
        p, ds = (torch.empty(batch * heads * n, m, device="cuda") for _ in range(2))
        launches = [
            file.kernel("pairs").launcher((-(-m // 64), batch * heads * n), 64, 0, *first, p, ds, *sizes, causal, scale),
            file.kernel("keys").launcher((m, batch * kv), dim, 0, q, g, p, ds, dk, dv, *sizes, scale),
            file.kernel("queries").launcher((n, batch * heads), dim, 0, k, ds, dq, *sizes, scale),
        ]
    elif "2_atomics" in version:
        keys = file.kernel("keys").launcher((-(-m // 32), batch * kv), 256, shared(version, dim), *first, dq, dk, dv, *sizes, causal, scale)
        launches = [dq.zero_, keys]
    else:
        rows, threads = (64, 128) if version == HALVES else (32, 256 if "3_owned" in version else 128)
        scale *= math.log2(math.e) if version == HALVES else 1
        launches = [
            file.kernel("keys").launcher((-(-m // rows), batch * kv), threads, shared(version, dim), *first, dk, dv, *sizes, causal, scale),
            file.kernel("queries").launcher((-(-n // rows), batch * heads), threads, shared(version, dim), *first, dq, *sizes, causal, scale)]

    def go():
        for launch in launches:
            launch()
    return go, (dq, dk, dv)


def shared(version, dim):
    if version == HALVES:
        return 2 * 3 * 2 * 64 * dim + 3 * 4 * 64
    apart, pairs = (1, 1) if "_versions" in version else (4, 16)
    return 4 * (4 * 32 * (dim + apart) + 2 * 32 * (32 + pairs) + 2 * 32)


def forward(q, k, v, causal):
    """out, the rows' log-sum-exp and the probabilities; of a query that sees no key 0, -Inf and 0."""
    n, m = q.shape[2], k.shape[2]
    s = q @ k.mT / math.sqrt(q.shape[-1])
    if causal:
        s = s.masked_fill(torch.ones(n, m, device="cuda", dtype=torch.bool).triu(m - n + 1), -math.inf)
    p = s.softmax(-1).nan_to_num()
    return p @ v, s.logsumexp(-1), p


def made(shape, kind, causal, exact=True):
    """q, k, v, out, lse and dOut; and the gradients in float64, by the six lines, of these numbers as they are.

    Not exact: out is PyTorch's, lse any number, and there are no gradients."""
    batch, heads, kv, n, m, dim = shape
    q, g = (torch.randn(batch, heads, n, dim, device="cuda").to(kind) for _ in range(2))
    k, v = (torch.randn(batch, kv, m, dim, device="cuda").to(kind) for _ in range(2))
    if not exact:
        with sdpa_kernel(SDPBackend.EFFICIENT_ATTENTION), torch.no_grad():
            out = F.scaled_dot_product_attention(q, k, v, is_causal=causal)
        lse = torch.full((batch, heads, n), math.log(m), device="cuda")  # as good as any: no time depends on it
        return (q, k, v, out, lse, g), None
    group, scale = heads // kv, 1 / math.sqrt(dim)
    wide = [x.double() for x in (q, k.repeat_interleave(group, 1), v.repeat_interleave(group, 1))]
    out, lse, p = forward(*wide, causal)
    out, lse, g64 = out.to(kind), lse.float(), g.double()
    ds = p * (g64 @ wide[2].mT - (g64 * out.double()).sum(-1, keepdim=True))
    of_group = lambda x: x.view(batch, kv, group, m, dim).sum(2)  # noqa: E731
    return (q, k, v, out, lse, g), [ds @ wide[1] * scale, of_group(ds.mT @ wide[0] * scale), of_group(p.mT @ g64)]


def check(version, kind):
    """The worst error, by the root of its mean square, over all shapes; and whether the last one has the same bits twice."""
    worst, same = 0, True
    for shape in SHAPES:
        for causal in (False, True):
            given, want = made(shape, kind, causal)
            go, got = gradients(version, given, causal)
            go()
            first = [x.clone() for x in got]
            for x, y in zip(got, want):
                # Where a query sees one key, dS is 0, and all there is of dq and dk is what dP and D were rounded to.
                wrong = (x.double() - y).square().mean().sqrt().item() / max(y.square().mean().sqrt().item(), 0.1)
                worst = max(worst, wrong if wrong == wrong else math.inf)
            for _ in range(5):
                go()
                same = same and all(torch.equal(x, y) for x, y in zip(got, first))
    return worst, same


def peers(given, causal):
    """PyTorch's backward passes: their forward pass has run before."""
    q, k, v, _, _, g = given
    leaves = [x.detach().clone().requires_grad_() for x in (q, k, v)]
    backends = {"math": SDPBackend.MATH, "efficient": SDPBackend.EFFICIENT_ATTENTION}
    if q.dtype != torch.float32:
        backends = {"FlashAttention-2": SDPBackend.FLASH_ATTENTION, "cuDNN": SDPBackend.CUDNN_ATTENTION}
    for name, backend in backends.items():
        try:
            with sdpa_kernel(backend):
                out = F.scaled_dot_product_attention(*leaves, is_causal=causal)
            yield name, lambda out=out: torch.autograd.grad(out, leaves, g, retain_graph=True)
        except RuntimeError as why:
            print("   ", name, str(why).splitlines()[0])


def times(functions, turns=5):
    """The median of each in ms, by events around some 30 ms of calls: autograd is in no graph."""
    def run(f, calls):
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record()
        for _ in range(calls):
            f()
        end.record()
        end.synchronize()
        return begin.elapsed_time(end) / calls
    calls = []
    for f in functions:
        run(f, 1)
        calls.append(max(1, min(50, int(30 / run(f, 1)))))
    found = [[run(f, n) for f, n in zip(functions, calls)] for _ in range(turns)]
    return [sorted(one)[turns // 2] for one in zip(*found)]


def main():
    print(torch.cuda.get_device_name(), "PyTorch", torch.__version__, "cuDNN", torch.backends.cudnn.version())
    torch.backends.cuda.matmul.allow_tf32 = False
    fit, kinds = [], {v: [torch.float32] for v in VERSIONS} | {HALVES: [torch.float16, torch.bfloat16]}
    racing.compile_all([file_of(v, dim, kind) for v in kinds for kind in kinds[v] for dim in (64, 128)])
    for version in kinds:
        for kind in kinds[version]:
            worst, same = check(version, kind)
            limit = {torch.float32: 1e-5, torch.float16: 2e-3, torch.bfloat16: 2e-2}[kind]
            print(f"{version}, {kind}: error {worst:.2g}, {'the same' if same else 'other'} bits in six calls",
                  "" if worst < limit else "WRONG, not timed", flush=True)
            if worst < limit:
                fit.append((version, kind))
    if sys.argv[1:] == ["check"]:
        return
    print("ms | TFLOP/s of five products")
    for batch, heads, n, dim in RACES:
        for kind in (torch.float32, torch.float16):
            for causal in (False, True):
                given, _ = made((batch, heads, heads, n, n, dim), kind, causal, exact=False)
                pairs = batch * heads * n * n
                ways = {}
                for version, of in fit:
                    if of == kind and not ("1_written" in version and batch * heads * n > MOST_ROWS) and (kind != torch.float32 or n < 16384):
                        ways[version.removeprefix("_versions/").removesuffix("/kernels.cu")] = gradients(version, given, causal)[0]
                if kind == torch.float32 and n >= 16384:
                    continue
                ways |= dict(peers(given, causal))
                flops = 10 * pairs * dim * (0.5 if causal else 1)
                row = (f"{name} {ms:.2f} {flops / ms / 1e9:.0f}" for name, ms in zip(ways, times(list(ways.values()))))
                print(f"{batch} x {heads} x {n} x {dim} {str(kind)[6:]} {'causal' if causal else 'full'}", *row, sep=" | ", flush=True)


if __name__ == "__main__":
    main()
