"""The promise's rollout on tau2-bench's own orchestrator and evaluator (retail), for bench/peer.ts.

Run with a Python that has tau2: tau2_rollout.py ROLLOUTS. Prints one JSON line: CPU milliseconds of each rollout.
Same shape as bench/retail.ts: 20 user messages, 39 of the agent, 19 calls (10 reads and 9 writes), 9 gold actions.
"""

import json
import os
import statistics
import sys
import time

os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")

from loguru import logger

logger.remove()

from tau2.agent.base import BaseAgent
from tau2.data_model.message import AssistantMessage, ToolCall, UserMessage
from tau2.data_model.tasks import Action
from tau2.evaluator.evaluator import EvaluationType, evaluate_simulation
from tau2.orchestrator.orchestrator import Orchestrator
from tau2.registry import registry
from tau2.user.base import BaseUser

CALLS = 19


class ScriptedAgent(BaseAgent):
    """Plays messages and calls from a list."""

    def __init__(self, turns):
        self.turns = turns

    def get_init_state(self, message_history=None):
        return 0

    def generate_next_message(self, message, state):
        turn = self.turns[state]
        if isinstance(turn, str):
            return AssistantMessage(role="assistant", content=turn, cost=0.0), state + 1
        call = ToolCall(id=f"call_{state}", name=turn[0], arguments=turn[1], requestor="assistant")
        return AssistantMessage(role="assistant", tool_calls=[call], cost=0.0), state + 1

    @classmethod
    def is_stop(cls, message):
        return False

    def set_seed(self, seed):
        pass

    def stop(self, *_):
        pass


class ScriptedUser(BaseUser):
    """Answers a fixed number of times and leaves."""

    def __init__(self, replies):
        self.replies = replies

    def get_init_state(self, message_history=None):
        return 0

    def generate_next_message(self, message, state):
        said = "###STOP###" if state == self.replies - 1 else f"The answer to that is number {state}."
        return UserMessage(role="user", content=said, cost=0.0), state + 1

    @classmethod
    def is_stop(cls, message):
        return message.content is not None and "###STOP###" in message.content

    def set_seed(self, seed):
        pass

    def stop(self, *_):
        pass


def calls_of(database, index):
    """Returns reads of orders and changes of users' addresses, in turn."""
    users, orders = list(database["users"]), list(database["orders"])
    for turn in range(CALLS):
        at = index * 31 + turn * 7
        if turn % 2 == 0:
            yield "get_order_details", {"order_id": orders[at % len(orders)]}
        else:
            yield (
                "modify_user_address",
                {
                    "user_id": users[at % len(users)],
                    "address1": f"{at} Elm Street",
                    "address2": "Suite 1",
                    "city": "Denver",
                    "state": "CO",
                    "country": "USA",
                    "zip": "80205",
                },
            )


def rollout(task, calls):
    """Plays and evaluates one rollout in a new environment, as tau2's own runner does."""
    turns = [part for call in calls for part in (call, "I have looked at it. What is the next detail?")]
    environment = registry.get_env_constructor("retail")()
    orchestrator = Orchestrator(
        domain="retail",
        agent=ScriptedAgent(turns),
        user=ScriptedUser(CALLS + 1),
        environment=environment,
        task=task,
        max_steps=400,
        seed=1,
    )
    simulation = orchestrator.run()
    reward = evaluate_simulation(simulation, task, EvaluationType.ENV, False, "retail")
    return simulation, reward.reward


def main():
    count = int(sys.argv[1])
    environment = registry.get_env_constructor("retail")()
    database = environment.tools.db.model_dump()
    base = registry.get_tasks_loader("retail")()[0]
    spent = []
    messages = 0
    for index in range(count + 1):
        calls = list(calls_of(database, index))
        gold = [
            Action(action_id=f"gold_{at}", name=name, arguments=values, requestor="assistant")
            for at, (name, values) in enumerate(calls)
            if name == "modify_user_address"
        ]
        only = {"actions": gold, "communicate_info": [], "nl_assertions": None}
        criteria = base.evaluation_criteria.model_copy(update=only)
        task = base.model_copy(update={"id": f"bench-{index}", "evaluation_criteria": criteria, "initial_state": None})
        before = time.process_time()
        simulation, reward = rollout(task, calls)
        spent.append(1000 * (time.process_time() - before))
        messages = len(simulation.messages)
        if reward != 1.0:
            raise SystemExit(f"rollout {index} got reward {reward}")
    # The first rollout also loads modules that the others use.
    print(json.dumps({"ms": spent[1:], "median": statistics.median(spent[1:]), "messages": messages}))


main()
