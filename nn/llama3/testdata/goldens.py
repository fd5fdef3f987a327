#!/usr/bin/env python3
"""Write tiny random Llamas, and what transformers makes of them, for the tests of nn/llama3.

    python3 goldens.py --out .

Each model has a folder: config.json, its weights, and for prompt 0, 1, …: promptN.npy
(int32), logitsN.npy (float32, those behind the prompt's last token and a few before),
and greedyN.npy (int32, the tokens that follow). All computed in float32 on the CPU, of the
weights as they are in the file.

Needs numpy, torch, transformers and safetensors.
"""

import argparse
import json
import pathlib

import numpy as np
import torch
from transformers import LlamaConfig, LlamaForCausalLM

TOKENS = 20  # that follow a prompt
ROWS = 4  # of logits that are kept, the last ones

LLAMA3 = {"rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
          "original_max_position_embeddings": 32}

# What differs from one model to the next. Positions go well past the 32 that the scaled ones
# were "first trained with", and of their four frequencies one is fast, one in the middle, two are slow.
MODELS = {
    "tied": (dict(tie_word_embeddings=True), "float32", {}),
    "untied": (dict(num_key_value_heads=4), "float16", {}),
    "scaled": (dict(rope_theta=100.0, rope=LLAMA3, eos_token_id=[3, 5]), "bfloat16", dict(max_shard_size="12KB")),
    "biased": (dict(attention_bias=True, mlp_bias=True, head_dim=10, rope_theta=1000.0), "float16", dict(max_shard_size="20KB")),
}


def config(rope=None, rope_theta=10000.0, **more):
    c = dict(hidden_size=32, intermediate_size=56, num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2,
             vocab_size=67, max_position_embeddings=160, rms_norm_eps=1e-5, bos_token_id=1, eos_token_id=2,
             tie_word_embeddings=False)
    c.update(more)
    return LlamaConfig(**c, rope_parameters={"rope_type": "default", "rope_theta": rope_theta, **(rope or {})})


def older(folder, rope, theta):
    """config.json as transformers wrote it before version 5, and as published Llamas have it."""
    path = folder / "config.json"
    c = json.loads(path.read_text())
    c.pop("rope_parameters")
    c["rope_theta"], c["rope_scaling"] = theta, rope
    c["torch_dtype"] = c.pop("dtype")
    path.write_text(json.dumps(c, indent=2) + "\n")


def follow(model, prompt, count):
    """Greedy tokens, each from all before it: no cache that could be wrong."""
    tokens = list(prompt)
    for _ in range(count):
        logits = model(torch.tensor([tokens]), use_cache=False).logits[0, -1]
        two = torch.topk(logits, 2).values
        if two[0] - two[1] < 1e-3 * logits.square().mean().sqrt():
            break  # rounding would decide: leave the rest out
        tokens.append(int(torch.argmax(logits)))
    return tokens[len(prompt):]


def write(name, folder, seed):
    more, kind, saving = MODELS[name]
    torch.manual_seed(seed)
    model = LlamaForCausalLM(config(**more)).float().eval()
    with torch.no_grad():  # as they begin, weights are so small that attention is an even mean
        for weight in model.parameters():
            if weight.dim() == 2:
                weight.copy_(torch.randn_like(weight) / weight.shape[1] ** 0.5 * 1.5)
            else:  # biases, and the gains of norms
                weight.add_(0.2 * torch.randn_like(weight))
    model = model.to(getattr(torch, kind))
    model.save_pretrained(folder, **saving)
    (folder / "generation_config.json").unlink(missing_ok=True)
    if name == "scaled":
        older(folder, more["rope"], more["rope_theta"])
    model = LlamaForCausalLM.from_pretrained(folder, dtype=torch.float32).eval()
    random = np.random.default_rng(seed)
    with torch.no_grad():
        for n, length in enumerate([1, 2, 17, 113]):
            prompt = random.integers(0, 67, size=length).tolist()
            logits = model(torch.tensor([prompt]), use_cache=False).logits[0, -ROWS:]
            greedy = follow(model, prompt, TOKENS)
            np.save(folder / f"prompt{n}.npy", np.array(prompt, dtype=np.int32))
            np.save(folder / f"logits{n}.npy", logits.float().numpy())
            np.save(folder / f"greedy{n}.npy", np.array(greedy, dtype=np.int32))
            print(f"{name}, prompt {n}: {length} tokens, then {len(greedy)}")


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    p.add_argument("--out", required=True, type=pathlib.Path, help="the folder to write")
    args = p.parse_args()
    torch.set_num_threads(1)  # the same sums in the same order
    for seed, name in enumerate(MODELS, start=1):
        folder = args.out / name
        folder.mkdir(parents=True, exist_ok=True)
        for old in folder.iterdir():
            old.unlink()
        write(name, folder, seed)


if __name__ == "__main__":
    main()
