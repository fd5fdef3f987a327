#!/usr/bin/env python3
"""Write written.gguf: a Llama of a few numbers, by llama.cpp's own Python package (gguf), which shares no code with nn/gguf.

    python3 written.py written.gguf

Needs gguf and numpy.
"""

import sys

import gguf
import numpy as np


def main():
    w = gguf.GGUFWriter(sys.argv[1], "llama")
    w.add_context_length(5)
    w.add_embedding_length(4)
    w.add_block_count(1)
    w.add_feed_forward_length(3)
    w.add_head_count(2)
    w.add_head_count_kv(1)
    w.add_layer_norm_rms_eps(1e-5)
    w.add_rope_dimension_count(2)
    w.add_rope_freq_base(10000.0)
    w.add_tokenizer_model("gpt2")
    w.add_tokenizer_pre("smollm")
    w.add_token_list(["a", "b", "ab", "<|im_end|>", "c", "d", "e"])
    w.add_token_types([1, 1, 1, 3, 1, 1, 1])
    w.add_token_merges(["a b"])
    w.add_eos_token_id(3)
    shapes = {"token_embd": (7, 4), "output_norm": (4,), "blk.0.attn_norm": (4,), "blk.0.ffn_norm": (4,), "blk.0.attn_q": (4, 4), "blk.0.attn_k": (2, 4),
              "blk.0.attn_v": (2, 4), "blk.0.attn_output": (4, 4), "blk.0.ffn_gate": (3, 4), "blk.0.ffn_up": (3, 4), "blk.0.ffn_down": (4, 3)}
    for name, shape in shapes.items():  # 0, 1, 2 … in each
        w.add_tensor(name + ".weight", np.arange(np.prod(shape), dtype=np.float32).reshape(shape))
    w.add_tensor("rope_freqs.weight", np.array([8], np.float32))
    w.write_header_to_file()
    w.write_kv_data_to_file()
    w.write_tensors_to_file()
    w.close()


if __name__ == "__main__":
    main()
