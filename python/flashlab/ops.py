"""The operations, as functions on PyTorch's tensors.

Each is also a custom operator, torch.ops.flashlab.NAME, which torch.compile keeps whole. Outside of a
compilation the function starts the kernel itself: PyTorch's dispatcher would take longer than all the rest.
"""

from __future__ import annotations

import torch
from torch import Tensor

from . import shapes
from .call import call, direct



def attention(q: Tensor, k: Tensor, v: Tensor, causal: bool = False, *, source: str = "student") -> Tensor:
    """softmax(q·kᵀ/√dim)·v: q [batch, heads, seqQ, dim], k and v [batch, kvHeads, seqK, dim].

    float32 is task 4's kernel, float16 and bfloat16 are bonus task b2's. With causal, query i sees
    the keys 0 … i + seqK − seqQ.
    """
    if not direct("attention", q, k, v):
        return torch.ops.flashlab.attention(q, k, v, causal, source)
    return _attention(q, k, v, causal, source)


def _attention(q: Tensor, k: Tensor, v: Tensor, causal: bool, source: str) -> Tensor:
    out = torch.empty_like(q)
    call(source, ("attention", causal), ("q", "k", "v", "out"), (q, k, v), (out,), lambda: shapes.attention(q, k, v, causal))
    return out


def rope_attention(q: Tensor, k: Tensor, v: Tensor, start: Tensor, causal: bool = False, base: int = 10000, neighbours: bool = False, *,
                   source: str = "student") -> Tensor:  # fmt: skip
    """Attention of rotated queries and keys: q [batch, heads, seqQ, dim], k and v [batch, heads, seqK, dim], float32: bonus task b1's kernel.

    start is int32 [batch], on the GPU: query i of sequence b has position start[b] + i, and key j position j. Nobody
    looks at it before the kernel. With causal, a query sees the keys up to its own position. Pairs are a row's halves,
    or neighbours.
    """
    if not direct("rope_attention", q, k, v, start):
        return torch.ops.flashlab.rope_attention(q, k, v, start, causal, base, neighbours, source)
    return _rope_attention(q, k, v, start, causal, base, neighbours, source)


def _rope_attention(q: Tensor, k: Tensor, v: Tensor, start: Tensor, causal: bool, base: int, neighbours: bool, source: str) -> Tensor:
    out = torch.empty_like(q)
    call(source, ("rope_attention", causal, base, neighbours), ("q", "k", "v", "start", "out"), (q, k, v, start), (out,),
         lambda: shapes.rope_attention(q, k, v, start, causal, base, neighbours))  # fmt: skip
    return out


def int8_attention(q: Tensor, k: Tensor, v: Tensor, causal: bool = False, by_block: bool = True, *, source: str = "student") -> Tensor:
    """Attention by way of 8-bit codes: q [batch, heads, seqQ, dim], k and v [batch, kvHeads, seqK, dim], float16: bonus task b3's kernels.

    Scales are of blocks of 64 rows, with k's mean taken off, or of a tensor, with a zero. dim is 64 or 128.
    """
    if not direct("int8_attention", q, k, v):
        return torch.ops.flashlab.int8_attention(q, k, v, causal, by_block, source)
    return _int8_attention(q, k, v, causal, by_block, source)


def _int8_attention(q: Tensor, k: Tensor, v: Tensor, causal: bool, by_block: bool, source: str) -> Tensor:
    out = torch.empty_like(q)
    call(source, ("int8_attention", causal, by_block), ("q", "k", "v", "out"), (q, k, v), (out,),
         lambda: shapes.int8_attention(q, k, v, causal, by_block))  # fmt: skip
    return out


def decode(q: Tensor, k: Tensor, v: Tensor, lengths: Tensor, *, source: str = "student") -> Tensor:
    """One step against a cache: q [batch, heads, dim], k and v [batch, maxSeq, kvHeads, dim], lengths [batch].

    lengths are int32 on the GPU, 1 to maxSeq: slots that count. Nobody looks at them before the kernel.
    float32 is task 5's kernel, float16 and bfloat16 are bonus task b6's.
    """
    if not direct("decode", q, k, v, lengths):
        return torch.ops.flashlab.decode(q, k, v, lengths, source)
    return _decode(q, k, v, lengths, source)


def _decode(q: Tensor, k: Tensor, v: Tensor, lengths: Tensor, source: str) -> Tensor:
    out = torch.empty_like(q)
    call(source, ("decode",), ("q", "k", "v", "lengths", "out"), (q, k, v, lengths), (out,), lambda: shapes.decode(q, k, v, lengths))
    return out


def softmax(x: Tensor, dim: int = -1, *, source: str = "student") -> Tensor:
    """softmax along one dimension, float32: task 2's kernel."""
    if not direct("softmax", x):
        return torch.ops.flashlab.softmax(x, dim, source)
    return _softmax(x, dim, source)


def _softmax(x: Tensor, dim: int, source: str) -> Tensor:
    out = torch.empty_like(x)
    call(source, ("softmax", dim), ("x", "out"), (x,), (out,), lambda: shapes.softmax(x, dim))
    return out


def gemm_nn(a: Tensor, b: Tensor, *, source: str = "student") -> Tensor:
    """a · b: a […, m, k], b […, k, n], float32: task 2's kernel."""
    return _product(a, b, False, source)


def gemm_nt(a: Tensor, b: Tensor, *, source: str = "student") -> Tensor:
    """a · bᵀ: a […, m, k], b […, n, k], float32: task 2's kernel."""
    return _product(a, b, True, source)


def _product(a: Tensor, b: Tensor, trans_b: bool, source: str) -> Tensor:
    if not direct("gemm_nt" if trans_b else "gemm_nn", a, b):
        return torch.ops.flashlab.gemm(a, b, trans_b, source)
    return _gemm(a, b, trans_b, source)


def _gemm(a: Tensor, b: Tensor, trans_b: bool, source: str) -> Tensor:
    out = _product_of(a, b, trans_b)
    call(source, ("gemm", trans_b), ("a", "b", "out"), (a, b), (out,), lambda: shapes.gemm(a, b, trans_b))
    return out


def _product_of(a: Tensor, b: Tensor, trans_b: bool) -> Tensor:
    if min(a.dim(), b.dim()) < 2:
        shapes.gemm(a, b, trans_b)  # which says what is wrong
    return a.new_empty((*a.shape[:-1], b.shape[-2 if trans_b else -1]))


def project(x: Tensor, weight: Tensor, bias: Tensor | None, heads: int, kv_heads: int, *, source: str = "student") -> tuple[Tensor, Tensor, Tensor]:
    """q, k and v of x [batch, seq, hidden] in one launch, each [batch, heads, seq, dim]: bonus task b4's kernel."""
    if not direct("fused_qkv_attention", x, weight):
        return torch.ops.flashlab.project(x, weight, bias, heads, kv_heads, source)
    return _project(x, weight, bias, heads, kv_heads, source)


def _project(x: Tensor, weight: Tensor, bias: Tensor | None, heads: int, kv_heads: int, source: str) -> tuple[Tensor, Tensor, Tensor]:
    q, k, v = _projected(x, weight, bias, heads, kv_heads)
    names, inputs = ("x", "weight", "q", "k", "v"), (x, weight)
    if bias is not None:
        names, inputs = ("x", "weight", "bias", "q", "k", "v"), (x, weight, bias)
    call(source, ("project", heads, kv_heads), names, inputs, (q, k, v), lambda: shapes.projection(x, weight, bias, heads, kv_heads))
    return q, k, v


def _projected(x: Tensor, weight: Tensor, bias: Tensor | None, heads: int, kv_heads: int) -> tuple[Tensor, Tensor, Tensor]:
    if x.dim() != 3 or weight.dim() != 2 or min(heads, kv_heads) < 1:
        shapes.projection(x, weight, bias, heads, kv_heads)
    batch, seq, _ = x.shape
    dim = weight.shape[1] // (heads + 2 * kv_heads)
    return tuple(x.new_empty((batch, n, seq, dim)) for n in (heads, kv_heads, kv_heads))


def _define(name: str, kernel, fake) -> None:
    op = torch.library.custom_op(f"flashlab::{name}", kernel, mutates_args=(), device_types="cuda")
    op.register_fake(fake)


def _fake_attention(q, k, v, causal, source):
    shapes.attention(q, k, v, causal)
    return torch.empty_like(q)


def _fake_rope_attention(q, k, v, start, causal, base, neighbours, source):
    shapes.rope_attention(q, k, v, start, causal, base, neighbours)
    return torch.empty_like(q)


def _fake_int8_attention(q, k, v, causal, by_block, source):
    shapes.int8_attention(q, k, v, causal, by_block)
    return torch.empty_like(q)


def _fake_decode(q, k, v, lengths, source):
    shapes.decode(q, k, v, lengths)
    return torch.empty_like(q)


def _fake_softmax(x, dim, source):
    shapes.softmax(x, dim)
    return torch.empty_like(x)


def _fake_gemm(a, b, trans_b, source):
    shapes.gemm(a, b, trans_b)
    return _product_of(a, b, trans_b)


def _fake_project(x, weight, bias, heads, kv_heads, source):
    shapes.projection(x, weight, bias, heads, kv_heads)
    return _projected(x, weight, bias, heads, kv_heads)


_define("attention", _attention, _fake_attention)
_define("rope_attention", _rope_attention, _fake_rope_attention)
_define("int8_attention", _int8_attention, _fake_int8_attention)
_define("decode", _decode, _fake_decode)
_define("softmax", _softmax, _fake_softmax)
_define("gemm", _gemm, _fake_gemm)
_define("project", _project, _fake_project)
