"""Attributes: instance values, slots, properties, class attributes, __getattr__, changes mid-loop, deletes, errors."""


class Point:
    kind = "point"
    shared = 10

    def __init__(self, x, y):
        self.x = x
        self.y = y

    @property
    def norm(self):
        return self.x * self.x + self.y * self.y


class Slotted:
    __slots__ = ("x", "y")

    def __init__(self, x, y):
        self.x = x
        self.y = y


class Dynamic:
    def __getattr__(self, name):
        if name.startswith("v"):
            return int(name[1:])
        raise AttributeError(f"nothing called {name}")

    def __setattr__(self, name, value):
        if name == "locked":
            raise AttributeError("locked")
        object.__setattr__(self, name, value * 2)


class Always:
    def __getattribute__(self, name):
        return name


def sum_x(p, n):
    s = 0
    for _ in range(n):
        s += p.x
    return s


def walk(p, n):
    for i in range(n):
        p.x += 1
        p.y = p.x - i
    return p.x, p.y


def shared(p, n, change_at):
    s = 0
    for i in range(n):
        s += p.shared
        if i == change_at:
            Point.shared = 1.5
        if i == change_at + 5:
            p.shared = -1
    return s


def norms(points):
    s = 0
    for p in points:
        s += p.norm
    return s


def many(objects):
    s = 0
    for o in objects:
        s += o.x
    return s


def grows(n):
    """An object that outgrows its inline values."""
    p = Point(1, 2)
    for i in range(n):
        if i % 13 == 0:
            setattr(p, f"extra{i}", i)
        p.x += 1
    return p.x, len(vars(p))


def deletes(p, n):
    seen = 0
    for i in range(n):
        if i == n - 5:
            del p.x
        try:
            seen += p.x
        except AttributeError as error:
            p.x = 1000
            print(type(error).__name__, error, error.name)
    return seen


print(sum_x(Point(1, 2), 400), sum_x(Point(0.5, 2), 400), sum_x(Slotted(3, 0), 400), walk(Point(0, 0), 400), walk(Slotted(0.0, 0), 400))
print(shared(Point(0, 0), 400, 380), norms([Point(i, 0.5) for i in range(400)]))
print(many([Point(i, 0) for i in range(200)] + [Slotted(i, 0) for i in range(200)] + [type("T", (), {"x": 0.5})() for _ in range(5)]))
print(grows(400), deletes(Point(1, 1), 400))
d = Dynamic()
d.q = 4
print(d.v12, d.q, sum(d.v3 for _ in range(300)), Always().anything)
SWAP = Point(1, 1)


def swaps(n):
    s = 0
    for i in range(n):
        s += SWAP.x
        if i == 380:
            SWAP.__class__ = Other
        if i == 390:
            SWAP.__dict__ = {"x": 50}
    return s


class Other:
    @property
    def x(self):
        return 1000


print(swaps(385))
Other.x = property(lambda self: self.__dict__["x"] * 2)
print(swaps(400))


def class_changes(p, n):
    s = 0
    for i in range(n):
        s += p.norm
        if i == 350:
            Point.norm = 7
    return s


print(class_changes(Point(1, 1), 400))
del Point.norm
bad = [(lambda: sum_x(5, 1)), (lambda: Point(1, 2).norm), (lambda: d.other), (lambda: Slotted.__new__(Slotted).x), (lambda: walk((), 2)),
       (lambda: setattr(d, "locked", 1)), (lambda: setattr(Slotted(1, 2), "z", 1)), (lambda: sum_x(Point("s", 1), 3)), (lambda: None.x)]
for f in bad:
    try:
        print(f())
    except (AttributeError, TypeError) as error:
        print(type(error).__name__, error)
p = Point(1, 2)
p.__dict__["x"] = "via dict"
print(p.x, vars(p), p.kind, Point.kind, hasattr(p, "nope"), getattr(p, "nope", "default"))
p.kind = "own"
del p.kind
print(p.kind)
try:
    del p.kind
except AttributeError as error:
    print(error)
