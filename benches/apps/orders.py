"""A report on orders: dataclasses, properties, Decimal, dates, grouping, sorting, JSON."""

import dataclasses
import datetime
import json
from collections import Counter, defaultdict
from decimal import Decimal


@dataclasses.dataclass(frozen=True, order=True)
class Product:
    code: str
    price: Decimal
    weight: float


@dataclasses.dataclass
class Line:
    product: Product
    count: int

    @property
    def price(self):
        return self.product.price * self.count


@dataclasses.dataclass
class Order:
    number: int
    customer: str
    placed: datetime.date
    lines: list = dataclasses.field(default_factory=list)
    state: str = "open"

    def total(self):
        whole = sum((line.price for line in self.lines), Decimal(0))
        return whole * Decimal("0.95") if len(self.lines) > 4 else whole

    def weight(self):
        return sum(line.product.weight * line.count for line in self.lines)

    def advance(self, today):
        age = (today - self.placed).days
        if self.state == "open" and age > 3:
            self.state = "sent" if self.weight() < 40 else "freight"
        elif self.state != "open" and age > 300:
            self.state = "closed"


PRODUCTS = [Product(f"P{n:03}", Decimal(n * 7 % 90 + 1) + Decimal("0.99"), n % 13 + 0.5) for n in range(60)]
START = datetime.date(2023, 1, 1)


def made(count):
    for number in range(count):
        order = Order(number, f"customer {number * 11 % 43}", START + datetime.timedelta(days=number * 5 % 365))
        for k in range(number % 7 + 1):
            order.lines.append(Line(PRODUCTS[(number * 3 + k * k) % len(PRODUCTS)], k % 3 + 1))
        yield order


def work():
    orders = list(made(700))
    for day in (100, 364):
        for order in orders:
            order.advance(START + datetime.timedelta(days=day))
    by_customer = defaultdict(list)
    sold = Counter()
    for order in orders:
        by_customer[order.customer].append(order)
        for line in order.lines:
            sold[line.product] += line.count
    report = [
        {"customer": customer, "orders": len(some), "total": str(sum(order.total() for order in some)),
         "last": max(order.placed for order in some).isoformat(), "states": dict(Counter(order.state for order in some))}
        for customer, some in sorted(by_customer.items(), key=lambda pair: -sum(order.weight() for order in pair[1]))]
    best = [dataclasses.asdict(product) | {"sold": count} for product, count in sorted(sold.items(), key=lambda pair: (-pair[1], pair[0]))[:15]]
    open_ones = [dataclasses.asdict(order) for order in orders if order.state == "freight"][:25]
    return json.dumps([report, best, open_ones], default=str)
