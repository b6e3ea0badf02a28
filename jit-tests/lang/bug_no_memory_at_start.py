"""Memory that is wanting before a frame has come to its start, for its cells: it is in no traceback, and its caller is there once."""

# not in mode default: the interpreter itself crashes where its events are on and nothing is compiled yet.
# not in mode late: likewise.

import gc
import sys

try:
    # Later patch versions (3.13.15 for one) end with SIGSEGV here when nothing is compiled.
    if sys.version_info[:3] > (3, 13, 0):
        raise ImportError
    from _testcapi import remove_mem_hooks, set_nomemory
except ImportError:
    set_nomemory = remove_mem_hooks = lambda *numbers: None


def celled(a):
    def inner():
        return a
    return inner()


def entries(error):
    out = []
    trace = error.__traceback__
    while trace:
        out.append((id(trace.tb_frame), trace.tb_lasti))
        trace = trace.tb_next
    return out


def run(function, *args):
    results, doubled = set(), 0
    for cleared in (False, True):
        for n in range(40):
            if cleared:
                gc.collect()
            error = result = None
            set_nomemory(n, n + 1)
            try:
                result = function(*args)
            except MemoryError as e:
                error = e
            remove_mem_hooks()
            if error is None:
                results.add(str(result))
            else:
                found = entries(error)
                doubled += len(found) != len(set(found))
    return sorted(results), doubled


for _ in range(200):
    celled(3)
gc.disable()
gc.freeze()
print(run(celled, 3))
