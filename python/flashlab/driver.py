"""The few functions of CUDA's driver that a launch takes, through ctypes."""

from __future__ import annotations

import ctypes as c
import functools

from .errors import FlashlabError, KernelError, faulted
from .planner import Gpu

_NO_CONTEXT = 201
_FAULTS = {700, 715, 716, 717, 718, 719, 710}  # what a kernel may be stopped for
_REFUSED = {1: "CUDA_ERROR_INVALID_VALUE", 701: "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES", 720: "CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE"}
_MAX_DYNAMIC_SHARED, _ANY_CLUSTER = 8, 14  # of CUfunction_attribute


@functools.cache
def library() -> c.PyDLL:
    """PyDLL keeps Python's lock: arguments stay as they are until the driver has copied them."""
    try:
        lib = c.PyDLL("libcuda.so.1")
    except OSError:
        raise FlashlabError("no GPU: this machine has no CUDA driver (libcuda.so.1); `make grade` runs kernels in the simulator") from None
    code = lib.cuInit(0)
    if code != 0:
        raise FlashlabError(f"no GPU: CUDA's driver does not start ({name_of(lib, code)}); nvidia-smi tells more")
    return lib


def name_of(lib: c.PyDLL, code: int) -> str:
    text = c.c_char_p()
    lib.cuGetErrorName(code, c.byref(text))
    return text.value.decode() if text.value else f"error {code}"


def check(code: int, what: str) -> None:
    if code == 0:
        return
    name = name_of(library(), code)
    if code in _FAULTS:
        raise faulted(what, name)
    if code in _REFUSED:
        raise KernelError(f"{what}: the GPU refuses the launch ({name}): look at its grid, block and shared memory")
    raise KernelError(f"{what}: {name}")


def enter(device: int) -> c.c_void_p:
    """Make the device's context, the one that PyTorch and JAX use too, this thread's."""
    lib, handle, context = library(), c.c_int(), c.c_void_p()
    check(lib.cuDeviceGet(c.byref(handle), device), f"device {device}")
    check(lib.cuDevicePrimaryCtxRetain(c.byref(context), handle), f"device {device}")
    check(lib.cuCtxSetCurrent(context), f"device {device}")
    return context


@functools.cache
def gpu(device: int) -> Gpu:
    lib, handle, value = library(), c.c_int(), c.c_int()
    check(lib.cuDeviceGet(c.byref(handle), device), f"device {device}")

    def attribute(number: int) -> int:
        check(lib.cuDeviceGetAttribute(c.byref(value), number, handle), f"device {device}")
        return value.value

    name, memory = c.create_string_buffer(256), c.c_size_t()
    check(lib.cuDeviceGetName(name, 256, handle), f"device {device}")
    check(lib.cuDeviceTotalMem_v2(c.byref(memory), handle), f"device {device}")
    arch = f"sm_{attribute(75)}{attribute(76)}"
    return Gpu(name.value.decode(), arch, attribute(16), attribute(1), attribute(97), memory.value)


def load(cubin: bytes, file: str) -> c.c_void_p:
    module = c.c_void_p()
    code = library().cuModuleLoadData(c.byref(module), cubin)
    if code == 900:  # CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED
        raise KernelError(f"{file}: kernels cannot be loaded while a CUDA graph is captured: make the same call once before")
    check(code, f"loading {file}")
    return module


def function(module: c.c_void_p, name: str, shared: int, cluster: bool) -> c.c_void_p:
    lib, f = library(), c.c_void_p()
    check(lib.cuModuleGetFunction(c.byref(f), module, name.encode()), f"kernel {name}")
    if shared > _allowed.get(f.value, 0):  # never lowered: other plans may launch the same kernel
        check(lib.cuFuncSetAttribute(f, _MAX_DYNAMIC_SHARED, shared), f"kernel {name} with {shared} bytes of shared memory")
        _allowed[f.value] = shared
    if cluster:
        lib.cuFuncSetAttribute(f, _ANY_CLUSTER, 1)  # merely allows larger ones
    return f


_allowed: dict[int, int] = {}  # bytes of dynamic shared memory, by the function's handle


class Attribute(c.Structure):  # CUlaunchAttribute: an id, and a value of 64 bytes behind it
    _fields_ = [("id", c.c_uint), ("pad", c.c_uint), ("value", c.c_uint * 16)]


class Config(c.Structure):  # CUlaunchConfig
    _fields_ = [("grid", c.c_uint * 3), ("block", c.c_uint * 3), ("shared", c.c_uint), ("stream", c.c_void_p),
                ("attributes", c.POINTER(Attribute)), ("count", c.c_uint)]  # fmt: skip


def config(grid: list[int], block: list[int], shared: int, cluster: list[int] | None, cooperative: bool) -> Config:
    """A launch; of a cluster (attribute 4), or of blocks that all live at once (attribute 2)."""
    found = []
    if cluster:
        found.append(Attribute(4, 0, (c.c_uint * 16)(*cluster)))
    if cooperative:
        found.append(Attribute(2, 0, (c.c_uint * 16)(1)))
    array = (Attribute * len(found))(*found)
    return Config((c.c_uint * 3)(*grid), (c.c_uint * 3)(*block), shared, None, array, len(found))


_CALLED = ("cuLaunchKernelEx", "cuMemsetD8Async", "cuMemcpyDtoDAsync_v2", "cuCtxPushCurrent_v2", "cuCtxPopCurrent_v2", "cuGetErrorName",
           "cuTensorMapReplaceAddress")  # fmt: skip


@functools.cache
def table() -> c.Array:
    """The functions that a replay calls, as replay.cpp has them. Drivers before CUDA 12 lack the last."""
    lib = library()
    return (c.c_void_p * len(_CALLED))(*(c.cast(getattr(lib, name), c.c_void_p) for name in _CALLED if hasattr(lib, name)))


def encode(at: int, shape: dict) -> None:
    """Write a CUtensorMap to 128 bytes at a multiple of 64. Its address is none yet, but as aligned as it must be."""
    lib, rank = library(), len(shape["sizes"])
    if not hasattr(lib, "cuTensorMapReplaceAddress"):
        raise KernelError("a TensorMap needs a GPU of Hopper's kind or newer, and a driver of CUDA 12")
    sizes, strides = (c.c_uint64 * rank)(*shape["sizes"]), (c.c_uint64 * rank)(*(shape["strides"] or []))
    box, steps = (c.c_uint32 * rank)(*shape["box"]), (c.c_uint32 * rank)(*[1] * rank)
    swizzle, apart, promoted, zeros = {0: 0, 32: 1, 64: 2, 128: 3}[shape["swizzle"]], 0, 2, 0
    code = lib.cuTensorMapEncodeTiled(c.c_void_p(at), shape["element"], c.c_uint32(rank), c.c_void_p(1 << 20), sizes, strides, box, steps,
                                      apart, swizzle, promoted, zeros)  # fmt: skip
    check(code, f"a TensorMap of {shape['sizes']} elements")


class Memory:
    """Bytes on the GPU, for good."""

    def __init__(self, data: bytes) -> None:
        at = c.c_uint64()
        check(library().cuMemAlloc_v2(c.byref(at), c.c_size_t(len(data))), f"{len(data)} bytes of GPU memory")
        check(library().cuMemcpyHtoD_v2(at, data, c.c_size_t(len(data))), "a copy to the GPU")
        self.data_ptr = lambda: at.value


def lacks_context(code: int) -> bool:
    return code == _NO_CONTEXT
