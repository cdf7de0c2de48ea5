"""Child processes, the GPUs and threads of a process, and several processes that train together."""
