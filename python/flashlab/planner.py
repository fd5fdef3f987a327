"""Asks a task's Go code how it launches its kernels: a process for each task and source."""

from __future__ import annotations

import base64
import json
import subprocess
import threading
from dataclasses import dataclass, field
from typing import Any

from . import tree
from .errors import ArgumentError, FlashlabError, KernelError, StubError


@dataclass(frozen=True)
class Gpu:
    """What Go code may know of a GPU, as device.Info has it."""

    name: str
    arch: str
    processors: int
    max_threads: int
    max_shared: int
    memory: int

    def info(self) -> dict[str, Any]:
        return {
            "Kind": "cuda", "Name": self.name, "Arch": self.arch, "Processors": self.processors, "WarpSize": 32,
            "MaxThreads": self.max_threads, "MaxShared": self.max_shared, "MemoryBytes": self.memory,
        }  # fmt: skip


@dataclass(frozen=True)
class Request:
    """One call: the operation, its type and sizes, and how its tensors are aligned."""

    program: str
    op: str
    dtype: str
    sizes: tuple[tuple[str, int], ...]
    offsets: tuple[tuple[str, int], ...] = ()


@dataclass
class Plan:
    """What a call does: launches and fills on blocks of memory, tensors or scratch."""

    blocks: list[dict[str, Any]]
    modules: list[dict[str, Any]]
    steps: list[dict[str, Any]]
    cubins: list[bytes] = field(default_factory=list)


class Planner:
    """One task's Go code, in a process that answers a request a line."""

    def __init__(self, program: str, source: str) -> None:
        self.program, self.source, self.task = program, source, tree.tasks()[program]
        binary, headers = tree.build(program, source)
        try:
            self._process = subprocess.Popen([str(binary), *headers], stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=tree.root())
        finally:
            binary.unlink(missing_ok=True)  # it runs on without its name
        self._lock = threading.Lock()

    def plan(self, request: Request, gpu: Gpu, compile: bool = True) -> Plan:
        line = json.dumps({
            "Op": request.op, "Type": request.dtype, "Sizes": dict(request.sizes), "Offsets": dict(request.offsets),
            "Device": gpu.info(), "Compile": compile,
        })  # fmt: skip
        with self._lock:
            answer = self._ask(line)
        if answer.get("error"):
            raise self._failed(request, answer["kind"], answer["error"])
        modules = answer["modules"] or []
        cubins = [base64.b64decode(m.get("cubin") or "") for m in modules]
        return Plan(answer["blocks"], modules, answer["steps"], cubins)

    def _ask(self, line: str) -> dict[str, Any]:
        try:
            self._process.stdin.write(line.encode() + b"\n")
            self._process.stdin.flush()
            reply = self._process.stdout.readline()
        except BrokenPipeError:
            reply = b""
        if not reply:
            code = self._process.wait()
            raise FlashlabError(f"the Go code of {self.task} ended (exit code {code}); what it printed is above")
        return json.loads(reply)

    def _failed(self, request: Request, kind: str, error: str) -> FlashlabError:
        what = f"{request.op} ({self.task}, {self.source})"
        if kind == "stub":
            return StubError(f'{what} is still the stub ({error}): write it, or use source="solution" where there is one')
        if kind == "compile":
            return KernelError(f"{what}: the kernel does not compile; `make build` shows the same:\n{error}")
        return (FlashlabError if kind == "nvcc" else ArgumentError)(f"{what}: {error}")

    def close(self) -> None:
        self._process.stdin.close()
        self._process.wait()
        self._process.stdout.close()


_planners: dict[tuple[str, str], Planner] = {}
_lock = threading.Lock()


def planner(program: str, source: str) -> Planner:
    """The planner of a task; a process is started once."""
    with _lock:
        if (program, source) not in _planners:
            _planners[program, source] = Planner(program, source)
        return _planners[program, source]


def reload() -> None:
    """Forget all plans and kernels, so that the next call builds edited files."""
    from . import replay

    with _lock:
        for one in _planners.values():
            one.close()
        _planners.clear()
    replay.forget()
