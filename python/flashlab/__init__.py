"""flashlab: the course's kernels, and yours, on PyTorch's tensors, and in flashlab.jax on JAX's arrays.

docs/python.md shows how. Names that need PyTorch or JAX import it when they are first used.
"""

from __future__ import annotations

import importlib

from .errors import ArgumentError, FlashlabError, KernelError, StubError
from .planner import reload

_TORCH = {
    "attention": "ops", "rope_attention": "ops", "int8_attention": "ops", "decode": "ops", "softmax": "ops", "gemm_nn": "ops", "gemm_nt": "ops",
    "fused_qkv_attention": "qkv", "prepare_fused_qkv_weights": "qkv", "FusedQKVAttention": "qkv",
    "register": "hf", "synchronize": "call",
}  # fmt: skip

__all__ = ["ArgumentError", "FlashlabError", "KernelError", "StubError", "reload", *_TORCH]


def __getattr__(name: str):
    if name == "jax":
        return importlib.import_module(".jax", __name__)
    if name not in _TORCH:
        raise AttributeError(f"module 'flashlab' has no attribute {name!r}")
    try:
        value = getattr(importlib.import_module(f".{_TORCH[name]}", __name__), name)
    except ModuleNotFoundError as e:
        if e.name == "torch":
            raise FlashlabError(f"flashlab.{name} needs PyTorch: pip install torch") from None
        raise
    globals()[name] = value
    return value
