"""Annotations in hot functions: of locals (not evaluated), attributes and items (evaluated), parameters, generics, `type` statements."""

from support import each, hot

evaluated = []


def note(x):
    evaluated.append(x)
    return x


def local(n):
    evaluated.clear()
    x: note("never") = n
    y: undefined_name
    (z): note("never either") = x + 1
    try:
        y
    except UnboundLocalError as error:
        return x, z, str(error), list(evaluated)


class Box:
    pass


def targets(n):
    evaluated.clear()
    b = Box()
    d = {}
    b.attr: note("attribute") = note(n)
    d[note("key")]: note("item") = 2
    note(b).other: note("alone")
    try:
        b.missing: undefined_name = 1
    except NameError as error:
        return b.attr, d, str(error), [x for x in evaluated if x is not b]


def made(n):
    evaluated.clear()
    def f(a: note("a"), b: note("b") = note("default"), *c: note("c"), d: "text" = n, **e: note("e")) -> note("return"):
        return a
    return sorted(f.__annotations__), list(evaluated), f(1), f.__kwdefaults__


def generic[T, *Ts, **P](x: T, n: int = 2) -> list[T]:
    return [x] * n


class Stack[T: (int, str)]:
    def __init__(self):
        self.items: list[T] = []

    def push(self, x: T) -> "Stack[T]":
        self.items.append(x)
        return self

    def convert[U](self, f, to: U = None) -> U:
        return [f(x) for x in self.items], U.__name__, T.__constraints__


def stacked(n):
    s = Stack[int]()
    for i in range(n):
        s.push(i)
    return s.convert(str), Stack.__type_params__[0].__name__, Stack[int].__args__


def aliased(n):
    type Alias[K] = dict[K, note("lazy")]
    evaluated.clear()
    before = list(evaluated)
    value = Alias.__value__
    return before, list(evaluated), str(value.__args__[1]), Alias.__name__, n


hot(local, 1)
hot(targets, 5)
hot(made, 3)
each(generic, (1,), ("a", 3), (None, 0), (1, "x"))
print([p.__name__ for p in generic.__type_params__], generic.__annotations__["n"])
hot(stacked, 3)
hot(aliased, 1)
