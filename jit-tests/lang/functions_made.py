"""Functions that hot code makes anew at each call: their arguments, cells, changes and ends."""

import sys
import weakref


def plain(n):
    def inner(a, b=2, *rest, c=3, **more):
        return a, b, rest, c, sorted(more.items()), n

    return inner(1), inner(1, 5, 6, c=7, d=n), inner(*range(4), **{"e": 1})


def defaults(n):
    def inner(a=n, *, b=[n]):
        b.append(a)
        return list(b)

    return inner(), inner(3), inner(b=[]), inner.__defaults__, inner.__kwdefaults__


def cells(n):
    total = 0

    def add(k):
        nonlocal total
        total += k
        return total

    return [add(i) for i in range(n)], total, add.__closure__[0].cell_contents


def recursive(n):
    def fact(k):
        return 1 if k < 2 else k * fact(k - 1)

    return fact(n)


def other_code(n):
    def one(x):
        return "one", x

    def two(x):
        return "two", x

    before = one(n)
    one.__code__ = two.__code__
    after = one(n)
    two.__defaults__ = (9,)
    return before, after, two(), two(n)


def ends(n):
    def inner():
        return n

    gone = []
    ref = weakref.ref(inner, lambda r: gone.append(n))
    count = sys.getrefcount(inner)
    value = inner()
    same = sys.getrefcount(inner) == count
    del inner
    return value, same, gone, ref() is None


def never_called(n):
    made = [lambda: n for _ in range(3)]
    return len(made), made[0].__name__, made[0].__code__ is made[1].__code__


def in_another_namespace(n):
    space = {"n": n, "__builtins__": {"len": lambda x: "other"}}
    code = (lambda: (n, len([]))).__code__
    make = type(plain)
    outer = compile("def f():\n def g(): return n, len([])\n return g(), g()", "<made>", "exec")
    exec(outer, space)
    first = space["f"]()
    space["n"] = -n
    return first, space["f"](), make(code, {"n": 0, "len": lambda x: "global"}, closure=tuple([cell(n)]))()


def cell(n):
    return (lambda: n).__closure__[0]


def raising(n):
    def inner(k):
        return k // (k - k)

    try:
        inner(n)
    except ZeroDivisionError as e:
        tb = e.__traceback__.tb_next
        return tb.tb_frame.f_code.co_name, tb.tb_lineno - inner.__code__.co_firstlineno, tb.tb_frame.f_locals
    finally:
        del inner


def wrong(n):
    def inner(a, /, b, *, c):
        return a

    out = []
    for call in (lambda: inner(), lambda: inner(1, 2), lambda: inner(1, 2, 3, c=1), lambda: inner(a=1, b=2, c=3), lambda: inner(1, b=1, c=2)):
        try:
            out.append(call())
        except TypeError as e:
            out.append(str(e))
    return out


def generators(n):
    def count(k):
        while k:
            yield k
            k -= 1

    return list(count(n)), sum(x for x in count(n)), next(count(2))


def classes(n):
    class Made:
        size = n

        def get(self):
            return self.size, __class__ is Made

        @staticmethod
        def other():
            return n

        @property
        def twice(self):
            return 2 * self.size

    made = Made()
    return made.get(), Made.other(), made.twice


def global_instance():
    """A global that nobody may hold longer than the program does."""
    return MARK, MARK is globals()["MARK"]


class Mark:
    def __init__(self, n):
        self.n = n

    def __repr__(self):
        return f"Mark({self.n})"

    def __del__(self):
        print("  end of", self)


def rebinds_global(n):
    global MARK
    out = []
    for i in range(n):
        MARK = Mark(i)
        out.append(repr(global_instance()))
        if i % 40 == 39:
            for k in range(200):
                globals()[f"filler_{i}_{k}"] = k
    del MARK
    try:
        global_instance()
    except NameError as e:
        out.append(str(e))
    globals()["MARK"] = Mark("again")
    out.append(repr(global_instance()))
    del globals()["MARK"]
    return out[-3:]


def main():
    for f in (plain, defaults, cells, recursive, other_code, ends, never_called, in_another_namespace, raising, wrong, generators, classes):
        for i in range(45):
            result = f(i % 9 + 1)
        print(f.__name__, result)
    print(rebinds_global(90))


main()
