"""What 3.14 has brought to the language: template strings, annotations that are made late, `except` without parentheses, and what compiles
to other instructions since. Earlier versions, which cannot read it, run nothing."""

import sys

SOURCE = '''
import annotationlib
from string.templatelib import Interpolation, Template


def template(name, n):
    made = t"a {name!r:>8} b {n + 1:{n}} {{c}} {name=}"
    parts = [part if isinstance(part, str) else (part.value, part.expression, part.conversion, part.format_spec) for part in made]
    return parts, made.strings, made.values


def plain(n):
    return t"{n}".interpolations[0].value, t"".strings, t"x{n}y{n}z".strings


def failing(n):
    try:
        return t"{n} {1 // n}"
    except ZeroDivisionError as error:
        return str(error), error.__traceback__.tb_lineno


def joined(template):
    return "".join(part if isinstance(part, str) else format(part.value, part.format_spec) for part in template)


def annotated(limit):
    def inner(a: undefined_name[limit], b: "text" = 2) -> limit:
        return a, b
    forward = annotationlib.get_annotations(inner, format=annotationlib.Format.STRING)
    try:
        inner.__annotations__
    except NameError as error:
        missing = str(error)
    return inner(1), forward, missing, inner.__annotate__ is not None


def classes(limit):
    class Point:
        x: int = limit
        y: list[limit]

        def __init__(self, x: float):
            self.x = x
    return Point.__annotations__, Point(limit).x


def several(n):
    try:
        if n % 3 == 0:
            raise KeyError(n)
        if n % 3 == 1:
            raise ValueError(n)
        return n
    except KeyError, ValueError:
        return -n


def groups(n):
    seen = []
    try:
        raise ExceptionGroup("g", [KeyError(n), ValueError(n), TypeError(n)])
    except* (KeyError, ValueError) as group:
        seen.append([type(error).__name__ for error in group.exceptions])
    except* TypeError as group:
        seen.append(len(group.exceptions))
    return seen


class Manager:
    def __init__(self, log):
        self.log = log

    def __enter__(self):
        self.log.append("in")
        return self

    def __exit__(self, *error):
        self.log.append(error[0] and error[0].__name__)
        return error[0] is KeyError


class Half:
    def __enter__(self):
        return self


class Other:
    async def __aenter__(self):
        return self

    async def __aexit__(self, *error):
        return False


def managed(n):
    log = []
    with Manager(log) as one, Manager(log):
        log.append(one is not None)
        if n % 2:
            raise KeyError(n)
    for broken in (Half, Other, int):
        try:
            with broken() as x:
                log.append(x)
        except TypeError as error:
            log.append(str(error))
    return log


def inlined(items):
    return all(x for x in items), any(x > 2 for x in items), tuple(x + 1 for x in items)


def common(n):
    assert n >= 0, "negative"
    return 0 < n < 255, n + 255, [n] * 3, -5 + n, n - 256


def spread(*args, **names):
    return args, sorted(names)


def calls(n):
    items, names = [n, n + 1], {"a": n}
    return spread(*items), spread(*items, **names), spread(**names, b=1), spread(1, *items, c=2)


def left(n):
    for k in range(n):
        try:
            if k == n - 1:
                break
        finally:
            n += 0
    else:
        return "else"
    return k


def outcome(f, *args):
    try:
        return f(*args)
    except Exception as error:
        return type(error).__name__, str(error)


for round in range(40):
    results = [template("x", 7), plain(round), failing(round % 2), joined(t"{round:03} and {round!s}"), annotated(round), classes(round),
               [several(n) for n in range(round, round + 4)], groups(round), managed(round), inlined([1, round, 3]), outcome(common, round - 1),
               calls(round), left(round)]
    if round in (0, 1, 2, 39):
        for result in results:
            print(round, result)
'''

if sys.version_info >= (3, 14):
    exec(compile(SOURCE, __file__, "exec"), {"__name__": "__main__"})
