"""Declares and describes the keys of a configuration, and validates their values and profiles."""
