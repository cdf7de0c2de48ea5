"""An environment as somebody else wrote it: classes, a database of objects, methods as tools."""

from __future__ import annotations

import time
from dataclasses import dataclass, field


@dataclass
class Item:
    name: str
    count: int


@dataclass
class Order:
    customer: str
    items: list[Item] = field(default_factory=list)
    status: str = "open"


@dataclass
class Database:
    orders: dict[str, Order]
    revision: int = 0


class Toolkit:
    def __init__(self, db: Database) -> None:
        self.db = db

    def get_order(self, order_id: str) -> Order:
        """Get an order.

        Args:
            order_id: Number of the order.
        """
        return self._order(order_id)

    def set_count(self, order_id: str, item: str, count: int) -> str:
        """Set how many of an item are ordered."""
        order = self._order(order_id)
        self.db.revision += 1
        for each in order.items:
            if each.name == item:
                each.count = count
                if count < 0:
                    raise ValueError("a count is not negative")
                return "ok"
        raise ValueError(f"there is no {item} in {order_id}")

    def cancel(self, order_id: str) -> str:
        """Cancel an order."""
        del self.db.orders[order_id]
        self.db.revision += 1
        return "cancelled"

    def rest(self, seconds: float) -> str:
        """Take some time."""
        time.sleep(seconds)
        return "rested"

    def assert_is_open(self) -> bool:
        return all(order.status == "open" for order in self.db.orders.values())

    def assert_has_two_chairs(self) -> None:
        assert self.db.orders["W1"].items[0].count == 2, "W1 has not two chairs"

    def _order(self, order_id: str) -> Order:
        if order_id not in self.db.orders:
            raise KeyError(f"there is no order {order_id}")
        return self.db.orders[order_id]


def load() -> Database:
    return Database(
        {
            "W1": Order("C1", [Item("chair", 1)]),
            "W2": Order("C2", [Item("table", 1)]),
        }
    )
