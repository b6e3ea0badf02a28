"""f-strings: conversions, nesting, self-documenting forms, expressions of every kind in the braces, joined constants, identity of text."""

from support import each, hot


class Shown:
    def __str__(self):
        return "str"

    def __repr__(self):
        return "repr"


class Ascii:
    def __repr__(self):
        return "ä\n"


def conversions(x):
    return f"{x}|{x!s}|{x!r}|{x!a}|{x!r:>12}|{x!s:^9}|"


def documented(x):
    y = [x]
    return f"{x=} {y = } {x + 1 = } {x=!s} {x=:4} {y[0]=!r:<5}|"


def nested(x, width):
    return f"{f'{x}' + f'{f"{x!r}":>{width}}'}{'{'}{'}'}{{}}{{{x}}}"


def expressions(d, i):
    return f"{d['k']} {d["k"]} {[j for j in range(i)]} {(lambda v: v * 2)(i)} {i if i else 'none'} {(w := i + 1)} {w:{w}} { {1: i}[1]} {i!r}"


def text(s):
    return f"{s}" is s, f"{s!s}" is s, f"" "x", f"{s}" f"{s}" "{s}"


def long(items):
    return f"{items[0]}-{items[1]}-{items[2]}-{items[0]}{items[0]}, {len(items)} of {items}" + f"{items[-1]:{items[0]}}"


def multiline(a):
    return f"""{
        a
        + 1
    } and
{a:>5}""", rf"\n{a}\t", f"\x41\N{BULLET}{a}"


each(conversions, (1,), ("a'b",), (None,), (Shown(),), (Ascii(),), (1.5,), (True,), (int,))
each(documented, (1,), (2.5,))
each(nested, (1, 4), ("t", 8), (None, 10))
each(expressions, ({"k": "v"}, 3), ({"k": 0}, 0), ({}, 1))
each(text, ("plain",), ("",), (5,), (Shown(),))
each(long, ([5, 6, 7],), ([1, "x", 2.5],), ([3],))
hot(multiline, 41)
