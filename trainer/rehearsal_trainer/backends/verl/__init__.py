"""verl on a Ray cluster: rollouts of the engine as an agent loop, and what starts and watches a run there.

The only folder that says verl. `cluster_config.py`, `rollout_plan.py` and `verl_settings.py` need neither verl nor Ray.
"""
