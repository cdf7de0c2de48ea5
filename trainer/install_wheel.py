"""Installs the trainer's wheel on the machine of a training target. Uses only the standard library.

It is sent there as source: with remote_agent.py to a machine over SSH, and with ray_package.py to a Ray cluster.
"""

import hashlib
import io
import shutil
import tempfile
import zipfile
from pathlib import Path


def install_wheel(wheel: Path, sha256: str, folder: Path) -> Path:
    """Installs the wheel that has this SHA-256 into a folder, once. Returns the folder, which belongs on sys.path.

    The wheel contains Python and text files only, so unpacking it is the whole installation. Nothing is downloaded, and
    the Python environment stays unchanged.
    """
    if folder.exists():
        return folder
    content = wheel.read_bytes()
    found = hashlib.sha256(content).hexdigest()
    if found != sha256:
        raise ImportError(f"{wheel} was changed: its SHA-256 is {found}, and that of the trainer is {sha256}")
    folder.parent.mkdir(parents=True, exist_ok=True)
    unpacked = tempfile.mkdtemp(dir=folder.parent, prefix=".")
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            archive.extractall(unpacked)
        Path(unpacked).chmod(0o755)
        Path(unpacked).rename(folder)
    except OSError:
        shutil.rmtree(unpacked)
        if not folder.exists():  # otherwise another process has installed it in the meantime
            raise
    return folder
