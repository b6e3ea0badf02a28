"""Iterators of lists that end in interpreters with locks of their own, while compiled code makes others: each has its own memory."""

import threading

import _interpreters

CODE = """
def total(rows):
    n = 0
    for row in rows:
        for x in row:
            n += x
        n += sum([y for y in iter([1, 2, 3])])
    return n

for _ in range(600):
    assert total([[1, 2]] * 10) == 90
"""


def total(rows):
    n = 0
    for row in rows:
        for x in row:
            n += len(str(x))
        n += sum([len(str(y)) for y in iter([1, 2, 3])])
    return n


others = [_interpreters.create("isolated") for _ in range(2)]
failures = []
threads = [threading.Thread(target=lambda i=i: failures.append(_interpreters.exec(i, CODE))) for i in others]
for thread in threads:
    thread.start()
seen = {total([[1, 2]] * 10) for _ in range(600)}
for thread in threads:
    thread.join()
for other in others:
    _interpreters.destroy(other)
print(failures, seen, total([[1]]))
