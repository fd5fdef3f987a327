"""The examples: what they call is there, and without PyTorch, JAX or a GPU they end with a sentence."""

import ast
import os
import subprocess
import sys
import unittest
from pathlib import Path

import fakes
from test_jax import has_gpu as jax_has_gpu
from test_torch import torch

from flashlab import tree

EXAMPLES = sorted((tree.root() / "python" / "examples").glob("*.py"))


class Examples(unittest.TestCase):
    def run_one(self, path: Path) -> subprocess.CompletedProcess:
        environment = dict(os.environ, PYTHONPATH=str(tree.root() / "python"))
        return subprocess.run([sys.executable, str(path), "solution"], capture_output=True, text=True, env=environment)

    def test_names(self) -> None:
        """Without PyTorch and JAX: each function that an example calls is defined where it looks for it."""
        self.assertEqual([p.name for p in EXAMPLES], ["jax_kernels.py", "torch_kernels.py"])
        for path, module in zip(EXAMPLES, ("jax.py", "ops.py")):
            defined = {n.name for n in ast.parse((tree.root() / "python" / "flashlab" / module).read_text()).body if isinstance(n, ast.FunctionDef)}
            called = {n.func.attr for n in ast.walk(ast.parse(path.read_text()))
                      if isinstance(n, ast.Call) and isinstance(n.func, ast.Attribute) and isinstance(n.func.value, ast.Name)
                      and n.func.value.id in ("own", "flashlab")}  # fmt: skip
            self.assertGreaterEqual(len(called), 4)
            self.assertLessEqual(called, defined, path.name)

    def test_runs(self) -> None:
        for path, has in zip(EXAMPLES, (jax_has_gpu, torch is not None and torch.cuda.is_available())):
            with self.subTest(path.name):
                done = self.run_one(path)
                if has and fakes.shutil.which("go"):
                    self.assertEqual((done.returncode, done.stdout.count("error")), (0, 6), done.stderr)
                else:
                    self.assertEqual(done.returncode, 1)
                    self.assertEqual(len(done.stderr.strip().splitlines()), 1, done.stderr)


if __name__ == "__main__":
    unittest.main()
