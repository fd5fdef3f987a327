"""The package's C++, compiled when it is first used; nvcc needs the same compiler."""

from __future__ import annotations

import ctypes as c
import functools
import hashlib
import os
import shutil
import subprocess
from pathlib import Path

from . import tree
from .errors import FlashlabError

_HERE = Path(__file__).parent
_COMPILERS = "c++", "g++", "clang++"


@functools.cache
def library(name: str, include: str | None = None) -> c.PyDLL:
    """NAME.cpp as a library. It is compiled again where a file that goes into it differs; include holds headers of others."""
    path = _file(name, include)
    if not path.exists():
        _compile(_HERE / f"{name}.cpp", include, path)
    return c.PyDLL(str(path))  # keeps Python's lock: nobody else writes addresses meanwhile


def _file(name: str, include: str | None) -> Path:
    content = hashlib.sha256()
    for file in (*sorted(_HERE.glob("*.cpp")), *(sorted(Path(include).rglob("*.h")) if include else ())):
        content.update(file.read_bytes())
    return tree.root() / "out" / "python" / f"{name}-{content.hexdigest()[:16]}.so"


def _compile(source: Path, include: str | None, to: Path) -> None:
    compiler = next(filter(None, map(shutil.which, _COMPILERS)), None)
    if compiler is None:
        raise FlashlabError("no C++ compiler on this machine: install g++, which nvcc needs, too")
    to.parent.mkdir(parents=True, exist_ok=True)
    part = to.with_suffix(f".{os.getpid()}")
    command = [compiler, "-std=c++17", "-O2", "-shared", "-fPIC", *(["-isystem", include] if include else []), str(source), "-o", str(part)]
    try:
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode != 0:
            raise FlashlabError(f"{source} does not compile with {compiler}:\n{done.stderr.strip()}")
        part.replace(to)
    finally:
        part.unlink(missing_ok=True)
