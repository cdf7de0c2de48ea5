"""Converts messages to rows of token ids and back, with a chat template and the format of its answers. Torch-free."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

from rehearsal_trainer.chat.chat_template import ChatTemplate
from rehearsal_trainer.chat.masks import Row, without_tail
from rehearsal_trainer.chat.reply_formats import Reply, ReplyFormat, reply_format_of, tool_json
from rehearsal_trainer.settings.keys import DialectName
from rehearsal_trainer.values.failures import ModelError, ToollessTemplateError
from rehearsal_trainer.values.messages import Conversation, Json, Message, Tool

COMPACT = Path(__file__).with_name("compact.jinja")
_CHATML = ("<|im_start|>", "<|im_end|>")


class Chat:
    """Renders and parses for one tokenizer and its chat template."""

    def __init__(self, template: ChatTemplate, form: ReplyFormat) -> None:
        self.template = template
        self.form = form

    @classmethod
    def of(
        cls,
        tokenizer: Any,
        stop_ids: Iterable[int],
        dialect: DialectName = "auto",
        options: Mapping[str, Json] | None = None,
        exact_history: bool = False,
    ) -> Chat:
        """Returns the chat of a tokenizer, whose template becomes compact.jinja for the dialect compact.

        stop_ids, options, exact_history: those of ChatTemplate. ModelError for a tokenizer whose template writes calls
        in an unknown format, and for compact without ChatML's tokens; ToollessTemplateError for one whose template
        shows no tools.
        """
        if dialect == "compact":
            return cls._compact(tokenizer, stop_ids)
        try:
            if not tokenizer.chat_template:
                raise ToollessTemplateError(
                    "the model's tokenizer has no chat template, as those of base models. Choose an instruct model, "
                    "put a chat_template.jinja into the model's folder, or set dialect: compact"
                )
            template = ChatTemplate(tokenizer, stop_ids, options, exact_history)
            return cls(template, reply_format_of(template))
        except ToollessTemplateError:
            if dialect == "template" or _lacks_chatml(tokenizer):
                raise
            return cls._compact(tokenizer, stop_ids)

    @classmethod
    def _compact(cls, tokenizer: Any, stop_ids: Iterable[int]) -> Chat:
        if _lacks_chatml(tokenizer):
            raise ModelError(
                f"dialect compact needs the tokens {' and '.join(_CHATML)} of ChatML, which the model's tokenizer "
                "lacks; choose dialect: template, the model's own"
            )
        tokenizer.chat_template = COMPACT.read_text(encoding="utf-8")
        template = ChatTemplate(tokenizer, stop_ids)
        return cls(template, reply_format_of(template))

    @property
    def tokenizer(self) -> Any:
        return self.template.tokenizer

    @property
    def stop_ids(self) -> frozenset[int]:
        """The ids that end an answer."""
        return self.template.stop_ids

    def parse(self, sampled: Sequence[int], prompt: Sequence[int], tools: Sequence[Tool]) -> Reply:
        """Parses the ids that the model sampled after a prompt; never fails, whatever the ids are."""
        return self.form.parse(sampled, prompt, [tool_json(tool) for tool in tools])

    def rows_of(self, conversation: Conversation) -> list[Row]:
        """Returns the rows that SFT trains on: mask 1 on each answer of the assistant that is to be learned.

        One row, unless the template renders earlier turns differently later on (it drops their reasoning): each such
        turn starts a new row, in which the answers before it are given.
        """
        rows: list[Row] = []
        before: list[Message] = system_messages(conversation.system)
        reply: Message | None = None
        new: list[Message] = []
        for message in conversation.messages:
            is_greeting = reply is None and not message.trained and all(each.role == "assistant" for each in new)
            if message.role != "assistant" or is_greeting:
                new.append(message)
                continue
            bridge = None
            if reply is not None:
                bridge = self.template.bridge_ids(before, reply, new, conversation.tools, rows[-1].ids[-1])
                before.append(reply)
            before += new
            if bridge is None:
                rows.append(Row())
                bridge = self.template.prompt_ids(before, conversation.tools)
            rows[-1].append_given(bridge)
            ids = self.template.reply_ids(before, message, conversation.tools)
            (rows[-1].append_learned if message.trained else rows[-1].append_given)(ids)
            reply, new = message, []
        trained = [without_tail(row) for row in rows if any(row.mask)]
        return trained or [Row()]


def _lacks_chatml(tokenizer: Any) -> bool:
    return not set(_CHATML) <= set(tokenizer.get_vocab())


def template_options(thinking: bool) -> dict[str, Json]:
    """Returns the options by which chat templates turn a model's thinking on or off; two names are in use."""
    return {"enable_thinking": thinking, "thinking": thinking}


def system_messages(system: str) -> list[Message]:
    """Returns the system prompt as a list of one message; an empty list if it is empty."""
    return [Message("system", system)] if system else []


def preview_of(tokenizer: Any, row: Row) -> dict[str, Json]:
    """Returns a row as text, ids, mask and pieces. A piece is a run of tokens with the same mask."""
    pieces = []
    start = 0
    for trained, group in groupby(row.mask):
        end = start + len(list(group))
        text = tokenizer.decode(row.ids[start:end], skip_special_tokens=False)
        pieces.append({"text": text, "tokens": end - start, "trained": bool(trained)})
        start = end
    return {"text": "".join(piece["text"] for piece in pieces), "ids": row.ids, "mask": row.mask, "pieces": pieces}
