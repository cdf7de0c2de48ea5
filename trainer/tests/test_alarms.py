"""Checks that each alarm is raised once by a run that fails, and that a healthy run raises none.

test_failing_runs.py has more such runs.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from pathlib import Path
from string import Formatter
from typing import Any

import pytest
from configs import gold_recordings, grpo_config, lines, sft_config
from conftest import SCRIPTED_ENGINE, TESTS
from waiting import LIMIT_S

from rehearsal_trainer.backends.verl import cluster_config, sft_settings, verl_settings
from rehearsal_trainer.backends.verl.rollout_plan import RolloutPlan
from rehearsal_trainer.commands import grpo, sft
from rehearsal_trainer.commands.grpo import run_grpo
from rehearsal_trainer.commands.sft import run_sft
from rehearsal_trainer.grpo import step as step_module
from rehearsal_trainer.metrics.alarm_kind import AlarmKind, RunKind
from rehearsal_trainer.metrics.alarms import KINDS, LIMITS, Row, advice, completed, kinds_of, raised, when_raised
from rehearsal_trainer.rollouts.restarting_engine import RestartingEngine
from rehearsal_trainer.rollouts.rollout_metrics import measure
from rehearsal_trainer.rollouts.rollout_worker import Idle, RolloutWorker
from rehearsal_trainer.rollouts.rollouts import PlayedRollout, RolloutRequest, RolloutSettings
from rehearsal_trainer.runs.run_folder import RunFolder
from rehearsal_trainer.sampler.answers import Sampling
from rehearsal_trainer.sampler.cpu_decoder.generation import Generator
from rehearsal_trainer.settings.configuration import from_values
from rehearsal_trainer.settings.setting import Backend, keys_of, option_names
from rehearsal_trainer.values.failures import ConfigurationError

DEFAULTS = completed({})


def rows_of(**series: Sequence[float]) -> list[Row]:
    """Returns rows from step 1 on, with one value of each metric per row."""
    return [
        {"step": float(step), **{name.replace("__", "/"): values[step - 1] for name, values in series.items()}}
        for step in range(1, 1 + max(len(values) for values in series.values()))
    ]


def history(rows: Sequence[Row], limits: Any = DEFAULTS, run: RunKind = "grpo") -> list[tuple[str, int]]:
    """Returns all alarms of a run, raised step by step."""
    found = [alarm for end in range(len(rows)) for alarm in raised(rows[: end + 1], limits, run)]
    return [(alarm.name, alarm.step) for alarm in found]


def alarms_of(run: Path) -> dict[str, dict[str, Any]]:
    return {event["alarm"]: event for event in lines(run / "events.jsonl") if event["type"] == "alarm"}


FAILING: list[tuple[list[Row], list[tuple[str, int]]]] = [
    (rows_of(kl=[0.01, 0.02, 0.7, 0.9]), [("kl-explosion", 3)]),
    (rows_of(kl=[0.002, 0.004, 0.003, 0.06]), [("kl-explosion", 4)]),
    (rows_of(kl=[0.6, 0.1, 0.6]), [("kl-explosion", 1), ("kl-explosion", 3)]),
    (rows_of(entropy=[1.0, 0.9, 0.9, 0.1, 0.1, 0.1, 0.1]), [("entropy-collapse", 6)]),
    (rows_of(entropy=[0.02, 0.008, 0.005, 0.004]), [("entropy-collapse", 4)]),
    (rows_of(looping=[0.0, 0.25, 0.5]), [("tool-loop", 2)]),
    (rows_of(simulator_failed=[0.0, 0.125, 0.0]), [("simulator-breakdown", 2)]),
    (rows_of(dead_groups=[1.0, 0.5, 1.0, 1.0, 1.0, 1.0]), [("dead-groups", 5)]),
    (rows_of(truncated=[0.3, 0.3, 0.3]), [("truncation", 3)]),
    (rows_of(drift=[1e-6, 0.2]), [("token-drift", 2)]),
    (rows_of(stalled=[0.0, 0.03]), [("stalled-rollouts", 2)]),
    (rows_of(rollout_seconds=[20.0, 22.0, 21.0, 300.0]), [("stalled-rollouts", 4)]),
    (rows_of(not_finite=[0.0, 1.0, 1.0]), [("not-a-number", 2)]),
]
FELL = [2.0, 1.5, 1.1, 0.8, 0.6, 0.5, 0.4, 0.35, 0.3, 0.28, 0.26, 0.25]
SFT_FAILING: list[tuple[list[Row], list[tuple[str, int]]]] = [
    (rows_of(loss=[2.0, 2.1, 1.9, 3.5, 4.0, 5.0, 6.0]), [("loss-divergence", 6)]),
    (rows_of(loss=[*FELL, 1.8, 1.9, 1.9, 2.0]), [("loss-divergence", 15)]),
    (rows_of(grad_norm=[1.0, 1.2, 0.9, 30.0, 1.0]), [("gradient-explosion", 4)]),
    (rows_of(grad_norm=[2000.0]), [("gradient-explosion", 1)]),
    (rows_of(not_finite=[0.0, 1.0]), [("not-a-number", 2)]),
    (rows_of(too_long=[0.25]), [("rows-too-long", 1)]),
    (
        rows_of(loss=FELL, validation_loss=[2.0, 1.6, 1.3, 1.1, 1.0, 1.0, 1.1, 1.15, 1.2, 1.3, 1.4, 1.5]),
        [("overfitting", 9)],
    ),
    (
        [
            {key: value for key, value in row.items() if key == "loss" or row["step"] % 2 == 0 or key == "step"}
            for row in rows_of(loss=FELL, validation_loss=[0, 1.0, 0, 1.1, 0, 1.2, 0, 1.3, 0, 1.4, 0, 1.5])
        ],
        [("overfitting", 8)],
    ),
]
SFT_QUIET: list[list[Row]] = [
    rows_of(loss=FELL, entropy=[1.0, 0.9, 0.9, 0.1, 0.05, 0.01, 0.005, 0.005, 0.005, 0.005, 0.005, 0.005]),
    rows_of(loss=[*FELL, 0.02, 0.2, 0.1, 0.3, 0.05, 0.4, 0.3, 0.4]),
    rows_of(loss=[0.8, 0.9, 0.7, 0.85, 0.9, 0.75, 0.95, 0.7, 0.9, 0.8]),
    rows_of(loss=[*FELL, 1.9, 0.2, 1.9, 0.2]),
    rows_of(grad_norm=[0.1, 0.1, 0.2, 3.0]),
    rows_of(grad_norm=[40.0, 30.0, 20.0, 25.0, 60.0]),
    rows_of(too_long=[0.05]),
    rows_of(loss=FELL, validation_loss=[2.0, 1.6, 1.3, 1.1, 1.0, 1.02, 1.01, 1.03, 1.0, 1.04, 1.02, 1.03]),
    rows_of(loss=FELL[::-1], validation_loss=[1.0, 1.1, 1.2, 1.3, 1.4, 1.5, 1.6, 1.7, 1.8, 1.9, 2.0, 2.1])[:7],
    rows_of(stalled=[1.0], truncated=[1.0]),
]
QUIET: list[list[Row]] = [
    rows_of(kl=[0.0, 0.001, 0.002, 0.02, 0.04, 0.08]),
    rows_of(kl=[0.0, 0.0, 0.0, 0.04]),
    rows_of(entropy=[0.06, 0.05, 0.04, 0.03, 0.02, 0.03]),
    rows_of(entropy=[1.0, 0.9, 0.9, 0.1, 0.5, 0.1, 0.1]),
    rows_of(dead_groups=[1.0, 1.0, 0.75, 1.0, 1.0]),
    rows_of(truncated=[1.0, 1.0, 0.1]),
    rows_of(rollout_seconds=[1.0, 1.0, 1.0, 60.0]),
    rows_of(loss=[0.1, 0.2]),
]


@pytest.mark.parametrize(("rows", "expected"), FAILING)
def test_an_alarm_is_raised_where_it_begins(rows: list[Row], expected: list[tuple[str, int]]) -> None:
    assert history(rows) == expected


@pytest.mark.parametrize("rows", QUIET)
def test_what_is_no_failure_raises_nothing(rows: list[Row]) -> None:
    assert history(rows) == []


@pytest.mark.parametrize(("rows", "expected"), SFT_FAILING)
def test_an_alarm_of_sft_is_raised_where_it_begins(rows: list[Row], expected: list[tuple[str, int]]) -> None:
    assert history(rows, run="sft") == expected


@pytest.mark.parametrize("rows", SFT_QUIET)
def test_what_is_no_failure_of_sft_raises_nothing(rows: list[Row]) -> None:
    assert history(rows, run="sft") == []


def test_every_alarm_has_a_failing_case_and_advice() -> None:
    assert {name for _, expected in FAILING for name, _ in expected} == set(kinds_of("grpo"))
    assert {name for _, expected in SFT_FAILING for name, _ in expected} == set(kinds_of("sft"))
    assert (len(kinds_of("grpo")), len(kinds_of("sft")), len(KINDS)) == (9, 5, 13)
    assert [kind.advice for kind in KINDS.values() if len(kind.advice) < 40] == []
    assert [name for name, kind in KINDS.items() if not when_raised(kind).endswith(".")] == []
    assert when_raised(KINDS["dead-groups"]) == "`dead_groups` reaches 90%, 3 optimizer steps in a row."


CONFIGS: dict[tuple[RunKind, Backend], type[Any]] = {
    ("grpo", "trl"): grpo.Config,
    ("sft", "trl"): sft.Config,
    ("grpo", "verl"): cluster_config.ClusterConfig,
    ("sft", "verl"): cluster_config.SftClusterConfig,
}
OTHER_VALUES: dict[str, Any] = {
    "beta": 0.5, "learning_rate": 0.5, "temperature": 0.5, "group_size": 4, "max_tokens": 9, "context": 30000,
    "concurrency": 8, "warmup_steps": 9, "batch": 64, "epochs": 9.0,
}  # fmt: skip


def keys_in_advice(kind: AlarmKind, backend: Backend) -> set[str]:
    words = (kind.advice_with_verl if backend == "verl" else None) or kind.advice
    return {name for _, name, *_ in Formatter().parse(words) if name}


def given_to_verl(run: RunKind, **values: Any) -> dict[str, Any]:
    """Returns verl's settings for a run of the profile `paper` with these values."""
    if run == "grpo":
        config = from_values(
            cluster_config.ClusterConfig, cluster_config.PROFILES, {**OF_PAPER, "domain": "d", **values}
        )
        places = verl_settings.Places("", "", "", "")
        return verl_settings.verl_settings(config, places, RolloutPlan.of(config, "store"), tasks=100)
    given = {**OF_PAPER, "recordings": ["r"], **values}
    config = from_values(cluster_config.SftClusterConfig, cluster_config.SFT_PROFILES, given)
    return sft_settings.sft_settings(config, sft_settings.SftPlaces("", None, "", "", ""), sft.steps_of(config, 1000))


OF_PAPER = {"run": "r", "model": "m", "profile": "paper"}


@pytest.mark.parametrize(("run", "backend"), CONFIGS)
def test_advice_names_keys_that_the_backend_has(run: RunKind, backend: Backend) -> None:
    config = CONFIGS[run, backend]
    for name, kind in kinds_of(run).items():
        keys = keys_in_advice(kind, backend)
        assert keys <= set(keys_of(config)), name
        words = advice(name, run, config, backend)
        for key in keys:
            option = option_names(config, backend, run == "sft").get(key, key)
            assert key in words
            assert ("verl" if backend == "trl" else "TRL") not in words
            assert option in words or "," in option or " " in option, (name, key)


@pytest.mark.parametrize("run", ["grpo", "sft"])
def test_advice_names_keys_that_have_an_effect_with_verl(run: RunKind) -> None:
    usual = given_to_verl(run)
    for name, kind in kinds_of(run).items():
        for key in keys_in_advice(kind, "verl"):
            assert given_to_verl(run, **{key: OTHER_VALUES[key]}) != usual, (name, key)


def test_an_alarm_of_a_run_has_advice_in_the_words_of_its_backend(tmp_path: Path) -> None:
    given: dict[Backend, str] = {}
    for backend in ("trl", "verl"):
        config = from_values(CONFIGS["grpo", backend], {"paper": {}}, {**OF_PAPER, "domain": "d"})
        with RunFolder(tmp_path / backend, "grpo", config, backend=backend) as run:
            run.watch({}, [])
            run.metrics(1, {"kl": 2.0})
        given[backend] = alarms_of(tmp_path / backend)["kl-explosion"]["advice"]
    drifts = "The model drifts too far from its reference."
    assert given["trl"] == f"{drifts} Raise beta or lower learning_rate."
    assert given["verl"] == (
        f"{drifts} Raise beta (actor_rollout_ref.actor.kl_loss_coef in verl) or lower learning_rate "
        "(actor_rollout_ref.actor.optim.lr in verl)."
    )


def test_limits_are_configuration() -> None:
    rows = rows_of(kl=[0.01, 0.02, 0.7])
    assert history(rows, completed({"kl": 2})) == []
    assert history(rows, completed({"kl": 0.02})) == [("kl-explosion", 2)]
    assert set(completed({"kl": 2})) == set(LIMITS)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"alarms": {"kll": 1}}, "alarms: there is no limit kll; known are window, patience, kl,"),
        ({"alarms": {"kl": "much"}}, "alarms: kl: expected a number above 0, found 'much'"),
        ({"alarms": {"kl": 0}}, "alarms: kl: expected a number above 0, found 0"),
        ({"alarms": {"patience": 0.5}}, "alarms: patience: expected at least 1, found 0.5"),
        ({"pause_on": ["boredom"]}, "pause_on: grpo has no alarm boredom; known are kl-explosion, "),
        ({"user_prices": {"inputs": 1}}, "user_prices: there is no inputs; known are input and output"),
    ],
)
def test_wrong_limits_are_refused(tmp_path: Path, given: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigurationError) as error:
        grpo_config(tmp_path / "run", **given)
    assert str(error.value).startswith(message)


def test_a_run_pauses_only_on_alarms_that_it_has(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="pause_on: sft has no alarm kl-explosion; known are not-a-number"):
        sft_config(tmp_path / "run", str(tmp_path), pause_on=["kl-explosion"])


def test_the_numbers_of_a_real_healthy_run_raise_nothing() -> None:
    """The tiny model after SFT on the gold recordings of `parcels` (70 steps of all weights, learning rate 0.01), then
    14 steps of GRPO there (groups of 8, learning rate 0.001): it ends its answers and some of its groups differ."""
    rows = lines(Path(TESTS) / "healthy_metrics.jsonl")
    needed = {"kl", "entropy", "looping", "simulator_failed", "dead_groups", "truncated", "drift", "stalled"}
    assert len(rows) >= 10
    assert all(needed <= set(row) for row in rows)
    assert history(rows) == []


@pytest.mark.full
def test_sft_on_what_it_can_learn_raises_nothing_and_measures_what_it_does_not_learn(tmp_path: Path) -> None:
    recordings = gold_recordings(tmp_path / "gold", 12)
    changes = {"lora_rank": 0, "validation_share": 0.25, "report_to": ["tensorboard"]}
    run_sft(sft_config(tmp_path / "run", recordings, steps=24, learning_rate=0.005, **changes))
    rows = lines(tmp_path / "run" / "metrics.jsonl")
    assert rows[-1]["loss"] < 0.5 * rows[1]["loss"]
    measured = [row["validation_loss"] for row in rows if "validation_loss" in row]
    assert len(measured) == 13 and measured[-1] < measured[0]
    assert [event for event in lines(tmp_path / "run" / "events.jsonl") if event["type"] == "alarm"] == []
    (examples,) = [event for event in lines(tmp_path / "run" / "events.jsonl") if event["type"] == "examples"]
    assert (examples["rows"], examples["validation_rows"]) == (9, 3)
    assert steps_in_event_files(tmp_path / "run" / "tensorboard") == list(range(1, 25))


@pytest.mark.full
def test_sft_with_a_learning_rate_that_is_far_too_high_is_paused_by_its_alarm(tmp_path: Path) -> None:
    recordings = gold_recordings(tmp_path / "gold", 12)
    run, changes = tmp_path / "run", {"lora_rank": 0, "pause_on": ["loss-divergence"], "warmup_steps": 0}
    run_sft(sft_config(run, recordings, steps=40, learning_rate=2.0, **changes))
    assert "loss-divergence" in alarms_of(run)
    assert lines(run / "events.jsonl")[-1]["type"] == "paused"


def test_an_alarm_pauses_a_run_that_then_goes_on(tmp_path: Path) -> None:
    """The random model is wrong everywhere and never ends an answer, so nothing can be learned."""
    run = tmp_path / "run"
    changes: dict[str, Any] = {
        "domain": "parcels", "pause_on": ["dead-groups"], "save_every": 100,
        "report_to": ["tensorboard"],
    }  # fmt: skip
    assert run_grpo(grpo_config(run, steps=9, **changes)) == run / "checkpoints" / "checkpoint-3"
    assert (run / "checkpoints" / "checkpoint-3").exists()
    raised_here = alarms_of(run)
    assert set(raised_here) == {"dead-groups", "truncation"}
    dead, truncation = raised_here["dead-groups"], raised_here["truncation"]
    assert (dead["step"], dead["pauses"], truncation["pauses"]) == (3, True, False)
    assert dead["evidence"] == {"dead_groups": 1.0, "limit": 0.9, "steps": 3.0}
    assert [(run / file).exists() for file in truncation["recordings"]] == [True] * 5
    last = lines(run / "events.jsonl")[-1]
    assert (last["type"], last["alarm"], last["step"]) == ("paused", "dead-groups", 3)

    run_grpo(grpo_config(run, steps=4, **changes), resume=True)
    events = lines(run / "events.jsonl")
    resumed = [event["type"] for event in events].index("resumed")
    assert events[resumed]["step"] == 3
    types = [event["type"] for event in events[resumed:] if event["type"] != "data"]
    assert types == ["resumed", "checkpoint", "finished"]
    assert steps_in_event_files(run / "tensorboard") == [1, 2, 3, 4]


def steps_in_event_files(folder: Path, metric: str = "loss") -> list[int]:
    """The steps of TensorBoard's records: a length, its checksum, an event, and the event's checksum."""
    from tensorboard.compat.proto import event_pb2

    steps = set()
    for file in folder.iterdir():
        data = file.read_bytes()
        while data:
            (length,) = struct.unpack("<Q", data[:8])
            event = vars(event_pb2)["Event"].FromString(data[12 : 12 + length])
            data = data[16 + length :]
            if metric in {value.tag for value in event.summary.value}:
                steps.add(event.step)
    return sorted(steps)


def test_a_user_that_breaks_rollouts_is_an_alarm(tmp_path: Path) -> None:
    run_grpo(grpo_config(tmp_path / "run", steps=1, domain="mumbling"))
    alarm = alarms_of(tmp_path / "run")["simulator-breakdown"]
    assert alarm["evidence"] == {"simulator_failed": 0.5, "limit": 0.1}
    assert {name.split(".")[-3] for name in alarm["recordings"]} == {"1", "3"}
    (rollout, *_) = [each for each in rollouts_of(tmp_path / "run", 1) if each["failure"]]
    assert rollout["failure"]["code"] == "simulator/repeats"


def test_rollouts_that_run_into_their_limit_are_an_alarm(tmp_path: Path) -> None:
    run_grpo(grpo_config(tmp_path / "run", steps=1, domain="late-answers"))
    assert alarms_of(tmp_path / "run")["stalled-rollouts"]["evidence"] == {"stalled": 0.25, "limit": 0.02}


def test_rollouts_that_hang_raise_an_alarm_while_the_step_still_waits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The two that hang only end after the alarm, which pauses the run after the step."""
    ended: list[PlayedRollout] = []
    play = RestartingEngine.play

    async def counted(self: RestartingEngine, gateway: Any, request: RolloutRequest) -> PlayedRollout:
        ended.append(await play(self, gateway, request))
        return ended[-1]

    class IdleOnceTheOthersHaveEnded(Idle):
        """Lets the idle time pass once only stalled rollouts are open, however slow the machine is."""

        def __getattribute__(self, name: str) -> Any:
            if name == "seconds":
                return 0.05 if len(ended) == 6 else LIMIT_S
            return super().__getattribute__(name)

    monkeypatch.setattr(RestartingEngine, "play", counted)
    monkeypatch.setattr(step_module, "Idle", IdleOnceTheOthersHaveEnded)
    changes: dict[str, Any] = {"rollout_timeout_s": LIMIT_S, "alarms": {"idle_s": 2, "stalled": 2}}
    run = tmp_path / "run"
    run_grpo(grpo_config(run, steps=9, domain="hanging", pause_on=["stalled-rollouts"], **changes))
    alarm, measured = alarms_of(run)["stalled-rollouts"], lines(run / "metrics.jsonl")
    assert alarm["message"] == "no rollout ended for 2 s, and 2 are open"
    assert alarm["evidence"] == {"idle_s": 2, "open": 2}
    assert alarm["time"] < measured[0]["time"]
    assert (len(measured), lines(run / "events.jsonl")[-1]["type"]) == (1, "paused")


@pytest.mark.full
def test_stale_weights_are_token_drift_and_a_high_learning_rate_explodes_kl(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The sampler keeps the weights of the first step, so the trainer scores with others."""
    monkeypatch.setattr(Generator, "refresh", lambda self: None)
    run_grpo(grpo_config(tmp_path / "run", steps=3, learning_rate=0.3, lora_rank=0))
    found = alarms_of(tmp_path / "run")
    assert set(found) >= {"token-drift", "kl-explosion"}
    first, second, *rest = lines(tmp_path / "run" / "metrics.jsonl")
    assert first["drift"] < 1e-4
    assert second["drift"] > 0.05 and max(first["kl"], second["kl"], *[each["kl"] for each in rest]) > 0.5


def test_a_model_that_repeats_a_call_is_in_a_loop(forced_gateway: Any) -> None:
    calls = ["<tool_call>\nfind_parcel(parcel='P10')\n</tool_call>"] * 4
    gateway = forced_gateway([*calls, *calls])
    settings = RolloutSettings("parcels", turn_cap=4)
    requests = [
        RolloutRequest("move-0", member, f"s{member}", Sampling(max_tokens=60), settings) for member in range(2)
    ]
    with RolloutWorker(gateway, SCRIPTED_ENGINE, TESTS, lambda _level, _message: None, 1) as worker:
        values = measure(worker.play(requests))
    assert (values["calls/find_parcel"], values["longest_repeat"]) == (4, 4)
    assert history([{"step": 1, **values}]) == [("tool-loop", 1)]


def rollouts_of(run: Path, step: int) -> list[dict[str, Any]]:
    return lines(run / "trajectories" / f"step-{step:06d}" / "rollouts.jsonl")
