"""Trains with verl on a Ray cluster: plays the engine's rollouts in an agent loop, and starts and watches a run.

No other folder uses verl. `cluster_config.py`, `rollout_plan.py` and `verl_settings.py` need neither verl nor Ray.
"""
