"""The operations on JAX's arrays, through XLA's foreign functions.

A call is planned when it is traced, where shapes are known. What XLA runs later is handler.cpp, which replays the plan on XLA's
stream: under jax.jit no Python is left. jax.vmap makes one call after the other.
"""

from __future__ import annotations

import ctypes
import functools
import hashlib
import json
from dataclasses import dataclass, replace
from typing import Any, Sequence

from . import driver, native, shapes
from .errors import ArgumentError, FlashlabError
from .planner import Plan, Request, planner
from .replay import Replay, remembers

try:
    import jax
except ModuleNotFoundError:
    raise FlashlabError('flashlab.jax needs JAX: pip install "jax[cuda13]"') from None
import jax.numpy as jnp
import numpy as np

_TARGET = "flashlab"


def attention(q: Any, k: Any, v: Any, causal: bool = False, *, source: str = "student") -> jax.Array:
    """softmax(q·kᵀ/√dim)·v: q [batch, heads, seqQ, dim], k and v [batch, kvHeads, seqK, dim].

    float32 is task 4's kernel, float16 and bfloat16 are bonus task b2's. With causal, query i sees
    the keys 0 … i + seqK − seqQ.
    """
    return _attention(*_arrays("attention", q=q, k=k, v=v), bool(causal), source)


def rope_attention(q: Any, k: Any, v: Any, start: Any, causal: bool = False, base: int = 10000, neighbours: bool = False, *,
                   source: str = "student") -> jax.Array:  # fmt: skip
    """Attention of rotated queries and keys: q [batch, heads, seqQ, dim], k and v [batch, heads, seqK, dim], float32: bonus task b1's kernel.

    start is int32 [batch]: query i of sequence b has position start[b] + i, and key j position j. Nobody looks at it
    before the kernel. With causal, a query sees the keys up to its own position. Pairs are a row's halves, or neighbours.
    """
    return _rope_attention(*_arrays("rope_attention", q=q, k=k, v=v, start=start), bool(causal), base, bool(neighbours), source)


def int8_attention(q: Any, k: Any, v: Any, causal: bool = False, by_block: bool = True, *, source: str = "student") -> jax.Array:
    """Attention by way of 8-bit codes: q [batch, heads, seqQ, dim], k and v [batch, kvHeads, seqK, dim], float16: bonus task b3's kernels.

    Scales are of blocks of 64 rows, with k's mean taken off, or of a tensor, with a zero. dim is 64 or 128.
    """
    return _int8_attention(*_arrays("int8_attention", q=q, k=k, v=v), bool(causal), bool(by_block), source)


def decode(q: Any, k: Any, v: Any, lengths: Any, *, source: str = "student") -> jax.Array:
    """One step against a cache: q [batch, heads, dim], k and v [batch, maxSeq, kvHeads, dim], lengths [batch].

    lengths are int32, 1 to maxSeq: slots that count. Nobody looks at them before the kernel.
    float32 is task 5's kernel, float16 and bfloat16 are bonus task b6's.
    """
    return _decode(*_arrays("decode", q=q, k=k, v=v, lengths=lengths), source)


def softmax(x: Any, axis: int = -1, *, source: str = "student") -> jax.Array:
    """softmax along one axis, float32: task 2's kernel."""
    return _softmax(*_arrays("softmax", x=x), axis, source)


def gemm_nn(a: Any, b: Any, *, source: str = "student") -> jax.Array:
    """a · b: a […, m, k], b […, k, n], float32: task 2's kernel."""
    return _gemm(*_arrays("gemm_nn", a=a, b=b), False, source)


def gemm_nt(a: Any, b: Any, *, source: str = "student") -> jax.Array:
    """a · bᵀ: a […, m, k], b […, n, k], float32: task 2's kernel."""
    return _gemm(*_arrays("gemm_nt", a=a, b=b), True, source)


def _attention_of(q, k, v, causal, source):
    return _call(source, shapes.attention(_Traced(q), _Traced(k), _Traced(v), causal), {"q": q, "k": k, "v": v}, q)


def _rope_attention_of(q, k, v, start, causal, base, neighbours, source):
    request = shapes.rope_attention(*map(_Traced, (q, k, v, start)), causal, base, neighbours)
    return _call(source, request, {"q": q, "k": k, "v": v, "start": start}, q)


def _int8_attention_of(q, k, v, causal, by_block, source):
    return _call(source, shapes.int8_attention(*map(_Traced, (q, k, v)), causal, by_block), {"q": q, "k": k, "v": v}, q)


def _gemm_of(a, b, trans_b, source):
    request = shapes.gemm(_Traced(a), _Traced(b), trans_b)
    out = jax.ShapeDtypeStruct((*a.shape[:-1], b.shape[-2 if trans_b else -1]), a.dtype)
    return _call(source, request, {"a": a, "b": b}, out)


def _decode_of(q, k, v, lengths, source):
    request = shapes.decode(*map(_Traced, (q, k, v, lengths)))
    return _call(source, request, {"q": q, "k": k, "v": v, "lengths": lengths}, q)


def _softmax_of(x, axis, source):
    return _call(source, shapes.softmax(_Traced(x), axis), {"x": x}, x)


_attention = jax.jit(_attention_of, static_argnums=(3, 4))
_rope_attention = jax.jit(_rope_attention_of, static_argnums=(4, 5, 6, 7))
_int8_attention = jax.jit(_int8_attention_of, static_argnums=(3, 4, 5))
_gemm = jax.jit(_gemm_of, static_argnums=(2, 3))
_decode = jax.jit(_decode_of, static_argnums=4)
_softmax = jax.jit(_softmax_of, static_argnums=(1, 2))


class _Programs:
    """What JAX has traced holds the plans of the time, in functions of the user's, too."""

    def clear(self) -> None:
        jax.clear_caches()


remembers(_Programs())


def _arrays(op: str, **given: Any) -> list[jax.Array]:
    """Arrays, of which none lies elsewhere than on a GPU. What is traced has no place yet."""
    _devices()
    arrays = []
    for name, x in given.items():
        if not isinstance(x, jax.Array):
            x = jnp.asarray(x)
        where = "" if isinstance(x, jax.core.Tracer) else next(iter(x.devices())).platform
        if where not in ("", "gpu", "cuda"):
            raise ArgumentError(f'{op}: {name} is on the device {where}: move it with jax.device_put({name}, jax.devices("cuda")[0])')
        arrays.append(x)
    return arrays


class _Traced:
    """An array as shapes.py looks at one. XLA lays it out without gaps, on one GPU with the others."""

    device = "gpu"

    def __init__(self, x: jax.Array) -> None:
        self.shape, self.dtype = x.shape, x.dtype

    def is_contiguous(self) -> bool:
        return True


@functools.cache
def _devices() -> tuple[int, ...]:
    """The numbers that CUDA gives to this process's GPUs."""
    try:
        return tuple(d.local_hardware_id for d in jax.local_devices(backend="cuda"))
    except RuntimeError:
        raise FlashlabError('no GPU: JAX sees none; pip install "jax[cuda13]" on a machine that has one') from None


@dataclass(frozen=True)
class _Planned:
    op: str
    key: int  # of the plan's content; handler.cpp finds the plan by it
    scratch: int


_replays: dict[tuple[int, int], Replay] = {}  # kept for good: compiled programs name them
_planned: dict[tuple[str, Request], _Planned] = remembers({})


def _call(source: str, request: Request, inputs: dict[str, jax.Array], like: jax.Array | jax.ShapeDtypeStruct) -> jax.Array:
    """The output has the shape and type of another array."""
    key = source, request
    if key not in _planned:
        _planned[key] = _plan(source, request, (*inputs, "out"))
    return _launch(_planned[key], like.shape, like.dtype, *inputs.values())


def _plan(source: str, request: Request, names: Sequence[str]) -> _Planned:
    library = _library()
    offsets = tuple((name, 0) for name in names)  # handler.cpp looks whether XLA's buffers are aligned
    devices = _devices()
    plan = planner(request.program, source).plan(replace(request, offsets=offsets), driver.gpu(devices[0]))
    key = _key(plan)
    for device in devices:
        if (key, device) not in _replays:
            one = _replays[key, device] = Replay(plan, device, names, driver.Memory)
            library.flashlab_register(ctypes.c_int64(key), ctypes.c_int64(device), ctypes.byref(one.struct))
    return _Planned(request.op, key, _replays[key, devices[0]].scratch_bytes)


def _key(plan: Plan) -> int:
    content = hashlib.sha256(json.dumps([plan.blocks, plan.steps, [m["key"] for m in plan.modules]]).encode())
    for cubin in plan.cubins:
        content.update(cubin)
    return int.from_bytes(content.digest()[:8], "little") >> 1  # JAX has no attributes above 2⁶³


@functools.cache
def _library() -> ctypes.PyDLL:
    library = native.library("handler", jax.ffi.include_dir())
    for handler, platform in (library.flashlab_cuda, "CUDA"), (library.flashlab_cpu, "cpu"):
        jax.ffi.register_ffi_target(_TARGET, jax.ffi.pycapsule(handler), platform=platform)
    return library


@functools.partial(jax.custom_jvp, nondiff_argnums=(0, 1, 2))
def _launch(planned: _Planned, shape: tuple[int, ...], dtype: Any, *inputs: jax.Array) -> jax.Array:
    results = [jax.ShapeDtypeStruct(shape, dtype)]
    if planned.scratch:
        results.append(jax.ShapeDtypeStruct((planned.scratch,), jnp.uint8))
    return jax.ffi.ffi_call(_TARGET, results, vmap_method="sequential")(*inputs, plan=np.int64(planned.key))[0]


@_launch.defjvp
def _no_gradient(planned: _Planned, *_):
    raise ArgumentError(f"{planned.op}: a gradient is asked for, and the course's kernels have no backward: use jax.lax.stop_gradient on the inputs")
