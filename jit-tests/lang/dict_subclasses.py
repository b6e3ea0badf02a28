"""dict's relatives in hot code: defaultdict, Counter, OrderedDict, ChainMap, mapping proxies and subclasses that override parts."""

from collections import ChainMap, Counter, OrderedDict, defaultdict
from types import MappingProxyType

from support import each, hot


class Loud(dict):
    def __getitem__(self, key):
        return "got", dict.get(self, key)

    def __setitem__(self, key, value):
        dict.__setitem__(self, key, (value, "set"))

    def __contains__(self, key):
        return key == "everything"

    def __iter__(self):
        return iter(["iterated"])


def use(d, k):
    out = [k in d, d[k]]
    d[k] = 1
    out += [d[k], len(d), list(d), d.get(k), dict(d), [*d.items()]]
    return out


def grouped(words, factory):
    d = defaultdict(factory)
    for w in words:
        d[len(w)] += (w,) if factory is tuple else 1
    return d, d.default_factory is factory, d.get(99), len(d)


def failing(factory):
    d = defaultdict(factory)
    try:
        d["k"]
    except Exception as error:
        return repr(error), len(d)
    return d


def counted(a, b):
    c, d = Counter(a), Counter(b)
    c.update(b)
    return c.most_common(2), c - d, c & d, c | d, +c, c["absent"], sorted(c.elements()), c.total(), -d


def ordered(n):
    d = OrderedDict((i, i) for i in range(n))
    d.move_to_end(0)
    d.move_to_end(n - 1, last=False)
    return list(d), d.popitem(last=False), list(reversed(d)), d == OrderedDict(d), d == dict(d)


def chained(x):
    c = ChainMap({"a": x}, {"a": 2, "b": 3})
    c["c"] = 4
    inner = c.new_child({"b": 9})
    return inner["a"], inner["b"], sorted(inner), c.maps[0], inner.parents["b"], c["zz"]


def proxied(d):
    p = MappingProxyType(d)
    d["new"] = 1
    try:
        p["x"] = 1
    except TypeError as error:
        return p["new"], len(p), str(error), p | {"y": 2}


each(use, (Loud(a=1), "a"), (Loud(), "everything"))
each(lambda f, k: use(f(), k), (lambda: defaultdict(list, a=1), "q"), (OrderedDict, "q"), (Counter, "q"), (lambda: ChainMap({}), "q"), (dict, "q"))
each(grouped, ("a bb cc ddd".split(), int), ("a bb cc".split(), tuple), ([], int), (["x"], list))
each(failing, (None,), (int,), (lambda: 1 / 0,), (lambda x: x,), (5,))
each(counted, ("hello", "help"), ("", "a"), ([1, 1.0], [2]))
hot(ordered, 4)
hot(chained, 1)
hot(proxied, {"a": 1})
