"""What a callee can see and change of its caller's frame: f_locals, f_lineno, f_back, stack walks, locals()."""

import sys


def peek():
    frame = sys._getframe(1)
    return dict(frame.f_locals)


def line():
    frame = sys._getframe(1)
    return frame.f_lineno - frame.f_code.co_firstlineno, frame.f_code.co_name


def reads(n):
    total = 0
    half = 0.5
    flag = True
    name = "x"
    for i in range(n):
        total += i
        half += 0.25
        flag = not flag
        if i == n - 1:
            seen = peek()
    return sorted((k, v) for k, v in seen.items())


def poke(**values):
    sys._getframe(1).f_locals.update(values)


def writes(n):
    total = 0
    step = 1
    for i in range(n):
        total += step
        if i == 380:
            poke(step=1000)
        if i == 390:
            poke(step=0.5, total=0)
        if i == 395:
            poke(new="not a local")
    return total, step


def lines(n):
    out = set()
    for i in range(n):
        out.add(line())
        out.add(
            line())
    return sorted(out)


def names():
    frame, out = sys._getframe(1), []
    while frame is not None:
        if frame.f_code.co_filename == __file__:
            out.append(frame.f_code.co_name)
        frame = frame.f_back
    return out


def a(n):
    r = None
    for i in range(n):
        r = b(i)
    return r


def b(i):
    x = i * 2
    return c(x) if x >= 0 else None


def c(y):
    return names()


def keeps(n):
    """A frame object that outlives its call still shows its locals."""
    k = 0
    for i in range(n):
        k += i
        if i == n - 5:
            kept.append(sys._getframe())
    return k


kept = []


def cells(n):
    x = 1
    y = 2

    def inner():
        return x

    for i in range(n):
        x += 1
        if i == n - 1:
            poke(x=-1, y=-2)
            return x, y, inner(), sorted(k for k in locals())


def deletes(n):
    for i in range(n):
        v = i
        if i == n - 1:
            try:
                del sys._getframe().f_locals["v"]
            except (KeyError, ValueError, TypeError, RuntimeError) as error:
                return type(error).__name__, v


def snapshot(n):
    s = 0.0
    d = None
    for i in range(n):
        s += i
        if i == 10:
            d = locals()
    return d, s


def argument(a, b=1, *args, k=None, **kw):
    for i in range(300):
        a = a + b
    return peek()


print(reads(400))
print(writes(400))
print(lines(300))
print(a(350))
print(keeps(400), sorted(kept[0].f_locals.items()), kept[0].f_back is None)
print(cells(300), deletes(300), snapshot(400))
print(sorted(argument(0.0, 2, 3, k=4, z=5).items()))


def via_exception(n):
    acc = 0
    for i in range(n):
        acc += i
        if i == n - 1:
            acc.nothing


try:
    via_exception(400)
except AttributeError as error:
    frame = error.__traceback__.tb_next.tb_frame
    print(sorted(frame.f_locals.items()), frame.f_lineno - frame.f_code.co_firstlineno)
    try:
        frame.clear()
        print(frame.f_locals)
    except RuntimeError as error:
        print(error)
