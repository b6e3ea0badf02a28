"""Frames of suspended greenlets: their locals, lines and callers are those of where they are suspended, also in generators."""

# repeat: 3

import gc

from greenlet import getcurrent, greenlet


def switch(value=None):
    return getcurrent().parent.switch(value)


def numbers(n):
    i, x = 0, 0.5
    for i in range(n):
        x += i
        switch(i)
    return i, x


def items(n):
    i, x = 0, 0.25
    for i in range(n):
        x += i
        pair = (i, x)
        switch(i)
        yield x + pair[0]


def delegated(n):
    k = n * 3
    result = yield from items(n)
    return result, k


def consumes(make, n):
    total = 0.0
    for item in make(n):
        total += item
    return total


def inner_reader(n):
    names = []
    for frame in frames(getcurrent().parent.gr_frame):
        names.append(frame.f_code.co_name)
    return names


def frames(frame):
    while frame is not None:
        yield frame
        frame = frame.f_back


def shown(g):
    out = []
    for frame in frames(g.gr_frame):
        values = {k: v for k, v in frame.f_locals.items() if isinstance(v, (int, float, tuple))}
        out.append((frame.f_code.co_name, frame.f_lineno - frame.f_code.co_firstlineno, sorted(values.items())))
    return out


def overwrite(depth):
    """Uses the stack where others were suspended."""
    return depth if depth == 0 else overwrite(depth - 1) + max([depth, 1]) - depth + 1


def main():
    for round in range(80):
        gs = []
        for function, *args in [(numbers, 9), (consumes, items, 9), (consumes, delegated, 9)]:
            g = greenlet(function)
            g.switch(*args)
            for _ in range(3):
                g.switch()
            gs.append(g)
        overwrite(40)
        seen = [shown(g) for g in gs]
        if round == 40:
            gc.collect()
        ended = []
        for g in gs:
            while not g.dead:
                value = g.switch()
            ended.append(value)
        if round in (0, 79):
            for one in seen:
                print(one)
            print(ended)
    # Set from outside, where the frame is seen.
    g = greenlet(numbers)
    g.switch(6)
    g.gr_frame.f_locals["x"] = 100.5
    while not g.dead:
        value = g.switch()
    print(value)


main()
