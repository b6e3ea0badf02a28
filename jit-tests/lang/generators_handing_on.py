"""Loops that only hand on what another generator yields, through several of them: what each keeps, who sees it, and how they end."""

import gc
import sys
import traceback
import weakref

from support import names

log = []


class Told:
    """Tells of its end, and who was there."""

    def __init__(self, tag):
        self.tag = tag

    def __del__(self):
        # Where in a line the value of a generator that has ended is dropped depends on what the interpreter has specialised.
        log.append((self.tag, [entry[:2] for entry in names(sys._getframe())[1:]]))

    def __repr__(self):
        return f"Told({self.tag})"


def hands(inner):
    for item in inner:
        yield item


def twice(inner):
    for item in inner:
        yield item
    for item in (1, 2):
        yield item


def guards(inner):
    try:
        for item in inner:
            yield item
    except LookupError as error:
        yield repr(error)
    finally:
        log.append(("finally", ()))


def changes(inner):
    for item in inner:
        item = (item,)
        yield item


def counts(inner):
    for n, item in enumerate(inner):
        yield n, item


def delegates(inner):
    return (yield from inner)


def gets(inner):
    for item in inner:
        got = yield item
        if got is not None:
            yield "got", got


def keyed(inner):
    *rest, = ()
    for rest in inner:
        yield rest


def numbers(n):
    for i in range(n):
        yield i * 1000


def told(n):
    for i in range(n):
        yield Told(i)


def looks(n):
    for i in range(n):
        yield len(names(sys._getframe())), names(sys._getframe())[-3:]
    return Told("returned")


def fails(n):
    for i in range(n):
        yield i
    raise KeyError("leaf")


def built(kinds, inner):
    for kind in kinds:
        inner = kind(inner)
    return inner


KINDS = [
    (hands,) * 1,
    (hands,) * 3,
    (hands,) * 9,
    (hands,) * 40,
    (hands, delegates) * 3,
    (delegates, hands, hands, twice, hands),
    (hands, guards, hands),
    (guards, hands, delegates),
    (hands, changes, hands, counts, hands),
    (hands, gets, hands),
    (keyed, hands, keyed, delegates),
]


def shown(depth):
    """What a chain looks like while it waits."""
    found = []
    while depth is not None and hasattr(depth, "gi_frame"):
        frame = depth.gi_frame
        found.append((depth.__name__, depth.gi_running, frame and (frame.f_lineno, frame.f_lasti, {k: repr(v) for k, v in frame.f_locals.items() if k != "inner"}),
                      depth.gi_yieldfrom is None))
        depth = frame and frame.f_locals.get("inner")
    return found


def drained(kinds, leaf, n):
    generator = built(kinds, leaf(n))
    got = []
    try:
        for item in generator:
            got.append(repr(item))
    except KeyError:
        got.append(traceback.format_exc())
    item = None
    return got


def watched(kinds, leaf, n):
    generator = built(kinds, leaf(n))
    got = []
    for step in range(n + 3):
        try:
            got.append(repr(next(generator)))
        except (StopIteration, KeyError) as error:
            got.append(repr(error))
        if step % 2:
            got.append(shown(generator))
    return got


def disturbed(kinds, leaf, n):
    generator = built(kinds, leaf(n))
    got = []
    for step, way in enumerate(("next", "send", "throw", "next", "close", "next")):
        try:
            if way == "next":
                got.append(repr(next(generator)))
            elif way == "send":
                got.append(repr(generator.send("sent")))
            elif way == "throw":
                got.append(repr(generator.throw(IndexError(step))))
            else:
                got.append(repr(generator.close()))
        except (StopIteration, LookupError, RuntimeError) as error:
            got.append(repr(error))
    return got


def stolen(kinds, leaf, n):
    """Somebody else takes items of the innermost ones."""
    inner = leaf(n)
    middle = hands(inner)
    generator = built(kinds, middle)
    got = [repr(next(generator)), repr(next(inner, None)), repr(next(generator, None)), repr(next(middle, None))]
    got += [repr(item) for item in generator]
    return got


def heard():
    found, log[:] = list(log), []
    return found


for work in (drained, watched, disturbed, stolen):
    for kinds in KINDS:
        for leaf in (numbers, told, looks, fails):
            first = None
            if leaf is fails and work is stolen:
                continue
            for _ in range(35):
                got = work(kinds, leaf, 4), heard()
                gc.collect(0) if _ == 20 else None
                first = first or got
                assert got == first, (work.__name__, [kind.__name__ for kind in kinds], leaf.__name__, got, first)
            print(work.__name__, [kind.__name__ for kind in kinds[:5]], len(kinds), leaf.__name__, first[0])
            for tag, frames in first[1]:
                print("   ", tag, len(frames), frames[:3], frames[-3:])


# A tree is walked by loops within loops.
def walk(tree):
    if tree is not None:
        left, value, right = tree
        for item in walk(left):
            yield item
        yield value
        for item in walk(right):
            yield item


def tree(low, high):
    if low == high:
        return None
    middle = (low + high) // 2
    return tree(low, middle), middle, tree(middle + 1, high)


whole = tree(0, 500)
for _ in range(8):
    assert list(walk(whole)) == list(range(500))
    assert sum(walk(whole)) == 124750
    assert [item for item in walk(whole)] == list(range(500))
print(sum(walk(whole)), max(walk(tree(0, 3))))


# So deep that no more frames fit; and as deep as they just do.
def nested(n):
    if n:
        for item in nested(n - 1):
            yield item
    yield n


def tried(n):
    try:
        return len(list(nested(n)))
    except RecursionError as error:
        return str(error)


for _ in range(4):
    got = [tried(n) for n in (10, 100, 300, 3000)]
print(got)


# The loop's variable is what the interpreter finds when it goes on.
def stepped():
    generator = hands(hands(numbers(5)))
    got = [next(generator)]
    for _ in range(3):
        got.append(next(generator))
        got.append(generator.gi_frame.f_locals["item"])
    trace = []
    sys.settrace(lambda frame, event, arg: trace.append((event, frame.f_code.co_name, frame.f_lineno)) or (lambda *_: None))
    try:
        got.append(list(generator))
    finally:
        sys.settrace(None)
    return got, [entry for entry in trace if entry[1] in ("hands", "numbers")]


for _ in range(40):
    got = stepped()
print(got)


# What was held is let go at once.
def released():
    class Thing:
        pass

    def things():
        for _ in range(3):
            yield Thing()

    alive = []
    generator = hands(hands(things()))
    for thing in generator:
        alive.append(weakref.ref(thing))
        del thing
        alive.append([ref() is not None for ref in alive if not isinstance(ref, list)])
    return [one for one in alive if isinstance(one, list)]


for _ in range(40):
    got = released()
print(got)
