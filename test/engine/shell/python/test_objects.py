"""Laws of state that lies in objects: what was written is read again as it was. Run by objects.test.ts."""

import random
import sys
import types
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[4] / "src" / "engine" / "bridge"))

from rehearsal.objects import CountedRandom, data_from, data_of, differing, object_of, rows_of, with_floats
from rehearsal.rows import MISSING


class Node:
    def __init__(self, name="", parent=None):
        self.name = name
        self.parent = parent
        self.contents = {}


class Tree:
    def __init__(self):
        self._here = None
        self._seen = {}


def drawn(numbers: random.Random, depth: int = 3):
    """A value of every kind that can be kept."""
    kind = numbers.randrange(14 if depth > 0 else 9)
    simple = [None, True, 3, 3.0, -0.5, "7", "'a' (b)", 2**60, float("inf")]
    if kind < len(simple):
        return simple[kind]
    items = [drawn(numbers, depth - 1) for _ in range(numbers.randrange(4))]
    if kind == 9:
        return items
    if kind == 10:
        return tuple(items)
    if kind == 11:
        return {numbers.choice([1, 2.0, "1", "$ref", "a/b", "(c)", True, None]): item for item in items}
    if kind == 12:
        return {numbers.randrange(5), "x"}
    return {"list": items}


def shape(value):
    """Something that is equal only where kinds and order are too."""
    if isinstance(value, dict):
        return ["dict", *((shape(key), shape(each)) for key, each in value.items())]
    if isinstance(value, (list, tuple)):
        return [type(value).__name__, *map(shape, value)]
    return (type(value).__name__, sorted(map(repr, value)) if isinstance(value, set) else value)


def through_json(value):
    """As the engine gives it back: its numbers do not tell 5.0 from 5."""
    if isinstance(value, dict):
        return {key: through_json(each) for key, each in value.items()}
    if isinstance(value, list):
        return [through_json(each) for each in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value


class Objects(unittest.TestCase):
    def test_data_comes_back_as_it_was(self):
        for seed in range(500):
            value = drawn(random.Random(seed))
            json, floats = data_of(value, "data")
            self.assertEqual(shape(data_from(through_json(json), floats)), shape(value))

    def test_an_object_comes_back_with_its_places(self):
        sys.modules.setdefault(__name__, types.ModuleType(__name__))
        tree = Tree()
        tree.root = Node("root")
        tree.root.contents["b"] = Node("b", tree.root)
        tree.root.contents["9"] = Node("9", tree.root.contents["b"])
        tree._here = tree.root.contents["9"]
        tree._random = CountedRandom(4)
        tree.numbers = [tree._random.random(), tree._random.randint(1, 10**12), tree._random.uniform(0, 9)]
        rows = rows_of(tree)
        self.assertEqual(rows["_here"], {"$ref": "/root/contents/'9'"})
        self.assertNotIn("_seen", rows)
        again = object_of(Tree, through_json(rows))
        self.assertIs(again._here, again.root.contents["9"])
        self.assertIs(again._here.parent, again.root.contents["b"])
        self.assertEqual(rows_of(again), rows)
        self.assertEqual(again._random.random(), tree._random.random())

    def test_counted_numbers_are_those_of_the_standard_library(self):
        one, other = CountedRandom(11), random.Random(11)
        for _ in range(50):
            self.assertEqual(one.randint(1, 10**15), other.randint(1, 10**15))
            self.assertEqual(one.choice("abcdefg"), other.choice("abcdefg"))
            self.assertEqual(one.random(), other.random())
        self.assertEqual(CountedRandom.at(11, one.drawn).random(), other.random())

    def test_differences_make_the_one_of_the_other(self):
        for seed in range(500):
            numbers = random.Random(seed)
            before, now = ({key: data_of(drawn(numbers), "data")[0] for key in "ab"} for _ in "12")
            made = {"rows": through_json(before)}
            for (*path, last), value in differing({"rows": before}, {"rows": now}, ()):
                at = made
                for key in path:
                    at = at[key]
                if value is MISSING:
                    del at[last]
                else:
                    at[last] = value
            self.assertEqual(shape(through_json(made["rows"])), shape(through_json(now)))

    def test_floats_of_arguments(self):
        given = {"a": 5, "list": [1, {"x/y": 2}]}
        made = with_floats(given, ["/a", "/list/1/x~1y"])
        self.assertEqual(shape(made), shape({"a": 5.0, "list": [1, {"x/y": 2.0}]}))
        self.assertEqual(shape(given), shape({"a": 5, "list": [1, {"x/y": 2}]}))


if __name__ == "__main__":
    unittest.main()
