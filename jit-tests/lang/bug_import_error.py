"""A failing `from ... import` raises once, quickly, and no function but the program's is compiled or traced for it."""

import sys

events = []


def tracer(frame, event, arg):
    events.append((frame.f_code.co_name, event))
    return None


def take():
    from sys import no_such_name


def attempt():
    try:
        take()
    except ImportError as error:
        return type(error).__name__, error.name, error.args, error.__traceback__.tb_next.tb_next


for _ in range(3):
    print(attempt())
sys.settrace(tracer)
attempt()
sys.settrace(None)
print(events)
calls = []
sys.setprofile(lambda frame, event, arg: calls.append((frame.f_code.co_name, event)))
attempt()
sys.setprofile(None)
print(calls)
