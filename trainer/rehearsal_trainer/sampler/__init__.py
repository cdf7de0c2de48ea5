"""Samples answers from a model: on a CPU, on a GPU, and with vLLM."""
