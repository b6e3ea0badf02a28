"""Unary operators and conversions of users' objects: -, +, ~, abs, int, float, complex, index, round, floor, trunc, with wrong returns."""

import math

from support import each


def kind(name, **methods):
    def method(result):
        def m(self, *args):
            if isinstance(result, Exception):
                raise result
            return (result, args) if args else result
        return m
    return type(name, (), {f"__{k}__": method(v) for k, v in methods.items()} | {"__repr__": lambda self: name})()


class IntSub(int):
    pass


class FloatSub(float):
    def __neg__(self):
        return "neg"


full = kind("full", neg="n", pos="p", invert="i", abs="a", int=3, float=1.5, complex=2j, round="r", floor="f", ceil="c", trunc="t", bool=False, hash=5, str="s", repr="rr", bytes=b"b")
values = [full, kind("index", index=7), kind("bad", neg=NotImplemented, int="x", float=1, index=1.5, complex=1, round=None, hash="h", str=5, bytes="b"),
          kind("fails", neg=LookupError("neg"), int=OSError("int"), float=ArithmeticError("float"), index=KeyError("index"), abs=ValueError("abs"), round=IndexError("round")),
          kind("subs", int=IntSub(4), index=True, float=FloatSub(2.5)), kind("none"), 5, -2.5, True, IntSub(3), FloatSub(1.5), 3 + 4j, 2**70, float("inf"), float("nan"), "12", " -7 ", "x", b"9", None, -0.0]


def unary(x, how):
    if how == 0:
        return -x
    if how == 1:
        return +x
    if how == 2:
        return ~x
    if how == 3:
        return not x
    if how == 4:
        return abs(x)
    if how == 5:
        return - -x


def convert(x, how):
    if how == 0:
        return int(x)
    if how == 1:
        return float(x)
    if how == 2:
        return complex(x)
    if how == 3:
        return round(x)
    if how == 4:
        return round(x, 1)
    if how == 5:
        return math.floor(x), math.ceil(x), math.trunc(x)
    if how == 6:
        return [10, 20, 30, 40, 50, 60, 70, 80][x]
    if how == 7:
        return range(x)
    if how == 8:
        return hash(x) if not isinstance(x, (float, str, bytes)) and x is not None and type(x).__hash__ is not object.__hash__ else 0
    if how == 9:
        return str(x), bytes(x) if type(x).__name__ in ("full", "bad") else b""
    if how == 10:
        return bin(x), hex(x)


for how in range(6):
    each(unary, *[(x, how) for x in values], times=31)
for how in range(11):
    each(convert, *[(x, how) for x in values], times=31)
