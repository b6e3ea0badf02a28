"""Tuples that nothing but one function can see: what they hold lives as long as they would, has the same count, and comes
back as one object where compiled code is left."""

import sys

log = []


class Marked:
    def __init__(self, name):
        self.name = name

    def __del__(self):
        log.append(f"del {self.name}")

    def __sub__(self, other):
        log.append(f"{self.name}-{other.name}")
        return 1


def flush(title):
    print(title, *log, sep=" | ")
    log.clear()


def swap(a, b):
    t = (b, a)
    a, b = t
    return a - b


def rotate(a, b, c, d):
    a, b, c, d = d, a, b, c
    return f"{a} {b} {c} {d}"


def in_a_loop(n, step):
    total = 0
    for i in range(n):
        pair = (i, total)
        x, y = pair
        total = x * step + y - pair[0] + pair[-1] // 2
        pair = None
    return total


def kept_in_a_loop(n):
    x, y = 1, 2
    for i in range(n):
        t = (y, x)
        x, y = t
        x = (x + i) % 1000
    return x, y, t


def nested(a, b):
    t = ((a, b), a)
    (p, q), r = t
    return p + q * r


def named_twice(a, b):
    t = u = (a, b)
    # Leaves where the sum is not of ints that fit.
    s = a + b
    return t is u, s, t


def only_named(a, b):
    t = u = (a, b)
    s = a + b
    if s < 0:
        return t is u, t, u
    return s


def dies_in_the_middle(name):
    t = (Marked(name + "0"), Marked(name + "1"))
    log.append("made")
    t = None
    log.append("dropped")


def items_outlive(name):
    t = (Marked(name + "0"), Marked(name + "1"), Marked(name + "2"))
    first, _, last = t
    del t
    log.append("tuple gone")
    del _
    log.append("middle gone")
    return sys.getrefcount(first), sys.getrefcount(last)


def counts(a):
    before = sys.getrefcount(a)
    t = (a, a)
    held = sys.getrefcount(a)
    x, y = t
    taken = sys.getrefcount(a)
    del t
    left = sys.getrefcount(a)
    del x, y
    return before, held, taken, left, sys.getrefcount(a)


def at_the_end(name):
    first = Marked(name + " first")
    t = (Marked(name + " in tuple"), 1)
    last = Marked(name + " last")
    return t[1]


def counts_on_the_stack(a, b, c, d):
    a, b, c, d = b, a, d, c
    counts = [sys.getrefcount(x) for x in (a, b, c, d)]
    # Leaves in the middle: these are no ints.
    e, f, g, h = (a, b, c, d)
    return counts, [sys.getrefcount(x) for x in (a, b, c, d)], e is a, h - g


def on_the_stack(a, b, c, d):
    # Four are not swapped in place: they go through a tuple.
    a, b, c, d = b, a, d, c
    a = None
    log.append("a")
    b = None
    log.append("b")


def exits(a, b):
    t = (a, b)
    s = a + b
    p, q = t
    return s, p, q, p is a, q is b


def raises(a, b):
    t = (a, b)
    return a // b, t[0]


def caught(a, b):
    t = (a, b)
    try:
        return a // b
    except ZeroDivisionError:
        p, q = t
        return p, q


def locals_of_caller():
    frame = sys._getframe(1)
    seen = frame.f_locals["t"]
    return seen, seen is frame.f_locals["t"], sorted(frame.f_locals)


def seen(a, b):
    t = (a * 2, b)
    found = locals_of_caller()
    return found, found[0] is t, t


def seen_virtual(a, b):
    t = (a * 2, b)
    found = locals_of_caller()
    x, y = t
    return found, x, y


def seen_raw(a, b):
    t = (a * 2, b + 1)
    u = t
    found = locals_of_caller()
    x, y = t
    return found, x, y, t is u


def set_from_outside(value):
    sys._getframe(1).f_locals["t"] = value


def replaced(a, b):
    t = (a, b)
    set_from_outside((b, b, a))
    return len(t), t[0]


def replaced_raw(a, b):
    t = (a + 1, b + 1)
    set_from_outside("new")
    return t[0]


def frame_at_the_end(a, b):
    t = (a + 1, b + 1)
    frame = sys._getframe()
    return frame, t[0]


def three_seen(a, b, c):
    t = (a + 1, b + 1, c + 1)
    found = locals_of_caller()
    return found, t[2]


def through_a_loop(items):
    out = []
    for a, b in items:
        t = (b, a)
        for k in (0, 1):
            out.append(t[0] + t[1] + k)
        x, y = t
        out.append(x)
    return out


def condition(a, flag):
    t = (a, flag)
    if flag:
        u = t[0]
        del t
    else:
        u = t[1]
        del t
    return u


def unbound(flag):
    if flag:
        t = (flag, flag)
    try:
        x, y = t
    except UnboundLocalError as e:
        return str(e)
    return x


def run():
    print(swap(7, 3), swap(2.5, 1), rotate(1, 2, 3, 4))
    print(swap(Marked("x"), Marked("y")))
    flush("swap")
    print(in_a_loop(40, 3), kept_in_a_loop(30), nested(3, 4))
    for pair in ((1, 2), (1.5, 2), (1 << 62, 1 << 62), ("a", "b"), (-1, -2)):
        print(named_twice(*pair))
        if pair[0] != "a":
            print(only_named(*pair))
    dies_in_the_middle("m")
    flush("dies")
    print(items_outlive("o"))
    flush("outlive")
    print(counts([]), counts(Marked("c")))
    flush("counts")
    print(at_the_end("e"))
    flush("end")
    on_the_stack(Marked("a"), Marked("b"), Marked("c"), Marked("d"))
    flush("stack")
    print(counts_on_the_stack(Marked("a"), Marked("b"), Marked("c"), Marked("d")))
    flush("counts on the stack")
    for a, b in ((1, 2), (1 << 62, 1 << 62), ("a", "b")):
        print(exits(a, b))
    for a, b in ((4, 2), (4, 0)):
        try:
            print(raises(a, b))
        except ZeroDivisionError as e:
            tb = e.__traceback__.tb_next
            print(tb.tb_frame.f_locals, tb.tb_lineno - tb.tb_frame.f_code.co_firstlineno)
        print(caught(a, b))
    print(seen(1, 2), seen(1.5, "b"), seen_virtual(1, 2), seen_virtual(1 << 61, 2.5))
    print(seen_raw(1, 2), seen_raw(1 << 61, 2), seen_raw(0.5, 1))
    print(replaced(1, 2), replaced_raw(1, 2), three_seen(1, 2, 3))
    frame, first = frame_at_the_end(1, 2)
    print(frame.f_locals["t"], first)
    print(through_a_loop([(1, 2), (2.5, 1), (1 << 62, 1 << 62)]))
    print(condition(1, True), condition(1, False), unbound(1), unbound(0))


for _ in range(12):
    run()
