"""Trajectories of tau2-bench made by live execution, with the reward of its own evaluator beside each.

    tau2_oracle.py DOMAIN OUT [--tasks FIRST-END] [--kinds A,B] [--gold-rewards]

Run with a Python that has tau2. Writes a results file as tau2 does: for each base task the gold actions, and mutations
of them. Every call is made on tau2's own environment, so the results of calls are tau2's. With --gold-rewards nothing
is written: the gold actions are replayed and evaluated, for a comparison of speed.

One thing differs from tau2: a database is loaded and validated a few times instead of once for each environment, and
each simulation uses it in a separate process. The evaluation is the same. --gold-rewards does as tau2 does.
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
from random_edits import STOP, Step, World, draws, edited, only, says

logger.remove()

from tau2.data_model.message import AssistantMessage, ToolCall, UserMessage
from tau2.data_model.simulation import SimulationRun
from tau2.environment.db import DB
from tau2.evaluator import evaluator as evaluator_module
from tau2.evaluator.evaluator import EvaluationType, evaluate_simulation
from tau2.registry import registry

GREETING = "Hi! How can I help you today?"
NOW = "2026-01-05T09:00:00"
KINDS = (
    "gold", "dropped", "changed", "extra", "order", "early", "silent", "hallucinated", "failing", "numbers",
    "random1", "random2", "random3",
)  # fmt: skip


def main(argv):
    parser = argparse.ArgumentParser()
    parser.add_argument("domain")
    parser.add_argument("out")
    parser.add_argument("--tasks", default="")
    parser.add_argument("--kinds", default=",".join(KINDS))
    parser.add_argument("--gold-rewards", action="store_true")
    options = parser.parse_args(argv)
    tasks = registry.get_tasks_loader(options.domain)("base")
    if options.gold_rewards:
        print_gold_rewards(options.domain, tasks)
        return
    load_once()
    environment = constructor(options.domain)()
    pool = [action for task in tasks for action in actions_of(task) if is_write(environment, action)]
    user_tools = environment.user_tools.get_tools() if environment.user_tools else ()
    world = World([(action.name, action.arguments) for action in pool], frozenset(user_tools))
    simulations = []
    for task in only(options.tasks, tasks, options.domain):
        chance = random.Random(task.id)
        for trial, kind in enumerate(options.kinds.split(",")):
            if kind.startswith("random"):
                steps, reason = randomly(options.domain, task, kind, world)
            elif plan := planned(task, kind, chance, pool):
                steps, reason = steps_of(*plan), plan[2]
            else:
                continue
            simulations.append(apart(partial(simulation, options.domain, task, steps, reason, kind, trial)))
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
    """Runs a function in a separate process, so that its changes to global state are discarded."""
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


def simulation(domain, task, steps, reason, kind, trial):
    messages = lived(domain, task, steps)
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


def steps_of(calls, words, reason):
    made = [Step(requestor, None, [[name, arguments]]) for requestor, name, arguments in calls]
    handed = [says("I have done that.", "user")] if calls and calls[-1][0] == "user" else []
    return [*made, *handed, says(words), *([says(STOP, "user")] if reason == "user_stop" else [])]


def randomly(domain, task, kind, world):
    """The gold steps with random edits, and the reason of the end."""
    chance = draws("tau2", domain, task.id, kind)
    steps = edited(steps_of(*planned(task, "gold", None, [])), chance, world)
    # tau2 reads arguments before it makes a call of them: no simulation has others than objects.
    for step in steps:
        step.calls = [[name, given if isinstance(given, dict) else {"query": given}] for name, given in step.calls]
    last = steps[-1] if steps else None
    if last and last.by == "user" and last.text and not last.calls:
        return steps, "user_stop"
    if chance.random() < 0.3:
        return [*steps, says(STOP)], "agent_stop"
    return steps, chance.choice(["max_steps", "too_many_errors", "agent_error", "user_error"])


def lived(domain, task, steps):
    """The messages of a conversation with these steps, each call with the result that tau2 gives it."""
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
    roles = {"assistant": AssistantMessage, "user": UserMessage}
    hand_overs = {"assistant": "Please do the next step.", "user": "I have done that."}
    turn, number = "assistant", 0
    for step in steps:
        if step.by != turn:
            messages.append(said(roles[turn], content=hand_overs[turn]))
            turn = step.by
        calls = []
        for name, arguments in step.calls:
            calls.append(ToolCall(id=f"call_{number}", name=name, arguments=arguments, requestor=step.by))
            number += 1
        messages.append(said(roles[step.by], content=step.text, tool_calls=calls or None))
        messages += [environment.get_response(call) for call in calls]
        if not calls:
            turn = "user" if step.by == "assistant" else "assistant"
    return messages


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
        rewarded = {"reward_info": {**info.model_dump(), "nl_assertions": judged}}
    except Exception as error:
        rewarded = {"reward_info": None, "raised": f"{type(error).__name__}: {error}"}
    # Its own JSON refuses half of a surrogate pair.
    return {**run.model_dump(exclude={"reward_info"}), **rewarded}


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
    """Returns the number of tasks, and the sum of the rewards of their gold actions."""
    rewards = []
    for task in tasks:
        plan = planned(task, "gold", None, [])
        messages = lived(domain, task, steps_of(*plan))
        rewards.append(evaluated(domain, task, messages, plan[2], "gold", 0)["reward_info"]["reward"])
    print(json.dumps({"tasks": len(tasks), "reward": sum(rewards)}))


main(sys.argv[1:])
