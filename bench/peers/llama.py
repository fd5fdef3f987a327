#!/usr/bin/env python3
"""Task 6's model in PyTorch, fp32, with the weights of the Go package llama: SDPA with a
static cache, a decoding step as a CUDA graph. Beside it: make e2e SIZE=full SOLUTION=1"""

from dataclasses import dataclass

import torch
import torch.nn.functional as F

from decoding import DEVICE, SEED, Cache, Decoder, attend, options
from fills import weight


@dataclass
class Size:
    layers: int
    heads: int
    width: int
    mlp: int
    vocabulary: int
    batch: int
    prompt: int
    slots: int


# As in nn/llama/sizes.go.
SIZES = {"full": Size(24, 32, 4096, 16384, 8192, 4, 1024, 1152), "tiny": Size(2, 4, 64, 128, 128, 2, 24, 48)}
DEVIATION = 1.1547  # of the numbers that weights are made of


class Weights:
    """Each is of a stream of its own, in the order of nn/llama/weights.go."""

    def __init__(self, s):
        self.stream = 0
        self.table = self.next(1 / DEVIATION, 0, s.vocabulary, s.width)
        residual = (2 * s.layers) ** -0.5
        self.layers = []
        for _ in range(s.layers):
            p = {"norm1": self.norm(s.width)}
            for name in "qkv":
                p[name] = self.matrix(s.width, s.width)
            p["out"] = self.matrix(s.width, s.width, residual)
            p["norm2"] = self.norm(s.width)
            p["gate"], p["up"] = self.matrix(s.mlp, s.width), self.matrix(s.mlp, s.width)
            p["down"] = self.matrix(s.width, s.mlp, residual)
            self.layers.append(p)
        self.last = self.norm(s.width)
        self.head = self.matrix(s.vocabulary, s.width)

    def next(self, scale, base, *shape):
        self.stream += 1
        return weight(DEVICE, SEED, self.stream, scale, base, *shape)

    def matrix(self, rows, columns, gain=1.0):
        return self.next(gain / (DEVIATION * columns**0.5), 0, rows, columns)

    def norm(self, width):
        return self.next(0.1, 1, width), self.next(0.1, 0, width)  # gain, bias


def main():
    o = options(__doc__, SIZES)
    s = SIZES[o.size]
    prompt = o.prompt or s.prompt
    dim = s.width // s.heads
    w = Weights(s)
    caches = [Cache(s.batch, s.heads, s.slots, dim) for _ in w.layers]
    frequencies = 10000.0 ** (-torch.arange(0, dim, 2, device=DEVICE, dtype=torch.double) / dim)
    angles = torch.outer(torch.arange(s.slots, device=DEVICE, dtype=torch.double), frequencies)
    cos, sin = angles.cos().float(), angles.sin().float()
    norm = lambda x, p: F.layer_norm(x, (s.width,), *p)

    def heads(x):
        return x.view(s.batch, -1, s.heads, dim).transpose(1, 2)

    def rotate(x, at):
        a, b = x.chunk(2, -1)
        cosine, sine = cos[at], sin[at]
        return torch.cat((a * cosine - b * sine, a * sine + b * cosine), -1)

    def forward(tokens, at, mask):
        x = w.table[tokens]
        for p, cache in zip(w.layers, caches):
            y = norm(x, p["norm1"])
            q, k, v = (heads(F.linear(y, p[name])) for name in "qkv")
            y = attend(rotate(q, at), rotate(k, at), v, cache, at, mask)
            x = x + F.linear(y.transpose(1, 2).reshape(x.shape), p["out"])
            y = norm(x, p["norm2"])
            x = x + F.linear(F.silu(F.linear(y, p["gate"])) * F.linear(y, p["up"]), p["down"])
        return F.linear(norm(x[:, -1], w.last), w.head)

    i, b = torch.arange(prompt, device=DEVICE), torch.arange(s.batch, device=DEVICE).view(-1, 1)
    tokens = (i * i + 7 * i + 13 * b) % s.vocabulary
    d = Decoder(forward, s.batch, s.slots, o.compile)
    d.measure(f"PyTorch, task 6's model, batch {s.batch}, prompt of {prompt}", tokens, o.tokens, o.json)


main()
