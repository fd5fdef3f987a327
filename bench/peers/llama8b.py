#!/usr/bin/env python3
"""Llama 3.1 8B's shape in PyTorch, beside `make ways`: weights in halves, or of four bits through PyTorch's own product
with such (int4pack, in bfloat16), with a static cache, a decoding step as a CUDA graph. Weights are random ones of its own."""

import torch
import torch.nn.functional as F

from decoding import DEVICE, SEED, Cache, Decoder, attend, options

LAYERS, WIDTH, HEADS, SHARED, DIM, MLP, VOCABULARY = 32, 4096, 32, 8, 128, 14336, 128256
SLOTS, PROMPT = 640, 512
GROUP = 128  # weights of four bits that share a scale


def arguments(parser):
    parser.add_argument("--batch", type=int, default=1)
    parser.add_argument("--bits", type=int, choices=(16, 4), default=16, help="of a layer's weights")


def random(rows, columns, dtype):
    return torch.randn(rows, columns, device=DEVICE, dtype=dtype) * columns**-0.5


def linear(rows, columns, bits, dtype):
    """A product with random weights [rows, columns]."""
    if bits == 16:
        weights = random(rows, columns, dtype)
        return lambda x: F.linear(x, weights)
    codes = torch.randint(0, 256, (rows, columns // 2), device=DEVICE, dtype=torch.uint8)  # two of them each
    packed = torch.ops.aten._convert_weight_to_int4pack(codes, 8)
    scales = torch.zeros(columns // GROUP, rows, 2, device=DEVICE, dtype=dtype)  # and what stands for code 8
    scales[..., 0] = columns**-0.5 / 4.6  # the deviation of -8 to 7
    return lambda x: torch.ops.aten._weight_int4pack_mm(x.reshape(-1, columns), packed, GROUP, scales).view(*x.shape[:-1], rows)


def main():
    o = options(__doc__, {"8B": None}, arguments)
    torch.manual_seed(SEED)
    dtype = torch.half if o.bits == 16 else torch.bfloat16
    prompt = o.prompt or PROMPT
    of = lambda rows, columns: linear(rows, columns, o.bits, dtype)
    layers = [(of((HEADS + 2 * SHARED) * DIM, WIDTH), of(WIDTH, HEADS * DIM), of(2 * MLP, WIDTH), of(WIDTH, MLP)) for _ in range(LAYERS)]
    table, head = random(VOCABULARY, WIDTH, dtype), random(VOCABULARY, WIDTH, dtype)
    caches = [Cache(o.batch, SHARED, SLOTS, DIM, dtype) for _ in layers]
    frequencies = 500000.0 ** (-torch.arange(0, DIM, 2, device=DEVICE, dtype=torch.double) / DIM)
    angles = torch.outer(torch.arange(SLOTS, device=DEVICE, dtype=torch.double), frequencies)
    cos, sin = angles.cos().to(dtype), angles.sin().to(dtype)
    ones = torch.ones(WIDTH, device=DEVICE, dtype=dtype)
    norm = lambda x: F.rms_norm(x, (WIDTH,), ones, 1e-5)

    def rotate(x, at):
        a, b = x.chunk(2, -1)
        cosine, sine = cos[at], sin[at]
        return torch.cat((a * cosine - b * sine, a * sine + b * cosine), -1)

    def forward(tokens, at, mask):
        batch, count = tokens.shape
        x = table[tokens]
        for (qkv, out, up, down), cache in zip(layers, caches):
            q, k, v = qkv(norm(x)).view(batch, count, -1, DIM).transpose(1, 2).split((HEADS, SHARED, SHARED), 1)
            y = attend(rotate(q, at), rotate(k, at), v, cache, at, mask)
            x = x + out(y.transpose(1, 2).reshape(batch, count, -1))
            gate, linear_part = up(norm(x)).chunk(2, -1)
            x = x + down(F.silu(gate) * linear_part)
        return F.linear(norm(x[:, -1]), head)

    i, b = torch.arange(prompt, device=DEVICE), torch.arange(o.batch, device=DEVICE).view(-1, 1)
    tokens = (i * i + 7 * i + 13 * b) % VOCABULARY
    d = Decoder(forward, o.batch, SLOTS, o.compile, mode="max-autotune-no-cudagraphs")
    # A prompt's products with weights of four bits are nobody's choice: they are not timed.
    d.measure(f"PyTorch, Llama 3.1 8B's shape, {o.bits} bits, batch {o.batch}, prompt of {prompt}", tokens, min(o.tokens, SLOTS - prompt - 4), o.json,
              rounds=5 if o.bits == 16 else 0, compared=False)


main()
