"""Adapters to benchmarks. Each runs the user's own copy of a benchmark, and contains nothing of it."""
