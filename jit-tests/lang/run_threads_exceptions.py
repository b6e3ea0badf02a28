"""Threads that run compiled code at once: each its own exceptions, generators handed over, locks in with, a hook for what nobody catches."""

import threading

from support import hot


def work(n, fail):
    try:
        s = 0
        for i in range(n):
            s += i
            if i == fail:
                raise LookupError(i)
        return s
    except LookupError as error:
        return repr(error), error.__traceback__.tb_lineno - work.__code__.co_firstlineno


def run_all(jobs):
    results = [None] * len(jobs)
    def one(k):
        results[k] = [work(*jobs[k]) for _ in range(40)][-1]
    threads = [threading.Thread(target=one, args=(k,)) for k in range(len(jobs))]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    return results


def counted(n, threads):
    lock = threading.Lock()
    total = 0
    def add():
        nonlocal total
        for _ in range(n):
            with lock:
                total += 1
    ts = [threading.Thread(target=add) for _ in range(threads)]
    for t in ts:
        t.start()
    for t in ts:
        t.join()
    return total


def handed(n):
    def g():
        for i in range(n):
            yield i, threading.current_thread() is first
    it = g()
    first = threading.current_thread()
    out = [next(it)]
    t = threading.Thread(target=lambda: out.append(next(it)))
    t.start()
    t.join()
    out.append(next(it))
    return out


def both_at_once():
    """A generator that one thread runs can't be resumed by another."""
    ready, go = threading.Event(), threading.Event()
    def g():
        ready.set()
        go.wait()
        yield 1
    it = g()
    t = threading.Thread(target=lambda: next(it))
    t.start()
    ready.wait()
    try:
        next(it)
    except ValueError as error:
        text = str(error)
    go.set()
    t.join()
    return text


def uncaught():
    seen = []
    saved = threading.excepthook
    threading.excepthook = lambda args: seen.append((args.exc_type.__name__, str(args.exc_value)))
    t = threading.Thread(target=lambda: [1 / (5 - i) for i in range(9)])
    t.start()
    t.join()
    threading.excepthook = saved
    return seen


def locals_of_threads(n):
    data = threading.local()
    data.x = "main"
    out = []
    def one():
        out.append(getattr(data, "x", "unset"))
        data.x = n
        out.append(data.x)
    t = threading.Thread(target=one)
    t.start()
    t.join()
    return out, data.x


hot(run_all, [(50, -1), (50, 20), (30, 29), (10, 5)], times=10)
hot(counted, 200, 3, times=5)
hot(handed, 4, times=30)
hot(both_at_once, times=20)
hot(uncaught, times=30)
hot(locals_of_threads, 5, times=30)
