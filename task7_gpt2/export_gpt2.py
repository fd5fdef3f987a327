#!/usr/bin/env python3
"""Write a GPT-2 as .npy files that `make gpt2 MODEL=folder` reads.

    python3 export_gpt2.py --model gpt2-medium --out out/medium
    python3 export_gpt2.py --model gpt2 --layer 3 --head 5 --out out/head

--model is a folder, or a name that Hugging Face knows. The whole model comes with
its vocabulary. With --layer and --head it is one head of one layer: its weights
wq, wk, wv [width, dim] and bq, bk, bv [dim]; x [seq, width], which reaches the
layer's attention for --text; and y [seq, dim], what PyTorch makes of x. All are
float32; metadata.json tells their shapes.

Needs numpy, torch and transformers.
"""

import argparse
import json
import pathlib

import numpy as np
import torch
from transformers import AutoTokenizer, GPT2LMHeadModel


def array(tensor):
    return np.ascontiguousarray(tensor.detach().to(torch.float32).cpu().numpy())


def config_of(model):
    """What config.json would say, as far as it matters."""
    c = model.config
    names = ["n_embd", "n_head", "n_layer", "n_positions", "vocab_size", "n_inner",
             "layer_norm_epsilon", "activation_function", "scale_attn_weights",
             "scale_attn_by_inverse_layer_idx", "tie_word_embeddings"]
    return {"model_type": "gpt2", **{n: getattr(c, n) for n in names if hasattr(c, n)}}


def write(out, arrays, metadata, archive):
    """metadata.json comes last: a folder with it is whole."""
    out.mkdir(parents=True, exist_ok=True)
    metadata["tensors"] = {name: list(a.shape) for name, a in arrays.items()}
    if archive:
        metadata["archive"] = "weights.npz"
        np.savez(out / "weights.npz", **arrays)
    else:
        for name, a in arrays.items():
            np.save(out / f"{name}.npy", a)
    (out / "metadata.json").write_text(json.dumps(metadata, indent=1) + "\n")
    size = sum(a.nbytes for a in arrays.values())
    print(f"{out}: {len(arrays)} arrays, {size / 1e6:.1f} MB")


def export_model(model, out, archive):
    arrays = {}
    for name, tensor in model.transformer.state_dict().items():
        # Buffers of older versions: the causal mask is no weight.
        if name.endswith((".attn.bias", ".attn.masked_bias")):
            continue
        arrays[name] = array(tensor)
    write(out, arrays, {"kind": "model", "config": config_of(model)}, archive)


def export_head(model, tokenizer, args, out):
    c = model.config
    if not (0 <= args.layer < c.n_layer and 0 <= args.head < c.n_head):
        raise SystemExit(f"--layer {args.layer} --head {args.head}: the model has {c.n_layer} layers of {c.n_head} heads")
    dim = c.n_embd // c.n_head
    block = model.transformer.h[args.layer]
    weight, bias = block.attn.c_attn.weight, block.attn.c_attn.bias  # [width, 3 width], [3 width]
    columns = slice(args.head * dim, (args.head + 1) * dim)
    parts = {}
    for i, letter in enumerate("qkv"):
        parts[f"w{letter}"] = weight[:, i * c.n_embd:(i + 1) * c.n_embd][:, columns]
        parts[f"b{letter}"] = bias[i * c.n_embd:(i + 1) * c.n_embd][columns]
    seen = {}
    hook = block.ln_1.register_forward_hook(lambda module, inputs, output: seen.update(x=output))
    tokens = torch.tensor([tokenizer(args.text)["input_ids"][:c.n_positions]])
    with torch.no_grad():
        model(tokens)
        hook.remove()
        parts["x"] = seen["x"][0]
        q, k, v = (parts["x"] @ parts[f"w{letter}"] + parts[f"b{letter}"] for letter in "qkv")
        parts["y"] = torch.nn.functional.scaled_dot_product_attention(
            q[None, None], k[None, None], v[None, None], is_causal=True)[0, 0]
    write(out, {name: array(t) for name, t in parts.items()},
          {"kind": "head", "config": config_of(model), "layer": args.layer, "head": args.head, "text": args.text}, args.npz)


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    p.add_argument("--model", required=True, help="a folder, or a name such as gpt2, gpt2-medium, gpt2-large, gpt2-xl")
    p.add_argument("--out", required=True, type=pathlib.Path, help="the folder to write")
    p.add_argument("--npz", action="store_true", help="all arrays in one file, weights.npz")
    p.add_argument("--layer", type=int, help="with --head: only that head")
    p.add_argument("--head", type=int)
    p.add_argument("--text", default="The quick brown fox jumps over the lazy dog.", help="what a head looks at")
    args = p.parse_args()
    if (args.layer is None) != (args.head is None):
        p.error("--layer and --head belong together")
    model = GPT2LMHeadModel.from_pretrained(args.model).float().eval()
    if args.layer is not None:
        export_head(model, AutoTokenizer.from_pretrained(args.model), args, args.out)
        return
    export_model(model, args.out, args.npz)
    AutoTokenizer.from_pretrained(args.model).save_pretrained(args.out)


if __name__ == "__main__":
    main()
