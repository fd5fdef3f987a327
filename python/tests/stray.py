"""Run by a test, in a process of its own: a kernel that goes astray ends CUDA's work in its process."""

from unittest import mock

import fakes
import torch

import flashlab

x = torch.ones(4, 4, device="cuda")
with mock.patch("flashlab.tree.overlay", fakes.astray):
    flashlab.softmax(x)
    try:
        torch.cuda.synchronize()
    except RuntimeError as e:
        print("torch:", str(e).splitlines()[0])
    try:
        flashlab.softmax(x)
    except flashlab.KernelError as e:
        print("flashlab:", e)
