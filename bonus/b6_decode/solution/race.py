"""Checks and times the kernels beside PyTorch's cuDNN and FlashAttention-2, on one GPU in one run.

    python3 bonus/b6_decode/solution/race.py [kernels.cu:WARPS=8,STAGES=2 ...]

Needs nvcc and PyTorch. Each kernel is held against float64 on odd shapes first: what is wrong is not
timed. All times are of CUDA graphs over caches that rotate past the L2, medians, each twice with the
others in between. The peers get query heads in groups (enable_gqa) and the layout they like best.
A constant of a file may be changed for a try, 'kernels.cu:WARPS=8', or a macro be set, '+NAME=1'. BLOCKS is how many blocks a step
has at least before keys are no longer shared among more; EARLY=0 launches without overlap.
+PAGED=1 reads the cache in pages, in random order behind a table: 'kernels.cu kernels.cu:+PAGED=1' has both in one run.
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

CHECKS = [  # batch, heads, heads of k and v, slots, dim
    (1, 1, 1, 1, 128), (2, 4, 2, 2, 64), (3, 8, 2, 17, 64), (2, 32, 8, 113, 128), (3, 12, 1, 300, 128),
    (2, 4, 4, 1000, 64), (4, 32, 8, 1111, 128), (1, 32, 8, 40000, 128),
]
RACES = [(1, 4096), (8, 4096), (64, 4096), (16, 1024), (1, 65536), (16, 32768)]  # 32 heads over 8, 128

torch.manual_seed(0)


class Kernel:
    """A file with some of its constants changed, compiled for every dimension and type."""

    def __init__(self, spec):
        self.name = spec
        file, _, changes = spec.partition(":")
        values = dict(c.split("=") for c in changes.split(",") if c)
        macros = {n[1:]: values.pop(n) for n in list(values) if n[0] == "+"}
        self.paged = "PAGED" in macros
        self.many, self.early = int(values.pop("BLOCKS", 132)), int(values.pop("EARLY", 1))
        path = racing.rung(HERE, file)
        text = racing.changed(path.read_text(), values, file)
        self.warps, self.heads, self.stages, self.keys = (racing.constant(text, n) for n in ("WARPS", "HEADS", "STAGES", "KEYS"))
        self.splits = "gridDim.y" in text
        self.early *= "waitForInputs" in text
        self.files = {(dim, kind): racing.File(path, {**macros, "DIM": dim, **({"BRAIN": 1} if kind == torch.bfloat16 else {})}, text)
                      for dim in (64, 128) for kind in (torch.float16, torch.bfloat16)}

    def shared(self, dim):
        """A ring for each warp, of tiles of keys, or for each thread, of 16 bytes."""
        return self.stages * 2 * self.warps * (self.keys * dim * 2 if self.keys else 32 * 16)

    def step(self, out, q, k, v, lengths, scratch):
        """A function that launches one step of decoding."""
        batch, heads, dim = q.shape
        slots, kv = k.shape[1], k.shape[2]
        pairs = batch * kv * -(-(heads // kv) // self.heads)
        parts = max(1, min(self.many // pairs, slots // 256)) if self.splits else 1
        table = ()
        if self.paged:
            k, v, *table = in_pages(k, v)
        return self.files[dim, q.dtype].kernel("decode").launcher(
            (pairs, parts), 32 * self.warps, self.shared(dim), q, k, v, lengths, *table, out, *(scratch if self.splits else ()), slots, heads, kv,
            math.log2(math.e) / math.sqrt(dim), early=self.early)


PAGE = 16  # slots


def in_pages(k, v):
    """The caches cut into pages that lie in random order, and the table that says where. A last page is filled with NaN."""
    batch, slots, kv, dim = k.shape
    columns = -(-slots // PAGE)
    table = torch.randperm(batch * columns, device="cuda")
    pools = []
    for x in (k, v):
        whole = F.pad(x, (0, 0, 0, 0, 0, columns * PAGE - slots), value=math.nan).view(batch * columns, PAGE, kv, dim)
        pool = torch.empty_like(whole)
        pool[table] = whole
        pools.append(pool)
    return *pools, table.int()


def truth(q, k, v, lengths):
    """In float64; zeros for a sequence without keys."""
    out, group = torch.zeros(q.shape, device="cuda", dtype=torch.double), q.shape[1] // k.shape[2]
    for b, n in enumerate(lengths.tolist()):
        if n:
            keys, values = (x[b, :n].double().repeat_interleave(group, 1) for x in (k, v))
            p = (torch.einsum("hd,nhd->hn", q[b].double(), keys) / math.sqrt(q.shape[2])).softmax(-1)
            out[b] = torch.einsum("hn,nhd->hd", p, values)
    return out


def theirs(q, k, v, lengths):
    out, group = torch.zeros_like(q), q.shape[1] // k.shape[2]
    for b, n in enumerate(lengths.tolist()):
        if n:
            keys, values = (x[b, :n].transpose(0, 1)[None] for x in (k, v))
            out[b] = F.scaled_dot_product_attention(q[b, None, :, None], keys, values, enable_gqa=group > 1)[0, :, 0]
    return out


def check(kernel, scratch):
    """The worst ratio of the kernel's error to PyTorch's, over all shapes."""
    worst = 0
    for batch, heads, kv, slots, dim in CHECKS:
        for kind in (torch.float16, torch.bfloat16):
            for size in (1, 8):  # large ones make a row of one key
                q = size * torch.randn(batch, heads, dim, device="cuda").to(kind)
                k, v = (torch.randn(batch, slots, kv, dim, device="cuda").to(kind) for _ in range(2))
                lengths = torch.randint(0, slots + 1, (batch,), device="cuda", dtype=torch.int32)
                lengths[-1] = slots
                want, other = truth(q, k, v, lengths), theirs(q, k, v, lengths)
                for b, n in enumerate(lengths.tolist()):
                    k[b, n:], v[b, n:] = math.nan, math.nan
                out = torch.full_like(q, math.nan)
                kernel.step(out, q, k, v, lengths, scratch)()
                floor = 2.0 ** -13 if kind == torch.float16 else 2.0 ** -10
                ratio = racing.error(out, want) / max(racing.error(other, want), floor)
                worst = max(worst, ratio if ratio == ratio else math.inf)
    return worst


def main():
    print(torch.cuda.get_device_name(), "PyTorch", torch.__version__, "cuDNN", torch.backends.cudnn.version())
    kernels = [Kernel(spec) for spec in sys.argv[1:] or ["kernels.cu"]]
    racing.compile_all([file for kernel in kernels for file in kernel.files.values()])
    scratch = racing.scratch()
    fit = []
    for kernel in kernels:
        worst = 0 if kernel.name.startswith("read") else check(kernel, scratch)  # that one computes nothing
        print(f"{kernel.name}: errors at most {worst:.2f} x PyTorch's", "" if worst < 1.5 else "WRONG, not timed")
        if worst < 1.5:
            fit.append(kernel)
    best = {}
    print("µs: cuDNN, FlashAttention-2, cuDNN on views of our layout |", *(k.name for k in fit), sep="\n  ")
    for batch, tokens in RACES:
        size = batch * tokens * 8 * 128 * 4  # bytes of keys and values
        n = max(1, min(24, int(4e8 / size)))
        q = torch.randn(batch, 32, 128, device="cuda", dtype=torch.float16)
        caches = [[torch.randn(batch, tokens, 8, 128, device="cuda", dtype=torch.float16) for _ in range(2)] for _ in range(n)]
        heads_first = [[x.transpose(1, 2).contiguous() for x in pair] for pair in caches]
        views = [[x.transpose(1, 2) for x in pair] for pair in caches]
        lengths = torch.full((batch,), tokens, device="cuda", dtype=torch.int32)
        out, q4 = torch.empty_like(q), q[:, :, None]

        def peer(backend, pairs):
            try:
                with sdpa_kernel(backend):
                    return racing.graph_us([lambda k=k, v=v: F.scaled_dot_product_attention(q4, k, v, enable_gqa=True) for k, v in pairs])
            except RuntimeError:
                return math.nan
        rows = [[] for _ in range(3 + len(fit))]
        for _ in range(2):
            rows[0].append(peer(SDPBackend.CUDNN_ATTENTION, heads_first))
            rows[1].append(peer(SDPBackend.FLASH_ATTENTION, heads_first))
            rows[2].append(peer(SDPBackend.CUDNN_ATTENTION, views))
            for i, kernel in enumerate(fit):
                rows[3 + i].append(racing.graph_us([kernel.step(out, q, k, v, lengths, scratch) for k, v in caches]))
        print(f"{batch} x {tokens}", *(" {:6.1f} {:6.1f}".format(*x) for x in rows), sep=" |", flush=True)
        mean = [sum(x) / 2 for x in rows]
        if fit:
            i = min((i for i in range(len(fit)) if not fit[i].name.startswith("read")), key=lambda i: mean[3 + i])
            best[batch, tokens] = f"{fit[i].name} {mean[3 + i]:.1f} µs, {size / mean[3 + i] / 1e6:.2f} TB/s, {mean[0] / mean[3 + i]:.2f} x cuDNN, {mean[1] / mean[3 + i]:.2f} x FlashAttention-2"
        del caches, heads_first, views
    for (batch, tokens), line in best.items():
        print(f"best of {batch} x {tokens}: {line}")


if __name__ == "__main__":
    main()
