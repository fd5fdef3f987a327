"""What can be asked for, by the names that rubrics use, and where each is made. This file needs no PyTorch."""

import importlib

# The module, and the package that a kind needs besides PyTorch.
KINDS = {
    "matmul": ("plain", None), "softmax": ("plain", None),
    "sdpa": ("attention", None), "half": ("attention", None), "math": ("attention", None), "multihead": ("attention", None),
    "flash": ("attention", None), "cudnn": ("attention", None), "fa4": ("attention", "flash_attn.cute"),
    "sage": ("attention", "sageattention"), "rotated": ("attention", None), "cached": ("attention", None),
    "joined": ("linears", None), "three": ("linears", None), "int4pack": ("linears", None),
    "bitsandbytes": ("linears", "bitsandbytes"), "humming": ("linears", "humming"),
}


def maker(kind):
    """The function that makes a kind's call for a workload; an error says what is not installed."""
    if kind not in KINDS:
        raise ValueError(f"there is no peer {kind!r}")
    module, package = KINDS[kind]
    if package:
        try:
            importlib.import_module(package)
        except ImportError as e:
            raise RuntimeError(f"{package.split('.')[0]} is not installed here ({e})") from e
    return getattr(importlib.import_module(module), kind)


class Call:
    """Something to time: run(given) on what ready(*tensors) made of a run's inputs. output() is the
    case's own output, as the course lays it out."""

    def __init__(self, run, ready=lambda *tensors: tensors, output=lambda out: out):
        self.run, self.ready, self.output = run, ready, output
