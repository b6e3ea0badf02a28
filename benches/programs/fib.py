"""Doubly recursive Fibonacci numbers, and another small recursion."""


def fib(n):
    if n < 2:
        return n
    return fib(n - 1) + fib(n - 2)


def run(n):
    return fib(n)


def ways(rows, columns):
    if rows == 0 or columns == 0:
        return 1
    return ways(rows - 1, columns) + ways(rows, columns - 1)


def run_unseen(rows, columns):
    return ways(rows, columns)
