"""sys._getframe and frames' f_back, f_locals, f_lineno, f_globals, f_builtins, f_code read and written from callees of hot functions."""

import sys

from support import hot


def names(depth):
    out = []
    frame = sys._getframe(1)
    while frame is not None and frame.f_code.co_filename == __file__ and len(out) < depth:
        out.append((frame.f_code.co_name, frame.f_lineno - frame.f_code.co_firstlineno))
        frame = frame.f_back
    return out


def caller_locals():
    return dict(sys._getframe(1).f_locals)


def set_caller(name, value):
    sys._getframe(1).f_locals[name] = value


def outer(n):
    return middle(n + 1)


def middle(n):
    def inner(k):
        return names(3), k, [names(2) for _ in range(1)], (lambda: names(2))()
    return inner(n * 2)


def read(a, b):
    x = a + 1
    y = b * 0.5
    seen = caller_locals()
    for i in range(3):
        x += i
    return sorted(seen.items()), sorted(caller_locals().items())[:2]


def written(a):
    x = 1
    y = 2.5
    set_caller("x", "new")
    set_caller("a", [a])
    first = x, a
    for i in range(5):
        y += i
        if i == 3:
            set_caller("y", -100)
            set_caller("i", 77)
    set_caller("extra", 1)
    return first, y, i, "extra" in locals(), "extra" in sys._getframe().f_locals


def unbound(flag):
    if flag:
        set_caller("later", 5)
    try:
        return later
        later = 1
    except UnboundLocalError as error:
        return str(error)


def cells(v):
    def inner():
        return v
    set_caller("v", "through the frame")
    return inner(), v, sorted(caller_locals())


def wrong():
    out = []
    f = sys._getframe()
    for action in (lambda: sys._getframe(-1) is f, lambda: sys._getframe(10**6), lambda: sys._getframe("x"), lambda: f.f_locals.pop("f"), lambda: f.f_locals.clear(), lambda: setattr(f, "f_lineno", 3), lambda: setattr(f, "f_back", None)):
        try:
            out.append(action())
        except (ValueError, TypeError, AttributeError) as error:
            out.append(type(error).__name__ + ": " + str(error)[:60])
    return out


def proxy():
    a, b = 1, "two"
    p = sys._getframe().f_locals
    p["a"] += 10
    return a, "b" in p, len(p) >= 3, p.get("none"), list(p)[:2], type(p).__name__, {**p}["b"], p == sys._getframe().f_locals


def spaces():
    f = sys._getframe()
    return f.f_globals is globals(), f.f_builtins["len"] is len, f.f_code is spaces.__code__, f.f_lasti > 0, f.f_trace, f.f_generator if hasattr(f, "f_generator") else "none"


def kept(n):
    frames = []
    def grab(k):
        local = k * 2
        frames.append(sys._getframe())
        return local
    total = sum(grab(i) for i in range(n))
    return total, [f.f_locals["local"] for f in frames], frames[0].f_back is None, [f.f_lineno - f.f_code.co_firstlineno for f in frames]


hot(outer, 1)
hot(read, 1, 2)
hot(read, 2**70, 3.0)
hot(written, 5)
hot(unbound, False)
hot(unbound, True)
hot(cells, 1)
hot(wrong)
hot(proxy)
hot(spaces)
hot(kept, 3)
