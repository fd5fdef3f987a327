"""Your kernels on JAX's arrays, each beside JAX's own: python python/examples/jax_kernels.py [student|solution]."""

import sys

import flashlab


def rows(source: str):
    """The name of each call, what the kernel gives inside jax.jit, and what JAX gives."""
    own = flashlab.jax  # says what is missing
    import jax
    import jax.numpy as jnp

    jax.config.update("jax_default_matmul_precision", "highest")
    q, k, v = (jax.random.normal(key, (2, 12, 1000, 64)) for key in jax.random.split(jax.random.key(0), 3))
    heads_last = lambda t: t.swapaxes(1, 2)
    plain = lambda q, k, v: heads_last(jax.nn.dot_product_attention(*map(heads_last, (q, k, v))))
    for dtype in jnp.float32, jnp.float16, jnp.bfloat16:
        mine = [t.astype(dtype) for t in (q, k, v)]
        yield f"attention, {dtype.__name__}", jax.jit(lambda *t: own.attention(*t, source=source))(*mine), plain(*(t.astype(jnp.float32) for t in mine))
    halves = [t.astype(jnp.float16) for t in (q, k, v)]
    yield "int8_attention", own.int8_attention(*halves, source=source), plain(*(t.astype(jnp.float32) for t in halves))
    yield "softmax", own.softmax(q, source=source), jax.nn.softmax(q)
    yield "gemm_nt", own.gemm_nt(q, k, source=source), q @ k.swapaxes(-1, -2)


def main() -> None:
    for name, got, want in rows(sys.argv[1] if len(sys.argv) > 1 else "student"):
        off = (got.astype("float32") - want).ravel()
        print(f"{name:32} error {float((off @ off) ** 0.5 / (want.ravel() @ want.ravel()) ** 0.5):.1e}")


if __name__ == "__main__":
    try:
        main()
    except (flashlab.FlashlabError, ModuleNotFoundError) as e:
        sys.exit(f"jax_kernels: {e}")
