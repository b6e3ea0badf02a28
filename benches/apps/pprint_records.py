"""Nested records, shown by pprint in narrow lines."""

import collections
import dataclasses
import pprint
import types


@dataclasses.dataclass
class Sensor:
    name: str
    values: list
    limits: tuple = (0.5, 99.5)
    parent: object = None


def record(n):
    return {
        "name": f"record number {n}", "flags": {k * 10 for k in range(n % 6)}, "sensor": Sensor(f"s{n}", list(range(n % 17))),
        "counts": collections.Counter("abracadabra"[n % 5:]), "deep": [[[{"n": n, "text": "a long text of several words, " * (n % 4)}]]],
        "bytes": bytes(range(n, n + 40)), "queue": collections.deque([n, None, True], maxlen=5),
        "space": types.SimpleNamespace(x=n, y=-n, label=f"point {n}"), ("tuple", n): (1.5 * n,),
    }


RECORDS = [record(n) for n in range(60)]


def work():
    return pprint.pformat(RECORDS, width=72, compact=True)
