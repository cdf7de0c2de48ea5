"""Trajectories of BFCL's multi-turn entries, with the verdict of its own checker beside each.

    bfcl_oracle.py CATEGORY OUT [--tasks FIRST-END] [--kinds A,B]

Run with a Python that has bfcl_eval and what its backend classes import. Writes a JSON list: for each entry the calls
of the ground truth, and the same mutated in ten ways and by random edits. Every call is made by the checker on its own
classes; the only code of this file that decides anything is that of the mutations, and the two lines in which BFCL's
runner compares the number of turns, since the runner itself can't be imported without the clients of all models.
"""

import argparse
import ast
import contextlib
import io
import json
import random
import sys
import types
from importlib.util import find_spec
from pathlib import Path

# The package's own __init__ files are empty; only its constants and its checker are needed.
from bfcl_eval.constants.default_prompts import MAXIMUM_STEP_LIMIT
from bfcl_eval.constants.executable_backend_config import CLASS_FILE_PATH_MAPPING
from bfcl_eval.eval_checker.multi_turn_eval import multi_turn_utils
from bfcl_eval.eval_checker.multi_turn_eval.multi_turn_checker import multi_turn_checker
from random_edits import Step, World, draws, edited, only, says

DATA = Path(next(iter(find_spec("bfcl_eval").submodule_search_locations))) / "data"
DONE = "That is done."
KINDS = (
    "gold",
    "dropped",
    "changed",
    "float",
    "extra",
    "order",
    "early",
    "hallucinated",
    "failing",
    "endless",
    "words",
    "random1",
)


def main(argv):
    parser = argparse.ArgumentParser()
    parser.add_argument("category")
    parser.add_argument("out")
    parser.add_argument("--tasks", default="")
    parser.add_argument("--kinds", default=",".join(KINDS))
    options = parser.parse_args(argv)
    entries = lines_of(DATA / f"BFCL_v4_multi_turn_{options.category}.json")
    answers = {each["id"]: each["ground_truth"] for each in lines_of(answers_file(options.category))}
    pool = [(entry["involved_classes"], call) for entry in entries for turn in answers[entry["id"]] for call in turn]
    found = []
    for entry in only(options.tasks, entries, options.category):
        truth = answers[entry["id"]]
        for kind in options.kinds.split(","):
            about = {"task": entry["id"], "kind": kind}
            if kind.startswith("random"):
                steps = randomly(entry, truth, kind, pool)
                turns = turns_of(steps, len(truth))
                verdict = judged(entry, truth, turns, options.category)
                found.append({**about, "responses": [response_of(step) for step in steps], **verdict})
                continue
            turns = mutated(entry, truth, kind, random.Random(f"{entry['id']} {kind}"), pool)
            if turns is not None:
                made = [[[as_data(*named(entry, call)) for call in step] for step in turn] for turn in turns]
                responses = [each for turn in made for each in (*turn, DONE)]
                found.append({**about, "responses": responses, **judged(entry, truth, turns, options.category)})
    Path(options.out).write_text(json.dumps(found), encoding="utf-8")


def lines_of(file):
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines() if line.strip()]


def answers_file(category):
    return DATA / "possible_answer" / f"BFCL_v4_multi_turn_{category}.json"


def judged(entry, truth, turns, category):
    """Returns the checker's verdict on a model's calls: `turns` are lists of steps, a step is a list of calls."""
    if len(turns) != len(truth):
        return {"valid": False, "reason": "the number of turns"}
    before = set(vars(multi_turn_utils))
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            result = multi_turn_checker(turns, truth, json.loads(json.dumps(entry)), category, "oracle")
        return {"valid": bool(result["valid"]), "reason": result.get("error_type", "")}
    except Exception as error:
        return {"valid": None, "reason": f"{type(error).__name__}: {error}"}
    finally:
        # The checker keeps its instances in the globals of its module, under names made of the entry's.
        for name in set(vars(multi_turn_utils)) - before:
            delattr(multi_turn_utils, name)


def mutated(entry, truth, kind, chance, pool):
    """The calls of the ground truth, a step each, mutated; None where there is nothing to mutate."""
    # More calls than steps are made in one step, as a model has to that calls in parallel.
    turns = [[[call] for call in turn] if len(turn) < MAXIMUM_STEP_LIMIT else [list(turn)] for turn in truth]
    places = [(t, s) for t, turn in enumerate(turns) for s in range(len(turn))]
    if kind == "gold":
        return turns
    if kind == "words":
        # All calls of a turn in one step, as a model that calls in parallel does.
        return [[[call for step in turn for call in step]] if turn else [] for turn in turns]
    if not places:
        return None
    t, s = chance.choice(places)
    if kind == "dropped":
        del turns[t][s]
    elif kind == "changed":
        turns[t][s] = [changed(turns[t][s][0], chance)]
    elif kind == "float":
        whole = [(t, s) for t, s in places if other_number(turns[t][s][0]) is not None]
        if not whole:
            return None
        t, s = chance.choice(whole)
        turns[t][s] = [other_number(turns[t][s][0])]
    elif kind == "extra":
        fitting = [call for classes, call in pool if set(classes) <= set(entry["involved_classes"])]
        turns[t].insert(s + chance.randrange(2), [chance.choice(fitting)])
    elif kind == "order":
        long = [turn for turn in turns if len(turn) > 1]
        if not long:
            return None
        chance.choice(long).reverse()
    elif kind == "early":
        turns = turns[: chance.randrange(len(turns))]
    elif kind == "hallucinated":
        name = chance.choice(["fetch_everything", "remove", "_load_scenario"])
        turns[t].insert(s, [f"{name}(query='all')"])
    elif kind == "failing":
        name = ast.parse(turns[t][s][0], mode="eval").body.func.id
        turns[t].insert(s, [f"{name}(no_such_argument='x')"])
    elif kind == "endless":
        # A read that is made again until BFCL ends the conversation: at the end, or in the middle.
        last = len(turns) - 1 if chance.random() < 0.5 else t
        turns = turns[: last + 1]
        if not turns[last]:
            return None
        turns[last] = (turns[last] + [turns[last][-1]] * (MAXIMUM_STEP_LIMIT + 1))[: MAXIMUM_STEP_LIMIT + 1]
    return turns


def randomly(entry, truth, kind, pool):
    """The gold calls with random edits; a text ends a turn."""
    fitting = [named(entry, call) for classes, call in pool if set(classes) <= set(entry["involved_classes"])]
    gold = [
        step
        for turn in mutated(entry, truth, "gold", None, [])
        for step in (
            *(Step("assistant", None, [list(named(entry, call)) for call in calls]) for calls in turn),
            says(DONE),
        )
    ]
    steps = edited(gold, draws("bfcl", entry["id"], kind), World(fitting))
    # The user's turns are fixed, and a model that has nothing more to do says so again.
    return [*(step for step in steps if step.by == "assistant"), *(says(DONE) for _ in truth)]


def turns_of(steps, number):
    """The turns that the runner of BFCL makes of responses: lists of steps, each a list of calls."""
    rest = iter(steps)
    turns = []
    while len(turns) < number:
        turns.append([])
        for step in rest:
            # A response without calls ends a turn, and so does one whose calls can't be decoded.
            if not step.calls or not all(isinstance(given, dict) for _, given in step.calls):
                break
            turns[-1].append([text_of(name, given) for name, given in step.calls])
            if len(turns[-1]) > MAXIMUM_STEP_LIMIT:
                return turns
    return turns


def response_of(step):
    return [as_data(name, given) for name, given in step.calls] or step.text


def text_of(name, given):
    return f"{name}({','.join(f'{key}={value!r}' for key, value in given.items())})"


def changed(text, chance):
    """A call with another value in one of its arguments."""
    call = ast.parse(text, mode="eval").body
    values = [*call.args, *(each.value for each in call.keywords)]
    constants = [each for value in values for each in ast.walk(value) if isinstance(each, ast.Constant)]
    if not constants:
        call.keywords.append(ast.keyword("colour", ast.Constant("blue")))
    else:
        constant = chance.choice(constants)
        constant.value = otherwise(constant.value, chance)
    return ast.unparse(call)


def otherwise(value, chance):
    if isinstance(value, bool):
        return not value if chance.random() < 0.5 else int(value)
    if isinstance(value, (int, float)):
        return chance.choice([value + 1, -value, str(value)])
    if isinstance(value, str):
        return chance.choice([value + " (sic)", value.upper(), value[1:], ""])
    return "other"


def other_number(text):
    """The call with a whole number as the other kind of number: 5 as 5.0, or 5.0 as 5."""
    call = ast.parse(text, mode="eval").body
    for each in ast.walk(call):
        if isinstance(each, ast.Constant) and type(each.value) in (int, float) and each.value == int(each.value):
            each.value = int(each.value) if isinstance(each.value, float) else float(each.value)
            return ast.unparse(call)
    return None


def as_data(name, values):
    """A call as a model writes it: the name, and the arguments as JSON text; positional ones by their names."""
    return {"tool": name, "arguments": values if isinstance(values, str) else json.dumps(values)}


def named(entry, text):
    """The name of a call, and its arguments by their names."""
    call = ast.parse(text.strip(), mode="eval").body
    name = call.func.id
    names = positions(entry, name) if call.args else []
    values = dict(zip(names, (ast.literal_eval(each) for each in call.args), strict=False))
    values.update({each.arg: ast.literal_eval(each.value) for each in call.keywords})
    return name, values


def positions(entry, name):
    for owner in entry["involved_classes"]:
        kind = getattr(__import__(CLASS_FILE_PATH_MAPPING[owner], fromlist=[owner]), owner)
        method = getattr(kind, name, None)
        if isinstance(method, types.FunctionType):
            return list(method.__code__.co_varnames[1 : method.__code__.co_argcount])
    return []


if __name__ == "__main__":
    main(sys.argv[1:])
