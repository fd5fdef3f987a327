#!/usr/bin/env python3
"""Write blocks.json: random blocks of each type that nn/gguf reads, and the numbers that the package gguf makes of them.

    python3 blocks.py > blocks.json

Needs gguf (0.17) and numpy. gguf is llama.cpp's own Python package, and shares no code with nn/gguf.
"""

import base64
import json

import gguf
import numpy as np

TYPES = {"F32": 8, "F16": 8, "BF16": 8, "Q4_0": 3, "Q4_1": 3, "Q8_0": 3, "Q4_K": 2, "Q6_K": 2}
HALVES = {"Q4_0": [0], "Q4_1": [0, 2], "Q8_0": [0], "Q4_K": [0, 2], "Q6_K": [208]}  # where a block has float16s


def main():
    random, out = np.random.default_rng(7), []
    for name, blocks in TYPES.items():
        kind = gguf.GGMLQuantizationType[name]
        block, size = gguf.GGML_QUANT_SIZES[kind]
        raw = random.integers(0, 256, (blocks, size), dtype=np.uint8)
        for at in HALVES.get(name, []):
            raw[:, at : at + 2] = random.normal(0, 0.1, blocks).astype(np.float16).view(np.uint8).reshape(blocks, 2)
        if name == "F32":
            raw = random.normal(0, 1, blocks).astype(np.float32).view(np.uint8).reshape(blocks, 4)
        if name == "F16":
            raw = random.normal(0, 1, blocks).astype(np.float16).view(np.uint8).reshape(blocks, 2)
        if name == "BF16":
            raw = (random.normal(0, 1, blocks).astype(np.float32).view(np.uint32) >> 16).astype(np.uint16).view(np.uint8).reshape(blocks, 2)
        values = raw.view(np.float16).astype(np.float32) if name == "F16" else gguf.quants.dequantize(raw.reshape(-1) if name == "F32" else raw, kind)
        if name == "F32":
            values = raw.reshape(-1).view(np.float32)
        out.append({"name": name, "type": int(kind), "raw": base64.b64encode(raw.tobytes()).decode(),
                    "values": [float(v) for v in np.asarray(values, np.float32).reshape(-1)]})
    print(json.dumps(out, separators=(",", ":")))


if __name__ == "__main__":
    main()
