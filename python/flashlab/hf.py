"""Our kernels as an attention implementation of transformers: attn_implementation="flashlab"."""

from __future__ import annotations

import functools
import math
import sys

import torch
from torch import Tensor

from . import ops
from .errors import ArgumentError, FlashlabError


def register(name: str = "flashlab", *, source: str = "student") -> None:
    """Make attn_implementation=name known to transformers.

    Prompts take the attention kernel (task 4; b2 in halves), single tokens the decoding kernel (task 5; b6).
    """
    try:
        from transformers import AttentionInterface
        from transformers.masking_utils import AttentionMaskInterface
    except ImportError as e:
        raise FlashlabError(f"register() needs transformers 4.53 or newer ({e}): pip install transformers") from None

    def attend(module, query, key, value, attention_mask, scaling=None, dropout=0.0, **others):
        return _attend(module, query, key, value, attention_mask, scaling, dropout, source, others), None

    AttentionInterface.register(name, attend)
    AttentionMaskInterface.register(name, _no_mask)
    _is_not_flash_attention(name)


def _is_not_flash_attention(name: str) -> None:
    """transformers takes every name with "flash" in it for a kind of FlashAttention, and would look for that package."""
    from transformers.utils import generic

    asks = getattr(generic, "is_flash_attention_requested", None)
    if asks is None or "flash" not in name:
        return

    @functools.wraps(asks)
    def ask(config=None, requested_attention_implementation=None, *others, **more):
        named = requested_attention_implementation if config is None else getattr(config, "_attn_implementation", None)
        return False if named == name else asks(config, requested_attention_implementation, *others, **more)

    for module in [m for key, m in sys.modules.items() if key.split(".")[0] == "transformers"]:
        if vars(module).get("is_flash_attention_requested") is asks:
            module.is_flash_attention_requested = ask


def _no_mask(batch_size=None, *places, attention_mask=None, mask_function=None, **others) -> None:
    """Masks are causal or none here: what is more than that is refused, never left out silently."""
    from transformers.masking_utils import causal_mask_function

    if mask_function is not None and mask_function is not causal_mask_function:
        raise ArgumentError('attn_implementation="flashlab" has the causal mask alone, no window and no packing: use "sdpa" for this model')
    if attention_mask is not None and not bool(attention_mask.all()):
        raise ArgumentError('attn_implementation="flashlab" takes no padding: give it sequences of one length, or use "sdpa"')
    length, offset, keys = others.get("q_length"), others.get("q_offset", 0), others.get("kv_length")
    if length is not None and keys is not None and keys != length + int(offset):
        raise ArgumentError('attn_implementation="flashlab" wants a cache that grows: leave cache_implementation="static" out')


def _attend(module, q: Tensor, k: Tensor, v: Tensor, mask, scaling, dropout: float, source: str, others: dict) -> Tensor:
    if mask is not None:
        raise ArgumentError('attn_implementation="flashlab" takes no mask besides the causal one: use "sdpa" for this model')
    if dropout:
        raise ArgumentError('attn_implementation="flashlab" has no dropout: call model.eval()')
    if others.get("sliding_window") is not None and others["sliding_window"] < k.shape[2]:
        raise ArgumentError('attn_implementation="flashlab" has no sliding window: use "sdpa" for this model')
    batch, heads, seq, dim = q.shape
    usual = 1 / math.sqrt(dim)
    if scaling is not None and not math.isclose(scaling, usual, rel_tol=1e-6):
        q = q * (scaling / usual)
    k, v = k.contiguous(), v.contiguous()
    if seq == 1:
        return _step(q, k, v, source).unsqueeze(1)
    causal = others.get("is_causal")
    causal = getattr(module, "is_causal", True) if causal is None else causal
    if q.dtype == torch.float32 and k.shape[1] != heads:  # task 4 shares no heads
        k, v = (t.repeat_interleave(heads // t.shape[1], dim=1) for t in (k, v))
    out = ops.attention(q.contiguous(), k, v, bool(causal), source=source)
    return out.transpose(1, 2).contiguous()


def _step(q: Tensor, k: Tensor, v: Tensor, source: str) -> Tensor:
    """One token: out [batch, heads, dim].

    transformers' cache is [batch, kvHeads, seq, dim]. Each key head of each sequence passes for a
    sequence of its own with a single key head, which is the kernels' layout without a copy.
    """
    batch, heads, _, dim = q.shape
    kv_heads, keys = k.shape[1], k.shape[2]
    flat = (batch * kv_heads, keys, 1, dim)
    lengths = torch.full((batch * kv_heads,), keys, dtype=torch.int32, device=q.device)
    out = ops.decode(q.reshape(batch * kv_heads, heads // kv_heads, dim).contiguous(), k.view(flat), v.view(flat), lengths, source=source)
    return out.view(batch, heads, dim)
