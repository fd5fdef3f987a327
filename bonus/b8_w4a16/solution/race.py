"""Checks and times the kernels beside cuBLAS in halves and PyTorch's int4pack, on one GPU in one run.

    python3 bonus/b8_w4a16/solution/race.py [row:WARPS,TILES …] [rows:NW,KW,TILES,WIDE,STAGES,AHEAD …] [stream:SLOTS,EARLY …] [hopper:STAGES …]

Needs nvcc and PyTorch. Without arguments it takes the kernels as they are; with them, others beside. Every
kernel is held against float64 on odd shapes first: what is wrong is not timed. Times are those of
CUDA graphs of sixteen calls at least, over copies of the weights that together are four times as large as
the L2; medians, each twice, with the others between. 'early' lets a launch begin while the one before it runs.
"""
import math
import pathlib
import re
import sys
import time

import torch
import torch.nn.functional as F

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[2] / "python"))
import racing  # noqa: E402 (it lies in python/)

FILES = {"lay": "kernels.cu", "row": "row.cu", "rows": "kernels.cu", "stream": "stream.cu", "hopper": "hopper.cu"}
TEXTS = {kind: (HERE / file).read_text() for kind, file in FILES.items()}
START = time.time()
CHECKED = [(1, 1, 128), (1, 113, 512), (1, 1000, 4096), (1, 16, 14336), (2, 40, 128), (3, 200, 1280), (9, 144, 2176),
           (16, 272, 1152), (16, 9000, 3968), (16, 2128, 14336), (13, 72, 4224), (17, 16, 256), (33, 100, 640), (64, 528, 4096), (64, 528, 8192)]  # rows, n, k
RACES = [(4096, 4096), (4096, 14336), (14336, 4096), (8192, 8192)]  # k, n
ROWS = [1, 16, 64]
BLOCKS = 264  # that share k, at most

torch.manual_seed(0)


class Kernel:
    """One kernel of the file, some of its constants changed."""

    def __init__(self, spec):
        self.spec = spec
        self.kind, _, numbers = spec.partition(":")
        self.how = tuple(int(n) for n in numbers.split(",")) if self.kind != "lay" else ()
        text = re.sub(r"^ROWS?\(.*$", "", TEXTS[self.kind], flags=re.M)
        if self.kind == "hopper":
            text = racing.changed(text, {"STAGES": self.how[0]})
        elif self.kind == "stream":
            text = racing.changed(text, {"SLOTS": self.how[0], "EARLY": self.how[1]})
        elif self.how:
            text += f"{self.kind.upper()}({self.kind}, {numbers})\n"
        self.file = racing.File(HERE / FILES[self.kind], text=text)
        self.name = {"hopper": "rows_hopper", "stream": "stream16"}.get(self.kind, self.kind)

    def shared(self):
        """As in w4a16.go, for its kernels."""
        if self.kind == "hopper":
            return self.how[0] * 64 * 256 + 1024
        if self.kind in ("lay", "row"):
            return 0
        if self.kind == "stream":
            return self.how[0] * 32 * 1072 + 2 * 16 * 1024
        nw, kw, tiles, wide, stages, _ = self.how
        return max(stages * wide * kw * 2048, (kw - 1) * nw * tiles * wide * 512)

    def launch(self, grid, threads, tensors, numbers, early):
        return self.file.kernel(self.name).launcher(grid, threads, self.shared(), *tensors, *numbers, early=early)

    def product(self, x, weights, laid, y, early):
        """A function that launches the product of x [rows, k]."""
        (rows, k), n = x.shape, y.shape[1]
        if self.kind == "row":
            warps, tiles = self.how
            return self.launch((-(-n // (16 * tiles)), 1), 32 * warps, [x, *weights, y], [k, n], early)
        if self.kind == "hopper":  # a block for each processor
            blocks = -(-n // 128)
            parts = max(1, min(PROCESSORS // blocks, k // 512))
            return self.launch((blocks, parts), 384, [x, *laid, y, *SCRATCH], [rows, k, n], early)
        if self.kind == "stream":
            parts = -(-k // 4096)
            return self.launch((min(-(-n // 16), PROCESSORS // parts), parts), 512, [x, *laid, y, *SCRATCH], [rows, k, n], early)
        nw, kw, tiles, *_ = self.how
        blocks = -(-n // (16 * nw * tiles))
        parts = max(1, min(BLOCKS // blocks, k // 1024))
        return self.launch((blocks, parts), 32 * nw * kw, [x, *laid, y, *SCRATCH], [rows, k, n], early)

    def serves(self, rows, k, exactly=False):
        most = {"row": 1, "stream": 16, "hopper": 64}.get(self.kind) or 8 * self.how[3]
        return rows == most if exactly else rows <= most


SCRATCH = racing.scratch()
PROCESSORS = racing.processors()


def weights(n, k):
    """Random codes, scales near those of a trained layer, zeros."""
    return (torch.randint(0, 256, (n, k // 2), device="cuda", dtype=torch.uint8), ((torch.rand(n, k // 128, device="cuda") + 0.5) / 64).half(),
            torch.randint(0, 256, (n, k // 128), device="cuda", dtype=torch.uint8))


def numbers(codes, scales, zeros):
    """By PyTorch, in float64."""
    c = torch.stack([codes & 15, codes >> 4], -1).view(codes.shape[0], -1).double()
    return (c - (zeros & 15).double().repeat_interleave(128, 1)) * scales.double().repeat_interleave(128, 1)


def lay(kernel, codes, scales, zeros):
    n, k = codes.shape[0], 2 * codes.shape[1]
    to = [torch.zeros(-(-n // 16) * 16, t.shape[1], device="cuda", dtype=t.dtype) for t in (codes, scales, zeros)]
    kernel.launch((-(-n // 16) * (k // 64) // 8 + 1, 1), 256, [codes, scales, zeros, *to], [k, n], False)()
    return to


def laid_by_torch(codes):
    """The order of fragments, for whole tiles: [tile, half, g, piece, q, t, s, pair, e] becomes words."""
    n, k = codes.shape[0], 2 * codes.shape[1]
    c = torch.stack([codes & 15, codes >> 4], -1).view(n // 16, 2, 8, k // 64, 2, 4, 2, 2, 2).permute(0, 3, 2, 5, 4, 6, 8, 7, 1)
    c = c.reshape(n, k // 2, 2)
    return c[..., 0] | c[..., 1] << 4


def check(kernel, layer, early):
    """The worst ratio of the kernel's error to that of the plain mixed way: float32, rounded once."""
    worst = 0
    for rows, n, k in CHECKED:
        if not kernel.serves(rows, k):
            continue
        w = weights(n, k)
        x = torch.randn(rows, k, device="cuda").half()
        y = torch.full((rows, n), math.nan, device="cuda", dtype=torch.float16)
        kernel.product(x, w, lay(layer, *w), y, early)()
        want = x.double() @ numbers(*w).T
        ratio = racing.error(y, want) / racing.error(want.float().half(), want)
        worst = max(worst, ratio if ratio == ratio else math.inf)
    return worst


def micros(fs):
    calls = max(len(fs), 16)  # so that the start of a graph does not count for much, and as much for all
    graph = racing.graph_of(fs, calls)
    graph.replay()
    times = []
    for _ in range(9):
        a, b = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        a.record()
        graph.replay()
        b.record()
        b.synchronize()
        times.append(a.elapsed_time(b))
    return sorted(times)[4] * 1e3 / calls


def own():
    """The kernels as the file and w4a16.go have them."""
    return [kind.lower() + ":" + numbers.replace(" ", "") for kind, numbers in re.findall(r"^(ROWS?)\(\w+, ([\d, ]+)\)", TEXTS["row"] + TEXTS["rows"], re.M)]


def main():
    kernels = [Kernel(spec) for spec in dict.fromkeys(["lay:", *own(), "stream:2,1", "hopper:4", *sys.argv[1:]])]
    racing.compile_all([kernel.file for kernel in kernels])
    print(torch.cuda.get_device_name(), "PyTorch", torch.__version__, f"compiled after {time.time() - START:.0f} s; ours:", *own())
    layer, *kernels = kernels
    w = weights(272, 1152)
    print("lay is right" if torch.equal(lay(layer, *w)[0], laid_by_torch(w[0])) else "lay is WRONG")
    fit, worst = [], 0
    for kernel in kernels:
        for early in (True, False):
            try:
                ratio = check(kernel, layer, early)
            except RuntimeError as why:
                print(kernel.spec, why)
                ratio = math.inf
            if ratio < 2:
                fit.append((kernel, early))
                worst = max(worst, ratio)
            else:
                print(kernel.spec, f"WRONG, not timed: {ratio:.2f} x")
    print(f"errors at most {worst:.2f} x the plain mixed way's; microseconds:")
    for k, n in RACES:
        copies = max(4, math.ceil(2.2e8 / (k * n / 2)))
        packs = [weights(n, k) for _ in range(copies)]
        laid = [lay(layer, *p) for p in packs]
        wide = [torch.randn(n, k, device="cuda", dtype=torch.float16) / 32 for _ in range(max(4, copies // 4))]
        theirs = [(torch.ops.aten._convert_weight_to_int4pack((c >> 4 | c << 4).contiguous(), 8),
                   torch.stack([s, torch.zeros_like(s)], -1).transpose(0, 1).contiguous().bfloat16()) for c, s, _ in packs]
        for rows in ROWS:
            x = torch.randn(rows, k, device="cuda", dtype=torch.float16)
            y, xb = torch.empty(rows, n, device="cuda", dtype=torch.float16), x.bfloat16()
            ways = [("cuBLAS, halves", [lambda w=w: F.linear(x, w) for w in wide]),
                    ("int4pack", [lambda w=w: torch.ops.aten._weight_int4pack_mm(xb, w[0], 128, w[1]) for w in theirs])]
            for kernel, early in fit:
                if kernel.serves(rows, k, exactly=True):
                    ways.append((kernel.spec + " early" * early, [kernel.product(x, p, l, y, early) for p, l in zip(packs, laid)]))
            took = [[] for _ in ways]
            for _ in range(2):
                for i, (_, fs) in enumerate(ways):
                    if time.time() - START < 85:
                        took[i].append(micros(fs))
            took = [t or [math.inf] for t in took]
            order = [0, 1, *sorted(range(2, len(ways)), key=lambda i: sum(took[i]) / len(took[i]))][:14]
            print(f"{k} x {n}, {rows} rows:", *(f"  {ways[i][0]:28}" + " ".join(f"{t:7.2f}" for t in took[i]) + f"   {took[0][0] / took[i][0]:.2f} x cuBLAS" for i in order), sep="\n", flush=True)


if __name__ == "__main__":
    main()
