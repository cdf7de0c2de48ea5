"""A run's folder, its trackers, and what it needs before it starts."""
