"""What 3.15 has brought to the language and to the bytecode: lazy imports, and loops and delegations that keep an index beside a container.
Earlier versions, which cannot read the imports, run the rest."""

import sys

LAZY = '''
lazy import json
lazy from collections import OrderedDict
lazy import string
lazy import nothing_is_there


def use(n):
    total = 0
    for i in range(n):
        total += len(json.dumps([i]))
    return total


def ordered():
    return OrderedDict(a=1)


def missing():
    try:
        return nothing_is_there.x
    except ImportError as error:
        return type(error).__name__, str(error)


print("json" in sys.modules, use(200), type(json).__name__, "json" in sys.modules)
print([ordered() for _ in range(3)], [missing() for _ in range(3)])
for i in range(50):
    digits = string.digits
print(digits, type(globals()["string"]).__name__)
'''

if sys.version_info >= (3, 15):
    exec(compile(LAZY, __file__, "exec"), {"__name__": "__main__", "sys": sys})


def nested(items, text, raw):
    out = []
    for item in items:
        for char in text:
            for byte in raw:
                out.append((item, char, byte))
        if item == 3:
            items.append(4)
        if item == 4:
            break
    return len(out), out[-1]


def delegating(items, text):
    yield from items
    got = yield from text
    yield got
    for pair in (1, 2), (3, 4):
        yield from pair


def caught(items):
    out = []
    for item in items:
        try:
            for part in (item, 1 // item):
                out.append(part)
        except ZeroDivisionError:
            for part in [item, "zero"]:
                out.append(part)
        finally:
            for part in b"xy":
                out.append(part)
    return out


def suspended(items, text):
    for item in items:
        for char in text:
            items.append(0) if len(items) < 6 else None
            yield item, char


def expressions(items, text):
    return (list(x + 1 for x in items), tuple(c * 2 for c in text), any(x > 2 for x in items), all(x for x in items), sum(b for b in b"abc"),
            {x: c for x, c in zip(items, text)}, "".join(c for c in text), max(x for x in (3, 1, 2)), sorted(x for x in "cab"))


class Gone:
    def __init__(self, log):
        self.log = log

    def __del__(self):
        self.log.append("gone")


def ends(n):
    log = []
    for item in [Gone(log) for _ in range(n)]:
        log.append("item")
        if len(log) > 3:
            break
    item = None
    log.append("end")
    return log


# A loop is hot before the code that it is in has been called often: it is entered in its middle, over each kind of container.
def long_loops():
    total = 0
    for x in list(range(4000)):
        total += x
    for x in tuple(range(4000)):
        total -= x
    for c in "ab" * 2000:
        total += c == "a"
    for b in b"ab" * 2000:
        total += b
    for c in "\u00e9\u4e00" * 2000:
        total += ord(c) & 1
    return total


for _ in range(40):
    results = (nested([1, 2, 3], "ab", b"xy"), list(delegating([1, 2], "xy")), caught([1, 0, 2]), list(suspended([1, 2], "ab")),
               expressions([1, 2, 3], "abc"), ends(3))
for result in results:
    print(result)
print(long_loops())
total = 0
for x in [1, 2, 3] * 2000:
    for y in (x, 2):
        total += y
for c in "abc" * 2000:
    total += ord(c)
print(total)
generators = [suspended([1, 2, 3], "xyz") for _ in range(60)]
print([next(g) for g in generators for _ in range(3)][-3:], [len(list(g)) for g in generators][-3:])
