from __future__ import annotations

import importlib.util
import os
import sys
from pathlib import Path
from typing import Any

import pytest
from test_alarms import steps_in_event_files

from rehearsal_trainer.commands.sft import Config
from rehearsal_trainer.runs import trackers
from rehearsal_trainer.runs.run_folder import RunFolder
from rehearsal_trainer.values.failures import ConfigurationError
from rehearsal_trainer.values.lines import read_lines

VALUES = {"reward": 0.5, "calls/look up": 2.0, "pass_at/2": 1.0, "evaluate/desk/reward": 0.25}


def needs_package(name: str) -> pytest.MarkDecorator:
    missing = importlib.util.find_spec(name) is None
    return pytest.mark.skipif(missing, reason=f"SKIPPED: the package {name} is not installed, which is optional")


def reported(run: Path, name: str, config: Any = None) -> None:
    """Two optimizer steps of a run that reports to a tracker."""
    with RunFolder(run, "sft", config or Config(recordings=["a"], run=str(run), report_to=[name])) as folder:
        folder.report_to([name])
        folder.metrics(1, VALUES)
        folder.metrics(2, {**VALUES, "reward": 1.0})


@pytest.fixture
def secrets(monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """Keys of the environment."""
    keys = {"DESK_API_KEY": "sk-0123456789", "HF_TOKEN": "hf_0123456789"}
    for name, value in keys.items():
        monkeypatch.setenv(name, value)
    return keys


def test_every_metric_is_in_event_files(tmp_path: Path) -> None:
    reported(tmp_path, "tensorboard")
    (file,) = (tmp_path / "tensorboard").iterdir()
    assert steps_in_event_files(tmp_path / "tensorboard", "reward") == [1, 2]
    data = file.read_bytes()
    assert all(name.encode() in data for name in VALUES)


@needs_package("mlflow")
def test_mlflow_keeps_name_settings_and_metrics(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # The store that its small package `mlflow-skinny` has, too.
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
    monkeypatch.setenv("MLFLOW_TRACKING_URI", (tmp_path / "mlruns").as_uri())
    from mlflow import MlflowClient  # pyright: ignore[reportMissingImports]

    reported(tmp_path, "mlflow")
    client = MlflowClient(tracking_uri=(tmp_path / "mlruns").as_uri())
    experiment = client.get_experiment_by_name("rehearsal")
    (run,) = client.search_runs([experiment.experiment_id])
    assert run.info.run_name == tmp_path.name
    assert run.info.status == "FINISHED"
    assert run.data.params["learning_rate"] == str(Config(recordings=["a"], run="").learning_rate)
    assert run.data.metrics == {**VALUES, "reward": 1.0}
    assert [each.step for each in client.get_metric_history(run.info.run_id, "reward")] == [1, 2]


@needs_package("trackio")
def test_trackio_takes_a_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRACKIO_DIR", str(tmp_path / "trackio"))
    reported(tmp_path / "run", "trackio")
    assert [line for line in read_lines(tmp_path / "run" / "events.jsonl") if line["type"] == "warning"] == []


@needs_package("wandb")
def test_wandb_offline_keeps_a_run_in_the_run_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, secrets: dict[str, str]
) -> None:
    monkeypatch.setenv("WANDB_MODE", "offline")
    reported(tmp_path, "wandb")
    assert list((tmp_path / "wandb").glob("offline-run-*/*.wandb"))
    assert all(
        key.encode() not in file.read_bytes()
        for file in (tmp_path / "wandb").rglob("*")
        if file.is_file()
        for key in secrets.values()
    )


@needs_package("wandb")
@pytest.mark.parametrize("folder", ["wandb", ".wandb"])
def test_wandb_ignores_the_settings_in_the_folder_of_a_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, folder: str
) -> None:
    import wandb  # pyright: ignore[reportMissingImports]

    (tmp_path / folder).mkdir()
    (tmp_path / folder / "settings").write_text("[default]\nbase_url = http://desk.example\nentity = ada\n")
    monkeypatch.setenv("WANDB_MODE", "offline")
    monkeypatch.delenv("WANDB_BASE_URL", raising=False)
    monkeypatch.setenv("WANDB_CONFIG_DIR", str(tmp_path / "user"))
    (tmp_path / "user").mkdir()
    (tmp_path / "user" / "settings").write_text("[default]\nbase_url = https://user.example\n")
    monkeypatch.chdir(tmp_path)
    wandb.teardown()
    reports = trackers.Reports(["wandb"], tmp_path, "desk", {}, print)
    settings = wandb.run.settings
    reports.close()
    assert (settings.base_url, settings.entity) == ("https://user.example", None)
    assert settings.disable_git
    assert Path.cwd() == tmp_path
    assert list((tmp_path / folder).glob("offline-run-*/*.wandb"))


def test_an_unknown_tracker_and_a_missing_package_are_refused_before_anything_starts(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with pytest.raises(ConfigurationError, match=r"^report_to: there is no tracker tensorbord; known are mlflow, "):
        trackers.check(["tensorbord"])
    monkeypatch.setattr(importlib.util, "find_spec", lambda _name: None)
    words = f"report_to: wandb is not installed where training runs; install it with {sys.executable} -m pip install"
    with pytest.raises(ConfigurationError, match=words):
        trackers.check(["wandb"])


def test_trackers_send_nothing_to_their_makers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "environ", {"WANDB_ERROR_REPORTING": "true"})
    monkeypatch.setattr(trackers, "TRACKERS", {"kept": ("json", Recorded)})
    trackers.Reports(["kept"], tmp_path, "desk", {}, print)
    assert os.environ == {"MLFLOW_DISABLE_TELEMETRY": "true", "WANDB_ERROR_REPORTING": "true"}


class Recorded:
    """A tracker that records its settings and steps, and fails at step 2."""

    def __init__(self, run: Path, name: str, settings: Any) -> None:
        self.settings, self.steps = settings, []
        KEPT.append((name, self))

    def write(self, step: int, time: float, values: Any) -> None:
        if step == 2:
            raise OSError("no connection to https://ada:pw@desk.example with sk-0123456789")
        self.steps.append(step)

    def close(self) -> None:
        pass


KEPT: list[tuple[str, Recorded]] = []


def test_keys_are_not_written_and_a_tracker_that_fails_does_not_end_the_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, secrets: dict[str, str]
) -> None:
    monkeypatch.setattr(trackers, "TRACKERS", {"kept": ("json", Recorded)})
    KEPT.clear()
    user = {"base_url": "https://ada:pw@desk.example/v1", "model": "m", "api_key_env": "DESK_API_KEY"}
    options = {"hub_token": "abc", "note": "uses sk-0123456789"}
    config = Config(recordings=["a"], run=str(tmp_path), evaluate_user=user, trl=options)
    with RunFolder(tmp_path, "sft", config) as folder:
        folder.report_to(["kept"])
        for step in (1, 2, 3):
            folder.metrics(step, VALUES)
    ((name, kept),) = KEPT
    assert (name, kept.steps) == (tmp_path.name, [1])
    assert kept.settings["trl"] == {"hub_token": "***", "note": "uses ***"}
    assert kept.settings["evaluate_user"] == {**user, "base_url": "https://***@desk.example/v1"}
    (warning,) = [line for line in read_lines(tmp_path / "events.jsonl") if line["type"] == "warning"]
    assert warning["message"] == (
        "kept takes no more metrics of this run: no connection to https://***@desk.example with ***"
    )
    assert len(read_lines(tmp_path / "metrics.jsonl")) == 3
    with RunFolder(tmp_path, "sft", config, resume=True) as folder:
        folder.report_to(["kept"])
    assert KEPT[-1][0] == f"{tmp_path.name}, attempt 2"


@pytest.mark.parametrize("name", ["DESK_KEY", "HF_TOKEN", "A_SECRET", "DB_PASSWORD", "DB_PASSWD", "AWS_CREDENTIALS"])
def test_a_key_is_not_written_plain_or_encoded_or_in_a_query(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setattr(trackers, "TRACKERS", {"kept": ("json", Recorded)})
    monkeypatch.setenv(name, "s3cret value+/ü")
    written = {
        "https://desk.example/v1?key=of-another-person&n=1": "https://desk.example/v1?key=***&n=1",
        "https://desk.example/v1?a=1&access_token=abc#top": "https://desk.example/v1?a=1&access_token=***#top",
        "https://desk.example/s3cret%20value%2B%2F%C3%BC/v1": "https://desk.example/***/v1",
        "https://desk.example/v1?n=s3cret+value%2b/%c3%bc": "https://desk.example/v1?n=***",
        "as s3cret value+/ü is": "as *** is",
        "https://desk.example/v1?monkeys=3": "https://desk.example/v1?monkeys=3",
    }
    config = Config(recordings=["a"], run=str(tmp_path), trl={"notes": list(written)})
    with RunFolder(tmp_path, "sft", config) as folder:
        folder.report_to(["kept"])
    assert KEPT[-1][1].settings["trl"] == {"notes": list(written.values())}
