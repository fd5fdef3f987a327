#!/usr/bin/env python3
"""Write what transformers makes of two models, for the tests of nn/gpt2.

    python3 goldens.py --model model --out testdata

Each model has a folder of its own under --out:

    small/     a random one, saved there whole (config.json, model.safetensors)
    bundled/   the one that --model names; its weights stay where they are

In each, for prompt 0, 1, …: promptN.npy (int32), logitsN.npy (float32 [positions,
vocabulary], one row for each token of the prompt), and greedyN.npy (int32, the
tokens that follow it). All in float32 on the CPU.

Needs numpy, torch and transformers.
"""

import argparse
import pathlib

import numpy as np
import torch
from transformers import AutoTokenizer, GPT2Config, GPT2LMHeadModel

TOKENS = 40  # that follow a prompt

TEXTS = ["The Rays of Light", "In the beginning", "It's 2 o'clock;\n\n  and", "A"]


def follow(model, prompt, count):
    """Greedy tokens, each from all before it: no cache that could be wrong."""
    tokens = list(prompt)
    for _ in range(count):
        logits = model(torch.tensor([tokens])).logits[0, -1]
        two = torch.topk(logits, 2).values
        if two[0] - two[1] < 1e-4 * logits.square().mean().sqrt():
            break  # rounding would decide: leave the rest out
        tokens.append(int(torch.argmax(logits)))
    return tokens[len(prompt):]


def write(model, prompts, out):
    out.mkdir(parents=True, exist_ok=True)
    most = model.config.n_positions
    with torch.no_grad():
        for n, prompt in enumerate(prompts):
            logits = model(torch.tensor([prompt])).logits[0]
            greedy = follow(model, prompt, min(TOKENS, most - len(prompt)))
            np.save(out / f"prompt{n}.npy", np.array(prompt, dtype=np.int32))
            np.save(out / f"logits{n}.npy", logits.float().numpy())
            np.save(out / f"greedy{n}.npy", np.array(greedy, dtype=np.int32))
            print(f"{out}, prompt {n}: {len(prompt)} tokens, then {len(greedy)}")


def small(out):
    torch.manual_seed(1)
    config = GPT2Config(n_embd=48, n_head=3, n_layer=2, vocab_size=257, n_positions=64,
                        bos_token_id=0, eos_token_id=0)
    model = GPT2LMHeadModel(config).float().eval()
    with torch.no_grad():  # as they begin, weights are so small that attention is an even mean
        for name, weight in model.named_parameters():
            if weight.dim() == 2:
                weight.mul_(6)
            else:  # biases, and the gains of norms
                weight.add_(0.1 * torch.randn_like(weight))
    model.save_pretrained(out)  # .safetensors, in any version of these years
    random = np.random.default_rng(1)
    write(model, [random.integers(0, 257, size=n).tolist() for n in (1, 2, 17, 24)], out)


def bundled(folder, out):
    model = GPT2LMHeadModel.from_pretrained(folder).float().eval()
    tokenizer = AutoTokenizer.from_pretrained(folder)
    write(model, [tokenizer(text)["input_ids"] for text in TEXTS], out)


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    p.add_argument("--out", required=True, type=pathlib.Path, help="the folder to write")
    p.add_argument("--model", help="the folder of the course's own model")
    args = p.parse_args()
    torch.set_num_threads(1)  # the same sums in the same order
    small(args.out / "small")
    if args.model:
        bundled(args.model, args.out / "bundled")


if __name__ == "__main__":
    main()
