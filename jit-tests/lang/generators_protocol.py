"""Generators resumed by compiled code: send, throw, close, return values, and what happens when they are used up."""


def counter(n):
    i = 0
    while i < n:
        sent = yield i
        if sent is not None:
            i = sent
        else:
            i += 1
    return ("end", i)


def drive(n):
    out = []
    for x in counter(n):
        out.append(x)
    return out


def drive_send(n):
    g = counter(n)
    out = [next(g)]
    try:
        while True:
            out.append(g.send(out[-1] + 2))
    except StopIteration as stop:
        out.append(stop.value)
    try:
        next(g)
    except StopIteration as stop:
        out.append(("again", stop.value))
    try:
        g.send(1)
    except StopIteration as stop:
        out.append(("again", stop.value))
    return out


def first_send():
    try:
        counter(3).send(1)
    except TypeError as error:
        return str(error)


def guarded(log):
    try:
        while True:
            try:
                x = yield len(log)
                log.append(("sent", x))
            except ValueError as error:
                log.append(("caught", str(error)))
                yield "caught"
    finally:
        log.append("finally")


def drive_throw():
    log = []
    g = guarded(log)
    next(g)
    g.send("a")
    r = g.throw(ValueError("one"))
    log.append(r)
    next(g)
    try:
        g.throw(KeyError("two"))
    except KeyError as error:
        log.append(("out", repr(error)))
    log.append(list(g))
    return log


def drive_close():
    log = []
    g = guarded(log)
    next(g)
    log.append(g.close())
    log.append(g.close())
    g = guarded(log)
    log.append(g.close())
    try:
        g.throw(ValueError("closed"))
    except ValueError as error:
        log.append(repr(error))
    return log


def stubborn():
    while True:
        try:
            yield 1
        except GeneratorExit:
            yield 2
            return


def drive_stubborn():
    g = stubborn()
    next(g)
    try:
        g.close()
    except RuntimeError as error:
        return str(error)


def closes_with_value():
    try:
        yield 1
    except GeneratorExit:
        return "value"


def drive_close_value():
    g = closes_with_value()
    next(g)
    return g.close()


def reentrant():
    me = yield
    try:
        next(me)
    except ValueError as error:
        yield str(error)
    for x in iter_of(me):
        yield x


def iter_of(me):
    try:
        for x in me:
            yield x
    except ValueError as error:
        yield "inner " + str(error)


def drive_reentrant():
    g = reentrant()
    next(g)
    out = [g.send(g)]
    out.extend(g)
    return out


def raises_stop():
    yield 1
    raise StopIteration("inside")


def raises_stop_from_next():
    yield 1
    yield next(iter([]))


def drive_stop(make):
    out = []
    try:
        for x in make():
            out.append(x)
    except RuntimeError as error:
        out.append(repr(error))
        out.append(repr(error.__cause__))
        out.append(error.__cause__ is error.__context__)
    return out


def returns_tuple():
    yield 1
    return (1, 2)


def returns_exception():
    yield 1
    return ValueError("as a value")


def delegate(make):
    r = yield from make()
    yield ("got", r)


def drive_values():
    return repr([list(delegate(returns_tuple)), list(delegate(returns_exception)), list(delegate(lambda: [5, 6]))])


def empty():
    return
    yield


def many_types(n):
    for i in range(n):
        yield i
        yield float(i)
        yield str(i)
        yield (i, i)
        yield None


def drive_types(n):
    total = 0
    text = ""
    for x in many_types(n):
        if isinstance(x, int):
            total += x
        elif isinstance(x, float):
            total += x
        else:
            text += repr(x)
    return total, text


def unbound(flag):
    if flag:
        x = 1
    yield "before"
    yield x


def drive_unbound(flag):
    try:
        return list(unbound(flag))
    except UnboundLocalError as error:
        return str(error)


def raw_locals(n):
    i, f, b = 0, 0.5, False
    while i < n:
        i += 1
        f *= 1.5
        b = not b
        if i % 3 == 0:
            yield i, f, b
        elif i % 7 == 0:
            x = yield f
            if x:
                i += x
    yield f, b


def drive_raw(n):
    out = []
    g = raw_locals(n)
    for item in g:
        out.append(item)
        if isinstance(item, float):
            out.append(g.send(2))
    return out


def big_ints(n):
    x = 1
    while x < n:
        yield x
        x *= 3


def closure(k):
    total = 0

    def add(n):
        nonlocal total
        for i in range(n):
            total += i * k
            yield total

    return list(add(5)), total


def defaults(a, b=2, *args, c=3, **kw):
    yield a
    yield b
    yield args
    yield c
    yield sorted(kw.items())


def never_waits():
    try:
        return
    except:
        yield 1


class Box:
    def __init__(self, items):
        self.items = items

    def __iter__(self):
        for item in self.items:
            yield item

    def pairs(self):
        for i, item in enumerate(self):
            yield i, item


def main():
    for _ in range(60):
        results = [
            drive(7),
            drive_send(12),
            first_send(),
            drive_throw(),
            drive_close(),
            drive_stubborn(),
            drive_close_value(),
            drive_reentrant(),
            drive_stop(raises_stop),
            drive_stop(raises_stop_from_next),
            drive_values(),
            list(empty()),
            list(never_waits()),
            drive_types(4),
            drive_unbound(True),
            drive_unbound(False),
            drive_raw(20),
            list(big_ints(10**25))[-1],
            closure(3),
            list(defaults(1)),
            list(defaults(1, 5, 6, 7, c=8, d=9)),
            list(Box([1, 2, 3]).pairs()),
            sum(x for x in Box(range(10))),
            max(len(s) for s in ["a", "bbb", "cc"]),
            dict((k, v) for k, v in zip("abc", range(3))),
            any(x > 5 for x in range(10)),
            [y for x in (drive(3), drive(4)) for y in (z * 2 for z in x)],
            ",".join(str(x) for x in range(5)),
        ]
    for result in results:
        print(result)


main()
