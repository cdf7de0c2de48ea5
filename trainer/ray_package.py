"""The package `rehearsal_trainer` in the folder of a Ray job, which loads the trainer from the job's wheel.

The job and its workers import this file, after install_wheel.py in one file, on every machine of the cluster.
"""

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    # At run time this file is an earlier part of the same file.
    from install_wheel import install_wheel


def load_trainer(job: Path) -> None:
    """Installs the wheel of a job, and makes this package the one that the wheel contains."""
    sha256, name = (job / "SHA256SUMS").read_text(encoding="utf-8").split()
    package = install_wheel(job / name, sha256, job / "trainers" / sha256) / "rehearsal_trainer"
    source = package / "__init__.py"
    module = globals()
    module["__path__"][:] = [str(package)]
    module["__file__"] = str(source)
    exec(compile(source.read_bytes(), str(source), "exec"), module)


load_trainer(Path(__file__).resolve().parents[1])
