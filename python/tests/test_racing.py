"""Races of the bonus tasks: what they launch, held against the kernels' texts. No GPU, no PyTorch: tensors are shapes."""

import ctypes
import importlib.util
import math
import sys
import types
import unittest
from pathlib import Path
from unittest import mock

import racing
from racing.source import changed, constant, parameters

BONUS = Path(__file__).resolve().parents[2] / "bonus"
SIZES = {"torch.uint8": 1, "torch.int8": 1, "torch.float16": 2, "torch.bfloat16": 2, "torch.float32": 4, "torch.int32": 4}


class Type(str):
    pass


class Tensor:
    def __init__(self, *shape, dtype="torch.float16"):
        self.shape, self.dtype = shape, Type(dtype)

    def __getitem__(self, i):
        return Tensor(*self.shape[1:], dtype=self.dtype)

    def numel(self):
        return math.prod(self.shape)

    def view(self, *shape):
        known = -math.prod(shape)
        return Tensor(*(self.numel() // known if n == -1 else n for n in shape), dtype=self.dtype)

    def element_size(self):
        return SIZES[self.dtype]

    def data_ptr(self):
        return 1 << 20

    def zero_(self):
        return self


def pytorch():
    """As much of it as launches need."""
    torch = types.ModuleType("torch")
    for name in SIZES:
        setattr(torch, name[6:], Type(name))
    torch.full = lambda shape, _, device=None, dtype=None: Tensor(*shape, dtype=dtype)
    torch.zeros = torch.empty = lambda *shape, device=None, dtype="torch.float32": Tensor(*shape, dtype=dtype)
    torch.full_like = lambda x, _, dtype=None: Tensor(*x.shape, dtype=dtype or x.dtype)
    torch.manual_seed = lambda _: None
    return {"torch": torch, **{name: mock.MagicMock() for name in ("torch.nn", "torch.nn.functional", "torch.nn.attention", "triton", "triton.testing")}}


class Launches(unittest.TestCase):
    """A launcher packs arguments as the parameters in the kernel's text want them, or raises."""

    def setUp(self):
        self.grids, self.maps = [], []
        config = racing.Config

        def recorded(grid, block, shared, *rest):
            self.grids.append((tuple(grid), tuple(block), shared))
            return config(grid, block, shared, *rest)

        def call(name, *args):
            if name == "cuTensorMapEncodeTiled":
                self.maps.append((args[1], list(args[4]), list(args[5]), list(args[6]), args[9]))
        for patch in (mock.patch.dict(sys.modules, pytorch()), mock.patch.object(racing, "call", call), mock.patch.object(racing, "Config", recorded),
                      mock.patch.object(racing, "processors", lambda: 132), mock.patch.object(racing.File, "compile", lambda _: mock.MagicMock())):
            patch.start()
            self.addCleanup(patch.stop)

    def race(self, task, versions=False):
        if versions and not racing.rungs.GRADER.exists():
            self.skipTest("the grader puts versions together: make grader")
        path = BONUS / task / "solution" / "race.py"
        if not path.exists():
            self.skipTest("there are no solutions here")
        spec = importlib.util.spec_from_file_location(f"race_{task}", path)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module

    def test_b2(self):
        race = self.race("b2_halves")
        q, k = Tensor(2, 4, 200, 64), Tensor(2, 2, 300, 64)
        for kernel in race.KERNELS:
            race.attention(kernel, q, k, k, True)
        self.assertEqual(self.grids, [((2, 8, 1), (128, 1, 1), 32768), ((16, 1, 1), (512, 1, 1), 116736)])
        self.assertEqual(self.maps[:2], [(6, [64, 200, 8], [128, 25600], [64, 64, 1], 3), (6, [64, 300, 4], [128, 38400], [64, 128, 1], 3)])
        self.assertEqual(self.maps[3], (6, [64, 200, 8], [128, 25600], [64, 16, 1], 3), "the output leaves in boxes, too")

    def test_b3(self):
        race = self.race("b3_int8", versions=True)
        q, k = Tensor(2, 4, 200, 64), Tensor(2, 2, 300, 64)
        for flavour in race.FLAVOURS:
            race.Attention(flavour, q, k, k, False)
        self.assertEqual(self.grids[-1][:2], ((16, 1, 1), (512, 1, 1)))
        self.assertEqual([m[0] for m in self.maps], [0, 0, 6, 6], "codes, codes, halves, and halves out")
        self.assertEqual([m[4] for m in self.maps], [2, 2, 3, 3], "swizzles of 64, 64, 128 and 128 bytes")

    def test_b4(self):
        race = self.race("b4_qkv", versions=True)
        for bias in (None, Tensor(6 * 64)):
            for way in (*race.RUNGS, *race.TILES):
                race.run(way, Tensor(3, 113, 1000), Tensor(1000, 6 * 64), bias, 4, 1, 64, 1)
        self.assertEqual(self.grids[-1], ((6, 1, 1), (384, 1, 1), race.shared_of(race.TILES[-1])))

    def test_b5(self):
        race = self.race("b5_fourbit")
        for rows in (1, 7, 16, 300):
            for form in race.FORMATS:
                race.project(form, Tensor(rows, 768), Tensor(6, 384, dtype="torch.uint8"), Tensor(6, 12, dtype="torch.float32"), Tensor(2304), 12, 12, 64)
        self.assertEqual(self.grids[0], ((132, 1, 1), (1024, 1, 1), race.ONE[1]))
        self.assertEqual(self.grids[-1][:2], ((72, 5, 1), (256, 1, 1)))

    def test_b6(self):
        race = self.race("b6_decode")
        q, k, lengths, scratch = Tensor(2, 32, 128), Tensor(2, 4096, 8, 128), Tensor(2, dtype="torch.int32"), racing.scratch()
        race.Kernel("kernels.cu").step(q, q, k, k, lengths, scratch)
        with mock.patch.object(race, "in_pages", lambda k, v: (k, v, lengths)):
            race.Kernel("kernels.cu:WARPS=4,+PAGED=1").step(q, q, k, k, lengths, scratch)
        self.assertEqual(self.grids, [((16, 8, 1), (256, 1, 1), 131072), ((16, 8, 1), (128, 1, 1), 65536)])

    def test_b7(self):
        race = self.race("b7_kvcache")
        q, lengths, scratch = Tensor(2, 32, 128), Tensor(2, dtype="torch.int32"), racing.scratch()
        for spec, tensors in (("decode.cu:+BITS=8,+RESIDENT=1", 4), ("decode.cu:+BITS=4,+RESIDENT=2", 8), ("halves.cu", 2)):
            cache = race.Cache.__new__(race.Cache)
            kernel = race.Kernel(spec)
            cache.bits, cache.shape, cache.all = kernel.bits, (2, 8, 4096, 128), [q] * tensors
            kernel.step(q, q, cache, lengths, scratch)
        self.assertEqual([g[:2] for g in self.grids], [((16, 8, 1), (256, 1, 1))] * 3)
        for bits in (4, 8):
            self.assertTrue(parameters((race.HERE / "append.cu").read_text(), f"append{bits}", {"BITS": bits}))

    def test_b8(self):
        race = self.race("b8_w4a16")
        weights = [Tensor(4096, n) for n in (2048, 32, 32)]
        for spec in (*race.own(), "stream:2,1", "hopper:4"):
            kernel = race.Kernel(spec)
            kernel.product(Tensor(1, 4096), weights, weights, Tensor(1, 4096), True)
        race.Kernel("lay:").launch((9, 1), 256, [*weights, *weights], [4096, 4096], False)
        self.assertIn(((32, 4, 1), (384, 1, 1), 4 * 64 * 256 + 1024), self.grids, "hopper.cu")
        self.assertIn(((132, 1, 1), (512, 1, 1), 2 * 32 * 1072 + 2 * 16 * 1024), self.grids, "stream.cu")

    def test_b10(self):
        race = self.race("b10_backward", versions=True)
        for version in (*race.VERSIONS, race.HALVES):
            kind = "torch.float16" if version == race.HALVES else "torch.float32"
            q, k, lse = Tensor(2, 4, 70, 64, dtype=kind), Tensor(2, 2, 33, 64, dtype=kind), Tensor(2, 4, 70, dtype="torch.float32")
            race.gradients(version, (q, k, k, q, lse, q), True)
        self.assertEqual(self.grids[:3], [((1, 560, 1), (64, 1, 1), 0), ((33, 4, 1), (64, 1, 1), 0), ((70, 8, 1), (64, 1, 1), 0)])
        self.assertEqual(self.grids[3:4], [((2, 4, 1), (256, 1, 1), 41984)])
        self.assertEqual(self.grids[-2:], [((1, 4, 1), (128, 1, 1), 49920), ((2, 8, 1), (128, 1, 1), 49920)])

    def test_what_does_not_fit_is_refused(self):
        x = Tensor(8)
        with self.assertRaisesRegex(TypeError, "decode takes pointer, int, not int, pointer"):
            racing.packed("decode", ["pointer", "int"], [3, x])
        values = racing.packed("k", ["pointer", "int", "float", "int"], [x, 7, 0.5, True])
        self.assertEqual([(type(v), v.value) for v in values],
                         [(ctypes.c_uint64, 1 << 20), (ctypes.c_int, 7), (ctypes.c_float, 0.5), (ctypes.c_int, 1)])


class Texts(unittest.TestCase):
    TEXT = """
constexpr int STAGES = 2, WARPS = 8; // WARPS = 9
#define MADE(NAME, N) \\
    extern "C" __global__ void NAME(const float *x, \\
                                    int n) { f<N>(x, n); }
MADE(made, 3)
extern "C" __global__ __launch_bounds__(32 * (WARPS + 1), 1) void plain(
    const __grid_constant__ CUtensorMap map, float *out, // int gone,
#ifdef PAGED
    const int *table,
#endif
    float scale, unsigned char *bytes) {}
#if BITS == 8
__global__ void either(int n) {}
#else
__global__ void other(float x) {}
#endif
"""

    def test_a_kernel_that_fills(self):
        text = (BONUS.parent / "nn/fill.cu").read_text()
        self.assertEqual(parameters(text, "fill"), ["pointer", "long", "int", *["long"] * 4, "float"])
        values = racing.packed("fill", parameters(text, "fill"), [Tensor(3), 3, 0, 1 << 63, 2, 3, 4, 1.0])
        self.assertEqual([ctypes.sizeof(v) for v in values], [8, 8, 4, 8, 8, 8, 8, 4])
        with self.assertRaisesRegex(TypeError, "takes pointer, long"):
            racing.packed("fill", parameters(text, "fill"), [Tensor(3), 3, 0])
        with self.assertRaisesRegex(TypeError, "takes pointer, long"):
            racing.packed("fill", parameters(text, "fill"), [Tensor(3), 3, 0, 1, 2, 3, 4, 1.0, 5])

    def test_parameters(self):
        self.assertEqual(parameters(self.TEXT, "plain"), ["map", "pointer", "float", "pointer"])
        self.assertEqual(parameters(self.TEXT, "plain", {"PAGED": 1}), ["map", "pointer", "pointer", "float", "pointer"])
        self.assertEqual(parameters(self.TEXT, "made"), ["pointer", "int"])
        self.assertEqual([parameters(self.TEXT, "either"), parameters(self.TEXT, "other")], [["int"], ["float"]])
        self.assertIsNone(parameters(self.TEXT, "nobody"))

    def test_constants(self):
        self.assertEqual((constant(self.TEXT, "WARPS"), constant(self.TEXT, "NONE")), (8, 0))
        self.assertIn("STAGES = 5, WARPS = 8;", changed(self.TEXT, {"STAGES": 5}))
        with self.assertRaisesRegex(SystemExit, "k.cu has no constant HEADS"):
            changed(self.TEXT, {"HEADS": 1}, "k.cu")
