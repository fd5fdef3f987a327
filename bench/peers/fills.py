"""The numbers of the Go package tensor, bit for bit, on whatever device a tensor is."""

import torch

MASK = 0xFFFFFFFF
CHUNK = 1 << 24


def mix(x):
    """The Go function of this name, on 32-bit numbers held in 64: a product may
    overflow, its low half is right all the same."""
    x = x ^ (x >> 16)
    x = (x * 0x7FEB352D) & MASK
    x = x ^ (x >> 15)
    x = (x * 0x846CA68B) & MASK
    return x ^ (x >> 16)


def fill(dst, seed, stream):
    """tensor.Fill of the distribution "normal", from the first number on, rounded to dst's own type."""
    a = mix((seed & MASK) + 0x9E3779B9 * (stream + 1) & MASK)
    b = mix((seed >> 32) & MASK ^ a)
    flat = dst.view(-1)
    for start in range(0, flat.numel(), CHUNK):
        i = torch.arange(start, min(start + CHUNK, flat.numel()), device=dst.device)
        h = mix((i & MASK) ^ a)
        h += (i >> 32) * 0x9E3779B9
        total = None
        for lane in (0, 1):
            n = mix(((h + lane * 0x85EBCA6B) & MASK) ^ b)
            n = (n & 0xFFFF) + (n >> 16)
            total = n if total is None else total + n
        flat[start : start + i.numel()] = (total - 2 * 65535).float() * 2.0**-15


def weight(device, seed, stream, scale, base, *shape):
    """base + scale × these numbers, as the models of packages llama and gpt2 make theirs."""
    w = torch.empty(shape, device=device)
    fill(w, seed, stream)
    w.mul_(scale)
    return w.add_(base) if base else w
