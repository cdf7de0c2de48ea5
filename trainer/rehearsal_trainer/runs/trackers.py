"""Exports the metrics of a run to experiment trackers, each through its own interface. Torch-free.

Every line of metrics.jsonl goes to every tracker in `report_to`, on every target. Each attempt of a run is a separate
run of the tracker, because trackers refuse steps that decrease.
"""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
import os
import re
import shlex
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

from rehearsal_trainer.values import run_files
from rehearsal_trainer.values.failures import ConfigurationError
from rehearsal_trainer.values.messages import Json

PROJECT = "rehearsal"
"""The default name of the project in trackers that group runs; their own environment variables override it."""


class Tracker(Protocol):
    """Receives the metrics of a run."""

    def write(self, step: int, time: float, values: Mapping[str, float]) -> None:
        """Reports an optimizer step; `time` is in seconds since the epoch."""
        ...

    def close(self) -> None:
        """Writes the remaining metrics, and ends the run of the tracker."""
        ...


class TensorBoard:
    """A new event file in the folder `tensorboard` of the run, which TensorBoard reads as one run."""

    def __init__(self, run: Path, name: str, settings: Mapping[str, Json]) -> None:
        from tensorboard.compat.proto import event_pb2, summary_pb2
        from tensorboard.summary.writer.event_file_writer import EventFileWriter

        # Protocol buffers create their classes at run time, so type checkers do not know them.
        self._event: Any = vars(event_pb2)["Event"]
        self._summary: Any = vars(summary_pb2)["Summary"]
        self._writer = EventFileWriter(str(run / run_files.TENSORBOARD))

    def write(self, step: int, time: float, values: Mapping[str, float]) -> None:
        scalars = [self._summary.Value(tag=name, simple_value=value) for name, value in values.items()]
        self._writer.add_event(self._event(wall_time=time, step=step, summary=self._summary(value=scalars)))

    def close(self) -> None:
        self._writer.close()


class Wandb:
    """Weights & Biases. `WANDB_MODE=offline` keeps the run in the folder `wandb` of the run.

    Its settings come from the environment and the user's own settings file, never from a folder of a run or a domain.
    """

    def __init__(self, run: Path, name: str, settings: Mapping[str, Json]) -> None:
        # wandb reads `wandb/settings` of the working folder, which would choose the server that gets the user's key.
        with contextlib.chdir(Path.cwd().anchor):
            wandb: Any = importlib.import_module("wandb")
            wandb.setup()
        project = os.environ.get("WANDB_PROJECT") or PROJECT
        # git runs programs that the configuration of a repository names.
        own = wandb.Settings(disable_git=True)
        self._run = wandb.init(project=project, name=name, config=dict(settings), dir=str(run), settings=own)
        self._run.define_metric("*", step_metric="step")

    def write(self, step: int, time: float, values: Mapping[str, float]) -> None:
        self._run.log({"step": step, "time": time, **values})

    def close(self) -> None:
        self._run.finish()


class Trackio:
    """Trackio, which keeps runs on this machine unless its own variables name a Space."""

    def __init__(self, run: Path, name: str, settings: Mapping[str, Json]) -> None:
        trackio: Any = importlib.import_module("trackio")
        project = os.environ.get("TRACKIO_PROJECT") or PROJECT
        self._run = trackio.init(project=project, name=name, config=dict(settings), embed=False)

    def write(self, step: int, time: float, values: Mapping[str, float]) -> None:
        self._run.log(dict(values), step=step)

    def close(self) -> None:
        self._run.finish()


class MLflow:
    """MLflow. Without `MLFLOW_TRACKING_URI` the run is in the file `mlflow.db` of the run's folder."""

    def __init__(self, run: Path, name: str, settings: Mapping[str, Json]) -> None:
        mlflow: Any = importlib.import_module("mlflow")
        self._metric: Any = importlib.import_module("mlflow.entities").Metric
        uri = os.environ.get("MLFLOW_TRACKING_URI") or f"sqlite:///{run.resolve() / 'mlflow.db'}"
        self._client = mlflow.MlflowClient(tracking_uri=uri)
        group = os.environ.get("MLFLOW_EXPERIMENT_NAME") or PROJECT
        known = self._client.get_experiment_by_name(group)
        experiment = known.experiment_id if known else self._client.create_experiment(group)
        self._id = self._client.create_run(experiment, run_name=name).info.run_id
        for key, value in settings.items():
            self._client.log_param(self._id, key, str(value)[:6000])

    def write(self, step: int, time: float, values: Mapping[str, float]) -> None:
        # MLflow's names have no <, > or ^.
        metrics = [
            self._metric(re.sub(r"[^\w\-./ ]", "_", name), value, int(time * 1000), step)
            for name, value in values.items()
        ]
        for start in range(0, len(metrics), 1000):  # the most that one call takes
            self._client.log_batch(self._id, metrics=metrics[start : start + 1000])

    def close(self) -> None:
        self._client.set_terminated(self._id)


TRACKERS: Mapping[str, tuple[str, Callable[[Path, str, Mapping[str, Json]], Tracker]]] = {
    "mlflow": ("mlflow", MLflow),
    "tensorboard": ("tensorboard", TensorBoard),
    "trackio": ("trackio", Trackio),
    "wandb": ("wandb", Wandb),
}
"""The package of each tracker, by its name on the package index, and the class that reports a run to it."""


_WITHOUT_TELEMETRY = {"MLFLOW_DISABLE_TELEMETRY": "true", "WANDB_ERROR_REPORTING": "false"}
"""Environment variables that keep trackers from reporting to their makers; those of the user override them."""


def check(names: Sequence[str]) -> None:
    """Raises ConfigurationError for an unknown tracker, or one whose package is not installed."""
    for name in names:
        if name not in TRACKERS:
            raise ConfigurationError(f"report_to: there is no tracker {name}; known are {', '.join(TRACKERS)}")
        package, _ = TRACKERS[name]
        if importlib.util.find_spec(package) is None:
            raise ConfigurationError(
                f"report_to: {name} is not installed where training runs; install it with "
                f"{shlex.quote(sys.executable)} -m pip install {package}, or leave it out"
            )


class Reports:
    """The trackers of a run. If one fails, it is reported once and removed, and training continues."""

    def __init__(
        self,
        names: Sequence[str],
        run: Path,
        name: str,
        settings: Mapping[str, Json],
        warn: Callable[[str], None],
    ) -> None:
        """Starts the trackers; ConfigurationError if one cannot start a run. Removes keys from `settings`."""
        check(names)
        self._warn = warn
        self._trackers: dict[str, Tracker] = {}
        for variable, value in _WITHOUT_TELEMETRY.items():
            os.environ.setdefault(variable, value)
        public = {key: _without_keys(value) for key, value in settings.items()}
        for each in dict.fromkeys(names):
            try:
                self._trackers[each] = TRACKERS[each][1](run, name, public)
            except Exception as error:
                self.close()
                raise ConfigurationError(
                    f"report_to: {each} cannot begin a run ({_first_line(error)}); check its settings, or leave it out"
                ) from error

    def write(self, step: int, time: float, values: Mapping[str, float]) -> None:
        """Reports an optimizer step to every tracker."""
        self._each(lambda tracker: tracker.write(step, time, values))

    def close(self) -> None:
        """Ends the run of every tracker."""
        self._each(lambda tracker: tracker.close())
        self._trackers.clear()

    def _each(self, work: Callable[[Tracker], None]) -> None:
        for name, tracker in list(self._trackers.items()):
            try:
                work(tracker)
            except Exception as error:
                del self._trackers[name]
                self._warn(f"{name} takes no more metrics of this run: {_first_line(error)}")


def _first_line(error: Exception) -> str:
    return _redacted((str(error).strip() or type(error).__name__).splitlines()[0])


def _without_keys(value: Json) -> Json:
    """Returns a value without secrets of the environment, and without passwords and keys in URLs."""
    if isinstance(value, str):
        return _redacted(value)
    if isinstance(value, list):
        return [_without_keys(each) for each in value]
    if isinstance(value, dict):
        return {name: "***" if _SECRET.search(name) else _without_keys(each) for name, each in value.items()}
    return value


_ENDS = "(?:key|token|secret|password|passwd|credentials)"
_SECRET = re.compile(f"(?i){_ENDS}$")
"""Matches the name of a variable or an option that holds a secret; `api_key_env` holds only the name of one."""
_IN_QUERY = re.compile(rf"(?i)([?&;#][^?&;#=\s]*{_ENDS}=)[^&;#\s\"'<>]+")
"""Matches a parameter of a URL that holds a secret."""


def _redacted(text: str) -> str:
    secrets = [secret for name, secret in os.environ.items() if len(secret) >= 8 and _SECRET.search(name)]
    for secret in sorted(secrets, key=len, reverse=True):  # one can be a part of another
        text = re.sub("".join(map(_plain_or_in_url, secret)), "***", text)
    return re.sub(r"(\w+://)[^/@\s]+@", r"\1***@", _IN_QUERY.sub(r"\1***", text))


def _plain_or_in_url(letter: str) -> str:
    """Returns a pattern of a letter. Programs differ in which letters they encode in a URL."""
    encoded = "".join(f"%{byte:02x}" for byte in os.fsencode(letter))
    return f"(?:{re.escape(letter)}|(?i:{encoded}){r'|[+]' if letter == ' ' else ''})"
