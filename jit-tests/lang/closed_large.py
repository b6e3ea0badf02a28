"""Recursive functions of numbers alone that are large: they have no frame, so nothing may be shown in it."""

import gc

PART = """
    a = (a * 3 + b) & 1023
    if a > {n}:
        b = b + 1
    else:
        b = b - a
    x = x * 0.5 + a
    c = c ^ (a + b)
    if x > c:
        x = x - c
"""


def make(parts):
    text = "def f(n, a, b, c, x):" + "".join(PART.format(n=n) for n in range(parts))
    text += "    if n <= 0:\n        return a + b + c\n"
    names = {}
    exec(text + "    return f(n - 1, a, b, c, x) + f(n - 2, b, c, a, x)\n", names)
    return names["f"]


for parts in (1, 30, 60):
    # Neighbours of the function in memory.
    before = [[n] * 12 for n in range(200)]
    f = make(parts)
    behind = [[n] * 12 for n in range(200)]
    for _ in range(60):
        result = f(6, 1, 2, 3, 0.5)
    print(parts, result, f.__name__, f.__defaults__, f.__kwdefaults__, f.__dict__, f.__doc__, f.__annotations__)
    # Sums and operands that the function was not made for: it leaves from amid its calls.
    print(f(6, 1 << 61, 1 << 61, 1 << 62, 1e300), f(6, 1, 1 << 80, 3, 0.5), f(5, True, 2, 3, 7))
    gc.collect()
    print(all(row == [n] * 12 for n, row in enumerate(before)), all(row == [n] * 12 for n, row in enumerate(behind)))
