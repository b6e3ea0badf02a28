"""Small functions with free variables whose code stands in their callers': cells that change, are emptied, and hold what dies."""

import sys
import traceback


class Base:
    def __init__(self, start):
        self.start = start

    def value(self, k):
        return self.start + k


class Derived(Base):
    def value(self, k):
        return super().value(k) + 1

    def name(self):
        return __class__.__name__


class Further(Derived):
    def value(self, k):
        return super().value(k) * 2


def total(d, n):
    total = 0
    for i in range(n):
        total += d.value(i)
    return total


def names(d, n):
    found = ""
    for _ in range(n):
        found = d.name()
    return found


def adder(by):
    def add(x):
        return x + by

    def change(to):
        nonlocal by
        by = to

    def forget():
        nonlocal by
        del by

    return add, change, forget


add, change, forget = adder(3)


def added(n):
    total = 0
    for i in range(n):
        total += add(i)
    return total


def caught(n):
    found = []
    for i in range(n):
        try:
            found.append(add(i))
        except NameError as error:
            found.append((str(error), [(f.name, f.lineno) for f in traceback.extract_tb(error.__traceback__)]))
    return found


class Loud:
    """Looks at the frames where the inlined code leaves."""

    def __init__(self, what):
        self.what = what

    def __radd__(self, other):
        frame = sys._getframe(1)
        print("radd", self.what, frame.f_code.co_name, sorted(frame.f_locals), frame.f_back.f_code.co_name)
        return other

    def __del__(self):
        print("gone", self.what)


def main():
    d, f = Derived(5), Further(6)
    for _ in range(3):
        print(total(d, 700), total(f, 700), names(d, 300), names(f, 300))
    # Not what the inlined code expects: a float, a big int, something that adds itself.
    for start in (1.5, 1 << 70, Loud("start"), "text"):
        d.start = start
        try:
            print(total(d, 3))
        except TypeError as error:
            print(error)
    d.start = 5
    del start
    # The cell of `__class__` holds another class.
    cell = Derived.value.__closure__[0]
    for held in (Further, Base, int, Derived):
        cell.cell_contents = held
        try:
            print(held.__name__, total(f, 50))
        except (AttributeError, TypeError, RecursionError) as error:
            print(held.__name__, type(error).__name__, error)
    del cell.cell_contents
    try:
        print(total(f, 50))
    except NameError as error:
        print(error, len(traceback.extract_tb(error.__traceback__)))
    cell.cell_contents = Derived
    print(total(f, 50))

    for _ in range(3):
        print(added(700))
    change(4)
    print(added(700))
    change(0.5)
    print(added(700))
    change(Loud("by"))
    print(added(3))
    change(5)
    print(added(700))
    print(caught(2))
    forget()
    print(caught(2))
    change(6)
    print(caught(2), added(700))

    # The function is another one, with another closure.
    global add
    add = adder(100)[0]
    print(added(700))
    add = adder(Loud("in a closure"))[0]
    print(added(2))
    add = len
    print("end")


main()
