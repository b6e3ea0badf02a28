"""raise: classes, instances, classes that need arguments or give other things, what is no exception, bare raise with nothing to raise."""

import sys

from support import each, hot


class Needs(Exception):
    def __init__(self, a):
        super().__init__(a)


class Other(Exception):
    def __new__(cls, *args):
        return 5


class Becomes(Exception):
    def __new__(cls, *args):
        return ValueError("became")


class Fails(Exception):
    def __init__(self):
        raise KeyError("in __init__")


def throw(what):
    raise what


def throw_from(what, cause):
    raise what from cause


def bare():
    raise


def bare_in_handler():
    try:
        1 / 0
    except ZeroDivisionError:
        bare()


def bare_after():
    try:
        1 / 0
    except ZeroDivisionError:
        pass
    raise


def bare_in_finally():
    try:
        raise ValueError("going out")
    finally:
        bare_state = sys.exception()
        raise


def reraised(n):
    try:
        try:
            raise ValueError("again and again")
        except ValueError as e:
            for _ in range(n):
                try:
                    raise
                except ValueError as again:
                    assert again is sys.exception()
            raise e
    except ValueError as e:
        trace, count = e.__traceback__, 0
        while trace:
            trace, count = trace.tb_next, count + 1
        return count


each(throw, (ValueError,), (ValueError("x", 2),), (Needs,), (Needs(1),), (Other,), (Becomes,), (Fails,), (5,), (None,), (int,), ("text",),
     (StopIteration(1),), (KeyError,), (KeyError("quoted"),), (ExceptionGroup,), (OSError(2, "no file", "name"),))
each(throw_from, (ValueError, Needs), (ValueError, Other), (5, 6), (ValueError(1), Fails), (KeyError, Becomes))
for function in (bare, bare_in_handler, bare_after, bare_in_finally):
    hot(function)
hot(reraised, 3)
