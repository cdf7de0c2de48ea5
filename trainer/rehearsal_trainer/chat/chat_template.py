"""Converts messages to token ids with a model's own chat template (Jinja). Torch-free.

This module does not depend on a family of models. It compares two renderings of the template to find what a
conversation adds to a row, and tokenizes only that part: the next prompt is the previous ids, the sampled ids and the
bridge ids.

Text never becomes a special token: if a message contains one literally (`<|im_end|>` typed by a user), its characters
are encoded as ordinary text.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import date
from typing import Any

from rehearsal_trainer.chat.reasoning import without_empty_thoughts
from rehearsal_trainer.values.failures import ModelError
from rehearsal_trainer.values.messages import Json, Message, Tool, ToolCall

DATE = date(2024, 7, 26)
"""The date that templates print which print one: the same rollout has the same tokens on every day."""

_NOW = re.compile(r"""strftime_now\((['"])(.*?)\1\)""")
_SENTINEL = "\U000f8ff0reply\U000f8ff1"
_CONTENT = "\U000f8ff0content\U000f8ff1"
_FIRST_PLACEHOLDER = 0xF0000


class ChatTemplate:
    """One tokenizer, its template and the options of the template.

    stop_ids: the ids that end an answer, as the model's generation configuration lists them.
    options: variables of the template besides messages and tools, such as `enable_thinking`.
    exact_history: whether a row also ends where the template leaves out, or writes differently, an empty thought of an
    earlier turn. Otherwise the row keeps it.
    """

    def __init__(
        self,
        tokenizer: Any,
        stop_ids: Iterable[int],
        options: Mapping[str, Json] | None = None,
        exact_history: bool = False,
    ) -> None:
        self.tokenizer = tokenizer
        self.exact_history = exact_history
        self.options = dict(options or {})
        self.stop_ids = frozenset(stop_ids)
        self.encoded: list[str] = []
        """Every text that was tokenized, in order: no token is tokenized twice."""
        marks = {str(token): index for index, token in tokenizer.added_tokens_decoder.items()}
        self._marks = sorted(marks, key=len, reverse=True)
        self._any_mark = re.compile("|".join(map(re.escape, self._marks)) or r"(?!)")
        self._placeholders = re.compile(f"[{chr(_FIRST_PLACEHOLDER)}-{chr(_FIRST_PLACEHOLDER + len(marks))}]")
        stops = sorted((mark for mark, index in marks.items() if index in self.stop_ids), key=len, reverse=True)
        self._any_stop = re.compile("|".join(map(re.escape, stops)) or r"(?!)")
        self._source = _NOW.sub(lambda found: repr(DATE.strftime(found[2])), tokenizer.get_chat_template())

    def prompt_ids(self, messages: Sequence[Message], tools: Sequence[Tool]) -> list[int]:
        """Returns the ids of a whole conversation, up to the start of the model's answer."""
        return self._encode(self._render(messages, tools, prompt=True))

    def bridge_ids(
        self, before: Sequence[Message], reply: Message, new: Sequence[Message], tools: Sequence[Tool], last: int
    ) -> list[int] | None:
        """Returns the ids that continue a row after a sampled reply, up to the start of the model's next answer.

        before: the messages of the reply's prompt. new: users' and tools' messages. last: the reply's last id.
        Returns None if the template now renders the content of the row differently (it drops earlier reasoning, or
        moves the tools or the system prompt): the conversation then needs a new row.
        """
        prompt = self._render(before, tools, prompt=True)
        marked = _with_sentinel(reply)
        whole = self._render([*before, marked, *new], tools, prompt=True)
        alone = self._render([*before, marked], tools)
        head, found, tail = whole.partition(_SENTINEL)
        head_alone, found_alone, tail_alone = alone.partition(_SENTINEL)
        if (
            not found
            or not found_alone
            or _CONTENT in tail
            or self._history(head) != self._history(head_alone)
            or not self._history(head).startswith(self._history(prompt))
        ):
            return None
        shared = self._shared(tail, tail_alone)
        stop = self._any_stop.search(tail[:shared])
        ids = self._encode(tail[stop.start() if stop else shared :])
        if last not in self.stop_ids:
            return ids
        if ids and ids[0] == last:
            return ids[1:]
        closed = self._encode(tail_alone[stop.start() if stop else shared :])
        return None if closed[:1] == [last] else ids

    def reply_ids(self, before: Sequence[Message], reply: Message, tools: Sequence[Tool]) -> list[int]:
        """Returns the ids that a model samples which answers with `reply`, the end mark included."""
        prompt = self._render(before, tools, prompt=True)
        text = self._answer_text(before, reply, tools, prompt)
        stop = self._any_stop.search(text)
        if stop is not None:
            text = text[: stop.end()]
        ids, given = self._encode(prompt + text), self._encode(prompt)
        ids = ids[len(given) :] if ids[: len(given)] == given else self._encode(text)
        return ids if stop is not None else [*ids, self._next_mark(reply, tools)]

    def _answer_text(self, before: Sequence[Message], reply: Message, tools: Sequence[Tool], prompt: str) -> str:
        """Returns the text of a reply as the template renders it after a prompt, including the end of its turn."""
        whole = self._render([*before, reply], tools)
        shared = self._shared(prompt, whole)
        if not prompt[shared:].strip():
            return whole[shared:]
        # The reply changes how the template renders the text before it, so the text is cut at the start of the turn.
        opening = prompt[len(self._render(before, tools)) :]
        if not opening:
            start = self._start_of_answer(before, tools, prompt)
            if start is not None and whole.startswith(start):
                return whole[len(start) :]
        marked = self._render([*before, _with_sentinel(replace(reply, reasoning=None))], tools)
        head = marked.partition(_SENTINEL)[0]
        start = head.rfind(opening) + len(opening)
        is_last_turn = opening in head and not self._any_stop.search(head[start:])
        if opening and is_last_turn and whole.startswith(head[:start]):
            return whole[start:]
        if reply.reasoning:  # the prompt makes the model answer without reasoning
            return self._answer_text(before, replace(reply, reasoning=None), tools, prompt)
        raise ModelError(
            "the chat template renders an answer differently than the prompt before it, so that its tokens cannot be "
            "separated; choose another chat template for this model"
        )

    def _start_of_answer(self, before: Sequence[Message], tools: Sequence[Tool], prompt: str) -> str | None:
        """Returns what the template renders before any answer, or None if that does not end as the prompt does."""
        said = self._render([*before, Message("assistant", _SENTINEL)], tools)
        called = self._render([*before, Message("assistant", None, [ToolCall("call", "a", {})])], tools)
        start = said[: self._shared(said, called)]
        last = max((found.start() for found in self._any_mark.finditer(prompt)), default=None)
        return start if last is not None and start.endswith(prompt[last:]) else None

    def _history(self, text: str) -> str:
        """Returns the part of a rendered text that must not change while a row grows."""
        return text if self.exact_history else without_empty_thoughts(text)

    def _shared(self, tail: str, other: str) -> int:
        """Returns the length of the common prefix of two texts, without a part of a special token at its end."""
        shared = _common(tail, other)
        cut = (mark.start() for mark in self._any_mark.finditer(tail) if mark.start() < shared < mark.end())
        return next(cut, shared)

    def _next_mark(self, reply: Message, tools: Sequence[Tool]) -> int:
        """Returns the id that ends a reply if the template does not close replies: the start of the next message."""
        if reply.tool_calls:
            new = [Message("tool", "", call_id=call.id) for call in reply.tool_calls]
        else:
            new = [Message("user", "")]
        bridge = self.bridge_ids([Message("user", "")], replace(reply, reasoning=None), new, tools, -1)
        if not bridge or bridge[0] not in self.stop_ids:
            raise ModelError("the chat template ends an answer with no token at which the model stops")
        return bridge[0]

    def _render(self, messages: Sequence[Message], tools: Sequence[Tool], prompt: bool = False) -> str:
        calls = {call.id: call for message in messages for call in message.tool_calls}
        given = [_message_json(message, calls) for message in messages]
        declared = [_tool_json(tool) for tool in tools]
        options = {**self.options, "tokenize": False, "add_generation_prompt": prompt, "chat_template": self._source}
        try:
            return self.tokenizer.apply_chat_template(
                self._guarded(given), tools=self._guarded(declared) or None, **options
            )
        except Exception as error:  # the template is the model's, and may raise anything
            if any(isinstance(call.arguments, str) for message in messages for call in message.tool_calls):
                return self._render([_with_readable_calls(message) for message in messages], tools, prompt)
            raise ModelError(f"the model's chat template does not take this conversation: {error}") from error

    def _guarded(self, value: Json) -> Json:
        """Returns a JSON value in which every special token inside a text is a placeholder of one character."""
        if isinstance(value, str):
            return self._any_mark.sub(lambda found: chr(_FIRST_PLACEHOLDER + self._marks.index(found.group())), value)
        if isinstance(value, Mapping):
            return {self._guarded(key): self._guarded(each) for key, each in value.items()}
        if isinstance(value, list):
            return [self._guarded(each) for each in value]
        return value

    def _encode(self, text: str) -> list[int]:
        ids: list[int] = []
        at = 0
        for found in self._placeholders.finditer(text):
            mark = self._marks[ord(found.group()) - _FIRST_PLACEHOLDER]
            # Cut in two, a special token is ordinary text.
            for piece in (text[at : found.start()], mark[:1], mark[1:]):
                ids += self._encoded(piece)
            at = found.end()
        return ids + self._encoded(text[at:])

    def _encoded(self, text: str) -> list[int]:
        if not text:
            return []
        self.encoded.append(text)
        return list(self.tokenizer(text, add_special_tokens=False)["input_ids"])


def _with_sentinel(reply: Message) -> Message:
    """Returns a reply whose last free text is the sentinel, so that the text after it does not depend on the reply."""
    if not reply.tool_calls:
        return replace(reply, content=_SENTINEL)
    *calls, last = reply.tool_calls
    content = _CONTENT if reply.content else None  # a template may move it behind the results of the calls
    return replace(reply, content=content, tool_calls=[*calls, replace(last, arguments={"value": _SENTINEL})])


def _with_readable_calls(message: Message) -> Message:
    """Returns a message with the text of malformed calls as an argument, because many templates refuse such calls."""
    calls = [
        replace(call, arguments={"malformed": call.arguments}) if isinstance(call.arguments, str) else call
        for call in message.tool_calls
    ]
    return replace(message, tool_calls=calls)


def _common(left: str, right: str) -> int:
    """Returns the length of the common prefix of two texts."""
    for at, (one, other) in enumerate(zip(left, right, strict=False)):
        if one != other:
            return at
    return min(len(left), len(right))


_ID = re.compile(r"[A-Za-z0-9]{9}")


def rendered_id(call: ToolCall) -> str:
    """Returns the id of a call for templates: nine letters and digits, which those of Mistral require.

    The id is the one that the model wrote, or is derived from the id of the call.
    """
    for given in (call.written_id, call.id):
        if given is not None and _ID.fullmatch(given):
            return given
    return hashlib.sha256(call.id.encode()).hexdigest()[:9]


def _message_json(message: Message, calls: Mapping[str, ToolCall]) -> dict[str, Json]:
    """Returns a message in the format of templates, which use three different names for its reasoning."""
    result: dict[str, Json] = {"role": message.role, "content": message.content or ""}
    if message.reasoning:
        result |= {
            "reasoning_content": message.reasoning,
            "thinking": message.reasoning,
            "reasoning": message.reasoning,
        }
    if message.tool_calls:
        result["tool_calls"] = [
            {"id": rendered_id(call), "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
            for call in message.tool_calls
        ]
    if message.role == "tool":
        call = calls.get(message.call_id or "", ToolCall(message.call_id or "", "", {}))
        result |= {"tool_call_id": rendered_id(call), "name": call.name}
    return result


def _tool_json(tool: Tool) -> dict[str, Json]:
    function = {"name": tool.name, "description": tool.description, "parameters": dict(tool.parameters)}
    return {"type": "function", "function": function}
