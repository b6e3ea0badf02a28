"""Generators that wait for each other while they handle exceptions: what is handled further in, contexts, and who handles what afterwards."""

import sys

from support import hot


def leaf(n):
    for i in range(n):
        yield i, repr(sys.exception())
    return repr(sys.exception())


def plain(inner):
    return (yield from inner)


def in_handler(inner, error):
    try:
        raise error
    except Exception:
        return (yield from inner), repr(sys.exception())


def after_handler(inner):
    try:
        raise LookupError("gone")
    except LookupError:
        pass
    return (yield from inner), repr(sys.exception())


def in_finally(inner):
    try:
        raise LookupError("put off")
    finally:
        yield from inner


def raises_again(n):
    for i in range(n):
        yield i
    raise


def raises(n, error):
    yield from leaf(n)
    raise error


def catches(inner):
    try:
        return (yield from inner)
    except Exception as e:
        yield repr(e), repr(e.__context__), repr(sys.exception())
        return (yield from leaf(1)), repr(sys.exception())


def drained(generator):
    out = []
    while True:
        try:
            out.append(next(generator))
        except StopIteration as e:
            out.append(("returned", e.value))
            return out
        except Exception as e:
            chain, one = [], e
            while one is not None and len(chain) < 6:
                chain.append(repr(one))
                one = one.__context__
            tb, names = e.__traceback__.tb_next, []
            while tb:
                names.append((tb.tb_frame.f_code.co_name, tb.tb_lasti))
                tb = tb.tb_next
            out.append(("raised", chain, names))
            return out


def handled_between():
    """What one in the middle handles is what those further in see, and nobody else."""
    out = []
    for order in range(4):
        g = plain(leaf(3))
        for k in range(3):
            g = in_handler(g, KeyError(k)) if k == order else plain(after_handler(g))
        out.append((drained(plain(g)), repr(sys.exception())))
    return out


def handled_outside():
    """The consumer handles something, now this, now that."""
    g = plain(plain(after_handler(plain(leaf(6)))))
    out = [next(g)]
    try:
        raise ValueError("consumer")
    except ValueError:
        out.append(next(g))
        try:
            {}["inner"]
        except KeyError:
            out += [next(g), repr(sys.exception())]
        out += [next(g), repr(sys.exception())]
    return out + [next(g), repr(sys.exception())]


def contexts():
    out = []
    for make in (
        lambda: plain(plain(raises(2, OSError(1)))),
        lambda: plain(in_handler(plain(raises(2, OSError(2))), KeyError("between"))),
        lambda: in_handler(plain(in_handler(raises(1, OSError(3)), KeyError("inner"))), KeyError("outer")),
        lambda: plain(in_finally(plain(raises(1, OSError(4))))),
        lambda: catches(plain(plain(raises(1, OSError(5))))),
        lambda: plain(catches(plain(in_handler(plain(raises(1, OSError(6))), KeyError("caught"))))),
        lambda: in_handler(plain(catches(plain(raises(1, OSError(7))))), KeyError("around")),
        lambda: plain(in_handler(plain(raises_again(2)), KeyError("again"))),
        lambda: plain(plain(raises_again(1))),
    ):
        out.append(drained(make()))
        try:
            raise ValueError("consumer")
        except ValueError:
            out.append(drained(make()))
    return out


def thrown_in():
    out = []
    for error in (KeyError("thrown"), GeneratorExit()):
        g = in_handler(plain(catches(plain(leaf(5)))), ValueError("own"))
        out += [next(g), next(g)]
        try:
            out.append(g.throw(error))
            out.append(next(g))
            g.close()
        except BaseException as e:
            out.append((repr(e), repr(e.__context__)))
        out.append(repr(sys.exception()))
    return out


def left_in_handlers():
    """Each generator of a chain ends while another one still handles something."""

    def turns(n):
        for i in range(n):
            try:
                raise KeyError(i)
            except KeyError:
                yield from plain(leaf(1))
                yield repr(sys.exception())
            yield repr(sys.exception())

    return drained(plain(plain(turns(3)))), repr(sys.exception())


for f in (handled_between, handled_outside, contexts, thrown_in, left_in_handlers):
    hot(f)
