"""except* in loops and functions: flow around it, bad types to match, groups in groups, chains and sys.exception() within."""

import sys

from support import each, hot, told


def in_loop(n):
    out = []
    for i in range(n):
        try:
            if i % 3 == 0:
                raise ExceptionGroup("loop", [ValueError(i), KeyError(i)])
            if i % 3 == 1:
                raise ValueError(i)
            out.append("ok")
        except* ValueError as g:
            out.append(len(g.exceptions))
        except* KeyError as g:
            out.append(str(g.exceptions[0]))
    return out


def wrong(kind):
    try:
        raise ValueError("to match")
    except* kind:
        return_value = "matched"
    return return_value


def current():
    seen = []
    try:
        raise ExceptionGroup("outer", [ValueError(1), TypeError(2)])
    except* ValueError:
        seen.append(repr(sys.exception()))
        try:
            raise ExceptionGroup("inner", [OSError(3)])
        except* OSError:
            seen.append(repr(sys.exception().__context__))
        seen.append(repr(sys.exception()))
    except* TypeError:
        seen.append(repr(sys.exception()))
    seen.append(sys.exception())
    return seen


def two_raise():
    try:
        raise ExceptionGroup("both", [ValueError(1), TypeError(2), OSError(3)])
    except* ValueError as g:
        raise LookupError("new") from g
    except* TypeError:
        raise


def shape():
    try:
        two_raise()
    except BaseExceptionGroup as g:
        return [(repr(e), repr(e.__cause__), repr(e.__context__)) for e in g.exceptions], len(told(g))


hot(in_loop, 9)
each(wrong, (ValueError,), (KeyError,), (Exception,), (ExceptionGroup,), (BaseExceptionGroup,), (5,), ((ValueError, 3),), ((),), ((OSError, ValueError),))
hot(current)
hot(two_raise)
hot(shape)
