"""Adapters to the training libraries TRL and verl; no other folder imports them."""
