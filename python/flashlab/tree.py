"""The course's tree: where it is, whose code of a task to take, and the planner built with it."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import subprocess
from pathlib import Path

from .errors import FlashlabError, KernelError


def root() -> Path:
    """The flashlab tree: FLASHLAB_ROOT, or the one that holds this file, or the working directory."""
    named = os.environ.get("FLASHLAB_ROOT")
    starts = [Path(named)] if named else [Path(__file__).resolve(), Path.cwd()]
    for start in starts:
        for at in (start, *start.parents):
            module = at / "go.mod"
            if module.is_file() and re.search(r"^module flashlab$", module.read_text(), re.MULTILINE):
                return at
    raise FlashlabError(
        f"no flashlab tree at {' or '.join(map(str, starts))}: set FLASHLAB_ROOT to the course's folder, "
        "or install with pip install -e python from it"
    )


def tasks() -> dict[str, str]:
    """Which program under python/planner holds which task's code, as the rubrics have it."""
    found = {}
    for rubric in sorted([*root().glob("task*/rubric.toml"), *root().glob("bonus/*/rubric.toml")]):
        named = re.search(r'^python\s*=\s*"(\w+)"', rubric.read_text(), re.MULTILINE)
        if named is not None:
            found[named[1]] = rubric.parent.relative_to(root()).as_posix()
    return found


def overlay(tree: Path, task: str, source: str) -> dict[str, str]:
    """Which files of a task to replace, for `go build -overlay`; none for the student's own."""
    if source == "student":
        return {}
    folder = tree / task
    solution = folder / "solution"
    version = None
    if source.startswith("version:"):
        version = solution / "_versions" / source.removeprefix("version:")
    elif source != "solution":
        raise FlashlabError(f'source="{source}": want "student", "solution", or "version:NAME"')
    if not solution.is_dir():
        raise FlashlabError(f'source="{source}": {task} has no solution in this tree; use source="student"')
    if version is not None and not version.is_dir():
        known = ", ".join(sorted(p.name for p in (solution / "_versions").glob("*"))) or "none"
        raise FlashlabError(f'source="{source}": {task} has no such version; it has {known}')
    if version is not None:
        return _version(tree, task, version.name)
    return {str(folder / name): str(solution / name) for name in _students_files(folder)}


def _version(tree: Path, task: str, name: str) -> dict[str, str]:
    """A version's files, which the grader puts together."""
    short = Path(task).name.split("_")[0].removeprefix("task")
    listing = tree / "out" / "python" / f"{short}-{name}.json"
    command = [_go(), "run", "./grader", "overlay", "-task", short, "-version", name, "-o", str(listing)]
    done = subprocess.run(command, cwd=tree, capture_output=True, text=True, env=dict(os.environ, CGO_ENABLED="0"))
    if done.returncode != 0:
        raise FlashlabError(done.stderr.strip())
    return json.loads(listing.read_text())["Replace"]


def _students_files(folder: Path) -> list[str]:
    listed = re.search(r"^files\s*=\s*\[(.*?)\]", (folder / "rubric.toml").read_text(), re.MULTILINE | re.DOTALL)
    if listed is None:
        raise FlashlabError(f"{folder / 'rubric.toml'} has no list of files")
    return re.findall(r'"([^"]+)"', listed[1])


def _go() -> str:
    go = shutil.which("go") or next((p for p in ("/usr/local/go/bin/go",) if os.path.exists(p)), None)
    if go is None:
        raise FlashlabError("no go on this machine: install Go as README.md says; flashlab asks your Go code how to launch its kernels")
    return go


def headers(replaced: dict[str, str]) -> list[str]:
    """What kernels of a version may include beside the task's own."""
    return sorted(by for by in replaced.values() if by.endswith(".cuh"))


def build(program: str, source: str) -> tuple[Path, list[str]]:
    """Build the planner of a task with somebody's code, and name the headers that it takes; Go's own cache makes this cheap."""
    tree, task = root(), tasks()[program]
    replaced = overlay(tree, task, source)
    folder = tree / "out" / "python"
    folder.mkdir(parents=True, exist_ok=True)
    name = f"{program}-{hashlib.sha256(source.encode()).hexdigest()[:8]}-{os.getpid()}"
    binary, listing = folder / name, folder / f"{name}.json"
    try:
        listing.write_text(json.dumps({"Replace": replaced}))
        command = [_go(), "build", "-overlay", str(listing), "-o", str(binary), f"./python/planner/{program}"]
        done = subprocess.run(command, cwd=tree, capture_output=True, text=True, env=dict(os.environ, CGO_ENABLED="0"))
    finally:
        listing.unlink(missing_ok=True)
    if done.returncode != 0:
        raise KernelError(f"the Go code of {task} ({source}) does not compile:\n{done.stderr.strip()}")
    return binary, headers(replaced)
