"""Handlers that drop their exception unseen, and those that only may: what is seen must be the same traceback."""

import sys
import traceback


class Own(Exception):
    pass


class Dying(Exception):
    """Shows its traceback when it dies."""

    def __del__(self):
        print("  dies with", [s.lineno - base(self) for s in traceback.extract_tb(self.__traceback__)])


def base(exc):
    return exc.__traceback__.tb_frame.f_code.co_firstlineno


class Argument:
    def __init__(self, name):
        self.name = name

    def __del__(self):
        print("  argument", self.name, "dies, handling", type(sys.exception()).__name__)


def lines(exc):
    first = exc.__traceback__.tb_frame.f_code.co_firstlineno
    return [(s.name, s.lineno - first, s.colno, s.end_colno) for s in traceback.extract_tb(exc.__traceback__)]


def counted(n):
    missed = 0
    for i in range(n):
        try:
            raise ValueError
        except ValueError:
            missed += 1
    return missed


def by_lookup(d, keys):
    missed = found = 0
    for key in keys:
        try:
            found += d[key]
        except KeyError:
            missed += 1
        except TypeError:
            missed += 100
    return found, missed


def overflowing(step):
    """A guard fails in the handler: the interpreter goes on there, with the exception handled."""
    total = 1 << 60
    for i in range(9):
        try:
            raise Own
        except Own:
            total += step
            step = step * 4
    return total


def seen_after_overflow(step, show):
    total = 1 << 60
    out = []
    for i in range(6):
        try:
            {}["a"]
        except KeyError:
            total += step
            step = step * 16
            if i == show:
                out.append(lines(sys.exception()))
    return total, out


def sometimes_seen(n, when):
    out = []
    for i in range(n):
        try:
            [].pop()
        except IndexError:
            if i in when:
                out.append(lines(sys.exception()))
                out.append(sys.exc_info()[2].tb_frame is sys._getframe())
    return out


def not_matched(n):
    for i in range(n):
        try:
            try:
                raise Own(i)
            except ValueError:
                pass
        except Own as e:
            shown = lines(e)
    return shown


def wrong_class(what):
    try:
        try:
            raise Own
        except what:
            return "no"
    except TypeError as e:
        return str(e), lines(e), type(e.__context__).__name__, lines(e.__context__)


def raised_again(n):
    out = []
    for i in range(n):
        try:
            try:
                raise Own("first")
            except Own:
                if i % 2:
                    raise
        except Own as e:
            out = lines(e)
    return out


def context_of(n):
    for i in range(n):
        try:
            try:
                raise Own("inner")
            except Own:
                raise ValueError("outer")
        except ValueError as e:
            shown = lines(e), lines(e.__context__), e.__cause__, e.__suppress_context__
    return shown


def from_none(n):
    for i in range(n):
        try:
            try:
                {}["x"]
            except KeyError:
                raise ValueError("outer") from None
        except ValueError as e:
            shown = lines(e), lines(e.__context__), e.__cause__, e.__suppress_context__
    return shown


def shared(kept, n):
    """Somebody else has the exception: its traceback grows."""
    for i in range(n):
        try:
            raise kept
        except Own:
            pass
    count, tb = 0, kept.__traceback__
    while tb is not None:
        count, tb = count + 1, tb.tb_next
    kept.__traceback__ = None
    return count


def popped(excs):
    for i in range(2):
        for j in range(len(excs)):
            try:
                raise excs.pop()
            except Own:
                pass
        excs += [Own(), Own()]


def kept_by_name(n):
    for i in range(n):
        kept = None
        try:
            raise Own("named")
        except Own as e:
            kept = e
    return lines(kept)


def named_only(n):
    c = 0
    for i in range(n):
        try:
            raise Own("named")
        except Own as e:
            c += 1
    return c, "e" in locals()


def dying(n):
    for i in range(n):
        try:
            raise Dying
        except Dying:
            pass


def with_argument(n):
    for i in range(n):
        try:
            raise Own(Argument(i))
        except Own:
            x = i
        print("  after", x)


def in_callee(n):
    c = 0
    for i in range(n):
        try:
            thrower(i)
        except Own:
            c += 1
    return c


def thrower(i):
    if i >= 0:
        raise Own(i)


def nested(n):
    c = 0
    for i in range(n):
        try:
            raise Own("outer")
        except Own:
            try:
                raise KeyError("inner")
            except KeyError:
                c += 1
            if i == n - 1:
                return c, lines(sys.exception()), sys.exception().args


def returns(n):
    def one(i):
        try:
            return {}[i]
        except KeyError:
            return i

    return sum(one(i) for i in range(n))


def finalizer_of_local(n):
    """An object of the program dies in the handler."""
    for i in range(n):
        held = Argument(i)
        try:
            raise Own
        except Own:
            held = None
    return held


def generator(n):
    for i in range(n):
        try:
            raise Own
        except Own:
            got = yield i
            if got:
                yield lines(sys.exception())


def in_finally(n):
    c = 0
    for i in range(n):
        try:
            try:
                raise Own
            finally:
                c += 1
        except Own:
            c += 1
    return c


def overwritten_in_finally(n):
    for i in range(n):
        try:
            raise Own
        finally:
            return i


def stopped(n):
    c = 0
    for i in range(n):
        it = iter(())
        try:
            next(it)
        except StopIteration:
            c += 1
    return c


class Base:
    def __init__(self, text, *, more=1):
        self.text, self.more = text, more


class Built(Base, Exception):
    pass


class Other(Exception):
    def __new__(cls, *args):
        self = super().__new__(cls, "made", *args)
        return self


class Meta(type):
    def __call__(cls, *args):
        print("  called", cls.__name__, args)
        return super().__call__(*args)


class Called(Exception, metaclass=Meta):
    pass


class Another(Exception):
    def __new__(cls, *args):
        return KeyError("instead")


def forms(n):
    out = []
    for i in range(n):
        for make in (
            lambda: Built("t", more=2), lambda: Other(1, 2), lambda: Called(3), lambda: AttributeError("a", name="b", obj=4),
            lambda: AttributeError("a"), lambda: NameError("n"), lambda: KeyError(), lambda: KeyError(1, 2), lambda: OSError(2, "no"),
            lambda: StopIteration(5), lambda: ValueError(x=1), lambda: Own(x=1), lambda: ImportError("i", name="m"),
        ):
            try:
                raise make()
            except Exception as e:
                out.append((type(e).__name__, e.args, sorted(vars(e).items()), getattr(e, "name", "-"), str(e)))
        for cls in (Own, Other, Called, Another, KeyError, StopIteration, AttributeError):
            try:
                raise cls
            except Exception as e:
                out.append((type(e).__name__, e.args))
        try:
            raise Built
        except TypeError as e:
            out.append(str(e))
    return out[-21:]


def leaves(x, d):
    a = x * 2
    b = [x, (a, d)]
    return d[x] + a + len(b)


def through(x, d):
    c = x + 0.5
    return leaves(x, d) + c


def tracebacks(n):
    for i in range(n):
        try:
            through(i, {})
        except KeyError as e:
            tb, shown = e.__traceback__, []
            while tb is not None:
                seen = {k: v for k, v in tb.tb_frame.f_locals.items() if k not in ("e", "tb", "shown", "seen")}
                shown.append((tb.tb_frame.f_code.co_name, sorted(seen)))
                if tb.tb_frame.f_code.co_name in ("leaves", "through"):
                    shown.append(seen)
                tb = tb.tb_next
    return shown


def main():
    print(counted(100), by_lookup({1: 1}, [1, 2, 3] * 30 + [[]]))
    for k in range(3):
        print(overflowing(1 << 56), seen_after_overflow(1 << 50, k))
        print(sometimes_seen(90, (70, 80)))
    print(not_matched(80))
    for _ in range(40):
        result = wrong_class(5), wrong_class((Own, 5)), wrong_class((5, Own))
    print(result)
    print(raised_again(80), context_of(80), from_none(80))
    print(shared(Own("kept"), 60), shared(Own("kept"), 3))
    excs = [Own() for _ in range(50)]
    popped(excs)
    print([e.__traceback__ for e in excs])
    print(kept_by_name(50), named_only(50))
    dying(3), dying(3)
    with_argument(3)
    print(in_callee(80), nested(80), returns(80))
    finalizer_of_local(3)
    g = generator(90)
    print([next(g) for _ in range(60)][-1], g.send(True), next(g))
    print(in_finally(50), overwritten_in_finally(50), stopped(50))
    print(*forms(40), sep="\n")
    print(tracebacks(60))
    if sys.exception() is not None:
        print("still handling", sys.exception())


main()
