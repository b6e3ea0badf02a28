"""Tuples of ints and strings as keys of dicts and items of sets, and lookups that run user code."""


def grid(n):
    cells = {(x, y) for x in range(n) for y in range(n) if (x * y) % 3}
    found = 0
    for x in range(-1, n + 1):
        for y in range(-1, n + 1):
            if (x + 1, y) in cells:
                found += 1
            if (x, y, 0) in cells or (x,) in cells or () in cells:
                found += 100
    return found


def memo(n):
    known = {}
    for i in range(n):
        for j in range(5):
            key = (i & 3, j)
            if key in known:
                known[key] += 1
            else:
                known[key] = known.get((i, str(j)), 0)
            known["k" + str(j), i & 1] = known.get(("k" + str(j), i & 1), 0) + 1
    return sorted(known.items(), key=str)


def words(n):
    """Strings that are equal to keys but not the same objects."""
    d, s = {"ab": 1, "cd": 2, "é": 3}, {"ab", "cd", "é", 1, -1, -2}
    found = []
    for i in range(n):
        key = "".join(["a", "b"]) if i & 1 else "".join(["\xe9"])
        found.append((d.get(key), d[key], key in d, key in s, i in s, -i in s, key + "x" in s))
    return found[-3:]


for _ in range(20):
    grid(7), memo(20), words(20)
print(grid(7), memo(9), words(3))


class Key:
    log = []

    def __init__(self, value):
        self.value = value

    def __hash__(self):
        self.log.append(("hash", self.value))
        return hash(self.value)

    def __eq__(self, other):
        self.log.append(("eq", self.value, other))
        return self.value == other


def look(container, item):
    return item in container


def get(container, item):
    return container.get(item, "none"), container[item] if item in container else None


for _ in range(2000):
    look({1, 2}, 1), look({(1, 2)}, (1, 2)), look(frozenset("ab"), "a")
    get({(1, 2): 3}, (1, 2)), get({"a": 1}, "a"), get({1: 2}, 5)
print(look({Key((1, 2))}, (1, 2)), look({Key("a")}, "a"), look({Key(5)}, 5), Key.log)
Key.log.clear()
print(get({Key((1, 2)): "v"}, (1, 2)), get({(1, Key(2)): "w"}, (1, 2)), look({(1, 2)}, (1, Key(2))), Key.log)
for container in ({1.0, 2.5}, {True}, {None: 1}, {(1.0, 2)}, {(1, 2): 0, (1, 2.0): 1}, {-1, -2}, {(-1,), (-2,)}):
    print([look(container, item) for item in (1, 2, True, 1.0, None, (1, 2), (1.0, 2.0), -1, -2, (-1,), (-2,), (-3,), 2.5)])


class Text(str):
    def __eq__(self, other):
        return True

    def __hash__(self):
        return hash("a")


class Pair(tuple):
    def __eq__(self, other):
        return "pair"

    __hash__ = tuple.__hash__


print(look({Text("zz")}, "a"), look({"a"}, Text("zz")), get({Text("zz"): 4}, "a"), look({Pair((1, 2))}, (1, 2)), look({(1, 3)}, Pair((1, 3))))
for bad in ([], {}, ([],), (1, [])):
    for container in ({1, 2}, {(1, 2): 3}, frozenset()):
        try:
            print(look(container, bad))
        except TypeError as e:
            print(type(e).__name__, str(e).replace("cannot use 'list' as a set element (", "").split(":")[0][:12])


# Tables of many sizes, with deleted entries, and collisions.
def many(n):
    s, out = set(), 0
    for i in range(n):
        s.add((i * 1024, i))
        if i % 3 == 0:
            s.discard((i * 1024, i))
        out += (i * 1024, i) in s
        out += ((i - 1) * 1024, i) in s
    collide = {i << 16 for i in range(100)}
    return out, sum(i << 16 in collide for i in range(200)), len(s)


for n in (10, 100, 3000):
    print(many(n))


# Numbers as text.
def texts(values):
    return [f"{v}:{v!r}:{v!s}:{v!a}" + str(v) + repr(v) for v in values]


edges = [0, 1, -1, 9, 10, -10, 2 ** 30 - 1, 2 ** 30, -(2 ** 30), 2 ** 60 - 1, 2 ** 60, -(2 ** 60) + 1, 10 ** 18, 10 ** 17]
for _ in range(200):
    texts(range(5))
print(texts(edges))


class Int(int):
    def __str__(self):
        return "Int"

    def __format__(self, spec):
        return "formatted " + spec


class Shown:
    def __repr__(self):
        return "ré"

    def __str__(self):
        return "s" * 3


print(texts([True, Int(5), 1.5, None, Shown(), "é", b"x"]))


def appended(parts):
    text, kept = "", []
    for part in parts:
        text += part + " "
        kept.append(text)
        text += part
    return text, kept


for _ in range(200):
    appended(["a", "b", ""])
print(appended(["x", "é", "", "\U0001f600", "z"]), appended(["q" * 40] * 3))
