"""Puts a model behind a gateway: weights, tokenizer, dialect, decoder, generator."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import Any, Literal

from rehearsal_trainer.chat.chat import Chat, template_options
from rehearsal_trainer.gateway.gateway import Gateway
from rehearsal_trainer.models.loading import dtype_named, load_model, load_tokenizer, stop_ids_of
from rehearsal_trainer.models.locations import quantization_of
from rehearsal_trainer.sampler.answers import Sampler, Sampling
from rehearsal_trainer.sampler.cpu_decoder.decoders import decoder_for
from rehearsal_trainer.sampler.cpu_decoder.generation import Generator
from rehearsal_trainer.sampler.paged_sampler import PagedSampler, can_page
from rehearsal_trainer.sampler.vllm_sampler import VllmSampler
from rehearsal_trainer.settings.keys import DialectName
from rehearsal_trainer.values import run_files


def open_gateway(
    model: str,
    dialect: DialectName,
    sampling: Sampling,
    dtype: Literal["auto", "float32", "bfloat16"] = "float32",
    thinking: bool = False,
) -> Gateway[Sampler]:
    """A gateway (not yet serving) over a model by name, with all of its context."""
    chat = chat_of(model, load_tokenizer(model), dialect, thinking)
    loaded = load_model(model, dtype_named(dtype), quantization=quantization_of(model, "auto"))
    return gateway_over(loaded.eval(), chat, model, sampling)


def gateway_over(
    model: Any, chat: Chat, name: str, sampling: Sampling, context: int | None = None, slots: int = 32
) -> Gateway[Sampler]:
    """A gateway over a live module, for instance the one that is being trained."""
    room = room_of(model, context)
    return Gateway(sampler_of(model, chat.stop_ids, room, slots), chat, name, sampling, room)


def sampler_of(model: Any, stop_ids: Collection[int], room: int, slots: int) -> Sampler:
    """Returns what samples from a live module in this process: transformers on a GPU, our own decoder on a CPU."""
    if next(model.parameters()).device.type == "cpu" or not can_page(model):
        return Generator(decoder_for(model), stop_ids, room, slots)
    return PagedSampler(model, stop_ids, room)


def gateway_of(config: Any, model: Any, chat: Chat) -> Gateway[Sampler]:
    """The gateway of a run's configuration over a live module; it has room for two rounds of rollouts."""
    sampling, slots = Sampling.of(config), 2 * config.concurrency
    if config.vllm_python is None:
        return gateway_over(model, chat, config.model, sampling, config.context, slots)
    room = room_of(model, config.context)
    copy = Path(config.run) / run_files.SERVING
    sampler = VllmSampler(model, chat.stop_ids, room, config.vllm_python, config.vllm_memory, copy)
    return Gateway(sampler, chat, config.model, sampling, room)


def chat_of(model: str, tokenizer: Any, dialect: DialectName, thinking: bool) -> Chat:
    """Returns the chat of a model by name; ModelError as Chat.of."""
    return Chat.of(tokenizer, stop_ids_of(model, tokenizer), dialect, template_options(thinking))


def room_of(model: Any, context: int | None) -> int:
    """The tokens of the longest conversation: those that were asked for, or fewer where the model has no more."""
    return min(context or model.config.max_position_embeddings, model.config.max_position_embeddings)
