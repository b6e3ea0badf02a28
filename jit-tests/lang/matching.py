"""match and walrus: literals, captures, sequences, mappings, classes, guards, or-patterns, and errors of matching."""


class Point:
    __match_args__ = ("x", "y")

    def __init__(self, x, y):
        self.x = x
        self.y = y


class Bad:
    __match_args__ = 5


def kind(v):
    match v:
        case 0 | 1:
            return "bit"
        case int() if v < 0:
            return "negative"
        case bool() | int(_):
            return "int"
        case float(f):
            return f"float {f}"
        case "a" | "b" as s:
            return f"letter {s}"
        case str():
            return "text"
        case []:
            return "empty"
        case [x]:
            return f"one {x}"
        case [x, *rest] if len(rest) > 3:
            return f"many {x} {len(rest)}"
        case (x, y) | (x, y, _):
            return f"pair {x} {y}"
        case {"k": value, **more}:
            return f"map {value} {sorted(more)}"
        case {}:
            return "mapping"
        case Point(0, y=0):
            return "origin"
        case Point(x=x, y=y) if x == y:
            return f"diagonal {x}"
        case Point(x, y):
            return f"point {x} {y}"
        case None:
            return "none"
        case _:
            return type(v).__name__


def run(program):
    stack = []
    for op in program:
        match op:
            case ("push", n):
                stack.append(n)
            case ("add",):
                stack.append(stack.pop() + stack.pop())
            case ("mul",):
                stack.append(stack.pop() * stack.pop())
            case ("dup",):
                stack.append(stack[-1])
            case ("drop", *_):
                stack.pop()
            case other:
                raise SyntaxError(f"unknown {other}")
    return stack


VALUES = [0, 1, True, -5, 7, 2.5, "a", "zzz", [], [1], (1, 2), [1, 2, 3], [1, 2, 3, 4, 5], {"k": 1, "z": 2}, {"q": 1}, Point(0, 0),
          Point(2, 2), Point(1, 2), None, {1, 2}, b"x", 2**70]
for v in VALUES:
    print(kind(v), end="; ")
print()
tally = {}
for i in range(600):
    k = kind(VALUES[i % len(VALUES)])
    tally[k] = tally.get(k, 0) + 1
print(sorted(tally.items()))
print(run([("push", 1)] + [("push", 2), ("add",)] * 200), run([("push", 2), ("dup",), ("mul",)] * 100)[-1], run([("push", 1.5), ("drop", 0)]))
for program in ([("push", 1)] * 300 + [("jump",)], [("add",)], [("push", "a"), ("push", 1), ("add",)]):
    try:
        run(program)
    except (SyntaxError, IndexError, TypeError) as error:
        print(type(error).__name__, error, error.__traceback__.tb_next.tb_lineno)


def bad_class(v, cls):
    match v:
        case cls(1):
            return 1


for cls in (Bad, int, Point):
    try:
        print(bad_class(cls() if cls is not Point else Point(1, 2), cls))
    except TypeError as error:
        print(error)


def walrus(n):
    total = 0
    i = 0
    while (k := i * 3 % 7) != 6 or i < n:
        total += k
        i += 1
        if (m := k) > 5 and (total := total + m) and i > n:
            break
    return total, i, k, m


print(walrus(400))
