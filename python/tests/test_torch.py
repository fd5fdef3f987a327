"""The operators in PyTorch, in transformers, and on a GPU; each class is skipped where that is not there."""

import subprocess
import sys
import unittest
import unittest.mock
from pathlib import Path

import fakes

import flashlab

try:
    import torch
except ImportError:
    torch = None
try:
    import transformers
except ImportError:
    transformers = None

needs_torch = unittest.skipIf(torch is None, "no PyTorch here")
needs_gpu = unittest.skipUnless(torch is not None and torch.cuda.is_available(), "PyTorch sees no GPU here")
SOLUTION = {"source": "solution"}


@needs_torch
class Operators(unittest.TestCase):
    """What torch.compile learns of them: shapes and types, without a GPU."""

    def test_shapes(self) -> None:
        from torch._subclasses.fake_tensor import FakeTensorMode

        with FakeTensorMode():
            q, cache = torch.empty(2, 4, 17, 64, device="cuda"), torch.empty(2, 9, 4, 64, device="cuda")
            lengths = torch.empty(2, dtype=torch.int32, device="cuda")
            self.assertEqual(flashlab.attention(q, q, q, True).shape, q.shape)
            self.assertEqual(flashlab.rope_attention(q, q, q, lengths, True).shape, q.shape)
            self.assertEqual(flashlab.int8_attention(*[q.half()] * 3).shape, q.shape)
            self.assertEqual(flashlab.decode(q[:, :, 0].contiguous(), cache, cache, lengths).shape, (2, 4, 64))
            self.assertEqual(flashlab.softmax(q, 1).shape, q.shape)
            self.assertEqual(flashlab.gemm_nt(q, q).shape, (2, 4, 17, 17))
            self.assertEqual(flashlab.gemm_nn(q, torch.empty(2, 4, 64, 5, device="cuda")).shape, (2, 4, 17, 5))
            layer = flashlab.FusedQKVAttention(64, 2, 1, device="cuda")
            self.assertEqual(layer(torch.empty(2, 5, 64, device="cuda", dtype=torch.half)).shape, (2, 5, 64))
            with self.assertRaisesRegex(flashlab.ArgumentError, "give them one type"):
                flashlab.attention(q, q, q.half())

    def test_weights(self) -> None:
        q, k, v = torch.randn(128, 64), torch.randn(32, 64), torch.randn(32, 64)
        weight, bias = flashlab.prepare_fused_qkv_weights(q, k, v)
        x = torch.randn(3, 64)
        torch.testing.assert_close(x @ weight, torch.cat([x @ w.T for w in (q, k, v)], 1))
        self.assertTrue(weight.is_contiguous() and bias is None)
        with self.assertRaisesRegex(flashlab.ArgumentError, "all three biases"):
            flashlab.prepare_fused_qkv_weights(q, k, v, torch.zeros(128))
        with self.assertRaisesRegex(flashlab.ArgumentError, "as many heads"):
            flashlab.prepare_fused_qkv_weights(q, k, q)

    def test_on_the_cpu(self) -> None:
        with self.assertRaisesRegex(flashlab.ArgumentError, r"x is on the device cpu: move it to a GPU with x.cuda\(\)"):
            flashlab.softmax(torch.zeros(3))


def plain(q, k, v, causal=False, **_):
    """Attention as transformers' eager has it, masked from the lower right corner."""
    groups = q.shape[1] // k.shape[1]
    k, v = k.repeat_interleave(groups, 1), v.repeat_interleave(groups, 1)
    scores = q @ k.mT / q.shape[-1] ** 0.5
    if causal:
        sees = torch.ones(scores.shape[-2:], dtype=torch.bool, device=q.device).tril(k.shape[2] - q.shape[2])
        scores = scores.masked_fill(~sees, -torch.inf)
    return scores.softmax(-1) @ v


def rotated(x, positions, neighbours):
    """x [batch, heads, seq, dim] with each pair of a row turned by its angle."""
    pairs = x.shape[-1] // 2
    angles = (positions[:, :, None] * 10000 ** (-torch.arange(pairs, device=x.device).double() / pairs))[:, None]
    a, b = (x[..., ::2], x[..., 1::2]) if neighbours else (x[..., :pairs], x[..., pairs:])
    turned = a * angles.cos() - b * angles.sin(), a * angles.sin() + b * angles.cos()
    return torch.stack(turned, -1).flatten(-2) if neighbours else torch.cat(turned, -1)


def plain_step(q, k, v, lengths, **_):
    return plain(q[:, :, None], k.transpose(1, 2), v.transpose(1, 2))[:, :, 0]


@needs_torch
@unittest.skipIf(transformers is None, "no transformers here")
class Models(unittest.TestCase):
    """GPT-2 and Llama generate what eager does; without a GPU on plain attention, which tries the way there."""

    def setUp(self) -> None:
        self.device = "cuda" if torch.cuda.is_available() else "cpu"
        if self.device == "cpu":
            for name, stand_in in ("attention", plain), ("decode", plain_step):
                patch = unittest.mock.patch(f"flashlab.ops.{name}", stand_in)
                patch.start()
                self.addCleanup(patch.stop)
        flashlab.register(**SOLUTION)
        torch.manual_seed(0)

    def model(self, kind: str):
        common = dict(vocab_size=1000, initializer_range=0.2, bos_token_id=0, eos_token_id=0)
        if kind == "gpt2":
            made = transformers.GPT2LMHeadModel(transformers.GPT2Config(n_embd=128, n_head=2, n_layer=3, **common))
        else:
            made = transformers.LlamaForCausalLM(transformers.LlamaConfig(hidden_size=256, intermediate_size=512, num_hidden_layers=3,
                                                                          num_attention_heads=4, num_key_value_heads=2, **common))  # fmt: skip
        return made.to(self.device).eval()

    def generate(self, model, attention: str, ids, **more):
        model.set_attn_implementation(attention)
        options = dict(attention_mask=torch.ones_like(ids), max_new_tokens=20, min_new_tokens=20, do_sample=False, pad_token_id=0)
        return model.generate(ids, **(options | more))

    def test_token_for_token(self) -> None:
        for kind in "gpt2", "llama":
            with self.subTest(kind):
                model, ids = self.model(kind), torch.randint(1, 1000, (2, 17), device=self.device)
                self.assertTrue(torch.equal(self.generate(model, "eager", ids), self.generate(model, "flashlab", ids)))

    def test_refuses(self) -> None:
        model, ids = self.model("llama"), torch.randint(1, 1000, (2, 17), device=self.device)
        padded = torch.ones_like(ids)
        padded[0, :3] = 0
        for says, more in ("takes no padding", {"attention_mask": padded}), ("a cache that grows", {"cache_implementation": "static"}):
            with self.assertRaisesRegex(flashlab.ArgumentError, says):
                self.generate(model, "flashlab", ids, **more)


@needs_gpu
@fakes.needs_go
@fakes.needs_solutions
class Numbers(unittest.TestCase):
    """The kernels' numbers, beside PyTorch's in float64."""

    def near(self, got, truth) -> None:
        bound = {torch.float32: 1e-5, torch.float16: 5e-3, torch.bfloat16: 4e-2}[got.dtype]
        self.assertLess(float((got.double() - truth).norm() / truth.norm()), bound)

    def test_attention(self) -> None:
        for dtype, dim in (torch.float32, 113), (torch.float16, 64), (torch.bfloat16, 128):
            for seq_q, seq_k in (1, 1), (17, 113), (113, 1000):
                q = torch.randn(2, 2, seq_q, dim, device="cuda").to(dtype)
                k, v = (torch.randn(2, 2, seq_k, dim, device="cuda").to(dtype) for _ in range(2))
                for causal in False, True:
                    self.near(flashlab.attention(q, k, v, causal, **SOLUTION), plain(q.double(), k.double(), v.double(), causal))

    def test_rope_attention(self) -> None:
        """The causal mask goes by positions: keys up to start + i."""
        start = torch.tensor([0, 113], dtype=torch.int32, device="cuda")
        q = torch.randn(2, 3, 17, 64, device="cuda")
        k, v = (torch.randn(2, 3, 130, 64, device="cuda") for _ in range(2))
        for neighbours in False, True:
            at = start[:, None].double() + torch.arange(17, device="cuda")
            to = torch.arange(130, device="cuda").double().expand(2, -1)
            scores = rotated(q.double(), at, neighbours) @ rotated(k.double(), to, neighbours).mT / 8
            scores = scores.masked_fill(to[:, None, None, :] > at[:, None, :, None], -torch.inf)
            self.near(flashlab.rope_attention(q, k, v, start, True, neighbours=neighbours, **SOLUTION), scores.softmax(-1) @ v.double())

    def test_int8_attention(self) -> None:
        """Codes of 8 bits are off by a hundredth or so."""
        for by_block in True, False:
            q = torch.randn(2, 4, 113, 64, device="cuda").half()
            k, v = (torch.randn(2, 2, 257, 64, device="cuda").half() for _ in range(2))
            got, truth = flashlab.int8_attention(q, k, v, True, by_block, **SOLUTION), plain(q.double(), k.double(), v.double(), True)
            self.assertLess(float((got.double() - truth).norm() / truth.norm()), 0.03)

    def test_decode(self) -> None:
        for dtype in torch.float32, torch.float16, torch.bfloat16:
            q = torch.randn(3, 8, 64, device="cuda").to(dtype)
            k, v = (torch.randn(3, 113, 2, 64, device="cuda").to(dtype) for _ in range(2))
            lengths = torch.full((3,), 113, dtype=torch.int32, device="cuda")
            self.near(flashlab.decode(q, k, v, lengths, **SOLUTION), plain_step(q.double(), k.double(), v.double(), lengths))

    def test_two_streams(self) -> None:
        """Streams that decode at once leave each other alone: graphs, since calls from Python hardly overlap."""
        for dtype in torch.float32, torch.float16, torch.bfloat16:
            graphs, outs, alone, inputs = [], [], [], []
            lengths = torch.full((1,), 1024, dtype=torch.int32, device="cuda")
            for _ in range(2):
                q = torch.randn(100, 1, 8, 64, device="cuda").to(dtype)
                k, v = (torch.randn(1, 1024, 2, 64, device="cuda").to(dtype) for _ in range(2))
                inputs.append((q, k, v))  # graphs hold addresses alone
                alone.append(torch.stack([flashlab.decode(one, k, v, lengths, **SOLUTION) for one in q]))
                graphs.append(torch.cuda.CUDAGraph())
                with torch.cuda.graph(graphs[-1]):
                    outs.append([flashlab.decode(one, k, v, lengths, **SOLUTION) for one in q])
            streams = [torch.cuda.Stream() for _ in graphs]
            for _ in range(20):
                for out in outs[0] + outs[1]:
                    out.fill_(torch.nan)
                torch.cuda.synchronize()
                for graph, stream in zip(graphs, streams):
                    with torch.cuda.stream(stream):
                        graph.replay()
                torch.cuda.synchronize()
                for out, want in zip(outs, alone):
                    self.assertTrue(torch.equal(torch.stack(out), want))

    def test_steps(self) -> None:
        x, y = torch.randn(3, 17, 113, device="cuda"), torch.randn(3, 113, 5, device="cuda")
        self.near(flashlab.softmax(x, 1, **SOLUTION), x.double().softmax(1))
        self.near(flashlab.gemm_nn(x, y, **SOLUTION), x.double() @ y.double())
        self.near(flashlab.gemm_nt(x, y.mT.contiguous(), **SOLUTION), x.double() @ y.double())

    @unittest.skipUnless(torch is not None and torch.cuda.is_available() and torch.cuda.get_device_capability()[0] >= 9, "no copy engine for tensors")
    def test_tensor_maps(self) -> None:
        """Each call's map is of its own tensor."""
        flashlab.reload()
        self.addCleanup(flashlab.reload)
        with unittest.mock.patch("flashlab.tree.overlay", fakes.boxes):
            for x in (torch.randn(100, 32, device="cuda") for _ in range(3)):
                self.assertTrue(torch.equal(flashlab.softmax(x), x))

    def test_compiled_and_captured(self) -> None:
        q = torch.randn(2, 4, 17, 64, device="cuda")
        step = lambda q: flashlab.softmax(flashlab.attention(q * 2, q, q, True, **SOLUTION), **SOLUTION)
        want = step(q)
        torch.testing.assert_close(torch.compile(step, fullgraph=True)(q), want)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            out = step(q)
        q.copy_(torch.randn_like(q))
        graph.replay()
        self.assertTrue(torch.equal(out, step(q)))

    def test_refuses(self) -> None:
        q = torch.randn(1, 1, 8, 64, device="cuda")
        with self.assertRaisesRegex(flashlab.ArgumentError, "not contiguous"):
            flashlab.softmax(q.mT, **SOLUTION)
        with self.assertRaisesRegex(flashlab.ArgumentError, "no backward"):
            flashlab.softmax(q.requires_grad_(), **SOLUTION)

    def test_a_kernel_astray(self) -> None:
        """Whose fault it is comes with the next call, and what finds it."""
        run = subprocess.run([sys.executable, Path(__file__).parent / "stray.py"], capture_output=True, text=True, timeout=300)
        self.assertRegex(run.stdout, r"torch: .*illegal", run.stderr)
        self.assertRegex(run.stdout, r"flashlab: .*CUDA_ERROR_ILLEGAL_ADDRESS.*`make grade`.*`make sanitize`", run.stderr)


if __name__ == "__main__":
    unittest.main()
