"""Trajectories of tau-bench's tasks with the reward of its own evaluator, as its run.py writes them.

    tau1_oracle.py CHECKOUT DOMAIN SPLIT OUT [--tasks FIRST-END] [--kinds A,B]

Run with a Python that has pydantic. The conversations are held by tau-bench's own tool-calling agent on its
own environment; only the answers of the two models come from a script. The gold actions of each task are played as they
are, and mutated. Neither this engine nor the file that it writes decides anything: the reward is the evaluator's.
"""

import argparse
import json
import pickle
import random
import sys
import types
from pathlib import Path
from types import SimpleNamespace

from random_edits import STOP, Step, World, calls, draws, edited, only, says

KINDS = (
    "gold", "dropped", "changed", "extra", "order", "early", "silent", "hallucinated", "failing", "handover",
    "handover-failing", "endless", "at-cap", "second-call", "beside", "commas", "float",
    "random1", "random2", "random3", "random4",
)  # fmt: skip
LOOKS = {"retail": ("list_all_product_types", {}), "airline": ("list_all_airports", {})}
EXTRA = {
    "retail": lambda user: (
        "modify_user_address",
        {
            "user_id": user,
            "address1": "1 Elm",
            "address2": "",
            "city": "Here",
            "state": "TX",
            "country": "USA",
            "zip": "00000",
        },
    ),
    "airline": lambda user: ("send_certificate", {"user_id": user, "amount": 100}),
}
WRITES = ("modify_", "cancel_", "return_", "exchange_", "book_", "update_", "send_")


def main(argv):
    parser = argparse.ArgumentParser()
    for name in ("checkout", "domain", "split", "out"):
        parser.add_argument(name)
    parser.add_argument("--tasks", default="")
    parser.add_argument("--kinds", default=",".join(KINDS))
    options = parser.parse_args(argv)
    # The client of models is imported by name and never called: every answer is scripted.
    client = types.ModuleType("litellm")
    client.completion = None
    sys.modules["litellm"] = client
    sys.path.insert(0, options.checkout)
    from tau_bench.agents import tool_calling_agent
    from tau_bench.envs import get_env

    env = get_env(options.domain, user_strategy="human", user_model="", task_split=options.split, task_index=0)
    data = pickle.dumps(env.data)
    env.data_load_func = lambda: pickle.loads(data)
    agent = tool_calling_agent.ToolCallingAgent(env.tools_info, env.wiki, model="", provider="")
    pool = [(action.name, action.kwargs) for task in env.tasks for action in task.actions]
    found = []
    for index in only(options.tasks, range(len(env.tasks)), options.domain):
        for trial, kind in enumerate(options.kinds.split(",")):
            steps = trajectory(options, env.tasks[index], index, kind, pool)
            if steps is None:
                continue
            env.user = ScriptedUser(steps)
            tool_calling_agent.completion = ScriptedModel(steps)
            run = {"id": f"{options.split}/{index} {kind}", "task_id": index, "trial": trial}
            try:
                solved = agent.solve(env, task_index=index)
                run |= {"reward": solved.reward, "info": solved.info, "traj": solved.messages}
            except Exception as error:
                task = env.tasks[index].model_dump()
                run |= {"reward": 0.0, "info": {"error": f"{type(error).__name__}: {error}", "task": task}, "traj": []}
                run["steps"] = [as_data(step) for step in steps]
            found.append(run)
    Path(options.out).write_text(json.dumps(found, default=lambda value: value.model_dump()), encoding="utf-8")


class ScriptedUser:
    """Says hello, and after each of what the agent says what the trajectory has there."""

    def __init__(self, steps):
        self.answers = answers_in(steps)

    def reset(self, instruction=None):
        return "Hello, I need your help."

    def step(self, content):
        return self.answers.pop(0) if self.answers else "Please go on."

    def get_total_cost(self):
        return 0


class ScriptedModel:
    """Answers as litellm does: a text, calls, or both."""

    def __init__(self, steps):
        self.steps = [step for step in steps if step.by == "assistant"]

    def __call__(self, **_):
        step = self.steps.pop(0) if self.steps else calls(("think", {"thought": "?"}))
        made = [
            {"id": f"call_{len(self.steps)}_{at}", "type": "function", "function": function_of(name, given)}
            for at, (name, given) in enumerate(step.calls)
        ]
        said = {"role": "assistant", "content": step.text, "tool_calls": made or None}
        message = SimpleNamespace(model_dump=lambda: said)
        return SimpleNamespace(choices=[SimpleNamespace(message=message)], _hidden_params={"response_cost": 0})


def function_of(name, given):
    return {"name": name, "arguments": text(given)}


def text(given):
    return given if isinstance(given, str) else json.dumps(given)


def answers_in(steps):
    """Returns the user's reply to each text of the agent."""
    answers = []
    for at, step in enumerate(steps):
        if step.by == "assistant" and not step.calls:
            after = steps[at + 1] if at + 1 < len(steps) else step
            answers.append(after.text if after.by == "user" else "Please go on.")
    return answers


def as_data(step):
    made = [{"tool": name, "arguments": text(given)} for name, given in step.calls]
    return {"by": step.by, "text": step.text, "calls": made}


def trajectory(options, task, index, kind, pool):
    """The steps of a kind of trajectory; None where a task has nothing to mutate so."""
    if kind.startswith("random"):
        gold = as_steps(mutated(options.domain, task, "gold", None, pool))
        return edited(gold, draws("tau1", options.domain, options.split, index, kind), World(pool))
    turns = mutated(options.domain, task, kind, random.Random(f"{options.split} {index} {kind}"), pool)
    return None if turns is None else as_steps(turns)


def as_steps(turns):
    """The user leaves after the last of what the agent says."""
    steps = []
    for turn in turns:
        said, made = turn if isinstance(turn, tuple) else (turn, []) if isinstance(turn, str) else (None, turn)
        steps.append(Step("assistant", said, [list(call) for call in made]))
    last = max((at for at, step in enumerate(steps) if not step.calls), default=None)
    if last is not None:
        steps.insert(last + 1, says(STOP, "user"))
    return steps


def mutated(domain, task, kind, chance, pool):
    """The agent's turns: a text, a list of calls, or both in a tuple. None where a task has nothing to mutate so."""
    gold = [(action.name, action.kwargs) for action in task.actions if action.name != "transfer_to_human_agents"]
    said = "This is what I can tell you: " + "; ".join(task.outputs) if task.outputs else "That is done."
    writes = [at for at, (name, _) in enumerate(gold) if name.startswith(WRITES)]
    one = chance.choice(writes) if writes and chance else None
    turns = [[call] for call in gold]
    if kind == "gold":
        return [*turns, said]
    if kind == "dropped":
        return None if one is None else [*turns[:one], *turns[one + 1 :], said]
    if kind == "changed":
        if one is None:
            return None
        other = (gold[one][0], changed(gold[one][1], chance))
        return [*turns[:one], [other], *turns[one + 1 :], said]
    if kind == "extra":
        return [*turns, [EXTRA[domain](task.user_id)], said]
    if kind == "order":
        return None if len(turns) < 2 else [*reversed(turns), said]
    if kind == "early":
        return [*turns[: len(turns) // 2], said]
    if kind == "silent":
        return [*turns, "Is there anything else?"] if task.outputs else None
    if kind == "hallucinated":
        return [*turns, [("refund_everything", {"user_id": task.user_id})], said]
    if kind == "failing":
        name, given = gold[-1] if gold else LOOKS[domain]
        return [[(name, {**given, "colour": "red"})], [(name, {"data": 1})], *turns, said]
    if kind == "handover":
        return ["One moment.", *turns, [("transfer_to_human_agents", {"summary": "He asks for a person."})], said]
    if kind == "handover-failing":
        return [*turns, [("transfer_to_human_agents", {"reason": "no such argument"})], said]
    if kind == "endless":
        return [*turns, *[[LOOKS[domain]]] * 31]
    if kind == "at-cap":
        return [*turns, *[[LOOKS[domain]]] * (29 - len(turns)), said]
    if kind == "second-call":
        return [[LOOKS[domain], *gold], said]
    if kind == "beside":
        return [(said, [LOOKS[domain]]), *turns, "Is there anything else?"] if task.outputs else None
    if kind == "commas":
        return [*turns, "".join(f"{letter}," for letter in said.upper())] if task.outputs else None
    if kind == "float":
        return floated(turns, gold, said)
    raise ValueError(kind)


def changed(given, chance):
    """The same arguments with another text in one of them."""
    texts = [name for name, value in given.items() if isinstance(value, str)]
    lists = [name for name, value in given.items() if isinstance(value, list) and value]
    if lists and chance.random() < 0.5:
        name = chance.choice(lists)
        return {**given, name: given[name][:-1]}
    name = chance.choice(texts)
    other = {"yes": "no", "no": "yes", "economy": "business"}.get(given[name], f"{given[name]}0")
    return {**given, name: other}


def floated(turns, gold, said):
    """The whole numbers of the arguments as 5.0: Python's hash of the database tells them from 5."""
    made = [[(name, as_floats(given))] for name, given in gold]
    return None if made == turns and text(made) == text(turns) else [*made, said]


def as_floats(value):
    if isinstance(value, dict):
        return {key: as_floats(each) for key, each in value.items()}
    if isinstance(value, list):
        return [as_floats(each) for each in value]
    return float(value) if type(value) is int else value


if __name__ == "__main__":
    main(sys.argv[1:])
