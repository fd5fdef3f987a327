"""What each operation takes: checks that need no GPU and no PyTorch, and the request that comes of them.

A tensor is anything with shape, dtype, device and is_contiguous().
"""

from __future__ import annotations

from math import prod
from typing import Any

from .errors import ArgumentError
from .planner import Request

HALVES = ("float16", "bfloat16")


def dtype_of(t: Any) -> str:
    """'float32' of torch.float32, of numpy's, and of JAX's."""
    return str(getattr(t.dtype, "name", t.dtype)).removeprefix("torch.")


def shown(t: Any) -> str:
    return f"{dtype_of(t)} [{', '.join(map(str, t.shape))}]"


def _same(op: str, tensors: dict[str, Any], types: tuple[str, ...]) -> str:
    """All tensors are of one type that the operation has, on one GPU, and without gaps."""
    (first, one), *others = tensors.items()
    dtype = dtype_of(one)
    if dtype not in types:
        raise ArgumentError(f"{op}: {first} is {dtype}; this operation takes {' or '.join(types)}: convert it")
    for name, t in tensors.items():
        where = getattr(t.device, "type", t.device)
        if where not in ("cuda", "gpu", "meta"):
            raise ArgumentError(f"{op}: {name} is on the device {where}: move it to a GPU with {name}.cuda()")
        if not t.is_contiguous():
            raise ArgumentError(f"{op}: {name} {shown(t)} is not contiguous: call {name}.contiguous() first")
        if min(t.shape, default=1) < 1:
            raise ArgumentError(f"{op}: {name} {shown(t)} is empty: every dimension must be at least 1")
    for name, t in others:
        if dtype_of(t) != dtype:
            raise ArgumentError(f"{op}: {name} is {dtype_of(t)} and {first} {dtype}: give them one type")
        if t.device != one.device:
            raise ArgumentError(f"{op}: {name} is on {t.device} and {first} on {one.device}: move them to one GPU")
    return dtype


def _rank(op: str, name: str, t: Any, dims: str) -> None:
    if len(t.shape) != len(dims.split(",")):
        raise ArgumentError(f"{op}: {name} is {shown(t)}, want [{dims}]")


def _want(op: str, name: str, t: Any, want: tuple[int, ...], dims: str) -> None:
    if tuple(t.shape) != want:
        raise ArgumentError(f"{op}: {name} is {shown(t)}, want [{dims}], which is {list(want)} here")


def attention(q: Any, k: Any, v: Any, causal: bool) -> Request:
    op = "attention"
    dtype = _same(op, {"q": q, "k": k, "v": v}, ("float32", *HALVES))
    sizes = _sizes(op, q, k, v, causal)
    heads, kv_heads = sizes["heads"], sizes["kvHeads"]
    if dtype == "float32" and heads != kv_heads:
        raise ArgumentError(
            f"{op}: task 4's kernel wants as many key heads as query heads, not {kv_heads} and {heads}: "
            "repeat them with k.repeat_interleave(…, dim=1), or jnp.repeat(k, …, axis=1)"
        )
    return _request("flash" if dtype == "float32" else "halves", op, dtype, sizes)


def _sizes(op: str, q: Any, k: Any, v: Any, causal: bool) -> dict[str, int]:
    """Those of an attention, whose tensors fit together."""
    _rank(op, "q", q, "batch, heads, seqQ, dim")
    _rank(op, "k", k, "batch, kvHeads, seqK, dim")
    batch, heads, seq_q, dim = q.shape
    kv_heads, seq_k = k.shape[1], k.shape[2]
    _want(op, "k", k, (batch, kv_heads, seq_k, dim), "batch, kvHeads, seqK, dim")
    _want(op, "v", v, tuple(k.shape), "batch, kvHeads, seqK, dim")
    if heads % kv_heads:
        raise ArgumentError(f"{op}: {heads} query heads cannot share {kv_heads} key heads evenly")
    return dict(batch=batch, heads=heads, kvHeads=kv_heads, seqQ=seq_q, seqK=seq_k, dim=dim, causal=int(bool(causal)))


def rope_attention(q: Any, k: Any, v: Any, start: Any, causal: bool, base: int, neighbours: bool) -> Request:
    op = "rope_attention"
    _same(op, {"q": q, "k": k, "v": v}, ("float32",))
    _same(op, {"start": start}, ("int32",))
    if start.device != q.device:
        raise ArgumentError(f"{op}: start is on {start.device} and q on {q.device}: move them to one GPU")
    sizes = _sizes(op, q, k, v, causal)
    if sizes["heads"] != sizes["kvHeads"]:
        raise ArgumentError(f"{op}: task b1's kernel wants as many key heads as query heads, not {sizes['kvHeads']} and {sizes['heads']}: repeat them")
    _want(op, "start", start, (sizes["batch"],), "batch")
    if base != int(base) or base < 2:
        raise ArgumentError(f"{op}: base is {base}: want a whole number above 1, such as 10000")
    return _request("rope", op, "float32", sizes | dict(base=int(base), neighbours=int(bool(neighbours))))


def int8_attention(q: Any, k: Any, v: Any, causal: bool, by_block: bool) -> Request:
    op = "int8_attention"
    dtype = _same(op, {"q": q, "k": k, "v": v}, ("float16",))
    return _request("codes", op, dtype, _sizes(op, q, k, v, causal) | dict(byBlock=int(bool(by_block))))


def decode(q: Any, k: Any, v: Any, lengths: Any) -> Request:
    op = "decode"
    dtype = _same(op, {"q": q, "k": k, "v": v}, ("float32", *HALVES))
    _same(op, {"lengths": lengths}, ("int32",))
    if lengths.device != q.device:
        raise ArgumentError(f"{op}: lengths is on {lengths.device} and q on {q.device}: move them to one GPU")
    _rank(op, "q", q, "batch, heads, dim")
    _rank(op, "k", k, "batch, maxSeq, kvHeads, dim")
    batch, heads, dim = q.shape
    max_seq, kv_heads = k.shape[1], k.shape[2]
    _want(op, "k", k, (batch, max_seq, kv_heads, dim), "batch, maxSeq, kvHeads, dim")
    _want(op, "v", v, tuple(k.shape), "batch, maxSeq, kvHeads, dim")
    _want(op, "lengths", lengths, (batch,), "batch")
    if heads % kv_heads:
        raise ArgumentError(f"{op}: {heads} query heads cannot share {kv_heads} key heads evenly")
    sizes = dict(batch=batch, heads=heads, kvHeads=kv_heads, maxSeq=max_seq, dim=dim)
    return _request("decode" if dtype == "float32" else "halvesdecode", op, dtype, sizes)


def softmax(x: Any, dim: int) -> Request:
    op = "softmax"
    dtype = _same(op, {"x": x}, ("float32",))
    rank = len(x.shape)
    if not -rank <= dim < rank:
        raise ArgumentError(f"{op}: x {shown(x)} has no dimension {dim}")
    at = dim % rank
    sizes = dict(outer=prod(x.shape[:at]), len=x.shape[at], inner=prod(x.shape[at + 1 :]))
    return _request("unfused", op, dtype, sizes)


def gemm(a: Any, b: Any, trans_b: bool) -> Request:
    op = "gemm_nt" if trans_b else "gemm_nn"
    dims = "…, n, k" if trans_b else "…, k, n"
    dtype = _same(op, {"a": a, "b": b}, ("float32",))
    for name, t, want in ("a", a, "…, m, k"), ("b", b, dims):
        if len(t.shape) < 2:
            raise ArgumentError(f"{op}: {name} is {shown(t)}, want [{want}]")
    *batch, m, k = a.shape
    n = b.shape[-2] if trans_b else b.shape[-1]
    _want(op, "b", b, (*batch, n, k) if trans_b else (*batch, k, n), dims)
    sizes = dict(batch=prod(batch), m=m, n=n, k=k, transB=int(trans_b))
    return _request("unfused", "gemm", dtype, sizes)


def projection(x: Any, weight: Any, bias: Any, heads: int, kv_heads: int) -> Request:
    op = "fused_qkv_attention"
    tensors = {"x": x, "weight": weight} | ({} if bias is None else {"bias": bias})
    dtype = _same(op, tensors, HALVES)
    _rank(op, "x", x, "batch, seq, hidden")
    _rank(op, "weight", weight, "hidden, outputs")
    batch, seq, hidden = x.shape
    outputs = weight.shape[1]
    _want(op, "weight", weight, (hidden, outputs), "hidden, outputs")
    if min(heads, kv_heads) < 1 or heads % kv_heads:
        raise ArgumentError(f"{op}: {heads} query heads cannot share {kv_heads} key heads evenly")
    if outputs % (heads + 2 * kv_heads):
        raise ArgumentError(
            f"{op}: weight is {shown(weight)}, and its {outputs} columns are not those of {heads} + 2·{kv_heads} heads: "
            "make it with prepare_fused_qkv_weights"
        )
    if bias is not None:
        _want(op, "bias", bias, (outputs,), "outputs")
    sizes = dict(batch=batch, seq=seq, hidden=hidden, heads=heads, kvHeads=kv_heads,
                 dim=outputs // (heads + 2 * kv_heads), biased=int(bias is not None))  # fmt: skip
    return _request("projection", "project", dtype, sizes)


def _request(program: str, op: str, dtype: str, sizes: dict[str, int]) -> Request:
    return Request(program, op, dtype, tuple((name, int(n)) for name, n in sizes.items()))
