"""verl's own configuration with our settings in it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hydra import compose, initialize_config_module
from omegaconf import OmegaConf

from rehearsal_trainer.messages import Json


def configured(settings: Mapping[str, Json]) -> Any:
    """verl's defaults with these keys changed. A key that verl does not have is an error; `+` adds one."""
    with initialize_config_module("verl.trainer.config", version_base=None):
        config = compose("ppo_trainer")
    for name, value in settings.items():
        OmegaConf.update(config, name.lstrip("+"), value, merge=False, force_add=name.startswith("+"))
    return config
