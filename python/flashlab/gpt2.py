"""GPT-2 from transformers goes on from a prompt, on the course's kernels: python -m flashlab.gpt2."""

from __future__ import annotations

import argparse
import sys
import time

from . import register, tree
from .errors import FlashlabError

PROMPT = "The history of the city"


def main(arguments: list[str] | None = None) -> int:
    p = argparse.ArgumentParser(prog="python -m flashlab.gpt2", description=__doc__)
    p.add_argument("--model", help="a folder, or a name that Hugging Face knows; the course's own small model without it")
    p.add_argument("--prompt", default=PROMPT)
    p.add_argument("--tokens", type=int, default=48)
    p.add_argument("--source", default="student", help="whose kernels of tasks 4 and 5: student, solution or version:NAME")
    p.add_argument("--ref", action="store_true", help="beside transformers' own attention ('eager'); exit code 1 if a token differs")
    options = p.parse_args(arguments)
    try:
        return run(options)
    except FlashlabError as e:
        print(f"gpt2: {e}", file=sys.stderr)
        return 2


def run(options: argparse.Namespace) -> int:
    try:
        import torch
        from transformers import AutoTokenizer, GPT2LMHeadModel
        from transformers.utils import logging
    except ImportError as e:
        raise FlashlabError(f"{e.name} is missing: pip install torch transformers") from None
    if not torch.cuda.is_available():
        raise FlashlabError("PyTorch sees no GPU: `make gpt2` runs the same kernels in the simulator")
    logging.disable_progress_bar()
    folder = options.model or str(tree.root() / "task7_gpt2" / "model")
    try:
        tokenizer = AutoTokenizer.from_pretrained(folder)
        model = GPT2LMHeadModel.from_pretrained(folder).float().cuda().eval()
    except (OSError, ValueError) as e:
        raise FlashlabError(f"{folder} holds no GPT-2 that transformers reads: {str(e).splitlines()[0]}") from None
    torch.backends.cuda.matmul.allow_tf32 = False
    register(source=options.source)
    prompt = tokenizer(options.prompt, return_tensors="pt").input_ids.cuda()
    room = model.config.n_positions - prompt.shape[1]
    if prompt.shape[1] < 1 or room < 1 or options.tokens < 1:
        raise FlashlabError(f"a prompt of {prompt.shape[1]} tokens and {options.tokens} new ones: the model has {model.config.n_positions} positions")
    new, rate = follow(model, prompt, min(options.tokens, room), "flashlab")
    print(options.prompt + tokenizer.decode(new))
    print(f"\n{len(new)} tokens, {rate:.0f} a second, kernels: {options.source}")
    if not options.ref:
        return 0
    theirs, their_rate = follow(model, prompt, min(options.tokens, room), "eager")
    same = next((i for i, (a, b) in enumerate(zip(new, theirs)) if a != b), min(len(new), len(theirs)))
    if same == len(new) == len(theirs):
        print(f"eager: {their_rate:.0f} a second, the same tokens")
        return 0
    print(f"eager: {their_rate:.0f} a second, and its token {same + 1} differs; it goes on:\n{tokenizer.decode(theirs)}")
    return 1


def follow(model, prompt, count: int, attention: str) -> tuple[list[int], float]:
    """The likeliest tokens, and how many a second: of a second run, when kernels are compiled."""
    import torch

    model.set_attn_implementation(attention)
    options = dict(attention_mask=torch.ones_like(prompt), max_new_tokens=count, do_sample=False, pad_token_id=0)
    with torch.no_grad():
        model.generate(prompt, **options)
        start = time.perf_counter()
        tokens = model.generate(prompt, **options)[0, prompt.shape[1] :].tolist()
    return tokens, len(tokens) / (time.perf_counter() - start)


if __name__ == "__main__":
    sys.exit(main())
