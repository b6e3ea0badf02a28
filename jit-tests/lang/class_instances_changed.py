"""Objects whose dict, class and attributes change under hot code: __dict__ replaced, __class__ assigned, many shapes, setattr, deleted fields."""

from support import each, hot


class A:
    kind = "A"

    def __init__(self, n):
        self.n = n

    def get(self):
        return self.n


class B:
    kind = "B"

    def get(self):
        return "B", self.__dict__.get("n")


class Dict(dict):
    """A dict of its own class as an instance's."""


def read(o):
    return o.kind, o.n, o.get()


def replaced(n):
    o = A(1)
    out = []
    for i in range(n):
        if i == n - 6:
            o.__dict__ = {"n": "new dict"}
        if i == n - 5:
            o.__dict__ = Dict(n="own dict", kind="instance")
        if i == n - 4:
            o.__dict__.clear()
        if i == n - 3:
            o.n = 5
        if i == n - 2:
            o.__class__ = B
        if i == n - 1:
            del o.__dict__
        try:
            out.append(read(o))
        except AttributeError as error:
            out.append(str(error))
    return out[-7:]


def shapes(n):
    objects = []
    for i in range(8):
        o = A(i)
        for k in range(i):
            setattr(o, f"extra{k}", k)
        if i % 2:
            del o.n
            o.n = -i
        objects.append(o)
    s = 0
    for i in range(n):
        s += objects[i % 8].n
        objects[i % 8].n += 1
    return s, [list(o.__dict__)[-1] for o in objects]


def through_dict(n):
    o = A(0)
    d = o.__dict__
    for i in range(n):
        d["n"] += i
        o.n += 1
        d[f"k{i % 40}"] = i
    del d["k3"]
    return o.n, len(d), hasattr(o, "k3"), o.k4


def deleted(n):
    o = A(1)
    out = []
    for i in range(n):
        if i % 3 == 2:
            del o.n
        try:
            out.append(o.n)
        except AttributeError:
            out.append("gone")
            o.n = i
    return out


def not_keys(o):
    o.__dict__[5] = "five"
    o.__dict__["with space"] = 1
    return getattr(o, "with space"), sorted(map(str, o.__dict__))


def wrong(o, value):
    o.__dict__ = value
    return o.__dict__


def wrong_class(o, kind):
    o.__class__ = kind
    return o.kind


hot(replaced, 60, times=3)
hot(shapes, 100, times=20)
hot(through_dict, 60, times=20)
hot(deleted, 9)
hot(lambda: not_keys(A(1)))
each(lambda v: wrong(A(1), v), ({"z": 1},), (5,), (None,), ([],))
each(lambda k: wrong_class(A(1), k), (B,), (int,), (5,), (dict,), (A,))
