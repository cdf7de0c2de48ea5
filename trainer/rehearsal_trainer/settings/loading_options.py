"""Recognizes options of TRL and verl that name code, or a file that can bring code with it. Torch-free."""

from __future__ import annotations

import re
from collections.abc import Iterator

from rehearsal_trainer.values.messages import Json

# verl loads modules, functions, pickled checkpoints and shell commands from options with these names. New versions add
# such options, so kinds of names are refused, not names.
_LOADS = re.compile(
    r"""(?x) _.* | custom_.* | .*hdfs.* | ray_init | trust_.* | auto_map | use_kernels | allow_all_kernels
    | (.*_)?( address | callback | class | class_name | cls | cmd | code_revision | command | commands | dir | env
            | env_vars | executable | file | files | fn | fqn | func | function | generate | hook | host | hostname
            | impl | lib | libs | middleware | module | path | paths | plugin | plugins | processors | proxy
            | reward_manager | script | server | source | url )"""
)
_HARMLESS = frozenset({"nvme_path", "rollout_data_dir", "save_path", "validation_data_dir", "with_module"})
"""The names that only look alike: files that are only written, and a switch."""
_WORDS = re.compile(r"[\w,-]*")
_RESOLVER = re.compile(r"\$\{.*:", re.DOTALL)


def loads_code(name: str) -> bool:
    """Reports whether an option with this name (one part of a dotted name) can make a library load code."""
    # vLLM reads hyphens as underscores.
    return name not in _HARMLESS and _LOADS.fullmatch(name.lower().replace("-", "_")) is not None


def is_word(value: Json) -> bool:
    """Reports whether all strings in a value are words, so that none is a path, a module, an address or JSON."""
    return all(_WORDS.fullmatch(text) for _, text in texts_within(value))


def is_computed(text: str) -> bool:
    """Reports whether OmegaConf, which verl reads its options with, calls a resolver for a text: `${oc.env:NAME}`."""
    return _RESOLVER.search(text) is not None


def names_within(value: Json) -> Iterator[str]:
    """Yields the names in a value at every depth."""
    if isinstance(value, dict):
        for name, each in value.items():
            yield name
            yield from names_within(each)
    elif isinstance(value, list):
        for each in value:
            yield from names_within(each)


def texts_within(value: Json, name: str = "") -> Iterator[tuple[str, str]]:
    """Yields the strings among the values in a value at every depth, each with its dotted name."""
    if isinstance(value, str):
        yield name, value
    elif isinstance(value, dict):
        for key, each in value.items():
            yield from texts_within(each, f"{name}.{key}" if name else key)
    elif isinstance(value, list):
        for each in value:
            yield from texts_within(each, name)
