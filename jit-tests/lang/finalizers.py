"""When objects die: the order of finalisers relative to everything else, in loops, calls, exceptions and rebinding."""

log = []


class Marked:
    def __init__(self, name):
        self.name = name

    def __del__(self):
        log.append(f"del {self.name}")

    def __add__(self, other):
        return Marked(f"({self.name}+{other.name if isinstance(other, Marked) else other})")

    def __bool__(self):
        log.append(f"bool {self.name}")
        return True


def flush(title):
    print(title, *log, sep=" | ")
    log.clear()


def rebinds(n):
    x = Marked("first")
    for i in range(n):
        if i >= n - 3:
            x = Marked(i)
            log.append(f"bound {i}")
    log.append("end of loop")


def expression():
    log.append("start")
    y = Marked("a") + Marked("b") + 1
    log.append("made")
    del y
    log.append("deleted")


def temporaries(n):
    for i in range(n):
        if i == n - 1:
            (Marked("t").name, log.append("after load"))
            if Marked("cond"):
                log.append("in branch")


def unwinds(n):
    here = Marked("local")
    try:
        for i in range(n):
            if i == n - 1:
                inner = Marked("inner")
                raise ValueError("x")
    except ValueError as error:
        log.append("handler")
        error.held = Marked("held by error")
    log.append("after handler")
    return inner


def caller():
    inner = unwinds(300)
    log.append(f"got {inner.name}")


def arguments(a, b):
    log.append("enter")
    a = None
    log.append("a dropped")
    return b


def replaces(n):
    items = [Marked("l0"), Marked("l1")]
    d = {"k": Marked("d")}
    for i in range(n):
        if i == n - 1:
            items[0] = 1
            log.append("stored")
            d["k"] = 2
            log.append("dict stored")
            items.pop()
            log.append("popped")


def attributes(n):
    h = Marked("holder")
    h.x = Marked("x")
    for i in range(n):
        if i == n - 1:
            h.x = 5
            log.append("attr stored")
    return None


class Meddler:
    """A finaliser that changes what the loop is looking at."""

    def __init__(self, action):
        self.action = action

    def __del__(self):
        self.action()


FACTOR = 1


def meddled(n):
    def action():
        global FACTOR
        FACTOR = 100
    s = 0
    for i in range(n):
        m = Meddler(action) if i == n - 10 else None
        s += FACTOR
    return s


def loop_variable(n):
    for m in [Marked(i) if i > n - 3 else i for i in range(n)]:
        pass
    log.append("loop done")


def last_use(n):
    m = Marked("kept")
    s = 0
    for i in range(n):
        s += len(m.name)
    log.append("still alive")
    return s


def generator_dies():
    def g():
        try:
            yield Marked("yielded")
        finally:
            log.append("generator closed")
    for m in g():
        log.append("one")
        break
    log.append("after break")


for f, args in [(rebinds, (300,)), (expression, ()), (temporaries, (300,)), (caller, ()), (replaces, (300,)), (attributes, (300,)),
                (loop_variable, (300,)), (last_use, (300,)), (generator_dies, ())]:
    f(*args)
    flush(f.__name__)
arguments(Marked("A"), Marked("B"))
flush("arguments")
print(meddled(400))


class Raising:
    def __del__(self):
        log.append("about to raise")
        raise ValueError("ignored")


import sys
sys.unraisablehook = lambda info: log.append(f"unraisable {info.exc_value}")


def raising(n):
    for i in range(n):
        r = Raising() if i == n - 2 else None
    return i


raising(300)
flush("raising")
