"""Handlers and what compiled code keeps raw or counts: locals unbound or numbers, finalisers, references, signals, tracing."""

import signal
import sys


def hot(function, *args, times=200):
    seen = []
    for _ in range(times):
        try:
            result = function(*args)
        except Exception as error:
            result = type(error).__name__, str(error)
        if result not in seen:
            seen.append(result)
    print(function.__name__, *seen)


def maybe_unbound(d, n):
    for i in range(n):
        try:
            y = d[i]
            z = i * 2
            f = i / 2
        except KeyError:
            w = i
        else:
            last = y + z
    return y, z, f, w, last


def never_bound(n):
    for i in range(n):
        try:
            x = missing
        except NameError:
            pass
    return x


def unbound_in_handler(n):
    out = []
    for i in range(n):
        try:
            if i == 2:
                raise KeyError
            value = i
            del value
        except KeyError:
            try:
                out.append(value)
            except UnboundLocalError:
                out.append("unbound")
    return out


def changes_class(n):
    """A local is an int, a float or a str, depending on the way into the handler."""
    out = []
    for i in range(n):
        x = i
        try:
            if i % 4 == 0:
                raise KeyError
            x = i / 2
            if i % 4 == 1:
                raise KeyError
            x = str(i)
            if i % 4 == 2:
                raise KeyError
            x = 1 << 80
            raise KeyError
        except KeyError:
            out.append(x)
        x = 0
    return out[:8]


def big_numbers(n):
    a = 1
    for i in range(n):
        try:
            a *= 3
            if a > 1 << 70:
                raise OverflowError(a)
        except OverflowError as error:
            a = error.args[0] % 1000003
    return a


def divide(a, b):
    return a // b


def raw_callee(n):
    c = 0
    for i in range(n):
        try:
            c += divide(100, i % 4)
        except ZeroDivisionError:
            c -= 1
    return c


def fails(x):
    raise ValueError(x)


def passes_through(x):
    return fails(x) + 1


def counted(n):
    marker = object()
    before = [sys.getrefcount(o) for o in (marker, fails, passes_through, ValueError)]
    for i in range(n):
        try:
            passes_through(marker)
        except ValueError:
            pass
    return [(sys.getrefcount(o) - b) // n for o, b in zip((marker, fails, passes_through, ValueError), before)]


class Method:
    def fail(self, x):
        raise KeyError(x)

    def call(self, x):
        return [x, self.fail(x)]


def counted_methods(n):
    thing, marker = Method(), object()
    before = [sys.getrefcount(o) for o in (marker, thing, Method.fail)]
    for i in range(n):
        try:
            thing.call(marker)
        except KeyError:
            pass
    return [(sys.getrefcount(o) - b) // n for o, b in zip((marker, thing, Method.fail), before)]


class Noisy:
    def __init__(self, name):
        self.name = name

    def __del__(self):
        frame = sys._getframe(1)
        where = frame.f_lineno - frame.f_code.co_firstlineno
        log.append((self.name, where, type(sys.exception()).__name__, sorted(frame.f_locals)))

    def __enter__(self):
        return self

    def __exit__(self, *info):
        return info[0] is KeyError


log = []


def dying_exceptions(n):
    log.clear()
    total = 0
    for i in range(n):
        total += i
        try:
            raise KeyError(Noisy(i))
        except KeyError:
            total += 1
        total += 2
    return list(log), total


def dying_in_with(n):
    log.clear()
    for i in range(n):
        with Noisy(i) as noisy:
            del noisy
            raise KeyError
    return list(log)


def dying_locals(n):
    log.clear()
    for i in range(n):
        x = Noisy(i)
        try:
            x = missing
        except NameError:
            x = None
    return list(log)


def finaliser_raises_and_catches():
    class Inner:
        def __del__(self):
            try:
                {}[self]
            except KeyError:
                log.append(type(sys.exception()).__name__)

    log.clear()
    try:
        [Inner(), fails(1)]
    except ValueError:
        log.append(type(sys.exception()).__name__)
    return list(log), sys.exception()


def replaced_global(n):
    """What the handler relies on is changed while it runs."""
    global limit
    total = 0
    for i in range(n):
        try:
            if i % limit == 0:
                raise KeyError
            total += 1
        except KeyError:
            limit = 3 if limit == 5 else 5
            total += limit
    return total


limit = 5


def replaced_class(n):
    global Expected
    total = 0
    for i in range(n):
        try:
            raise KeyError(i)
        except Expected:
            total += 1
            if i == n // 2:
                Expected = LookupError
    Expected = KeyError
    return total


Expected = KeyError


class Alarm(Exception):
    pass


def ring(*_):
    raise Alarm


def interrupted():
    signal.signal(signal.SIGALRM, ring)
    rings = n = 0
    while rings < 3:
        signal.setitimer(signal.ITIMER_REAL, 0.01)
        try:
            while True:
                n += 1
        except Alarm as alarm:
            rings += 1
            lines = set()
            tb = alarm.__traceback__
            lines.add(tb.tb_lineno - tb.tb_frame.f_code.co_firstlineno in (6, 7))
    return rings, lines, n > 1000, sys.exception()


events = []


def tracer(frame, event, arg):
    if frame.f_code.co_name in ("traced", "switch_on", "switched_in_raise"):
        line = frame.f_lineno - frame.f_code.co_firstlineno
        what = arg[0].__name__ if event == "exception" else None
        events.append((frame.f_code.co_name, event, line, what))
    return tracer


def switch_on(fail):
    frame = sys._getframe(1)
    frame.f_trace = tracer
    sys.settrace(tracer)
    if fail:
        raise KeyError("traced")


def traced(on, fail):
    x = 0
    try:
        x += 1
        if on:
            switch_on(fail)
        else:
            raise KeyError
        x += 2
    except KeyError:
        x += 4
    finally:
        x += 8
    sys.settrace(None)
    return x


def frames_of(error):
    out = []
    tb = error.__traceback__
    while tb is not None:
        out.append((tb.tb_frame.f_code.co_name, sorted((k, v) for k, v in tb.tb_frame.f_locals.items()
                                                       if isinstance(v, (int, float)))))
        tb = tb.tb_next
    return out


def inner_frame(n):
    half = n / 2
    for i in range(n):
        half += i
    return half / (n - 5)


def outer_frame(n):
    count = 0
    try:
        for count in range(10):
            last = inner_frame(n)
    except ZeroDivisionError as error:
        kept.append(error)
    count += 100
    return count


kept = []


def kept_locals():
    kept.clear()
    outer_frame(5)
    outer_frame(4)
    return frames_of(kept[0])


def proxy_kept(n):
    x = 1
    for i in range(n):
        try:
            raise KeyError
        except KeyError as error:
            proxy = error.__traceback__.tb_frame.f_locals
        x += i
        if proxy["x"] != x:
            return "differs", i
        proxy["x"] = x * 2
        if x % 2:
            return "odd", i
        x //= 2
        x += 1 - x % 1
    return x


for test, *args in ((maybe_unbound, {i: i for i in range(0, 30, 2)}, 30), (never_bound, 5), (unbound_in_handler, 4),
                    (changes_class, 8), (big_numbers, 200), (raw_callee, 40), (counted, 20), (counted_methods, 20),
                    (dying_exceptions, 4), (dying_in_with, 4), (dying_locals, 4), (finaliser_raises_and_catches,),
                    (replaced_global, 30), (replaced_class, 20), (kept_locals,), (proxy_kept, 6)):
    hot(test, *args)
print(interrupted())
for _ in range(100):
    assert traced(False, False) == 13
for fail in (True, False):
    events.clear()
    print(traced(True, fail), events)
    print(traced(False, False))
