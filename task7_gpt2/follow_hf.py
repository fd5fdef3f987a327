#!/usr/bin/env python3
"""Go on from a prompt with Hugging Face's GPT-2: `make gpt2 REF=1` compares with it.

    python3 follow_hf.py --model model --tokens 24 --prompt 12 7 301

The prompt is tokens. The last line is JSON: the tokens that follow, each the likeliest, from all before
it, in float32; or why there are none.

Needs torch and transformers.
"""

import argparse
import json


def follow(folder, prompt, count):
    import torch
    from transformers import GPT2LMHeadModel

    model = GPT2LMHeadModel.from_pretrained(folder).float().eval()
    tokens = list(prompt)
    with torch.no_grad():
        for _ in range(min(count, model.config.n_positions - len(prompt))):
            tokens.append(int(model(torch.tensor([tokens])).logits[0, -1].argmax()))
    return tokens[len(prompt):]


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    p.add_argument("--model", required=True, help="a folder with config.json and model.safetensors")
    p.add_argument("--tokens", type=int, default=24)
    p.add_argument("--prompt", type=int, nargs="+", required=True)
    args = p.parse_args()
    try:
        print(json.dumps({"tokens": follow(args.model, args.prompt, args.tokens)}))
    except ImportError as e:
        print(json.dumps({"missing": e.name or str(e)}))
    except (OSError, ValueError) as e:
        print(json.dumps({"error": (str(e).splitlines() or ["no reason given"])[0]}))


if __name__ == "__main__":
    main()
