"""Locals are stored one after the other, and what they held is dropped: mostly nobody sees that, and where a finaliser runs it sees each
local as it is by then."""

import sys

log = []


class Noted:
    def __init__(self, number):
        self.number = number

    def __repr__(self):
        return f"N{self.number}"

    def __del__(self):
        frame = sys._getframe(1)
        names = "abcdek"
        held = frame.f_locals
        log.append((self.number, frame.f_lineno - frame.f_code.co_firstlineno, [f"{name}={held[name]!r}" for name in names if name in held and not isinstance(held[name], list)]))


def unpack_again(rows, n):
    k = 0
    a = b = c = d = None
    while k < n:
        a, b, c, d = rows[0]
        a, b, c, d = rows[0]
        k += 1
        if k % 70 == 0:
            # These are the last ones but for the locals.
            rows[0] = [Noted(k), 1.5 * k, Noted(-k), Noted(1000 + k)]
    return k


def pairs(table, n):
    a = b = None
    for k in range(n):
        a, b = table[k % 7]
        if k % 50 == 49:
            table[k % 7] = [Noted(k), Noted(k + 0.5)]
    return k


def two_lines(table, n):
    a = b = c = None
    for k in range(n):
        row = table[k % 3]
        x, y, z = row
        a = x
        b = y
        c = z
        x = y = z = None
        if k % 40 == 39:
            table[k % 3] = [Noted(k), k, Noted(k + 0.25)]
            row = None
    return k


def swapped(table, n):
    a, b, c = table[0]
    for k in range(n):
        a, b, c = c, a, b
        if k % 60 == 59:
            a, b, c = table[0] = [Noted(k), Noted(k + 0.5), k]
    return k


class Raiser(Noted):
    def __del__(self):
        super().__del__()
        raise ValueError("ignored")


def raising(table, n):
    hook, seen = sys.unraisablehook, []
    sys.unraisablehook = lambda unraisable: seen.append(str(unraisable.exc_value))
    a = b = None
    for k in range(n):
        a, b = table[k % 2]
        if k % 50 == 20:
            table[k % 2] = [Raiser(k), Raiser(k + 0.5)]
    a = b = None
    table.clear()
    sys.unraisablehook = hook
    return seen


class Changer:
    """Its end replaces what the list holds that is being unpacked."""

    def __init__(self, table, number):
        self.table, self.number = table, number

    def __del__(self):
        self.table[0][:] = [self.number, self.number + 1]


def changed(table, n):
    total = 0
    a = b = None
    for k in range(n):
        a, b = table[0]
        a, b = table[0]
        total += a if type(a) is int else 1
        total += b if type(b) is int else 1
        if k % 60 == 30:
            table[0] = [Changer(table, k), Changer(table, k + 7)]
    return total


def shown(f, *args):
    del log[:]
    result = f(*args)
    print(f.__name__, result, len(log))
    for line in log:
        print("  ", *line)


for lap in range(3):
    shown(unpack_again, [[1, 2.5, "three", None]], 300)
    shown(pairs, [[i, str(i)] for i in range(7)], 500)
    shown(two_lines, [[i, str(i), None] for i in range(3)], 400)
    shown(swapped, [[1, "b", 2.5]], 300)
    shown(raising, [[1, 2], [3, 4]], 300)
    shown(changed, [[1, 2]], 300)


class Setter:
    """Its end sets locals of the function whose local it was, of which the next one is about to be stored by the same instruction."""

    def __init__(self, name, value):
        self.name, self.value = name, value

    def __del__(self):
        sys._getframe(1).f_locals[self.name] = self.value


def set_between(table, n, value):
    a = b = None
    out = []
    for k in range(n):
        a, b = table[0]
        out.append((type(a).__name__, b if type(b) in (int, float) else repr(b)))
        if k % 40 == 30:
            table[0] = [Setter("b", value), Noted(k)]
        if k % 40 == 31:
            table[0] = [k, k * 0.5]
    return out[-50:]


def set_before_raw(table, n, value):
    total = 0
    a, b = None, 0
    for k in range(n):
        a, b = table[0], k * 2
        total += b
        if k % 40 == 30:
            table[0] = Setter("b", value)
        if k % 40 == 31:
            table[0] = k
    return total, b


def set_before_unbound(table, n, value):
    k = 0
    while k < n:
        k += 1
        a = table[0]
        if k % 40 == 30:
            table[0] = Setter("b", value)
        if k % 40 == 31:
            table[0] = k
        a, b = table[0], a
        del b
    return k


for lap in range(3):
    for value in (5, "text", Noted(-7), [1]):
        shown(set_between, [[1, 2]], 300, value)
        shown(set_before_raw, [1], 300, value)
        shown(set_before_unbound, [1], 300, value)
    value = None


def moved_to_the_stack(table, n, at):
    """What a local held goes to another one, while a drop before that is seen."""
    a = b = c = d = e = None
    for k in range(n):
        if k == at:
            table[0][0] = Noted(k)
        (c, a), d = table[0], a
        if k == at:
            table[0][:] = [Noted(k + 0.25), Noted(k + 0.5)]
        if k == at + 1:
            table[0][:] = [k, "text"]
        if k % 3:
            e, d = table[0]
    return repr((a, b, c, d, e))


for lap in range(100):
    moved_to_the_stack([[lap, lap + 0.5]], 30, -9)
for at in range(1, 28):
    shown(moved_to_the_stack, [[1, "text"]], 30, at)
