"""The configuration of GRPO, its task sets, and the rollouts and rows of its optimizer steps."""
