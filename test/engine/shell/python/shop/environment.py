from typing import Any

import shop
from rehearsal import Environment


class Shop(Environment):
    writes = frozenset({"set_count", "cancel"})

    def load(self) -> shop.Database:
        return shop.load()

    def make(self, db: shop.Database) -> shop.Toolkit:
        return shop.Toolkit(db)

    def set_up(self, toolkit: shop.Toolkit, db: shop.Database, data: Any) -> None:
        for order_id, customer in data["customers"].items():
            db.orders[order_id].customer = customer
