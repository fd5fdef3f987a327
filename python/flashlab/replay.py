"""Replays a plan on memory that somebody else owns: nothing is copied, and nothing waits."""

from __future__ import annotations

import base64
import ctypes as c
from typing import Callable, Sequence

from . import driver
from .planner import Plan

_modules: dict[tuple[int, str], c.c_void_p] = {}  # by device and content
_ALIGNED = 256  # where blocks of scratch begin


class Replay:
    """A plan with its kernels loaded on one device.

    run wants the addresses of all tensors, in the order of names, scratch_bytes of memory, and a stream.
    A Replay is made once for a shape, so that a call does little more than write addresses into arguments.
    """

    def __init__(self, plan: Plan, device: int, names: Sequence[str], upload: Callable[[bytes], object] | None = None) -> None:
        driver.enter(device)
        self.device, self.plan = device, plan
        self.tensors = [(i, names.index(b["name"])) for i, b in enumerate(plan.blocks) if b["tensor"]]
        self.scratch, self.scratch_bytes = _lay_out(plan)
        self._bases = [0] * len(plan.blocks)
        self._kept: list[object] = []  # bytes of fills, on the device
        self._launchers = [self._launcher(s, upload) for s in plan.steps]

    def run(self, addresses: Sequence[int], scratch: int, stream: int) -> None:
        bases = self._bases
        for block, n in self.tensors:
            bases[block] = addresses[n]
        for block, offset in self.scratch:
            bases[block] = scratch + offset
        at = c.c_void_p(stream)
        for launch, slots, what in self._launchers:
            for slot, block, offset in slots:
                slot.value = bases[block] + offset
            code = launch(at)
            if code != 0:
                if driver.lacks_context(code):  # a thread that has not used the GPU yet
                    driver.enter(self.device)
                    code = launch(at)
                driver.check(code, what)

    def _launcher(self, step: dict, upload: Callable[[bytes], object] | None):
        return self._fill(step["fill"], upload) if "fill" in step else self._kernel(step["launch"])

    def _fill(self, fill: dict, upload: Callable[[bytes], object] | None):
        lib, to = driver.library(), c.c_uint64()
        slots, what = [(to, fill["block"], fill["offset"])], f"filling {self.plan.blocks[fill['block']]['name']}"
        count = c.c_size_t(fill["bytes"])
        if not fill.get("data"):
            value = c.c_ubyte(fill["value"])
            return lambda stream: lib.cuMemsetD8Async(to, value, count, stream), slots, what
        kept = upload(base64.b64decode(fill["data"]))
        self._kept.append(kept)
        source = c.c_uint64(kept.data_ptr())
        return lambda stream: lib.cuMemcpyDtoDAsync_v2(to, source, count, stream), slots, what

    def _kernel(self, launch: dict):
        lib = driver.library()
        module = _load(self.plan, launch["module"], self.device)
        clusters = launch.get("cluster")
        f = driver.function(module, launch["kernel"], launch["shared"], bool(clusters))
        values, slots = _arguments(launch)
        params = (c.c_void_p * len(values))(*(c.addressof(v) for v in values))
        self._kept += [values, params]
        grid, block = launch["grid"], launch["block"]
        what = f"kernel {launch['kernel']}, grid {'×'.join(map(str, grid))}, block {'×'.join(map(str, block))}"
        if clusters or launch.get("cooperative"):
            config = driver.config(grid, block, launch["shared"], clusters, launch.get("cooperative", False))
            self._kept.append(config)

            def start(stream: c.c_void_p) -> int:
                config.stream = stream.value
                return lib.cuLaunchKernelEx(c.byref(config), f, params, None)

            return start, slots, what
        sizes = [c.c_uint(n) for n in (*grid, *block, launch["shared"])]
        return lambda stream: lib.cuLaunchKernel(f, *sizes, stream, params, None), slots, what


def _lay_out(plan: Plan) -> tuple[list[tuple[int, int]], int]:
    """Where each block of scratch begins in one piece of memory, and how long that is."""
    places, end = [], 0
    for i, b in enumerate(plan.blocks):
        if not b["tensor"]:
            places.append((i, end))
            end += -(-b["bytes"] // _ALIGNED) * _ALIGNED
    return places, end


def _arguments(launch: dict) -> tuple[list[c.Array], list[tuple[c.c_uint64, int, int]]]:
    """The arguments' bytes, and which addresses go where in them."""
    values, slots = [], []
    for argument in launch["arguments"] or []:
        data = base64.b64decode(argument["bytes"])
        value = (c.c_ubyte * max(len(data), 8)).from_buffer_copy(data.ljust(8, b"\0"))
        values.append(value)
        for p in argument.get("pointers") or []:
            slots.append((c.c_uint64.from_buffer(value, p["at"]), p["block"], p["offset"]))
    return values, slots


def _load(plan: Plan, index: int, device: int) -> c.c_void_p:
    key = device, plan.modules[index]["key"]
    if key not in _modules:
        _modules[key] = driver.load(plan.cubins[index], plan.modules[index]["name"])
    return _modules[key]


_forgetful: list[dict] = []


def remembers(cache: dict) -> dict:
    """A cache that reload() empties."""
    _forgetful.append(cache)
    return cache


def forget() -> None:
    for cache in _forgetful:
        cache.clear()
