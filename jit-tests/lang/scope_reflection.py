"""Functions that read their own frame: locals(), vars(), dir(), eval and exec of names, in hot code, comprehensions and closures."""

from support import each, hot


def own(a, b=2, *c, d=4):
    e = a + d
    before = sorted(locals())
    for i in range(3):
        f = i * 1.5
    return before, sorted(locals().items(), key=str), sorted(vars()), dir()[:3]


def evaluated(x, text):
    y = x * 2
    return eval(text), eval("x + y"), eval("x", {"x": "global"}), eval("x + z", {"z": 1}, {"x": 10})


def executed(n):
    x = 1
    exec("x = 100; made = n")
    space = {}
    exec("def f(k): return k + n", {"n": n}, space)
    found = locals()
    found["x"] = "written"
    return x, "made" in locals(), space["f"](1), found["x"], locals()["x"]


def snapshot(n):
    first = locals()
    x = n
    second = locals()
    x += 1
    return "x" in first, second["x"], locals()["x"], first is second


def in_closure(n):
    def inner():
        local = 1
        return sorted(locals().items()), eval("local")
    def capturing():
        return n, sorted(locals())
    def hidden():
        return eval("n")
    try:
        unseen = hidden()
    except NameError as error:
        unseen = str(error)
    return inner(), capturing(), unseen


def in_comprehension(n):
    return [sorted(locals()) for i in range(1)], [eval("i + n") for i in range(2)], {k: v for k, v in locals().items()}, list(sorted(locals()) for j in "a")


def in_generator(n):
    def gen():
        m = n
        yield dict(locals())
        m += 1
        yield eval("m")
    return list(gen())


class C:
    base = 3
    names = sorted(k for k in locals() if k[0] != "_")
    doubled = eval("base * 2")

    def method(self):
        self.x = 1
        return vars(self), sorted(k for k in dir(self) if k[0] != "_"), eval("self.x")


def loop(n):
    total = 0
    for i in range(n):
        total += eval("i")
        if i == n - 2:
            exec("total = 1000")
    return total, locals()


hot(own, 1)
hot(own, 0.5, 1, "x", d=2)
each(evaluated, (1, "y"), (2.5, "x * y"), ("s", "y + x"), (1, "missing"), (1, "1 /"), (1, "1 / 0"), (1, "(z := x)"), (1, "[x for x in 'ab']"))
hot(executed, 5)
hot(snapshot, 1)
hot(in_closure, 7)
hot(in_comprehension, 2)
hot(in_generator, 3)
hot(lambda: (C.names, C.doubled, C().method()))
hot(loop, 5)
