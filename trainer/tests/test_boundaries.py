"""Who may import what."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parents[1] / "rehearsal_trainer"
TORCH_FREE = [
    "masks",
    "messages",
    "dialect",
    "chat",
    "session",
    "chat_request",
    "trajectories",
    "configuration",
    "preflight",
    "engine",
    "progress",
    "alarms",
    "event_file",
]


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


def test_half_of_the_package_needs_no_torch() -> None:
    modules = ", ".join(f"rehearsal_trainer.{name}" for name in TORCH_FREE)
    code = f"import sys, {modules}; print('torch' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], cwd=PACKAGE.parent, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


@pytest.mark.parametrize(
    ("argv", "code", "said"),
    [
        ([], 2, "usage"),
        (["--help"], 0, "usage"),
        (["dance"], 2, "unknown command"),
        (["grpo", "--set", "x=1"], 2, "error: x: there is no such field"),
    ],
)
def test_the_command_line(argv: list[str], code: int, said: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "rehearsal_trainer", *argv], cwd=PACKAGE.parent, capture_output=True, text=True
    )
    assert done.returncode == code
    assert said in done.stdout + done.stderr
    assert "Traceback" not in done.stderr
