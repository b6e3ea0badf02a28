"""A closure that calls itself is made again by each call of what makes it: a unit of its code holds none, nor what it closes over."""

import gc
import weakref

RECURSION = """
def outer(data, depth):
    def recurse(k):
        return 0 if k == 0 else recurse(k - 1) + (data is None)
    result = recurse(depth)
    recurse = None  # breaks the cycle
    return result
"""
LOOP = """
def outer(data, depth):
    def recurse(k):
        total = 1
        for i in range(k):
            total += recurse(i) + (data is None)
        return total
    result = recurse(depth)
    recurse = None
    return result
"""


class Big:
    pass


def run(source, depth, times):
    namespace = {}
    exec(source, namespace)
    references = []
    for _ in range(times):
        data = Big()
        references.append(weakref.ref(data))
        namespace["outer"](data, depth)
        del data
    return namespace, references


def alive(references):
    return sum(reference() is not None for reference in references)


for name, source in ("recursion", RECURSION), ("loop", LOOP):
    for depth in 1, 2, 3, 5:
        for times in 5, 10, 20, 25, 30, 40, 100:
            namespace, references = run(source, depth, times)
            print(name, depth, times, alive(references), end=" ")
            gc.collect()
            print(alive(references))
