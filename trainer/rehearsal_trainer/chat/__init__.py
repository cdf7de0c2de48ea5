"""Renders conversations to token ids with a loss mask, using the model's chat template."""
