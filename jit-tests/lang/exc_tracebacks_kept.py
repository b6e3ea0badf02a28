"""Traceback objects that are kept: with_traceback, tb_next assigned, frames' locals afterwards, frame.clear(), reraising elsewhere."""

import sys

from support import hot


def fail(x, depth=2):
    local = x * 2
    if depth:
        return fail(x + 1, depth - 1)
    return local / 0


def kept():
    try:
        fail(1)
    except ZeroDivisionError as error:
        return error


def names(trace):
    out = []
    while trace:
        out.append(trace.tb_frame.f_code.co_name)
        trace = trace.tb_next
    return out


def look():
    error = kept()
    trace = error.__traceback__
    out = []
    while trace:
        out.append((trace.tb_frame.f_code.co_name, sorted((k, v) for k, v in trace.tb_frame.f_locals.items() if isinstance(v, int))))
        trace = trace.tb_next
    return out


def moved():
    error = kept()
    first = error.__traceback__
    try:
        raise KeyError("other").with_traceback(first.tb_next)
    except KeyError as other:
        return names(other.__traceback__), other.__traceback__.tb_next is first.tb_next


def cut():
    error = kept()
    error.__traceback__.tb_next = None
    try:
        error.__traceback__.tb_next = error.__traceback__
    except ValueError as wrong:
        return str(wrong), names(error.__traceback__)


def cleared():
    error = kept()
    trace = error.__traceback__
    while trace.tb_next:
        trace = trace.tb_next
    frame = trace.tb_frame
    before = dict(frame.f_locals)
    frame.clear()
    return before, dict(frame.f_locals), frame.f_lineno - frame.f_code.co_firstlineno


def wrong():
    out = []
    for bad in (5, "x", KeyError):
        try:
            raise ValueError(1).with_traceback(bad)
        except TypeError as e:
            out.append(str(e))
    return out


def running():
    try:
        raise OSError
    except OSError:
        frame = sys._getframe()
        return sys.exception().__traceback__.tb_frame is frame, frame.f_lineno - frame.f_code.co_firstlineno


for function in (look, moved, cut, cleared, wrong, running):
    hot(function, times=60)
