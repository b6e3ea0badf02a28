"""gevent: pools, queues, events, timeouts and kills in the midst of compiled loops and generators."""

# repeat: 3

import gevent
from gevent.event import AsyncResult, Event
from gevent.pool import Pool
from gevent.queue import Queue

SCALE = 1


def scaled(x):
    gevent.sleep(0)
    return x * SCALE


def work(n):
    total = 0
    for i in range(n):
        total += scaled(i) if i % 64 == 0 else i
    return total


def items(queue):
    for item in queue:
        yield item + 0.25


def produce(queue, n):
    for i in range(n):
        queue.put(i)
        if i % 7 == 0:
            gevent.sleep(0)
    queue.put(StopIteration)


def others(n):
    global SCALE
    results = []
    for k in range(n):
        namespace = {}
        exec(f"def f(n):\n  s = 0\n  for i in range(n): s += i * {k} % 7\n  return s", namespace)
        results.append(namespace["f"](3000))
        SCALE = 1 + k % 2
        gevent.sleep(0)
    SCALE = 1
    return sum(results)


def interrupted(n, seconds):
    done = 0
    try:
        with gevent.Timeout(seconds):
            for done in range(n):
                if done % 50 == 0:
                    gevent.sleep(0)
    except gevent.Timeout:
        return "late"
    return "done"


def killed():
    log = []

    def body():
        try:
            for i in range(10**9):
                if i % 100 == 0:
                    gevent.sleep(0)
        except gevent.GreenletExit:
            log.append("killed")
            raise
        finally:
            log.append("finally")

    g = gevent.spawn(body)
    gevent.sleep(0.01)
    g.kill()
    return log, g.successful()


def recursion(n):
    if n == 0:
        gevent.sleep(0)
        return 1
    return recursion(n - 1) + 1


def chained(n):
    results = [AsyncResult() for _ in range(n + 1)]

    def link(k):
        results[k + 1].set(results[k].get() + k)

    gs = [gevent.spawn(link, k) for k in reversed(range(n))]
    results[0].set(0)
    gevent.joinall(gs)
    return results[n].get()


def main():
    # What `scaled` gives depends on who runs between: only that nothing is lost is looked at.
    pool = Pool(20)
    other = gevent.spawn(others, 60)
    totals = pool.map(work, [2000] * 60)
    print(len(totals), min(totals) >= sum(range(2000)), other.get())
    queue = Queue(5)
    gevent.spawn(produce, queue, 3000)
    print(sum(items(queue)))
    print(interrupted(10, 30), interrupted(10**9, 0.05))
    print(killed())
    print([g.get() for g in [gevent.spawn(recursion, n) for n in range(0, 400, 20)]])
    print(chained(200))
    event = Event()
    waiting = [gevent.spawn(lambda k=k: (event.wait(), k)[1]) for k in range(50)]
    gevent.sleep(0)
    event.set()
    print(sum(g.get() for g in waiting))


main()
