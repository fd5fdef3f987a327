"""What the Go code of a task launches, and what is made of it. No GPU, no PyTorch."""

import base64
import os
import struct
import tempfile
import unittest
from dataclasses import replace
from pathlib import Path
from unittest import mock

import fakes
from fakes import GPU, tensor

from flashlab import ArgumentError, FlashlabError, KernelError, StubError, driver, native, planner, replay, shapes, tree


def launches(plan: planner.Plan) -> list[tuple]:
    return [(s["launch"]["kernel"], s["launch"]["grid"], s["launch"]["block"]) for s in plan.steps if "launch" in s]


@fakes.needs_go
class Plans(unittest.TestCase):
    def tearDown(self) -> None:
        planner.reload()

    def plan(self, request: planner.Request, source: str = "solution") -> planner.Plan:
        return planner.planner(request.program, source).plan(request, GPU, compile=False)

    @fakes.needs_solutions
    def test_solutions(self) -> None:
        """Every operation has a plan, whose arguments are the tensors that it was given."""
        half, float_ = dict(dtype="float16"), tensor(2, 3, 17, 113)
        h, cache = tensor(2, 4, 17, 64, **half), tensor(2, 100, 2, 64)
        for request, names in (
            (shapes.attention(float_, float_, float_, True), {"q", "k", "v", "out"}),
            (shapes.attention(h, h, h, False), {"q", "k", "v", "out"}),
            (shapes.rope_attention(*[tensor(2, 3, 17, 64)] * 3, tensor(2, dtype="int32"), True, 10000, False), {"q", "k", "v", "start", "out"}),
            (shapes.int8_attention(h, h, h, True, True), {"q", "k", "v", "out"}),
            (shapes.int8_attention(h, h, h, False, False), {"q", "k", "v", "out"}),
            (shapes.decode(tensor(2, 8, 64), cache, cache, tensor(2, dtype="int32")), {"q", "k", "v", "lengths", "out"}),
            (shapes.decode(tensor(2, 8, 64, **half), *[tensor(2, 100, 2, 64, **half)] * 2, tensor(2, dtype="int32")), {"q", "k", "v", "lengths", "out"}),
            (shapes.softmax(tensor(17, 113), -1), {"x", "out"}),
            (shapes.gemm(tensor(17, 113), tensor(113, 5), False), {"a", "b", "out"}),
            (shapes.projection(tensor(2, 5, 64, **half), tensor(64, 256, **half), tensor(256, **half), 2, 1), {"x", "weight", "bias", "q", "k", "v"}),
        ):
            with self.subTest(request.op, dtype=request.dtype):
                plan = self.plan(request)
                self.assertTrue(launches(plan))
                used = {p["block"] for s in plan.steps if "launch" in s for a in s["launch"]["arguments"] for p in a.get("pointers") or []}
                tensors = {i: b["name"] for i, b in enumerate(plan.blocks) if b["tensor"]}
                self.assertEqual(set(tensors.values()), names)
                self.assertEqual({tensors[i] for i in used if i in tensors}, names)

    @fakes.needs_solutions
    def test_depends_on_alignment(self) -> None:
        """The code sees how a tensor is aligned, and launches otherwise: beside addresses, an argument differs."""
        request = shapes.softmax(tensor(4, 1024), -1)
        plans = [self.plan(planner.Request(request.program, request.op, request.dtype, request.sizes, (("x", x),))) for x in (0, 256, 4)]
        numbers = [[a["bytes"] for a in p.steps[0]["launch"]["arguments"] if not a.get("pointers")] for p in plans]
        self.assertEqual(numbers[0], numbers[1])
        self.assertNotEqual(numbers[0], numbers[2])

    @fakes.needs_solutions
    def test_scratch_and_large_products(self) -> None:
        plan = self.plan(shapes.gemm(tensor(1000, 1000), tensor(1000, 1000), False))
        self.assertEqual([name for name, _, _ in launches(plan)], ["transpose", "split", "split", "gemm_pieces"])
        places, length = replay.lay_out(plan)
        ends = [(at, at + plan.blocks[i]["bytes"]) for i, at in places]
        self.assertTrue(all(a[1] <= b[0] for a, b in zip(ends, ends[1:])), "blocks of scratch do not overlap")
        self.assertLessEqual(ends[-1][1], length)

    @fakes.needs_solutions
    def test_hoppers_kernel(self) -> None:
        """b2's and b4's solutions have a kernel of their own for Hopper, and Go takes it by the GPU: no other, older or newer, has its instructions."""
        h = tensor(2, 4, 17, 64, dtype="float16")
        x, w = tensor(2, 5, 64, dtype="float16"), tensor(64, 256, dtype="float16")
        for request, wanted in (shapes.attention(h, h, h, False), 4), (shapes.projection(x, w, None, 2, 1), 2):
            for arch, file, maps in ("sm_80", "kernels.cu", 0), ("sm_90", "hopper.cu", wanted), ("sm_100", "kernels.cu", 0):
                plan = planner.planner(request.program, "solution").plan(request, replace(GPU, arch=arch), compile=False)
                self.assertEqual([m["name"] for m in plan.modules], [file], (request.op, arch))
                self.assertEqual(sum("map" in a for a in plan.steps[0]["launch"]["arguments"]), maps, (request.op, arch))

    @fakes.needs_solutions
    def test_counters_are_of_the_call(self) -> None:
        """What blocks count with is zeros in the call's own scratch: streams that run a kernel at once write to nothing that they share."""
        for dtype in "float32", "float16":
            q, cache = tensor(1, 8, 64, dtype=dtype), tensor(1, 4096, 2, 64, dtype=dtype)
            plan = self.plan(shapes.decode(q, cache, cache, tensor(1, dtype="int32")))
            fills, launch = [s["fill"] for s in plan.steps if "fill" in s], plan.steps[-1]["launch"]
            self.assertGreater(launch["grid"][1], 1, "blocks share the keys")
            used = {p["block"] for a in launch["arguments"] for p in a.get("pointers") or []}
            counters = [f for f in fills if f["block"] in used and not plan.blocks[f["block"]]["tensor"]]
            self.assertEqual([set(base64.b64decode(f["data"])) for f in counters], [{0}])

    @fakes.needs_solutions
    def test_versions(self) -> None:
        folder = tree.root() / "task4_flash" / "solution" / "_versions"
        version = sorted(p.name for p in folder.iterdir())[0]
        request = shapes.attention(*[tensor(1, 1, 64, 64)] * 3, False)
        self.assertTrue(launches(self.plan(request, f"version:{version}")))
        with self.assertRaisesRegex(FlashlabError, f"no such version; it has .*{version}"):
            self.plan(request, "version:9_none")
        with self.assertRaisesRegex(FlashlabError, "want \"student\""):
            self.plan(request, "mine")

    @fakes.needs_solutions
    def test_a_shape_the_code_refuses(self) -> None:
        with self.assertRaisesRegex(ArgumentError, "head dimension is at most 128"):
            self.plan(shapes.attention(*[tensor(1, 1, 8, 200)] * 3, False))

    def test_tensor_maps(self) -> None:
        with mock.patch.object(tree, "overlay", fakes.boxes):
            plan = self.plan(shapes.softmax(tensor(100, 32), -1))
        first = plan.steps[0]["launch"]["arguments"][0]
        self.assertEqual(first["map"], {"element": 7, "sizes": [32, 100], "strides": [128], "box": [32, 1], "swizzle": 128})
        self.assertEqual([plan.blocks[p["block"]]["name"] for p in first["pointers"]], ["x"])

    def test_stub(self) -> None:
        stub = tree.root() / "task4_flash" / "attention.go"
        if "ErrNotImplemented" not in stub.read_text():
            self.skipTest("task 4 is written")
        with self.assertRaisesRegex(StubError, "task4_flash, student. is still the stub"):
            self.plan(shapes.attention(*[tensor(1, 1, 8, 64)] * 3, False), "student")

    @fakes.needs_solutions
    def test_go_that_does_not_compile(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            broken = Path(folder) / "attention.go"
            broken.write_text("package flash\n\nfunc New() { undefined() }\n")
            with mock.patch.object(tree, "overlay", lambda root, task, source: {str(root / task / "attention.go"): str(broken)}):
                with self.assertRaisesRegex(KernelError, "the Go code of task4_flash .* does not compile:(.|\n)*undefined"):
                    planner.Planner("flash", "student")

    def test_no_tree_and_no_go(self) -> None:
        with tempfile.TemporaryDirectory() as folder, mock.patch.dict(os.environ, FLASHLAB_ROOT=folder):
            with self.assertRaisesRegex(FlashlabError, "set FLASHLAB_ROOT"):
                tree.root()
        with mock.patch("shutil.which", return_value=None), mock.patch("os.path.exists", return_value=False):
            with self.assertRaisesRegex(FlashlabError, "no go on this machine"):
                tree.build("flash", "student")


@fakes.needs_compiler
class Replays(unittest.TestCase):
    """A plan on a driver that only takes notes."""

    def setUp(self) -> None:
        self.driver = fakes.stand_in(self)
        self.plan = fakes.plan()
        self.launch = self.plan.steps[1]["launch"]

    def test_addresses(self) -> None:
        one = replay.Replay(self.plan, 0, ("x",))
        self.assertEqual(one.scratch_bytes, 512 + 256)
        for x, scratch, stream in (0x1000, 0x90000, 5), (0x2000, 0xA0000, 6):
            one.run(stream, x, scratch)
            grid, block, shared, on, words, attributes = self.driver.launches[-1]
            self.assertEqual((grid, block, shared, on, attributes), ((3, 2, 1), (64, 1, 1), 50000, stream, []))
            self.assertEqual(words, [x, scratch + 512 + 16, 7])
            self.assertEqual(self.driver.fills[-1], (scratch + 8, 255, 24))
        self.assertEqual(self.driver.shared, [50000])

    def test_bytes_of_the_code(self) -> None:
        """What Go uploads lies on the GPU once, and each call copies it from there."""
        self.plan.steps[0]["fill"]["data"] = base64.b64encode(bytes(24)).decode()
        given = []
        one = replay.Replay(self.plan, 0, ("x",), lambda data: given.append(data) or mock.Mock(data_ptr=lambda: 0x7000))
        one.run(5, 0x1000, 0x90000)
        self.assertEqual((given, self.driver.fills), ([bytes(24)], [(0x90008, 0x7000, 24)]))

    def test_shared_memory_is_never_lowered(self) -> None:
        replay.Replay(self.plan, 0, ("x",))
        self.launch["shared"] = 100
        replay.Replay(self.plan, 0, ("x",))
        self.assertEqual(self.driver.shared, [50000])

    def test_clusters(self) -> None:
        self.launch["cluster"], self.launch["cooperative"] = [3, 1, 1], True
        replay.Replay(self.plan, 0, ("x",)).run(7, 0x1000, 0x90000)
        self.assertEqual(self.driver.launches[0][-1], [(4, 3), (2, 1)])

    def test_tensor_maps(self) -> None:
        shape = {"element": 7, "sizes": [40, 7], "strides": [160], "box": [32, 4], "swizzle": 128}
        argument = {"bytes": base64.b64encode(bytes(128)).decode(), "pointers": [{"at": 0, "block": 0, "offset": 160}], "map": shape}
        self.launch["arguments"][0] = argument
        self.driver.word = 1
        replay.Replay(self.plan, 0, ("x",)).run(7, 0x1000, 0x90000)
        self.assertEqual(self.driver.maps, [(0, 7, [40, 7], [160], [32, 4], 3)])
        self.assertEqual(self.driver.launches[0][4][0], 0x1000 + 160)

    def test_errors(self) -> None:
        one = replay.Replay(self.plan, 0, ("x",))
        for code, says in (700, "`make grade` finds where.*`make sanitize`"), (1, "refuses the launch"), (999, "filling a: CUDA_ERROR_OF_A_TEST"):
            self.driver.code = code
            with self.assertRaisesRegex(KernelError, says):
                one.run(5, 0x1000, 0x90000)

    def test_another_number_of_addresses(self) -> None:
        one = replay.Replay(self.plan, 0, ("x",))
        with self.assertRaises(struct.error):
            one.run(5, 0x1000)


class Native(unittest.TestCase):
    def test_no_compiler(self) -> None:
        with tempfile.TemporaryDirectory() as folder, mock.patch("shutil.which", return_value=None):
            with self.assertRaisesRegex(FlashlabError, r"no C\+\+ compiler on this machine: install g\+\+"):
                native._compile(Path("replay.cpp"), None, Path(folder) / "replay.so")

    @fakes.needs_compiler
    def test_what_does_not_compile(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            broken = Path(folder) / "broken.cpp"
            broken.write_text("int f() { return undefined; }")
            with self.assertRaisesRegex(FlashlabError, "broken.cpp does not compile(.|\n)*undefined"):
                native._compile(broken, None, Path(folder) / "broken.so")
            self.assertEqual([p.name for p in Path(folder).iterdir()], ["broken.cpp"])


class NoGpu(unittest.TestCase):
    def test_says_so(self) -> None:
        driver.library.cache_clear()
        self.addCleanup(driver.library.cache_clear)
        with mock.patch("ctypes.PyDLL", side_effect=OSError), self.assertRaisesRegex(FlashlabError, "no GPU: .*libcuda"):
            driver.library()


if __name__ == "__main__":
    unittest.main()
