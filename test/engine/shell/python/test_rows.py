"""Properties of shared rows, against plain copies. Run with `python -m unittest`, by rows.test.ts."""

import copy
import random
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[4] / "src" / "engine" / "bridge"))

from rehearsal.rows import MISSING, Row, Rows, freeze, thaw


def change(table: dict, numbers: random.Random) -> None:
    """One random operation, the same on any dictionary."""
    key = str(numbers.randrange(6))
    kind = numbers.randrange(8)
    if kind == 0:
        table[key] = {"n": numbers.randrange(9), "list": [1]}
    elif kind == 1:
        table.pop(key, None)
    elif kind == 2 and key in table:
        table[key]["n"] = numbers.randrange(9)
    elif kind == 3 and key in table:
        table[key]["list"].append(numbers.randrange(9))
    elif kind == 4:
        table.setdefault(key, {"n": 0, "list": []})
    elif kind == 5:
        for row in table.values():
            row["n"] += 1
    elif kind == 6:
        table.update({key: {"n": 7, "list": []}})
    elif kind == 7 and numbers.random() < 0.2:
        table.clear()


class RowsTest(unittest.TestCase):
    def test_a_table_behaves_like_a_dictionary_and_a_call_can_be_taken_back(self) -> None:
        for seed in range(400):
            numbers = random.Random(seed)
            base = {str(n): {"n": n, "list": [n]} for n in range(4)}
            kept = copy.deepcopy(base)
            table, model = Rows(base, copy.deepcopy), copy.deepcopy(base)
            for _ in range(6):
                before = copy.deepcopy(model)
                for _ in range(numbers.randrange(5)):
                    state = numbers.getstate()
                    change(table, numbers)
                    numbers.setstate(state)
                    change(model, numbers)
                changed = dict(table.changed())
                expected = {
                    (key,): model.get(key, MISSING)
                    for key in before.keys() | model.keys()
                    if before.get(key, MISSING) != model.get(key, MISSING)
                }
                self.assertEqual(changed, expected, seed)
                if numbers.random() < 0.5:
                    table.rollback()
                    model = before
                else:
                    table.commit()
                self.assertEqual(list(table.items()), list(model.items()), seed)
            differing = dict(table.differing(base))
            for key in base.keys() | model.keys():
                if base.get(key, MISSING) != model.get(key, MISSING):
                    self.assertEqual(differing[(key,)], model.get(key, MISSING))
            table.commit()
            self.assertEqual(base, kept, "the shared base was changed")

    def test_frozen_data_can_be_read_and_not_written(self) -> None:
        frozen = freeze({"rows": {"a": {"list": [1, {"x": 2}]}}})
        self.assertEqual(frozen.rows.a.list[1].x, 2)
        for act in (
            lambda: frozen.update(a=1),
            lambda: frozen.rows.a.list.append(1),
            lambda: setattr(frozen.rows, "b", 1),
            lambda: frozen["rows"].pop("a"),
        ):
            with self.assertRaisesRegex(Exception, "a read tool may not write"):
                act()
        self.assertIsInstance(thaw(frozen).rows, Row)
        with self.assertRaisesRegex(AttributeError, "there is no rovs here; there is rows"):
            print(frozen.rovs)


if __name__ == "__main__":
    unittest.main()
