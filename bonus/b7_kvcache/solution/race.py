"""Checks and times decoding from 8 and 4 bits beside the same in halves, on one GPU in one run.

    python3 bonus/b7_kvcache/solution/race.py [decode.cu:+BITS=4,+RESIDENT=1,STAGES=3,BLOCKS=132 ...]

Needs nvcc and PyTorch. append.cu is held against an encoder in PyTorch to the bit, and each decoding
kernel against float64 on the cache as it reads back: what is wrong is not timed. Times are of CUDA
graphs over caches that rotate past the L2, medians, each twice with the others in between. 'halves.cu'
is b6's kernel, which lies beside this file or in its own folder. A constant of a file may be changed for
a try, 'WARPS=4'; '+' sets a macro. BLOCKS is how many blocks a step has at least before keys are no longer
shared among more.
"""
import math
import pathlib
import sys

import torch

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[2] / "python"))
import racing  # noqa: E402 (it lies in python/)

CHECKS = [  # batch, heads, heads of k and v, slots, dim
    (1, 1, 1, 32, 128), (2, 4, 2, 64, 64), (3, 8, 2, 96, 64), (2, 32, 8, 128, 128), (3, 12, 1, 320, 128),
    (2, 4, 4, 1024, 64), (4, 32, 8, 1120, 128), (1, 32, 8, 40000, 128),
]
RACES = [(1, 4096), (8, 4096), (64, 4096), (16, 1024), (1, 65536), (16, 32768)]  # 32 heads over 8, 128

torch.manual_seed(0)


class Cache:
    """A cache of so many bits: 16, 8, or 4 as KIVI or by token. Codes are random, or those of k and v [batch, kv, slots, dim]."""

    def __init__(self, bits, batch, kv, slots, dim, k=None, v=None, lengths=None, by_token=False):
        self.bits, self.shape = bits, (batch, kv, slots, dim)
        tokens = (batch, kv, slots)
        if bits == 16:  # in b6's order
            self.all = [torch.randn(batch, slots, kv, dim, device="cuda", dtype=torch.float16) for _ in range(2)]
        elif k is None:
            width = dim * bits // 8
            code = [torch.randint(0, 256, (*tokens, width), device="cuda", dtype=torch.uint8) for _ in range(2)]
            small = lambda *s: (torch.rand(*s, device="cuda") * 4 / 2 ** bits + 0.001).half()
            ks = tokens if by_token else (batch, kv, slots // 32, dim)
            self.all = code + ([small(*tokens), small(*tokens)] if bits == 8 else [small(*ks), small(*tokens), small(*ks) - 0.12, small(*tokens) - 0.12])
            if bits == 4 and not by_token:
                self.all += [torch.randn(batch, kv, 32, dim, device="cuda", dtype=torch.float16) for _ in range(2)]
        elif by_token and bits == 4:
            codes, scales, lows, self.read = zip(*(four(x) for x in (k, v)))
            self.all = [packed(codes[0]), packed(codes[1]), *scales, *lows]
        elif bits == 8:
            codes, scales, self.read = zip(*(eight(x) for x in (k, v)))
            self.all = [*codes, *scales]
        else:
            grouped = k.view(batch, kv, slots // 32, 32, dim).transpose(-1, -2)
            codes, ks, kl, read = four(grouped)
            vc, vs, vl, vread = four(v)
            kread = read.transpose(-1, -2).reshape(k.shape)
            kc = codes.transpose(-1, -2).reshape(k.shape)
            self.read = [kread.clone(), vread.clone()]
            opened = [torch.full((batch, kv, 32, dim), math.nan, device="cuda", dtype=torch.float16) for _ in range(2)]
            for b, n in enumerate(lengths.tolist()):
                first = n // 32 * 32
                for x, o, r in zip((k, v), opened, self.read):
                    o[b, :, : n - first] = x[b, :, first:n].half()
                    r[b, :, first:n] = x[b, :, first:n]
                ks[b, :, n // 32:], kl[b, :, n // 32:], vs[b, :, first:], vl[b, :, first:] = (math.nan,) * 4
            self.all = [packed(kc), packed(vc), ks.contiguous(), vs, kl.contiguous(), vl, *opened]
        if k is not None and (bits == 8 or by_token):
            for b, n in enumerate(lengths.tolist()):
                for s in self.all[2:]:
                    s[b, :, n:] = math.nan

    def arguments(self, count):
        return self.all + (self.all[2:3] * (count - len(self.all)) if self.bits == 8 else [])

    def bytes(self):
        return sum(x.numel() * x.element_size() for x in self.all)


def below(x):
    """A scale as a half, rounded towards zero."""
    h = x.half()
    return torch.where(h.float() > x, (h.view(torch.int16) - 1).view(torch.float16), h)


def eight(x):
    s = below(x.abs().amax(-1) / 127)
    c = torch.where(s[..., None] > 0, (x / s.float()[..., None]).round(), 0).clamp(-127, 127)
    return c.to(torch.int8).contiguous(), s.contiguous(), c.double() * s.double()[..., None]


def four(x):
    low = x.amin(-1)
    s = below((x.amax(-1) - low) / 15)
    c = torch.where(s[..., None] > 0, ((x - low[..., None]) / s.float()[..., None]).round(), 0).clamp(0, 15)
    read = (c.double() * s.double()[..., None] + low.double()[..., None]).half()
    return c.to(torch.uint8), s, low.half(), read.double()


def packed(c):
    return (c[..., ::2] | c[..., 1::2] << 4).contiguous()


class Kernel:
    """A file with some of its constants changed, compiled for both dimensions."""

    def __init__(self, spec):
        self.name = spec
        file, _, changes = spec.partition(":")
        path = racing.rung(HERE, file)
        if file == "halves.cu" and not path.exists():
            path = HERE.parent.parent / "b6_decode" / "solution" / "kernels.cu"
        values = dict(c.split("=") for c in changes.split(",") if c)
        macros = {n[1:]: values.pop(n) for n in list(values) if n[0] == "+"}
        self.bits, self.by_token = int(macros.get("BITS", 16)), "by_token" in file
        self.many = int(values.pop("BLOCKS", 132))
        text = racing.changed(path.read_text(), values, file)
        self.warps, self.heads, self.stages = (racing.constant(text, n) for n in ("WARPS", "HEADS", "STAGES"))
        self.splits, self.early = "gridDim.y" in text, "waitForInputs" in text
        self.files = {dim: racing.File(path, {**macros, "DIM": dim}, text) for dim in (64, 128)}

    def kind(self):
        """What of cache it reads: its bits, and whether those are by token."""
        return self.bits, self.by_token and self.bits == 4

    def shared(self, dim):
        tile = 2 * 16 * dim * 2 if self.bits == 16 else 2 * 32 * dim * self.bits // 8 + 128 + (4 * dim if self.bits == 4 else 0)
        return self.warps * self.stages * tile

    def step(self, out, q, cache, lengths, scratch):
        """A function that launches one step of decoding."""
        batch, heads, dim = q.shape
        _, kv, slots, _ = cache.shape
        pairs = batch * kv * -(-(heads // kv) // self.heads)
        parts = max(1, min(self.many // pairs, slots // 256)) if self.splits else 1
        buffers = (q, *cache.arguments(6 if self.by_token else 8), lengths, out, *(scratch if self.splits else ()))
        return self.files[dim].kernel("decode").launcher(
            (pairs, parts), 32 * self.warps, self.shared(dim), *buffers, slots, heads, kv, math.log2(math.e) / math.sqrt(dim), early=self.early)


def appends(bits, batch, kv, slots, dim):
    """How many numbers of a cache differ that append.cu fills token by token."""
    kernel = racing.File(HERE / "append.cu", {"DIM": dim, "BITS": bits}).kernel(f"append{bits}")
    k, v = (torch.randn(batch, kv, slots, dim, device="cuda").half().float() * 3 for _ in range(2))
    k, v = k.half().float(), v.half().float()
    k[:, :, :, 3] += 40
    k = k.half().float()
    k[0, 0, 5], v[0, 0, 5], k[0, 0, 32:64, 7] = 0, 0, 1.5
    lengths = torch.full((batch,), slots, device="cuda", dtype=torch.int32)
    want = Cache(bits, batch, kv, slots, dim, k, v, lengths)
    got = [torch.full_like(x, 0xff if not x.is_floating_point() and x.dtype == torch.uint8 else -1) for x in want.all]
    at = torch.zeros(batch, device="cuda", dtype=torch.int32)
    for n in range(slots):
        at.fill_(n)
        new = [x[:, :, n].half().contiguous() for x in (k, v)]
        kernel.launcher((kv, batch), dim, 0, *new, at, *got, slots)()
        torch.cuda.synchronize()
    return sum((a != b).sum().item() for a, b in zip(got[:6], want.all[:6]))


def truth(q, k, v, lengths):
    """In float64; zeros for a sequence without keys. k and v are [batch, kv, slots, dim]."""
    out, group = torch.zeros(q.shape, device="cuda", dtype=torch.double), q.shape[1] // k.shape[1]
    for b, n in enumerate(lengths.tolist()):
        if n:
            keys, values = (x[b, :, :n].double().repeat_interleave(group, 0) for x in (k, v))
            p = (torch.einsum("hd,hnd->hn", q[b].double(), keys) / math.sqrt(q.shape[2])).softmax(-1)
            out[b] = torch.einsum("hn,hnd->hd", p, values)
    return out


def check(kernel, scratch):
    """The worst error, beside float64 on the cache as it reads back, over all shapes; and the format's own."""
    worst, own = 0, 0
    for batch, heads, kv, slots, dim in CHECKS:
        for size in (1, 8):  # large ones make a row of one key
            q = (size * torch.randn(batch, heads, dim, device="cuda")).half()
            k, v = (torch.randn(batch, kv, slots, dim, device="cuda").half().float() for _ in range(2))
            lengths = torch.randint(0, slots + 1, (batch,), device="cuda", dtype=torch.int32)
            lengths[-1] = slots - (7 if heads > 4 else 0)
            if kernel.bits == 16:
                cache = Cache(16, batch, kv, slots, dim)
                cache.all = [x.half().transpose(1, 2).contiguous() for x in (k, v)]
                read = (k, v)
            else:
                cache = Cache(kernel.bits, batch, kv, slots, dim, k, v, lengths, kernel.by_token)
                read = cache.read
            want = truth(q, *read, lengths)
            out = torch.full_like(q, math.nan)
            kernel.step(out, q, cache, lengths, scratch)()
            e = racing.error(out, want)
            worst = max(worst, e if e == e else math.inf)
            if size == 1:
                own = max(own, racing.error(want, truth(q, k, v, lengths)))
    return worst, own


def main():
    print(torch.cuda.get_device_name(), "PyTorch", torch.__version__)
    for bits in (8, 4):
        for dim in (64, 128):
            print(f"append, INT{bits}, dim {dim}: {appends(bits, 2, 3, 96, dim)} numbers differ from PyTorch's", flush=True)
    kernels = [Kernel(spec) for spec in ["halves.cu", *(sys.argv[1:] or ["decode.cu:+BITS=8,+RESIDENT=1", "decode.cu:+BITS=4,+RESIDENT=1", "decode.cu:+BITS=4,+RESIDENT=2"])]]
    racing.compile_all([file for kernel in kernels for file in kernel.files.values()])
    scratch = racing.scratch()
    fit = []
    for kernel in kernels:
        worst, own = check(kernel, scratch)
        print(f"{kernel.name}: errors at most {worst:.1e}, the format's own {own:.1e}", "" if worst < 1.5e-3 else "WRONG, not timed", flush=True)
        if worst < 1.5e-3:
            fit.append(kernel)
    print("µs |", *(k.name for k in fit), sep="\n  ")
    for batch, tokens in RACES:
        for lengths in (tokens, tokens - 1) if (batch, tokens) == (8, 4096) else (tokens,):
            q = torch.randn(batch, 32, 128, device="cuda", dtype=torch.float16)
            out, n = torch.empty_like(q), torch.full((batch,), lengths, device="cuda", dtype=torch.int32)
            rows, memory = [[] for _ in fit], {}
            for kind in {(16, False), (8, False), (4, False), *(k.kind() for k in fit)}:
                make = lambda: Cache(kind[0], batch, 8, tokens, 128, by_token=kind[1])
                size = make()
                memory[kind] = size.bytes()
                caches = [size, *(make() for _ in range(min(24, int(3e8 / memory[kind]))))]
                for _ in range(2):
                    for row, kernel in zip(rows, fit):
                        if kernel.kind() == kind:
                            row.append(racing.graph_us([kernel.step(out, q, c, n, scratch) for c in caches], warmup=5, rep=40))
                del caches, size
            print(f"{batch} x {lengths}, memory {memory[8, False] / memory[16, False]:.3f} and {memory[4, False] / memory[16, False]:.3f}")
            base = sum(rows[0]) / 2
            for row, kernel in zip(rows, fit):
                us = sum(row) / 2
                print(f"   {row[0]:7.1f} {row[1]:7.1f} µs, {memory[kernel.kind()] / us / 1e6:5.2f} TB/s, {base / us:5.2f} x halves: {kernel.name}", flush=True)


if __name__ == "__main__":
    main()
