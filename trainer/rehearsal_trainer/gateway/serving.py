"""Builds a gateway over a model: loads its weights and tokenizer, and chooses its dialect and generator."""

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
    exact_history: bool = False,
) -> Gateway[Sampler]:
    """Loads a model by name, and returns a gateway over it (not yet serving) with the model's full context."""
    chat = chat_of(model, load_tokenizer(model), dialect, thinking, exact_history)
    loaded = load_model(model, dtype_named(dtype), quantization=quantization_of(model, "auto"))
    return gateway_over(loaded.eval(), chat, model, sampling)


def gateway_over(
    model: Any, chat: Chat, name: str, sampling: Sampling, context: int | None = None, slots: int = 32
) -> Gateway[Sampler]:
    """Returns a gateway over a live module, such as the one that is being trained."""
    room = room_of(model, context)
    return Gateway(sampler_of(model, chat.stop_ids, room, slots), chat, name, sampling, room)


def sampler_of(model: Any, stop_ids: Collection[int], room: int, slots: int) -> Sampler:
    """Returns a sampler of a live module in this process: transformers on a GPU, our own decoder on a CPU.

    Our own decoder also samples on a GPU if transformers cannot page the model.
    """
    if next(model.parameters()).device.type == "cpu" or not can_page(model):
        return Generator(decoder_for(model), stop_ids, room, slots)
    return PagedSampler(model, stop_ids, room)


def gateway_of(config: Any, model: Any, chat: Chat) -> Gateway[Sampler]:
    """Returns the gateway of a run's configuration over a live module, with slots for two rounds of rollouts."""
    sampling, slots = Sampling.of(config), 2 * config.concurrency
    if config.vllm_python is None:
        return gateway_over(model, chat, config.model, sampling, config.context, slots)
    room = room_of(model, config.context)
    copy = Path(config.run) / run_files.SERVING
    sampler = VllmSampler(model, chat.stop_ids, room, config.vllm_python, config.vllm_memory, copy)
    return Gateway(sampler, chat, config.model, sampling, room)


def chat_of(model: str, tokenizer: Any, dialect: DialectName, thinking: bool, exact_history: bool = False) -> Chat:
    """Returns the chat of a model by name; ModelError as Chat.of."""
    stop_ids = stop_ids_of(model, tokenizer)
    return Chat.of(tokenizer, stop_ids, dialect, template_options(thinking), exact_history)


def room_of(model: Any, context: int | None) -> int:
    """Returns the maximum number of tokens of a conversation: `context`, or the model's own limit if that is lower."""
    return min(context or model.config.max_position_embeddings, model.config.max_position_embeddings)
