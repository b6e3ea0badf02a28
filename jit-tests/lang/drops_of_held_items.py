"""Drops of what a container still holds: unpacked items, with finalisers that change the containers, and exits in between."""


class Spoiler:
    """Clears a list when it ends."""

    def __init__(self, victim):
        self.victim = victim

    def __del__(self):
        self.victim.clear()


def pairs(rows):
    total = 0.0
    for ((a, b), v), w in rows:
        total += a * b + v[0] + w
    return total


def nested(rows):
    seen = []
    for (r, [x, y, z], m) in rows:
        r[0] += m * x
        r[1] += m * y
        seen.append(z)
    return seen


def from_locals(table, at):
    total = 0
    for i in at:
        row = table[i]
        (a, b), c = row
        total += a + b + c
    return total


def spoiled(rows, old):
    """The old value of `v` ends in the middle of the unpacking, and clears the list."""
    got = []
    v = w = None
    for (a, v), (b, w) in rows:
        got.append((a, b, type(v).__name__, type(w).__name__))
        if len(got) == old:
            v = Spoiler(rows)
    return got


def emptied(rows):
    """A turn empties the list that it runs over, and goes on with what it has of it."""
    got = []
    for (a, inner), b in rows:
        x, y = inner
        got.append(a + b + x + y)
        if len(got) % 7 == 0:
            rows.clear()
            got.append(inner[0] + len(inner))
            a, inner = (1, [2, 3])
    return got


def numbers(n):
    return [(((float(i), 2.0), [float(i), 1.0]), 0.5) for i in range(n)]


for turn in range(40):
    print(pairs(numbers(9)))
    rows = [([1.0, 2.0], [0.5, 0.25, float(i)], 3.0) for i in range(6)]
    print(nested(rows), rows[0][0])
    print(from_locals([((i, i + 1), i * 2) for i in range(5)], [0, 3, 4, 1]))
    print(spoiled([((i, [i]), (i, [i, i])) for i in range(12)], turn % 15))
    print(emptied([((i, [i, i + 1]), i) for i in range(10)]))
# Other classes leave in the middle of it.
print(pairs([(((1, 2), (3, 4)), 5), (((1.5, 2), [True]), 1)]))
for wrong in [[(1, 2)], [((1, 2), 3)], [(((1, 2, 3), [1]), 2)], [None], [(((1, "a"), [2]), 3)]]:
    try:
        print(pairs(wrong))
    except (TypeError, ValueError) as error:
        print(type(error).__name__, error)
