"""Separates the reasoning of an answer from the rest, before anything reads its text and its calls. Torch-free.

Every format of answers gets ids without reasoning, so that a call inside a thought is not run and no thought is shown.
A thought may be open at the end, may have been opened by the prompt, and may come although thinking is off.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Collection, Sequence
from typing import Any, NamedTuple

_TAGS = (
    ("<think>", "</think>"),
    ("[THINK]", "[/THINK]"),
    ("<|channel>", "<channel|>"),
    ("◁think▷", "◁/think▷"),
    ("<|START_THINKING|>", "<|END_THINKING|>"),
)
"""The marks of reasoning of all families except gpt-oss."""

_LABEL = "thought"
"""The name of Gemma's channel, which follows its mark."""

_OPENER = "|".join(re.escape(opener) for opener, _ in _TAGS)
_OPENED = re.compile(rf"(?P<mark>{_OPENER})(?:{_LABEL})?\s*\Z")
_EMPTY = re.compile(rf"(?:{_OPENER})(?:{_LABEL})?\s*(?:(?:{'|'.join(re.escape(closer) for _, closer in _TAGS)})\s*|\Z)")

_STRING = r'<\|"\|>.*?<\|"\|>|"(?:[^"\\]|\\.)*"'
_MARK = "|".join(re.escape(mark) for tag in _TAGS for mark in tag)
_CALL_STARTS = (
    "<tool_call>", "<|tool_call>", "[TOOL_CALLS]", "<｜tool▁calls▁begin｜>", "<|tool_calls_section_begin|>",
    "<|python_tag|>",
)  # fmt: skip
_CALL_ENDS = ("</tool_call>", "<tool_call|>", "<｜tool▁calls▁end｜>", "<|tool_calls_section_end|>")
_CALL_START = "|".join([*map(re.escape, _CALL_STARTS), r"\A\s*\{"])
_CALL_END = "|".join(map(re.escape, _CALL_ENDS))
_CALL_OR_MARK = re.compile(rf"(?:{_CALL_START})(?:{_STRING}|(?!{_CALL_END}|{_MARK}).)*|(?P<mark>{_MARK})", re.DOTALL)
"""A mark of reasoning that is spelled as text, except inside the quoted arguments of a call."""

_HARMONY = ("<|start|>", "<|channel|>", "<|message|>")
_HARMONY_ENDS = ("<|end|>", "<|return|>", "<|call|>")


class Separated(NamedTuple):
    """The reasoning of an answer, or None, and the ids of the answer without it."""

    reasoning: str | None
    ids: list[int]


class _Mark(NamedTuple):
    start: int
    end: int
    tag: int
    opens: bool


class _Span(NamedTuple):
    """A thought from its first mark to its last one, and the text between them."""

    start: int
    inner: int
    inner_end: int
    end: int


def separate(tokenizer: Any, sampled: Sequence[int], prompt: Sequence[int], stop_ids: Collection[int]) -> Separated:
    """Returns the reasoning of the ids that a model sampled after a prompt, and the other ids."""
    # A reader takes the first end mark as the end of the answer.
    end = next((at for at, token in enumerate(sampled) if token in stop_ids), len(sampled))
    ids, ending = list(sampled[:end]), list(sampled[end:])
    if all(_id_of(tokenizer, mark) is not None for mark in _HARMONY):
        reasoning, ids = _without_analysis(tokenizer, [*ids, *ending])
        return Separated(reasoning, ids)
    opener = _opener_of(tokenizer, prompt)
    known = {mark: _id_of(tokenizer, mark) for tag in _TAGS for mark in tag}
    marks = {token: _tag_of(mark) for mark, token in known.items() if token is not None}
    found = [_Mark(at, at + 1, *marks[token]) for at, token in enumerate(ids) if token in marks]
    is_token = opener is not None and known[opener] is not None
    spans = _spans(found, len(ids), opener if is_token else None)
    thoughts = [tokenizer.decode(ids[span.inner : span.inner_end]) for span in spans]
    for span in reversed(spans):
        del ids[span.start : span.end]
    text = tokenizer.decode(ids)
    spelled = [
        _Mark(each.start("mark"), each.end("mark"), *_tag_of(each["mark"]))
        for each in _CALL_OR_MARK.finditer(text)
        if each["mark"] and known[each["mark"]] is None
    ]
    spans = _spans(spelled, len(text), None if is_token else opener)
    thoughts += [text[span.inner : span.inner_end] for span in spans]
    for span in reversed(spans):
        ids = _cut(tokenizer, ids, span.start, span.end)
    return Separated(_joined(thoughts), [*ids, *ending])


def without_empty_thoughts(text: str) -> str:
    """Returns a rendered text without thoughts that have no text, including one that is open at the end."""
    return _EMPTY.sub("", text)


def _opener_of(tokenizer: Any, prompt: Sequence[int]) -> str | None:
    """Returns the mark with which a prompt starts the model's reasoning, or None."""
    found = _OPENED.search(tokenizer.decode(list(prompt[-24:])))
    return None if found is None else found["mark"]


def _id_of(tokenizer: Any, mark: str) -> int | None:
    """Returns the id of a mark that is one token, otherwise None."""
    found = tokenizer.convert_tokens_to_ids(mark)
    return None if found == tokenizer.unk_token_id else found


def _tag_of(mark: str) -> tuple[int, bool]:
    tag = next(tag for tag, marks in enumerate(_TAGS) if mark in marks)
    return tag, mark == _TAGS[tag][0]


def _spans(marks: Sequence[_Mark], length: int, opener: str | None) -> list[_Span]:
    """Returns the thoughts between marks. Everything before an end without a start is a thought."""
    spans: list[_Span] = []
    done = 0
    opened = None if opener is None else _Mark(0, 0, *_tag_of(opener))
    for mark in marks:
        if mark.opens:
            opened = opened or mark
        elif opened is None:
            spans.append(_Span(done, done, mark.start, mark.end))
            done = mark.end
        elif opened.tag == mark.tag:
            spans.append(_Span(opened.start, opened.end, mark.start, mark.end))
            opened, done = None, mark.end
    if opened is not None:
        spans.append(_Span(opened.start, opened.end, length, length))
    return spans


def _cut(tokenizer: Any, ids: list[int], start: int, end: int) -> list[int]:
    """Returns ids without the text from start to end. Only parts of tokens at the borders are tokenized again."""
    text = tokenizer.decode(ids)

    def length(count: int) -> int:
        return len(tokenizer.decode(ids[:count]))

    counts = range(len(ids) + 1)
    first = bisect_right(counts, start, key=length) - 1
    while first > 0 and not text.startswith(tokenizer.decode(ids[:first])):
        first -= 1
    last = min(bisect_left(counts, end, key=length), len(ids))
    while last < len(ids) and not text.startswith(tokenizer.decode(ids[:last])):
        last += 1
    rest = text[length(first) : start] + text[end : length(last)]
    between = tokenizer(rest, add_special_tokens=False)["input_ids"] if rest else []
    return [*ids[:first], *between, *ids[last:]]


def _without_analysis(tokenizer: Any, ids: list[int]) -> tuple[str | None, list[int]]:
    """Returns the messages of gpt-oss's analysis channel, and the ids without them."""
    start, channel, message = (tokenizer.convert_tokens_to_ids(mark) for mark in _HARMONY)
    ends = {tokenizer.convert_tokens_to_ids(mark) for mark in _HARMONY_ENDS}
    thoughts: list[str] = []
    rest: list[int] = []
    at = 0
    while at < len(ids):
        body = _find(ids, {message}, at + 1)
        if ids[at] != channel or not tokenizer.decode(ids[at + 1 : body]).strip().startswith("analysis"):
            rest.append(ids[at])
            at += 1
            continue
        # The header may name a recipient before the channel.
        head = len(rest)
        while head > 0 and rest[head - 1] not in {message, *ends}:
            head -= 1
            if rest[head] == start:
                break
        del rest[head:]
        end = _find(ids, ends, body)
        thoughts.append(tokenizer.decode(ids[body + 1 : end]))
        at = end + 1
    return _joined(thoughts), rest


def _find(ids: Sequence[int], wanted: set[int], start: int) -> int:
    return next((at for at in range(start, len(ids)) if ids[at] in wanted), len(ids))


def _joined(thoughts: Sequence[str]) -> str | None:
    cleaned = (thought.strip().removeprefix(f"{_LABEL}\n").strip() for thought in thoughts)
    return "\n".join(filter(None, cleaned)) or None
