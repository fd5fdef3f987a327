"""What each race.py of the bonus tasks needs: kernels compiled by nvcc, launched on PyTorch's tensors, and timed.

    sys.path.insert(0, str(HERE.parents[2] / "python"))
    import racing

A race has what is its own: shapes, peers, what it prints. Needs nvcc, PyTorch and a GPU when it is called, not when it is
imported. WORK names a folder of compiled kernels that is kept, and NVCC the compiler.
"""
import ctypes
import functools
import hashlib
import os
import subprocess
import tempfile
from concurrent.futures import ThreadPoolExecutor
from itertools import zip_longest
from pathlib import Path

from .rungs import ROOT, rung
from .source import changed, constant, parameters

__all__ = ["ROOT", "changed", "constant", "parameters", "rung"]  # of other files, under this name
HEADERS = [ROOT / "device/nvcc/include", ROOT / "device/include"]
SHARED_MEMORY, EARLY = 8, 6  # CUDA's numbers: a function's attribute, a launch's


@functools.cache
def driver():
    import torch
    torch.zeros(1, device="cuda")  # makes the context that the calls use
    return ctypes.CDLL("libcuda.so.1")


def call(name, *args):
    if code := getattr(driver(), name)(*args):
        text = ctypes.c_char_p()
        driver().cuGetErrorName(code, ctypes.byref(text))
        raise RuntimeError(f"{name}: {text.value.decode()}")


@functools.cache
def work():
    folder = Path(os.environ.get("WORK") or tempfile.mkdtemp())
    folder.mkdir(parents=True, exist_ok=True)
    return folder


class File:
    """A kernel's file with its macros, {"DIM": 128}; text in place of what is in it, for a try."""

    def __init__(self, path, macros=None, text=None):
        self.path, self.macros, self.module = Path(path), dict(macros or {}), None
        self.text = self.path.read_text() if text is None else text
        self.kernels = {}

    def compile(self):
        """Where its machine code is. Products that wait for each other (C7510 and its like) are an error."""
        headers = [*HEADERS, self.path.parent]
        texts = [h.read_text() for folder in headers for h in sorted([*folder.glob("*.h"), *folder.glob("*.cuh")])]
        key = hashlib.sha256(repr((self.text, self.macros, texts)).encode()).hexdigest()[:16]
        cubin = work() / f"{self.path.stem}_{key}.cubin"
        if cubin.exists():
            return cubin
        file = cubin.with_suffix(".cu")
        file.write_text(self.text)
        part = cubin.with_suffix(".part")
        done = subprocess.run(
            [os.environ.get("NVCC", "nvcc"), "-cubin", "-gencode=arch=compute_90a,code=sm_90a", "-std=c++17", "-O3",
             *(f"-I{folder}" for folder in headers), *(f"-D{name}={value}" for name, value in self.macros.items()), "-o", part, file],
            capture_output=True, text=True)
        if done.returncode or "C75" in done.stderr:
            raise RuntimeError(f"{self.path}: nvcc: {done.stdout}{done.stderr}")
        part.rename(cubin)
        return cubin

    def kernel(self, name):
        if name not in self.kernels:
            if not self.module:
                self.module = ctypes.c_void_p()
                call("cuModuleLoadData", ctypes.byref(self.module), self.compile().read_bytes())
            kinds = parameters(self.text, name, self.macros)
            if kinds is None:
                raise RuntimeError(f"{self.path} has no kernel {name}")
            function = ctypes.c_void_p()
            call("cuModuleGetFunction", ctypes.byref(function), self.module, name.encode())
            self.kernels[name] = Kernel(name, function, kinds)
        return self.kernels[name]


def compile_all(files):
    """Compiles as many at once as there are processors."""
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        list(pool.map(File.compile, files))


class TensorMap:
    """A map of a contiguous tensor for the copy engine: boxes of so many columns and rows, swizzled by a line's bytes."""

    ELEMENTS = {"torch.uint8": 0, "torch.int8": 0, "torch.float16": 6, "torch.bfloat16": 9}
    SWIZZLES = {32: 1, 64: 2, 128: 3}

    def __init__(self, x, columns, rows):
        self.tensor, self.room = x, ctypes.create_string_buffer(192)
        self.address = (ctypes.addressof(self.room) + 63) // 64 * 64
        size, sizes = x.element_size(), tuple(reversed(x.shape))
        strides = [size]
        for n in sizes[:-1]:
            strides.append(strides[-1] * n)
        rank = len(sizes)
        box = (columns, rows, *[1] * (rank - 2))
        call("cuTensorMapEncodeTiled", ctypes.c_void_p(self.address), self.ELEMENTS[str(x.dtype)], rank, ctypes.c_void_p(x.data_ptr()),
             (ctypes.c_uint64 * rank)(*sizes), (ctypes.c_uint64 * (rank - 1))(*strides[1:]), (ctypes.c_uint32 * rank)(*box),
             (ctypes.c_uint32 * rank)(*[1] * rank), 0, self.SWIZZLES[columns * size], 2, 0)


def packed(name, kinds, args):
    """The arguments as C has them; kinds are those of the kernel's parameters."""
    def pack(x, wanted):
        if isinstance(x, TensorMap):
            return "map", x
        if hasattr(x, "data_ptr"):
            return "pointer", ctypes.c_uint64(x.data_ptr())
        if isinstance(x, float):
            return "float", ctypes.c_float(x)
        return ("long", ctypes.c_uint64(x)) if wanted == "long" else ("int", ctypes.c_int(int(x)))
    values = [pack(x, wanted) for x, (_, wanted) in zip(args, zip_longest(args, kinds))]
    if [kind for kind, _ in values] != kinds:
        raise TypeError(f"{name} takes {', '.join(kinds)}, not {', '.join(kind for kind, _ in values)}")
    return [value for _, value in values]


class Attribute(ctypes.Structure):
    _fields_ = [("id", ctypes.c_int), ("pad", ctypes.c_int), ("value", ctypes.c_int), ("rest", ctypes.c_int * 15)]


class Config(ctypes.Structure):
    _fields_ = [("grid", ctypes.c_uint * 3), ("block", ctypes.c_uint * 3), ("shared", ctypes.c_uint), ("stream", ctypes.c_void_p),
                ("attributes", ctypes.POINTER(Attribute)), ("count", ctypes.c_uint)]


class Kernel:
    def __init__(self, name, function, kinds):
        self.name, self.function, self.kinds = name, function, kinds

    def launcher(self, grid, threads, shared, *args, early=False):
        """A function that launches on PyTorch's stream, and keeps the arguments alive. An early launch may begin while the one
        before it still runs."""
        values = packed(self.name, self.kinds, args)
        at = (ctypes.c_void_p * len(values))(*(v.address if isinstance(v, TensorMap) else ctypes.addressof(v) for v in values))
        attribute = Attribute(EARLY, 0, 1)
        grid = (ctypes.c_uint * 3)(*grid, *[1] * (3 - len(grid)))
        config = Config(grid, (ctypes.c_uint * 3)(threads, 1, 1), shared, None, ctypes.pointer(attribute), int(early))
        call("cuFuncSetAttribute", self.function, SHARED_MEMORY, shared)

        def go(keep=(args, values, attribute)):
            import torch
            config.stream = torch.cuda.current_stream().cuda_stream
            call("cuLaunchKernelEx", ctypes.byref(config), self.function, at, None)
        return go


def scratch(numbers=1 << 22, groups=4096):
    """What blocks that share work need of a launch: room for what they find, and zeros that count which are done. Launches that
    may overlap need it each for itself."""
    import torch
    return torch.empty(numbers, device="cuda"), torch.zeros(groups, device="cuda", dtype=torch.int32)


def processors():
    import torch
    return torch.cuda.get_device_properties(0).multi_processor_count


def error(got, want):
    """The RMS of the error, relative to what is wanted."""
    return ((got.double() - want).square().mean() / want.square().mean().clamp_min(1e-30)).sqrt().item()


def graph_of(functions, calls=None):
    """A graph of so many calls, of these in turn: of each once, if not said otherwise."""
    import torch
    for f in functions:
        f()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for i in range(calls or len(functions)):
            functions[i % len(functions)]()
    return graph


def graph_us(functions, calls=None, warmup=10, rep=60):
    """Microseconds a call in such a graph: the median of so many milliseconds, the L2 emptied before each."""
    from triton.testing import do_bench
    graph = graph_of(functions, calls)
    return do_bench(graph.replay, warmup=warmup, rep=rep, return_mode="median") * 1e3 / (calls or len(functions))
