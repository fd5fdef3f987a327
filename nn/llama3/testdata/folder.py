#!/usr/bin/env python3
"""Write a Llama in a GGUF file as a Hugging Face folder, its weights in float32.

    python3 folder.py SmolLM2-135M-Instruct.Q4_1.gguf FOLDER

transformers reads it, and so do `make chat MODEL=FOLDER` and `make ways MODEL=FOLDER`. The tokenizer is one of SmolLM2's kind.
Needs gguf, numpy, safetensors and tokenizers.
"""

import json
import pathlib
import sys

import gguf
import numpy as np
from safetensors.numpy import save_file
from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers

NAMES = {
    "attn_q": "self_attn.q_proj", "attn_k": "self_attn.k_proj", "attn_v": "self_attn.v_proj", "attn_output": "self_attn.o_proj",
    "attn_norm": "input_layernorm", "ffn_norm": "post_attention_layernorm",
    "ffn_gate": "mlp.gate_proj", "ffn_up": "mlp.up_proj", "ffn_down": "mlp.down_proj",
}  # fmt: skip


def write_folder(path: str, folder: pathlib.Path) -> None:
    reader = gguf.GGUFReader(path)
    meta = {name: field.contents() for name, field in reader.fields.items()}
    number = {name.removeprefix("llama."): value for name, value in meta.items() if name.startswith("llama.")}
    heads, kv_heads = number["attention.head_count"], number["attention.head_count_kv"]
    tensors = {}
    for t in reader.tensors:
        x = gguf.quants.dequantize(t.data, t.tensor_type).astype(np.float32).reshape(tuple(reversed(t.shape.tolist())))
        parts = t.name.split(".")
        if parts[0] == "blk":
            name = f"model.layers.{parts[1]}.{NAMES[parts[2]]}.weight"
            if parts[2] in ("attn_q", "attn_k"):  # pairs are neighbours in the file, and halves of a head in the folder
                n = heads if parts[2] == "attn_q" else kv_heads
                x = x.reshape(n, x.shape[0] // n // 2, 2, x.shape[1]).swapaxes(1, 2).reshape(x.shape)
        else:
            name = {"token_embd": "model.embed_tokens.weight", "output_norm": "model.norm.weight", "output": "lm_head.weight"}[parts[0]]
        tensors[name] = np.ascontiguousarray(x)
    folder.mkdir(parents=True, exist_ok=True)
    tokens, kinds = meta["tokenizer.ggml.tokens"], meta["tokenizer.ggml.token_type"]
    t = Tokenizer(models.BPE({t: i for i, t in enumerate(tokens)}, [tuple(m.split(" ")) for m in meta["tokenizer.ggml.merges"]]))
    t.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.Digits(individual_digits=True), pre_tokenizers.ByteLevel(add_prefix_space=False)])
    t.decoder = decoders.ByteLevel()
    t.add_special_tokens([AddedToken(text, normalized=False, special=True) for text, kind in zip(tokens, kinds) if kind == 3])
    t.save(str(folder / "tokenizer.json"))
    (folder / "chat_template.jinja").write_text(meta["tokenizer.chat_template"])
    config = dict(architectures=["LlamaForCausalLM"], model_type="llama", hidden_size=number["embedding_length"], num_hidden_layers=number["block_count"],
                  intermediate_size=number["feed_forward_length"], num_attention_heads=heads, num_key_value_heads=kv_heads,
                  max_position_embeddings=number["context_length"], rms_norm_eps=round(number["attention.layer_norm_rms_epsilon"], 9), rope_theta=number["rope.freq_base"],
                  vocab_size=len(tokens), tie_word_embeddings="lm_head.weight" not in tensors, torch_dtype="float32",
                  bos_token_id=meta.get("tokenizer.ggml.bos_token_id"), eos_token_id=meta["tokenizer.ggml.eos_token_id"])  # fmt: skip
    save_file(tensors, folder / "model.safetensors", metadata={"format": "pt"})
    (folder / "config.json").write_text(json.dumps(config, indent=2) + "\n")  # last: without it the folder is no model yet


if __name__ == "__main__":
    write_folder(sys.argv[1], pathlib.Path(sys.argv[2]))
