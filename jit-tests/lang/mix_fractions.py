"""A numeric class of the program's own with the whole protocol, mixed with ints and floats in loops, sums, powers, comparisons and sorting."""

from math import gcd

from support import each, hot


class Fraction:
    __slots__ = ("n", "d")

    def __init__(self, n, d=1):
        if d == 0:
            raise ZeroDivisionError(f"Fraction({n}, 0)")
        if d < 0:
            n, d = -n, -d
        g = gcd(n, d)
        self.n, self.d = n // g, d // g

    def _other(self, other):
        if isinstance(other, Fraction):
            return other
        return Fraction(other) if isinstance(other, int) else None

    def __add__(self, other):
        if isinstance(other, float):
            return float(self) + other
        o = self._other(other)
        return NotImplemented if o is None else Fraction(self.n * o.d + o.n * self.d, self.d * o.d)

    __radd__ = __add__

    def __neg__(self):
        return Fraction(-self.n, self.d)

    def __sub__(self, other):
        return self + -other

    def __rsub__(self, other):
        return -self + other

    def __mul__(self, other):
        o = self._other(other)
        return NotImplemented if o is None else Fraction(self.n * o.n, self.d * o.d)

    __rmul__ = __mul__

    def __truediv__(self, other):
        o = self._other(other)
        return NotImplemented if o is None else Fraction(self.n * o.d, self.d * o.n)

    def __rtruediv__(self, other):
        return Fraction(other) / self

    def __pow__(self, k):
        return Fraction(self.n ** k, self.d ** k) if k >= 0 else Fraction(self.d ** -k, self.n ** -k)

    def __eq__(self, other):
        o = self._other(other)
        return NotImplemented if o is None else (self.n, self.d) == (o.n, o.d)

    def __lt__(self, other):
        o = self._other(other)
        return NotImplemented if o is None else self.n * o.d < o.n * self.d

    def __hash__(self):
        return hash((self.n, self.d)) if self.d != 1 else hash(self.n)

    def __float__(self):
        return self.n / self.d

    def __bool__(self):
        return self.n != 0

    def __repr__(self):
        return f"{self.n}/{self.d}"


def harmonic(n):
    s = Fraction(0)
    for i in range(1, n + 1):
        s = s + Fraction(1, i)
        s += 0
    return s


def mixed(a, b):
    return a + b, a - b, b - a, a * b, a == b, a < b, a > b


def divided(a, b):
    return a / b, b / a


def solved(a, b, c, d, e, f):
    """Two equations by elimination."""
    det = a * d - b * c
    return (e * d - b * f) / det, (a * f - e * c) / det


def sorting(items):
    return sorted(items), min(items), sum(items), {x: i for i, x in enumerate(items)}, max(items, key=float)


F = Fraction
each(harmonic, (10,), (40,), (0,))
each(mixed, (F(1, 2), F(1, 3)), (F(1, 2), 1), (F(3), 3), (F(1, 2), 0.5), (F(1, 2), "x"), (2, F(1, 2)), (F(2**70, 3), F(1, 2**65)), (True, F(1, 2)))
each(divided, (F(1, 2), F(2, 3)), (F(1, 2), 2), (F(0), 1), (F(1), 1.5))
each(solved, (F(1), F(2), F(3), F(4), F(5), F(6)), (1, 2, 3, 4, F(5), 6), (F(1), F(2), F(2), F(4), 1, 2), (1.0, 2, 3, 4, 5, 6))
each(sorting, ([F(1, 2), F(1, 3), F(2, 4), F(3)],), ([F(1), 1, True],), ([F(1), 2.5],), ([F(1, 2), "x"],))
each(lambda x, k: x ** k, (F(2, 3), 5), (F(2, 3), -2), (F(0), -1), (F(1, 2), 0.5), (F(1, 2), "k"))
