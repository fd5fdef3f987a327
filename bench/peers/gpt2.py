#!/usr/bin/env python3
"""GPT-2 124M's shape in PyTorch, fp32: random weights, a prompt of 512 tokens,
SDPA with a static cache, a decoding step as a CUDA graph. Beside it:
make gpt2 MODEL=124M PROMPT_TOKENS=512 SOLUTION=1"""

import torch
import torch.nn.functional as F

from decoding import Cache, Decoder, attend

LAYERS, HEADS, WIDTH, VOCABULARY, SLOTS, PROMPT = 12, 12, 768, 50257, 1024, 512


def main():
    torch.manual_seed(1)
    w = lambda *shape: 0.02 * torch.randn(*shape, device="cuda")
    table, positions = w(VOCABULARY, WIDTH), w(SLOTS, WIDTH)
    layers = [dict(qkv=w(3 * WIDTH, WIDTH), qkvb=w(3 * WIDTH), out=w(WIDTH, WIDTH), outb=w(WIDTH), up=w(4 * WIDTH, WIDTH),
                   upb=w(4 * WIDTH), down=w(WIDTH, 4 * WIDTH), downb=w(WIDTH)) for _ in range(LAYERS)]
    caches = [Cache(1, HEADS, SLOTS, WIDTH // HEADS) for _ in layers]
    norm = lambda x: F.layer_norm(x, (WIDTH,))

    def forward(tokens, at, mask):
        batch, count = tokens.shape
        x = table[tokens] + positions[at]
        for p, cache in zip(layers, caches):
            q, k, v = F.linear(norm(x), p["qkv"], p["qkvb"]).view(batch, count, 3, HEADS, -1).permute(2, 0, 3, 1, 4)
            y = attend(q, k, v, cache, at, mask).transpose(1, 2).reshape(batch, count, WIDTH)
            x = x + F.linear(y, p["out"], p["outb"])
            x = x + F.linear(F.gelu(F.linear(norm(x), p["up"], p["upb"]), approximate="tanh"), p["down"], p["downb"])
        return F.linear(norm(x[:, -1]), table)

    d = Decoder(forward, 1, SLOTS)
    d.measure("PyTorch, GPT-2 124M, prompt of 512", torch.randint(VOCABULARY, (1, PROMPT), device="cuda"))


main()
