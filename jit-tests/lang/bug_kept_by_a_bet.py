"""A unit that had bet on a function made by its own code kept it, and what its cells hold, when the call was long over."""

ended = 0


class Seen:
    def __del__(self):
        global ended
        ended += 1


def makes(p, seen):
    def inner():
        nonlocal seen

    for _ in range(2):
        pass
    inner()


def makes_longer(p, seen):
    def inner():
        nonlocal seen

    for _ in range(3):
        pass
    inner()


def makes_in_loop(a, seen):
    for i in [a, 2.0, -1]:
        def inner(b):
            nonlocal seen
            return -b

        a += inner(i)
    return a


def late(f, kinds):
    before = ended
    missing = []
    for turn in range(300):
        f(kinds[turn % len(kinds)], Seen())
        if ended - before + len(missing) != turn + 1:
            missing.append(turn)
    return missing


print(late(makes, [0.5, None, 1, 0.5, 1, 1]))
print(late(makes_longer, [0.5, 1, None, 0.5, 1, 1]))
print(late(makes_in_loop, [2**70, 1, 1, 0.5, 1, 1]))
print(ended)
