"""Dict views: set operators on keys and items, membership, reversal, mapping, changes seen through them, comparisons, unhashable items."""

from support import each, hot


class Dict(dict):
    pass


def shown(x):
    return sorted(x, key=str) if isinstance(x, (set, frozenset)) else x


def keys(d, other):
    k = d.keys()
    return shown(k & other), shown(k | other), shown(k - other), shown(k ^ other), shown(other & k) if isinstance(other, set) else None, k.isdisjoint(other)


def items(d, other):
    i = d.items()
    return shown(i & other), shown(i - other), i == set(other), ("a", 1) in i, ("a",) in i, 5 in i, ("zz", 1) in i


def compared(a, b):
    return a.keys() == b.keys(), a.keys() <= b.keys(), a.keys() < b.keys(), a.items() >= b.items(), a.values() == b.values(), a.keys() == 5


def live(n):
    d = {}
    k, v, i = d.keys(), d.values(), d.items()
    seen = []
    for j in range(n):
        d[j] = j * j
        seen.append((len(k), sum(v), list(i)[-1], list(reversed(k))[0], list(reversed(i))[-1]))
    return seen, k.mapping == d, str(k), repr(v), type(i).__name__


def loops(d):
    total = ""
    for k in d.keys():
        total += str(k)
    for v in d.values():
        total += str(v)
    for k, v in d.items():
        total += f"{k}={v};"
    for k, v in reversed(d.items()):
        total += f"{k}"
    return total, [*d], max(d.values(), default=None), dict(zip(d.values(), d.keys()))


def changed_size(d, how):
    for k in getattr(d, how)():
        d[len(d) + 100] = 1
        if len(d) > 50:
            return "grew"


def swapped(d):
    seen = []
    for k, v in d.items():
        seen.append(k)
        del d[k]
        d[k] = v
        if len(seen) > 20:
            break
    return seen


each(keys, ({"a": 1, "b": 2}, {"b", "c"}), ({1: 2}, [1, 5]), ({}, ()), ({"a": 1}, 5), ({"a": 1}, "abc"), (Dict(x=1), {"x": 2}.keys()), ({"a": 1}, [[]]))
each(items, ({"a": 1}, [("a", 1), ("b", 2)]), ({"a": []}, []), ({"a": 1.0}, {("a", 1)}), ({}, []), ({"a": []}, [("a", 1)]))
each(compared, ({"a": 1}, {"a": 1}), ({"a": 1}, {"a": 2, "b": 3}), ({}, {}), ({"a": []}, {"a": []}))
hot(live, 3)
each(loops, ({"a": 1, "b": 2},), ({},), ({1: [], 2: {}},))
each(lambda how: changed_size({1: 2, 3: 4}, how), ("keys",), ("values",), ("items",))
hot(lambda: swapped({1: 2, 3: 4}))
