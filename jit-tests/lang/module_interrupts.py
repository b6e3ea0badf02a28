"""Hot loops at module level that others look into: threads, signals, tracing, and code that begins to trace."""

import signal
import sys
import threading
import time

# Another thread looks at the names, and ends the loop.
seen = []
stop = False


def watch():
    global stop
    last = -1
    while len(seen) < 3:
        now = n
        if now > last:
            seen.append(now)
            last = now + 1000
        time.sleep(0.001)
    stop = True


n = twice = 0
thread = threading.Thread(target=watch)
thread.start()
while not stop:
    n += 1
    twice += 2
thread.join()
print(len(seen), seen == sorted(seen), seen[-1] <= n, twice == 2 * n)

# The same name, stored in the loop's own code too.
n = twice = 0
stop = False
del seen[:]
thread = threading.Thread(target=watch)
thread.start()
while not stop:
    stop = stop
    n += 1
    twice += 2
    stop = stop or False
    if n % 1000 == 0:
        time.sleep(0)
    if len(seen) >= 3:
        break
thread.join()
print(len(seen), seen == sorted(seen), seen[-1] <= n, twice == 2 * n)


# A signal's handler looks, changes a name, and raises.
class Enough(Exception):
    pass


def on_alarm(number, frame):
    global rounds, limit
    looked.append((a - b in (0, 1), frame is sys._getframe(1), frame.f_locals is globals()))
    rounds += 1
    if rounds == 6:
        raise Enough
    if rounds == 3:
        limit = 0
    else:
        signal.setitimer(signal.ITIMER_REAL, 0.01)


looked = []
signal.signal(signal.SIGALRM, on_alarm)
rounds = a = b = 0
limit = 1 << 60
signal.setitimer(signal.ITIMER_REAL, 0.01)
while a < limit:
    a += 1
    b += 1
print(rounds, a == b, looked == [(True, True, True)] * 3)
signal.setitimer(signal.ITIMER_REAL, 0.01)
try:
    while True:
        a += 1
        b += 1
except Enough:
    print(rounds, a - b in (0, 1), looked == [(True, True, True)] * 6)
signal.signal(signal.SIGALRM, signal.default_int_handler)
signal.setitimer(signal.ITIMER_REAL, 0.01)
try:
    while True:
        a += 1
        b += 1
except KeyboardInterrupt as error:
    print("interrupted", a - b in (0, 1), type(error).__name__)

# Tracing begins in the middle.
events = []


def trace(frame, event, arg):
    if frame.f_code.co_name == "<module>":
        events.append((event, frame.f_lineno - base, frame.f_locals["count"], frame.f_locals["i"]))
    return trace


def begin():
    sys.settrace(trace)
    sys._getframe(1).f_trace = trace


base = sys._getframe().f_lineno
count = 0
for i in range(3000):
    count += i
    if i == 2995:
        begin()
    count -= 1
sys.settrace(None)
print(count, events)

# Profiling, with a call that it tells of.
calls = []


def profile(frame, event, arg):
    if event == "c_call":
        calls.append((arg.__name__, count, i))


count = 0
for i in range(3000):
    count += i
    if i == 2996:
        sys.setprofile(profile)
    count -= abs(-1)
sys.setprofile(None)
print(count, calls)
