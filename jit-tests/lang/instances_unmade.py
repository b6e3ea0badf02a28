"""Instances that only compiled code can see, where it is left, and what can tell that they are not made."""

import gc
import sys
import weakref


class Vec:
    def __init__(self, x, y):
        self.x = x
        self.y = y

    def __add__(self, other):
        return Vec(self.x + other.x, self.y + other.y)

    def __sub__(self, other):
        return Vec(self.x - other.x, self.y - other.y)

    def scale(self, t):
        return Vec(self.x * t, self.y * t)

    def dot(self, other):
        return self.x * other.x + self.y * other.y


class Slotted:
    __slots__ = ("second", "first")

    def __init__(self, first, second):
        self.first = first
        self.second = second


class MoreSlots(Slotted):
    __slots__ = ("third",)

    def __init__(self, first, second):
        self.third = first
        self.first = second
        self.second = first


class Segment:
    def __init__(self, a, b):
        self.b = b
        self.a = a

    def length2(self):
        d = self.b - self.a
        return d.dot(d)


class Token:
    """Says when it goes."""

    def __init__(self, name):
        self.name = name

    def __del__(self):
        print("gone", self.name)


class Holder:
    def __init__(self, a, b, c):
        self.c = c
        self.a = a
        self.b = b


class Counter:
    step = 1

    def __init__(self):
        self.n = 0

    def bump(self):
        self.n = self.n + self.step
        return self


class Half:
    def __init__(self, x, y):
        self.x = x
        self.y = x / y


class Branchy:
    def __init__(self, x):
        if x > 5:
            self.big = x
        else:
            self.small = x

    def value(self, x):
        return self.big if x > 5 else self.small


def expression(n, a, b, c):
    s = 0.0
    t = 0.5
    for i in range(n):
        s += (a + b).dot(c.scale(t))
        t += 0.25
    return s


def locals_in_a_row(a, b, t):
    d = a - b
    e = d.scale(t)
    return e.dot(d) + d.x


def nested(a, b):
    return Segment(a + b, b.scale(2.0)).length2()


def ints_of_any_size(n, x):
    total = 0
    for i in range(n):
        total += Vec(x, i).dot(Vec(i, 2))
    return total


def slotted(n):
    total = 0
    for i in range(n):
        total += Slotted(i, 2).second + MoreSlots(i, 3).third
    return total


def assigned_again(n):
    total = 0
    for i in range(n):
        total += Counter().bump().bump().n
    return total


def half(n, ys):
    got = []
    for i in range(n):
        try:
            got.append(Half(i, ys[i % len(ys)]).y)
        except ZeroDivisionError as e:
            frame = e.__traceback__.tb_next.tb_frame
            got.append(sorted(vars(frame.f_locals["self"]).items()))
            del frame
    return got


def branches(n):
    return [Branchy(i).value(i) for i in range(n)]


def drops(name):
    h = Holder(Token(name + " a"), Token(name + " b"), Token(name + " c"))
    print("made", h.a.name)
    h = None
    print("after")


def drops_at_the_end(name):
    h = Holder(1, Token(name + " b"), Token(name + " c"))
    return h.a + 1


def replaces(name):
    h = Holder(Token(name + " a"), 2, 3)
    h.a = 5
    print("replaced")
    return h.a + h.b


def identity(a, b):
    v = Vec(a, b)
    w = Vec(a, b)
    return v is v, v is w, v == w, v is None, bool(v), type(v) is Vec, isinstance(v, Vec)


def shown(a, look):
    v = Vec(a, 2)
    look()
    v.x = v.x + 1
    return v.x


def shown_from_stack(a, look):
    v = Vec(a, 2)
    return v.dot(Vec(look() or 1, v.x)) + v.y


def escapes_at_last(a, keep):
    v = Vec(a, 1)
    v.x = v.x + 1
    if a % 7 == 3:
        keep.append(v)
    return v.x


def no_memory_of(name):
    v = Vec(name, 1)
    return v.missing if name == 40 else v.x


def main():
    a, b, c = Vec(1.0, 2.0), Vec(3.0, 4.0), Vec(0.5, 0.25)
    for _ in range(3):
        print(expression(60, a, b, c))
    print([locals_in_a_row(Vec(i, 1), b, 0.5) for i in range(60)][-1])
    print([nested(a, b) for i in range(60)][-1])
    print(ints_of_any_size(80, 3), ints_of_any_size(80, 3 << 62), ints_of_any_size(50, 0.5))
    print(slotted(90), assigned_again(90))
    got = half(90, [1, 2, 4])
    print(got[-3:], half(8, [1, 0])[:4])
    print(branches(60)[-2:])

    for i in range(50):
        drops(f"{i}")
        drops_at_the_end(f"{i}")
        replaces(f"{i}")
    print({identity(i, i) for i in range(60)})

    def nothing():
        pass

    def look():
        frame = sys._getframe(1)
        seen.append({k: vars(v) for k, v in frame.f_locals.items() if isinstance(v, Vec)})

    def change():
        sys._getframe(1).f_locals["v"].x = 100

    def collect():
        gc.collect()

    seen = []
    for f in shown, shown_from_stack:
        for _ in range(60):
            f(1, nothing)
        print([f(i, g) for i, g in enumerate((look, change, collect, nothing))])
    print(seen)
    keep = []
    print(sum(escapes_at_last(i, keep) for i in range(70)), [vars(v) for v in keep])
    try:
        print(sum(no_memory_of(i) for i in range(60)))
    except AttributeError as e:
        print(e)

    # Whatever the class becomes, the next instance is one of it.
    print(expression(40, a, b, c))
    Vec.dot = lambda self, other: (sorted(vars(self)), sorted(vars(other)))[0][0] == "x" and 1
    print(expression(40, a, b, c))
    del Vec.dot
    Vec.dot = lambda self, other: self.x
    print(expression(40, a, b, c))
    deaths = []
    Vec.__del__ = lambda self: deaths.append(self.x)
    print(expression(3, a, b, c), deaths)
    print(expression(60, a, b, c), len(deaths))
    del Vec.__del__
    refs = []
    old = Vec.__init__

    def noting(self, x, y):
        old(self, x, y)
        refs.append(weakref.ref(self, lambda r: deaths.append("ref")))

    Vec.__init__ = noting
    deaths.clear()
    print(expression(50, a, b, c), len(refs), len(deaths))
    Vec.__init__ = old
    Vec.__setattr__ = lambda self, name, value: object.__setattr__(self, name, value + 1)
    print(expression(50, a, b, c))
    del Vec.__setattr__
    Vec.x = property(lambda self: 7.0, lambda self, value: None)
    print(expression(50, a, b, c))
    del Vec.x
    Vec.__getattribute__ = lambda self, name: object.__getattribute__(self, name)
    print(expression(50, a, b, c))
    del Vec.__getattribute__
    Vec.__slots__ = ()
    print(expression(50, a, b, c))


main()
