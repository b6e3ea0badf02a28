"""Small functions whose code stands in their callers': what they do where it is left, and that nobody can tell."""

import gc
import sys
import traceback


class Point:
    def __init__(self, x, y):
        self.x = x
        self.y = y

    def get(self):
        return self.x

    def plus(self, k):
        return self.x + k

    def dot(self, other):
        return self.x * other.x + self.y * other.y

    @property
    def first(self):
        return self.x


def square(a):
    return a * a


def raised(a, by=3):
    return square(a) + by


def caller(p, n):
    total = 0
    for i in range(n):
        total += p.get() + p.plus(i) + square(i) + raised(i) + p.dot(p) + p.first
    return total


def each(items):
    total = 0
    for item in items:
        total = total + raised(item)
    return total


def waits(items):
    for item in items:
        yield raised(item)


class Loud:
    """Leaves the inlined code in the middle, and looks at the frames there."""

    def __init__(self, name):
        self.name = name

    def __mul__(self, other):
        names, frame = [], sys._getframe(1)
        while frame is not None and len(names) < 3:
            names.append((frame.f_code.co_name, frame.f_lineno - frame.f_code.co_firstlineno, sorted(frame.f_locals)))
            frame = frame.f_back
        print(self.name, names)
        return 7


class Bad:
    def __mul__(self, other):
        raise KeyError("bad")


def deep(n):
    global reached
    reached = n
    square(n)
    deep(n + 1)


def deep_within(n):
    global reached
    reached = n
    deep_within(square(1) + n)


def limits():
    for f in deep, deep_within:
        found = set()
        for _ in range(3):
            try:
                f(0)
            except RecursionError as error:
                found.add(reached - len(traceback.extract_tb(error.__traceback__)))
        print(f.__name__, found)


def traced(f, *args):
    lines = []

    def trace(frame, event, arg):
        if frame.f_code.co_name in ("square", "raised"):
            lines.append((frame.f_code.co_name, event))
        return trace

    sys.settrace(trace)
    try:
        f(*args)
    finally:
        sys.settrace(None)
    return lines


def starts_tracing(n, lines):
    total = 0
    for i in range(n):
        if i == n - 2:
            sys.setprofile(lambda frame, event, arg: lines.append((frame.f_code.co_name, event)))
        total += square(i)
    sys.setprofile(None)
    return total


def local_events():
    monitoring, seen = sys.monitoring, []
    monitoring.use_tool_id(1, "test")
    try:
        monitoring.register_callback(1, monitoring.events.PY_START, lambda code, offset: seen.append(code.co_name))
        monitoring.set_local_events(1, square.__code__, monitoring.events.PY_START)
        each([1, 2])
        monitoring.set_local_events(1, square.__code__, 0)
        each([1, 2])
    finally:
        monitoring.register_callback(1, monitoring.events.PY_START, None)
        monitoring.free_tool_id(1)
    print("told of", seen)


def changes():
    global square
    print(each([1, 2, 3]))
    before = square.__code__
    square.__code__ = (lambda a: a + 100).__code__
    print(each([1, 2, 3]))
    square.__code__ = before
    print(each([1, 2, 3]))
    raised.__defaults__ = (50,)
    print(each([1, 2, 3]))
    raised.__defaults__ = (3,)
    old, square = square, lambda a: -a
    print(each([1, 2, 3]))
    square = old
    print(each([1, 2, 3]))


class Changes:
    """Changes the function while what it is inlined into runs."""

    def __init__(self, code):
        self.code = code

    def __mul__(self, other):
        square.__code__ = self.code
        return 1000


def main():
    p = Point(1, 2.5)
    for _ in range(4):
        print(caller(p, 400))
    for _ in range(60):
        each([1, 2, 3, 4, 5])
        list(waits([1, 2, 3, 4, 5]))
    print(each(list(range(2000))))
    print(list(waits([1, 2, 3])))
    print(each([1, 2**40, 2**70, 1.5, True]))
    print(each([1, Loud("in a loop"), 2]))
    print(list(waits([1, Loud("in a generator"), 2])))
    for items in ([1, "text"], [Bad()], [1, None, 2]):
        for f in (each, lambda items: list(waits(items))):
            try:
                f(items)
            except Exception as error:
                print(type(error).__name__, error)
                for frame, line in traceback.walk_tb(error.__traceback__):
                    print("   ", frame.f_code.co_name, line - frame.f_code.co_firstlineno, sorted(frame.f_locals))
    try:
        caller(Point(1, "y"), 3)
    except TypeError as error:
        print(error)
    try:
        caller(Point("x", 1), 3)
    except TypeError as error:
        print(error)
    limits()
    print(traced(each, [1, 2]))
    for _ in range(40):
        starts_tracing(10, [])
    lines = []
    print(starts_tracing(10, lines), lines)
    local_events()
    changes()
    code = square.__code__
    print(each([1, Changes((lambda a: a - 1).__code__), 5]))
    square.__code__ = code
    counted = [object() for _ in range(3)]
    before = [sys.getrefcount(o) for o in counted]
    for _ in range(50):
        for o in counted:
            try:
                raised(o)
            except TypeError:
                pass
            keeps(o)
    gc.collect()
    print([sys.getrefcount(o) for o in counted] == before)


def same(o):
    return o


def second(a, b):
    return b


def keeps(o):
    return same(second(same(o), o)) is o


main()
