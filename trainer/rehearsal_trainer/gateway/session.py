"""A session of the gateway: one conversation with the model, kept as token ids. Torch-free.

The next prompt is the row so far plus the ids of the new messages. Messages that were seen before are compared, never
tokenized again. The model's own messages are matched by their id and never parsed again. A row ends when the client
changes earlier messages, or when the chat template renders earlier turns differently.
"""

from __future__ import annotations

import hashlib
import json
import secrets
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field

from rehearsal_trainer.chat.chat import Chat, system_messages
from rehearsal_trainer.chat.masks import CompletionRow, Row, Sampled, check_trained, split_at, trained_ids, without_tail
from rehearsal_trainer.sampler.answers import Sampling
from rehearsal_trainer.values.messages import Json, Message, Tool, ToolCall


@dataclass
class SessionRow:
    """A row with the data about it that a trainer needs."""

    row: Row = field(default_factory=Row)
    prompt_length: int = 0
    """The number of ids before the first sampled one."""
    finish_reasons: list[str] = field(default_factory=list)
    sampled: list[Sampled] = field(default_factory=list)
    """The answers of the model, as it sampled them."""

    def check_mask(self) -> None:
        """Raises TrainingError unless exactly the sampled ids have mask 1 and a log-probability."""
        row = self.row
        check_trained(trained_ids(row.ids, row.mask), self.sampled)
        scored = [int(value is not None) for value in row.logprobs]
        check_trained(trained_ids(row.ids, scored), self.sampled, "the list of log-probabilities")

    def completion(self, prompt_length: int) -> CompletionRow:
        """Returns the row up to its last sampled id as prompt and completion. TrainingError as for `check_mask`."""
        row = split_at(without_tail(self.row), prompt_length)
        ids, mask = row["prompt_ids"] + row["completion_ids"], [0] * len(row["prompt_ids"]) + row["env_mask"]
        check_trained(trained_ids(ids, mask), self.sampled)
        return row

    def as_json(self) -> dict[str, Json]:
        """Returns the row for a trace, in the format of docs/training-protocol.md."""
        row = without_tail(self.row)
        return {
            "ids": row.ids,
            "mask": row.mask,
            "logprobs": row.logprobs,
            "prompt_length": self.prompt_length,
            "turns": len(self.finish_reasons),
            "finish_reasons": list(self.finish_reasons),
        }


class Session:
    """The token ids, mask and log-probabilities of one conversation, in one or more rows."""

    def __init__(self, chat: Chat, sampling: Sampling, seed: str) -> None:
        self.chat = chat
        self.sampling = sampling
        self.seed = seed
        self.id = f"s-{secrets.token_hex(8)}"
        self.token = secrets.token_urlsafe(24)
        self.rows: list[SessionRow] = []
        self.changed_histories = 0
        self.malformed_calls = 0
        self.answered: tuple[str, dict[str, Json]] | None = None
        """The client's id of its last request, and the completion that answered it."""
        self._turn = 0
        self._head: Hashable = None
        self._tools: Sequence[Tool] = ()
        self._seen: list[Hashable] = []
        self._messages: list[Message] = []
        """The messages of the current row, starting with the system prompt; the model's own include their reasoning."""
        self._reply_of_call: dict[str, str] = {}
        self._replies: dict[str, Message] = {}

    def prompt(self, messages: Sequence[Message], tools: Sequence[Tool]) -> list[int]:
        """Returns the ids of the next prompt; adds the new messages to the current row, or starts a new row."""
        system, spoken = split_system(messages)
        head = (system, _tools_key(tools))
        keys = [self._key_of(message) for message in spoken]
        known = len(self._seen)
        fresh = spoken[known:]
        continues = (
            bool(self.rows)
            and head == self._head
            and keys[:known] == self._seen
            and len(keys) > known
            and all(message.role != "assistant" for message in fresh)
        )
        bridge = None
        if continues:
            *before, last = self._messages
            row = self.rows[-1].row
            bridge = self.chat.template.bridge_ids(before, last, fresh, tools, row.ids[-1])
            self._messages += fresh
        else:
            self.changed_histories += bool(self.rows)
            own = (self._replies.get(self._identity_of(message) or "", message) for message in spoken)
            self._messages = [*system_messages(system), *own]
        if bridge is None:
            self.rows.append(SessionRow())
            bridge = self.chat.template.prompt_ids(self._messages, tools)
        current = self.rows[-1]
        current.row.append_given(bridge)
        self._head, self._tools, self._seen = head, tools, keys
        current.prompt_length = current.prompt_length or len(current.row.ids)
        return current.row.ids

    def reply(self, ids: list[int], logprobs: list[float], finish_reason: str) -> Message:
        """Appends sampled ids to the row, and returns them as a message with new ids for itself and its calls."""
        current = self.rows[-1]
        parsed = self.chat.parse(ids, current.row.ids, self._tools)
        current.sampled.append(Sampled(len(current.row.ids), ids))
        current.row.append_sampled(ids, logprobs)
        current.finish_reasons.append(finish_reason)
        self.malformed_calls += parsed.malformed
        identity = f"{self.id}.{self._turn}"
        calls = [
            ToolCall(f"call-{identity}.{index}", *call, written_id=written)
            for index, (call, written) in enumerate(zip(parsed.calls, parsed.written_ids, strict=True))
        ]
        self._turn += 1
        self._reply_of_call.update({call.id: identity for call in calls})
        message = Message("assistant", parsed.content, calls, rehearsal_id=identity, reasoning=parsed.reasoning)
        self._replies[identity] = message
        self._seen.append(("assistant", identity))
        self._messages.append(message)
        return message

    @property
    def answers(self) -> list[str]:
        """The ids of all sampled answers, in order."""
        return list(self._replies)

    def turn_seed(self) -> int:
        """Returns the seed of the next answer, derived from the session's seed and the turn."""
        digest = hashlib.sha256(f"{self.seed}\n{self._turn}".encode()).digest()
        return int.from_bytes(digest[:8], "big")

    def trace(self) -> dict[str, Json]:
        """Returns all rows that contain an answer, and the session's counters."""
        return {
            "id": self.id,
            "rows": [row.as_json() for row in self.rows if row.finish_reasons],
            "changed_histories": self.changed_histories,
            "malformed_calls": self.malformed_calls,
        }

    def _key_of(self, message: Message) -> Hashable:
        if message.role != "assistant":
            return (message.role, message.content or "", message.call_id)
        identity = self._identity_of(message)
        if identity in self._replies:
            return ("assistant", identity)
        calls = tuple((call.id, call.name, json.dumps(call.arguments, sort_keys=True)) for call in message.tool_calls)
        return ("foreign", message.content, calls)

    def _identity_of(self, message: Message) -> str | None:
        """Returns the id that this session gave to a message of the model; None if the message has no id."""
        if message.rehearsal_id is None and message.tool_calls:
            return self._reply_of_call.get(message.tool_calls[0].id)
        return message.rehearsal_id


def split_system(messages: Sequence[Message]) -> tuple[str, list[Message]]:
    """Returns the system prompt of a conversation and its other messages."""
    system = [message.content or "" for message in messages if message.role == "system"]
    return "\n\n".join(system), [message for message in messages if message.role != "system"]


def _tools_key(tools: Sequence[Tool]) -> str:
    return json.dumps([[tool.name, tool.description, dict(tool.parameters)] for tool in tools], sort_keys=True)
