"""Loops over generators whose bodies are inlined: exits and exceptions on both sides, `break`, what
the generator refers to, and changes of the generator function meanwhile."""

import gc
import sys
import traceback


def count(n):
    i = 0
    while i < n:
        yield i
        i += 1


def evens(items):
    for item in items:
        if item % 2 == 0:
            yield item


def pairs(a, b):
    for k in range(a):
        yield k, b[k % 3]


def scaled(items, factor):
    for item in items:
        value = item * factor
        yield value


def once(x):
    yield x


def divided(n, d):
    k = n
    while k > -3:
        yield n // (k + d)
        k -= 1


def stopping(n):
    for k in range(n):
        if k == 5:
            raise StopIteration("inside")
        yield k


def returning(n):
    for k in range(n):
        if k > 7:
            return 3
        yield k


def guarded(items):
    try:
        for item in items:
            yield item
    finally:
        log.append("closed")


log = []


def total(n):
    t = 0
    for x in count(n):
        t += x
    return t


def total_of_evens(items):
    t = 0
    for x in evens(items):
        t = t + x
    return t


def unpacked(n, b):
    t = 0
    for k, c in pairs(n, b):
        t += k * c
    return t


def nested(n):
    t = 0
    for a in count(n):
        for b in scaled(range(a), a):
            t += b
            for c in once(b):
                t -= c // 2
    return t


def broken_off(items, limit):
    last = None
    t = 0
    for x in evens(items):
        last = x
        if x > limit:
            t -= 1
            break
        t += 1
    return last, t


def with_else(items, wanted):
    for x in scaled(items, 2):
        if x == wanted:
            found = x
            break
    else:
        found = -1
    return found


def caught(n, d):
    t = 0
    try:
        for x in divided(n, d):
            t += x
    except ZeroDivisionError as error:
        return t, str(error), [f.name for f in traceback.extract_tb(error.__traceback__)]
    return t


def raising_in_the_body(items, at):
    t = 0
    try:
        for x in evens(items):
            t += 10 // (x - at)
    except ZeroDivisionError as error:
        lines = [f.name for f in traceback.extract_tb(error.__traceback__)]
        return t, lines
    return t


def stops(n):
    t = 0
    for x in stopping(n):
        t += x
    return t


def returns(n):
    t = 0
    for x in returning(n):
        t += x
    return t, x


def closes(items):
    t = 0
    for x in guarded(items):
        t += x
        if t > 20:
            break
    return t


def expression(items, k):
    t = 0
    for x in (item + 1 for item in items if item % 3):
        t += x
        if t > 1000:
            break
    return t


class Tree:
    def __init__(self, *values):
        self.values = values

    def big(self, limit):
        for v in self.values:
            if v > limit:
                yield v

    def sum_of_big(self, limit):
        t = 0
        for v in self.big(limit):
            t += v
        return t


class Noisy:
    def __init__(self, name):
        self.name = name

    def __del__(self):
        log.append(self.name)


def holding(thing, n):
    k = 0
    while k < n:
        yield k
        k += 1


def drops(n, at):
    for x in holding(Noisy("a"), n):
        if x == at:
            log.append("break")
            break
    log.append("behind")
    return x


def any_big(items, limit):
    return any(x > limit for x in items)


def all_big(items, limit):
    return all(x > limit for x in items)


def any_constant(items):
    if any(x == 3 for x in items):
        return "three"
    return all(x for x in items)


def any_of(items, test):
    return any(test(x) for x in items), all([test(x) for x in items])


def any_raising(items, d):
    try:
        return any(x // d > 3 for x in items)
    except ZeroDivisionError as error:
        return [f.name for f in traceback.extract_tb(error.__traceback__)]


class Item:
    def __init__(self, value):
        self.value = value

    def __bool__(self):
        log.append(self.value)
        if self.value == 13:
            raise ValueError("thirteen")
        return self.value > 5


def any_item(values):
    made = [Item(v) for v in values]
    try:
        return any(x for x in made), all(x for x in made)
    except ValueError as error:
        return str(error), [f.name for f in traceback.extract_tb(error.__traceback__)]


def any_attribute(values, limit):
    made = [Item(v) for v in values]
    return any(x.value > limit for x in made), all(x.value > limit for x in made)


def closure_in_loop(items, k):
    t = 0
    for x in (item * k for item in items):
        t += x
        if t > 100:
            break
    scale = lambda v: (v + k + j for j in range(3))
    for x in scale(t):
        t += x
    return t


def locals_of_caller():
    return sorted(sys._getframe(1).f_locals.items(), key=lambda item: item[0])


def inspected(n):
    seen = None
    for x in count(n):
        if x == n - 2:
            seen = locals_of_caller()
    return [item for item in seen if item[0] != "seen"]


def collected(items):
    t = 0
    for x in evens(items):
        if x == 4:
            gc.collect()
        t += x
    return t


def results():
    log.clear()
    b = (1, 2, 3)
    yield total(50)
    yield total(0), total(1)
    yield total(10.5)
    yield total_of_evens(list(range(30)))
    yield total_of_evens([2, 4.0, 6, 2**70, True, False])
    yield total_of_evens((0, 1, 2**62, 2**63))
    yield total_of_evens(range(9))
    yield total_of_evens([])
    yield unpacked(12, b), unpacked(7, (1.5, 2, 3)), unpacked(3, [2**65, 1, 0])
    yield nested(8)
    yield broken_off(list(range(40)), 20), broken_off([1, 3], 0), broken_off([], 0)
    yield with_else([1, 2, 3], 4), with_else([1, 2, 3], 5), with_else([], 0)
    yield caught(5, 1), caught(5, 9), caught(3, 0)
    yield raising_in_the_body(range(20), 8), raising_in_the_body(range(20), 99)
    try:
        stops(9)
    except RuntimeError as error:
        yield str(error), repr(error.__cause__), traceback.format_exc().count("stopping")
    yield stops(4)
    yield returns(5), returns(50)
    yield closes([1, 2, 3]), closes([10, 20, 30]), list(log)
    yield expression(list(range(20)), 0), expression(range(100), 1)
    yield Tree(1, 5, 9, 2.5, 2**80).sum_of_big(2), Tree().sum_of_big(0)
    log.clear()
    yield drops(10, 3), list(log)
    log.clear()
    yield drops(4, 99), list(log)
    yield inspected(9)
    yield collected(list(range(12)))
    yield any_big(range(30), 20), any_big([1, 2.5, 2**70], 5), any_big([], 0), any_big([1], 2.0)
    yield all_big(range(30), 20), all_big([9, 2.5, 2**70], 2), all_big([], 0), all_big([1], 0.5)
    yield any_constant([1, 3]), any_constant([1, 0]), any_constant([1, 2.5, "a"]), any_constant([])
    yield any_of([1, 2, 3], lambda x: x > 2), any_of([1, 2], bool), any_of([], None)
    yield any_raising([1, 2], 0), any_raising([10, 20], 4), any_raising([], 0)
    log.clear()
    yield any_item([1, 2, 7, 13]), any_item([1, 13, 7]), any_item([8, 9]), any_item([]), list(log)
    yield any_attribute([1, 2, 7.5, 2**66], 5), any_attribute([6, 7, 9], 5), any_attribute([], 1)
    yield closure_in_loop([1, 2, 3], 4), closure_in_loop(range(50), 2.5), closure_in_loop([], 1)
    for bad in (None, "abc"):
        try:
            total_of_evens(bad)
        except TypeError as error:
            yield str(error), [f.name for f in traceback.extract_tb(error.__traceback__)]


def changed_meanwhile():
    global count
    old, seen = count, []

    def other(n):
        yield "other"

    for k in range(6):
        if k == 3:
            count = other
        t = []
        for x in count(3):
            t.append(x)
            if k == 1 and x == 1:
                old.__code__, kept = replaced.__code__, old.__code__
            if k == 2 and x == "replaced":
                old.__code__ = kept
        seen.append(t)
    count = old
    return seen


def replaced(n):
    yield "replaced"


def traced(n):
    events = []

    def tracer(frame, event, arg):
        if frame.f_code.co_name in ("count", "traced"):
            events.append((frame.f_code.co_name, event, frame.f_lineno - frame.f_code.co_firstlineno))
        return tracer

    t = 0
    for x in count(n):
        t += x
        if x == n - 2:
            sys.settrace(tracer)
    sys.settrace(None)
    return t, events


def main():
    first = list(results())
    for _ in range(15):
        total(40)
        again = list(results())
        assert repr(again) == repr(first), (first, again)
    for value in first:
        print(value)
    print(changed_meanwhile())
    for _ in range(3):
        print(traced(5))


main()


def late(items):
    """A local that has no value yet where the generator is suspended."""
    for item in items:
        yield item
        doubled = item * 2
        yield_count = doubled


def late_used(rows):
    total = 0
    for row in rows:
        for item in late(row):
            total += item
            if total > 10 ** 6:
                total = 0
    return total


for _ in range(500):
    late_used([[1, 2], (3,)])
print(late_used([[1, 2], [3, 4.5]]), late_used([["x"]] and []))


def exhausted(it):
    """The iterator of an inlined generator is the program's own, which goes on using it."""
    found = any(x > 100 for x in it)
    return found, next(it, "end"), list(it), it.__reduce__()[1:], it.__length_hint__()


def exhausted_tuple(it):
    total = sum(x for x in it)
    return total, next(it, "end"), list(it), it.__reduce__()[1:], it.__length_hint__()


kept_list, kept_tuple = [1, 2, 3], (4, 5)
for _ in range(3000):
    exhausted(iter(kept_list)), exhausted_tuple(iter(kept_tuple))
print(exhausted(iter(kept_list)), exhausted_tuple(iter(kept_tuple)))
print(exhausted(iter([1, 200, 3])), exhausted(iter([])), exhausted_tuple(iter((7,))), exhausted_tuple(iter(())))
