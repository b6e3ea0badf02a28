"""A warehouse simulated event by event: classes with slots and inheritance, a heap, an Enum,
abstract methods, exceptions."""

import abc
import enum
import heapq
import itertools
from dataclasses import dataclass, field


class Kind(enum.Enum):
    ARRIVE = "arrive"
    PICK = "pick"
    BREAK = "break"


class OutOfStock(Exception):
    def __init__(self, item, missing):
        super().__init__(f"{missing} of {item} missing")
        self.missing = missing


@dataclass(order=True)
class Event:
    time: int
    number: int
    kind: Kind = field(compare=False)
    item: str = field(compare=False)
    count: int = field(compare=False, default=1)


class Policy(abc.ABC):
    @abc.abstractmethod
    def order(self, stock): ...


class Fixed(Policy):
    def __init__(self, level, size):
        self.level, self.size = level, size

    def order(self, stock):
        return self.size if stock.here < self.level and not stock.coming else 0


class Adaptive(Fixed):
    def order(self, stock):
        self.level = max(2, (3 * self.level + 2 * stock.missed) // 4)
        return super().order(stock) * (1 + stock.missed // 5)


class Stock:
    __slots__ = ("item", "here", "coming", "missed", "policy")

    def __init__(self, item, policy):
        self.item, self.policy = item, policy
        self.here, self.coming, self.missed = 10, 0, 0

    def take(self, count):
        if count > self.here:
            missing, self.here = count - self.here, 0
            raise OutOfStock(self.item, missing)
        self.here -= count


class Warehouse:
    def __init__(self, items):
        self.stocks = {item: Stock(item, (Fixed if n % 2 else Adaptive)(4 + n % 5, 8)) for n, item in enumerate(items)}
        self.events, self.numbers, self.seed = [], itertools.count(), 12345

    def random(self, limit):
        self.seed = (self.seed * 1103515245 + 12345) & 0x7FFFFFFF
        return (self.seed >> 8) % limit

    def plan(self, time, kind, item, count=1):
        heapq.heappush(self.events, Event(time, next(self.numbers), kind, item, count))

    def run(self, until):
        handlers = {kind: getattr(self, "on_" + kind.value) for kind in Kind}
        while self.events and self.events[0].time < until:
            event = heapq.heappop(self.events)
            handlers[event.kind](event, self.stocks[event.item])

    def on_arrive(self, event, stock):
        stock.here += event.count
        stock.coming -= event.count

    def on_pick(self, event, stock):
        try:
            stock.take(event.count)
        except OutOfStock as error:
            stock.missed += error.missing
        if wanted := stock.policy.order(stock):
            stock.coming += wanted
            self.plan(event.time + 5 + self.random(6), Kind.ARRIVE, stock.item, wanted)
        self.plan(event.time + 1 + self.random(7), Kind.PICK, stock.item, 1 + self.random(4))

    def on_break(self, event, stock):
        stock.here = max(0, stock.here - event.count)
        self.plan(event.time + 40 + self.random(20), Kind.BREAK, stock.item, event.count)


def work():
    house = Warehouse([f"item {n}" for n in range(12)])
    for n, item in enumerate(house.stocks):
        house.plan(n, Kind.PICK, item)
        house.plan(n * 3 + 10, Kind.BREAK, item, 2)
    house.run(900)
    return [(stock.item, stock.here, stock.coming, stock.missed) for stock in house.stocks.values()]
