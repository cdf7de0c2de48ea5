"""Values that everything else uses: messages, failures, JSON lines, and the names of the files of a run."""
