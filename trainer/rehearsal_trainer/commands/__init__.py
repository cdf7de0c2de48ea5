"""The commands of `python -m rehearsal_trainer`, one a file."""
