"""The configuration of SFT, and the conversations that it learns from."""
