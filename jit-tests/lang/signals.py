"""Signals that arrive in a hot loop: handlers run, may raise, and see a consistent frame."""

import os
import signal

# Whoever runs this in the background may have had it ignored.
signal.signal(signal.SIGINT, signal.default_int_handler)

hits = []


def handler(number, frame):
    hits.append(number)


def loop(n, send_at):
    s = 0
    for i in range(n):
        s += i
        if i == send_at:
            os.kill(os.getpid(), signal.SIGUSR1)
    return s


signal.signal(signal.SIGUSR1, handler)
print(loop(500, 450), hits == [signal.SIGUSR1])


class Alarm(Exception):
    pass


def alarm(number, frame):
    raise Alarm(frame.f_code.co_name)


def endless():
    i = 0
    while True:
        i += 1


def endless_float():
    x = 0.0
    while x < 1e300:
        x = x + 1.0


def endless_for():
    for i in range(10**15):
        pass


signal.signal(signal.SIGALRM, alarm)
for f in (endless, endless_float, endless_for):
    signal.setitimer(signal.ITIMER_REAL, 0.03)
    try:
        f()
    except Alarm as error:
        print("stopped", error)


def guarded(n):
    try:
        os.kill(os.getpid(), signal.SIGUSR2)
        for i in range(n):
            pass
    except Alarm:
        return "caught"
    finally:
        hits.append("finally")
    return "not"


signal.signal(signal.SIGUSR2, alarm)
print(guarded(10**6), hits[-1])


def interrupted():
    s = 0
    while True:
        s += 1
        if s == 5000:
            signal.raise_signal(signal.SIGINT)


try:
    interrupted()
except KeyboardInterrupt as error:
    print("interrupt", error.__traceback__.tb_next.tb_frame.f_code.co_name)


def sees_frame(number, frame):
    seen.update({k: v for k, v in frame.f_locals.items() if k in ("a", "b")})


seen = {}


def consistent(n):
    a = 0
    b = 0.0
    for i in range(n):
        a += 1
        b += 0.5
        if i == n - 1:
            signal.raise_signal(signal.SIGUSR1)
    return a, b


signal.signal(signal.SIGUSR1, sees_frame)
print(consistent(500), seen == {"a": 500, "b": 250.0})
for _ in range(3):
    signal.setitimer(signal.ITIMER_REAL, 0.01)
    try:
        endless()
    except Alarm:
        print("again")
