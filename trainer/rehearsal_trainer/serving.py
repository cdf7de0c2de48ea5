"""Puts a model behind a gateway: weights, tokenizer, dialect, decoder, generator."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

from rehearsal_trainer import run_files
from rehearsal_trainer.answers import Sampler
from rehearsal_trainer.chat import Chat
from rehearsal_trainer.decoders import decoder_for
from rehearsal_trainer.dialect import dialect_named
from rehearsal_trainer.gateway import Gateway
from rehearsal_trainer.generation import Generator
from rehearsal_trainer.models import dtype_named, load_model, load_tokenizer
from rehearsal_trainer.session import Sampling
from rehearsal_trainer.vllm_sampler import VllmSampler


def open_gateway(
    model: str, dialect: str, sampling: Sampling, dtype: Literal["auto", "float32", "bfloat16"] = "float32"
) -> Gateway[Generator]:
    """A gateway (not yet serving) over a model by name, with all of its context."""
    loaded = load_model(model, dtype_named(dtype)).eval()
    return gateway_over(loaded, load_tokenizer(model), model, dialect, sampling)


def gateway_over(
    model: Any, tokenizer: Any, name: str, dialect: str, sampling: Sampling, context: int | None = None, slots: int = 32
) -> Gateway[Generator]:
    """A gateway over a live module, for instance the one that is being trained."""
    chat = Chat(tokenizer, dialect_named(dialect))
    room = room_of(model, context)
    generator = Generator(decoder_for(model), chat.end_id, room, slots)
    return Gateway(generator, chat, name, sampling, room)


def gateway_of(config: Any, model: Any, tokenizer: Any) -> Gateway[Sampler]:
    """The gateway of a run's configuration over a live module; it has room for two rounds of rollouts."""
    sampling, slots = Sampling.of(config), 2 * config.concurrency
    if config.vllm_python is None:
        return gateway_over(model, tokenizer, config.model, config.dialect, sampling, config.context, slots)
    chat, room = Chat(tokenizer, dialect_named(config.dialect)), room_of(model, config.context)
    copy = Path(config.run) / run_files.SERVING
    sampler = VllmSampler(model, chat.end_id, room, config.vllm_python, config.vllm_memory, copy)
    return Gateway(sampler, chat, config.model, sampling, room)


def room_of(model: Any, context: int | None) -> int:
    """The tokens of the longest conversation: those that were asked for, or fewer where the model has no more."""
    return min(context or model.config.max_position_embeddings, model.config.max_position_embeddings)
