"""`yield from`: chains of generators, resumed, thrown into, closed, and broken off in the middle."""

import sys


class Tree:
    def __init__(self, left, value, right):
        self.left = left
        self.value = value
        self.right = right

    def __iter__(self):
        if self.left:
            yield from self.left
        yield self.value
        if self.right:
            yield from self.right


def tree(items):
    n = len(items)
    if n == 0:
        return None
    i = n // 2
    return Tree(tree(items[:i]), items[i], tree(items[i + 1:]))


def walk(t):
    total = 0
    for x in t:
        total = total * 3 + x & 0xFFFF
    return total


def inner(log):
    try:
        a = yield 1
        log.append(("inner", a))
        b = yield 2
        log.append(("inner", b))
    except ValueError as error:
        log.append(("inner caught", str(error)))
        c = yield 3
        log.append(("inner", c))
        return "after error"
    except GeneratorExit:
        log.append("inner closed")
        raise
    finally:
        log.append("inner finally")
    return "inner value"


def middle(log):
    r = yield from inner(log)
    log.append(("middle", r))
    return r + "!"


def outer(log):
    try:
        r = yield from middle(log)
        log.append(("outer", r))
        yield r
    except KeyError as error:
        log.append(("outer caught", repr(error)))
        yield "handled"


def run_plain():
    log = []
    log.append(list(outer(log)))
    return log


def run_send():
    log = []
    g = outer(log)
    log.append(g.send(None))
    log.append(g.send("x"))
    log.append(g.send("y"))
    log.append(next(g, "nothing"))
    return log


def run_throw():
    log = []
    g = outer(log)
    next(g)
    log.append(g.throw(ValueError("in")))
    log.append(g.send("c"))
    g = outer(log)
    next(g)
    log.append(g.throw(KeyError("k")))
    g = outer(log)
    next(g)
    try:
        g.throw(TypeError("t"))
    except TypeError as error:
        log.append(repr(error))
    return log


def run_close():
    log = []
    g = outer(log)
    next(g)
    g.close()
    g = outer(log)
    next(g)
    next(g)
    del g
    return log


class Iter:
    def __init__(self, n):
        self.n = n

    def __iter__(self):
        return self

    def __next__(self):
        if self.n == 0:
            raise StopIteration("from iter")
        self.n -= 1
        return self.n

    def send(self, value):
        if value == "stop":
            raise StopIteration("sent")
        return ("sent", value)

    def throw(self, error):
        return ("thrown", repr(error))

    def close(self):
        print("closed")


def over(thing):
    r = yield from thing
    yield ("result", r)


def run_other():
    out = [list(over(Iter(3))), list(over([1, 2])), list(over(range(3))), list(over("ab"))]
    g = over(Iter(5))
    out.append(next(g))
    out.append(g.send("v"))
    out.append(g.throw(ValueError("w")))
    out.append(g.send("stop"))
    out.append(list(g))
    return repr(out)


def bad_iterable():
    try:
        list(over(5))
    except TypeError as error:
        return str(error)


def no_send():
    g = over([1, 2])
    next(g)
    try:
        g.send(1)
    except AttributeError as error:
        # From 3.15 on the interpreter has no iterator of a list here, and names the list.
        return str(error).replace("list_iterator", "list")


def shared(g):
    yield from g


def run_shared():
    source = iter_gen(6)
    a, b = shared(source), shared(source)
    out = []
    for _ in range(3):
        out.append(next(a))
        out.append(next(b))
    out.append(next(a, "end"))
    out.append(next(b, "end"))
    return out


def iter_gen(n):
    for i in range(n):
        yield i


def deep(n):
    if n == 0:
        yield "bottom"
        yield sys._getframe().f_lineno
    else:
        yield from deep(n - 1)


def raises_deep(n):
    if n == 0:
        yield 0
        raise LookupError("deep")
    else:
        yield from raises_deep(n - 1)


def run_raises(n):
    out = []
    try:
        for x in raises_deep(n):
            out.append(x)
    except LookupError as error:
        tb = error.__traceback__
        lines = []
        while tb:
            lines.append((tb.tb_frame.f_code.co_name, tb.tb_lineno))
            tb = tb.tb_next
        out.append(len(lines))
        out.append(lines[-3:])
    return out


def too_deep():
    def chain(n):
        if n:
            yield from chain(n - 1)
        else:
            yield 1

    try:
        return list(chain(5000))
    except RecursionError:
        return "RecursionError"


def frames(n):
    if n == 0:
        f = sys._getframe()
        names = []
        while f:
            names.append((f.f_code.co_name, f.f_lineno))
            f = f.f_back
        yield names[:6]
    else:
        yield from frames(n - 1)


def main():
    t = tree(list(range(200)))
    for _ in range(40):
        results = [
            walk(t),
            run_plain(),
            run_send(),
            run_throw(),
            run_close(),
            run_other(),
            bad_iterable(),
            no_send(),
            run_shared(),
            list(deep(20)),
            run_raises(10),
        ]
    results.append(too_deep())
    results.append(list(frames(3)))
    for r in results:
        print(r)


main()
