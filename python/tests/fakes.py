"""Tensors without PyTorch, and a driver without a GPU."""

from __future__ import annotations

import ctypes as c
import shutil
import unittest
from dataclasses import dataclass
from pathlib import Path
from unittest import mock

from flashlab import driver, planner, replay, tree
from flashlab.planner import Gpu

GPU = Gpu("a GPU", "sm_90", 132, 1024, 232448, 80 << 30)

needs_go = unittest.skipUnless(shutil.which("go"), "no go here, which the launch plans come from")
needs_compiler = unittest.skipUnless(shutil.which("c++") or shutil.which("g++"), "no C++ compiler here, for the replay of plans")
needs_solutions = unittest.skipUnless((tree.root() / "task4_flash" / "solution").is_dir(), "a tree without solutions")


@dataclass
class Tensor:
    dtype: str
    shape: tuple[int, ...]
    device: str = "cuda"
    contiguous: bool = True

    def is_contiguous(self) -> bool:
        return self.contiguous


def tensor(*shape: int, dtype: str = "float32", **more) -> Tensor:
    return Tensor(dtype, shape, **more)


class Driver:
    """Notes what it is called with. A launch's arguments are read at once, as CUDA's driver does.

    kernel, if set, is called with the words of a launch's arguments: what a kernel does to the memory there.
    Of larger arguments, word says which one.
    """

    def __init__(self, arguments: int = 3) -> None:
        self.launches, self.fills, self.shared, self.maps = [], [], [], []
        self.code, self.arguments, self.kernel, self.word = 0, arguments, None, 0
        number = c.c_uint64
        self.cuLaunchKernelEx = c.CFUNCTYPE(c.c_int, c.POINTER(driver.Config), c.c_void_p, c.POINTER(c.c_void_p), c.c_void_p)(self._launch)
        self.cuMemsetD8Async = c.CFUNCTYPE(c.c_int, number, c.c_ubyte, c.c_size_t, c.c_void_p)(self._set)
        self.cuMemcpyDtoDAsync_v2 = c.CFUNCTYPE(c.c_int, number, number, c.c_size_t, c.c_void_p)(self._copy)
        self.cuCtxPushCurrent_v2 = c.CFUNCTYPE(c.c_int, c.c_void_p)(lambda context: 0)
        self.cuCtxPopCurrent_v2 = c.CFUNCTYPE(c.c_int, c.POINTER(c.c_void_p))(lambda context: 0)
        self.cuTensorMapReplaceAddress = c.CFUNCTYPE(c.c_int, c.POINTER(number), number)(self._move)
        self.cuGetErrorName = c.CFUNCTYPE(c.c_int, c.c_int, c.POINTER(c.c_char_p))(self._name)

    def _launch(self, config, f, params, extra) -> int:
        one = config[0]
        words = [c.cast(params[i], c.POINTER(c.c_uint64))[self.word] for i in range(self.arguments)]
        attributes = [(a.id, a.value[0]) for a in one.attributes[: one.count]]
        self.launches.append((tuple(one.grid), tuple(one.block), one.shared, one.stream, words, attributes))
        if self.kernel:
            self.kernel(*words)
        return self.code

    def _set(self, to, value, count, stream) -> int:
        self.fills.append((to, value, count))
        return self.code

    def _copy(self, to, source, count, stream) -> int:
        self.fills.append((to, source, count))
        return self.code

    def cuTensorMapEncodeTiled(self, at, element, rank, address, sizes, strides, box, steps, apart, swizzle, *more) -> int:
        self.maps.append((at.value % 64, element, list(sizes), list(strides)[:-1], list(box), swizzle))
        return 0

    def _move(self, at, to) -> int:
        at[1] = to  # anywhere but where a pointer would be
        return 0

    def _name(self, code, text) -> int:
        text[0] = b"CUDA_ERROR_OF_A_TEST"
        return 0

    def cuModuleLoadData(self, module, cubin) -> int:
        module._obj.value = 1
        return 0

    def cuModuleGetFunction(self, f, module, name) -> int:
        f._obj.value = 2
        return 0

    def cuFuncSetAttribute(self, f, attribute, value) -> int:
        self.shared.append(value)
        return 0

    def __getattr__(self, name: str):
        if name.startswith("cu"):
            return lambda *arguments: 0
        raise AttributeError(name)


def stand_in(test: unittest.TestCase, arguments: int = 3) -> Driver:
    """The driver of one test."""
    fake = Driver(arguments)
    patch = mock.patch.object(driver, "library", lambda: fake)
    patch.start()
    driver.table.cache_clear()
    for undo in patch.stop, driver.table.cache_clear, replay._modules.clear, driver._allowed.clear:
        test.addCleanup(undo)
    return fake


def plan() -> planner.Plan:
    """A fill of scratch, and a launch with a tensor, scratch and a number."""
    launch = {
        "module": 0, "kernel": "k", "grid": [3, 2, 1], "block": [64, 1, 1], "shared": 50000,
        "arguments": [
            {"bytes": "AAAAAAAAAAA=", "pointers": [{"at": 0, "block": 0, "offset": 0}]},
            {"bytes": "AAAAAAAAAAA=", "pointers": [{"at": 0, "block": 2, "offset": 16}]},
            {"bytes": "BwAAAA=="},
        ],
    }  # fmt: skip
    blocks = [{"name": "x", "bytes": 40, "tensor": True}, {"name": "a", "bytes": 300, "tensor": False}, {"name": "b", "bytes": 64, "tensor": False}]
    fill = {"fill": {"block": 1, "offset": 8, "bytes": 24, "value": 255}}
    return planner.Plan(blocks, [{"name": "k.cu", "key": "1"}], [fill, {"launch": launch}], [b"\x7fELF"])


def boxes(root: Path, task: str, source: str) -> dict[str, str]:
    """tree.overlay, with a task 2 that passes tensor maps."""
    return _files(root, task, "boxes")


def astray(root: Path, task: str, source: str) -> dict[str, str]:
    """tree.overlay, with a task 2 whose softmax writes far outside of its buffers."""
    return _files(root, task, "astray")


def _files(root: Path, task: str, name: str) -> dict[str, str]:
    folder = Path(__file__).parent / "testdata"
    return {str(root / task / "attention.go"): str(folder / f"{name}.go"), str(root / task / "kernels.cu"): str(folder / f"{name}.cu")}
