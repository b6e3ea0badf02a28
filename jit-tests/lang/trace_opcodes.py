"""Single instructions are traced from where a debugger asks for them, in the line that it was called in, as `pdb.set_trace()` does."""
import sys

seen = []


def trace(frame, event, arg):
    if frame.f_code is target.__code__:
        seen.append((event, frame.f_lineno - frame.f_code.co_firstlineno))
    return trace


def stop_here():
    frame = sys._getframe(1)
    frame.f_trace = trace
    frame.f_trace_opcodes = True
    sys.settrace(trace)


def target(n):
    total = 0
    for i in range(n):
        total += i
    stop_here(); total += 1
    for i in range(2):
        total += i
    sys.settrace(None)
    return total


def quiet(n):
    return sum(i * 2 for i in range(n))


for _ in range(3):
    seen.clear()
    print(target(100), quiet(10))
    print(seen)
for _ in range(50):
    quiet(10)
print(quiet(1000))
