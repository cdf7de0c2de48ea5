"""What GRPO depends on, and what an optimizer step of it plays and learns from."""
