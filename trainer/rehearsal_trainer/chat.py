"""Messages to token ids and back, in ChatML and one dialect. Torch-free.

    <|im_start|>system\\n...<|im_end|>\\n<|im_start|>user\\n...<|im_end|>\\n<|im_start|>assistant\\n[sampled...<|im_end|>]\\n

What stands in brackets is the assistant's block, the only ids that train. It includes the end mark, so that
the model learns to stop. The newline after it belongs to what follows and is given.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rehearsal_trainer.dialect import Dialect, ParsedReply
from rehearsal_trainer.failures import ModelError
from rehearsal_trainer.masks import Row, without_tail
from rehearsal_trainer.messages import Conversation, Message, Tool

START, END = "<|im_start|>", "<|im_end|>"


class Chat:
    """Renders and parses for one tokenizer and one dialect.

    `tokenizer` is a Hugging Face tokenizer that has ChatML's two marks; ModelError if it has not.
    """

    def __init__(self, tokenizer: Any, dialect: Dialect) -> None:
        self.tokenizer = tokenizer
        self.dialect = dialect
        self.start_id, self.end_id = self._mark(START), self._mark(END)
        self.encoded: list[str] = []  # every text that was ever tokenised, in order: what a test counts
        self._newline = self._encode("\n")
        self._opening = [self.start_id, *self._encode("assistant\n")]

    def _mark(self, text: str) -> int:
        vocabulary = self.tokenizer.get_vocab()
        if text not in vocabulary:
            raise ModelError(
                f"the model's tokenizer has no {text!r} token; Rehearsal trains chat models with ChatML marks "
                "(SmolLM2-Instruct, Qwen, Hermes), so choose one of those"
            )
        return vocabulary[text]

    def _encode(self, text: str) -> list[int]:
        self.encoded.append(text)
        return list(self.tokenizer(text, add_special_tokens=False, split_special_tokens=True)["input_ids"])

    def system_ids(self, system: str, tools: Sequence[Tool]) -> list[int]:
        """The system message with the tools; empty if there is neither."""
        text = self.dialect.system_text(system, tools)
        return self._framed("system", text) if text else []

    def given_ids(self, message: Message) -> list[int]:
        """A whole message that the model is given: of the user, a tool, or (in a changed history) the assistant."""
        if message.role == "assistant":
            return [*self.opening_ids(), *self.reply_ids(message), *self._newline]
        return self._framed(message.role, message.content or "")

    def opening_ids(self) -> list[int]:
        """What makes the model speak."""
        return list(self._opening)

    def reply_ids(self, message: Message) -> list[int]:
        """The assistant's block, end mark included, as SFT teaches it."""
        return [*self._encode(self.dialect.reply_text(message.content, message.tool_calls)), self.end_id]

    def closing_ids(self) -> list[int]:
        """What is given after an assistant's block before the next message."""
        return list(self._newline)

    def parse(self, sampled: Sequence[int]) -> ParsedReply:
        """Reads what the model sampled; the end mark is left out of the text."""
        words = [token for token in sampled if token != self.end_id]
        return self.dialect.parse_reply(self.tokenizer.decode(words, skip_special_tokens=False))

    def row_of(self, conversation: Conversation) -> Row:
        """The row that SFT trains on: mask 1 on each assistant's block that is to be learned, up to the last one."""
        row = Row()
        row.append_given(self.system_ids(conversation.system, conversation.tools))
        for message in conversation.messages:
            if message.role == "assistant":
                row.append_given(self.opening_ids())
                (row.append_learned if message.trained else row.append_given)(self.reply_ids(message))
                row.append_given(self.closing_ids())
            else:
                row.append_given(self.given_ids(message))
        return without_tail(row)

    def _framed(self, role: str, text: str) -> list[int]:
        return [self.start_id, *self._encode(f"{role}\n{text}"), self.end_id, *self._newline]
