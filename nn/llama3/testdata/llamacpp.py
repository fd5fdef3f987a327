#!/usr/bin/env python3
"""Write llamacpp.json: what llama.cpp goes on with, greedily, and some logits behind each token.

    python3 llamacpp.py --out . --model SmolLM2-135M-Instruct.Q4_1.gguf [--float32 FILE]

There are two parts. 'small' is of small.gguf, a random Llama of a few thousand weights that is written here, by llama.cpp's
own Python package (gguf): nn's tests read it everywhere. 'SmolLM2' is of the trained model; its ten prompts are those of
smollm.json, 50 tokens each. llama.cpp multiplies a Q4_1 file's codes with activations that it rounds, so it is no oracle
there: it gets the same weights in a float32 file (540 MB, written to --float32), and keeps keys and values in float32.

Without --model the trained model's part stays as it is. Needs llama-cpp-python (0.3.36 made what is here), gguf and numpy; it
takes some minutes.
"""

import argparse
import json
import pathlib
import tempfile

import gguf
import numpy as np
from llama_cpp import Llama

FLOAT32 = 0  # ggml's number of the type
SMALL = dict(width=24, heads=3, kv=1, dim=8, layers=2, inner=20, positions=256)


def small(path, tokenizer):
    """A random Llama: heads that share keys, a head of its own, frequencies divided by numbers of their own."""
    s, r = SMALL, np.random.default_rng(5)
    words = json.loads(tokenizer.read_text())
    vocabulary = dict(words["model"]["vocab"])
    special = {t["content"]: t["id"] for t in words["added_tokens"]}
    vocabulary.update(special)
    tokens = sorted(vocabulary, key=vocabulary.get)
    w = gguf.GGUFWriter(str(path), "llama")
    w.add_context_length(s["positions"])
    w.add_embedding_length(s["width"])
    w.add_block_count(s["layers"])
    w.add_feed_forward_length(s["inner"])
    w.add_head_count(s["heads"])
    w.add_head_count_kv(s["kv"])
    w.add_layer_norm_rms_eps(1e-5)
    w.add_rope_dimension_count(s["dim"])
    w.add_rope_freq_base(10000.0)
    w.add_tokenizer_model("gpt2")
    w.add_tokenizer_pre("smollm")
    w.add_token_list(tokens)
    w.add_token_types([3 if t in special else 1 for t in tokens])
    w.add_token_merges([m if isinstance(m, str) else " ".join(m) for m in words["model"]["merges"]])
    w.add_bos_token_id(special["<|im_start|>"])
    w.add_eos_token_id(special["<|im_end|>"])
    w.add_add_bos_token(False)
    wide, narrow = s["heads"] * s["dim"], s["kv"] * s["dim"]

    def matrix(name, rows, columns):
        w.add_tensor(name + ".weight", (r.standard_normal((rows, columns)) * 1.5 / columns ** 0.5).astype(np.float32))

    def gains(name):
        w.add_tensor(name + ".weight", (1 + 0.2 * r.standard_normal(s["width"])).astype(np.float32))

    matrix("token_embd", len(tokens), s["width"])
    matrix("output", len(tokens), s["width"])
    gains("output_norm")
    for i in range(s["layers"]):
        gains(f"blk.{i}.attn_norm")
        gains(f"blk.{i}.ffn_norm")
        for name, rows, columns in (("attn_q", wide, s["width"]), ("attn_k", narrow, s["width"]), ("attn_v", narrow, s["width"]), ("attn_output", s["width"], wide),
                                    ("ffn_gate", s["inner"], s["width"]), ("ffn_up", s["inner"], s["width"]), ("ffn_down", s["width"], s["inner"])):
            matrix(f"blk.{i}.{name}", rows, columns)
    w.add_tensor("rope_freqs.weight", np.array([1, 1.5, 4, 8], np.float32))
    w.write_header_to_file()
    w.write_kv_data_to_file()
    w.write_tensors_to_file()
    w.close()


def in_float32(path, to):
    """The same model with its weights as they are after dequantising."""
    reader = gguf.GGUFReader(path)
    w = gguf.GGUFWriter(str(to), "llama")
    for name, field in reader.fields.items():
        if name.startswith("GGUF.") or name in ("general.architecture", "general.file_type", "general.quantization_version"):
            continue
        kind = field.types[0]
        w.add_key_value(name, field.contents(), kind, sub_type=field.types[-1] if kind == gguf.GGUFValueType.ARRAY else None)
    for t in reader.tensors:
        x = gguf.quants.dequantize(t.data, t.tensor_type).astype(np.float32)
        w.add_tensor(t.name, x.reshape(tuple(reversed(t.shape.tolist()))))
    w.write_header_to_file()
    w.write_kv_data_to_file()
    w.write_tensors_to_file()
    w.close()


def go_on(path, texts, count, kept=None):
    """Greedy tokens behind each text, with how far each one leads, and some logits."""
    m = Llama(str(path), n_ctx=512 if kept else SMALL["positions"], type_k=FLOAT32, type_v=FLOAT32, flash_attn=False, logits_all=True, n_gpu_layers=0, verbose=False)
    kept = kept or list(range(0, m.n_vocab(), m.n_vocab() // 12))
    cases = []
    for text in texts:
        prompt, tokens = text if isinstance(text, tuple) else (text, m.tokenize(text.encode(), add_bos=False, special=True))
        m.reset()
        m.eval(tokens)
        c = dict(prompt=prompt, tokens=list(tokens), greedy=[], margins=[], logits=[])
        for _ in range(count):
            row = m.scores[m.n_tokens - 1]
            second, best = np.argsort(row)[-2:]
            c["greedy"].append(int(best))
            c["margins"].append(round(float(row[best] - row[second]), 5))
            c["logits"].append([round(float(row[k]), 5) for k in kept])
            m.eval([int(best)])
        print(repr(prompt), "least margin", min(c["margins"]), repr(m.detokenize(c["greedy"]).decode(errors="replace")))
        cases.append(c)
    return dict(kept=kept, cases=cases)


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    p.add_argument("--out", required=True, type=pathlib.Path, help="this folder")
    p.add_argument("--model", help="SmolLM2's GGUF file")
    p.add_argument("--float32", type=pathlib.Path, help="where its float32 file is kept; else it is temporary")
    args = p.parse_args()
    file = args.out / "llamacpp.json"
    all = json.loads(file.read_text()) if file.exists() else {}

    small(args.out / "small.gguf", args.out / "../../gpt2/bpe/testdata/smollm/tokenizer.json")
    all["small"] = go_on(args.out / "small.gguf", ["In the beginning there were 123 lamps", "for (int i = 0; i < n; ++i) {\n", "<|im_start|>user\nit's"], 20)
    if args.model:
        numpys = json.loads((args.out / "smollm.json").read_text())
        with tempfile.TemporaryDirectory() as room:
            whole = args.float32 or pathlib.Path(room) / "float32.gguf"
            if not whole.exists():
                in_float32(args.model, whole)
            all["SmolLM2"] = go_on(whole, [(c["prompt"], c["tokens"]) for c in numpys["cases"]], 50, numpys["kept"])
    file.write_text(json.dumps(all, separators=(",", ":")) + "\n")


if __name__ == "__main__":
    main()
