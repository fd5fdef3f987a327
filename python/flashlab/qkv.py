"""One projection for q, k and v, and attention on it: bonus tasks b4 and b2."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from . import ops
from .errors import ArgumentError


def prepare_fused_qkv_weights(
    q_weight: Tensor, k_weight: Tensor, v_weight: Tensor,
    q_bias: Tensor | None = None, k_bias: Tensor | None = None, v_bias: Tensor | None = None,
) -> tuple[Tensor, Tensor | None]:  # fmt: skip
    """Join weights as torch.nn.Linear has them, [heads · dim, hidden], to one [hidden, outputs], and the biases to [outputs].

    Do it once: the joined weights are a copy.
    """
    weights, biases = (q_weight, k_weight, v_weight), (q_bias, k_bias, v_bias)
    for name, w in zip(("q_weight", "k_weight", "v_weight"), weights):
        if w.dim() != 2 or w.shape[1] != q_weight.shape[1]:
            raise ArgumentError(f"prepare_fused_qkv_weights: {name} is {list(w.shape)}, want [heads · dim, {q_weight.shape[-1]}]")
    if k_weight.shape != v_weight.shape:
        raise ArgumentError(f"prepare_fused_qkv_weights: k_weight is {list(k_weight.shape)} and v_weight {list(v_weight.shape)}: they have as many heads")
    given = [b is not None for b in biases]
    if any(given) and not all(given):
        raise ArgumentError("prepare_fused_qkv_weights: give all three biases, or none; zeros are a bias, too")
    weight = torch.cat(weights).t().contiguous()
    return weight, torch.cat(biases) if all(given) else None


def fused_qkv_attention(
    x: Tensor, weight: Tensor, bias: Tensor | None = None, *, heads: int, kv_heads: int | None = None,
    causal: bool = False, source: str = "student",
) -> Tensor:  # fmt: skip
    """Attention of x [batch, seq, hidden] with prepared weights: out is [batch, heads, seq, dim]."""
    q, k, v = ops.project(x, weight, bias, heads, kv_heads or heads, source=source)
    return ops.attention(q, k, v, causal, source="solution" if source.startswith("version:") else source)


class FusedQKVAttention(nn.Module):
    """An attention layer up to its output's projection, on [batch, seq, hidden]; the result is [batch, seq, heads · dim]."""

    def __init__(
        self, hidden: int, heads: int, kv_heads: int | None = None, *, dim: int | None = None, bias: bool = True,
        causal: bool = False, source: str = "student", device=None, dtype: torch.dtype = torch.float16,
    ) -> None:  # fmt: skip
        super().__init__()
        self.heads, self.kv_heads, self.causal, self.source = heads, kv_heads or heads, causal, source
        outputs = (self.heads + 2 * self.kv_heads) * (dim or hidden // heads)
        like = dict(device=device, dtype=dtype)
        self.weight = nn.Parameter(torch.randn(hidden, outputs, **like) * hidden**-0.5, requires_grad=False)
        self.bias = nn.Parameter(torch.zeros(outputs, **like), requires_grad=False) if bias else None

    @classmethod
    def from_linear(cls, q: nn.Linear, k: nn.Linear, v: nn.Linear, heads: int, kv_heads: int | None = None, **options) -> FusedQKVAttention:
        """The layer of three that are trained."""
        weight, bias = prepare_fused_qkv_weights(q.weight.detach(), k.weight.detach(), v.weight.detach(),
                                                 *(p.bias.detach() if p.bias is not None else None for p in (q, k, v)))  # fmt: skip
        dim = q.out_features // heads
        layer = cls(q.in_features, heads, kv_heads, dim=dim, bias=bias is not None, device=weight.device, dtype=weight.dtype, **options)
        layer.weight.copy_(weight)
        if bias is not None:
            layer.bias.copy_(bias)
        return layer

    def forward(self, x: Tensor) -> Tensor:
        out = fused_qkv_attention(x, self.weight, self.bias, heads=self.heads, kv_heads=self.kv_heads, causal=self.causal, source=self.source)
        return out.transpose(1, 2).flatten(2)
