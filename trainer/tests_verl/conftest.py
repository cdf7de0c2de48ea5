"""A real Ray cluster on this machine, verl's own configuration and data set, the tiny model behind verl's client."""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

TRAINER = Path(__file__).resolve().parents[1]
REPOSITORY = TRAINER.parent
sys.path[:0] = [str(TRAINER), str(TRAINER / "tests_verl")]
sys.path.append(str(TRAINER / "tests"))
os.environ["PYTHONPATH"] = f"{TRAINER}{os.pathsep}{TRAINER / 'tests_verl'}"
os.environ["OMP_NUM_THREADS"] = "1"
os.environ["TOKENIZERS_PARALLELISM"] = "false"
os.environ["RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO"] = "0"
os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
os.environ["RAY_raylet_start_wait_time_s"] = "300"  # a machine with other work on it is slow to begin
os.environ.pop("REHEARSAL_NODE", None)  # the engine runs with Node out of the Python package

import pytest
import ray
import transfer_queue as tq
from waiting import until

from rehearsal_trainer.backends.verl.cluster_config import PROFILES, ClusterConfig
from rehearsal_trainer.backends.verl.configured import configured
from rehearsal_trainer.backends.verl.dataset import rows_of, write_rows
from rehearsal_trainer.backends.verl.job import EngineTasks
from rehearsal_trainer.backends.verl.rollout_plan import RolloutPlan
from rehearsal_trainer.backends.verl.store import RolloutStore
from rehearsal_trainer.backends.verl.verl_settings import Places, verl_settings
from rehearsal_trainer.grpo.config import ALGORITHMS
from rehearsal_trainer.models.loading import model_folder
from rehearsal_trainer.settings.configuration import from_values

DOMAIN = REPOSITORY / "domains" / "parcel-desk"
STORE = "store-of-the-test"


def config_of(**changed: Any) -> ClusterConfig:
    """The trial profile on the tiny model and parcel-desk."""
    values = {
        "domain": str(DOMAIN),
        "run": "unused",
        "profile": "trial",
        "model": model_folder("tiny"),
        "engine_command": ["node", str(REPOSITORY / "dist" / "rehearsal.mjs"), "serve", "--stdio"],
        "engine_cwd": str(REPOSITORY),
        "max_tokens": 24,
        "turn_cap": 4,
        "prompt_tokens": 1600,
        "context": 3000,
        **changed,
    }
    return from_values(ClusterConfig, PROFILES, values, ALGORITHMS)


def verl_config(config: ClusterConfig, folder: Path, store: str | None = STORE) -> Any:
    """verl's configuration over data sets of these tasks; one storage unit is enough here."""
    lister = EngineTasks(config)
    train, test = ([str(task["id"]) for task in lister.tasks(str(DOMAIN), split)] for split in ("train", "test"))
    places = Places(str(folder / "train.parquet"), str(folder / "test.parquet"), str(folder / "checkpoints"), "test")
    write_rows(rows_of("parcel-desk", train, "train"), places.train_file)
    write_rows(rows_of("parcel-desk", test, "test"), places.test_file)
    settings = verl_settings(config, places, RolloutPlan.of(config, store), len(train))
    settings["transfer_queue.backend.SimpleStorage.num_data_storage_units"] = 1
    return configured(settings)


@pytest.fixture(scope="session")
def cluster() -> Iterator[None]:
    """Ray on this machine, with verl's TransferQueue."""
    ray.init(num_cpus=16, num_gpus=0, include_dashboard=False, log_to_driver=True, logging_level=logging.WARNING)
    yield
    tq.close()
    ray.shutdown()


@pytest.fixture
def store(cluster: None, tmp_path: Path) -> Iterator[Any]:
    """The actor that keeps what the workers play."""
    keeper: Any = ray.remote(RolloutStore).options(name=STORE, num_cpus=0).remote(str(tmp_path / "run"), "parcel-desk")
    yield keeper
    ray.kill(keeper)
    until("the store's name is free again", lambda: STORE not in ray.util.list_named_actors())


@pytest.fixture(scope="session")
def server(cluster: None) -> Any:
    """The tiny model as an actor that answers like one of verl's model servers."""
    from tiny_server import TinyServer

    actor: Any = ray.remote(TinyServer).options(num_cpus=0, max_concurrency=64).remote()
    ray.get(actor.asked.remote())
    return actor


@pytest.fixture(scope="session")
def client_of(server: Any) -> Any:
    """Makes verl's own client over that server, with verl's own load balancer."""
    from verl.workers.rollout.llm_server import LLMServerClient
    from verl.workers.rollout.router import GlobalRequestLoadBalancer

    balancer = ray.remote(GlobalRequestLoadBalancer).options(num_cpus=0).remote(servers={"tiny": server})
    return lambda config: LLMServerClient(config, load_balancer_handle=balancer)
