"""Operators on user classes: forward, reflected, in place, NotImplemented, unary, comparison; classes that change mid-loop."""


class V:
    def __init__(self, x, y):
        self.x = x
        self.y = y

    def __add__(self, o):
        return V(self.x + o.x, self.y + o.y) if isinstance(o, V) else NotImplemented

    def __mul__(self, k):
        return V(self.x * k, self.y * k)

    __rmul__ = __mul__

    def __iadd__(self, o):
        self.x += o.x
        self.y += o.y
        return self

    def __neg__(self):
        return V(-self.x, -self.y)

    def __eq__(self, o):
        return self.x == o.x and self.y == o.y

    def __hash__(self):
        return hash((self.x, self.y))

    def __repr__(self):
        return f"V({self.x}, {self.y})"

    def __matmul__(self, o):
        return self.x * o.x + self.y * o.y

    def __bool__(self):
        return bool(self.x or self.y)

    def __lt__(self, o):
        return self.x < o.x


class R:
    def __radd__(self, o):
        return ("radd", o)

    def __rsub__(self, o):
        return NotImplemented

    def __rlshift__(self, o):
        raise OverflowError("never")


class Sub(V):
    def __radd__(self, o):
        return "subclass first"


def total(vectors):
    s = V(0, 0)
    for v in vectors:
        s = s + v * 2
    return s


def in_place(n):
    s = t = V(0, 0.5)
    for i in range(n):
        s += V(i, 1)
    return s, s is t


def dots(a, b, n):
    s = 0
    for i in range(n):
        s += a @ b
        a = -a if i % 2 else a
    return s


def generic(values):
    s = values[0]
    for v in values[1:]:
        s = s + v
    return s


print(total([V(i, 0.5) for i in range(300)]), in_place(350), dots(V(1, 2), V(3, 4), 301), 3 * V(1, 2), V(1, 2) + Sub(1, 2))
print(generic([1] * 300 + [R()]), generic(["a"] * 300), generic([[1]] * 5), generic([V(1, 1)] * 301), sorted([V(3, 0), V(1, 0)]))
print(bool(V(0, 0)), V(1, 2) == V(1, 2), V(1, 2) != V(1, 3), len({V(1, 2), V(1, 2)}))
for f in (lambda: V(1, 2) + 1, lambda: 1 + V(1, 2), lambda: 1 - R(), lambda: 1 << R(), lambda: ~V(1, 2), lambda: V(1, 2) > 1,
          lambda: generic([1] * 300 + [V(1, 1)]), lambda: V(1, 2) ** 2, lambda: V(1, 2) @ 3):
    try:
        print(f())
    except (TypeError, OverflowError, AttributeError) as error:
        print(type(error).__name__, error)


def changes(n):
    out = []
    v = V(1, 1)
    for i in range(n):
        r = v + v
        if i == 350:
            V.__add__ = lambda self, o: "patched"
        if i == 360:
            del V.__add__
        if i > 348 and i % 6 == 0:
            out.append(r)
    return out


try:
    print(changes(400))
except TypeError as error:
    print(error)


class Seq:
    def __len__(self):
        return 3

    def __getitem__(self, i):
        if i > 5:
            raise IndexError
        return i

    def __iadd__(self, o):
        return NotImplemented

    def __contains__(self, o):
        return o == "in"

    def __call__(self, *a):
        return a

    def __int__(self):
        return 42

    def __index__(self):
        return 2


s = Seq()
print(len(s), list(s), "in" in s, 5 in s, s(1, 2), int(s), [10, 20, 30][s], bin(s), "ab" * s)
try:
    s += 1
except TypeError as error:
    print(error)
