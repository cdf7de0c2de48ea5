"""Puts a model behind a gateway: weights, tokenizer, dialect, decoder, generator."""

from __future__ import annotations

from typing import Any, Literal

from rehearsal_trainer.chat import Chat
from rehearsal_trainer.decoders import decoder_for
from rehearsal_trainer.dialect import dialect_named
from rehearsal_trainer.gateway import Gateway
from rehearsal_trainer.generation import Generator
from rehearsal_trainer.models import dtype_named, load_model, load_tokenizer
from rehearsal_trainer.session import Sampling


def open_gateway(
    model: str,
    dialect: str,
    sampling: Sampling,
    dtype: Literal["auto", "float32", "bfloat16"] = "float32",
    context: int | None = None,
    slots: int = 32,
) -> Gateway[Generator]:
    """A gateway (not yet serving) over a model by name; `context` defaults to the model's own."""
    loaded = load_model(model, dtype_named(dtype)).eval()
    return gateway_over(loaded, load_tokenizer(model), model, dialect, sampling, context, slots)


def gateway_over(
    model: Any, tokenizer: Any, name: str, dialect: str, sampling: Sampling, context: int | None = None, slots: int = 32
) -> Gateway[Generator]:
    """A gateway over a live module, for instance the one that is being trained."""
    chat = Chat(tokenizer, dialect_named(dialect))
    room = min(context or model.config.max_position_embeddings, model.config.max_position_embeddings)
    generator = Generator(decoder_for(model), chat.end_id, room, slots)
    return Gateway(generator, chat, name, sampling, room)
