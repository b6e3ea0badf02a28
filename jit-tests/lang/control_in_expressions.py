"""and, or, not, conditional and comparison expressions in every position, with values kept, effects skipped, and errors on each side."""

from support import each, hot

log = []


def note(x):
    log.append(x)
    if isinstance(x, Exception):
        raise x
    return x


def values(a, b, c):
    log.clear()
    return (note(a) and note(b) or note(c)), (note(a) or note(b) and note(c)), (note(b) if note(a) else note(c)), (not note(a) or note(b)), list(log)


def chain(a, b, c, d):
    log.clear()
    return note(a) < note(b) <= note(c) != note(d), (note(a) == note(b) == note(c)), list(log)


def nested(a, b):
    x = (a if b else (b or (a and 1))) if (a or b) else ("neither" if not b else "b")
    y = [a and b, a or b][bool(a)] if a is not b else (a, b)
    return x, y, (a and (b and (a or b))), (a or (b or (a and b)))


def conditions(a, b, c):
    out = []
    if a and b:
        out.append("and")
    elif a or c:
        out.append("or")
    if not (a and (b or c)):
        out.append("nand")
    if a if b else c:
        out.append("if")
    while a and not out:
        break
    else:
        out.append("else")
    if (a and b) or (b and c) or (c and a):
        out.append("two")
    if a is None or b is None:
        out.append("none")
    if a in (b, c) and a not in (None,):
        out.append("in")
    return out


def arguments(a, b):
    return max(a or 1, b or 2), [a or "x", b and "y"], {a or "k": b or "v"}, f"{a or 'empty'}{'!' if b else ''}", (lambda q=a or 5: q)(), "abc"[a or 0:b or None]


def default(d, k):
    return d.get(k) or "missing", d[k] if k in d else None, (k in d and d[k]) or 0, not d, d and k


def branches(n):
    counts = [0, 0, 0, 0]
    for i in range(n):
        counts[0 if i % 2 else 1 if i % 3 else 2 if i % 5 else 3] += 1
        i % 7 or counts.append(i) if i > n - 9 else None
    return counts


class Truth:
    def __init__(self, *answers):
        self.answers = list(answers)

    def __bool__(self):
        answer = self.answers.pop(0)
        if answer is None:
            raise ArithmeticError("truth")
        return answer

    def __repr__(self):
        return f"T{self.answers}"


sides = (0, 1, "", "t", None, 2.5, [], [0])
each(values, *[(a, b, c) for a in (0, "t") for b in ("", 2.5) for c in (None, [1])], (ValueError("a"), 1, 2), (1, ValueError("b"), 2), (0, 1, ValueError("c")), times=32)
each(chain, (1, 2, 3, 4), (2, 1, 3, 4), (1, 1, 1, 1), (1, "a", 2, 3), (1.5, 2, 2, 2), (0, 1, ValueError("c"), 2), (float("nan"), 1, 1, 1), times=32)
each(nested, *[(a, b) for a in sides for b in sides[:5]], times=31)
each(conditions, *[(a, b, c) for a in (0, 1, None) for b in ("", "t") for c in (0.0, [1])], times=31)
each(arguments, (0, 0), (1, 2), (2, 3), (None, 1.5), ("s", "t"), times=32)
each(default, ({"a": 1}, "a"), ({"a": 0}, "a"), ({}, "a"), ({"b": 2}, "a"), ({}, []), times=32)
each(branches, (30,), (100,), (0,))
hot(lambda: [x and 1 for x in (Truth(True), Truth(False))][0])
hot(lambda: (1 if Truth(True) else 2, bool(Truth(False)), not Truth(True)))
hot(lambda: Truth(None) or 1)
hot(lambda: (t := Truth(True, False, True), t and t and t, t or 5)[2] == 5)
