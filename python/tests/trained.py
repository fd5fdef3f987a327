#!/usr/bin/env python3
"""Show that transformers generates with our kernels what it generates with its own attention, on a trained Llama.

    python3 nn/llama3/testdata/folder.py out/models/SmolLM2-135M-Instruct.Q4_1.gguf out/models/smollm2
    python3 python/tests/trained.py out/models/smollm2 [--prompts 10]

The folder is SmolLM2-135M-Instruct's as `make chat` fetches it, in float32. Ten prompts, 50 greedy tokens each, as llama.cpp
has given them (nn/llama3/testdata/llamacpp.json):

- in float32 'eager' must write llama.cpp's tokens, and 'flashlab' what 'eager' writes;
- in halves 'flashlab' must write what 'eager' writes, up to a tie: where both wrote the same before, 'eager' is off by so much
  from the model in float32 that either token may come out as the likeliest one.

Without a GPU plain attention stands in for the kernels, as in test_torch.py: that tries the way there. It exits with 1
where something differs. Needs PyTorch and transformers.
"""

import argparse
import json
import pathlib
import sys
import time
import unittest.mock

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parent), str(pathlib.Path(__file__).resolve().parents[1])]

import torch
import transformers

import flashlab
import test_torch

ROOT = pathlib.Path(__file__).resolve().parents[2]


def generate(model, attention: str, ids, count: int):
    model.set_attn_implementation(attention)
    x = torch.tensor([ids], device=model.device)
    length = dict(max_new_tokens=count, min_new_tokens=count, eos_token_id=None)  # a token that ends a text is one as others
    out = model.generate(x, attention_mask=torch.ones_like(x), do_sample=False, pad_token_id=0, **length)
    return out[0, len(ids) :].tolist()


def behind(model, ids):
    """The logits behind a text, by transformers' own attention."""
    model.set_attn_implementation("eager")
    return model(torch.tensor([ids], device=model.device)).logits[0, -1].float()


def differ(a, b) -> int:
    return next((i for i, (x, y) in enumerate(zip(a, b)) if x != y), -1)


def main() -> int:
    p = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    p.add_argument("folder", type=pathlib.Path, help="SmolLM2's, as Hugging Face has it")
    p.add_argument("--prompts", type=int, default=10)
    args = p.parse_args()
    device = "cuda" if torch.cuda.is_available() else "cpu"
    if device == "cpu":
        for name in ("attention", "decode"):
            unittest.mock.patch(f"flashlab.ops.{name}", test_torch.plain if name == "attention" else test_torch.plain_step).start()
    torch.backends.cuda.matmul.allow_tf32 = False
    flashlab.register(source="solution")
    golden = json.loads((ROOT / "nn/llama3/testdata/llamacpp.json").read_text())["SmolLM2"]["cases"][: args.prompts]
    count, wrong = len(golden[0]["greedy"]), 0
    gpu = torch.cuda.get_device_name() if device == "cuda" else "no GPU: plain attention stands in"
    print(f"transformers {transformers.__version__}, PyTorch {torch.__version__}, {gpu}")

    whole = transformers.AutoModelForCausalLM.from_pretrained(args.folder, dtype=torch.float32).to(device).eval()
    for case in golden:
        eager = generate(whole, "eager", case["tokens"], count)
        ours = generate(whole, "flashlab", case["tokens"], count)
        for name, got, want in ("eager beside llama.cpp", eager, case["greedy"]), ("flashlab beside eager", ours, eager):
            if (at := differ(got, want)) >= 0:
                wrong += 1
                print(f"float32, {case['prompt']!r}: {name}: token {at + 1} is {got[at]}, want {want[at]}")
    print(f"float32: {len(golden)} prompts × {count} tokens, {wrong} differ")

    half = transformers.AutoModelForCausalLM.from_pretrained(args.folder, dtype=torch.float16).to(device).eval()
    same, ties = 0, 0
    for case in golden:
        eager, ours = (generate(half, name, case["tokens"], count) for name in ("eager", "flashlab"))
        at = differ(eager, ours)
        if at < 0:
            same += 1
            continue
        before = case["tokens"] + eager[:at]
        truth, rounded = behind(whole, before), behind(half, before)
        gap, off = abs(float(truth[eager[at]] - truth[ours[at]])), float((truth - rounded).abs().max())
        tie = gap <= 2 * off
        ties, wrong = ties + tie, wrong + (not tie)
        print(f"halves, {case['prompt']!r}: token {at + 1} is {ours[at]}, eager's {eager[at]}: {'a' if tie else 'NO'} tie")
        print(f"  in float32 they are {gap:.3g} apart, and eager in halves is off by {off:.3g}")
    print(f"halves: {len(golden)} prompts × {count} tokens, {same} the same, {ties} up to a tie")

    for name, model in ("float32", whole), ("halves", half):
        for attention in ("eager", "flashlab"):
            start = time.perf_counter()
            generate(model, attention, golden[0]["tokens"], count)
            print(f"{name}, {attention}: {(time.perf_counter() - start) / count * 1e3:.2f} ms a token, by generate")
    print("all as it should be" if not wrong else f"{wrong} WRONG")
    return min(wrong, 1)


if __name__ == "__main__":
    with torch.no_grad():
        sys.exit(main())
