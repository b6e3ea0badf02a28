"""Green threads run a compiled loop in turns while other functions are compiled and thrown away."""

# repeat: 3

import warnings

warnings.simplefilter("ignore")

import eventlet


def work(n):
    total = 0
    for i in range(n):
        total += i if i < 2500 else float(i)
        if i % 100 == 0:
            eventlet.sleep(0)
    return total


def others():
    results = []
    for k in range(60):
        namespace = {}
        exec(f"def f(n):\n  s = 0\n  for i in range(n): s += i * {k} % 7\n  return s", namespace)
        results.append(namespace["f"](5000))
        eventlet.sleep(0)
    return sum(results)


def produce(queue, n):
    for i in range(n):
        queue.put(i * 2)
    queue.put(None)


def items(queue):
    while (item := queue.get()) is not None:
        yield item + 0.5


def timed(n, seconds):
    with eventlet.Timeout(seconds, False):
        for i in range(n):
            eventlet.sleep(0)
        return "done"
    return "late"


pool = eventlet.GreenPool(20)
other = eventlet.spawn(others)
print(sum(pool.imap(work, [3000] * 40)), other.wait())
queue = eventlet.Queue(3)
eventlet.spawn(produce, queue, 2000)
print(sum(items(queue)))
print(timed(10, 30), timed(10**9, 0.05))
