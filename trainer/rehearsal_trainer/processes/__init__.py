"""Starts child processes, selects GPUs and threads, and coordinates several processes that train together."""
