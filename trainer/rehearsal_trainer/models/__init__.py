"""Finds models by name, and loads their weights."""
