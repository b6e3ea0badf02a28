"""match within loops and handlers: guards with effects, or-patterns and as, names after no match, control flow out of cases, value patterns."""

import enum

from support import each, hot

log = []


class Color(enum.Enum):
    RED = 1
    GREEN = 2


class Value:
    limit = 10

    class Inner:
        name = "deep"


def guard(x, result):
    log.append(x)
    if result is None:
        raise RuntimeError(f"guard {x}")
    return result


def guarded(x, first, second):
    log.clear()
    match x:
        case [a, b] if guard(a, first):
            return "first", a, b, list(log)
        case [a, *_] | {"a": a} if guard(("second", a), second):
            return "second", a, list(log)
        case (1 | 2 as n) | [n]:
            return "as", n
        case _ if guard("last", True):
            return "last", list(log)


def machine(tokens):
    stack, out = [], []
    for token in tokens:
        match token:
            case "push", value:
                stack.append(value)
                continue
            case "pop",:
                try:
                    stack.pop()
                except IndexError:
                    out.append("empty")
                    break
            case "add" | "mul" as op, *args:
                match args:
                    case []:
                        a, b = stack.pop(), stack.pop()
                    case [a, b]:
                        pass
                    case _:
                        raise ValueError(f"{op} of {args}")
                stack.append(a + b if op == "add" else a * b)
            case "return", *what:
                return what, stack
            case other:
                out.append(other)
    else:
        out.append("end")
    return stack, out


def valued(x):
    match x:
        case Color.RED | Color.GREEN:
            return x.name
        case Value.limit:
            return "limit"
        case Value.Inner.name:
            return "name"
        case Value.missing:
            return "never"


def bound(x):
    match x:
        case {"k": captured}:
            pass
        case [captured, 1]:
            pass
    return captured


each(guarded, ([1, 2], True, True), ([1, 2], False, True), ([1, 2], False, False), ([1, 2], None, 0), ({"a": 3}, 0, 1), ({"a": 3}, 0, None), (2, 0, 0), ([5], 0, 0), ("z", 0, 0))
each(machine, ([("push", 1), ("push", 2), ("add",), ("mul", 3, 4)],), ([("pop",)],), ([("return", 1, 2)],), ([("add", 1)],), ([5, ()],), ([("add",)],), ([],))
each(valued, (Color.RED,), (10,), (10.0,), ("deep",), ("x",))
each(bound, ({"k": 1},), ([2, 1],), ([2, 2],), (None,))
hot(machine, [("push", i) for i in range(50)], times=30)
