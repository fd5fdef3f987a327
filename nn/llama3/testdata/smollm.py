#!/usr/bin/env python3
"""Write smollm.json: what SmolLM2-135M-Instruct goes on with after ten prompts, 50 greedy tokens each, and some logits.

    python3 smollm.py SmolLM2-135M-Instruct.Q4_1.gguf > smollm.json      (a number behind the file: so many prompts only)

The forward pass is numpy's, in float32, and shares no code with nn: weights come from the file by llama.cpp's own Python
package (gguf), which dequantises them; rotary pairs are neighbours, as the file has them, so no row is moved. Tokens come
from Hugging Face's tokenizers. llama.cpp itself is no oracle here: on a Q4_1 file it multiplies codes, and rounds the
activations.

Needs gguf, numpy and tokenizers. It takes some minutes.
"""

import json
import math
import sys

import gguf
import numpy as np
from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers

PROMPTS = [
    "Why is the sky blue?", "Write a haiku about a mirror.", "What is 7 times 8?", "Name three prime numbers, and say why they are prime.",
    "Explain what a GPU does, in one sentence.", "def fibonacci(n):", "Translate 'good morning' into French.", "Who was Isaac Newton?",
    "List the planets.", "How do I boil an egg?",
]
SYSTEM = "You are a helpful AI assistant named SmolLM, trained by Hugging Face"
TOKENS = 50
KEPT = list(range(0, 49152, 4093))  # logits that are kept of each step


class Model:
    def __init__(self, path):
        reader = gguf.GGUFReader(path)
        self.meta = {k: f for k, f in reader.fields.items()}
        self.weights = {t.name: gguf.quants.dequantize(t.data, t.tensor_type).astype(np.float32).reshape(tuple(reversed(t.shape.tolist())))
                        for t in reader.tensors}
        number = lambda key: self.meta["llama." + key].contents()
        self.layers, self.heads, self.kv = number("block_count"), number("attention.head_count"), number("attention.head_count_kv")
        self.dim = number("rope.dimension_count")
        self.epsilon, base = number("attention.layer_norm_rms_epsilon"), number("rope.freq_base")
        self.frequencies = base ** (-2.0 * np.arange(self.dim // 2) / self.dim)
        self.keys, self.values = [[] for _ in range(self.layers)], [[] for _ in range(self.layers)]

    def norm(self, x, name):
        return (x / np.sqrt(np.mean(x.astype(np.float64) ** 2, -1, keepdims=True) + self.epsilon)).astype(np.float32) * self.weights[name]

    def turn(self, x, position):  # x [texts, heads, dim]
        angle = position * self.frequencies
        sin, cos = np.sin(angle), np.cos(angle)
        a, b = x[..., 0::2].astype(np.float64), x[..., 1::2].astype(np.float64)
        out = np.empty_like(x)
        out[..., 0::2], out[..., 1::2] = a * cos - b * sin, b * cos + a * sin
        return out

    def step(self, tokens):
        """One more token of each text: all are as long as each other."""
        position, group, n = len(self.keys[0]), self.heads // self.kv, len(tokens)
        x = self.weights["token_embd.weight"][tokens]
        for i in range(self.layers):
            w = lambda name: self.weights[f"blk.{i}.{name}.weight"].T
            y = self.norm(x, f"blk.{i}.attn_norm.weight")
            q = self.turn((y @ w("attn_q")).reshape(n, self.heads, self.dim), position)
            self.keys[i].append(self.turn((y @ w("attn_k")).reshape(n, self.kv, self.dim), position))
            self.values[i].append((y @ w("attn_v")).reshape(n, self.kv, self.dim))
            keys, values = np.stack(self.keys[i], 1), np.stack(self.values[i], 1)
            out = np.empty((n, self.heads, self.dim), np.float32)
            for t in range(n):
                for h in range(self.heads):
                    scores = keys[t, :, h // group].astype(np.float64) @ q[t, h] / math.sqrt(self.dim)
                    p = np.exp(scores - scores.max())
                    out[t, h] = p / p.sum() @ values[t, :, h // group]
            x = x + out.reshape(n, -1) @ w("attn_output")
            y = self.norm(x, f"blk.{i}.ffn_norm.weight")
            gate, up = y @ w("ffn_gate"), y @ w("ffn_up")
            x = x + (gate / (1 + np.exp(-gate)) * up) @ w("ffn_down")
        head = self.weights.get("output.weight", self.weights["token_embd.weight"])
        return self.norm(x, "output_norm.weight") @ head.T


def tokenizer(meta):
    tokens, kinds = meta["tokenizer.ggml.tokens"].contents(), meta["tokenizer.ggml.token_type"].contents()
    vocab = {t: i for i, t in enumerate(tokens)}
    merges = [tuple(m.split(" ")) for m in meta["tokenizer.ggml.merges"].contents()]
    t = Tokenizer(models.BPE(vocab, merges))
    t.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.Digits(individual_digits=True), pre_tokenizers.ByteLevel(add_prefix_space=False)])
    t.decoder = decoders.ByteLevel()
    t.add_special_tokens([AddedToken(text, normalized=False, special=True) for text, kind in zip(tokens, kinds) if kind == 3])
    return t


def main():
    m = Model(sys.argv[1])
    t = tokenizer(m.meta)
    ids = []
    prompts = PROMPTS[: int(sys.argv[2])] if len(sys.argv) > 2 else PROMPTS
    for prompt in prompts:
        text = f"<|im_start|>system\n{SYSTEM}<|im_end|>\n<|im_start|>user\n{prompt}<|im_end|>\n<|im_start|>assistant\n"
        ids.append(t.encode(text).ids)
    out = [{"prompt": p, "tokens": i, "greedy": [], "margins": [], "logits": []} for p, i in zip(prompts, ids)]
    # All texts go on together, each from its own prompt to its own answer; one that has its 50 tokens goes on for nothing.
    for at in range(max(map(len, ids)) + TOKENS - 1):
        rows = m.step([(i + o["greedy"])[at] if at < len(i) + len(o["greedy"]) else 0 for i, o in zip(ids, out)])
        for row, i, o in zip(rows, ids, out):
            if at + 1 < len(i) or len(o["greedy"]) == TOKENS:
                continue
            best = np.argsort(row)[-2:]
            o["greedy"].append(int(best[1]))
            o["margins"].append(round(float(row[best[1]] - row[best[0]]), 5))
            o["logits"].append([round(float(row[k]), 4) for k in KEPT])
        print(at, file=sys.stderr)
    for o in out:
        print(repr(t.decode(o["greedy"], skip_special_tokens=False)), "least margin", min(o["margins"]), file=sys.stderr)
    print(json.dumps({"kept": KEPT, "cases": out}, separators=(",", ":")))


if __name__ == "__main__":
    main()
