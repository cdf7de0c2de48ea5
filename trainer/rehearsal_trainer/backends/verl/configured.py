"""Composes verl's configuration with our settings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib.metadata import version
from typing import Any

from hydra import compose, initialize_config_module
from hydra.errors import HydraException
from omegaconf import OmegaConf
from omegaconf.errors import OmegaConfBaseException

from rehearsal_trainer.values.failures import ConfigurationError
from rehearsal_trainer.values.messages import Json

GROUPS: Mapping[str, Sequence[str]] = {"ppo_trainer": ("model_engine",), "sft_trainer_engine": ("engine", "optim")}
"""The options of each trainer that choose files of verl's configuration, such as Megatron's instead of FSDP's."""


def configured(settings: Mapping[str, Json], trainer: str = "ppo_trainer") -> Any:
    """Returns the defaults of one of verl's trainers with these keys changed.

    ConfigurationError for a key that verl lacks, and for a value that chooses no file; `+` adds a key.
    """
    chosen = {name: settings[name] for name in GROUPS[trainer] if name in settings}
    try:
        with initialize_config_module("verl.trainer.config", version_base=None):
            config = compose(trainer, [f"{name}={value}" for name, value in chosen.items()])
    except HydraException as error:
        raise ConfigurationError(
            f"verl: verl {version('verl')} does not take {', '.join(f'{n}: {v}' for n, v in chosen.items())}: "
            f"{str(error).splitlines()[0]}"
        ) from error
    for name, value in settings.items():
        if name in chosen:
            continue
        try:
            OmegaConf.update(config, name.lstrip("+"), value, merge=False, force_add=name.startswith("+"))
        except OmegaConfBaseException as error:
            raise ConfigurationError(
                f"verl: verl {version('verl')} does not take {name}: {str(error).splitlines()[0]}"
            ) from error
    return config
