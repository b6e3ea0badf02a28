"""throw() and close() on generators in every state, through yield from, with handlers that yield, return or raise; GeneratorExit ignored."""

from support import each, hot

log = []


def plain(n):
    for i in range(n):
        yield i


def catching(n):
    for i in range(n):
        try:
            yield i
        except ValueError as error:
            yield "caught", str(error)
        except GeneratorExit:
            log.append(("exit", i))
            raise
        finally:
            log.append(("finally", i))


def stubborn():
    try:
        yield 1
    except GeneratorExit:
        yield "ignored"


def returning():
    try:
        yield 1
    except GeneratorExit:
        return "returned at close"
    except KeyError:
        return "returned at throw"


def raising():
    try:
        yield 1
    finally:
        raise OSError("in finally")


def delegating(make):
    got = yield from make()
    yield "got", got


def started(make, n):
    g = make()
    return g, [next(g, None) for _ in range(n)]


def thrown(make, n, error):
    log.clear()
    g, seen = started(make, n)
    try:
        result = g.throw(error)
    except BaseException as e:
        result = repr(e), repr(e.__context__)
    return seen, result, next(g, "ended"), list(log), g.gi_frame is None


def closed(make, n):
    log.clear()
    g, seen = started(make, n)
    try:
        result = g.close()
    except BaseException as e:
        result = repr(e)
    return seen, result, next(g, "ended"), g.close() if g.gi_frame is None else "open", list(log)


def dropped(make, n):
    log.clear()
    g, seen = started(make, n)
    del g
    return seen, list(log)


makes = [lambda: plain(3), lambda: catching(3), returning, raising, lambda: delegating(lambda: catching(2)), lambda: delegating(returning), lambda: (x for x in "ab")]
each(thrown, *[(m, n, e) for m in makes for n in (0, 1, 4) for e in (ValueError("v"), KeyError)], times=31)
each(thrown, (lambda: plain(2), 1, GeneratorExit), (lambda: plain(2), 1, 5), (lambda: plain(2), 1, StopIteration(3)), (stubborn, 1, GeneratorExit()), (lambda: delegating(stubborn), 1, GeneratorExit), times=31)
each(closed, *[(m, n) for m in (*makes, stubborn) for n in (0, 1, 4)], times=31)
each(dropped, *[(m, n) for m in (makes[0], makes[1], makes[4], returning) for n in (0, 1, 2)], times=31)
