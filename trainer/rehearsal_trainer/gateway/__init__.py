"""The OpenAI-compatible endpoint that owns token ids, log-probabilities and masks."""
