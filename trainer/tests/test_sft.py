"""Whole SFT runs with the tiny random model on recordings of the scripted engine."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import torch
from configs import gold_recordings, grpo_config, lines, sft_config
from trl import SFTTrainer  # noqa: TID251
from trl.trainer.sft_trainer import DataCollatorForLanguageModeling  # noqa: TID251

from rehearsal_trainer.chat.chat import Chat
from rehearsal_trainer.chat.masks import IGNORED_LABEL, Row, labels_of, trained_ids
from rehearsal_trainer.commands.grpo import run_grpo
from rehearsal_trainer.commands.sft import check, run_sft
from rehearsal_trainer.gateway.serving import chat_of
from rehearsal_trainer.models.loading import load_model, load_tokenizer
from rehearsal_trainer.sft.examples import Examples
from rehearsal_trainer.values.failures import ConfigurationError, TrainingError
from rehearsal_trainer.values.messages import Conversation


def test_sft_learns_and_saves_a_whole_model(tmp_path: Path) -> None:
    config = sft_config(
        tmp_path / "run", gold_recordings(tmp_path / "gold"), steps=8, learning_rate=0.02, report_to=["tensorboard"]
    )
    final = run_sft(config)
    metrics = lines(tmp_path / "run" / "metrics.jsonl")
    assert metrics[-1]["loss"] < metrics[0]["loss"]
    assert load_model(str(final), torch.float32).num_parameters() == load_model("tiny", torch.float32).num_parameters()
    data = lines(tmp_path / "run" / "events.jsonl")[1]
    assert data["type"] == "examples"
    assert (data["recordings"], data["rows"], data["too_long"]) == (6, 6, 0)
    assert len(list((tmp_path / "run" / "tensorboard").iterdir())) == 1


def test_a_finished_run_is_not_trained_further(tmp_path: Path) -> None:
    recordings = gold_recordings(tmp_path / "gold")
    run = tmp_path / "run"
    config = sft_config(run, recordings, steps=2)
    weights = (run_sft(config) / "model.safetensors").read_bytes()
    assert not (run / "checkpoints" / "README.md").exists()
    files = {path: path.stat().st_mtime_ns for path in sorted(run.rglob("*"))}
    with pytest.raises(ConfigurationError, match=r"is finished after 2 of 2 optimizer steps. To continue, choose more"):
        run_sft(config, resume=True)
    assert {path: path.stat().st_mtime_ns for path in sorted(run.rglob("*"))} == files

    # As if it had been killed before it saved the model.
    events = run / "events.jsonl"
    events.write_text("".join(line for line in events.read_text().splitlines(True) if '"finished"' not in line))
    shutil.rmtree(run / "checkpoints" / "final")
    assert (run_sft(config, resume=True) / "model.safetensors").read_bytes() == weights
    run_sft(sft_config(run, recordings, steps=3), resume=True)
    assert [line["step"] for line in lines(run / "metrics.jsonl")] == [1, 2, 3]


@pytest.mark.parametrize("by", [0, 1, pytest.param(-1, marks=pytest.mark.full)])
def test_what_trains_is_at_the_places_of_the_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, by: int) -> None:
    """By place in the padded batches, and by the loss. A mask that is off by one is noticed by both."""
    rows_of = Chat.rows_of

    def of_several_lengths(chat: Chat, conversation: Conversation) -> list[Row]:
        (row,) = rows_of(chat, conversation)
        row.append_given([5] * int(conversation.task[-1]))
        return [row]

    monkeypatch.setattr(Chat, "rows_of", of_several_lengths)
    config = sft_config(tmp_path / "run", gold_recordings(tmp_path / "gold"), steps=1, batch=6)
    rows = Examples.of(config, chat_of(config.model, load_tokenizer(config.model), config.dialect, False)).rows
    assert len({len(row.ids) for row in rows}) == len(rows)  # so some are padded
    trained = {tuple(row.ids): trained_ids(row.ids, row.mask) for row in rows}
    batches: list[dict[str, torch.Tensor]] = []
    collate, compute = DataCollatorForLanguageModeling.torch_call, SFTTrainer.compute_loss

    def shifting(collator: Any, examples: Any) -> dict[str, torch.Tensor]:
        batch = collate(collator, examples)
        return {**batch, "labels": batch["labels"].roll(by, 1)}

    def watch(trainer: SFTTrainer, model: Any, inputs: Any, *rest: Any, **more: Any) -> Any:
        batches.append({name: inputs[name].clone() for name in ("input_ids", "attention_mask", "labels")})
        return compute(trainer, model, inputs, *rest, **more)

    monkeypatch.setattr(DataCollatorForLanguageModeling, "torch_call", shifting)
    monkeypatch.setattr(SFTTrainer, "compute_loss", watch)
    run_sft(config)
    seen = []
    for batch in batches:
        for ids, attended, labels in zip(batch["input_ids"], batch["attention_mask"], batch["labels"], strict=True):
            places = (labels != IGNORED_LABEL).nonzero()[:, 0].tolist()
            learned = {place: int(labels[place]) for place in places}
            seen.append(learned == trained[tuple(ids[attended.bool()].tolist())])
    assert seen == [by == 0] * len(rows)
    (line,) = lines(tmp_path / "run" / "metrics.jsonl")
    assert (abs(line["loss"] - mean_loss(rows)) < 1e-3) == (by == 0)


def mean_loss(rows: Sequence[Row]) -> float:
    """Returns the mean over the tokens that are learned from, before the first step; each row is computed alone."""
    model, total = load_model("tiny", torch.float32), 0.0
    with torch.no_grad():
        for row in rows:
            logits = model(torch.tensor([row.ids])).logits[0, :-1]
            total += float(torch.nn.functional.cross_entropy(logits, torch.tensor(labels_of(row)[1:]), reduction="sum"))
    return total / sum(sum(row.mask) for row in rows)


@pytest.mark.full
def test_the_final_checkpoint_keeps_a_small_update_of_bfloat16_weights(tmp_path: Path) -> None:
    """Ten steps of 1e-5 change the logits by what a merge into bfloat16 would round away."""
    small = {"steps": 10, "save_every": 10, "learning_rate": 1e-5, "dtype": "bfloat16"}
    final = run_sft(sft_config(tmp_path / "sft", gold_recordings(tmp_path / "gold"), **small))
    trained = tmp_path / "sft" / "checkpoints" / "checkpoint-10"
    logits = {}
    for name in ("tiny", str(trained), str(final)):
        model = load_model(name, torch.bfloat16).float().eval()
        with torch.inference_mode():
            logits[name] = model(torch.tensor([[1, 9690, 198, 2683, 359, 253, 5356, 5646, 2, 198]])).logits
    update = (logits[str(trained)] - logits["tiny"]).norm()
    lost = (logits[str(final)] - logits[str(trained)]).norm()
    assert update > 0
    assert lost / update < 1e-3
    run_grpo(grpo_config(tmp_path / "grpo", model=str(final), steps=1, dtype="bfloat16"))
    (step,) = lines(tmp_path / "grpo" / "metrics.jsonl")
    assert step["grad_norm"] > 0


def test_sft_resumes(tmp_path: Path) -> None:
    recordings = gold_recordings(tmp_path / "gold")
    run_sft(sft_config(tmp_path / "run", recordings, steps=2, save_every=1))
    run_sft(sft_config(tmp_path / "run", recordings, steps=3, save_every=1), resume=True)
    assert [entry["step"] for entry in lines(tmp_path / "run" / "metrics.jsonl")] == [1, 2, 3]


def test_sft_without_a_success_says_so(tmp_path: Path) -> None:
    recordings = gold_recordings(tmp_path / "gold", 1)
    with pytest.raises(TrainingError, match="nothing to learn from: of 1 recordings 0 have a reward"):
        run_sft(sft_config(tmp_path / "run", recordings, least_reward=2.0))


def test_sft_refuses_recordings_of_the_tasks_that_a_model_is_evaluated_on(tmp_path: Path, gold_run: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"^recordings: \d+ of \d+ are of tasks of the split test, which a"):
        run_sft(sft_config(tmp_path / "run", str(gold_run)))
    assert not (tmp_path / "run").exists()


def test_sft_refuses_recordings_without_a_token_to_learn(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Chat, "rows_of", lambda _self, _conversation: [Row([1, 2], [0, 0], [None, None])])
    with pytest.raises(
        TrainingError,
        match=r"6 recordings have no token to learn from.*the first is \S+move-0.traj.jsonl. Leave them out",
    ):
        run_sft(sft_config(tmp_path / "run", gold_recordings(tmp_path / "gold")))


def test_recordings_that_are_none_are_refused_before_a_run_begins(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "list.txt").write_text("[1]\n")
    for name, words in (("empty", r"no \*.traj.jsonl under"), ("list.txt", r"list.txt:1: ")):
        with pytest.raises(ConfigurationError, match=f"^recordings: .*{words}"):
            check(sft_config(tmp_path / "run", str(tmp_path / name)))
    check(sft_config(tmp_path / "run", str(tmp_path / "gold")))  # that are played before it begins
    check(sft_config(tmp_path / "run", gold_recordings(tmp_path / "gold", 2)))
