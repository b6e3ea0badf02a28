"""Two variables that change places, in one assignment; and four that go round."""


def run(n):
    a, b = 0, 1
    for _ in range(n):
        a, b = b, (a + b) % 1000003
    return a, b


def run_unseen(turns):
    """Four, so that a tuple is made, of two kinds of numbers."""
    w, x, y, z = 1, 0.5, 3, 2.25
    k = 0
    while k < turns:
        w, x, y, z = y, z, w ^ k & 255, x * 0.5 + 1.0
        k += 1
    return w, x, y, z
