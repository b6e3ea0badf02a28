"""Functions of numbers only: called without frames, which must be there as soon as anything leaves."""

import sys
import threading
import traceback


def fib(n):
    if n < 2:
        return n
    return fib(n - 1) + fib(n - 2)


def grow(n):
    # Leaves 64 bits on the way back up.
    if n == 0:
        return 3
    return grow(n - 1) * 7


def divide(n, d):
    if n == 0:
        return 10 // d
    return divide(n - 1, d) + 1


def outer(n, d):
    return divide(n, d) * 2 - 1


def half(x):
    return x * 0.5


def mixed(x, n):
    if n < 1:
        return x
    return half(mixed(x, n - 1)) + 1.0


def is_even(n):
    if n == 0:
        return True
    return not is_even(n - 1)


def down(n):
    if n == 0:
        return 0
    return down(n - 1) + 1


def kinds(a, b=2):
    if a > b:
        return a - b
    return b - a


def calls_kinds(a):
    return kinds(a) + kinds(a, 1) + kinds(b=a, a=5)


for _ in range(80):
    fib(7)
    grow(5)
    outer(4, 3)
    mixed(1.5, 6)
    is_even(5)
    down(20)
    calls_kinds(4)

print(fib(20))
print(grow(4), grow(21), grow(40))
print(outer(6, 4))
for bad in (0, 0, 0):
    try:
        outer(3, bad)
    except ZeroDivisionError as error:
        frames = traceback.extract_tb(error.__traceback__)
        print([(f.name, f.lineno, f.colno, f.end_colno) for f in frames], error)
        tb = error.__traceback__
        while tb:
            print(tb.tb_frame.f_code.co_name, sorted(tb.tb_frame.f_locals.items())[:3], end=" ")
            tb = tb.tb_next
            if tb is None or tb.tb_frame.f_code.co_name == "<module>":
                print()
print(mixed(1.0, 10), mixed(float("inf"), 3), mixed(2, 3), mixed(True, 2))
print(is_even(10), is_even(7), is_even(True))
print(fib(True), fib(8.0), type(fib(2.0)), down(0))
print(kinds(3), kinds(True), kinds(2.5), calls_kinds(7))
try:
    fib("x")
except TypeError as error:
    print(error)
try:
    fib(1, 2)
except TypeError as error:
    print(error)


def depth_of(limit):
    old = sys.getrecursionlimit()
    sys.setrecursionlimit(limit)
    try:
        low, high = 1, 4 * limit
        while low + 1 < high:
            middle = (low + high) // 2
            try:
                down(middle)
                low = middle
            except RecursionError as error:
                high = middle
        return low
    finally:
        sys.setrecursionlimit(old)


print(depth_of(200) - depth_of(150))
try:
    down(10**6)
except RecursionError as error:
    print(error, len(traceback.extract_tb(error.__traceback__)) > 900)

# A unit's calls of itself stand in its code, some deep: each depth is left, and each has its limit.
def deepest(n, d):
    if n == 0:
        return 10 // d
    return deepest(n - 1, d) + deepest(0, 1)


for _ in range(80):
    deepest(6, 3)
for n in range(9):
    try:
        deepest(n, 0)
    except ZeroDivisionError as error:
        tb, seen = error.__traceback__, []
        while tb:
            seen.append((tb.tb_frame.f_locals.get("n"), tb.tb_lineno, tb.tb_lasti))
            tb = tb.tb_next
        print(seen[1:], error)


def shift(n, x):
    if n == 0:
        return x
    return shift(n - 1, x * 2) - 1


for _ in range(80):
    shift(6, 1)
print([shift(n, 2**58) for n in range(9)])


def limits():
    for limit in range(70, 80):
        sys.setrecursionlimit(limit)
        deep = 0
        try:
            while True:
                deepest(deep, 1)
                deep += 1
        except RecursionError:
            yield limit, deep


found = list(limits())
sys.setrecursionlimit(1000)
below, frame = 0, sys._getframe()
while frame:
    below, frame = below + 1, frame.f_back
print([limit - deep - below for limit, deep in found])

# A larger number in the middle of the chain: the rest of each frame runs in the interpreter.
big = 10**30


def pick(n):
    if n < 0:
        return big
    return n


def chain(n):
    if n == 0:
        return pick(-1) if flag else pick(1)
    return chain(n - 1) + 1


flag = False
for _ in range(80):
    chain(6)
flag = True
print(chain(5), chain(5) - big)

# Another function under the same name, while the first is running.
calls = []


def twice(n):
    if n == 0:
        return 1
    return twice(n - 1) * 2


for _ in range(80):
    twice(9)
print(twice(10))
first = twice


def twice(n):
    calls.append(n)
    return 100


print(first(3), calls)
del twice
try:
    first(2)
except NameError as error:
    print(error)

# Code exchanged.
def three(n):
    if n == 0:
        return 3
    return three(n - 1)


def user(n):
    return three(n) + 1


for _ in range(80):
    user(3)
print(user(2))
three.__code__ = (lambda n: n * 10).__code__
print(user(2))
three.__defaults__ = (7,)
print(three())

# Others at work.
results = []


def worker():
    for _ in range(3):
        results.append(fib(15))


threads = [threading.Thread(target=worker) for _ in range(4)]
old = sys.getswitchinterval()
sys.setswitchinterval(1e-6)
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
sys.setswitchinterval(old)
print(set(results), len(results))

# Tracing sees every call.
events = []


def tracer(frame, event, arg):
    events.append((frame.f_code.co_name, event, frame.f_lineno - frame.f_code.co_firstlineno))
    return tracer


sys.settrace(tracer)
fib(3)
sys.settrace(None)
print(len(events), events[:6])
print(fib(12))
