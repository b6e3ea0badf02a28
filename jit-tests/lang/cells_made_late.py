"""Variables of closures that are made after what compiled code does with them: the cell is there when the closure is, with what was
stored last, and wherever somebody looks before that."""
import gc
import sys


def closure_at_the_end(n):
    total = 0
    for i in range(n):
        total += i
    return lambda more: total + more


def closure_on_one_path(n, make):
    total = 0.5
    last = None
    for i in range(n):
        total += i
        last = i
    if make:
        return lambda: (total, last)
    return total, last


def closure_of_several(n):
    a, b, c = 1, 2.5, "c"
    for i in range(n):
        a, b = a + i, b * 0.5
    if a > 5:
        c += "x"

    def get():
        return a, b, c

    def put(x):
        nonlocal a
        a = x

    put(a + 1)
    return get() + (a,)


def stored_after(n):
    x = 0
    for i in range(n):
        x += 2
    get = lambda: x
    before = get()
    x = "after"
    return before, get(), x


def deleted(n):
    x = n
    if n < 0:
        return lambda: x
    del x
    try:
        return x
    except NameError as e:
        return type(e).__name__


def unbound(n):
    try:
        y = x
    except NameError as e:
        y = type(e).__name__
    for i in range(n):
        x = i
    return (lambda: (x, y))()


def in_a_loop(n):
    made = []
    k = 0
    for i in range(n):
        k += i
        made.append(lambda: k + i)
    return [f() for f in made]


def seen(n):
    """Whoever looks at the frame sees the variable before its closure is made."""
    x = 0
    shown = []
    for i in range(n):
        x += i
        if i % 7 == 0:
            shown.append(sys._getframe().f_locals["x"])
            shown.append(dict(locals())["x"])
    return shown, (lambda: x)()


def raises(n):
    x = 0
    try:
        for i in range(n):
            x += i
            if i == 20:
                raise ValueError(x)
    except ValueError as e:
        return e.args, (lambda: x)()
    return x, (lambda: x)()


class Noisy:
    def __init__(self, log, name):
        self.log, self.name = log, name

    def __del__(self):
        self.log.append(self.name)


def dropped(n):
    log = []
    thing = Noisy(log, "first")
    for i in range(n):
        thing = Noisy(log, i)
    get = lambda: thing
    log.append("made")
    get()
    del get, thing
    log.append("end")
    return log


def overflows(n):
    x = 1
    for i in range(n):
        x *= 3
    return (lambda: x)()


def arguments(a, b=2):
    a += 1
    for i in range(b):
        a += i
    return (lambda: (a, b))()


for n in (0, 1, 5, 30, 200):
    for _ in range(40):
        results = (
            closure_at_the_end(n)(1),
            closure_on_one_path(n, False),
            closure_on_one_path(n, True)(),
            closure_of_several(n),
            stored_after(n),
            deleted(n),
            unbound(n) if n else None,
            in_a_loop(min(n, 5)),
            seen(min(n, 30)),
            raises(n),
            dropped(min(n, 3)),
            overflows(n),
            arguments(n, 3),
            arguments(n * 1.5),
        )
    print(results)
gc.collect()
cells = [o for o in gc.get_objects() if type(o).__name__ == "cell"]
before = len(cells)
for _ in range(500):
    closure_at_the_end(10), closure_on_one_path(10, True), stored_after(3), raises(30)
gc.collect()
cells = [o for o in gc.get_objects() if type(o).__name__ == "cell"]
print(abs(len(cells) - before) < 20)
