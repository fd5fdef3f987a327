"""Linear layers: projections of one input, and weights of four bits. Those of four bits have weights of their own, in
their own format, and are held against the same product in float32 when they are made."""

import torch
import torch.nn.functional as F

from kinds import Call

GROUP = 128  # numbers that share a scale


def sizes_of(work):
    """Rows, and what goes in and comes out of each."""
    z = work.sizes
    if "n" in z:
        return z["rows"], z["k"], z["n"]
    return z["batch"] * z["seq"], z["hidden"], (z["heads"] + 2 * z["kvheads"]) * z["dim"]


def proved(work, call, weights, allowed):
    """The call, if its product of random rows is that of weights [n, k] up to a share of its size."""
    rows, k, _ = sizes_of(work)
    x = torch.randn(rows, k, device="cuda", dtype=torch.half)
    want = F.linear(x.float(), weights.float())
    off = ((call.run(call.ready(x)).float().view_as(want) - want).norm() / want.norm()).item()
    if not off <= allowed:
        raise RuntimeError(f"its product is off by {off:.2g} of its size ({allowed} is allowed)")
    return call


def by_rows(work):
    """The rows of x alone: whatever else a case has is the course's format."""
    rows, k, _ = sizes_of(work)
    return lambda x, *_: (x.view(rows, k),)


def joined(work):
    """One product with all of q's, k's and v's weights, its bias, and a copy of each part in the order of heads."""
    return projections(work, lambda parts: [(torch.cat([w for w, _ in parts]), torch.cat([b for _, b in parts]))])


def three(work):
    """A product for each of q, k and v."""
    return projections(work, lambda parts: parts)


def projections(work, laid):
    """Weights come as [hidden, outputs], and are laid out as a linear layer has them before the time is taken."""
    z = work.sizes
    batch, seq, dim = z["batch"], z["seq"], z["dim"]
    counts = [z["heads"], z["kvheads"], z["kvheads"]]

    def ready(x, w, bias=None):
        if bias is None:
            bias = torch.zeros(w.shape[-1], device="cuda", dtype=w.dtype)
        widths = [n * dim for n in counts]
        parts = zip(w.view(z["hidden"], -1).split(widths, 1), bias.split(widths))
        return x.view(batch, seq, -1), laid([(part.t().contiguous(), b.contiguous()) for part, b in parts])

    def run(given):
        x, parts = given
        out = [F.linear(x, w, b) for w, b in parts]
        if len(out) == 1:
            out = out[0].split([n * dim for n in counts], -1)
        return [y.view(batch, seq, -1, dim).transpose(1, 2).contiguous() for y in out]

    return Call(run, ready, lambda out: out[0])


def int4pack(work):
    """PyTorch's own product with weights of four bits, which torchao's int4 is: in bfloat16."""
    _, k, n = sizes_of(work)
    codes = torch.randint(0, 16, (n, k), device="cuda", dtype=torch.int32)
    packed = torch.ops.aten._convert_weight_to_int4pack((codes[:, ::2] << 4 | codes[:, 1::2]).to(torch.uint8), 8)
    scales = (torch.rand(k // GROUP, n, 2, device="cuda") * 0.1 + 0.05).bfloat16()  # and what stands for code 8
    spread = lambda x: x.t().float().repeat_interleave(GROUP, 1)
    weights = (codes - 8) * spread(scales[..., 0]) + spread(scales[..., 1])
    rows = by_rows(work)
    call = Call(lambda given: torch.ops.aten._weight_int4pack_mm(given[0], packed, GROUP, scales),
                lambda *tensors: (rows(*tensors)[0].bfloat16(),))
    return proved(work, call, weights, 0.02)


def bitsandbytes(work):
    """bitsandbytes' NF4, in blocks of 64."""
    import bitsandbytes as library
    import bitsandbytes.functional as functional

    _, k, n = sizes_of(work)
    packed, state = functional.quantize_4bit(torch.randn(n, k, device="cuda", dtype=torch.half) / 32, quant_type="nf4", blocksize=64)
    call = Call(lambda given: library.matmul_4bit(given[0], packed.t(), state), by_rows(work))
    return proved(work, call, functional.dequantize_4bit(packed, state), 0.02)


def humming(work):
    """humming-kernels, which vLLM can have: compiled for the shape when it is first called."""
    from humming.layer import HummingLayer

    _, k, n = sizes_of(work)
    weights = torch.randn(n, k, device="cuda", dtype=torch.half) / 32
    layer = HummingLayer(shape_n=n, shape_k=k, torch_dtype=torch.half,
                         weight_config={"dtype": "int4", "group_size": GROUP, "scale_dtype": "float16"}).cuda()
    layer.load_from_unquantized(weights)
    layer.transform()
    call = Call(lambda given: layer(given[0]), by_rows(work))
    return proved(work, call, weights, 0.2)  # of weights as they were, before they had four bits
