"""What lies in the folder of a training run; docs/training-protocol.md says what each holds. Torch-free.

src/engine/shell/records/runFiles.ts names them for the engine. remote_agent.py and verl's
checkpoint.py run alone, so they name theirs themselves.
"""

from __future__ import annotations

CONFIG = "config.json"
METRICS = "metrics.jsonl"
EVENTS = "events.jsonl"
PID = "pid"
STOP = "stop"
CHECKPOINTS = "checkpoints"
FINAL = "final"
UNFINISHED = "unfinished"
"""Where a checkpoint is written, within `checkpoints`; it is renamed when it is complete."""
TRAJECTORIES = "trajectories"
ROLLOUTS = "rollouts.jsonl"
RESULT = "result.json"
RESULT_TEXT = "result.txt"
TENSORBOARD = "tensorboard"
SERVING = "serving"
VLLM_LOG = "vllm.txt"
RECORDING = ".traj.jsonl"
"""How the name of a recording ends."""
CHECKPOINT_STATE = "trainer_state.json"
"""The last file that is written into a checkpoint."""
_CHECKPOINT = "checkpoint-"


def checkpoint_name(step: int) -> str:
    """The folder of the weights after an optimizer step, within `checkpoints`."""
    return f"{_CHECKPOINT}{step}"


def checkpoint_step(name: str) -> int | None:
    """Returns the optimizer step after which a checkpoint was written; None for other names, as `final`."""
    step = name.removeprefix(_CHECKPOINT)
    return int(step) if step != name and step.isdigit() else None


def recording_name(label: str, member: int) -> str:
    """The file of a rollout's recording: its task's label, and its number among the rollouts of that task."""
    return f"{label}.{member}{RECORDING}"


def step_folder(step: int) -> str:
    """The folder of an optimizer step's recordings, within a run's folder."""
    return f"{TRAJECTORIES}/step-{step:06d}"


def evaluation_folder(step: int, domain: str) -> str:
    """The folder of the recordings of an evaluation on a domain after an optimizer step, within a run's folder."""
    return f"{TRAJECTORIES}/evaluate-{step:06d}/{domain}"
