"""send() into generators: accumulators, pipelines, before the start, after the end, values as conditions, walrus of yields, yields as operands."""

from support import each, hot


def average():
    total = count = 0
    mean = None
    while True:
        x = yield mean
        if x is None:
            return total
        total += x
        count += 1
        mean = total / count


def operands():
    a = (yield 1) + (yield 2) * (yield 3)
    b = [(yield a), (yield "list")]
    c = {(yield "key"): (yield "value")}
    d = f"{(yield 'f')}-{(yield 'g')}"
    e = max((yield "arg"), (yield "arg2"), key=lambda v: -v)
    f = (yield "cond") if (yield "test") else (yield "else")
    return b, c, d, e, f


def walrus():
    out = []
    while (x := (yield len(out))) != "stop":
        out.append(x)
    return out


def relay(inner):
    result = yield from inner
    return "relayed", result


def drive(make, values):
    g = make()
    seen = [next(g)]
    try:
        for v in values:
            seen.append(g.send(v))
    except StopIteration as stop:
        return seen, "returned", stop.value
    return seen, g.gi_suspended


def at_start(make, value):
    return make().send(value)


def after_end(make):
    g = make()
    list(g)
    try:
        g.send(1)
    except StopIteration as stop:
        first = stop.value
    return first, next(g, "default")


def running():
    def g():
        yield 1
        me.send(None)
    me = g()
    return list(me)


def pipeline(n):
    def source(sink):
        next(sink)
        for i in range(n):
            sink.send(i)
        sink.close()
    def filtered(out):
        try:
            while True:
                x = yield
                if x % 3:
                    out.append(x * x)
        except GeneratorExit:
            out.append("closed")
    out = []
    source(filtered(out))
    return out


each(drive, (average, [1, 2, 6]), (average, [1.5, None]), (average, ["x"]), (operands, [1, 2, 3, "a", "b", "k", "v", "f", "g", 5, 7, True, "last"]), (operands, [1.5, 2, "x"]), (operands, ["s", "t", 2, 0, 0, [], 1]),
     (walrus, [1, 2, "stop"]), (lambda: relay(walrus()), [1, "stop"]), (lambda: relay(iter([1, 2])), [None, None]), (lambda: relay(iter([1, 2])), [5]), (lambda: relay(relay(average())), [4, 8, None]))
each(at_start, (average, None), (average, 5), (lambda: (x for x in "a"), 1))
hot(after_end, lambda: iter(x for x in (1,)))
hot(running)
hot(pipeline, 8)
