#!/usr/bin/env python3
"""Trains the bundled model: GPT-2's architecture, small, on Newton's Opticks.

The text is of 1730 and in the public domain; every Go installation carries it
(src/testdata/Isaac.Newton-Opticks.txt in GOROOT). It is too short to learn
English from, so the model first reads the prose of the standard library's
comments as well, then Newton alone. One page of Newton in twenty is held out: it
trains neither the tokenizer nor the model.

    python3 train.py --goroot "$(go env GOROOT)" --out model

writes config.json, vocab.json, merges.txt, model.safetensors (fp16),
heldout.txt, loss.tsv, samples.txt and train.json. Needs torch, transformers, tokenizers and
safetensors; a GPU does it in some minutes.
"""

import argparse
import json
import math
import pathlib
import random
import re
import time

import torch
from safetensors.torch import save_file
from tokenizers import ByteLevelBPETokenizer
from transformers import GPT2Config, GPT2LMHeadModel

END = "<|endoftext|>"
PAGE = 2400  # characters, about
PROMPTS = [
    "The Rays of Light",
    "If the Sun's Light",
    "Are not all Bodies",
    "In a very dark Chamber",
]


def paragraphs(text):
    """The book's paragraphs, each on one line, without the marks of italics."""
    text = text[text.index("OPTICKS:") :].replace("\r\n", "\n").replace("_", "")
    for block in re.split(r"\n\s*\n", text):
        line = " ".join(block.split())
        letters = sum(c.isalpha() for c in line)
        # Tables of numbers and captions of figures teach nothing about English.
        if len(line) > 1 and letters > 0.6 * len(line) and "|" not in line and "[Illustration" not in line:
            yield line


def pages(text):
    """Runs of whole paragraphs, about PAGE characters each."""
    page = []
    for p in paragraphs(text):
        page.append(p)
        if sum(map(len, page)) >= PAGE:
            yield "\n\n".join(page)
            page = []
    if page:
        yield "\n\n".join(page)


def split(text):
    """Training text and held-out text."""
    train, held = [], []
    for i, page in enumerate(pages(text)):
        (held if i % 20 == 10 else train).append(page)
    return "\n\n".join(train), "\n\n".join(held)


def comments(source):
    """Paragraphs of prose in the comments of a Go file."""
    for block in re.findall(r"(?:^[ \t]*//.*\n)+", source, re.M):
        if "Copyright" in block or "//go:" in block:
            continue
        lines = [re.sub(r"^[ \t]*//", "", line) for line in block.split("\n")]
        # A comment's text is set off by one space; code and tables by more.
        text = "\n".join("" if re.match(r"\t|  ", line) else line.strip() for line in lines)
        for p in re.split(r"\n\s*\n", text):
            p = " ".join(p.split())
            prose = sum(c.isalpha() or c == " " for c in p)
            if len(p) > 80 and p[0].isupper() and p[-1] == "." and prose > 0.93 * len(p):
                yield p


def library(root):
    """The prose of the standard library, each paragraph once."""
    found = {}
    for path in sorted((root / "src").rglob("*.go")):
        if "testdata" not in path.parts:
            found.update(dict.fromkeys(comments(path.read_text(encoding="utf-8", errors="replace"))))
    return "\n\n".join(found)


def loss_of(model, ids, window):
    """Mean negative log-likelihood of a text, each token predicted once, in
    windows that do not overlap (so its first tokens have little before them)."""
    model.eval()
    total, count = 0.0, 0
    with torch.no_grad():
        for start in range(0, len(ids) - 1, window):
            x = ids[start : start + window + 1].unsqueeze(0)
            logits = model(x[:, :-1]).logits.float()
            nll = torch.nn.functional.cross_entropy(logits[0], x[0, 1:], reduction="sum")
            total, count = total + nll.item(), count + x.shape[1] - 1
    model.train()
    return total / count


def continuation(model, tokenizer, prompt, device, **how):
    x = torch.tensor([tokenizer.encode(prompt).ids], device=device)
    model.eval()
    y = model.generate(x, attention_mask=torch.ones_like(x), max_new_tokens=100, pad_token_id=0, eos_token_id=None, **how)
    model.train()
    return tokenizer.decode(y[0].tolist())


def main():
    a = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    a.add_argument("--goroot", required=True, type=pathlib.Path)
    a.add_argument("--out", required=True)
    a.add_argument("--vocabulary", type=int, default=2048)
    a.add_argument("--width", type=int, default=256)
    a.add_argument("--layers", type=int, default=8)
    a.add_argument("--heads", type=int, default=8)
    a.add_argument("--positions", type=int, default=512)
    a.add_argument("--batch", type=int, default=32)
    a.add_argument("--mixed", type=int, default=5000, help="steps on both texts")
    a.add_argument("--share", type=float, default=0.1, help="Newton's share of them")
    a.add_argument("--alone", type=int, default=150, help="steps on Newton alone")
    a.add_argument("--rate", type=float, default=1.5e-3)
    a.add_argument("--dropout", type=float, default=0.1)
    a.add_argument("--decay", type=float, default=0.1)
    a.add_argument("--seed", type=int, default=1)
    o = a.parse_args()
    torch.manual_seed(o.seed)
    random.seed(o.seed)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    out = pathlib.Path(o.out)
    out.mkdir(parents=True, exist_ok=True)

    newton = o.goroot / "src" / "testdata" / "Isaac.Newton-Opticks.txt"
    train_text, held_text = split(newton.read_text(encoding="utf-8"))
    library_text = library(o.goroot)
    (out / "heldout.txt").write_text(held_text, encoding="utf-8")
    tokenizer = ByteLevelBPETokenizer()
    tokenizer.train_from_iterator([train_text, library_text[: 2 * len(train_text)]], vocab_size=o.vocabulary, min_frequency=2, special_tokens=[END], show_progress=False)
    tokenizer.save_model(str(out))
    train = torch.tensor(tokenizer.encode(train_text).ids, device=device)
    held = torch.tensor(tokenizer.encode(held_text).ids, device=device)
    other = torch.tensor(tokenizer.encode(library_text).ids, device=device)
    print(f"Newton: {len(train_text)} characters, {len(train)} tokens; held out: {len(held_text)}, {len(held)}; the library: {len(library_text)}, {len(other)}")

    config = GPT2Config(
        vocab_size=tokenizer.get_vocab_size(), n_positions=o.positions, n_embd=o.width, n_layer=o.layers, n_head=o.heads,
        resid_pdrop=o.dropout, embd_pdrop=o.dropout, attn_pdrop=o.dropout, bos_token_id=0, eos_token_id=0,
    )
    model = GPT2LMHeadModel(config).to(device)
    print(f"model: {sum(p.numel() for p in model.parameters()) / 1e6:.2f} M parameters")
    decayed = [p for p in model.parameters() if p.dim() > 1]
    plain = [p for p in model.parameters() if p.dim() <= 1]
    optimizer = torch.optim.AdamW(
        [{"params": decayed, "weight_decay": o.decay}, {"params": plain, "weight_decay": 0.0}], lr=o.rate, betas=(0.9, 0.95),
    )

    curve, started, steps = [], time.time(), o.mixed + o.alone
    for step in range(steps + 1):
        if step % 100 == 0 or step == steps:
            curve.append((step, loss_of(model, train[: len(held)], o.positions), loss_of(model, held, o.positions)))
            print(f"step {step:5d}  train {curve[-1][1]:.3f}  held out {curve[-1][2]:.3f}  {time.time() - started:.0f} s", flush=True)
        if step == steps:
            break
        warm = min(1.0, (step + 1) / 50)
        rate = o.rate * warm * (0.1 + 0.9 * 0.5 * (1 + math.cos(math.pi * step / steps)))
        for group in optimizer.param_groups:
            group["lr"] = rate
        rows = []
        for _ in range(o.batch):
            text = train if step >= o.mixed or random.random() < o.share else other
            at = random.randrange(len(text) - o.positions - 1)
            rows.append(text[at : at + o.positions + 1])
        x = torch.stack(rows)
        with torch.autocast(device, dtype=torch.bfloat16):
            logits = model(x[:, :-1]).logits
            loss = torch.nn.functional.cross_entropy(logits.float().flatten(0, 1), x[:, 1:].flatten())
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()

    # What is stored is what is measured: round to fp16 first.
    model.half().float()
    weights = {k: v.half().contiguous().cpu() for k, v in model.state_dict().items() if k != "lm_head.weight"}
    save_file(weights, str(out / "model.safetensors"), metadata={"format": "pt"})
    model.config.save_pretrained(out)
    final = loss_of(model, held, o.positions)
    print(f"stored as fp16: held-out loss {final:.4f}, perplexity {math.exp(final):.2f}; training text {math.exp(loss_of(model, train, o.positions)):.2f}")
    with open(out / "loss.tsv", "w") as f:
        f.write("step\ttraining text\theld out\n")
        f.writelines(f"{s}\t{t:.4f}\t{h:.4f}\n" for s, t, h in curve)
    with open(out / "samples.txt", "w") as f:
        for prompt in PROMPTS:
            text = continuation(model, tokenizer, prompt, device, do_sample=False)
            f.write(f"== greedy: {prompt}\n{text}\n\n")
            torch.manual_seed(o.seed)
            text = continuation(model, tokenizer, prompt, device, do_sample=True, temperature=0.8, top_k=40)
            f.write(f"== temperature 0.8, top-k 40: {prompt}\n{text}\n\n")
    print((out / "samples.txt").read_text())
    (out / "train.json").write_text(json.dumps({k: str(v) if k in ("goroot", "out") else v for k, v in vars(o).items()}, indent=1))


if __name__ == "__main__":
    main()
