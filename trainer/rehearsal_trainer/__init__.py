"""Trains a model on Rehearsal's rollouts: SFT, GRPO, and the gateway that owns the model's tokens."""

__version__ = "0.1.0"
