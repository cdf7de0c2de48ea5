"""`python -m rehearsal_trainer explain`: every key of the configurations as JSON, for the command line, the editor's
schema and the documentation. `keys.json` beside this file is what it prints. Torch-free."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

from rehearsal_trainer import evaluate, grpo_config, sft
from rehearsal_trainer.backends.verl import plan
from rehearsal_trainer.messages import Json
from rehearsal_trainer.setting import Key, keys_of, schema_of, spelled

KEYS_FILE = Path(__file__).with_name("keys.json")
KINDS: dict[str, ModuleType] = {"sft": sft, "grpo": grpo_config, "evaluate": evaluate}


def main(argv: Sequence[str]) -> int:
    """Prints the explanation of every key."""
    print(explanation(), end="")
    return 0


def explanation() -> str:
    """What `keys.json` holds: by kind of run, each key with its type, its words, and its default in each profile."""
    kinds = {
        name: [_explained(module, module.Config, key) for key in keys_of(module.Config).values()]
        for name, module in KINDS.items()
    }
    everywhere = keys_of(grpo_config.Config)
    of_a_cluster = [key for name, key in keys_of(plan.ClusterConfig).items() if name not in everywhere]
    kinds["grpo"] += [{**_explained(plan, plan.ClusterConfig, key), "isForRay": True} for key in of_a_cluster]
    return json.dumps(kinds, indent=1, ensure_ascii=False) + "\n"


def _explained(module: ModuleType, kind: type[Any], key: Key) -> dict[str, Json]:
    setting = dataclasses.asdict(key.setting)
    if module is sft and key.setting.verl_sft:
        setting["verl"] = key.setting.verl_sft
    words = {name: setting[name] for name in ("about", "unit", "paper", "trl", "verl") if setting[name] is not None}
    own = _default(kind, key.name)
    defaults = {profile: values.get(key.name, own) for profile, values in module.PROFILES.items()}
    algorithms = getattr(module, "ALGORITHMS", {})
    by_algorithm = {name: values[key.name] for name, values in algorithms.items() if key.name in values}
    return {
        "name": key.name,
        "type": spelled(key.hint),
        "schema": schema_of(key),
        **words,
        "isRequired": key.is_required,
        "isPath": key.setting.is_path,
        "isGiven": key.setting.is_given,
        "defaults": {} if key.is_required or key.name == "profile" else defaults,
        **({"algorithms": by_algorithm} if by_algorithm else {}),
    }


def _default(kind: type[Any], name: str) -> Json:
    field = next(each for each in dataclasses.fields(kind) if each.name == name)
    if field.default_factory is not dataclasses.MISSING:
        return field.default_factory()
    return None if field.default is dataclasses.MISSING else field.default
