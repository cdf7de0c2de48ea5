"""Tokenizers of model families: their real chat templates, with Qwen's real vocabulary or a small one trained here.

Only the vocabulary of Qwen's models is available without a model hub. For every other family, a byte-level vocabulary
is trained on a few texts; the special tokens are those of the family.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from conftest import template_of
from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import PreTrainedTokenizerFast
from transformers.convert_slow_tokenizer import TikTokenConverter

from rehearsal_trainer.chat.chat import Chat, template_options

CHATML = ("<|endoftext|>", "<|im_start|>", "<|im_end|>")
VISION = ("<|vision_start|>", "<|vision_end|>", "<|vision_pad|>", "<|image_pad|>", "<|video_pad|>")
TAGS = ("<tool_call>", "</tool_call>", "<tool_response>", "</tool_response>", "<think>", "</think>")
HEADERS = ("<|start_header_id|>", "<|end_header_id|>", "<|eom_id|>", "<|eot_id|>", "<|python_tag|>")
GEMMA_PAIRS = ("turn", "tool", "tool_call", "tool_response", "channel", "image", "audio")
GEMMA = (*(f"<|{name}>" for name in GEMMA_PAIRS), *(f"<{name}|>" for name in GEMMA_PAIRS))
GLM = ("[gMASK]", "<sop>", "<|system|>", "<|user|>", "<|assistant|>", "<|observation|>", "<|endoftext|>")
GLM_TAGS = ("<arg_key>", "</arg_key>", "<arg_value>", "</arg_value>", "/nothink", *TAGS)
HARMONY = ("<|start|>", "<|end|>", "<|message|>", "<|channel|>", "<|constrain|>", "<|return|>", "<|call|>")
MISTRAL_NAMES = ("SYSTEM_PROMPT", "AVAILABLE_TOOLS", "INST", "TOOL_RESULTS")
MISTRAL = (*(f"[{name}]" for name in MISTRAL_NAMES), *(f"[/{name}]" for name in MISTRAL_NAMES))

MISTRAL_TEMPLATE = """
{{- bos_token }}
{%- for message in messages %}
  {%- if message.role == 'system' %}
    {{- '[SYSTEM_PROMPT]' + message.content + '[/SYSTEM_PROMPT]' }}
  {%- endif %}
  {%- if loop.first and tools %}{{- '[AVAILABLE_TOOLS]' + (tools | tojson) + '[/AVAILABLE_TOOLS]' }}{%- endif %}
  {%- if message.role == 'user' %}
    {{- '[INST]' + message.content + '[/INST]' }}
  {%- elif message.role == 'tool' %}
    {{- '[TOOL_RESULTS]' + message.content + '[/TOOL_RESULTS]' }}
  {%- elif message.role == 'assistant' %}
    {{- message.content }}
    {%- for call in message.tool_calls or [] %}
      {{- '[TOOL_CALLS]' + call.function.name + '[ARGS]' + (call.function.arguments | tojson) }}
    {%- endfor %}
    {{- eos_token }}
  {%- endif %}
{%- endfor %}
"""
"""Written for these tests from the documented format of Mistral's instruct models: TRL does not include theirs."""


MISTRAL_7B_TEMPLATE = """
{%- set system = messages[0].content if messages[0].role == 'system' else none %}
{%- set asked = messages | selectattr('role', 'equalto', 'user') | list | last %}
{%- macro checked(id) %}
  {%- if id | length != 9 %}{{- raise_exception('An id of a call has nine characters.') }}{%- endif %}
  {{- id }}
{%- endmacro %}
{{- bos_token }}
{%- for message in messages if message.role != 'system' %}
  {%- if message.role == 'user' %}
    {%- if tools and message == asked %}
      {{- '[AVAILABLE_TOOLS] ' + (tools | tojson) + '[/AVAILABLE_TOOLS]' }}
    {%- endif %}
    {{- '[INST] ' + (system + '\n\n' if system and loop.last else '') + message.content + '[/INST]' }}
  {%- elif message.role == 'tool' %}
    {{- '[TOOL_RESULTS] ' + ({'content': message.content, 'call_id': checked(message.tool_call_id)} | tojson) }}
    {{- '[/TOOL_RESULTS]' }}
  {%- elif message.tool_calls %}
    {{- '[TOOL_CALLS] [' }}
    {%- for call in message.tool_calls %}
      {{- (call.function | tojson)[:-1] + ', "id": "' + checked(call.id) + '"}' }}
      {%- if not loop.last %}{{- ', ' }}{%- endif %}
    {%- endfor %}
    {{- ']' + eos_token }}
  {%- else %}
    {{- ' ' + (message.content | trim) + eos_token }}
  {%- endif %}
{%- endfor %}
"""
"""Written for these tests: as in Mistral 7B v0.3, the system prompt moves, and ids of calls have nine characters."""

MISTRAL_SMALL_TEMPLATE = """
{%- set asked = messages | selectattr('role', 'equalto', 'user') | list | last %}
{%- macro checked(id) %}
  {%- if id | length != 9 %}{{- raise_exception('An id of a call has nine characters.') }}{%- endif %}
  {{- id }}
{%- endmacro %}
{{- bos_token }}
{%- for message in messages %}
  {%- if message.role == 'system' %}
    {{- '[SYSTEM_PROMPT]' + message.content + '[/SYSTEM_PROMPT]' }}
  {%- elif message.role == 'user' %}
    {%- if tools and message == asked %}{{- '[AVAILABLE_TOOLS]' + (tools | tojson) + '[/AVAILABLE_TOOLS]' }}{%- endif %}
    {{- '[INST]' + message.content + '[/INST]' }}
  {%- elif message.role == 'tool' %}
    {{- '[TOOL_RESULTS]' + checked(message.tool_call_id) + '[TOOL_CONTENT]' + message.content + '[/TOOL_RESULTS]' }}
  {%- else %}
    {%- for call in message.tool_calls or [] %}
      {{- '[TOOL_CALLS]' + call.function.name + '[CALL_ID]' + checked(call.id) }}
      {{- '[ARGS]' + (call.function.arguments | tojson) }}
    {%- endfor %}
    {{- ('' if message.tool_calls else message.content) + eos_token }}
  {%- endif %}
{%- endfor %}
"""
"""Written for these tests: as in Mistral Small 3.2, the tools move, and each call has an id of nine characters."""

DEEPSEEK_NAMES = (
    "begin▁of▁sentence", "end▁of▁sentence", "User", "Assistant", "tool▁calls▁begin", "tool▁calls▁end",
    "tool▁call▁begin", "tool▁call▁end", "tool▁sep", "tool▁outputs▁begin", "tool▁outputs▁end", "tool▁output▁begin",
    "tool▁output▁end",
)  # fmt: skip
DEEPSEEK = tuple(f"<｜{name}｜>" for name in DEEPSEEK_NAMES)
DEEPSEEK_TEMPLATE = """
{{- bos_token }}
{%- for message in messages if message.role == 'system' %}{{- message.content }}{%- endfor %}
{%- if tools %}{{- '\n\n## Tools\n' + (tools | tojson) }}{%- endif %}
{%- for message in messages %}
  {%- if message.role == 'user' %}
    {{- '<｜User｜>' + message.content }}
  {%- elif message.role == 'tool' %}
    {%- if loop.previtem.role != 'tool' %}{{- '<｜tool▁outputs▁begin｜>' }}{%- endif %}
    {{- '<｜tool▁output▁begin｜>' + message.content + '<｜tool▁output▁end｜>' }}
    {%- if loop.last or loop.nextitem.role != 'tool' %}{{- '<｜tool▁outputs▁end｜>' }}{%- endif %}
  {%- elif message.role == 'assistant' %}
    {%- if loop.previtem is not defined or loop.previtem.role != 'tool' %}{{- '<｜Assistant｜>' }}{%- endif %}
    {{- message.content }}
    {%- for call in message.tool_calls or [] %}
      {%- if loop.first %}{{- '<｜tool▁calls▁begin｜>' }}{%- else %}{{- '\n' }}{%- endif %}
      {{- '<｜tool▁call▁begin｜>function<｜tool▁sep｜>' + call.function.name + '\n```json\n' }}
      {{- (call.function.arguments | tojson) + '\n```<｜tool▁call▁end｜>' }}
      {%- if loop.last %}{{- '<｜tool▁calls▁end｜>' }}{%- endif %}
    {%- endfor %}
    {{- '<｜end▁of▁sentence｜>' }}
  {%- endif %}
{%- endfor %}
{%- if add_generation_prompt and messages[-1].role != 'tool' %}{{- '<｜Assistant｜>' }}{%- endif %}
"""
"""Written for these tests from the documented format of DeepSeek-V3, whose own template does not show tools."""

WRITTEN = {
    "mistral": MISTRAL_TEMPLATE,
    "mistral_7b": MISTRAL_7B_TEMPLATE,
    "mistral_small": MISTRAL_SMALL_TEMPLATE,
    "deepseek": DEEPSEEK_TEMPLATE,
}
"""The templates that are written here."""


@dataclass(frozen=True)
class Family:
    """A family of models, and the features of its template."""

    name: str
    template: str
    """The name of TRL's file, or of a template above."""
    special: Sequence[str]
    stops: Sequence[str]
    added: Sequence[str] = ()
    bos: str | None = None
    most_calls: int = 2
    speaks_beside_calls: bool = True
    thinks: bool = False
    always_thinks: bool = False
    """Whether a prompt starts the reasoning, and the template then renders every answer with reasoning."""
    is_qwen: bool = False


def _qwen(name: str, template: str, thinks: bool = False, special: Sequence[str] = ()) -> Family:
    stops = ("<|im_end|>", "<|endoftext|>")
    return Family(name, template, (*CHATML, *VISION, *special), stops, TAGS, thinks=thinks, is_qwen=True)


def _llama(name: str, template: str) -> Family:
    special = ("<|begin_of_text|>", "<|end_of_text|>", *HEADERS)
    stops = ("<|eot_id|>", "<|eom_id|>", "<|end_of_text|>")
    return Family(name, template, special, stops, (), special[0], most_calls=1, speaks_beside_calls=False)


def _gemma(name: str, thinks: bool = False) -> Family:
    special = ("<eos>", "<bos>", '<|"|>', "<|think|>", "<|image|>", "<|audio|>", "<|video|>", *GEMMA)
    stops = ("<eos>", "<turn|>", "<|tool_response>")
    return Family(
        name,
        "gemma4_v5",
        special,
        stops,
        (),
        special[1],
        speaks_beside_calls=False,
        thinks=thinks,
        always_thinks=thinks,
    )


def _glm(name: str, thinks: bool = False) -> Family:
    return Family(name, "glm4moe", GLM, ("<|endoftext|>", "<|user|>", "<|observation|>"), GLM_TAGS, thinks=thinks)


def _mistral(name: str, template: str, speaks_beside_calls: bool = False) -> Family:
    special = ("</s>", "<s>", "[TOOL_CALLS]", "[CALL_ID]", "[ARGS]", "[TOOL_CONTENT]", *MISTRAL)
    return Family(name, template, special, ("</s>",), (), "<s>", speaks_beside_calls=speaks_beside_calls)


def _nemotron(name: str, template: str) -> Family:
    return Family(name, template, CHATML, ("<|im_end|>",), TAGS, thinks=True)


FAMILIES = [
    _qwen("Qwen2.5", "qwen2_5"),
    _qwen("Qwen3", "qwen3"),
    _qwen("Qwen3 thinking", "qwen3", thinks=True),
    _qwen("Qwen3-2507", "qwen3_instruct_2507"),
    _qwen("Qwen3.5", "qwen3_5_nothink"),
    _qwen("Qwen3.5 thinking", "qwen3_5_think", thinks=True),
    _qwen("Qwen3.6 thinking", "qwen3_6", thinks=True),
    _qwen("Qwen3.8 thinking", "qwen3_8", thinks=True),
    _llama("Llama 3.1", "llama3_1"),
    _llama("Llama 3.2", "llama3_2"),
    _gemma("Gemma 4"),
    _gemma("Gemma 4 thinking", thinks=True),
    _mistral("Mistral", "mistral", speaks_beside_calls=True),
    _mistral("Mistral 7B v0.3", "mistral_7b"),
    _mistral("Mistral Small 3.2", "mistral_small"),
    Family(
        "gpt-oss", "gptoss", ("<|endoftext|>", *HARMONY), ("<|return|>", "<|endoftext|>", "<|call|>"),
        most_calls=1, speaks_beside_calls=False, thinks=True,
    ),
    Family("DeepSeek V3", "deepseek", DEEPSEEK, DEEPSEEK[1:2], (), DEEPSEEK[0]),
    _glm("GLM 4.5"),
    _glm("GLM 4.5 thinking", thinks=True),
    _nemotron("Nemotron 3 Nano", "nemotron_3_nano"),
    _nemotron("Nemotron 3 Ultra", "nemotron_3_ultra"),
]  # fmt: skip


@cache
def tokenizer_of(family: Family) -> Any:
    """Returns the tokenizer of a family with its chat template."""
    if family.is_qwen:
        tokenizer = PreTrainedTokenizerFast(tokenizer_object=_qwen_vocabulary())
    else:
        tokenizer = PreTrainedTokenizerFast(tokenizer_object=_trained_vocabulary())
    tokenizer.add_special_tokens({"additional_special_tokens": list(family.special)})
    tokenizer.add_special_tokens({"eos_token": family.stops[0]})
    if family.bos:
        tokenizer.bos_token = family.bos
    added: Any = [AddedToken(token, normalized=False, special=False) for token in family.added]
    tokenizer.add_tokens(added)
    tokenizer.chat_template = WRITTEN.get(family.template) or template_of(family.template)
    return tokenizer


@cache
def chat_of(family: Family, exact_history: bool = False) -> Chat:
    """Returns the chat of a family, with or without reasoning."""
    tokenizer = tokenizer_of(family)
    stops = tokenizer.convert_tokens_to_ids(list(family.stops))
    return Chat.of(tokenizer, stops, "template", template_options(family.thinks), exact_history)


@cache
def _qwen_vocabulary() -> Tokenizer:
    spec = importlib.util.find_spec("dashscope")
    assert spec is not None and spec.origin is not None
    return TikTokenConverter(str(Path(spec.origin).parent / "resources" / "qwen.tiktoken")).converted()


@cache
def _trained_vocabulary() -> Tokenizer:
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)  # pyright: ignore
    tokenizer.decoder = decoders.ByteLevel()  # pyright: ignore
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(vocab_size=600, initial_alphabet=alphabet, show_progress=False)
    tokenizer.train_from_iterator([template_of(name) for name in ("qwen3", "llama3_1", "gptoss")], trainer)
    return tokenizer
