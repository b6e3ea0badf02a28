"""dict: every method and operator with present and absent keys, defaults, order kept, merging, updates from all that can, and errors."""

from support import each, hot


class Missing(dict):
    def __missing__(self, key):
        if key == "raise":
            raise LookupError("missing")
        return "made", key


class Keys:
    def keys(self):
        return ["x", "y"]

    def __getitem__(self, key):
        return key * 2


def reads(d, k):
    return d.get(k), d.get(k, "no"), k in d, k not in d, list(d), len(d), d.setdefault(k, "set"), d[k], list(d.items())


def item(d, k):
    return d[k]


def pops(d, k):
    d = dict(d)
    out = [d.pop(k, "default"), d.pop(k, None), d.popitem() if d else None]
    d.clear()
    try:
        d.popitem()
    except KeyError as error:
        out.append(str(error))
    out.append(d.pop(k))
    return out


def merges(a, b):
    c = dict(a)
    c |= b
    return a | b, c, {**a, **b, "z": 0}


def updates(other, **more):
    d = {"x": 0}
    d.update(other, **more)
    return d


def order(n):
    d = {i: -i for i in range(n)}
    del d[1]
    d[1] = "back"
    d[2] = "kept"
    first = next(iter(d))
    return list(d.items()), list(reversed(d)), first, d == dict(reversed(list(d.items()))), str(d)


def built(pairs):
    return dict(pairs), dict(pairs, k=1), dict.fromkeys(p[0] for p in pairs), {k: v for k, v in pairs}


def counts(words):
    d = {}
    for w in words:
        d[w] = d.get(w, 0) + 1
    e = {}
    for w in words:
        e.setdefault(len(w), []).append(w)
    return d, e


each(lambda d, k: reads(dict(d), k), ({"a": 1}, "a"), ({"a": 1}, "b"), ({1: 2}, 1.0), ({}, None), ({(1, 2): 3}, (1, 2)), ({}, []))
each(item, ({"a": 1}, "a"), ({"a": 1}, "b"), ({}, (1, 2)), (Missing(), "k"), (Missing(), "raise"), (Missing(a=1), "a"), ({1: "one"}, True), ({}, {}), ([], "a"))
each(pops, ({"a": 1, "b": 2}, "a"), ({}, 1), ({1: 2}, 3), ({}, []))
each(merges, ({"a": 1}, {"a": 2, "b": 3}), ({}, {}), ({1: 2}, Missing(q=1)), ({1: 2}, [(3, 4)]), (Missing(a=1), {"b": 2}), ({1: 1}, 5))
each(updates, ({"y": 1},), ([("k", 1), ("x", 2)],), (Keys(),), (5,), ([1],), ([(1, 2, 3)],), ("ab",), ([[[], 1]],), (None,))
hot(order, 4)
each(built, ([("a", 1), ("b", 2)],), ([],), ([(1, 2)],), (["ab", "cd"],), ([([], 1)],))
each(counts, ("the cat the dog".split(),), (["a"] * 50,), ([],), ([1],))
