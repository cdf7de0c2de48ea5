"""Runs verl's SFT trainer on rows of token ids; each training process needs one core and one GPU."""

from __future__ import annotations

from functools import partial
from typing import Any

import ray
from torchdata.stateful_dataloader import StatefulDataLoader
from verl.single_controller.ray import RayClassWithInitArgs, RayResourcePool, RayWorkerGroup
from verl.trainer.sft_trainer_ray import SFTTrainer
from verl.utils.dataset.dataset_utils import SFTTensorCollator
from verl.utils.device import get_device_name
from verl.workers.engine_workers import TrainingWorker, TrainingWorkerConfig
from verl.workers.utils.losses import sft_loss

from rehearsal_trainer.backends.verl.sft_rows import Passes, RenderedRows


class RenderedTrainer(SFTTrainer):
    """verl's trainer with our rows, whose order is one pass over the whole run.

    verl's own data set would tokenize messages again, its order leaves out rows in every epoch, and its workers ask
    for ten cores each.
    """

    def _build_dataset(self) -> None:
        data = self.config.data
        self.train_dataset = RenderedRows(data.train_files)
        self.val_dataset = RenderedRows(data.val_files) if data.val_files else None

    def _build_dataloader(self) -> None:
        data, trainer = self.config.data, self.config.trainer
        self.global_batch_size = data.train_batch_size
        self.total_training_steps = self.steps_per_epoch = trainer.total_training_steps
        self.optimizer_config.total_training_steps = self.total_training_steps
        self.save_freq, self.test_freq = trainer.save_freq, trainer.test_freq
        wanted = self.total_training_steps * self.global_batch_size
        self.train_sampler = Passes(len(self.train_dataset), wanted, trainer.seed)
        self.train_dataloader = self._loader(self.train_dataset, self.global_batch_size, self.train_sampler)
        self.val_dataloader = None
        if self.val_dataset:
            at_once = trainer.nnodes * trainer.n_gpus_per_node // self.config.engine.ulysses_sequence_parallel_size
            size = min(self.global_batch_size, len(self.val_dataset)) // at_once * at_once
            self.val_dataloader = self._loader(self.val_dataset, size)

    def _loader(self, rows: RenderedRows, size: int, sampler: Passes | None = None) -> Any:
        collate = SFTTensorCollator(self.config.data.pad_mode)
        return StatefulDataLoader(rows, size, sampler=sampler, collate_fn=collate, drop_last=True)

    def _build_engine(self) -> None:
        trainer = self.config.trainer
        self.loss_fn = partial(sft_loss, config=None)  # pyright: ignore[reportArgumentType]
        worker = TrainingWorkerConfig(
            model_type="language_model",
            model_config=self.model_config,
            engine_config=self.engine_config,
            optimizer_config=self.optimizer_config,
            checkpoint_config=self.checkpoint_config,
            profiler_config=self.profiler_config,
        )
        self.resource_pool = RayResourcePool([trainer.n_gpus_per_node] * trainer.nnodes, max_colocate_count=1)
        self.training_client: Any = RayWorkerGroup(
            resource_pool=self.resource_pool,
            ray_cls_with_init=RayClassWithInitArgs(ray.remote(TrainingWorker), config=worker),
            device_name=get_device_name(),
        )
        self.training_client.set_loss_fn(loss_fn=self.loss_fn)
        self.training_client.reset()


class SftRunner:
    """Trains in an actor next to the job."""

    def run(self, config: Any) -> None:
        """Trains to the last optimizer step; `config` is verl's."""
        RenderedTrainer(config).fit()
