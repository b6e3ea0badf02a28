"""Strings that grow in a local, as the interpreter lets them: who else has the string keeps it as it was."""

import sys


def grown(n):
    s = ""
    for i in range(n):
        s += chr(97 + i % 26)
    return s


def both_ways(n):
    s, t = "", ""
    for i in range(n):
        s = s + "ab"
        t = "ab" + t
    return s == t, len(s)


def shared(n):
    s, kept = "x", []
    for i in range(n):
        if i % 7 == 0:
            kept.append(s)
        s += str(i)
        if i % 11 == 0:
            other = s
            other += "!"
            kept.append(other)
    return kept, s


def doubled(n):
    s = "ab"
    for _ in range(n):
        s += s
    return len(s), s[:6]


def argument(s, more):
    s += more
    return s


def of_arguments(n):
    text = "text" * 3
    out = []
    for i in range(n):
        out.append(argument(text, str(i)))
        text = argument(text, ".")
    return out[-2:], text


def from_places(items, d, n):
    """What containers hold stays theirs."""
    for i in range(n):
        s = items[i % len(items)]
        s += "+"
        t = d["key"]
        t = t + s
    return s, t, items, d


def on_the_stack(n):
    s = "a"
    for i in range(n):
        pair = (s, (s := s + "b"))
        text = s + (s := s + "c")
        whole = [s, s + s, f"{s}"]
        s += whole[0][:1]
    return pair[0] in pair[1], len(text), len(s)


def wide(n):
    s = ""
    for i in range(n):
        s += "aé€𝄞"[i % 4]
        s += ""
    return s


class Text(str):
    def __add__(self, other):
        return "[" + str(self) + other + "]"


def other_classes(n):
    for first in (Text("t"), "u", b"v", [1], (2,)):
        s = first
        for i in range(n):
            s += first
        yield type(s).__name__, len(s)


def wrong(s, more, n):
    for i in range(n):
        try:
            s += more
            s += 1 if i == n - 1 else ""
        except TypeError as error:
            return s, str(error), error.__traceback__.tb_lineno
    return s


def counts(n):
    s = "count" + str(n)
    for i in range(n):
        s += "."
        held = sys.getrefcount(s)
    return held


def generated(n):
    s = ""
    for i in range(n):
        s += str(i)
        yield s


def with_cell(n):
    s = ""

    def look():
        return s

    for i in range(n):
        s += str(i)
        if i == n // 2:
            middle = look()
    return middle, look()


def deleted(n):
    out = []
    for i in range(n):
        s = "d" + str(i)
        s += "e"
        out.append(s)
        del s
        try:
            s += "f"
        except UnboundLocalError as error:
            out.append(str(error))
    return out[-2:]


def large(n):
    s = ""
    for i in range(n):
        s += "0123456789"
    return len(s), hash(s) == hash("0123456789" * n)


for k in range(40):
    n = 3 + k
    results = (grown(n), both_ways(n), shared(n), doubled(n % 9), of_arguments(n), on_the_stack(n), wide(n), counts(n), with_cell(n))
    results += (list(other_classes(n % 5)), wrong("w", "x", n), list(generated(n))[-1], deleted(n))
    items, d = ["i", "j" * n], {"key": "value"}
    results += (from_places(items, d, n),)
    if k % 9 == 3:
        print(results)
print(large(100000))
print(wrong("w", 2, 4), wrong(1, 2, 4))
