#!/usr/bin/env python3
"""Train two small tokenizers for the tests of LoadJSON, and write what they make of texts.

    python3 llama.py --out .

llama/tokenizer.json is built like Llama 3's (a Split by its pattern, then ByteLevel; ignore_merges;
a template with a token to begin with), digits/tokenizer.json like SmolLM's (Digits, then GPT-2's
words). llama.json and digits.json hold texts and tokens.

Needs tokenizers.
"""

import argparse
import json
import pathlib

from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, pre_tokenizers, processors, trainers

PATTERN = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}|"
           r" ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+")

CORPUS = [
    "The rays of light are bent when they pass from the air into water, and they're bent the more the denser it is.",
    "In the beginning there were 123 lamps, 4567 mirrors and 1000000 shadows; it's what we've counted, isn't it?",
    "for (int i = 0; i < n; ++i) {\n    sum += x[i];\n}\n\n\treturn sum;\n",
    "Die Größe der Straße; le cœur naïf; señor; 日本語のテキスト; русский текст; العربية; 👍🏽 and 🎉!",
]

TEXTS = [
    "", " ", "  ", "\n", " \n \n", "\t\tx", "a", "The rays of light", "the  rays   of light ", "  indented\n    more\r\n\r\nend  \n",
    "it's IT'S we'll WE'LL they'Re I'd'D 'twas", "1 12 123 1234 12345678 3.14 1,000,000 x2y", "naïve Straße cœur señor",
    "日本語のテキスト", "русский текст", "العربية ١٢٣", "👍🏽🎉 👨‍👩‍👧", "a\u00a0b\u3000c\u2028d", "!!! ... ---\n\n$%^ &*()", "foo_bar(x[i]++);\n",
    "<|begin_of_text|>", "x<|eot_id|>y", "<|eot_id|><|eot_id|><|eot_id|>!", "<|eot_id", "<|reserved_1|><|reserved_10|>", "zzzzzzzzzzzz qqqq",
    "e\u0301 \u200b\ufeff\x00\x7f\u0085", "²³ ½ Ⅷ", "mirrors Mirrors MIRRORS", "unrelated words that were never trained on",
]

SPECIAL = ["<|begin_of_text|>", "<|end_of_text|>", "<|eot_id|>", "<|reserved_1|>", "<|reserved_10|>"]


def trained(cutting, ignore):
    t = Tokenizer(models.BPE(ignore_merges=ignore))
    t.pre_tokenizer = cutting
    t.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(vocab_size=420, show_progress=False, initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet()))
    t.train_from_iterator(CORPUS, trainer)
    # Behind the others, as in Llama 3.
    t.add_special_tokens([AddedToken(s, normalized=False, special=True) for s in SPECIAL])
    return t


def save(t, out, name):
    (out / name).mkdir(parents=True, exist_ok=True)
    t.save(str(out / name / "tokenizer.json"), pretty=False)
    cases = [{"text": text, "tokens": t.encode(text).ids} for text in TEXTS]
    (out / f"{name}.json").write_text(json.dumps(cases, ensure_ascii=False, separators=(",", ":")) + "\n")


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    p.add_argument("--out", required=True, type=pathlib.Path, help="the folder to write")
    args = p.parse_args()
    split = pre_tokenizers.Split(Regex(PATTERN), behavior="isolated", invert=False)
    llama = trained(pre_tokenizers.Sequence([split, pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)]), True)
    begin = SPECIAL[0]
    template = processors.TemplateProcessing(single=f"{begin} $A", pair=f"{begin} $A {begin} $B:1",
                                             special_tokens=[(begin, llama.token_to_id(begin))])
    llama.post_processor = processors.Sequence([processors.ByteLevel(trim_offsets=False), template])
    save(llama, args.out, "llama")
    digits = trained(pre_tokenizers.Sequence([pre_tokenizers.Digits(individual_digits=True), pre_tokenizers.ByteLevel(add_prefix_space=False)]), False)
    save(digits, args.out, "digits")


if __name__ == "__main__":
    main()
