"""Lists of floats written in place."""


def run(n, times):
    values = [1.0 + i for i in range(n)]
    for _ in range(times):
        for i in range(n):
            values[i] = values[i] * 1.0001
    return sum(values)


def run_unseen(width, turns):
    """A smoothing filter from one list to another, then swapped."""
    here = [float(k % 13) for k in range(width)]
    there = [0.0] * width
    for _ in range(turns):
        there[0] = here[0]
        there[width - 1] = here[width - 1]
        for k in range(1, width - 1):
            there[k] = (here[k - 1] + 2.0 * here[k] + here[k + 1]) * 0.25
        here, there = there, here
    return sum(here)
