"""Sums of several strings: of all kinds and lengths, empty ones, which add no object, other classes in their place, and sums that
raise behind their first part."""

import sys


class Odd(str):
    def __add__(self, other):
        return "odd " + str.__add__(self, other)

    def __radd__(self, other):
        return "radd " + other


def plain(n):
    total = 0
    a, b = "ab", "cde"
    for i in range(n):
        s = a + "-" + b + ":" + a
        t = a + b + s
        total += len(s) + len(t) + (s + t + a == t)
    return total, s, t


PARTS = ["", "a", "é", "€", "\U0001f600", "longer text", "\x00", "ÿ" * 20]


def kinds(n):
    out = []
    for i in range(n):
        for a in PARTS:
            for b in PARTS:
                c = PARTS[i % len(PARTS)]
                out.append(a + b + c + "." + a)
    text = "".join(out[-512:])
    return len(text), [text.count(part) for part in PARTS[1:]], text[-60:]


def same(n):
    """Nothing is added to a string by empty ones: the object stays the same."""
    found = 0
    for i in range(n):
        a, b, empty = "x" * (i + 2), str(i), ""
        found += (a + empty + empty is a) + (empty + b + empty is b) * 10 + (empty + empty + a is a) * 100
        found += (empty + empty + "" is empty) * 1000 + (empty + "q" + empty is "q" "") * 10000
    return found


def mixed(n):
    out = []
    for i in range(n):
        a, b, c = "a", "b", "c"
        if i > n - 8:
            c = (1, Odd("o"), b"c", None, "d", Odd("p"), 2.5)[i % 7]
        try:
            out.append(a + b + c)
            out.append(a + c + b)
        except TypeError as e:
            out.append((str(e), e.__traceback__.tb_lineno))
        try:
            out.append(c + a + b + a)
        except TypeError as e:
            out.append((str(e), e.__traceback__.tb_lineno))
    return out[-20:]


def grows(n):
    s = ""
    for i in range(n):
        t = "<" + s + ">"
        s = t + "a" + "b"
        if len(s) > 40:
            s += t + "c" + s
            s = s[:5]
    return s


def counted(n):
    text = "".join(["te", "xt"])
    before = sys.getrefcount(text)
    for i in range(n):
        r = text + "a" + text + text
        q = text + "" + ""
    return sys.getrefcount(text) - before


def caught(n):
    out = []
    for i in range(n):
        a, b = "a", "b" if i % 10 < 8 else i
        try:
            x = a + "," + b + "," + a
        except TypeError as e:
            x = str(e)
        finally:
            out.append(x)
    return out[-4:]


for _ in range(3):
    print(plain(200), kinds(12), same(60), grows(200), counted(100))
    print(caught(60))
print(mixed(80))
