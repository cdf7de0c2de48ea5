"""The commands of `python -m rehearsal_trainer`, one per file."""
