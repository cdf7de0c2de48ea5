"""Plays rollouts with the engine, measures them and evaluates a model by them."""
