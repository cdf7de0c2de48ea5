"""What lies in the folder of a training run; docs/training-protocol.md says what each holds. Torch-free.

src/engine/shell/runFiles.ts names them for the engine; far_side.py and verl's
checkpoint.py, which run alone, say theirs themselves.
"""

CONFIG = "config.json"
METRICS = "metrics.jsonl"
EVENTS = "events.jsonl"
PID = "pid"
STOP = "stop"
CHECKPOINTS = "checkpoints"
FINAL = "final"
TRAJECTORIES = "trajectories"
ROLLOUTS = "rollouts.jsonl"
RESULT = "result.json"
RESULT_TEXT = "result.txt"
TENSORBOARD = "tensorboard"
SERVING = "serving"
VLLM_LOG = "vllm.txt"
