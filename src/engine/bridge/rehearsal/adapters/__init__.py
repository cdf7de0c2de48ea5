"""Adapters to benchmarks: each drives the user's own copy, and none holds anything of it."""
