"""Rollouts of the trainer beside a plain loop over the same conversations, for bench/training.ts.

    python bench/training_rollouts.py NODE ENGINE DOMAIN MODEL ROUNDS REPEATS

Eight conversations at once, SmolLM2-135M in float32 as it is or after SFT, answers as long as in training on a CPU.
Ours: the whole rollout, engine, gateway, HTTP and recording included. The plain loop: `generate` of transformers on the
eight prompts of a turn, padded to one length, with every turn's prompt computed from its first token. The paged loop:
transformers' continuous batching of the same prompts and as many tokens, with keys and values that stay between turns.
Nothing but the model is counted against the two. All in turns, ROUNDS each, after one that warms up.

The CPU of the engine and its workers is counted in these rounds, the first rollouts of that engine, and then in the
same rollouts, REPEATS times, with the answers that the model gave: its code is compiled by then. Prints one line of
JSON.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

os.environ.setdefault("GOMP_SPINCOUNT", "20000")
os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")

import torch
from rehearsal_trainer.gateway.serving import chat_of, gateway_over
from rehearsal_trainer.models.loading import load_model, load_tokenizer
from rehearsal_trainer.rollouts.rollout_worker import RolloutWorker
from rehearsal_trainer.rollouts.rollouts import RolloutRequest, RolloutSettings
from rehearsal_trainer.sampler.answers import Sampling
from rehearsal_trainer.sampler.paged_sampler import PagedSampler
from rehearsal_trainer.settings.profiles import PLAYED_ON_CPU
from rehearsal_trainer.values import run_files

BATCH = 8
MAX_TOKENS = int(str(PLAYED_ON_CPU["max_tokens"]))
SAMPLING = Sampling(1.0, 1.0, MAX_TOKENS)


def engine_cpu(worker: RolloutWorker, requests: list[RolloutRequest], repeats: int, folder: Path) -> float:
    """Returns the CPU seconds of engine and workers for a recorded rollout, as in training."""
    used = cpu_below(os.getpid())
    for repeat in range(repeats):
        worker.play([recorded(request, folder / str(repeat)) for request in requests])
    return (cpu_below(os.getpid()) - used) / (repeats * len(requests))


def recorded(request: RolloutRequest, folder: Path) -> RolloutRequest:
    return replace(
        request, recording=str(folder / request.seed / run_files.recording_name(request.task, request.member))
    )


def cpu_below(pid: int) -> float:
    """Returns the CPU seconds of the descendants of a process so far (Linux)."""
    seconds = 0.0
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            fields = (entry / "stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[1]) == pid:
            ticks = int(fields[11]) + int(fields[12])
            seconds += ticks / os.sysconf("SC_CLK_TCK") + cpu_below(int(entry.name))
    return seconds


def main(node: str, engine: str, domain: str, name: str, rounds: int, repeats: int) -> None:
    """Runs the measurements and prints them."""
    model, tokenizer = load_model(name, torch.float32).eval(), load_tokenizer(name)
    gateway = gateway_over(model, chat_of("smollm2", tokenizer, "compact", False), "smollm2", SAMPLING, 2048, 4 * BATCH)
    asked: dict[str, list[tuple[list[int], Any]]] = {}
    answers: dict[tuple[int, ...], Any] = {}
    submit = gateway.generator.submit

    def noted(session: str, prompt: Any, sampling: Sampling, seed: int) -> Any:
        future = submit(session, prompt, sampling, seed)
        asked.setdefault(session, []).append((list(prompt), future))
        return future

    gateway.generator.submit = noted
    settings = RolloutSettings(domain, turn_cap=10, rollout_timeout_s=3600)
    ours, plain, paged, played, tokens, turns_sampled, cut = [], [], [], [], 0, 0, 0
    command = [node, engine, "serve", "--stdio"]
    with (
        tempfile.TemporaryDirectory() as scratch,
        RolloutWorker(gateway, command, str(Path.cwd()), lambda _level, _message: None, BATCH) as worker,
    ):
        folder = Path(scratch)
        tasks = [str(task["id"]) for task in worker.tasks(domain, "train")]
        used = cpu_below(os.getpid())
        for turn in range(rounds + 1):
            asked.clear()
            gateway.generator.refresh()  # as after an optimizer step: nothing of the round before is kept
            requests = [
                RolloutRequest(tasks[(turn * BATCH + at) % len(tasks)], at, f"bench/{turn}/{at}", SAMPLING, settings)
                for at in range(BATCH)
            ]
            began = time.monotonic()
            worker.play([recorded(request, folder / "first") for request in requests])
            seconds = time.monotonic() - began
            played += requests
            answers |= {tuple(prompt): future for turns in asked.values() for prompt, future in turns}
            conversations = [[(prompt, future.result().ids) for prompt, future in turns] for turns in asked.values()]
            again = plain_loop(model, conversations, tokenizer.pad_token_id or 0)
            batched = paged_loop(model, conversations)
            if turn > 0:
                ours.append(seconds)
                plain.append(again)
                paged.append(batched)
                tokens += sum(len(ids) for turns in conversations for _, ids in turns)
                turns_sampled += sum(map(len, conversations))
                cut += sum(len(ids) >= MAX_TOKENS for turns in conversations for _, ids in turns)
        first = (cpu_below(os.getpid()) - used) / len(played)
        gateway.generator.submit = lambda _session, prompt, _sampling, _seed: answers[tuple(prompt)]
        engine_cpu(worker, played, max(1, repeats // 4), folder / "warming")
        later = engine_cpu(worker, played, repeats, folder / "later")
    gateway.generator.close()
    told = {
        "ours": ours,
        "plain": plain,
        "paged": paged,
        "engine": {"first": first, "later": later, "rollouts": repeats * len(played)},
        "tokens": tokens,
        "turns": turns_sampled / (rounds * BATCH),
        "cut": cut / turns_sampled,
    }
    print(json.dumps(told))


def plain_loop(model: Any, conversations: list[list[tuple[list[int], list[int]]]], pad: int) -> float:
    """Returns the seconds for the same turns, each generated from the first token of its prompt."""
    began = time.monotonic()
    for turn in range(max(map(len, conversations))):
        asked = [turns[turn] for turns in conversations if turn < len(turns)]
        longest = max(len(prompt) for prompt, _ in asked)
        new = max(len(ids) for _, ids in asked)
        ids = torch.tensor([[pad] * (longest - len(prompt)) + prompt for prompt, _ in asked])
        mask = torch.tensor([[0] * (longest - len(prompt)) + [1] * len(prompt) for prompt, _ in asked])
        with torch.inference_mode():
            model.generate(
                ids, attention_mask=mask, do_sample=True, temperature=1.0, min_new_tokens=new, max_new_tokens=new,
                pad_token_id=pad,
            )  # fmt: skip
    return time.monotonic() - began


def paged_loop(model: Any, conversations: list[list[tuple[list[int], list[int]]]]) -> float:
    """Seconds for the same turns with transformers' continuous batching, on a CPU with pages of 32 tokens."""
    sampler = PagedSampler(model, (), 2048, page_size=32, num_blocks=2 * BATCH * 2048 // 32, max_batch_tokens=512)
    began = time.monotonic()
    for turn in range(max(map(len, conversations))):
        asked = [(str(at), turns[turn]) for at, turns in enumerate(conversations) if turn < len(turns)]
        lengths = [Sampling(1.0, 1.0, len(ids)) for _, (_, ids) in asked]
        answers = [
            sampler.submit(session, prompt, sampling, turn)
            for (session, (prompt, _)), sampling in zip(asked, lengths, strict=True)
        ]
        for answer in answers:
            answer.result()
    seconds = time.monotonic() - began
    sampler.close()
    return seconds


if __name__ == "__main__":
    *given, measured, repeated = sys.argv[1:]
    node_path, engine_path, domain_path, model_name = given
    main(node_path, engine_path, domain_path, model_name, int(measured), int(repeated))
