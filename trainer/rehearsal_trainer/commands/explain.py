"""Prints every configuration key, metric, chart, alarm and limit as JSON (`python -m rehearsal_trainer explain`).

The command line, the editor's schema, the dashboard and the documentation use it. `keys.json` in the folder above holds
this output. Torch-free.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Sequence
from types import ModuleType
from typing import Any

from rehearsal_trainer.backends.verl import cluster_config
from rehearsal_trainer.commands import evaluate, grpo, sft
from rehearsal_trainer.metrics import alarms, metrics
from rehearsal_trainer.metrics.alarm_kind import Limit, RunKind
from rehearsal_trainer.settings.setting import Key, keys_of, schema_of, spelled
from rehearsal_trainer.values.messages import Json

KINDS: dict[RunKind, ModuleType] = {"sft": sft, "grpo": grpo, "evaluate": evaluate}

ON_A_CLUSTER: dict[RunKind, type[Any]] = {
    "sft": cluster_config.SftClusterConfig,
    "grpo": cluster_config.ClusterConfig,
}


def main(argv: Sequence[str]) -> int:
    """Prints the explanation of everything."""
    print(explanation(), end="")
    return 0


def explanation() -> str:
    """Returns the content of `keys.json`.

    By kind of run, it has each key with its type, its description and its default in each profile. It also has the
    tables of metrics, charts, alarms and limits.
    """
    keys = {
        kind: [_explained(kind, module, module.Config, key) for key in keys_of(module.Config).values()]
        for kind, module in KINDS.items()
    }
    for kind, config in ON_A_CLUSTER.items():
        everywhere = keys_of(KINDS[kind].Config)
        of_a_cluster = [key for name, key in keys_of(config).items() if name not in everywhere]
        keys[kind] += [{**_explained(kind, cluster_config, config, key), "isForRay": True} for key in of_a_cluster]
    tables = {
        "metrics": [dataclasses.asdict(metric) for metric in metrics.METRICS],
        "charts": [_chart(chart) for chart in metrics.CHARTS],
        "alarms": [
            {"name": name, "about": alarms.when_raised(kind), "advice": alarms.advice(name, "grpo"), "runs": kind.runs}
            for name, kind in alarms.KINDS.items()
        ],
        "limits": [{"name": name, **dataclasses.asdict(limit)} for name, limit in alarms.LIMITS.items()],
    }
    return json.dumps(keys | tables, indent=1, ensure_ascii=False) + "\n"


def _explained(kind: RunKind, module: ModuleType, config: type[Any], key: Key) -> dict[str, Json]:
    setting = dataclasses.asdict(key.setting)
    if kind == "sft" and key.setting.verl_sft:
        setting["verl"] = key.setting.verl_sft
    words = {name: setting[name] for name in ("about", "unit", "paper", "trl", "verl") if setting[name] is not None}
    own = _default(config, key.name)
    profiles = cluster_config.SFT_PROFILES if config is cluster_config.SftClusterConfig else module.PROFILES
    defaults = {profile: values.get(key.name, own) for profile, values in profiles.items()}
    algorithms = getattr(module, "ALGORITHMS", {})
    by_algorithm = {name: values[key.name] for name, values in algorithms.items() if key.name in values}
    return {
        "name": key.name,
        "type": spelled(key.hint),
        **words,
        **({"names": _names(kind, key)} if key.setting.names else {}),
        "schema": {**schema_of(key), **_of_names(kind, key)},
        "isRequired": key.is_required,
        "isPath": key.setting.is_path,
        "isGiven": key.setting.is_given,
        "defaults": {} if key.is_required or key.name == "profile" else defaults,
        **({"algorithms": by_algorithm} if by_algorithm else {}),
    }


def _names(kind: RunKind, key: Key) -> list[str]:
    return list(alarms.LIMITS if key.setting.names == "limits" else alarms.kinds_of(kind))


def _of_names(kind: RunKind, key: Key) -> dict[str, Json]:
    """Returns the part of a key's schema that describes the names in its value."""
    if key.setting.names == "alarms":
        known = alarms.kinds_of(kind)
        words = [f"{alarms.when_raised(each)} {alarms.advice(name, kind)}" for name, each in known.items()]
        return {"items": {"enum": list(known), "enumDescriptions": words}, "uniqueItems": True}
    if key.setting.names == "limits":
        properties = {name: _limit(limit) for name, limit in alarms.LIMITS.items()}
        return {"properties": properties, "additionalProperties": False}
    return {}


def _limit(limit: Limit) -> dict[str, Json]:
    least = {"minimum": limit.ge} if limit.ge > 0 else {"exclusiveMinimum": 0}
    return {"type": "number", **least, "default": limit.default, "description": limit.about}


def _chart(chart: metrics.Chart) -> dict[str, Json]:
    """Returns a chart as JSON. A chart without a label or description uses those of its first metric."""
    only = metrics.metric_of(chart.metrics[0])
    return {
        "label": chart.label or (only and only.label),
        "about": chart.about or (only and only.about),
        "color": chart.color,
        "metrics": list(chart.metrics),
        "least": chart.least,
        "most": chart.most,
        "isLead": chart.is_lead,
    }


def _default(config: type[Any], name: str) -> Json:
    field = next(each for each in dataclasses.fields(config) if each.name == name)
    if field.default_factory is not dataclasses.MISSING:
        return field.default_factory()
    return None if field.default is dataclasses.MISSING else field.default
