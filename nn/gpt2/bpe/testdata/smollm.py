#!/usr/bin/env python3
"""Write what Hugging Face's tokenizers makes of 2,000 odd strings by SmolLM2's rules.

    python3 smollm.py --out . [--gguf SmolLM2-135M-Instruct.Q4_1.gguf]

smollm/tokenizer.json is a small vocabulary, trained here, that lacks many bytes, as SmolLM2's lacks 21: tokenizers drops
these. odd.json.gz has the strings, with the ids by that vocabulary ("small"), and by SmolLM2's own ("real"), which is put
together from a GGUF file's tokens and merges. Without one the real ids stay as they are.

Needs tokenizers; for the real ids gguf, too.
"""

import argparse
import gzip
import json
import pathlib
import random

from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers, trainers

CORPUS = [
    "The rays of light are bent when they pass from the air into water, and they're bent the more the denser it is.",
    "In the beginning there were 123 lamps, 4567 mirrors and 1000000 shadows; it's what we've counted, isn't it?",
    "for (int i = 0; i < n; ++i) {\n    sum += x[i];\n}\n\n\treturn sum;\n", "def f(x):\n    return x ** 2  # a square\n",
    "naïve señor Straße", "user\nassistant\nsystem\n", "👍🎉😀 👩‍💻",
]
SPECIAL = ["<|endoftext|>", "<|im_start|>", "<|im_end|>", "<repo_name>", "<reponame>", "<file_sep>", "<filename>", "<gh_stars>", "<issue_start>"]

WORDS = "The rays of light it's we'll THEY'RE I'd mirrors assistant user return sum += x[i]; for(int i=0;i<n;++i){ def f(x): naïve Straße 日本語 русский العربية".split()
SPACES = [" ", "  ", "   ", "\n", "\n\n", "\r\n", "\t", " \n ", "\u00a0", "\u3000", "\u2028", "\u0085", "\x0b", "\x0c"]
SIGNS = list("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~") + ["...", "->", "==", "!=", "//", "/*", "*/", "'s", "'S", "’s"]
EMOJI = ["👍", "👍🏽", "👨‍👩‍👧", "🎉", "😀", "🏳️‍🌈", "1️⃣", "🇩🇪", "❤️", "🫠"]
MARKS = ["e\u0301", "\u200b", "\ufeff", "\u200d", "\u202e", "²", "½", "Ⅷ", "٣", "०", "𝟘", "①", "ﬁ", "İ", "ß", "ǅ", "\ud7ff", "\ue000", "\ufffd", "\U0010ffff"]


def odd(r):
    def piece():
        match r.randrange(11):
            case 0:
                return "".join(r.choice("0123456789") for _ in range(r.randint(1, 9)))
            case 1:
                return r.choice(EMOJI)
            case 2:
                return chr(r.randrange(32)) if r.random() < 0.8 else chr(r.randrange(127, 160))
            case 3:
                return r.choice(SPECIAL)
            case 4:
                s = r.choice(SPECIAL)
                return s[: r.randint(1, len(s))]
            case 5:
                return r.choice(SPACES)
            case 6:
                return r.choice(SIGNS)
            case 7:
                return r.choice(MARKS)
            case 8:
                while True:
                    c = r.randrange(0x110000) if r.random() < 0.3 else r.randrange(0x3000)
                    if not 0xD800 <= c < 0xE000:
                        return chr(c)
            case _:
                return r.choice(WORDS)
    return "".join(piece() + (" " if r.random() < 0.3 else "") for _ in range(r.randint(1, 7)))


def ruled(model):
    t = Tokenizer(model)
    t.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.Digits(individual_digits=True), pre_tokenizers.ByteLevel(add_prefix_space=False)])
    t.decoder = decoders.ByteLevel()
    return t


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    p.add_argument("--out", required=True, type=pathlib.Path, help="the folder to write")
    p.add_argument("--gguf", help="SmolLM2's file")
    args = p.parse_args()
    r = random.Random(11)
    texts = ["", " ", "\x04", "a\x04b", "\x00\x01\x02"] + [odd(r) for _ in range(1995)]

    special = [AddedToken(s, normalized=False, special=True) for s in SPECIAL]
    small = ruled(models.BPE())
    small.train_from_iterator(CORPUS, trainers.BpeTrainer(vocab_size=340, show_progress=False, special_tokens=special))
    (args.out / "smollm").mkdir(exist_ok=True)
    small.save(str(args.out / "smollm" / "tokenizer.json"), pretty=False)

    file = args.out / "odd.json.gz"
    old = json.loads(gzip.decompress(file.read_bytes())) if file.exists() else {"real": []}
    real = old["real"]
    if args.gguf:
        import gguf
        fields = gguf.GGUFReader(args.gguf).fields
        tokens, kinds = fields["tokenizer.ggml.tokens"].contents(), fields["tokenizer.ggml.token_type"].contents()
        merges = [tuple(m.split(" ")) for m in fields["tokenizer.ggml.merges"].contents()]
        whole = ruled(models.BPE({t: i for i, t in enumerate(tokens)}, merges))
        whole.add_special_tokens([AddedToken(t, normalized=False, special=True) for t, kind in zip(tokens, kinds) if kind == 3])
        real = [whole.encode(t).ids for t in texts]
    data = {"texts": texts, "small": [small.encode(t).ids for t in texts], "real": real}
    file.write_bytes(gzip.compress(json.dumps(data, ensure_ascii=False, separators=(",", ":")).encode(), 9, mtime=0))


if __name__ == "__main__":
    main()
