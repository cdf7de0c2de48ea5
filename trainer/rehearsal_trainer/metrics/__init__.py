"""The metrics of a run, and the alarms, which are conditions on metrics."""
