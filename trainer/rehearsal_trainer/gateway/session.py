"""One conversation with the model, kept as token ids: what a gateway session is. Torch-free.

The next prompt is the row so far plus the ids of the messages that are new. Messages that were seen before are
compared, never tokenised again; the model's own are matched by their id and never read again. A row ends where the
client changes the messages, and where the chat template itself renders earlier turns differently from now on.
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
    """A row with what a trainer wants to know about it."""

    row: Row = field(default_factory=Row)
    prompt_length: int = 0
    """Ids before the first sampled one."""
    finish_reasons: list[str] = field(default_factory=list)
    sampled: list[Sampled] = field(default_factory=list)
    """The answers of the model, as it gave them."""

    def check_mask(self) -> None:
        """TrainingError where mask 1 and log-probabilities are not exactly on the ids that the model sampled."""
        row = self.row
        check_trained(trained_ids(row.ids, row.mask), self.sampled)
        scored = [int(value is not None) for value in row.logprobs]
        check_trained(trained_ids(row.ids, scored), self.sampled, "the list of log-probabilities")

    def completion(self, prompt_length: int) -> CompletionRow:
        """The row up to its last sampled id, cut into prompt and completion. TrainingError as for `check_mask`."""
        row = split_at(without_tail(self.row), prompt_length)
        ids, mask = row["prompt_ids"] + row["completion_ids"], [0] * len(row["prompt_ids"]) + row["env_mask"]
        check_trained(trained_ids(ids, mask), self.sampled)
        return row

    def as_json(self) -> dict[str, Json]:
        """The row of a trace, as docs/training-protocol.md describes it."""
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
    """Token ids, mask and log-probabilities of one conversation, in one row or more."""

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
        """The id that the client gave its last request, and the completion that answers it."""
        self._turn = 0
        self._head: Hashable = None
        self._tools: Sequence[Tool] = ()
        self._seen: list[Hashable] = []
        self._messages: list[Message] = []
        """What the current row holds, the system prompt first: the model's own messages with their reasoning."""
        self._reply_of_call: dict[str, str] = {}
        self._replies: dict[str, Message] = {}

    def prompt(self, messages: Sequence[Message], tools: Sequence[Tool]) -> list[int]:
        """The ids to continue from; appends only what is new to the current row, or starts a new one."""
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
        """Takes what was sampled into the row and reads it as a message with its own ids."""
        current = self.rows[-1]
        parsed = self.chat.parse(ids, current.row.ids, self._tools)
        current.sampled.append(Sampled(len(current.row.ids), ids))
        current.row.append_sampled(ids, logprobs)
        current.finish_reasons.append(finish_reason)
        self.malformed_calls += parsed.malformed
        identity = f"{self.id}.{self._turn}"
        calls = [ToolCall(f"call-{identity}.{index}", *call) for index, call in enumerate(parsed.calls)]
        self._turn += 1
        self._reply_of_call.update({call.id: identity for call in calls})
        message = Message("assistant", parsed.content, calls, rehearsal_id=identity, reasoning=parsed.reasoning)
        self._replies[identity] = message
        self._seen.append(("assistant", identity))
        self._messages.append(message)
        return message

    @property
    def answers(self) -> list[str]:
        """The ids of all answers that were sampled, in order."""
        return list(self._replies)

    def turn_seed(self) -> int:
        """The seed of the next sampling, from the session's seed and the turn."""
        digest = hashlib.sha256(f"{self.seed}\n{self._turn}".encode()).digest()
        return int.from_bytes(digest[:8], "big")

    def trace(self) -> dict[str, Json]:
        """All rows that hold something sampled, and what was counted."""
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
        """Returns the id under which a message of the model was sampled here; None where it says none."""
        if message.rehearsal_id is None and message.tool_calls:
            return self._reply_of_call.get(message.tool_calls[0].id)
        return message.rehearsal_id


def split_system(messages: Sequence[Message]) -> tuple[str, list[Message]]:
    """The system prompt of a conversation, and the messages after it."""
    system = [message.content or "" for message in messages if message.role == "system"]
    return "\n\n".join(system), [message for message in messages if message.role != "system"]


def _tools_key(tools: Sequence[Tool]) -> str:
    return json.dumps([[tool.name, tool.description, dict(tool.parameters)] for tool in tools], sort_keys=True)
