"""Ints that are deallocated in interpreters with locks of their own, while compiled code reuses the memory of freed ints: each has its own memory."""

import gc
import threading

import _interpreters

CODE = """
def work(n):
    # Of one digit and of two, freed from containers, by arithmetic, and when the interpreter ends.
    held = list(range(10 ** 6, 10 ** 6 + n)) + list(range(10 ** 15, 10 ** 15 + n))
    table = {k: k + 1 for k in held}
    del held
    table.clear()
    total = 10 ** 5
    for k in range(n):
        total += k * k
    return total

for _ in range(20):
    work(300)
kept = [list(range(10 ** 6, 10 ** 6 + 300)), list(range(10 ** 15, 10 ** 15 + 300))]
"""


def boxes(start, n):
    made = []
    for k in range(n):
        made.append(start + k)
    return made


def totals(rows):
    table = {}
    for row in rows:
        for x in row:
            table[x] = x + 1
    return sum(table.values())


def use():
    small, large = boxes(10 ** 6, 2000), boxes(10 ** 15, 2000)
    return totals([small, large]), small[-1], large[-1]


def hold():
    return boxes(10 ** 6, 1000), boxes(10 ** 15, 1000)


def one_after_another():
    for _ in range(4):
        # There are no freed ints to reuse any more.
        held = [hold()]
        other = _interpreters.create("isolated")
        failure = _interpreters.exec(other, CODE)
        early = use()
        held.append(hold())
        _interpreters.destroy(other)
        held.append(hold())
        late = use()
        print(failure, early == late, late, held[0] == held[1] == held[2])
        # More than are kept for reuse: the others go back to the allocator.
        del held
        gc.collect()


def at_once():
    others = [_interpreters.create("isolated") for _ in range(2)]
    failures = []
    threads = [threading.Thread(target=lambda i=i: failures.append(_interpreters.exec(i, CODE))) for i in others]
    for thread in threads:
        thread.start()
    held = [hold()]
    seen = {use() for _ in range(20)}
    held.append(hold())
    for thread in threads:
        thread.join()
    for other in others:
        _interpreters.destroy(other)
    print(failures, seen, held[0] == held[1])
    del held
    gc.collect()


for _ in range(3):
    use()
one_after_another()
at_once()
print(use())
