"""What an operation refuses, and what it says. No GPU, no PyTorch, no Go."""

import unittest

from fakes import tensor

from flashlab import ArgumentError, shapes


class Shapes(unittest.TestCase):
    def refused(self, says: str, check, *arguments) -> None:
        with self.assertRaises(ArgumentError) as caught:
            check(*arguments)
        self.assertIn(says, str(caught.exception))

    def test_attention(self) -> None:
        q, k = tensor(2, 3, 17, 113), tensor(2, 3, 5, 113)
        request = shapes.attention(q, k, k, True)
        self.assertEqual(request.program, "flash")
        self.assertEqual(dict(request.sizes), dict(batch=2, heads=3, kvHeads=3, seqQ=17, seqK=5, dim=113, causal=1))
        half = tensor(2, 4, 17, 64, dtype="bfloat16")
        shared = tensor(2, 2, 17, 64, dtype="bfloat16")
        self.assertEqual(shapes.attention(half, shared, shared, False).program, "halves")

    def test_attention_refuses(self) -> None:
        q = tensor(2, 4, 17, 64)
        self.refused("v is float16 and q float32: give them one type", shapes.attention, q, q, tensor(2, 4, 17, 64, dtype="float16"), True)
        self.refused("on the device cpu: move it to a GPU", shapes.attention, tensor(2, 4, 17, 64, device="cpu"), q, q, True)
        self.refused("k float32 [2, 4, 17, 64] is not contiguous", shapes.attention, q, tensor(2, 4, 17, 64, contiguous=False), q, True)
        self.refused("want [batch, heads, seqQ, dim]", shapes.attention, tensor(4, 17, 64), q, q, True)
        self.refused("which is [2, 4, 17, 64] here", shapes.attention, q, tensor(2, 4, 17, 32), q, True)
        self.refused("which is [2, 4, 17, 64] here", shapes.attention, q, q, tensor(2, 4, 16, 64), True)
        self.refused("is float64; this operation takes", shapes.attention, *[tensor(2, 4, 17, 64, dtype="float64")] * 3, True)
        self.refused("is empty", shapes.attention, tensor(2, 4, 0, 64), q, q, True)
        self.refused("repeat_interleave", shapes.attention, q, *[tensor(2, 2, 17, 64)] * 2, True)
        self.refused("cannot share 3 key heads", shapes.attention, q, *[tensor(2, 3, 17, 64)] * 2, True)

    def test_rope_attention(self) -> None:
        q, start = tensor(2, 4, 17, 64), tensor(2, dtype="int32")
        request = shapes.rope_attention(q, q, q, start, True, 500000, True)
        self.assertEqual((request.program, dict(request.sizes)["base"], dict(request.sizes)["neighbours"]), ("rope", 500000, 1))
        self.refused("takes float32", shapes.rope_attention, *[tensor(2, 4, 17, 64, dtype="float16")] * 3, start, True, 10000, False)
        self.refused("start is int32 [3], want [batch]", shapes.rope_attention, q, q, q, tensor(3, dtype="int32"), True, 10000, False)
        self.refused("as many key heads as query heads, not 2 and 4", shapes.rope_attention, q, *[tensor(2, 2, 17, 64)] * 2, start, True, 10000, False)
        self.refused("base is 1.5: want a whole number", shapes.rope_attention, q, q, q, start, True, 1.5, False)

    def test_int8_attention(self) -> None:
        q, k = tensor(2, 4, 17, 64, dtype="float16"), tensor(2, 2, 5, 64, dtype="float16")
        request = shapes.int8_attention(q, k, k, False, True)
        self.assertEqual((request.program, dict(request.sizes)["kvHeads"], dict(request.sizes)["byBlock"]), ("codes", 2, 1))
        self.refused("takes float16", shapes.int8_attention, *[tensor(2, 4, 17, 64)] * 3, False, True)
        self.refused("cannot share 3 key heads", shapes.int8_attention, q, *[tensor(2, 3, 17, 64, dtype="float16")] * 2, False, True)

    def test_decode(self) -> None:
        q, k, n = tensor(2, 8, 64), tensor(2, 100, 2, 64), tensor(2, dtype="int32")
        self.assertEqual(dict(shapes.decode(q, k, k, n).sizes), dict(batch=2, heads=8, kvHeads=2, maxSeq=100, dim=64))
        self.refused("takes int32", shapes.decode, q, k, k, tensor(2, dtype="int64"))
        self.refused("lengths is int32 [3], want [batch]", shapes.decode, q, k, k, tensor(3, dtype="int32"))
        self.refused("cannot share", shapes.decode, tensor(2, 7, 64), k, k, n)

    def test_steps(self) -> None:
        self.assertEqual(dict(shapes.softmax(tensor(5, 6, 7), 1).sizes), dict(outer=5, len=6, inner=7))
        self.assertEqual(dict(shapes.softmax(tensor(5, 6, 7), -1).sizes), dict(outer=30, len=7, inner=1))
        self.refused("has no dimension 3", shapes.softmax, tensor(5, 6, 7), 3)
        self.assertEqual(dict(shapes.gemm(tensor(2, 3, 4, 5), tensor(2, 3, 6, 5), True).sizes), dict(batch=6, m=4, n=6, k=5, transB=1))
        self.refused("want […, k, n], which is [5, 6] here", shapes.gemm, tensor(4, 5), tensor(6, 6), False)
        self.refused("want […, m, k]", shapes.gemm, tensor(5), tensor(5, 6), False)

    def test_projection(self) -> None:
        x, w = tensor(2, 5, 64, dtype="float16"), tensor(64, 4 * 32, dtype="float16")
        self.assertEqual(dict(shapes.projection(x, w, None, 2, 1).sizes)["dim"], 32)
        self.refused("takes float16 or bfloat16", shapes.projection, tensor(2, 5, 64), w, None, 2, 1)
        self.refused("prepare_fused_qkv_weights", shapes.projection, x, w, None, 3, 1)
        self.refused("bias is float16 [5], want [outputs]", shapes.projection, x, w, tensor(5, dtype="float16"), 2, 1)


if __name__ == "__main__":
    unittest.main()
