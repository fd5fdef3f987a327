"""From tensors to a launch: finds or makes the replay of a call, and starts it on PyTorch's stream."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import Callable

import torch

from . import driver
from .errors import ArgumentError, faulted
from .planner import Request, planner
from .replay import Replay, remembers

_by_request: dict[tuple, Replay] = remembers({})
_by_call: dict[tuple, Replay] = remembers({})

# Waits after every call, so that a kernel that goes astray is named: FLASHLAB_SYNC=1.
_waits = os.environ.get("FLASHLAB_SYNC", "") not in ("", "0")


def call(source: str, options: tuple, tensors: dict[str, torch.Tensor], outputs: dict[str, torch.Tensor], request: Callable[[], Request]) -> None:
    """Run an operation on tensors, into outputs.

    request checks the arguments. It is asked only where a call like this one has not been made yet:
    its key holds all that a check looks at.
    """
    device = next(iter(tensors.values())).device
    if device.type == "cuda" and device.index != torch.cuda.current_device():
        with torch.cuda.device(device):
            return call(source, options, tensors, outputs, request)
    addresses = {name: t.data_ptr() for name, t in (tensors | outputs).items()}
    key = (source, options, *((t.shape, t.stride(), t.dtype, t.device) for t in tensors.values()), *(a & 255 for a in addresses.values()))
    replay = _by_call.get(key)
    if replay is None:
        replay = _by_call[key] = _prepare(source, request(), addresses, device)
    at = 0
    if replay.scratch_bytes:
        scratch = torch.empty(replay.scratch_bytes, dtype=torch.uint8, device=device)
        at = scratch.data_ptr()
    replay.run(addresses, at, torch._C._cuda_getCurrentRawStream(replay.device))
    if _waits:
        synchronize()


def _prepare(source: str, request: Request, addresses: dict[str, int], device: torch.device) -> Replay:
    request = replace(request, offsets=tuple((name, a & 255) for name, a in addresses.items()))
    index = torch.cuda.current_device()
    key = source, request, index
    if key not in _by_request:
        plan = planner(request.program, source).plan(request, driver.gpu(index))
        _by_request[key] = Replay(plan, index, lambda data: torch.frombuffer(bytearray(data), dtype=torch.uint8).to(device))
    return _by_request[key]


def refuse_gradients(op: str, *tensors: torch.Tensor) -> None:
    if torch.is_grad_enabled() and any(t.requires_grad for t in tensors):
        raise ArgumentError(f"{op}: an input requires a gradient, and the course's kernels have no backward: call under torch.no_grad()")


def synchronize() -> None:
    """Wait for the GPU. An error of a kernel says how to find it."""
    try:
        torch.cuda.synchronize()
    except RuntimeError as e:
        text = str(e)
        if "illegal" in text or "misaligned" in text or "launch failure" in text or "assert" in text:
            raise faulted("the GPU stopped a kernel", text.splitlines()[0]) from None
        raise
