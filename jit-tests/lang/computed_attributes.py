"""Attributes that Python functions compute: `__getattr__`, `__get__`, `__set__`, `enum` members."""

import enum
import sys
import traceback


class Fallback:
    def __init__(self):
        self.own = 1

    def __getattr__(self, name):
        if name.startswith("no"):
            raise AttributeError(name)
        if name == "fails":
            raise ValueError(name)
        return len(name) + self.own


class Proxy:
    __slots__ = ("target",)

    def __init__(self, target):
        self.target = target

    def __getattr__(self, name):
        return getattr(self.target, name)


class Doubled:
    """A data descriptor."""

    def __init__(self, name):
        self.name = name

    def __get__(self, obj, cls=None):
        if obj is None:
            return self
        return obj.__dict__[self.name] * 2

    def __set__(self, obj, value):
        if value < 0:
            raise AttributeError("negative")
        obj.__dict__[self.name] = value


class Lazy:
    """A descriptor that the instance's own attribute hides."""

    def __init__(self, function):
        self.function = function

    def __get__(self, obj, cls):
        return self.function(obj), cls.__name__


class Things:
    x = Doubled("x")
    missing = Doubled("nothing")

    def __init__(self, x):
        self.x = x

    @Lazy
    def lazy(self):
        return self.x + 1


class Color(enum.Enum):
    RED = 1
    GREEN = 2


def fallback(thing, n):
    total = 0
    for _ in range(n):
        total += thing.absent + thing.own
    return total


def delegate(proxy, n):
    total = 0
    for i in range(n):
        total += proxy.bit_length() + proxy.numerator
    return total


def described(things, n):
    total = 0
    for i in range(n):
        things.x = i
        total += things.x
    return total


def lazily(things, n):
    seen = set()
    for _ in range(n):
        seen.add(things.lazy)
    return sorted(seen)


def members(n):
    total = 0
    for _ in range(n):
        for member in (Color.RED, Color.GREEN):
            total += member.value + len(member.name)
    return total


for n in (3, 200, 2000):
    print(fallback(Fallback(), n), delegate(Proxy(n), n), described(Things(1), n))
    print(lazily(Things(2), n), members(n))


def shown(function, *args):
    try:
        return function(*args)
    except Exception as e:
        entries = traceback.extract_tb(e.__traceback__)
        where = [(entry.name, entry.line) for entry in entries]
        name, obj = getattr(e, "name", "-"), type(getattr(e, "obj", "-")).__name__
        return type(e).__name__, str(e), name, obj, where


def load_none(thing):
    return thing.nothing


def load_fails(thing):
    return thing.fails


def caught(thing, n):
    names = []
    for _ in range(n):
        try:
            thing.nothing
        except AttributeError as e:
            names.append((e.name, e.obj is thing))
    return set(names)


def method_missing(thing):
    return thing.nothing()


def store_negative(things):
    things.x = -1


def get_missing(things):
    return things.missing


thing, things = Fallback(), Things(5)
for _ in range(300):
    results = (
        shown(load_none, thing),
        shown(load_fails, thing),
        shown(method_missing, thing),
        shown(store_negative, things),
        shown(get_missing, things),
    )
print(*results, caught(thing, 400), sep="\n")


# The error keeps a name that it has.
class Named:
    def __getattr__(self, name):
        raise AttributeError("mine", name="other", obj=None)


for _ in range(300):
    result = shown(load_none, Named())
print(result)


# What a plan relies on changes.
def absent(thing):
    return thing.absent


def lazy(things):
    return things.lazy


for _ in range(400):
    absent(thing), lazy(things)
print(absent(thing), lazy(things))
thing.absent = "own"
print(absent(thing), absent(Fallback()))
del thing.absent
print(absent(thing))
Fallback.absent = "of the class"
print(absent(thing))
del Fallback.absent
old = Fallback.__getattr__
Fallback.__getattr__ = lambda self, name: "another"
print(absent(thing))
Fallback.__getattr__ = old
Fallback.__getattribute__ = lambda self, name: "always"
print(absent(thing))
del Fallback.__getattribute__
print(absent(thing))
del Fallback.__getattr__
print(shown(absent, thing))
Fallback.__getattr__ = old
things.lazy = "hides it"
print(lazy(things), lazy(Things(1)))
del things.lazy
Lazy.__get__, kept = (lambda self, obj, cls: "changed"), Lazy.__get__
print(lazy(things))
Lazy.__get__ = kept
Lazy.__set__ = lambda self, obj, value: None
things.__dict__["lazy"] = "does not hide it"
print(lazy(things))
del Lazy.__set__
print(lazy(things))
del things.__dict__["lazy"]
thing.__class__ = Named
print(shown(absent, thing))


# The function sees its caller's frame, and may change what is loaded from.
class Watching:
    def __getattr__(self, name):
        frame = sys._getframe(1)
        return frame.f_code.co_name, frame.f_lineno - frame.f_code.co_firstlineno, name


def watched(w):
    a = w.first
    return a, w.second


for _ in range(300):
    result = watched(Watching())
print(result)


class Last:
    """The caller has the only reference."""

    def __getattr__(self, name):
        return [name]

    def __del__(self):
        ended.append(1)


def temporary(n):
    found = None
    for _ in range(n):
        found = Last().name
    return found


ended = []
print(temporary(400), len(ended))


# Getters of a property that is loaded through super, and its errors.
class Base:
    @property
    def total(self):
        if self.x < 0:
            raise AttributeError("no total")
        return self.x


class Derived(Base):
    def __init__(self, x):
        self.x = x

    @property
    def total(self):
        return super().total + 1


def totals(n):
    return sum(Derived(i).total for i in range(n))


def bad_total(x):
    return Derived(x).total


print(totals(10), totals(2000))
for _ in range(300):
    result = shown(bad_total, -1)
print(result)
