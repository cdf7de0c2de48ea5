"""The folder of a run, its trackers, and its preflight."""
