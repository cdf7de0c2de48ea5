"""Checks which modules may import trl, verl and torch, and the command line of the package."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

from rehearsal_trainer.__main__ import COMMANDS

PACKAGE = Path(__file__).resolve().parents[1] / "rehearsal_trainer"
FREE = "orch-free"


def imports(path: Path) -> set[str]:
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            names |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names.add(node.module.split(".")[0])
    return names


def saying_trl(files: list[Path]) -> list[str]:
    return [path.name for path in files if imports(path) & {"trl", "verl"}]


def test_only_the_backends_say_trl(tmp_path: Path) -> None:
    files = [path for path in PACKAGE.rglob("*.py") if "backends" not in path.parts]
    assert len(files) > 15
    assert saying_trl(files) == []
    planted = tmp_path / "planted.py"
    planted.write_text("from trl import GRPOTrainer\n")
    assert saying_trl([planted]) == ["planted.py"]


def promising(files: list[Path]) -> list[str]:
    """Returns the modules whose docstring says that they are torch-free."""
    words = {path: ast.get_docstring(ast.parse(path.read_text())) or "" for path in files}
    return [".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts) for path in files if FREE in words[path]]


def first_needing_torch(modules: list[str]) -> str:
    # Ends the child before it imports torch, which is slow.
    code = f"""
import importlib, sys
class NoTorch:
    def find_spec(self, name, *_):
        if name == "torch":
            print(module)
            sys.exit()
sys.meta_path.insert(0, NoTorch())
for module in {modules!r}:
    importlib.import_module(module)
"""
    done = subprocess.run([sys.executable, "-c", code], cwd=PACKAGE.parent, capture_output=True, text=True, check=True)
    return done.stdout.strip()


def test_what_is_said_to_need_no_torch_needs_none() -> None:
    modules = promising(sorted(PACKAGE.rglob("*.py")))
    assert len(modules) > 20
    assert first_needing_torch(modules) == ""
    needing = "rehearsal_trainer.sampler.cpu_decoder.generation"
    assert first_needing_torch([needing]) == needing


@pytest.mark.parametrize(
    ("argv", "code", "said"),
    [
        ([], 2, "usage"),
        (["--help"], 0, "usage"),
        (["dance"], 2, "unknown command"),
        *(([name, "--help"], 0, f"rehearsal_trainer {name}") for name in COMMANDS if name != "explain"),
        (["explain"], 0, '"charts"'),
        (["grpo", "--set", "x=1"], 2, "error: x: there is no such key"),
    ],
)
def test_the_command_line(argv: list[str], code: int, said: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "rehearsal_trainer", *argv], cwd=PACKAGE.parent, capture_output=True, text=True
    )
    assert done.returncode == code
    assert said in done.stdout + done.stderr
    assert "Traceback" not in done.stderr
