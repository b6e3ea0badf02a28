"""match against mappings: keys, rest, values nested, user mappings and their get, default dicts untouched, duplicate keys, subclasses."""

import collections
import types
from collections.abc import Mapping

from support import each, hot


class User(Mapping):
    def __init__(self, items, fail=None):
        self.items_, self.fail, self.log = items, fail, []

    def __getitem__(self, key):
        self.log.append(("item", key))
        return self.items_[key]

    def get(self, key, default=None):
        self.log.append(("get", key))
        if key == self.fail:
            raise OSError("get")
        return self.items_.get(key, default)

    def __iter__(self):
        self.log.append("iter")
        return iter(self.items_)

    def __len__(self):
        self.log.append("len")
        return len(self.items_)

    def __repr__(self):
        log, self.log = self.log, []
        return f"User{log}"


KEY = types.SimpleNamespace(name="dynamic", unhashable=[])


def shape(x):
    match x:
        case {"kind": "point", "x": int(a), "y": b}:
            return "point", a, b
        case {"kind": k, **rest} if rest:
            return k, rest
        case {1: "one" | "uno", None: _}:
            return "one and None"
        case {"deep": {"list": [first, *_]}}:
            return "deep", first
        case {KEY.name: v}:
            return "dynamic", v
        case {}:
            return "any mapping", len(x)
    return "no mapping"


def wrong(x):
    match x:
        case {KEY.unhashable: 1}:
            return 1
    return 2


def duplicate(x):
    match x:
        case {"dynamic": 1, KEY.name: 1}:
            return 1
    return 2


def untouched():
    d = collections.defaultdict(list, a=1)
    return shape(d), len(d), d


each(shape, *[(x,) for x in ({"kind": "point", "x": 1, "y": 2}, {"kind": "point", "x": 1.0, "y": 2}, {"kind": "k"}, {1: "uno", None: 2, 3: 4}, {1.0: "one", None: 0},
                             {"deep": {"list": "ab"}}, {"deep": {"list": (1, 2)}}, {"dynamic": []}, {}, [], None, "kind", collections.OrderedDict(kind=1, z=2),
                             types.MappingProxyType({"dynamic": 5}), collections.Counter("ab"), collections.ChainMap({"dynamic": 1}))])
users = [User({"kind": "point", "x": 1, "y": 2}), User({}), User({"kind": 1, "o": 2}), User({}, "kind"), User({}, "dynamic")]
each(lambda x: (shape(x), x), *[(x,) for x in users[:3]])
each(shape, *[(x,) for x in users[3:]])
each(wrong, ({},), ({1: 1},), (5,))
each(duplicate, ({"dynamic": 1},), ({},), (5,))
hot(untouched)
