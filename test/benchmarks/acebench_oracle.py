"""Trajectories of ACEBench's agent entries, with the verdict of its own code beside each.

    acebench_oracle.py CHECKOUT KIND LANGUAGE OUT [--tasks FIRST-END] [--kinds A,B]

KIND is multi_turn or multi_step, LANGUAGE en or zh. Writes a JSON list: for each entry the calls of its milestones, and
the same mutated. Every trajectory goes through ACEBench's own loop of messages, its own scenario classes and its own
`agent_eval`; only what is asked of models is answered from a script, and what those modules import beside (clients of
models, tables, progress bars) is empty here. The only code of this file that decides anything is that of the mutations.
"""

import argparse
import ast
import atexit
import contextlib
import importlib
import io
import json
import os
import random
import re
import sys
import tempfile
import types
from functools import partial
from pathlib import Path

from random_edits import STOP, Step, World, draws, edited, only, says

KINDS = (
    "gold", "written", "dropped", "changed", "extra", "order", "early", "hallucinated", "failing",
    "silent", "together", "number", "endless", "typed", "repeated", "broken",
    "random1", "random2", "random3", "random4", "random5", "random6",
)  # fmt: skip
FINISH = "finish conversation"
UNUSED = (
    "openai", "google", "google.generativeai", "vllm", "transformers", "tqdm", "wcwidth", "pandas", "openpyxl",
    "openpyxl.styles", "dotenv",
)  # fmt: skip


class Nothing:
    """Replaces any object of an unused module."""

    def __init__(self, *_given, **_named):
        pass

    def __enter__(self):
        return self

    def __exit__(self, *_):
        return False

    def update(self, _):
        pass


def main(argv):
    parser = argparse.ArgumentParser()
    for name in ("checkout", "kind", "language", "out"):
        parser.add_argument(name)
    parser.add_argument("--tasks", default="")
    parser.add_argument("--kinds", default=",".join(KINDS))
    options = parser.parse_args(argv)
    out = Path(options.out).resolve()
    code = Path(options.checkout).resolve()
    official = Official(code, options.kind, options.language)
    data = code / "data_all" / f"data_{options.language}"
    entries = lines_of(data / f"data_agent_{options.kind}.json")
    answers = {each["id"]: each for each in lines_of(data / "possible_answer" / f"data_agent_{options.kind}.json")}
    pool = [(entry["involved_classes"], step) for entry in entries for step in calls_of(answers[entry["id"]])]
    found = []
    for entry in only(options.tasks, entries, f"{options.kind} {options.language}"):
        answer = answers[entry["id"]]
        for kind in options.kinds.split(","):
            is_random = kind.startswith("random")
            name = (options.language, entry["id"], kind)
            chance = draws("acebench", *name) if is_random else random.Random(" ".join(name))
            steps = mutated(entry, answer, kind, chance, pool)
            if steps is not None:
                verdict = official.verdict(entry, answer, [text_of(step) for step in steps])
                found.append({"task": entry["id"], "kind": kind, "steps": [as_data(step) for step in steps], **verdict})
    out.write_text(json.dumps(found), encoding="utf-8")


class Official:
    """ACEBench's own loop and evaluation, with scripts in the place of models."""

    def __init__(self, code, kind, language):
        self.kind, self.language, self.number = kind, language, 0
        # Results are written below the working directory.
        folder = tempfile.TemporaryDirectory(prefix="acebench-oracle-")
        atexit.register(lambda: (os.chdir("/"), folder.cleanup()))
        os.chdir(folder.name)
        Path(f"score_all/score_{language}/oracle").mkdir(parents=True)
        sys.path.insert(0, str(code))
        for name in UNUSED:
            module = types.ModuleType(name)
            module.__getattr__ = lambda _name: Nothing
            module.__path__ = []
            sys.modules[name] = module
        self.loop = importlib.import_module("model_inference.common_inference")
        self.evaluation = importlib.import_module("eval_main")
        self.evaluation.language = language
        self.evaluation.OUTPUT_PATH = "."
        self.evaluation.save_score_as_json = lambda *_: None
        # Its file of details cannot hold half of a surrogate pair. It is written after everything was decided.
        self.evaluation.open = partial(open, errors="surrogatepass")
        for scene in (self.loop.Scene, self.loop.Mulit_Step_Scene):
            scene.write_message_history = lambda *_: None
        self.loop.APIUSER = ScriptedUser

    def verdict(self, entry, answer, texts):
        """`valid` is None where ACEBench raises."""
        self.number += 1
        try:
            with contextlib.redirect_stdout(io.StringIO()):
                result, process = self.played(entry, texts)
                # As its runner writes them into a file, and its evaluation reads them.
                result, process = json.loads(json.dumps(result)), json.loads(json.dumps(process))
                found = self.evaluation.agent_eval(
                    [{"result": result, "process": process}], [entry], [answer], f"agent_{self.kind}", "oracle"
                )
            return {"valid": found[0] == 1, "process": found[1], "reason": ""}
        except Exception as error:
            return {"valid": None, "process": None, "reason": f"{type(error).__name__}: {error}"}

    def played(self, entry, texts):
        rest = iter(texts)
        last = "That is done." if self.kind == "multi_turn" else FINISH
        inference = self.loop.CommonInference.__new__(self.loop.CommonInference)
        inference.model = types.SimpleNamespace(inference=lambda *_: next(rest, last))
        inference.model_name, inference.user_model = "oracle", "script"
        inference.max_message_index, inference.language = 40, self.language
        play = inference.multi_turn_inference if self.kind == "multi_turn" else inference.multi_step_inference
        given = (entry["question"], entry["initial_config"], entry["function"], entry["involved_classes"])
        return play(*given, str(self.number), "")


class ScriptedUser:
    """The user of multi_turn: says what it wants, and then that it is done."""

    def __init__(self, **_named):
        pass

    def get_init_prompt(self, question):
        return question

    def step(self, _message):
        pass

    def respond(self):
        return {"sender": "user", "recipient": "agent", "message": FINISH}


def lines_of(file):
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines() if line.strip()]


def calls_of(answer):
    """Returns the first milestones that can be parsed, a list of calls each; escapes apostrophes within words."""
    stones = answer["mile_stone"]
    for each in stones if isinstance(stones[0], list) else [stones]:
        with contextlib.suppress(SyntaxError):
            return [read(re.sub(r"(?<=\w)'(?=\w)", r"\\'", text)) for text in each]
    return []


def read(text):
    return [
        (call.func.id, {each.arg: ast.literal_eval(each.value) for each in call.keywords})
        for call in ast.parse(text.strip(), mode="eval").body.elts
    ]


def text_of(step):
    """A response as a model writes it."""
    if isinstance(step, str):
        return step
    return "[" + ", ".join(f"{name}({', '.join(f'{k}={v!r}' for k, v in given.items())})" for name, given in step) + "]"


def response_of(step):
    """A response as ACEBench knows it: a text or calls. What is not readable as calls is a text."""
    if step.by == "user":
        return FINISH
    if not all(isinstance(given, dict) for _, given in step.calls):
        return "; ".join(f"{name}: {given}" for name, given in step.calls)
    return [tuple(call) for call in step.calls] or step.text


def as_data(step):
    if isinstance(step, str):
        return step
    return [{"tool": name, "arguments": json.dumps(given)} for name, given in step]


def mutated(entry, answer, kind, chance, pool):
    """The calls of the milestones, a response each, mutated; None where there is nothing to mutate."""
    steps = [list(step) for step in calls_of(answer)]
    if kind == "gold":
        return steps
    if kind == "written":
        stones = answer["mile_stone"]
        each = chance.choice(stones) if isinstance(stones[0], list) else stones
        return [readable(text) for text in each]
    if kind == "silent":
        return ["I have done that for you."]
    if not steps:
        return None
    if kind.startswith("random"):
        others = [call for classes, step in pool if set(classes) <= set(entry["involved_classes"]) for call in step]
        gold = [Step("assistant", None, [list(call) for call in step]) for step in steps]
        edits = edited([*gold, says("That is done."), says(STOP, "user")], chance, World(others))
        return [response_of(step) for step in edits]
    at = chance.randrange(len(steps))
    if kind == "dropped":
        del steps[at]
    elif kind == "changed":
        steps[at] = [changed(steps[at][0], chance), *steps[at][1:]]
    elif kind == "extra":
        fitting = [step for classes, step in pool if set(classes) <= set(entry["involved_classes"])]
        steps.insert(at + chance.randrange(2), chance.choice(fitting))
    elif kind == "order":
        if len(steps) < 2:
            return None
        steps.reverse()
    elif kind == "early":
        steps = steps[: chance.randrange(len(steps))]
    elif kind == "hallucinated":
        steps.insert(at, [(chance.choice(["fetch_everything", "remove", "_load_scenario"]), {"query": "all"})])
    elif kind == "failing":
        steps.insert(at, [(steps[at][0][0], {"no_such_argument": "x"})])
    elif kind == "together":
        steps = [[call for step in steps for call in step]]
    elif kind in ("repeated", "broken"):
        # In one response: a function that is not there after others, and a call that fails before others.
        calls = [call for step in steps for call in step]
        wrong = ("no_such", {}) if kind == "repeated" else (calls[0][0], {"no_such_argument": "x"})
        calls.insert(1 + at if kind == "repeated" else at, wrong)
        steps = [calls]
    elif kind == "number":
        whole = [(s, c, k) for s, step in enumerate(steps) for c, (_, given) in enumerate(step) for k in given
                 if type(given[k]) is int]  # fmt: skip
        if not whole:
            return None
        s, c, key = chance.choice(whole)
        name, given = steps[s][c]
        steps[s][c] = (name, {**given, key: float(given[key])})
    elif kind == "endless":
        steps = (steps + [steps[-1]] * 45)[:45]
    elif kind == "typed":
        # A word in the midst of the calls.
        steps.insert(at, "One moment, please.")
    return steps


def readable(text):
    try:
        return read(text)
    except SyntaxError:
        return text


def changed(call, chance):
    name, given = call
    if not given:
        return (name, {"colour": "blue"})
    key = chance.choice(list(given))
    return (name, {**given, key: otherwise(given[key], chance)})


def otherwise(value, chance):
    if isinstance(value, bool):
        return not value
    if isinstance(value, (int, float)):
        return chance.choice([value + 1, -value, str(value)])
    if isinstance(value, str):
        return chance.choice([value + " (sic)", value.upper(), value[1:], ""])
    return chance.choice([[], [*value, *value], value[:-1]])


if __name__ == "__main__":
    main(sys.argv[1:])
