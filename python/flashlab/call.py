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


def call(source: str, options: tuple, names: tuple[str, ...], inputs: tuple[torch.Tensor, ...], outputs: tuple[torch.Tensor, ...],
         request: Callable[[], Request]) -> None:  # fmt: skip
    """Run an operation on inputs, into outputs; names are those of both, as the planner has them.

    request checks the arguments. It is asked only where a call like this one has not been made yet:
    the key holds all that a check looks at. The time of a small call is spent here.
    """
    device = inputs[0].get_device()
    if device >= 0 and device != torch._C._cuda_getDevice():
        with torch.cuda.device(device):
            return call(source, options, names, inputs, outputs, request)
    key, addresses, fits, bits = [source, options], [], True, 0
    for t in inputs:
        at = t.data_ptr()
        addresses.append(at)
        bits |= at
        key += t.shape, t.dtype
        fits = fits and t.is_contiguous() and t.get_device() == device  # else request says what does not fit
    for t in outputs:
        at = t.data_ptr()
        addresses.append(at)
        bits |= at
    key += fits, device, bits & 255 and tuple(a & 255 for a in addresses)
    key = tuple(key)
    replay = _by_call.get(key)
    if replay is None:
        replay = _by_call[key] = _prepare(source, request(), names, addresses, inputs[0].device)
    if replay.scratch_bytes:
        scratch = torch.empty(replay.scratch_bytes, dtype=torch.uint8, device=inputs[0].device)
        addresses.append(scratch.data_ptr())
    replay.run(torch._C._cuda_getCurrentRawStream(device), *addresses)
    if _waits:
        synchronize()


def _prepare(source: str, request: Request, names: tuple[str, ...], addresses: list[int], device: torch.device) -> Replay:
    request = replace(request, offsets=tuple((name, a & 255) for name, a in zip(names, addresses)))
    index = torch.cuda.current_device()
    key = source, request, index
    if key not in _by_request:
        plan = planner(request.program, source).plan(request, driver.gpu(index))
        _by_request[key] = Replay(plan, index, names, lambda data: torch.frombuffer(bytearray(data), dtype=torch.uint8).to(device))
    return _by_request[key]


def direct(op: str, *tensors: torch.Tensor) -> bool:
    """Plain tensors, nobody who compiles or watches operators, and no gradient, which is refused."""
    if torch.compiler.is_dynamo_compiling() or torch._C._len_torch_dispatch_stack():
        return False
    gradients = torch.is_grad_enabled()
    for t in tensors:
        if type(t) is not torch.Tensor and type(t) is not torch.nn.Parameter:
            return False
        if gradients and t.requires_grad:
            raise ArgumentError(f"{op}: an input requires a gradient, and the course's kernels have no backward: call under torch.no_grad()")
    return True


def synchronize() -> None:
    """Wait for the GPU. An error of a kernel says how to find it."""
    try:
        torch.cuda.synchronize()
    except RuntimeError as e:
        text = str(e)
        if "illegal" in text or "misaligned" in text or "launch failure" in text or "assert" in text:
            raise faulted("the GPU stopped a kernel", text.splitlines()[0]) from None
        raise
