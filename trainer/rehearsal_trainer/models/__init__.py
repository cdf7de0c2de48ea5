"""Models by name: where they are, and their weights."""
