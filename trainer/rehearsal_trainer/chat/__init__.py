"""A conversation as token ids with a loss mask, by the chat template of the model."""
