"""Writes finished rollouts as lines of `rollouts.jsonl`, and reads the lines to resume. Torch-free."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping, Sequence
from dataclasses import fields
from pathlib import Path

from rehearsal_trainer.rollouts.engine import Failure, RolloutFacts, RolloutResult
from rehearsal_trainer.rollouts.rollouts import PlayedRollout, RolloutRequest
from rehearsal_trainer.values import run_files
from rehearsal_trainer.values.lines import read_lines
from rehearsal_trainer.values.messages import Json


def write_summary(folder: Path, played: Sequence[PlayedRollout]) -> None:
    """Writes `rollouts.jsonl` next to the recordings, one line per rollout; replaces an existing file atomically."""
    whole = folder / f"{run_files.ROLLOUTS}.new"
    text = "".join(json.dumps(line_of(rollout), ensure_ascii=False) + "\n" for rollout in played)
    whole.write_text(text, encoding="utf-8")
    whole.replace(folder / run_files.ROLLOUTS)


def line_of(rollout: PlayedRollout) -> dict[str, Json]:
    """Returns the line of a rollout in the summary."""
    result = rollout.result
    return {
        "task": rollout.request.task,
        "domain": rollout.request.settings.domain,
        "member": rollout.request.member,
        "reward": result.reward,
        "turns": result.turns,
        "tokens": rollout.sampled,
        "end_reason": result.end_reason,
        "failure": result.failure and dataclasses.asdict(result.failure),
        "malformed_calls": rollout.malformed_calls,
        "changed_histories": rollout.changed_histories,
        "truncated": rollout.truncated,
        "seconds": round(rollout.seconds, 3),
        **{name: value for name, value in dataclasses.asdict(result.facts).items() if value is not None},
        "metrics": dict(result.metrics),
        "recording": Path(result.recording).name if result.recording else None,
    }


def finished_before(folder: Path, requests: Sequence[RolloutRequest]) -> list[PlayedRollout]:
    """Returns the requested rollouts that an earlier process finished and whose lines are complete, each once.

    A cancelled rollout, for example because the engine was closed, is not finished.
    """
    wanted = {(request.task, request.member): request for request in requests}
    found = []
    for line in read_lines(folder / run_files.ROLLOUTS):
        is_finished = line["end_reason"] != "cancelled" or line["failure"] is not None
        request = wanted.pop((line["task"], line["member"]), None) if is_finished else None
        if request is not None:
            found.append(_played_before(request, line))
    return found


def _played_before(request: RolloutRequest, line: Mapping[str, Json]) -> PlayedRollout:
    failure = line["failure"] and Failure(**line["failure"])
    facts = RolloutFacts(**{each.name: line.get(each.name) for each in fields(RolloutFacts)})
    result = RolloutResult(
        line["reward"], line["end_reason"], line["turns"], line.get("metrics", {}), request.recording, failure, facts
    )
    broken = line["changed_histories"], line["malformed_calls"]
    cut_off, sampled = bool(line["truncated"]), int(line["tokens"])
    return PlayedRollout(request, result, [], *broken, line["seconds"], truncated=cut_off, sampled=sampled)
