#!/usr/bin/env python3
"""GPT-2 124M's shape in PyTorch, fp32, with the random weights of the Go package gpt2: SDPA
with a static cache, a decoding step as a CUDA graph. Beside it:
make gpt2 MODEL=124M PROMPT_TOKENS=512 SOLUTION=1"""

import torch
import torch.nn.functional as F

from decoding import DEVICE, SEED, Cache, Decoder, attend, options
from fills import weight

LAYERS, HEADS, WIDTH, VOCABULARY, SLOTS, PROMPT = 12, 12, 768, 50257, 1024, 512


def stream(name):
    """The 32-bit hash FNV-1a, by which nn/gpt2/random.go gives each weight its stream."""
    h = 0x811C9DC5
    for byte in name.encode():
        h = (h ^ byte) * 0x01000193 & 0xFFFFFFFF
    return h


def matrix(name, *shape):
    return weight(DEVICE, SEED, stream(name), shape[1] ** -0.5, 0, *shape)


def vector(name, n, base=0):
    return weight(DEVICE, SEED, stream(name), 0.1, base, n)


def layer(n):
    """One layer's weights, and biases, by Hugging Face's names; norms are gain and bias."""
    h = f"h.{n}."
    linear = lambda name, out, width: (matrix(h + name + ".weight", out, width), vector(h + name + ".bias", out))
    return dict(norm1=norm_of(h + "ln_1"), qkv=linear("attn.c_attn", 3 * WIDTH, WIDTH), out=linear("attn.c_proj", WIDTH, WIDTH),
                norm2=norm_of(h + "ln_2"), up=linear("mlp.c_fc", 4 * WIDTH, WIDTH), down=linear("mlp.c_proj", WIDTH, 4 * WIDTH))


def norm_of(name):
    return vector(name + ".weight", WIDTH, 1), vector(name + ".bias", WIDTH)


def main():
    o = options(__doc__, {"124M": None})
    prompt = o.prompt or PROMPT
    table, positions = matrix("wte.weight", VOCABULARY, WIDTH), matrix("wpe.weight", SLOTS, WIDTH)
    layers, last = [layer(n) for n in range(LAYERS)], norm_of("ln_f")
    caches = [Cache(1, HEADS, SLOTS, WIDTH // HEADS) for _ in layers]
    norm = lambda x, p: F.layer_norm(x, (WIDTH,), *p)

    def forward(tokens, at, mask):
        batch, count = tokens.shape
        x = table[tokens] + positions[at]
        for p, cache in zip(layers, caches):
            q, k, v = F.linear(norm(x, p["norm1"]), *p["qkv"]).view(batch, count, 3, HEADS, -1).permute(2, 0, 3, 1, 4)
            y = attend(q, k, v, cache, at, mask).transpose(1, 2).reshape(batch, count, WIDTH)
            x = x + F.linear(y, *p["out"])
            x = x + F.linear(F.gelu(F.linear(norm(x, p["norm2"]), *p["up"]), approximate="tanh"), *p["down"])
        return F.linear(norm(x[:, -1], last), table)

    i = torch.arange(prompt, device=DEVICE)
    d = Decoder(forward, 1, SLOTS, o.compile)
    d.measure(f"PyTorch, GPT-2 124M, prompt of {prompt}", ((i * i + 7 * i) % VOCABULARY).view(1, -1), o.tokens, o.json)


main()
