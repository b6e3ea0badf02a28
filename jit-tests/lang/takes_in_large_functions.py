"""References taken one after the other in a function so large that one call takes them: each object has as many as it should."""

import sys


class Item:
    ended = 0

    def __del__(self):
        Item.ended += 1


def make(n):
    lines = ["def large(t, u, unbound):", " a = b = c = d = e = f = g = h = None", " if unbound: del h"]
    for i in range(n):
        lines += [
            " a, b, c, d, e, f, g = t",
            f" l = [a, b, c, d, e, f, g, a, a, {i}]",
            " a, b = u",
            " c = (a, b, d, None, e, f)",
            " try: l.append(h)",
            " except UnboundLocalError as error: l.append(str(error)); c = (*c, l[-1])",
        ]
    lines += [" return a, b, c, d, e, f, g, l"]
    namespace = {}
    exec("\n".join(lines), namespace)
    return namespace["large"]


def counts(objects):
    return [sys.getrefcount(o) for o in objects]


def main():
    large = make(40)
    t = tuple(Item() for _ in range(7))
    u = [Item(), Item()]
    before = counts([*t, *u])
    results = []
    for turn in range(60):
        result = large(t, tuple(u), turn == 50)
        if turn in (0, 40, 50, 59):
            names = {id(o): k for k, o in enumerate([*t, *u])}
            shown = [names.get(id(o), o) for part in result for o in (part if isinstance(part, (list, tuple)) else [part])]
            results.append((turn, shown, [a - b for a, b in zip(counts([*t, *u]), before)]))
        del result
    print(*results, sep="\n")
    print("left over", [a - b for a, b in zip(counts([*t, *u]), before)], Item.ended)
    # The wrong number of items, and the last references.
    for wrong in (t[:6], t + t, None):
        try:
            large(wrong, u, False)
        except (TypeError, ValueError) as error:
            print(type(error).__name__, error)
    print("after errors", [a - b for a, b in zip(counts([*t, *u]), before)])
    large(tuple(Item() for _ in range(7)), (Item(), Item()), False)
    print("ended", Item.ended)
    del t, u
    print("ended", Item.ended)


main()
