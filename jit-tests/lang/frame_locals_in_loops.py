"""A frame that somebody looks into in each turn of a loop: what is seen, and that nothing set through f_locals is lost."""

import operator
import sys


def look(name):
    return sys._getframe(1).f_locals[name]


def look_by_variable(name):
    frame = sys._getframe(1)
    proxy = frame.f_locals
    value = proxy[name]
    return value, len(proxy)


def seen(n):
    total = 0
    half = 0.0
    even = True
    text = ""
    for i in range(n):
        x = i + 1
        half += 0.5
        even = not even
        total += look("x") + look("i")
        text = str(i)
        if look("text") is not text or look("half") != half or look("even") is not even:
            return "wrong", i
        value, count = look_by_variable("total")
        total += value - total
    return total, half, even, text, count


SETTERS = [
    lambda p, k, v: p.__setitem__(k, v),
    lambda p, k, v: type(p).__setitem__(p, k, v),
    lambda p, k, v: operator.setitem(p, k, v),
    lambda p, k, v: p.update({k: v}),
    lambda p, k, v: p.__ior__({k: v}),
    lambda p, k, v: operator.ior(p, {k: v}),
    lambda p, k, v: exec(f"{k} = {v!r}", {}, p),
]


def put(turn, name, value):
    proxy = sys._getframe(1).f_locals
    SETTERS[turn % len(SETTERS)](proxy, name, value)


def put_by_subscript(name, value):
    sys._getframe(1).f_locals[name] = value


def sets(n):
    """Each kind of setting, of raw locals and of others, to values of the same and of other types."""
    out = []
    total = 0
    step = 1
    label = "a"
    late = None
    for i in range(n):
        look("i")
        total += step
        if i % 10 == 9:
            put(i // 10, "step", 2 if i % 20 == 9 else 1)
        if i % 50 == 25:
            put_by_subscript("total", float(total))
        if i % 50 == 30:
            put_by_subscript("total", int(total))
        if i % 100 == 60:
            put(i // 100, "label", "b%d" % i)
            out.append(label)
        if i == n - 20:
            put(i, "late", [i])
    return total, step, out, late


def unbound(n):
    """A local that only f_locals binds."""
    for i in range(n):
        look("i")
        if i == n - 10:
            sys._getframe().f_locals.setdefault("x", i)
        if i < 0:
            x = 0
    try:
        return x
    except UnboundLocalError as error:
        return str(error)


def unwritable(n):
    errors = set()
    k = 0
    for i in range(n):
        k += i
        if i % 7 == 0:
            proxy = sys._getframe().f_locals
            for delete in (type(proxy).__delitem__, operator.delitem):
                try:
                    delete(proxy, "k")
                except (TypeError, ValueError) as error:
                    errors.add(str(error))
            del proxy
    return k, sorted(errors)


def give(frames):
    frames.append(sys._getframe(1).f_locals)


def held(n):
    """Proxies that live on read the locals as they are by then, and set them."""
    proxies = []
    x = 0
    wrong = 0
    for i in range(n):
        x += 1
        look("x")
        if i % 40 == 0:
            give(proxies)
        wrong += sum(p["x"] != x or p["i"] != i for p in proxies)
        if i % 40 == 20:
            proxies[-1]["x"] = x + 1000
        if i % 40 == 30:
            proxies.clear()
    return x, wrong


def made_of_the_class(frame):
    return type(sys._getframe().f_locals)(frame)


def of_the_class(n):
    x = 0
    for i in range(n):
        x += 2
        if i % 30 == 0:
            made_of_the_class(sys._getframe())["x"] = x + 1
    return x


class Ends:
    def __init__(self, proxies):
        self.proxies = proxies

    def __del__(self):
        self.proxies.clear()


def ends(n):
    """The last proxy ends while the frame that it is of lets go of something."""
    proxies = []
    x = 0
    thing = None
    for i in range(n):
        x += 1
        look("x")
        if i % 20 == 5:
            give(proxies)
            thing = Ends(proxies)
        if i % 20 == 6:
            thing = x
    return x, len(proxies)


def tuples(n):
    """What is not made until somebody looks is the same object for all who look."""
    best = (0, 0)
    same = 0
    for i in range(n):
        best = (i, best[0])
        a = look("best")
        b = look("best")
        same += a is b and a is best
    return best, same


def builtins_(n):
    out = 0
    x = 1.5
    sets, reads = compile("i = 0", "", "exec"), [compile(t, "", "eval") for t in ("i", "x", "locals()")]
    for i in range(n):
        x += i
        out += len(locals()) + len(vars()) + len(dir())
        out += eval(reads[0]) + eval(reads[0], None) + eval("y", {"y": 2}) + len(eval(reads[2]))
        exec(sets)
        exec(sets, {})
        exec(*[sets])
        locals()["x"] = 0
        if eval(reads[1]) != x or "x" not in dir():
            return "wrong"
    return out, x


def from_within(name, *value):
    proxy = sys._getframe(2).f_locals
    if value:
        [proxy[name]] = value
    return proxy[name]


def within_eval(n):
    """A write through f_locals while a builtin reads them too."""
    x = 0
    code = compile("f('x')", "", "eval")
    write = compile("f('x', f('x') + 7)", "", "eval")
    for i in range(n):
        x += 1
        if eval(code, {"f": from_within}) != x or eval(code, None, {"f": from_within}) != x:
            return "wrong"
        if i % 25 == 0:
            f = from_within
            eval(write)
            eval(write, {"f": from_within})
    return x


def generator(n):
    x = 0
    for i in range(n):
        x += look("i")
        if i % 10 == 5:
            put_by_subscript("x", x + 100)
        yield x
        x += look("x") & 1


def captured(n):
    x = 0
    y = 0
    get = lambda: x
    for i in range(n):
        x += 1
        y += look("x")
        if i % 9 == 0:
            put_by_subscript("x", -x)
    return x, y, get()


def raises(n):
    out = 0
    x = 0
    for i in range(n):
        x += 1
        try:
            look("x" if i % 5 else "nothing")
        except KeyError:
            out += x
    return out


print(seen(300))
print(sets(400))
print(unbound(300))
print(unwritable(300))
print(held(300))
print(of_the_class(300))
print(ends(300))
print(tuples(300))
print(builtins_(80))
print(within_eval(200))
print(sum(generator(300)), list(generator(12)))
print(captured(200))
print(raises(300))
