"""What a run measures, and the alarms, which are conditions on it."""
