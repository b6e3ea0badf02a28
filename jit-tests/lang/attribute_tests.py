"""`hasattr` and `getattr` with a constant name, of objects of one and of several classes."""


class Plain:
    kind = "plain"

    def __init__(self, x):
        self.x = x

    def method(self):
        return 1

    @property
    def prop(self):
        if self.x == 0:
            raise AttributeError("none")
        return self.x


class Slots:
    __slots__ = ("x", "z")
    kind = "slots"


class Empty:
    pass


class Hooked:
    def __getattr__(self, name):
        if name == "y":
            return "hook"
        raise AttributeError(name)


def has_x(items, n):
    total = 0
    for _ in range(n):
        for item in items:
            if hasattr(item, "x"):
                total += 1
    return total


def get_x(items, n):
    found = []
    for _ in range(n):
        for item in items:
            found.append(getattr(item, "x", None))
    return found[-len(items):]


def get_kind(items, n):
    found = set()
    for _ in range(n):
        for item in items:
            found.add(getattr(item, "kind", "?"))
    return sorted(found)


def several(items, n):
    counts = [0] * 4
    for _ in range(n):
        for item in items:
            counts[0] += hasattr(item, "method")
            counts[1] += hasattr(item, "prop")
            counts[2] += hasattr(item, "y")
            counts[3] += hasattr(item, "real")
    return counts


slots = Slots()
slots.x = 7
items = [Plain(1), slots, 3, "text", Empty(), Hooked(), Plain(0)]
for n in (2, 100, 1000):
    print(has_x(items, n), get_x(items, n), get_kind(items, n), several(items, n))
    print(has_x([Plain(1)], n), has_x([3], n), get_x([Empty()], n), get_kind([slots], n))


# An instance loses it, and another one gets it.
def test_x(item):
    return hasattr(item, "x"), getattr(item, "x", "none")


plain, empty = Plain(1), Empty()
for _ in range(400):
    test_x(plain), test_x(empty), test_x(slots)
del plain.x
empty.x = 2
del slots.x
print(test_x(plain), test_x(empty), test_x(slots), test_x(Empty()), test_x(Plain(3)))
Empty.x = "class"
print(test_x(Empty()))
del Empty.x
print(test_x(Empty()))


def must_have(item):
    return getattr(item, "x")


for _ in range(400):
    must_have(Plain(1))
for item in (Plain(2), Empty(), slots, 5):
    try:
        print(must_have(item))
    except AttributeError as e:
        print(e, e.name, e.obj is item)


# The names mean something else.
def with_names(item):
    return hasattr(item, "x"), getattr(item, "kind", 0)


for _ in range(400):
    with_names(plain)
print(with_names(plain))
hasattr = lambda item, name: (name, "mine")
print(with_names(plain))
del hasattr
print(with_names(plain))


class Noisy:
    def __del__(self):
        print("gone")


def default_dropped(item):
    return getattr(item, "x", Noisy())


for _ in range(3):
    default_dropped(Plain(1))


def loop(n):
    plain, found = Plain(1), 0
    for _ in range(n):
        found += getattr(plain, "x", None) + len(getattr(plain, "kind", ""))
    return found


print(loop(1000))
