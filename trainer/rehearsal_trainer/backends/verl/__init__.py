"""verl on a Ray cluster: rollouts of the engine as an agent loop, and what starts and watches a run there.

The only folder that says verl. `plan.py` needs neither verl nor Ray.
"""
