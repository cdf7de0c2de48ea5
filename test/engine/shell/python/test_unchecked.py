"""Rows of tau2 that hold what their types refuse. Run with `python -m unittest`, by unchecked.test.ts."""

import sys
import types
import unittest
from pathlib import Path
from typing import Annotated

sys.path.insert(0, str(Path(__file__).parents[4] / "src" / "engine" / "bridge"))


class Misfit(ValueError):
    def error_count(self):
        return int(str(self))


class TypeAdapter:
    """As much of pydantic as the adapter uses, which the tests do not install."""

    def __init__(self, kind):
        self.kind = kind

    def validate_python(self, value):
        is_model = hasattr(self.kind, "model_fields")
        if not isinstance(value, dict if is_model else self.kind if isinstance(self.kind, type) else ()):
            raise Misfit(1)
        if not is_model:
            return value
        wrong = len(set(value) ^ set(self.kind.model_fields))
        for name, field in self.kind.model_fields.items():
            try:
                TypeAdapter(field.annotation).validate_python(value.get(name))
            except Misfit as misfit:
                wrong += misfit.error_count()
        if wrong:
            raise Misfit(wrong)
        return self.kind.model_construct(**value)


sys.modules["pydantic"] = types.SimpleNamespace(TypeAdapter=TypeAdapter)

from rehearsal.adapters.tau2 import revived, validator_of


class Model:
    @classmethod
    def model_construct(cls, **members):
        made = cls()
        vars(made).update(members)
        return made

    def __repr__(self):
        return f"{type(self).__name__}({', '.join(f'{key}={value!r}' for key, value in vars(self).items())})"


def model(name, **hints):
    fields = {key: types.SimpleNamespace(annotation=hint) for key, hint in hints.items()}
    return type(name, (Model,), {"model_fields": fields})


Card = model("Card", number=int)
Voucher = model("Voucher", code=str, value=int)
Order = model("Order", status=str, cards=dict[str, Card], paid=Annotated[Card | Voucher, "by"], notes=list[Card])

FITS = {"status": "open", "cards": {}, "paid": {"number": 1}, "notes": []}
ROWS = [
    (Card, {"number": 7}, "Card(number=7)"),
    (Card, {"number": "seven"}, "Card(number='seven')"),
    (Card, "a text", "'a text'"),
    (Order, {**FITS, "status": None}, "Order(status=None, cards={}, paid=Card(number=1), notes=[])"),
    (
        Order,
        {**FITS, "cards": {"a": {"number": None}}},
        "Order(status='open', cards={'a': Card(number=None)}, paid=Card(number=1), notes=[])",
    ),
    (
        Order,
        {**FITS, "paid": {"code": "x", "value": "y"}, "notes": [{"number": 1}, 5]},
        "Order(status='open', cards={}, paid=Voucher(code='x', value='y'), notes=[Card(number=1), 5])",
    ),
]


class Unchecked(unittest.TestCase):
    def test_a_value_that_a_tool_stored_unchecked_stays_as_it_is(self):
        for kind, value, expected in ROWS:
            with self.subTest(value=value):
                self.assertEqual(repr(revived(kind, validator_of(kind), value)), expected)


if __name__ == "__main__":
    unittest.main()
