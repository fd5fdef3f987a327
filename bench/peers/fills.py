"""The numbers of the Go package tensor, bit for bit, on whatever device a tensor is: by PyTorch, or, on a GPU of Hopper's
kind where nvcc is, by the course's own kernel, which is one launch in place of a thousand."""

import functools
import hashlib
import struct
import sys
from pathlib import Path

import torch

ROOT = Path(__file__).resolve().parents[2]
BITS = {torch.float16: 16, torch.bfloat16: -16}  # as nn/fill.cu tells types
MASK = 0xFFFFFFFF
LANES = 32  # neighbouring numbers come from neighbouring blocks
TILE = 256  # numbers of as many blocks
CHUNK = 1 << 16  # tiles at a time: with fewer, launching a thousand small kernels takes most of the time
CONSTANTS = struct.unpack("<4I", b"expand 32-byte k")


def key_of(seed, stream):
    """tensor.KeyOf: eight words."""
    return struct.unpack("<8I", hashlib.sha256(struct.pack("<QI", seed, stream)).digest())


def rotated(x, n):
    return (x << n | x >> (32 - n)) & MASK


def quarter(x, a, b, c, d):
    for to, by, other, n in ((a, b, d, 16), (c, d, b, 12), (a, b, d, 8), (c, d, b, 7)):
        x[to] = (x[to] + x[by]) & MASK
        x[other] = rotated(x[other] ^ x[to], n)


def blocks(key, numbers):
    """ChaCha's blocks of these numbers, with eight rounds: sixteen words, in 64 bits each."""
    word = lambda w: torch.full_like(numbers, w)
    start = [*map(word, CONSTANTS), *map(word, key), numbers & MASK, numbers >> 32, word(0), word(0)]
    x = list(start)
    for _ in range(4):
        for i in range(4):
            quarter(x, i, 4 + i, 8 + i, 12 + i)
        for i in range(4):
            quarter(x, i, 4 + (i + 1) % 4, 8 + (i + 2) % 4, 12 + (i + 3) % 4)
    return [(a + b) & MASK for a, b in zip(x, start)]


@functools.cache
def kernels():
    """nn/fill.cu's, and how many blocks they get; None where they cannot be had."""
    sys.path.append(str(ROOT / "python"))
    try:
        import racing
        file = racing.File(ROOT / "nn/fill.cu")
        found = file.kernel("fill"), file.kernel("fill_narrow"), 8 * racing.processors()
        for kind in (torch.float32, *BITS):
            one, other = (torch.zeros(1000, device="cuda", dtype=kind) for _ in range(2))
            fill_by_kernel(found, one, key_of(1, 2))
            fill_by_pytorch(other, key_of(1, 2))
            if not torch.equal(one, other):
                raise RuntimeError(f"nn/fill.cu makes other numbers in {kind}")
        return found
    except (ImportError, OSError, RuntimeError) as e:
        print(f"inputs are made by PyTorch, which takes long: {e}", file=sys.stderr)
        return None


def fill(dst, seed, stream):
    """tensor.Fill of the distribution "normal", from the first number on, rounded to dst's own type."""
    key, flat = key_of(seed, stream), dst.view(-1)
    if dst.is_cuda and (found := kernels()):
        fill_by_kernel(found, flat, key)
    else:
        fill_by_pytorch(flat, key)


def fill_by_kernel(found, flat, key):
    wide, narrow, grid = found
    pairs = [key[i] | key[i + 1] << 32 for i in range(0, 8, 2)]
    kernel, how = (wide, []) if flat.dtype == torch.float32 else (narrow, [BITS[flat.dtype]])
    kernel.launcher((grid,), 256, 0, flat, flat.numel(), *how, 0, *pairs, 1.0)()


def fill_by_pytorch(flat, key):
    tiles = -(-flat.numel() // TILE)
    for first in range(0, tiles, CHUNK):
        last = min(first + CHUNK, tiles)
        words = blocks(key, torch.arange(first * LANES, last * LANES, device=flat.device))
        halves = [(w & 0xFFFF) + (w >> 16) for w in words]
        pairs = torch.stack([a + b for a, b in zip(halves[::2], halves[1::2])])
        # Pair j of a lane's block is number 32 j + lane of the tile.
        total = pairs.view(8, last - first, LANES).transpose(0, 1).reshape(-1)
        part = flat[first * TILE : last * TILE]
        part.copy_((total[: part.numel()] - 2 * 65535).float() * 2.0**-15)


def weight(device, seed, stream, scale, base, *shape):
    """base + scale × these numbers, as the models of packages llama and gpt2 make theirs."""
    w = torch.empty(shape, device=device)
    fill(w, seed, stream)
    w.mul_(scale)
    return w.add_(base) if base else w
