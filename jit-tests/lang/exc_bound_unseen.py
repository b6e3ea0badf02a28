"""Handlers that bind their exception and drop it unseen, and those that only may: what is seen must be the same traceback."""

import gc
import sys
import traceback
import weakref


class Own(Exception):
    pass


class Dying(Exception):
    """Shows its traceback when it dies."""

    def __del__(self):
        print("  dies with", lines(self), "handling", type(sys.exception()).__name__)


class Loud:
    """No exception, and it says when it dies."""

    def __del__(self):
        print("  loud one dies, handling", type(sys.exception()).__name__)
        try:
            raise Own("in its end")
        except Own as e:
            self.seen = e
        print("  ", lines(self.seen))


def lines(exc):
    first = exc.__traceback__.tb_frame.f_code.co_firstlineno
    return [(s.name, s.lineno - first, s.colno, s.end_colno) for s in traceback.extract_tb(exc.__traceback__)]


def counted(n):
    c = 0
    for i in range(n):
        try:
            raise ValueError(i)
        except ValueError as e:
            c += 1
    return c, "e" in locals()


def kept_in_list(n, when):
    kept = []
    for i in range(n):
        try:
            raise Own(i)
        except Own as e:
            if i in when:
                kept.append(e)
    return [(e.args, lines(e)) for e in kept]


def kept_in_local(n):
    last = None
    for i in range(n):
        try:
            raise Own(i)
        except Own as e:
            last = e
    return last.args, lines(last)


def kept_in_tuple(n):
    pair = ()
    for i in range(n):
        try:
            raise Own(i)
        except Own as e:
            pair = (i, e)
    return pair[0], lines(pair[1])


def kept_in_cell(n):
    def get():
        return held

    held = None
    for i in range(n):
        try:
            raise Own(i)
        except Own as e:
            held = e
    return lines(get())


def bound_in_cell(n):
    for i in range(n):
        try:
            raise Own(i)
        except Own as e:
            if i == n - 1:
                return (lambda: lines(e))()


def rebound(n):
    c = 0
    for i in range(n):
        try:
            raise Own(i)
        except Own as e:
            e = None
            c += 1
            if i == n - 1:
                return c, lines(sys.exception())
    return c


def rebound_to_other(n, other):
    for i in range(n):
        try:
            raise Own(i)
        except Own as e:
            e = other
    return other.__traceback__


def unbound(n):
    c = 0
    for i in range(n):
        try:
            raise Own(i)
        except Own as e:
            del e
            c += 1
    return c


def sometimes_rebound(n):
    shown = None
    for i in range(n):
        try:
            raise Own(i)
        except Own as e:
            if i & 1:
                e = None
            elif i == n - 1:
                shown = lines(e)
    return shown


def returned(n):
    def one(i):
        try:
            raise Own(i)
        except Own as e:
            return e

    def none(i):
        try:
            raise Own(i)
        except Own as e:
            return i

    return [lines(one(i)) for i in range(n)][-1], sum(none(i) for i in range(n))


def overflowing(step, show):
    """A guard fails in the handler: the interpreter goes on there."""
    total = 1 << 60
    shown = []
    for i in range(9):
        try:
            raise Own(i)
        except Own as e:
            total += step
            step = step * 4
            if i == show:
                shown.append(lines(e))
    return total, shown


def after_the_handler(n, step):
    """A guard fails behind the end of the handler, before the local is unbound or after."""
    c = 1 << 60
    for i in range(n):
        try:
            raise Own(i)
        except Own as e:
            kept = e if i > 40 else None
        c += step
        step = step * 2
    return c, kept and lines(kept)


def two_clauses(n):
    c = 0
    for i in range(n):
        try:
            raise (KeyError(i), Own(i), ValueError(i))[i % 3]
        except KeyError as e:
            c += 1
        except Own:
            c += 10
        except ValueError as e:
            c += 100
            if i == n - 1:
                return c, lines(e)
    return c


def nested(n):
    shown = []
    for i in range(n):
        try:
            raise Own("outer")
        except Own as outer:
            try:
                raise KeyError("inner")
            except KeyError as inner:
                if i == n - 1:
                    shown.append((lines(inner), inner.__context__ is outer))
            if i == n - 1:
                shown.append(lines(outer))
    return shown


def raised_again(n):
    for i in range(n):
        try:
            try:
                raise Own(i)
            except Own as e:
                if i == n - 1:
                    raise
        except Own as e:
            shown = lines(e), e.__context__
    return shown


def dying(n):
    for i in range(n):
        try:
            raise Dying(i)
        except Dying as e:
            x = i
        print("  after", x)


def died(n):
    gone = []
    for i in range(n):
        try:
            raise Own(i)
        except Own as e:
            ref = weakref.ref(e)
        gone.append(ref() is None)
    return all(gone)


def no_exception(n):
    shown = None
    for i in range(n):
        try:
            raise Loud()
        except TypeError as e:
            if i == n - 1:
                shown = str(e), lines(e)
    return shown


def caused(n):
    for i in range(n):
        try:
            raise Own(i) from KeyError("cause")
        except Own as e:
            if i == n - 1:
                return lines(e), e.__cause__, e.__suppress_context__


def bad_cause(n):
    for i in range(n):
        try:
            raise Own(i) from Loud()
        except TypeError as e:
            if i == n - 1:
                return str(e), lines(e)


def looked_up(d, n):
    missing = 0
    for i in range(n):
        try:
            d[i]
        except KeyError as e:
            missing += 1
    return missing


def generator(n):
    for i in range(n):
        try:
            raise Own(i)
        except Own as e:
            got = yield i
            if got:
                yield lines(e)


def grown(kept, n):
    for i in range(n):
        try:
            raise kept
        except Own as e:
            pass
    count, tb = 0, kept.__traceback__
    while tb is not None:
        count, tb = count + 1, tb.tb_next
    kept.__traceback__ = None
    return count


def main():
    gc.disable()
    print(counted(100), kept_in_list(90, (70, 80)), kept_in_local(60), kept_in_tuple(60))
    print(kept_in_cell(60), bound_in_cell(60), rebound(60), unbound(60), sometimes_rebound(61))
    print(rebound_to_other(60, Own("other")), returned(60))
    for k in range(9):
        print(overflowing(1 << 56, k))
    print(after_the_handler(60, 1), after_the_handler(30, 1 << 40))
    print(two_clauses(90), nested(60), raised_again(60))
    dying(3), dying(3)
    print(died(50), no_exception(4), caused(50), bad_cause(4))
    print(looked_up({1: 1}, 60), looked_up({}, 3))
    g = generator(90)
    print([next(g) for _ in range(60)][-1], g.send(True), next(g))
    print(grown(Own("kept"), 60), grown(Own("kept"), 3))
    if sys.exception() is not None:
        print("still handling", sys.exception())


main()
