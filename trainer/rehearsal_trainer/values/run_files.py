"""The names of the files in a training run's folder; docs/training-protocol.md describes them. Torch-free.

src/engine/shell/records/runFiles.ts has the same names for the engine. remote_agent.py and verl's checkpoint.py run
alone, so they have their own copies.
"""

from __future__ import annotations

LAUNCH = "launch.json"
CONFIG = "config.json"
METRICS = "metrics.jsonl"
EVENTS = "events.jsonl"
PID = "pid"
STOP = "stop"
CHECKPOINTS = "checkpoints"
FINAL = "final"
UNFINISHED = "unfinished"
"""The folder within `checkpoints` that a checkpoint is written to before it is complete and moved to its place."""
TRAJECTORIES = "trajectories"
ROLLOUTS = "rollouts.jsonl"
RESULT = "result.json"
RESULT_TEXT = "result.txt"
TENSORBOARD = "tensorboard"
SERVING = "serving"
VLLM_LOG = "vllm.txt"
RECORDING = ".traj.jsonl"
"""The suffix of a recording's name."""
CHECKPOINT_STATE = "trainer_state.json"
"""The last file that is written into a checkpoint."""
_CHECKPOINT = "checkpoint-"


def checkpoint_name(step: int) -> str:
    """Returns the folder of the weights after an optimizer step, within `checkpoints`."""
    return f"{_CHECKPOINT}{step}"


def checkpoint_step(name: str) -> int | None:
    """Returns the optimizer step after which a checkpoint was written; None for other names, such as `final`."""
    step = name.removeprefix(_CHECKPOINT)
    return int(step) if step != name and step.isdigit() else None


def recording_name(label: str, member: int) -> str:
    """Returns the file name of a rollout's recording: its task's label, and its number among the task's rollouts."""
    return f"{label}.{member}{RECORDING}"


def step_folder(step: int) -> str:
    """Returns the folder of an optimizer step's recordings, within a run's folder."""
    return f"{TRAJECTORIES}/step-{step:06d}"


def evaluation_folder(step: int, domain: str) -> str:
    """Returns the folder of the recordings of a domain's evaluation after an optimizer step, within a run's folder."""
    return f"{TRAJECTORIES}/evaluate-{step:06d}/{domain}"
