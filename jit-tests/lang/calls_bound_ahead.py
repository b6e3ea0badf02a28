"""Calls whose arguments are matched with the parameters when the caller is compiled: by name, collected, left out; and what changes that."""

from support import each


class Loud:
    """Tells where it ends."""

    def __init__(self, name):
        self.name = name

    def __del__(self):
        print("end of", self.name)


def full(a, b=2, /, c=3, *rest, d, e=5, **more):
    return a, b, c, rest, d, e, more


def keywords(*, first=1, second=2):
    return first, second


def collected(*rest):
    return rest


def named(**more):
    return more


def mixed(a, *rest, **more):
    return a, rest, list(more.items())


class Box:
    def __init__(self, a, *rest, scale=1, **more):
        self.parts = a, rest, scale, more

    def change(self, by, *, times=1, note="none"):
        return self.parts[0] + by * times, note

    def everything(*rest, **more):
        return len(rest), rest[1:], more


def in_order(log):
    def say(x):
        log.append(x)
        return x

    return full(say(1), say(2), d=say(3), c=say(4), other=say(5))


def all_shapes(box):
    return [
        full(1, d=4),
        full(1, 2, 3, 4, 5, d=6, e=7, f=8, g=9),
        full(1, c=0, d=1),
        full(1, 2, d=3, a=4, b=5),
        keywords(),
        keywords(second=3),
        keywords(second=3, first=4),
        collected(),
        collected(1),
        collected(1, "two", 3.0),
        named(),
        named(x=1, y="z"),
        mixed(1),
        mixed(1, 2, 3),
        mixed(1, x=2),
        mixed(a=1, x=2),
        mixed(1, 2, x=3, y=4),
        box.change(1),
        box.change(1, times=2),
        box.change(by=3, note="some", times=1),
        box.everything(1, 2, x=3),
        Box(1).parts,
        Box(1, 2, 3).parts,
        Box(a=1, scale=2).parts,
        Box(1, 2, other=3, scale=4).parts,
    ]


for turn in range(60):
    shapes = all_shapes(Box(10))
print(shapes)
log = []
for turn in range(60):
    log.clear()
    answer = in_order(log)
print(answer, log)


def wrong(which):
    match which:
        case 0: return full()
        case 1: return full(1)
        case 2: return full(1, a=2, d=3)
        case 3: return full(1, 2, 3, c=4, d=5)
        case 4: return keywords(1)
        case 5: return keywords(third=1)
        case 6: return collected(x=1)
        case 7: return named(1)
        case 8: return Box()
        case 9: return Box(1, a=2)
        case 10: return Box(1).change(1, 2)
        case 11: return Box(1).change(by=1, by2=3)
        case 12: return mixed()


for turn in range(40):
    for which in range(13):
        try:
            answer = wrong(which)
        except TypeError as error:
            answer = error
        if turn == 39:
            print(which, answer)


# The defaults of parameters that must be named are a dict, which anybody may change.
def asks():
    return keywords(), keywords(first=0), Box(1).change(2)


for turn in range(60):
    asks()
keywords.__kwdefaults__["second"] = "changed"
print(asks())
Box.change.__kwdefaults__["note"] = "another"
print(asks())
del keywords.__kwdefaults__["second"]
try:
    print(asks())
except TypeError as error:
    print(error)
keywords.__kwdefaults__ = {"first": "a", "second": "b"}
for turn in range(60):
    asks()
print(asks())
keywords.__kwdefaults__ = None
try:
    print(asks())
except TypeError as error:
    print(error)
keywords.__kwdefaults__ = {"first": 1, "second": 2}
print(asks())


# What is collected is the callee's own, and ends with it.
def keeps(*rest, **more):
    more["added"] = rest
    return more


def twice():
    a, b = keeps(1, x=2), keeps(1, x=2)
    return a, a is not b, a == b


def ends():
    collected(Loud("first"), Loud("second"))
    mixed(Loud("third"), Loud("fourth"), x=Loud("fifth"))
    Box(Loud("sixth"), Loud("seventh"), note=Loud("eighth"))
    print("after")


for turn in range(60):
    answer = twice()
print(answer)
for turn in range(40):
    if turn in (0, 39):
        ends()
    else:
        each(lambda: twice())


def raises(*rest, key=None, **more):
    raise ValueError(len(rest), key, sorted(more))


def catches(loud):
    try:
        raises(1, loud, 2, key=3, x=loud)
    except ValueError as error:
        return error.args


for turn in range(60):
    answer = catches([])
print(answer)


# Functions made again and again by the same code, with defaults of their own.
def maker(k):
    def inner(x, y=k, *, z=k + 1):
        return x, y, z

    return inner(0), inner(0, y=1), inner(x=0, z=5), inner(0, 1, z=2)


for turn in range(80):
    answer = maker(turn)
print(answer)
