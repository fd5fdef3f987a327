"""Tensors without PyTorch, and a driver without a GPU."""

from __future__ import annotations

import ctypes as c
import shutil
import unittest
from dataclasses import dataclass

from flashlab import tree
from flashlab.planner import Gpu

GPU = Gpu("a GPU", "sm_90", 132, 1024, 232448, 80 << 30)

needs_go = unittest.skipUnless(shutil.which("go"), "no go here, which the launch plans come from")
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
    """Notes what it is called with. A launch's arguments are read at once, as CUDA's driver does."""

    def __init__(self) -> None:
        self.launches, self.fills, self.shared, self.code = [], [], [], 0

    def cuLaunchKernel(self, f, gx, gy, gz, bx, by, bz, shared, stream, params, extra) -> int:
        words = [c.cast(p, c.POINTER(c.c_uint64))[0] for p in params]
        self.launches.append(((gx.value, gy.value, gz.value), (bx.value, by.value, bz.value), shared.value, stream.value, words))
        return self.code

    def cuLaunchKernelEx(self, config, f, params, extra) -> int:
        one = config._obj
        self.launches.append((tuple(one.grid), one.stream, [(a.id, a.value[0]) for a in one.attributes[: one.count]]))
        return self.code

    def cuMemsetD8Async(self, to, value, count, stream) -> int:
        self.fills.append((to.value, value.value, count.value))
        return self.code

    def cuModuleLoadData(self, module, cubin) -> int:
        module._obj.value = 1
        return 0

    def cuModuleGetFunction(self, f, module, name) -> int:
        f._obj.value = 2
        return 0

    def cuFuncSetAttribute(self, f, attribute, value) -> int:
        self.shared.append(value)
        return 0

    def cuGetErrorName(self, code, text) -> int:
        text._obj.value = b"CUDA_ERROR_OF_A_TEST"
        return 0

    def __getattr__(self, name: str):
        if name.startswith("cu"):
            return lambda *arguments: 0
        raise AttributeError(name)
