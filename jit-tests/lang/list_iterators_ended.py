"""Iterators of lists that end in compiled loops, and what they are afterwards."""


def consume(it):
    found = []
    for item in it:
        found.append(item)
    return found


def ends(items):
    it = iter(items)
    first = consume(it)
    items.append("late")
    again = consume(it)
    return first, again, it.__length_hint__(), it.__reduce__()[1], next(it, "none")


def grows(items, most):
    it = iter(items)
    seen = 0
    for item in it:
        seen += 1
        if len(items) < most:
            items.append(item)
    return seen, it.__length_hint__()


def shrinks(items):
    it = iter(items)
    for item in it:
        items.clear()
    items.extend([1, 2, 3])
    return consume(it), it.__length_hint__()


def partly(items):
    it = iter(items)
    for item in it:
        if item == 2:
            break
    return it.__reduce__()[1:], consume(it), it.__reduce__()[1:]


class Watched(list):
    def __del__(self):
        print("ended", len(self))


class Item:
    def __init__(self, name):
        self.name = name

    def __del__(self):
        print("dropped", self.name)


def dropped(n):
    """The list ends with its iterator."""
    for item in [Item(k) for k in range(n)]:
        pass
    print("after", item.name)


def nested(rows):
    total = 0
    for row in rows:
        for item in row:
            total += item
        for item in row:
            total -= 1
    return total


for n in range(40):
    results = ends([1, 2, 3]), ends([]), grows([1, 2], 9), shrinks([5, 6]), partly([1, 2, 3, 4]), nested([[], [1, 2], [], [3]])
    if n % 13 == 0:
        print(results)
dropped(3)
dropped(1)
print(consume(Watched([1, 2])), consume(iter(Watched())))
