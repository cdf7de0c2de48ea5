from __future__ import annotations

from typing import Any, get_args

import pytest
from conftest import TOOLS
from hypothesis import given, settings
from hypothesis import strategies as st

from rehearsal_trainer.dialect import DIALECTS, DialectName, dialect_named
from rehearsal_trainer.failures import ConfigurationError
from rehearsal_trainer.messages import Tool, ToolCall

names = st.from_regex(r"[a-z_][a-z0-9_]{0,8}", fullmatch=True)
text = st.text(max_size=12).filter(lambda value: "</tool_call>" not in value)
values = st.recursive(
    st.none() | st.booleans() | st.integers() | text,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(names, inner, max_size=3),
    max_leaves=6,
)
calls = st.lists(st.tuples(names, st.dictionaries(names, values, max_size=4)), max_size=3)


@pytest.mark.parametrize("name", sorted(DIALECTS))
@settings(max_examples=60, deadline=None)
@given(calls)
def test_what_is_rendered_is_read_back(name: str, made: list[tuple[str, dict[str, Any]]]) -> None:
    dialect = dialect_named(name)
    written = dialect.reply_text("Just a moment.", [ToolCall("x", tool, arguments) for tool, arguments in made])
    parsed = dialect.parse_reply(written)
    assert parsed.content == "Just a moment."
    assert list(parsed.calls) == made


@pytest.mark.parametrize("name", sorted(DIALECTS))
@given(st.text(max_size=60))
def test_reading_never_fails(name: str, written: str) -> None:
    dialect_named(name).parse_reply(written)
    dialect_named(name).parse_reply(f"<tool_call>{written}")


@pytest.mark.parametrize(
    ("dialect", "written", "call"),
    [
        ("compact", 'a(x="1")', ("a", {"x": "1"})),
        ("compact", "a()", ("a", {})),
        ("compact", '{"name": "a", "arguments": {"x": 1}}', ("a", {"x": 1})),
        ("compact", 'a(x="1"', ("a", 'a(x="1"')),
        ("compact", "a(x=foo)", ("a", "a(x=foo)")),
        ("compact", "a(x=1, x=2)", ("a", "a(x=1, x=2)")),
        ("compact", "a(x=1 y=2)", ("a", "a(x=1 y=2)")),
        ("compact", "a(x=1) and more", ("a", "a(x=1) and more")),
        ("compact", "nonsense", ("malformed", "nonsense")),
        ("hermes", '{"name": "a", "arguments": {}}', ("a", {})),
        ("hermes", '{"name": "a"}', ("a", {})),
        ("hermes", '{"name": "a", "arguments": [1]}', ("a", '{"name": "a", "arguments": [1]}')),
        ("hermes", '{"name": "a", "arguments": {', ("a", '{"name": "a", "arguments": {')),
        ("hermes", "a(x=1)", ("malformed", "a(x=1)")),
    ],
)
def test_a_call_is_read_or_kept_raw(dialect: str, written: str, call: tuple[str, Any]) -> None:
    for text_of_call in (f"<tool_call>{written}</tool_call>", f"<tool_call>{written}"):
        assert list(dialect_named(dialect).parse_reply(text_of_call).calls) == [call]


def test_compact_shows_a_tool_in_one_line() -> None:
    schema = {
        "type": "object",
        "properties": {
            "day": {"enum": ["Mon", "Tue"]},
            "items": {"type": "array", "items": {"type": "integer"}},
            "to": {"type": "object", "properties": {"street": {"type": "string"}}},
        },
        "required": ["day"],
    }
    shown = dialect_named("compact").render_tools([*TOOLS, Tool("move", "Moves\n it.", schema)])
    assert shown.splitlines()[1:3] == [
        "find_parcel(parcel: string) - Where a parcel is.",
        'move(day: "Mon"|"Tue", items?: [integer], to?: {street?: string}) - Moves it.',
    ]


def test_every_name_has_its_dialect() -> None:
    assert {name: DIALECTS[name].name for name in get_args(DialectName)} == {name: name for name in DIALECTS}


def test_an_unknown_dialect_names_the_known() -> None:
    with pytest.raises(ConfigurationError, match="compact, hermes"):
        dialect_named("klingon")
