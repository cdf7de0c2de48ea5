"""Converts a checkpoint of verl to a model folder next to it on the cluster, and writes its files to a job's log.

python checkpoint.py FOLDER_OF_THE_RUN STEP MOST_BYTES    (STEP 0: the newest)

One line `@checkpoint {...}` describes the checkpoint: its name, its folder, and the size and SHA-256 of each file. If
the files have at most MOST_BYTES bytes in total, they follow in lines that start with `@rehearsal`, as the files of a
run's folder do. An adapter is sent without the weights of its base. This program runs alone, with the standard library
and verl's merger.
"""

import base64
import gzip
import hashlib
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

CHUNK = 256 * 1024
OF_THE_BASE = ("config.json", "generation_config.json")


def tell(run: Path, step: int, most: int) -> None:
    """Merges the checkpoint of a step, and prints its description and its files."""
    known = steps_of(run / "checkpoints")
    chosen = step or max(known, default=0)
    if chosen not in known:
        return say({"known": [f"checkpoint-{each}" for each in known]})
    place = run / "checkpoints" / f"global_step_{chosen}"
    model = place / "model"
    if not model.is_dir() and (words := merge(shards_in(place), place / "model.part", model)):
        return say({"name": f"checkpoint-{chosen}", "error": words})
    files = files_of(model)
    sizes = {name: [path.stat().st_size, digest_of(path)] for name, path in files.items()}
    say({"name": f"checkpoint-{chosen}", "folder": str(model), "files": sizes, "adapter": is_adapter(model)})
    if sum(size for size, _ in sizes.values()) <= most:
        for name, path in files.items():
            for line in pieces_of(f"checkpoints/.checkpoint-{chosen}/{name}", path):
                sys.stdout.write(f"@rehearsal {line}\n")
    sys.stdout.flush()
    return None


def steps_of(checkpoints: Path) -> "list[int]":
    """Returns the steps of complete checkpoints, ascending: verl records the latest one once it is complete."""
    latest = checkpoints / "latest_checkpointed_iteration.txt"
    text = latest.read_text().strip() if latest.exists() else ""
    whole = [path.name for path in checkpoints.glob("global_step_*") if (shards_in(path) / "fsdp_config.json").exists()]
    steps = sorted(int(name.rpartition("_")[2]) for name in whole)
    return [step for step in steps if text.isdigit() and step <= int(text)]


def shards_in(place: Path) -> Path:
    """Returns the folder with the shards of a checkpoint: GRPO has a folder for its actor, SFT has only one model."""
    return place / "actor" if (place / "actor").is_dir() else place


def merge(shards: Path, part: Path, model: Path) -> "str | None":
    """Merges shards into one complete model; returns the last line of verl's merger if it fails, else None."""
    shutil.rmtree(part, ignore_errors=True)
    command = [sys.executable, "-P", "-m", "verl.model_merger", "merge", "--backend", "fsdp"]
    # Sent alone to a cluster, so it cannot use `without_keys`. Merging needs no key.
    secret = ("KEY", "TOKEN", "SECRET", "PASSWORD")
    environment = {name: value for name, value in os.environ.items() if not name.upper().endswith(secret)}
    done = subprocess.run(
        [*command, "--local_dir", str(shards), "--target_dir", str(part)],
        capture_output=True,
        text=True,
        env=environment,
    )
    if done.returncode != 0:
        shutil.rmtree(part, ignore_errors=True)
        return (done.stderr.strip().splitlines() or [f"it ended with code {done.returncode}"])[-1]
    part.rename(model)
    return None


def is_adapter(model: Path) -> bool:
    """Returns whether a merged model is an adapter, whose base stays on the cluster."""
    return (model / "lora_adapter").is_dir()


def files_of(model: Path) -> "dict[str, Path]":
    """Returns the files to send, by their names in the checkpoint's folder: adapter and tokenizer, or all files."""
    whole = {path.relative_to(model).as_posix(): path for path in sorted(model.rglob("*")) if path.is_file()}
    if not is_adapter(model):
        return whole
    adapter = {path.name: path for path in sorted((model / "lora_adapter").iterdir())}
    tokenizer = {
        name: path
        for name, path in whole.items()
        if "/" not in name and ".safetensors" not in name and name not in OF_THE_BASE
    }
    return {**tokenizer, **adapter}


def digest_of(path: Path) -> str:
    """Returns the SHA-256 of a file, which is read in chunks."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while data := file.read(CHUNK):
            digest.update(data)
    return digest.hexdigest()


def pieces_of(name: str, path: Path) -> "list[str]":
    """Returns a file in pieces, in the format of mirror.py."""
    data = path.read_bytes()
    return [
        json.dumps(
            {
                "path": name,
                "offset": at,
                "data": base64.b64encode(gzip.compress(data[at : at + CHUNK], mtime=0)).decode(),
            }
        )
        for at in range(0, max(1, len(data)), CHUNK)
    ]


def say(found: "dict[str, object]") -> None:
    """Prints the line that describes the checkpoint or says why it is not available."""
    sys.stdout.write(f"@checkpoint {json.dumps(found)}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    tell(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))
