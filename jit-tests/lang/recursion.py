"""Recursion: plain, mutual, deep, over the limit, with the limit raised, and from finalisers and comparisons."""

import sys


def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)


def even(n):
    return True if n == 0 else odd(n - 1)


def odd(n):
    return False if n == 0 else even(n - 1)


def ackermann(m, n):
    if m == 0:
        return n + 1
    if n == 0:
        return ackermann(m - 1, 1)
    return ackermann(m - 1, ackermann(m, n - 1))


def depth(n):
    return 0 if n == 0 else 1 + depth(n - 1)


def endless(n):
    return endless(n + 1) + 1


def endless_try(n):
    try:
        return endless_try(n + 1)
    finally:
        state.append(n)


def mutual(n):
    return mutual2(n + 1)


def mutual2(n):
    return [mutual(n)]


class Node:
    def __init__(self, left, right, value):
        self.left = left
        self.right = right
        self.value = value

    def total(self):
        return (self.left.total() if self.left else 0) + self.value + (self.right.total() if self.right else 0)

    def __eq__(self, other):
        return self == other


def tree(n):
    return None if n == 0 else Node(tree(n - 1), tree(n - 1), n)


def permutations(items):
    if not items:
        return [[]]
    return [[x] + rest for i, x in enumerate(items) for rest in permutations(items[:i] + items[i + 1:])]


def hanoi(n, a, b, c):
    return 0 if n == 0 else hanoi(n - 1, a, c, b) + 1 + hanoi(n - 1, c, b, a)


state = []
print(fib(17), even(300), odd(300), ackermann(2, 5), depth(300), hanoi(9, "a", "b", "c"), tree(8).total(), len(permutations([1, 2, 3, 4, 5])))
for f in (endless, endless_try, mutual):
    for _ in range(3):
        try:
            f(0)
        except RecursionError as error:
            print(f.__name__, type(error).__name__, str(error).startswith("maximum recursion depth exceeded"))
print(len(state) > 500, state[-1], state == sorted(state, reverse=True) if len(state) < 1000 else "many")
try:
    Node(None, None, 1) == 2
except RecursionError:
    print("RecursionError in ==")
limit = sys.getrecursionlimit()
sys.setrecursionlimit(20000)
print(depth(15000))
try:
    endless(0)
except RecursionError as error:
    print("raised limit", type(error).__name__)
sys.setrecursionlimit(limit)
print(depth(300))
try:
    depth(5000)
except RecursionError as error:
    print("back to the old limit")
try:
    fib("x")
except TypeError as error:
    print(error)


def late_type(n):
    return 0.5 if n == 0 else late_type(n - 1) + n


print(late_type(300))
