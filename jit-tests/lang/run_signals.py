"""Signals in compiled loops: handlers that raise, count and change what the loop reads; KeyboardInterrupt caught, in finally, in with."""

import signal
import threading

from support import hot

hits = []
stop = False


def raise_signal(n, at):
    """A loop of a unit's own that the signal arrives in."""
    s = 0
    for i in range(n):
        s += i
        if i == at:
            signal.raise_signal(signal.SIGUSR1)
    return s


def counting(number, frame):
    hits.append(frame.f_code.co_name)


def raising(number, frame):
    raise KeyError("from the handler")


def stopping(number, frame):
    global stop
    stop = True


def counted():
    hits.clear()
    signal.signal(signal.SIGUSR1, counting)
    return raise_signal(50, 10), list(hits)


def raised():
    signal.signal(signal.SIGUSR1, raising)
    try:
        raise_signal(50, 10)
    except KeyError as error:
        return str(error)


def until_stopped(most):
    global stop
    stop = False
    signal.signal(signal.SIGUSR1, stopping)
    n = 0
    while not stop:
        n += 1
        if n == most:
            signal.raise_signal(signal.SIGUSR1)
    return n == most or n == most + 1


def interrupted():
    log = []
    try:
        try:
            for i in range(100):
                if i == 50:
                    signal.raise_signal(signal.SIGINT)
            log.append("never")
        finally:
            log.append("finally")
    except KeyboardInterrupt as error:
        log.append(repr(error))
    return log


class Manager:
    def __enter__(self):
        return self

    def __exit__(self, kind, value, trace):
        hits.append(kind.__name__)
        return kind is KeyboardInterrupt


def in_with():
    hits.clear()
    with Manager():
        signal.raise_signal(signal.SIGINT)
        for i in range(10):
            pass
    return list(hits)


def in_generator():
    def g():
        try:
            yield 1
            signal.raise_signal(signal.SIGINT)
            yield 2
        except KeyboardInterrupt:
            yield "caught"
    return list(g())


def other_thread():
    hits.clear()
    signal.signal(signal.SIGUSR1, counting)
    t = threading.Thread(target=lambda: signal.pthread_kill(main, signal.SIGUSR1))
    t.start()
    t.join()
    for _ in range(100):
        if hits:
            break
    return len(hits)


main = threading.get_ident()
signal.signal(signal.SIGINT, signal.default_int_handler)
for function in (counted, raised, interrupted, in_with, in_generator):
    hot(function, times=60)
hot(until_stopped, 40, times=60)
hot(other_thread, times=20)
