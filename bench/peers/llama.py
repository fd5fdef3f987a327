#!/usr/bin/env python3
"""Task 6's model in PyTorch, fp32: random weights, batch 4, a prompt of 1024
tokens, SDPA with a static cache, a decoding step as a CUDA graph. Beside it:
make e2e SIZE=full SOLUTION=1"""

import torch
import torch.nn.functional as F

from decoding import Cache, Decoder, attend

LAYERS, HEADS, WIDTH, MLP, VOCABULARY, BATCH, PROMPT, ANSWER = 24, 32, 4096, 16384, 8192, 4, 1024, 128
DIM = WIDTH // HEADS


def main():
    torch.manual_seed(1)
    w = lambda rows, columns: torch.randn(rows, columns, device="cuda").mul_(columns ** -0.5)
    table, head = w(VOCABULARY, WIDTH), w(VOCABULARY, WIDTH)
    layers = [dict(q=w(WIDTH, WIDTH), k=w(WIDTH, WIDTH), v=w(WIDTH, WIDTH), out=w(WIDTH, WIDTH),
                   gate=w(MLP, WIDTH), up=w(MLP, WIDTH), down=w(WIDTH, MLP)) for _ in range(LAYERS)]
    caches = [Cache(BATCH, HEADS, PROMPT + ANSWER, DIM) for _ in layers]
    frequencies = 10000.0 ** (-torch.arange(0, DIM, 2, device="cuda") / DIM)
    angles = torch.outer(torch.arange(PROMPT + ANSWER, device="cuda"), frequencies)
    cos, sin = angles.cos(), angles.sin()
    norm = lambda x: F.layer_norm(x, (WIDTH,))

    def heads(x):
        return x.view(BATCH, -1, HEADS, DIM).transpose(1, 2)

    def rotate(x, at):
        a, b = x.chunk(2, -1)
        c, s = cos[at], sin[at]
        return torch.cat((a * c - b * s, a * s + b * c), -1)

    def forward(tokens, at, mask):
        x = table[tokens]
        for p, cache in zip(layers, caches):
            y = norm(x)
            q, k, v = (heads(F.linear(y, p[name])) for name in "qkv")
            y = attend(rotate(q, at), rotate(k, at), v, cache, at, mask)
            x = x + F.linear(y.transpose(1, 2).reshape(x.shape), p["out"])
            y = norm(x)
            x = x + F.linear(F.silu(F.linear(y, p["gate"])) * F.linear(y, p["up"]), p["down"])
        return F.linear(norm(x[:, -1]), head)

    d = Decoder(forward, BATCH, PROMPT + ANSWER)
    d.measure("PyTorch, task 6's model, batch 4, prompt of 1024", torch.randint(VOCABULARY, (BATCH, PROMPT), device="cuda"))


main()
