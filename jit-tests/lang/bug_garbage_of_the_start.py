"""Nothing that the start of the JIT has left behind ends under a program's tracer."""

import gc
import sys


def trace(frame, event, arg):
    log.append((event, frame.f_code.co_name, frame.f_code.co_filename))
    return trace


log = []
sys.settrace(trace)
gc.collect()
sys.settrace(None)
print(log)
