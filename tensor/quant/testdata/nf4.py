"""Writes nf4_*.npy: what bitsandbytes makes of numbers, for TestNF4AsBitsandbytes.

    pip install torch bitsandbytes numpy
    python nf4.py
"""

import numpy as np
import torch
from bitsandbytes.functional import dequantize_4bit, quantize_4bit

device = "cuda" if torch.cuda.is_available() else "cpu"
rng = np.random.default_rng(4)
x = rng.standard_normal(300 * 64 + 40).astype(np.float32)  # the last block is short
x[::97] *= 50
x[128:192] = np.linspace(-1, 1, 64)
held = {"x": x}
for name, double in ("plain", False), ("double", True):
    packed, state = quantize_4bit(
        torch.from_numpy(x).to(device), blocksize=64, quant_type="nf4", compress_statistics=double
    )
    held[name + "_codes"] = packed.flatten().cpu().numpy()
    held[name + "_scales"] = state.absmax.cpu().numpy()
    if double:
        held["mean"] = np.float32(state.offset.item())
        held["second"] = state.state2.absmax.cpu().numpy()
        held["table"] = state.state2.code.cpu().numpy()
held["numbers"] = dequantize_4bit(packed, state).flatten().cpu().numpy()  # of double
for name, values in held.items():
    np.save(f"nf4_{name}.npy", np.atleast_1d(values))
print("bitsandbytes on", device, {n: v.shape for n, v in held.items()})
