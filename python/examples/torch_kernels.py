"""Your kernels on PyTorch's tensors, each beside PyTorch's own: python python/examples/torch_kernels.py [student|solution]."""

import sys

import flashlab


def rows(source: str):
    """The name of each call, what the kernel gives, and what PyTorch gives in float64."""
    _ = flashlab.attention  # says what is missing
    import torch
    from torch.nn.functional import scaled_dot_product_attention as sdpa

    torch.manual_seed(0)
    q, k, v = (torch.randn(2, 12, 1000, 64, device="cuda") for _ in range(3))
    for dtype in torch.float32, torch.float16, torch.bfloat16:
        mine = [t.to(dtype) for t in (q, k, v)]
        yield f"attention, {dtype}", flashlab.attention(*mine, causal=True, source=source), sdpa(*(t.double() for t in mine), is_causal=True)
    halves = [t.half() for t in (q, k, v)]
    yield "int8_attention", flashlab.int8_attention(*halves, source=source), sdpa(*(t.double() for t in halves))
    yield "softmax", flashlab.softmax(q, source=source), q.double().softmax(-1)
    yield "gemm_nt", flashlab.gemm_nt(q, k, source=source), q.double() @ k.double().mT


def main() -> None:
    for name, got, want in rows(sys.argv[1] if len(sys.argv) > 1 else "student"):
        print(f"{name:32} error {float((got.double() - want).norm() / want.norm()):.1e}")


if __name__ == "__main__":
    try:
        main()
    except (flashlab.FlashlabError, ModuleNotFoundError) as e:
        sys.exit(f"torch_kernels: {e}")
