"""What SFT depends on and learns from."""
