"""Trajectories of tau2-bench made by live execution, with the reward of its own evaluator beside each.

    tau2_oracle.py DOMAIN OUT [--limit N] [--gold-only] [--gold-rewards]

Run with a Python that has tau2. Writes a results file as tau2 does: for each base task the gold actions, and the same
mutated in nine ways. Every call is made on tau2's own environment, so that what a result says is what tau2 says. With
--gold-rewards nothing is written: the gold actions are replayed and evaluated, for a comparison of speed.

One thing is not as tau2 does it: a database is loaded and validated a few times and not for each environment, and each
simulation has it in a process of its own. What is evaluated is the same; with --gold-rewards it is left as it is.
"""

import argparse
import copy
import gc
import json
import os
import pickle
import random
import sys
from functools import partial
from pathlib import Path

os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")

from loguru import logger
from random_edits import edited

logger.remove()

from tau2.data_model.message import AssistantMessage, ToolCall, UserMessage
from tau2.data_model.simulation import SimulationRun
from tau2.environment.db import DB
from tau2.evaluator import evaluator as evaluator_module
from tau2.evaluator.evaluator import EvaluationType, evaluate_simulation
from tau2.registry import registry

GREETING = "Hi! How can I help you today?"
NOW = "2026-01-05T09:00:00"
MUTATIONS = (
    "gold", "dropped", "changed", "extra", "order", "early", "silent", "hallucinated", "failing", "numbers",
    "random1", "random2", "random3",
)  # fmt: skip


def main(argv):
    parser = argparse.ArgumentParser()
    parser.add_argument("domain")
    parser.add_argument("out")
    parser.add_argument("--limit", type=int)
    parser.add_argument("--gold-only", action="store_true")
    parser.add_argument("--gold-rewards", action="store_true")
    options = parser.parse_args(argv)
    tasks = registry.get_tasks_loader(options.domain)("base")[: options.limit]
    if options.gold_rewards:
        print_gold_rewards(options.domain, tasks)
        return
    load_once()
    environment = constructor(options.domain)()
    pool = [action for task in tasks for action in actions_of(task) if is_write(environment, action)]
    kinds = ("gold",) if options.gold_only else MUTATIONS
    simulations = []
    for number, task in enumerate(tasks, start=1):
        if number % 20 == 0:
            print(f"{options.domain}: {number} of {len(tasks)} tasks", flush=True)
        chance = random.Random(task.id)
        for trial, kind in enumerate(kinds):
            plan = planned(task, kind, chance, pool)
            if plan is None:
                continue
            simulations.append(apart(partial(simulation, options.domain, task, plan, kind, trial)))
    results = {
        "timestamp": NOW,
        "info": {"environment_info": {"domain_name": options.domain}},
        "tasks": [],
        "simulations": simulations,
    }
    Path(options.out).write_text(json.dumps(results), encoding="utf-8")


def load_once():
    """Hands out databases that were validated before: each simulation needs a few, and leaves them as they are."""
    known = {}
    load = DB.load.__func__

    def loaded(cls, path):
        key = (cls, str(path))
        if key not in known:
            known[key] = [load(cls, path) for _ in range(6)]
        return known[key].pop() if len(known[key]) > 1 else load(cls, path)

    DB.load = classmethod(loaded)


def apart(work):
    """Does something in a process of its own, which leaves nothing of what it changes behind."""
    if not hasattr(os, "fork"):
        return work()
    gc.freeze()
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        gc.disable()
        os.close(reading)
        with os.fdopen(writing, "wb") as out:
            out.write(pickle.dumps(work()))
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as given:
        data = given.read()
    os.waitpid(child, 0)
    return pickle.loads(data)


def simulation(domain, task, plan, kind, trial):
    messages, reason = lived(domain, task, *plan)
    return evaluated(domain, task, messages, reason, kind, trial)


def actions_of(task):
    criteria = task.evaluation_criteria
    return list((criteria.actions if criteria else None) or [])


def is_write(environment, action):
    kit = environment.user_tools if action.requestor == "user" else environment.tools
    return kit is not None and kit.has_tool(action.name) and kit.tool_type(action.name).value == "write"


ENVIRONMENTS = {}


def constructor(domain):
    if domain not in ENVIRONMENTS:
        ENVIRONMENTS[domain] = registry.get_env_constructor(domain)
    return ENVIRONMENTS[domain]


def planned(task, kind, chance, pool):
    """Calls, closing words and the reason of the end; None where there is nothing to mutate."""
    calls = [(action.requestor, action.name, copy.deepcopy(action.arguments)) for action in actions_of(task)]
    criteria = task.evaluation_criteria
    words = "; ".join((criteria.communicate_info if criteria else None) or []) or "That is done."
    reason = "user_stop"
    if kind == "dropped":
        if not calls:
            return None
        calls.pop(chance.randrange(len(calls)))
    elif kind == "changed":
        at = [index for index, (_, _, arguments) in enumerate(calls) if arguments]
        if not at:
            return None
        index = chance.choice(at)
        requestor, name, arguments = calls[index]
        key = chance.choice(sorted(arguments))
        calls[index] = (requestor, name, {**arguments, key: otherwise(arguments[key])})
    elif kind == "extra":
        if not pool:
            return None
        action = chance.choice(pool)
        calls.append((action.requestor, action.name, copy.deepcopy(action.arguments)))
    elif kind == "numbers":
        other = [(requestor, name, as_other_numbers(arguments)) for requestor, name, arguments in calls]
        if json.dumps(other) == json.dumps(calls):
            return None
        calls = other
    elif kind.startswith("random"):
        others = [((action.requestor, action.name), action.arguments) for action in pool]
        own = [((requestor, name), arguments) for requestor, name, arguments in calls]
        calls = [(*name, arguments) for name, arguments in edited(own, chance, others)]
    elif kind == "order":
        if len(calls) < 2:
            return None
        calls.reverse()
    elif kind == "early":
        calls, reason = calls[: len(calls) // 2], "max_steps"
    elif kind == "silent":
        words = "Okay."
    elif kind == "hallucinated":
        calls.insert(chance.randrange(len(calls) + 1), ("assistant", "fetch_everything", {"query": "all"}))
    elif kind == "failing":
        name = calls[0][1] if calls and calls[0][0] == "assistant" else "transfer_to_human_agents"
        calls.insert(0, ("assistant", name, {"no_such_argument": "x"}))
    return calls, words, reason


def as_other_numbers(value):
    """Whole numbers as floats, and whole floats as integers: equal in Python, and told apart by a hash of a dump."""
    if isinstance(value, dict):
        return {key: as_other_numbers(each) for key, each in value.items()}
    if isinstance(value, list):
        return [as_other_numbers(each) for each in value]
    if type(value) is int:
        return float(value)
    return int(value) if type(value) is float and value.is_integer() else value


def otherwise(value):
    if isinstance(value, bool):
        return not value
    if isinstance(value, (int, float)):
        return value + 1
    if isinstance(value, str):
        return f"{value}9"
    if isinstance(value, list):
        return value[:-1] if value else ["x"]
    return {"x": "y"}


def lived(domain, task, calls, words, reason):
    """The messages of a conversation in which these calls are made, each with the result that tau2 gives it."""
    environment = constructor(domain)()
    start = task.initial_state
    history = list((start.message_history if start else None) or [])
    environment.set_state(
        initialization_data=start.initialization_data if start else None,
        initialization_actions=start.initialization_actions if start else None,
        message_history=copy.deepcopy(history),
    )

    def said(role, **more):
        return role(role="user" if role is UserMessage else "assistant", timestamp=NOW, **more)

    messages = [
        *copy.deepcopy(history),
        said(AssistantMessage, content=GREETING),
        said(UserMessage, content="Hello, I need your help."),
    ]
    turn = "assistant"
    for number, (requestor, name, arguments) in enumerate(calls):
        if requestor != turn:
            hand_over = "Please do the next step." if turn == "assistant" else "I have done that."
            messages.append(said(AssistantMessage if turn == "assistant" else UserMessage, content=hand_over))
            turn = requestor
        call = ToolCall(id=f"call_{number}", name=name, arguments=arguments, requestor=requestor)
        role = AssistantMessage if requestor == "assistant" else UserMessage
        messages.append(said(role, tool_calls=[call]))
        messages.append(environment.get_response(call))
    if turn == "user":
        messages.append(said(UserMessage, content="I have done that."))
    messages.append(said(AssistantMessage, content=words))
    if reason == "user_stop":
        messages.append(said(UserMessage, content="###STOP###"))
    return messages, reason


def evaluated(domain, task, messages, reason, kind, trial):
    run = SimulationRun(
        id=f"{task.id} {kind}",
        task_id=task.id,
        timestamp=NOW,
        start_time=NOW,
        end_time=NOW,
        duration=0.0,
        termination_reason=reason,
        messages=messages,
        trial=trial,
    )
    judged = judgement(task)
    try:
        info = official(run, task, domain, judged)
        rewarded = {"reward_info": {**json.loads(info.model_dump_json()), "nl_assertions": judged}}
    except Exception as error:
        rewarded = {"reward_info": None, "raised": f"{type(error).__name__}: {error}"}
    return {**json.loads(run.model_dump_json(exclude={"reward_info"})), **rewarded}


def judgement(task):
    """One verdict for each statement that a judge decides, made once and fed to both evaluators."""
    criteria = task.evaluation_criteria
    statements = (criteria.nl_assertions if criteria else None) or []
    return [{"nl_assertion": each, "met": hash_of(each) % 4 > 0, "justification": "drawn"} for each in statements]


def hash_of(text):
    return sum(text.encode())


def official(run, task, domain, judged):
    """The reward by tau2's evaluator; its judge, where the reward needs one, says what was drawn."""
    basis = {each.value for each in task.evaluation_criteria.reward_basis} if task.evaluation_criteria else set()
    kind = EvaluationType.ALL
    if "NL_ASSERTION" in basis:
        from tau2.data_model.simulation import NLAssertionCheck

        kind = getattr(EvaluationType, "ALL_WITH_NL_ASSERTIONS", EvaluationType.ALL)
        evaluator_module.NLAssertionsEvaluator.evaluate_nl_assertions = classmethod(
            lambda cls, *_, **__: [NLAssertionCheck(**each) for each in judged]
        )
    given = {"simulation": run, "task": task, "evaluation_type": kind, "solo_mode": False, "domain": domain}
    return evaluate_simulation(**given)


def print_gold_rewards(domain, tasks):
    """How many tasks there are, and the sum of the rewards that their gold actions get."""
    rewards = []
    for task in tasks:
        calls, words, reason = planned(task, "gold", random.Random(0), [])
        messages, reason = lived(domain, task, calls, words, reason)
        rewards.append(evaluated(domain, task, messages, reason, "gold", 0)["reward_info"]["reward"])
    print(json.dumps({"tasks": len(tasks), "reward": sum(rewards)}))


main(sys.argv[1:])
