"""Replays a plan on memory that somebody else owns: nothing is copied, and nothing waits."""

from __future__ import annotations

import base64
import ctypes as c
import struct
from typing import Callable, Sequence

from . import driver, native
from .planner import Plan

_modules: dict[tuple[int, str], c.c_void_p] = {}  # by device and content
_ALIGNED = 256  # where blocks of scratch begin


class _Slot(c.Structure):  # these three as replay.cpp has them
    _fields_ = [("at", c.c_void_p), ("block", c.c_uint64), ("offset", c.c_uint64), ("is_map", c.c_uint64)]


class _Step(c.Structure):
    _fields_ = [("slots", c.POINTER(_Slot)), ("slot_count", c.c_uint64), ("config", c.POINTER(driver.Config)), ("function", c.c_void_p),
                ("arguments", c.POINTER(c.c_void_p)), ("to", c.c_uint64), ("from", c.c_uint64), ("bytes", c.c_uint64),
                ("value", c.c_uint64), ("what", c.c_char_p)]  # fmt: skip


class _Replay(c.Structure):
    _fields_ = [("driver", c.c_void_p), ("context", c.c_void_p), ("steps", c.POINTER(_Step)), ("step_count", c.c_uint64),
                ("block_count", c.c_uint64), ("failed", c.c_uint64)]  # fmt: skip


class Replay:
    """A plan with its kernels loaded on one device.

    run wants the addresses of all tensors, in the order of names, and of scratch_bytes of memory if that is not 0.
    A Replay is made once for a shape, so that a call does little more than write addresses into arguments.
    """

    def __init__(self, plan: Plan, device: int, names: Sequence[str], upload: Callable[[bytes], object] | None = None) -> None:
        self.device, self.plan, self._upload = device, plan, upload
        context = driver.enter(device)
        scratch, self.scratch_bytes = lay_out(plan)
        self._places = {i: (names.index(b["name"]), 0) for i, b in enumerate(plan.blocks) if b["tensor"]}
        self._places |= {i: (len(names), at) for i, at in scratch}
        self._kept: list[object] = []  # what the steps point to
        self._steps = (_Step * len(plan.steps))()
        for step, one in zip(self._steps, plan.steps):
            if "fill" in one:
                self._fill(step, one["fill"])
            else:
                self._launch(step, one["launch"])
        blocks = len(names) + bool(self.scratch_bytes)
        self.struct = _Replay(c.cast(driver.table(), c.c_void_p), context, self._steps, len(self._steps), blocks, 0)
        self._at = c.addressof(self.struct)
        self._start = native.library("replay").flashlab_start
        self._start.argtypes = [c.c_void_p, c.c_char_p]
        self._words = struct.Struct(f"{1 + blocks}Q").pack

    def run(self, stream: int, *addresses: int) -> None:
        words = self._words(stream, *addresses)
        code = self._start(self._at, words)
        if code == 0:
            return
        if driver.lacks_context(code):  # a thread that has not used the GPU yet
            driver.enter(self.device)
            code = self._start(self._at, words)
        driver.check(code, self._steps[self.struct.failed].what.decode())

    def _fill(self, step: _Step, fill: dict) -> None:
        step.what = f"filling {self.plan.blocks[fill['block']]['name']}".encode()
        step.bytes, step.value = fill["bytes"], fill["value"]
        if fill.get("data"):
            kept = self._upload(base64.b64decode(fill["data"]))
            self._kept.append(kept)
            setattr(step, "from", kept.data_ptr())
        self._point(step, [(c.addressof(step) + _Step.to.offset, fill)])

    def _launch(self, step: _Step, launch: dict) -> None:
        module = _load(self.plan, launch["module"], self.device)
        grid, block, clusters = launch["grid"], launch["block"], launch.get("cluster")
        step.what = f"kernel {launch['kernel']}, grid {'×'.join(map(str, grid))}, block {'×'.join(map(str, block))}".encode()
        step.function = driver.function(module, launch["kernel"], launch["shared"], bool(clusters))
        config = driver.config(grid, block, launch["shared"], clusters, launch.get("cooperative", False))
        values, pointers = [], []
        for argument in launch["arguments"] or []:
            value = _place(base64.b64decode(argument["bytes"]))
            values.append(value)
            if argument.get("map"):
                driver.encode(c.addressof(value), argument["map"])
            for p in argument.get("pointers") or []:
                pointers.append((c.addressof(value) + p["at"], p | {"map": "map" in argument}))
        addresses = (c.c_void_p * len(values))(*map(c.addressof, values))
        step.config, step.arguments = c.pointer(config), addresses
        self._kept += [config, values, addresses]
        self._point(step, pointers)

    def _point(self, step: _Step, pointers: list[tuple[int, dict]]) -> None:
        """Where addresses are written, and what they point to."""
        slots = (_Slot * len(pointers))()
        for slot, (at, to) in zip(slots, pointers):
            block, begin = self._places[to["block"]]
            slot.at, slot.block, slot.offset, slot.is_map = at, block, begin + to["offset"], to.get("map", False)
        step.slots, step.slot_count = slots, len(slots)
        self._kept.append(slots)


def _place(data: bytes) -> c.Array:
    """Memory for an argument, at a multiple of 64, which a CUtensorMap wants."""
    room = (c.c_ubyte * (len(data) + 72))()
    value = (c.c_ubyte * max(len(data), 8)).from_buffer(room, -c.addressof(room) % 64)
    c.memmove(value, data, len(data))
    return value


def lay_out(plan: Plan) -> tuple[list[tuple[int, int]], int]:
    """Where each block of scratch begins in one piece of memory, and how long that is."""
    places, end = [], 0
    for i, b in enumerate(plan.blocks):
        if not b["tensor"]:
            places.append((i, end))
            end += -(-b["bytes"] // _ALIGNED) * _ALIGNED
    return places, end


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
