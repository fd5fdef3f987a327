"""bench/peers: what can be asked for is made somewhere, and what is not installed says so. No PyTorch."""

import ast
import importlib
import re
import sys
import types
import unittest
from pathlib import Path
from unittest import mock

ROOT = Path(__file__).resolve().parents[2]
PEERS = ROOT / "bench" / "peers"


class Peers(unittest.TestCase):
    def setUp(self):
        sys.path.insert(0, str(PEERS))
        self.kinds = importlib.import_module("kinds")

    def tearDown(self):
        sys.path.remove(str(PEERS))
        sys.modules.pop("kinds", None)

    def test_each_kind_is_made_by_a_function_of_its_name(self):
        for kind, (module, _) in self.kinds.KINDS.items():
            tree = ast.parse((PEERS / f"{module}.py").read_text())
            made = {f.name: f for f in tree.body if isinstance(f, ast.FunctionDef)}
            self.assertIn(kind, made, module)
            self.assertEqual([a.arg for a in made[kind].args.args], ["work"], kind)

    def test_the_grader_asks_for_the_same(self):
        go = (ROOT / "grader/grading/peers/torch.go").read_text()
        block = go[go.index("var Kinds = map") :]
        asked = set(re.findall(r'"(\w+)":\s+\{Name:', block[: block.index("\n}")]))
        self.assertEqual(asked, set(self.kinds.KINDS))

    def test_rubrics_name_them(self):
        named = set()
        for rubric in ROOT.glob("**/rubric.toml"):
            for names in re.findall(r"beside = \[([^\]]*)\]", rubric.read_text()):
                named |= set(re.findall(r'"(\w+)"', names))
        self.assertGreater(len(named), 10)
        self.assertLessEqual(named, set(self.kinds.KINDS))
        self.assertEqual(set(self.kinds.KINDS) - named, {"half"}, "which only measuring.md's mistakes need")

    def test_what_is_not_installed_says_so(self):
        for kind, (_, package) in self.kinds.KINDS.items():
            if not package:
                continue
            with mock.patch.dict(sys.modules, {package: None, package.split(".")[0]: None}):
                with self.assertRaisesRegex(RuntimeError, f"{package.split('.')[0]} is not installed here"):
                    self.kinds.maker(kind)
        with self.assertRaisesRegex(ValueError, "there is no peer 'flush'"):
            self.kinds.maker("flush")

    def test_what_is_installed_is_made(self):
        attention = types.SimpleNamespace(fa4="made")
        with mock.patch.dict(sys.modules, {"flash_attn": types.ModuleType("flash_attn"), "flash_attn.cute": types.ModuleType("cute"), "attention": attention}):
            self.assertEqual(self.kinds.maker("fa4"), "made")


if __name__ == "__main__":
    unittest.main()
