"""What dies in a function so large that references are dropped by calls: who looks at the frame, and who ends the unit, while it does."""

import sys

log = []


class Loud:
    """Notes the line at which the frame that drops it stands."""

    def __init__(self, name):
        self.name = name

    def __del__(self):
        log.append((self.name, sys._getframe(1).f_lineno, sys._getframe(1).f_code.co_name))


class Changing(Loud):
    """Changes a class that compiled code relies on."""

    def __del__(self):
        super().__del__()
        Point.limit = Point.limit + 1


class Tracing(Loud):
    """Lets the debugger in."""

    def __del__(self):
        super().__del__()
        sys.settrace(lambda *what: None)
        sys.settrace(None)


class Raising(Loud):
    """Raises where nobody can catch it."""

    def __del__(self):
        super().__del__()
        raise ValueError(self.name)


class Point:
    limit = 10

    def __init__(self):
        self.x = self.y = None
        self.seen = []


def taken(objects):
    return objects.pop() if objects else None


def make(n):
    lines = ["def large(p, objects, t):", " a = b = c = d = None"]
    for i in range(n):
        lines += [
            f" a, b = t[{i % 3}], objects.pop() if objects else None",
            " p.x = b",
            " b = None",
            " p.x = p.limit",
            " c, d = objects.pop() if objects else None, a",
            " p.y, c = c, p.y",
            " p.y = d",
            # Two die in one instruction, and the unit ends with either: the limit is read anew.
            " c, d = taken(objects), taken(objects)",
            " c, d = t[1], t[1]",
            " p.seen.append(p.limit)",
            f" if p.limit > 10000: a = {i}",
            " if c is p: del a; a = 1",
        ]
    lines.append(" return a, d, p.x, p.limit, p.seen")
    space = {"taken": taken}
    exec("\n".join(lines), space)
    return space["large"]


def objects(kinds, n):
    return [kinds[i % len(kinds)](f"{kinds[i % len(kinds)].__name__}{i}") for i in range(n)]


unraisable = []
sys.unraisablehook = lambda hook: unraisable.append(str(hook.exc_value))

# Of the first, the first object that is not a string dies together with a string, before that.
KINDS = [[str, str, Changing, str], [Loud], [str], [str, Loud], [Loud, Changing], [Tracing, str], [Raising, Loud], [Loud, Changing, Tracing, Raising]]

for n in (40, 3):
    large = make(n)
    for turn in range(60):
        large(Point(), [None] * (turn % 4), (1, "two", 3.0))
    for kinds in KINDS:
        for turn in range(3):
            things = objects(kinds, 30)
            print(n, large(Point(), things, (1, "two", (3, turn))), len(things))
            print(log, unraisable)
            log.clear()
            unraisable.clear()
            Point.limit = 10
