"""What can go wrong, each with what to do about it."""


class FlashlabError(RuntimeError):
    """Any error of this package."""


class ArgumentError(FlashlabError, ValueError):
    """A tensor or an option that the call cannot take."""


class StubError(FlashlabError):
    """The task's code is not written yet."""


class KernelError(FlashlabError):
    """A kernel that does not compile, is refused by the GPU, or is stopped."""


def faulted(what: str, why: str) -> KernelError:
    """A kernel went astray: the simulator and CUDA's own tools find where."""
    return KernelError(
        f"{what}: {why}. A kernel that ran before used an address it must not; `make grade` finds where "
        "in the simulator, `make sanitize` on the GPU. Start Python anew first: its GPU context is lost."
    )
