"""Random edits of calls: a second generator of trajectories, which knows nothing of a benchmark.

The named mutations of each oracle change one thing that its author thought of. These edits change two to four things at
random: calls that are removed, repeated, exchanged or taken from other tasks, and arguments that are dropped, renamed,
added or replaced by a value of another length, type or script.
"""

import copy


def edited(calls, chance, pool):
    """Two to four random edits of `calls`, a list of (name, arguments); `pool` has calls of other tasks."""
    calls = [[name, copy.deepcopy(given)] for name, given in calls]
    for _ in range(chance.randint(2, 4)):
        chance.choice(EDITS)(calls, chance, pool)
    return [(name, given) for name, given in calls]


def remove(calls, chance, _pool):
    if calls:
        del calls[chance.randrange(len(calls))]


def repeat(calls, chance, _pool):
    if calls:
        at = chance.randrange(len(calls))
        calls.insert(chance.randrange(at, len(calls)) + 1, copy.deepcopy(calls[at]))


def exchange(calls, chance, _pool):
    if len(calls) > 1:
        one, other = chance.sample(range(len(calls)), 2)
        calls[one], calls[other] = calls[other], calls[one]


def insert(calls, chance, pool):
    if pool:
        name, given = chance.choice(pool)
        calls.insert(chance.randrange(len(calls) + 1), [name, copy.deepcopy(given)])


def borrow(calls, chance, pool):
    """An argument gets the value that a call of the same tool has in another task."""
    places = [(given, key, name) for name, given in calls for key in given]
    if not places:
        return
    given, key, name = chance.choice(places)
    others = [found[key] for other, found in pool if other == name and key in found and found[key] != given[key]]
    if others:
        given[key] = copy.deepcopy(chance.choice(others))


def replace(calls, chance, _pool):
    places = [place for _, given in calls for place in leaves(given)]
    if places:
        holder, key = chance.choice(places)
        holder[key] = otherwise(holder[key], chance)


def forget(calls, chance, _pool):
    with_arguments = [given for _, given in calls if given]
    if with_arguments:
        given = chance.choice(with_arguments)
        del given[chance.choice(list(given))]


def rename(calls, chance, _pool):
    with_arguments = [given for _, given in calls if given]
    if with_arguments:
        given = chance.choice(with_arguments)
        key = chance.choice(list(given))
        given[f"{key}_"] = given.pop(key)


def add(calls, chance, _pool):
    if calls:
        chance.choice(calls)[1]["note"] = chance.choice([None, "", 0, [], "urgent"])


EDITS = (remove, repeat, exchange, insert, borrow, borrow, replace, replace, replace, forget, rename, add)


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
        return chance.choice([-value, value + 1, value * 10, float(value), str(value), 0, 10**20, None])
    if isinstance(value, str):
        other = ["", f" {value}", value.upper(), value.lower(), value[::-1], value[:-1], value * 2, f"{value}é"]
        return chance.choice([*other, "\ud83d", "東京", "0", "None", "it's", 'a "b"', None])
    return chance.choice(["", 0, []])
