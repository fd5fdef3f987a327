"""Attention and decoding, as one has them without the course. Each gets tensors in the layout that it likes best."""

import torch
import torch.nn.functional as F
from torch.nn.attention import SDPBackend, sdpa_kernel

from kinds import Call


def heads_of(work):
    """Makes q, k and v [batch, heads, seq, dim]; a cache is seen with its heads apart."""
    if "slots" not in work.sizes:
        return lambda q, k, v: (q, k, v)
    batch, heads, shared, slots, dim = (work.sizes[n] for n in ("batch", "heads", "kvheads", "slots", "dim"))
    apart = lambda x: x.view(batch, slots, shared, dim).transpose(1, 2)
    return lambda q, k, v: (q.view(batch, heads, 1, dim), apart(k), apart(v))


def scaled(work, backend, ready=None):
    grouped = work.sizes.get("kvheads", work.sizes["heads"]) != work.sizes["heads"]

    def run(given):
        with sdpa_kernel(backend):
            return F.scaled_dot_product_attention(*given, is_causal=work.causal, enable_gqa=grouped)

    return Call(run, ready or heads_of(work))


def sdpa(work):
    return scaled(work, SDPBackend.EFFICIENT_ATTENTION)


def math(work):
    return scaled(work, SDPBackend.MATH)


def flash(work):
    return scaled(work, SDPBackend.FLASH_ATTENTION)


def cudnn(work):
    return scaled(work, SDPBackend.CUDNN_ATTENTION)


def half(work):
    """The same in half precision: to show what comparing unlike with like does."""
    return scaled(work, SDPBackend.FLASH_ATTENTION, lambda *tensors: [t.half() for t in tensors])


def cached(work):
    """A step of decoding from a cache of halves, where the course's is compressed. Its numbers are its own, which
    makes no difference to the time."""
    batch, heads, shared, slots, dim = (work.sizes[n] for n in ("batch", "heads", "kvheads", "slots", "dim"))
    k, v = (torch.randn(batch, slots, shared, dim, device="cuda", dtype=torch.half).transpose(1, 2) for _ in range(2))
    call = scaled(work, SDPBackend.CUDNN_ATTENTION)
    return Call(call.run, lambda q, *_: (q.view(batch, heads, 1, dim).half(), k, v))


def fa4(work):
    """FlashAttention-4: kernels in the CuTe DSL, compiled when they are first called. Tokens come before heads."""
    from flash_attn.cute import flash_attn_func

    more = {}
    if "slots" in work.sizes:  # one query: the heads that share keys are a tile together
        batch, heads, shared, slots, dim = (work.sizes[n] for n in ("batch", "heads", "kvheads", "slots", "dim"))
        more = {"pack_gqa": True, "num_splits": 1}
        ready = lambda q, k, v: (q.view(batch, 1, heads, dim), k.view(batch, slots, shared, dim), v.view(batch, slots, shared, dim))
    else:
        ready = lambda *tensors: [t.transpose(1, 2).contiguous() for t in tensors]

    def run(given):
        out = flash_attn_func(*given, causal=work.causal, **more)
        return out[0] if isinstance(out, tuple) else out

    return Call(run, ready, lambda out: out.transpose(1, 2))


def sage(work):
    """SageAttention 1, in Triton: scores from codes of 8 bits, quantising included."""
    from sageattention import sageattn

    return Call(lambda given: sageattn(*given, is_causal=work.causal))


def multihead(work):
    """The whole module with its projections, which is more work. Each of them multiplies
    by one and adds zeros, so that the output is attention's own."""
    heads, width = work.sizes["heads"], work.sizes["heads"] * work.sizes["dim"]
    module = torch.nn.MultiheadAttention(width, heads, batch_first=True, device="cuda").eval()
    with torch.no_grad():
        one = torch.eye(width, device="cuda")
        module.in_proj_weight.copy_(one.repeat(3, 1))
        module.out_proj.weight.copy_(one)
    mask = torch.nn.Transformer.generate_square_subsequent_mask(work.sizes["seqq"], device="cuda") if work.causal else None
    return Call(lambda given: module(*given, need_weights=False, attn_mask=mask, is_causal=work.causal)[0],
                lambda *tensors: [t.transpose(1, 2).flatten(2) for t in tensors],  # [batch, seq, heads × dim], copies
                lambda out: out.unflatten(2, (heads, -1)).transpose(1, 2))


def rotated(work):
    """RoPE as it is written in PyTorch, then attention: task b1 without the fusion. Pairs are a half of the dimension apart."""
    if work.op != "rope_halves":
        raise ValueError(f"{work.op} pairs its numbers otherwise")
    dim, seq = work.sizes["dim"], max(work.sizes["seqq"], work.sizes["seqk"])
    frequencies = float(work.sizes["base"]) ** (-torch.arange(0, dim, 2, device="cuda", dtype=torch.double) / dim)
    angles = torch.outer(torch.arange(seq, device="cuda", dtype=torch.double), frequencies)
    cos, sin = angles.cos().float(), angles.sin().float()

    def rotate(x):
        a, b = x.chunk(2, -1)
        c, s = cos[seq - x.shape[2] :], sin[seq - x.shape[2] :]
        return torch.cat((a * c - b * s, a * s + b * c), -1)

    attend = scaled(work, SDPBackend.EFFICIENT_ATTENTION)
    return Call(lambda given: attend.run((rotate(given[0]), rotate(given[1]), given[2])))
