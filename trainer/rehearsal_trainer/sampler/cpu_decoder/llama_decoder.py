"""A decoder for the Llama family (SmolLM2, Llama, Qwen 2 and 3).

It copies the weights from the module once per optimizer step, in a layout for products of a few rows (`linear.py`), and
computes each product for all sessions together. A LoRA adapter is merged into weights in float32. Weights with fewer
bits would lose most of a small update, so the adapter has a separate product there.

Not supported: sliding windows, quantised weights, multimodal input.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from rehearsal_trainer.models.weights import adapter_update, base_weight, merged_weight, without_adapters
from rehearsal_trainer.sampler.cpu_decoder.attention_batch import AttentionBatch, SingleSession, Span
from rehearsal_trainer.sampler.cpu_decoder.decoder import Entry
from rehearsal_trainer.sampler.cpu_decoder.linear import Product, product_of

LEAST_SHARED = 32
"""Tokens from which on a shared beginning is worth separate products."""


@dataclass
class _Layer:
    """One block's weights; query, key and value make one product, gate and up another."""

    norm_in: Tensor
    qkv: Product
    qkv_bias: Tensor | None
    q_norm: Tensor | None
    k_norm: Tensor | None
    out: Product
    norm_post: Tensor
    gate_up: Product
    down: Product


class LlamaDecoder:
    """Decodes models of the Llama family.

    `store` holds the keys and values of all sessions: (layers, 2, slots, key heads, capacity, head size). Sessions take
    the lowest free slot, so sessions that decode together are adjacent and share one attention call. Their common
    prefix, such as the policy and the tools, is read from only one of them.
    """

    def __init__(self, model: Any) -> None:
        self.model = model
        config = model.config
        self.heads, self.key_heads = config.num_attention_heads, config.num_key_value_heads
        self.size = getattr(config, "head_dim", None) or config.hidden_size // self.heads
        self.epsilon = config.rms_norm_eps
        self._slots: dict[str, int] = {}
        self._tokens: list[list[int]] = []  # by slot; empty if the slot is free
        self._beginnings: dict[tuple[int, ...], int] = {}  # the length of the common prefix by slots
        self.refresh()
        self.store = self._room(0, 0)

    def refresh(self) -> None:
        inner = without_adapters(self.model)
        body = inner.model
        self.embedding = body.embed_tokens.weight.detach()
        self.norm = body.norm.weight.detach()
        self.head = _joined([inner.lm_head])
        self.frequencies = body.rotary_emb.inv_freq.float()
        self.rope_scale = float(getattr(body.rotary_emb, "attention_scaling", 1.0))
        self.layers = [_layer(block) for block in body.layers]

    def adopt(self, model: Any) -> None:
        self.model = model

    def truncate(self, session: str, length: int) -> None:
        del self._tokens[self._slots[session]][length:]
        self._beginnings.clear()

    def copy(self, source: str | None, target: str, length: int) -> None:
        self.drop(target)
        taken = set(self._slots.values())
        slot = next(index for index in range(len(taken) + 1) if index not in taken)
        self._slots[target] = slot
        self._reserve(slot, length)
        if source is not None and length:
            origin = self._slots[source]
            self._tokens[slot] = self._tokens[origin][:length]
            self.store[:, :, slot, :, :length] = self.store[:, :, origin, :, :length]

    def drop(self, session: str) -> None:
        slot = self._slots.pop(session, None)
        if slot is not None:
            self._tokens[slot] = []
            self._beginnings.clear()

    def extend(self, entries: Sequence[Entry]) -> Tensor:
        # By slot, so that sessions side by side in the batch are so in the store.
        order = sorted(range(len(entries)), key=lambda index: self._slots[entries[index][0]])
        logits = self._extend([entries[index] for index in order]).split([entries[index][2] for index in order])
        return torch.cat([logits[order.index(index)] for index in range(len(entries))])

    def _extend(self, entries: Sequence[Entry]) -> Tensor:
        slots = [self._slots[session] for session, *_ in entries]
        counts = [len(tokens) for _, tokens, _ in entries]
        for slot, count in zip(slots, counts, strict=True):
            self._reserve(slot, len(self._tokens[slot]) + count)
        device, dtype = self.embedding.device, self.embedding.dtype
        flat = torch.tensor([token for _, tokens, _ in entries for token in tokens], device=device)
        lengths = [len(self._tokens[slot]) for slot in slots]
        batch = AttentionBatch(slots, lengths, counts, self.heads // self.key_heads, device, dtype)
        if batch.span is not None:
            batch.span.shared = self._beginning(batch.span.slots)
        angles = batch.places.float()[:, None, None] * self.frequencies  # (tokens, 1, size / 2)
        cos, sin = (angles.cos() * self.rope_scale).to(dtype), (angles.sin() * self.rope_scale).to(dtype)
        hidden = F.embedding(flat, self.embedding)  # (tokens, width)
        for index, layer in enumerate(self.layers):
            hidden = hidden + layer.out(self._attend(layer, self.store[index], hidden, cos, sin, batch))
            gate, up = layer.gate_up(self._norm(hidden, layer.norm_post)).chunk(2, -1)
            hidden = hidden + layer.down(F.silu(gate) * up)
        for slot, (_, tokens, _) in zip(slots, entries, strict=True):
            self._tokens[slot].extend(tokens)
        ends = list(accumulate(counts))
        wanted = [row for end, (*_, n) in zip(ends, entries, strict=True) for row in range(end - n, end)]
        return self.head(self._norm(hidden[torch.tensor(wanted, device=device)], self.norm))

    def _attend(
        self, layer: _Layer, store: Tensor, hidden: Tensor, cos: Tensor, sin: Tensor, batch: AttentionBatch
    ) -> Tensor:
        mixed = layer.qkv(self._norm(hidden, layer.norm_in))
        if layer.qkv_bias is not None:
            mixed = mixed + layer.qkv_bias
        heads = mixed.view(len(hidden), self.heads + 2 * self.key_heads, self.size)
        queries, keys, values = heads.split([self.heads, self.key_heads, self.key_heads], 1)
        if layer.q_norm is not None and layer.k_norm is not None:
            queries, keys = self._norm(queries, layer.q_norm), self._norm(keys, layer.k_norm)
        rotated = _rotate(torch.cat([queries, keys], 1), cos, sin)
        queries = rotated[:, : self.heads]
        store[:, batch.slot_of, :, batch.places] = torch.stack([rotated[:, self.heads :], values], 1)
        if batch.span is not None and batch.span.is_all:
            return self._together(queries, store, batch.span)
        result = hidden.new_empty(len(hidden), self.heads * self.size)
        if batch.span is not None:
            result[batch.span.rows] = self._together(queries[batch.span.rows], store, batch.span)
        for row in batch.others:
            result[row.start : row.end] = self._alone(queries[row.start : row.end], store, row)
        return result

    def _together(self, queries: Tensor, store: Tensor, span: Span) -> Tensor:
        """Returns the attention of the few new tokens of many sessions: (new tokens, heads * size).

        The query heads of a key head and the new tokens of a session are treated as query positions.
        """
        slots, new, group = span.high - span.low, span.new, self.heads // self.key_heads
        if span.is_all:
            spread = queries
        else:
            spread = queries.new_zeros(slots * new, *queries.shape[1:])
            spread[span.places] = queries
        spread = spread.view(slots, new, self.key_heads, group, self.size).transpose(1, 2)
        spread = spread.reshape(slots, self.key_heads, new * group, self.size)
        window = store[:, span.low : span.high, :, : span.length]
        if span.shared:
            attended = self._with_shared(spread, store[:, span.low, :, : span.shared], window, span)
        else:
            attended = F.scaled_dot_product_attention(spread, window[0], window[1], attn_mask=span.seen)
        attended = attended.view(slots, self.key_heads, new, group * self.size).transpose(1, 2).reshape(slots * new, -1)
        return attended if span.is_all else attended[span.places]

    def _with_shared(self, queries: Tensor, shared: Tensor, window: Tensor, span: Span) -> Tensor:
        """Returns the attention of queries (slots, key heads, group, size) to a shared prefix and to their own tokens.

        The prefix is read once for all of them, because reading keys and values dominates the cost for a few queries.
        """
        slots, key_heads, group, size = queries.shape
        queries = queries * size**-0.5
        flat = queries.transpose(0, 1).reshape(key_heads, slots * group, size)
        to_shared = (flat @ shared[0].transpose(-1, -2)).view(key_heads, slots, group, -1).transpose(0, 1)
        own = window[:, :, :, span.shared :]
        to_own = queries @ own[0].transpose(-1, -2) + span.seen[..., span.shared :]
        weights = torch.cat([to_shared, to_own], -1).softmax(-1)
        of_shared = weights[..., : span.shared].transpose(0, 1).reshape(key_heads, slots * group, -1)
        mixed = (of_shared @ shared[1]).view(key_heads, slots, group, size).transpose(0, 1)
        return mixed + weights[..., span.shared :] @ own[1]

    def _beginning(self, slots: list[int]) -> int:
        """Returns the length of the prefix that the sessions of these slots share; 0 if it is below `LEAST_SHARED`."""
        key = tuple(slots)
        if key not in self._beginnings:
            # The common prefix of all is that of the lexicographically first and last. It does not shrink while they
            # continue.
            held = [self._tokens[slot] for slot in slots]
            least, most = min(held), max(held)
            pairs = zip(least, most, strict=False)
            length = next((at for at, (one, other) in enumerate(pairs) if one != other), len(least))
            self._beginnings[key] = length if length >= LEAST_SHARED else 0
        return self._beginnings[key]

    def _alone(self, queries: Tensor, store: Tensor, alone: SingleSession) -> Tensor:
        """Returns the attention of one session's new tokens to all its tokens: (new tokens, heads * size)."""
        keys, values = store[:, alone.slot, None, :, : alone.length]
        attended = F.scaled_dot_product_attention(
            queries.transpose(0, 1)[None], keys, values, attn_mask=alone.seen, enable_gqa=self.heads > self.key_heads
        )
        return attended[0].transpose(0, 1).reshape(len(queries), -1)

    def _norm(self, values: Tensor, weight: Tensor) -> Tensor:
        return F.rms_norm(values, (values.shape[-1],), weight, self.epsilon)

    def _reserve(self, slot: int, length: int) -> None:
        slots, capacity = self.store.shape[2], self.store.shape[4]
        while len(self._tokens) <= slot:
            self._tokens.append([])
        if slot < slots and length <= capacity:
            return
        grown = self._room(
            slots if slot < slots else max(8, 2 * slots),
            capacity if length <= capacity else max(512, 2 * capacity, length),
        )
        if slots and capacity:
            grown[:, :, :slots, :, :capacity] = self.store
        self.store = grown

    def _room(self, slots: int, capacity: int) -> Tensor:
        # Zeros, because attention over a free slot must not read a NaN that was left in memory.
        shape = (len(self.layers), 2, slots, self.key_heads, capacity, self.size)
        return torch.zeros(shape, dtype=self.embedding.dtype, device=self.embedding.device)


def _layer(block: Any) -> _Layer:
    attention, mlp = block.self_attn, block.mlp
    projections = [attention.q_proj, attention.k_proj, attention.v_proj]
    biases = [getattr(_base(projection), "bias", None) for projection in projections]
    joined_bias = torch.cat([bias.detach() for bias in biases if bias is not None]) if biases[0] is not None else None
    q_norm, k_norm = getattr(attention, "q_norm", None), getattr(attention, "k_norm", None)
    return _Layer(
        norm_in=block.input_layernorm.weight.detach(),
        qkv=_joined(projections),
        qkv_bias=joined_bias,
        q_norm=None if q_norm is None else q_norm.weight.detach(),
        k_norm=None if k_norm is None else k_norm.weight.detach(),
        out=_joined([attention.o_proj]),
        norm_post=block.post_attention_layernorm.weight.detach(),
        gate_up=_joined([mlp.gate_proj, mlp.up_proj]),
        down=_joined([mlp.down_proj]),
    )


def _joined(linears: list[Any]) -> Product:
    """Returns one product with the weights of several linear modules: (rows, inputs) to (rows, all outputs)."""
    updates = [adapter_update(linear) for linear in linears]
    if base_weight(linears[0]).dtype == torch.float32 or not any(updates):
        return product_of(_stacked([merged_weight(linear) for linear in linears]))
    weights = [base_weight(linear) for linear in linears]
    product, sizes = product_of(_stacked(weights)), [len(weight) for weight in weights]

    def joined(rows: Tensor) -> Tensor:
        parts = zip(product(rows).split(sizes, -1), updates, strict=True)
        return torch.cat(
            [part if update is None else (part + update(rows)).to(part.dtype) for part, update in parts], -1
        )

    return joined


def _stacked(weights: list[Tensor]) -> Tensor:
    """Returns the weights as one tensor: (all outputs, inputs). A single weight is not copied."""
    return weights[0] if len(weights) == 1 else torch.cat(weights)


def _base(linear: Any) -> Any:
    return linear.get_base_layer() if hasattr(linear, "get_base_layer") else linear


def _rotate(values: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    left, right = values.chunk(2, -1)
    return torch.cat([left * cos - right * sin, right * cos + left * sin], -1)
