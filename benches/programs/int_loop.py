"""Sum of squares in a counted loop."""


def run(n):
    total = 0
    for i in range(n):
        total += i * i % 7
    return total


def run_unseen(limit):
    """The same kind with `while`, a step, and bit operators."""
    acc, k, odd = 1, 3, 0
    while k < limit:
        acc = (acc ^ k * 5) & 0xFFFFFF
        if acc & 1:
            odd += 1
        k += 2
    return acc, odd
