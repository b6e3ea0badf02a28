"""Recursions that fill several blocks of the interpreter's data stack, again and again, and leave them in all ways."""

import sys
import threading


def count(n, seen):
    seen.append(n)
    if n:
        for m in (n - 1,):
            count(m, seen)
    return len(seen)


def raises(n, at):
    if n == at:
        raise ValueError(n)
    try:
        return raises(n + 1, at) + 1
    finally:
        raises.left += 1


raises.left = 0


def caught(n, every):
    if n == 0:
        return [][1]
    try:
        return caught(n - 1, every)
    except IndexError:
        if n % every:
            raise
        return n


def changes(n, value):
    """What it is given changes, so that a frame deep inside, which may be a block's first, goes on in the interpreter."""
    if n == 0:
        return value + value
    first, second = value, n
    result = changes(n - 1, first)
    return result + second - second if second % 2 else result


def looks(n):
    if n == 0:
        frame, depth = sys._getframe(), 0
        while frame.f_code is looks.__code__:
            assert frame.f_locals["n"] == depth
            depth += 1
            frame = frame.f_back
        return depth
    return looks(n - 1)


def produce(n):
    if n:
        yield n
        yield from produce(n - 1)


def of_generators(n):
    return sum(produce(n)) + (of_generators(n - 7) if n > 7 else 0)


def wide(n, a=0, b=0, c=0, d=0, e=0, f=0, g=0, h=0):
    if n == 0:
        return a, b, c, d, e, f, g, h
    return wide(n - 1, b, c, d, e, f, g, h, n)


def everything():
    for depth in (10, 49, 50, 51, 52, 60, 64, 65, 66, 67, 90, 130, 150, 200):
        yield count(depth, [])
        try:
            raises(0, depth)
        except ValueError as error:
            yield error.args, raises.left
        yield caught(depth, 7)
        yield changes(depth, depth), changes(depth, 0.5)
        yield looks(depth)
        yield of_generators(depth % 60)
        yield wide(depth)


def in_thread(results):
    # The first frame of a thread stands in a block of its own.
    results.append([answer for answer in everything() if isinstance(answer, int)])


for turn in range(40):
    raises.left = 0
    answer = list(everything())
    if turn == 0:
        first = answer
    assert answer == first, turn
print(first)

for turn in range(3):
    results = []
    threads = [threading.Thread(target=in_thread, args=(results,)) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == 3 and results[0] == results[1] == results[2], turn
print(len(results[0]))
