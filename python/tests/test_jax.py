"""The operations in JAX: through the compiled handler on the CPU with a stand-in for CUDA's driver, and on a GPU."""

import ctypes as c
import importlib
import os
import sys
import unittest
from unittest import mock

import fakes

import flashlab

os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")  # PyTorch's tests want memory, too
try:
    import jax
    import jax.numpy as jnp
    import numpy as np

    try:
        jax.local_devices(backend="cuda")
        has_gpu = True
    except RuntimeError:
        has_gpu = False
except ImportError:
    jax, has_gpu = None, False

needs_jax = unittest.skipIf(jax is None, "no JAX here")
needs_gpu = unittest.skipUnless(has_gpu, "JAX sees no GPU here")
SOLUTION = {"source": "solution"}


class NoJax(unittest.TestCase):
    def test_says_so(self) -> None:
        with mock.patch.dict(sys.modules, {"jax": None}):
            sys.modules.pop("flashlab.jax", None)
            with self.assertRaisesRegex(flashlab.FlashlabError, "flashlab.jax needs JAX: pip install"):
                importlib.import_module("flashlab.jax")


@needs_jax
class NoGpu(unittest.TestCase):
    def test_says_so(self) -> None:
        with mock.patch.object(jax, "local_devices", side_effect=RuntimeError):
            flashlab.jax._devices.cache_clear()
            with self.assertRaisesRegex(flashlab.FlashlabError, "no GPU: JAX sees none"):
                flashlab.jax.softmax(jnp.zeros((3, 4)))


def numbers(address: int, n: int):
    return np.ctypeslib.as_array((c.c_float * n).from_address(address))


@needs_jax
@fakes.needs_compiler
class Handler(unittest.TestCase):
    """XLA calls the handler on the CPU, and a stand-in does a kernel's work: out = 2 x, by way of scratch."""

    def setUp(self) -> None:
        on_cpu = jax.default_device(jax.devices("cpu")[0])  # the stand-in looks at memory, which must not be a GPU's
        on_cpu.__enter__()
        self.addCleanup(on_cpu.__exit__, None, None, None)
        self.driver = fakes.stand_in(self)
        self.driver.kernel = self.double
        self.plan = fakes.plan()
        self.plan.blocks[1] = {"name": "out", "bytes": 40, "tensor": True}
        self.plan.steps[0]["fill"] |= {"block": 2, "offset": 0}
        self.plan.steps[1]["launch"]["arguments"][2] = {"bytes": "AAAAAAAAAAA=", "pointers": [{"at": 0, "block": 1, "offset": 0}]}
        self.asked = []
        for where, name, stand_in in (
            (flashlab.jax, "_devices", lambda: (-1,)),
            (flashlab.jax, "planner", lambda *what: mock.Mock(plan=lambda request, gpu: self.asked.append(request) or self.plan)),
            (flashlab.driver, "gpu", lambda device: fakes.GPU),
        ):
            patch = mock.patch.object(where, name, stand_in)
            patch.start()
            self.addCleanup(patch.stop)
        for undo in flashlab.reload, flashlab.jax._replays.clear:
            self.addCleanup(undo)
        self.softmax = jax.jit(flashlab.jax.softmax)

    def double(self, x: int, scratch: int, out: int) -> None:
        numbers(scratch, 10)[:] = numbers(x, 10)
        numbers(out, 10)[:] = 2 * numbers(scratch, 10)

    def test_numbers(self) -> None:
        for seed in range(3):
            x = jax.random.normal(jax.random.key(seed), (2, 5))
            np.testing.assert_array_equal(self.softmax(x), 2 * x)
        self.assertEqual(len(self.asked), 1, "one plan for one shape")
        self.assertEqual(dict(self.asked[0].offsets), {"x": 0, "out": 0})
        self.assertEqual((self.driver.launches[-1][0], self.driver.fills[-1][1:]), ((3, 2, 1), (255, 24)))

    def test_keys(self) -> None:
        """JAX writes any plan's key into a program for a GPU."""
        x = jax.ShapeDtypeStruct((2, 5), jnp.float32)
        for n in range(20):
            self.plan.modules[0]["key"] = str(n)
            flashlab.reload()
            text = self.softmax.trace(x).lower(lowering_platforms=("cuda",)).as_text()
            self.assertIn(f"plan = {flashlab.jax._key(self.plan)} : i64", text)

    def test_in_a_larger_program(self) -> None:
        x = jnp.arange(10.0).reshape(2, 5)
        loop = jax.jit(lambda x: jax.lax.fori_loop(0, 3, lambda i, x: flashlab.jax.softmax(x) + 1, x))
        np.testing.assert_array_equal(loop(x), 8 * x + 7)
        many = jnp.stack([x, x + 1, x + 2])
        np.testing.assert_array_equal(jax.jit(jax.vmap(flashlab.jax.softmax))(many), 2 * many)

    def test_shapes(self) -> None:
        """What XLA is told of each output; the plan is another operation's, and nothing runs."""
        self.plan.blocks = [dict(b, tensor=False) for b in self.plan.blocks]
        given = lambda *shape, dtype=jnp.float32: jax.ShapeDtypeStruct(shape, dtype)
        q, k, half = given(2, 4, 17, 64), given(2, 4, 113, 64), given(2, 4, 17, 64, dtype=jnp.float16)
        for call, inputs, want in (
            (flashlab.jax.gemm_nn, (given(3, 2, 5), given(3, 5, 7)), given(3, 2, 7)),
            (flashlab.jax.gemm_nt, (given(3, 2, 5), given(3, 7, 5)), given(3, 2, 7)),
            (flashlab.jax.rope_attention, (q, k, k, given(2, dtype=jnp.int32)), q),
            (flashlab.jax.int8_attention, (half, half, half), half),
        ):
            out = jax.eval_shape(call, *inputs)
            self.assertEqual((out.shape, out.dtype), (want.shape, want.dtype))
        self.assertEqual([r.op for r in self.asked], ["gemm", "gemm", "rope_attention", "int8_attention"])

    def test_reload(self) -> None:
        x = jnp.ones((2, 5))
        self.softmax(x)
        self.softmax(x)
        self.assertEqual(len(self.asked), 1)
        flashlab.reload()
        np.testing.assert_array_equal(self.softmax(x), 2 * x)
        self.assertEqual(len(self.asked), 2, "also a function that JAX has compiled asks anew")

    def test_refuses(self) -> None:
        x = jnp.ones((2, 5))
        with self.assertRaisesRegex(flashlab.ArgumentError, r"x is on the device cpu: move it with jax.device_put"):
            flashlab.jax.softmax(x)
        for says, call in (
            ("takes float32: convert it", lambda x: flashlab.jax.softmax(x.astype(jnp.float16))),
            ("has no dimension 2", lambda x: flashlab.jax.softmax(x, 2)),
            ("no backward: use jax.lax.stop_gradient", jax.grad(lambda x: flashlab.jax.softmax(x).sum())),
            (r"q is float32 \[2, 5\], want", lambda x: flashlab.jax.attention(x, x, x)),
            ("give them one type", lambda x: flashlab.jax.attention(x, x.astype(jnp.float16), x)),
            (r"lengths is int32 \[3\], want", lambda x: flashlab.jax.decode(jnp.ones((2, 1, 5)), *[jnp.ones((2, 4, 1, 5))] * 2, jnp.ones(3, int))),
        ):
            with self.subTest(says), self.assertRaisesRegex(flashlab.ArgumentError, says):
                jax.jit(call)(x)

    def test_kernels_that_fail(self) -> None:
        self.driver.code = 700
        with self.assertRaisesRegex(Exception, "flashlab: filling b: CUDA_ERROR_OF_A_TEST. `make grade` finds"):
            self.softmax(jnp.ones((2, 5))).block_until_ready()

    def test_a_program_for_the_cpu(self) -> None:
        """Inside jit nobody knows where arrays will lie: the program itself refuses."""
        self.plan.steps[1]["launch"]["grid"] = [1, 1, 1]  # a plan that no other test has registered
        with mock.patch.object(flashlab.jax, "_devices", lambda: (0,)), self.assertRaisesRegex(Exception, "computation is on the CPU"):
            jax.jit(lambda x: flashlab.jax.softmax(x))(jnp.full((5, 2), 3.0)).block_until_ready()


def exact(q, k, v, causal=False):
    q, k, v = (np.asarray(t.astype(jnp.float32), np.float64) for t in (q, k, v))
    scores = q @ k.swapaxes(-1, -2) / q.shape[-1] ** 0.5
    if causal:
        scores[..., ~np.tri(q.shape[2], k.shape[2], k.shape[2] - q.shape[2], dtype=bool)] = -np.inf
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    return weights / weights.sum(-1, keepdims=True) @ v


def jaxs_own(q, k, v, causal=False):
    sees = jnp.tri(q.shape[2], k.shape[2], k.shape[2] - q.shape[2], dtype=bool) if causal else None
    with jax.default_matmul_precision("highest"):
        return jax.nn.dot_product_attention(*(t.swapaxes(1, 2) for t in (q, k, v)), mask=None if sees is None else sees[None, None]).swapaxes(1, 2)


@needs_gpu
@fakes.needs_go
@fakes.needs_solutions
class Numbers(unittest.TestCase):
    """The kernels' numbers beside jax.nn's: both have an error, of float64."""

    def setUp(self) -> None:
        self.keys = iter(jax.random.split(jax.random.key(int.from_bytes(os.urandom(4), "little")), 1000))

    def random(self, *shape: int, dtype=None):
        return jax.random.normal(next(self.keys), shape).astype(dtype or jnp.float32)

    def near(self, got, jaxs, truth) -> None:
        self.assertEqual((got.shape, got.dtype), (jaxs.shape, jaxs.dtype))
        ours, theirs = (np.linalg.norm(np.asarray(t.astype(jnp.float32), np.float64) - truth) / np.linalg.norm(truth) for t in (got, jaxs))
        self.assertLess(ours, 8 * max(theirs, float(jnp.finfo(got.dtype).eps)))

    def test_attention(self) -> None:
        call = jax.jit(lambda q, k, v, causal: flashlab.jax.attention(q, k, v, causal, **SOLUTION), static_argnums=3)
        for dtype, dim in (jnp.float32, 113), (jnp.float16, 64), (jnp.bfloat16, 128):
            for seq_q, seq_k in (1, 1), (2, 17), (17, 113), (113, 1000), (1000, 1000):
                q, k, v = (self.random(2, 2, n, dim, dtype=dtype) for n in (seq_q, seq_k, seq_k))
                for causal in False, True:
                    with self.subTest(dtype=dtype.__name__, seq_q=seq_q, seq_k=seq_k, causal=causal):
                        self.near(call(q, k, v, causal), jaxs_own(q, k, v, causal), exact(q, k, v, causal))

    def test_decode(self) -> None:
        for dtype in jnp.float32, jnp.float16, jnp.bfloat16:
            for length in 1, 17, 113, 1000:
                q = self.random(3, 8, 64, dtype=dtype)
                k, v = (self.random(3, length, 2, 64, dtype=dtype) for _ in range(2))
                k4, v4 = (jnp.repeat(t.swapaxes(1, 2), 4, axis=1) for t in (k, v))
                with self.subTest(dtype=dtype.__name__, length=length):
                    got = flashlab.jax.decode(q, k, v, jnp.full(3, length, jnp.int32), **SOLUTION)
                    self.near(got[:, :, None], jaxs_own(q[:, :, None], k4, v4), exact(q[:, :, None], k4, v4))

    def test_products(self) -> None:
        a, b = self.random(2, 17, 113), self.random(2, 113, 5)
        truth = np.asarray(a, np.float64) @ np.asarray(b, np.float64)
        with jax.default_matmul_precision("highest"):
            self.near(flashlab.jax.gemm_nn(a, b, **SOLUTION), a @ b, truth)
            self.near(flashlab.jax.gemm_nt(a, b.swapaxes(1, 2), **SOLUTION), a @ b, truth)

    def test_rope_attention(self) -> None:
        """At position 0 alone nothing turns; a shift of all positions changes no score, as a whole row's does."""
        q, k, v = (self.random(2, 3, 1, 64) for _ in range(3))
        at = jnp.array([0, 0], jnp.int32)
        self.near(flashlab.jax.rope_attention(q, k, v, at, True, **SOLUTION), jaxs_own(q, k, v), exact(q, k, v))
        q, k, v = (self.random(2, 3, n, 64) for n in (17, 130, 130))
        whole = flashlab.jax.rope_attention(jnp.concatenate([k[:, :, :113], q], 2), k, v, at, True, **SOLUTION)
        part = flashlab.jax.rope_attention(q, k, v, at + 113, True, **SOLUTION)
        np.testing.assert_allclose(whole[:, :, 113:], part, rtol=1e-4, atol=1e-5)

    def test_int8_attention(self) -> None:
        q, k, v = (self.random(2, 2, n, 64, dtype=jnp.float16) for n in (113, 257, 257))
        for by_block in True, False:
            got, truth = flashlab.jax.int8_attention(q, k, v, True, by_block, **SOLUTION), exact(q, k, v, True)
            self.assertLess(np.linalg.norm(np.asarray(got, np.float64) - truth) / np.linalg.norm(truth), 0.03)

    def test_softmax(self) -> None:
        for n in 1, 2, 17, 113, 1000:
            for axis in 0, 1, -1:
                x = 10 * self.random(3, n, 5)
                e = np.exp(np.asarray(x, np.float64) - np.asarray(x, np.float64).max(axis, keepdims=True))
                with self.subTest(n=n, axis=axis):
                    self.near(flashlab.jax.softmax(x, axis, **SOLUTION), jax.nn.softmax(x, axis), e / e.sum(axis, keepdims=True))

    def test_in_a_larger_program(self) -> None:
        """Compiled, in a loop that XLA may capture into a CUDA graph, and one call after the other."""
        step = lambda x: flashlab.jax.attention(x * 2, x, x, True, **SOLUTION) + x
        run = jax.jit(lambda x: jax.lax.fori_loop(0, 5, lambda i, x: step(x), x))
        for _ in range(3):
            x = want = self.random(1, 2, 17, 64)
            for _ in range(5):
                want = step(want)
            np.testing.assert_allclose(run(x), want, rtol=1e-5, atol=1e-5)
        many = self.random(3, 1, 2, 17, 64)
        np.testing.assert_array_equal(jax.vmap(step)(many), jnp.stack([step(x) for x in many]))

    def test_refuses(self) -> None:
        cpu = jax.device_put(jnp.ones((3, 4)), jax.devices("cpu")[0])
        with self.assertRaisesRegex(flashlab.ArgumentError, "on the device cpu"):
            flashlab.jax.softmax(cpu, **SOLUTION)
        with self.assertRaisesRegex(Exception, "computation is on the CPU"):
            jax.jit(lambda x: flashlab.jax.softmax(x, **SOLUTION))(cpu).block_until_ready()
        with self.assertRaisesRegex(flashlab.ArgumentError, "head dimension is at most 128"):
            flashlab.jax.attention(*[jnp.ones((1, 1, 8, 200))] * 3, **SOLUTION)


if __name__ == "__main__":
    unittest.main()
