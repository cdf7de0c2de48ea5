"""Random edits of a trajectory: one generator for all benchmarks, independent of their formats.

The named mutations of each oracle change one thing that its author thought of. These edits change one to four things at
random: calls, their arguments, the sides that make them, texts, and the end of the conversation. Every benchmark gets
the same edits; its oracle plays the edited trajectory.

REHEARSAL_BENCHMARK_SEED seeds all edits. Another seed gives other trajectories.
"""

import copy
import json
import os
import random
from dataclasses import dataclass, field

STOP = "###STOP###"
"""The user's last message. A trajectory may have steps after it."""


@dataclass
class Step:
    """One message of one side: a text, calls, or both."""

    by: str = "assistant"
    text: str | None = None
    calls: list[list] = field(default_factory=list)
    """Name and arguments of each: a dictionary, or a text that is not the JSON text of one."""


@dataclass
class World:
    """The material for edits: the calls of other tasks, and the names of the user's tools."""

    pool: list[tuple[str, dict]]
    user_tools: frozenset[str] = frozenset()


def says(text, by="assistant"):
    return Step(by, text)


def calls(*made, by="assistant"):
    return Step(by, None, [list(call) for call in made])


def draws(*names):
    """Returns a separate random generator for each trajectory."""
    seed = os.environ.get("REHEARSAL_BENCHMARK_SEED", "1")
    return random.Random(" ".join(map(str, (seed, *names))))


def only(tasks, everything, label):
    """Yields the tasks of a range such as 20-40, the end excluded, or all without a range. Prints the progress."""
    first, _, end = tasks.partition("-")
    chosen = list(everything)[int(first) if first else None : int(end) if end else None]
    for number, each in enumerate(chosen, start=1):
        yield each
        if number % 20 == 0 or number == len(chosen):
            print(f"{label}: {number} of {len(chosen)} tasks", flush=True)


def edited(steps, chance, world):
    """One to four random edits of a trajectory, a list of steps."""
    steps = copy.deepcopy(steps)
    for _ in range(chance.choice((1, 1, 2, 3, 4))):
        edit = chance.choice(EDITS)
        edit(steps, chance, world)
    return [step for step in steps if step.calls or step.text is not None]


def remove(steps, chance, _world):
    if places := places_of_calls(steps):
        step, at = chance.choice(places)
        del step.calls[at]


def repeat(steps, chance, _world):
    if places := places_of_calls(steps):
        step, at = chance.choice(places)
        after = chance.randrange(steps.index(step), len(steps)) + 1
        steps.insert(after, Step(step.by, None, [copy.deepcopy(step.calls[at])]))


def exchange(steps, chance, _world):
    places = places_of_calls(steps)
    if len(places) > 1:
        (one, at), (other, there) = chance.sample(places, 2)
        one.calls[at], other.calls[there] = other.calls[there], one.calls[at]


def insert(steps, chance, world):
    if world.pool:
        name, given = chance.choice(world.pool)
        by = "user" if name in world.user_tools else "assistant"
        steps.insert(chance.randrange(len(steps) + 1), Step(by, None, [[name, copy.deepcopy(given)]]))


def merge(steps, chance, _world):
    """Two calls in one response."""
    pairs = [
        at
        for at in range(len(steps) - 1)
        if steps[at].by == steps[at + 1].by and steps[at].calls and steps[at + 1].calls
    ]
    if pairs:
        at = chance.choice(pairs)
        steps[at].calls += steps.pop(at + 1).calls


def borrow(steps, chance, world):
    """An argument gets the value that the field has in a call of another task."""
    if arguments := arguments_of(steps):
        name, given, key = chance.choice(arguments)
        others = [found[key] for _, found in world.pool if key in found and found[key] != given[key]]
        same = [
            found[key] for other, found in world.pool if other == name and key in found and found[key] != given[key]
        ]
        if others:
            given[key] = copy.deepcopy(chance.choice(same or others))


def replace(steps, chance, _world):
    """A value anywhere in the arguments becomes another one, also of another type."""
    if places := [place for _, given in readable_calls(steps) for place in leaves(given)]:
        holder, key = chance.choice(places)
        holder[key] = otherwise(holder[key], chance)


def retype(steps, chance, _world):
    """A value becomes the same of another type: 5 is 5.0 or "5", a list is its first item."""
    if places := [place for _, given in readable_calls(steps) for place in leaves(given)]:
        holder, key = chance.choice(places)
        holder[key] = of_another_type(holder[key], chance)
    for _, given, key in chance.sample(found := arguments_of(steps), min(1, len(found))):
        if isinstance(given[key], (list, dict)) and chance.random() < 0.5:
            given[key] = chance.choice([json.dumps(given[key]), None, [given[key]], {"of": given[key]}, [], {}])


def empty(steps, chance, _world):
    if arguments := arguments_of(steps):
        _, given, key = chance.choice(arguments)
        given[key] = None


def disfigure(steps, chance, _world):
    """A text in the arguments gets odd characters."""
    places = [place for _, given in readable_calls(steps) for place in leaves(given)]
    if texts := [(holder, key) for holder, key in places if isinstance(holder[key], str)]:
        holder, key = chance.choice(texts)
        holder[key] = with_odd(holder[key], chance)


def forget(steps, chance, _world):
    if arguments := arguments_of(steps):
        _, given, key = chance.choice(arguments)
        del given[key]


def rename(steps, chance, _world):
    if arguments := arguments_of(steps):
        _, given, key = chance.choice(arguments)
        given[chance.choice([f"{key}_", key.upper(), f"{key}é", "__proto__", "constructor", "self", ""])] = given.pop(
            key
        )


def add(steps, chance, _world):
    if found := list(readable_calls(steps)):
        chance.choice(found)[1]["note"] = chance.choice([None, "", 0, [], "urgent"])


def garble(steps, chance, _world):
    """The arguments of a call are not a JSON object."""
    if places := places_of_calls(steps):
        step, at = chance.choice(places)
        name, given = step.calls[at]
        text = given if isinstance(given, str) else json.dumps(given)
        broken = [
            text[:-1],
            f"{text}}}",
            str(given).replace('"', "'") or "x",
            f"[{text}]",
            "null",
            "5",
            '"x"',
            "[]",
            "x",
        ]
        step.calls[at] = [name, chance.choice([each for each in broken if not is_object(each)])]


def misname(steps, chance, _world):
    """A call of a tool that is not there."""
    if places := places_of_calls(steps):
        step, at = chance.choice(places)
        name = step.calls[at][0]
        step.calls[at][0] = chance.choice(
            [
                f"{name}s",
                name.upper(),
                f"_{name}",
                f"{name}é",
                "fetch_everything",
                "__init__",
                "constructor",
                "toString",
            ]
        )


def cross(steps, chance, world):
    """The other side makes a call: the agent calls a tool of the user's, or the user one of the agent's."""
    if not world.user_tools:
        return misname(steps, chance, world)
    if own := [step for step in steps if step.calls]:
        step = chance.choice(own)
        step.by = "user" if step.by == "assistant" else "assistant"


def hush(steps, chance, _world):
    """Something that the agent says is not said."""
    if texts := said_by_agent(steps):
        steps.remove(chance.choice(texts))


def reword(steps, chance, _world):
    if texts := said_by_agent(steps):
        step = chance.choice(texts)
        step.text = otherwise_said(step.text, chance)


def whisper(steps, chance, _world):
    """Moves a text next to a call, or to another place."""
    texts, others = said_by_agent(steps), [step for step in steps if step.calls and step.by == "assistant"]
    if texts:
        step = chance.choice(texts)
        if others and chance.random() < 0.5:
            chance.choice(others).text = step.text
            step.text = chance.choice(["Is there anything else?", ""])
        else:
            steps.remove(step)
            steps.insert(chance.randrange(len(steps) + 1), step)


def chat(steps, chance, _world):
    """Inserts a message."""
    said = chance.choice(["One moment, please.", "", " ", "Is that right?", "\ud83d", "naïve ﬁx\u0000"])
    steps.insert(chance.randrange(len(steps) + 1), says(said))


def end_early(steps, chance, _world):
    """Cuts the conversation short; in half of the cases the user ends it."""
    del steps[chance.randrange(len(steps) + 1) :]
    if chance.random() < 0.5:
        steps += [says("That is done."), says(STOP, "user")]


def stop(steps, chance, _world):
    """Lets the user leave in the middle of the conversation; the other steps follow."""
    at = chance.randrange(len(steps) + 1)
    steps[at:at] = [says("Anything else?"), says(chance.choice([STOP, f"Thanks! {STOP}", "###TRANSFER###"]), "user")]


def go_on(steps, chance, world):
    """Calls after the end."""
    name, given = chance.choice(world.pool) if world.pool else ("fetch_everything", {})
    by = "user" if name in world.user_tools else "assistant"
    steps += [Step(by, None, [[name, copy.deepcopy(given)]]), says("That is done, too.")]


EDITS = (
    remove, repeat, exchange, insert, merge, borrow, borrow, replace, replace, retype, retype, empty, disfigure,
    disfigure, forget, rename, add, garble, misname, cross, hush, reword, reword, whisper, chat, end_early, stop, go_on,
)  # fmt: skip


def places_of_calls(steps):
    return [(step, at) for step in steps for at in range(len(step.calls))]


def readable_calls(steps):
    return [(name, given) for step in steps for name, given in step.calls if isinstance(given, dict)]


def arguments_of(steps):
    return [(name, given, key) for name, given in readable_calls(steps) for key in given]


def said_by_agent(steps):
    return [step for step in steps if step.by == "assistant" and step.text is not None]


def is_object(text):
    try:
        return isinstance(json.loads(text), dict)
    except ValueError:
        return False


def leaves(value):
    """Every place in nested data that holds a text, a number or a truth value: its holder, and its key there."""
    if not isinstance(value, (dict, list)):
        return []
    entries = value.items() if isinstance(value, dict) else enumerate(value)
    found = []
    for key, each in entries:
        found += leaves(each) if isinstance(each, (dict, list)) else [(value, key)]
    return found


def otherwise(value, chance):
    if isinstance(value, bool):
        return chance.choice([not value, str(value), int(value), None])
    if isinstance(value, (int, float)):
        numbers = [-value, value + 1, value * 10, value + 0.1, 0, -0.0, 10**20, 2**53 + 1, 1e22, 1e-7]
        return chance.choice([*numbers, float(value), str(value), None, True])
    if isinstance(value, str):
        other = ["", f" {value}", value.upper(), value.lower(), value[::-1], value[:-1], value * 2, f"{value}é"]
        return chance.choice([*other, "東京", "0", "None", "true", "it's", 'a "b"', "sort (a)", "{x}", None])
    return chance.choice(["", 0, [], {}])


def of_another_type(value, chance):
    if isinstance(value, bool):
        return chance.choice([int(value), str(value), float(value)])
    if isinstance(value, (int, float)):
        return chance.choice(
            [int(value) if isinstance(value, float) else float(value), str(value), bool(value), [value]]
        )
    if isinstance(value, str):
        number = [int(value), float(value)] if value.isascii() and value.isdigit() and len(value) < 300 else []
        return chance.choice([*number, [value], {"value": value}, 0, False])
    return chance.choice([False, 0, "None"])


def with_odd(text, chance):
    """A text with characters that programs get wrong: half of a pair, a null, marks, other spaces, other cases."""
    odd = [
        "\ud83d",
        "\ude00",
        "\ude00\ud83d",
        "😀",
        "\u0000",
        "\ufeff",
        "e\u0301",
        "İ",
        "ß",
        "ς",
        "\u2028",
        "\u00a0",
        "١",
    ]
    at = chance.randrange(len(text) + 1)
    return chance.choice(
        [text[:at] + chance.choice(odd) + text[at:], chance.choice(odd), f"{text}{chance.choice(odd)}"]
    )


def otherwise_said(text, chance):
    half = len(text) // 2
    return chance.choice(
        [
            text.upper(), text.lower(), text[::-1], text[:half], text[half:], "Okay.", "",
            ",".join(text), text.replace(",", ""), text.replace(" ", "\u00a0"), with_odd(text, chance),
            "".join(str((int(each) + 1) % 10) if each in "0123456789" else each for each in text),
        ]
    )  # fmt: skip
