"""Calls of functions that the caller can't know: with all arguments, with defaults that change, from classes' tables; bytes by index."""


def walk(x, memo, seen=(), depth=0, _nil=[]):
    if isinstance(x, list):
        return [TABLE[type(y)](y, memo, depth=depth + 1) if depth % 2 else TABLE[type(y)](y, memo) for y in x]
    memo[id(x)] = depth, len(seen), _nil is walk.__defaults__[2]
    return x


def atom(x, memo, seen=(1, 2), depth=0):
    memo[x] = depth + len(seen)
    return x


def star(x, memo, *rest, depth=7, **more):
    memo[x] = depth, rest, sorted(more)
    return x


TABLE = {list: walk, int: atom, str: star}


def run(n):
    out = []
    for i in range(n):
        memo = {}
        out.append((walk([i, "s", [i + 1, "t", [i + 2]]], memo), sorted(memo.items(), key=str)))
    return out[-1]


print(run(60))
atom.__defaults__ = ((1, 2, 3), 5)
print(run(60))
atom.__defaults__ = (5,)
try:
    print(run(60))
except TypeError as e:
    print(e)
atom.__defaults__ = ((1, 2), 0)
print(run(60))


def other(x, memo, seen="abcd", depth=100):
    memo[x] = "other", seen, depth
    return x


atom.__code__ = other.__code__
print(run(60))


def few(call, *args):
    try:
        return call(*args)
    except TypeError as e:
        return str(e)


def wrong(n):
    for _ in range(n):
        found = [few(f, *args) for f in (walk, atom, star) for args in ((), (1,), (1, {}), (1, {}, (), 1, 2, 3))]
    return found


print(wrong(40))


class Dies:
    def __init__(self, log):
        self.log = log

    def __del__(self):
        self.log.append("died")


def takes(dies, log, third=3):
    log.append("in")
    del dies
    log.append("out")
    return third


def gives(f, log):
    log.append(f(Dies(log), log))
    log.append("after")


def deaths(n):
    for _ in range(n):
        log = []
        for f in (takes, lambda dies, log: len(log)):
            gives(f, log)
    return log


print(deaths(40))


class Index(int):
    def __index__(self):
        return 1


def octets(data, indices):
    out = []
    for i in indices:
        try:
            out.append(data[i])
        except (IndexError, TypeError) as e:
            out.append(f"{type(e).__name__}: {e}")
    return out


for _ in range(40):
    found = octets(b"\x00a\xff", [0, 1, 2, 3, -1, -3, -4, 2**40, -2**70, True, Index(2), 1.0, "x", slice(1, 9)])
print(found)
for _ in range(40):
    found = octets(b"", [0, -1]), octets(type("B", (bytes,), {"__getitem__": lambda self, i: "own"})(b"abc"), [0])
print(found)


def matching(classes, exceptions):
    out = []
    for e in exceptions:
        for c in classes:
            try:
                try:
                    raise e
                except c as caught:
                    out.append((c.__name__ if isinstance(c, type) else c, type(caught).__name__))
            except Exception as missed:
                out.append((type(missed).__name__, str(missed)))
    return out


class Meta(type):
    def __instancecheck__(cls, other):
        return True

    def __subclasscheck__(cls, other):
        return True


class Odd(Exception, metaclass=Meta):
    pass


for _ in range(40):
    found = matching((KeyError, LookupError, Odd, (ValueError, KeyError), int), (KeyError("k"), ValueError("v"), Odd("o")))
print(found)


# An exception that goes out of a function with raw locals, operands on the stack and objects that die on the way.
class Loud:
    def __init__(self, log, name):
        self.log, self.name = log, name

    def __del__(self):
        import sys

        self.log.append((self.name, sys.exception() is None, sys._getframe(1).f_code.co_name))

    def __add__(self, other):
        raise ArithmeticError("no")


def leaves(log, i):
    total, x = i * 2, i / 2
    kept = Loud(log, "local")
    return [Loud(log, "stack"), Loud(log, "left") + Loud(log, "right"), total, x, kept]


def caught(n):
    for i in range(n):
        log = []
        try:
            leaves(log, i)
        except ArithmeticError as e:
            frame = e.__traceback__.tb_next.tb_frame
            log.append(sorted((k, v) for k, v in frame.f_locals.items() if k in ("total", "x", "i")))
            del frame
        log.append("end")
    return log


print(caught(40))
