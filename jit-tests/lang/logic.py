"""and, or, not, is, in: short circuits, the value that comes back, truth of every kind, and errors of __bool__."""

calls = []


def note(name, value):
    calls.append(name)
    return value


def short(a, b):
    return a and b, a or b, not a


def chain(n):
    out = []
    for i in range(n):
        out.append((i % 2 and i % 3) or (i % 5 and "five") or None)
    return out


class Truth:
    def __init__(self, answer):
        self.answer = answer

    def __bool__(self):
        return self.answer


class Sized:
    def __init__(self, n):
        self.n = n

    def __len__(self):
        return self.n


class Box:
    def __init__(self, items):
        self.items = items

    def __contains__(self, x):
        if x == "boom":
            raise LookupError(x)
        return x in self.items and "found"


def count_true(values):
    n = 0
    for v in values:
        if v:
            n += 1
        if not v:
            n += 1000
    return n


def members(values, container):
    n = 0
    for v in values:
        if v in container:
            n += 1
        if v not in container:
            n += 1000
    return n


KINDS = [0, 1, 0.0, -0.0, 0.5, "", "a", [], [0], (), (0,), {}, {1: 1}, None, True, False, set(), b"", range(0), range(2), Sized(0), Sized(2), Truth(True), Truth(False)]
for k in KINDS:
    print([type(v).__name__ for v in short(k, 7)])
print(chain(20), len(chain(400)))
print(note("a", 0) and note("b", 1), note("c", 0) or note("d", 2), calls)
print(count_true([1] * 300 + KINDS), count_true([0.0, 1.0] * 200 + [None]))
for bad in (Truth(1), Truth(None), Sized(-1), Sized("x")):
    try:
        count_true([True] * 320 + [bad])
    except (TypeError, ValueError) as error:
        print(type(error).__name__, error, error.__traceback__.tb_next.tb_lineno)
print(members(range(400), range(0, 400, 7)), members([1, 2.0, True, "a"], [1, 2, 3]), members(["ab", "q"], "abc"), members([1, "k"], {"k": 0}))
print(members([3] * 350, {1, 2, 3}), members(["a", "z"], Box(["a"])), members([5, 9], iter([1, 5, 9])))
for container, probes in [(5, [1]), (Box([]), ["boom"]), ("abc", [1]), ({1}, [[1]])]:
    try:
        members(probes, container)
    except (TypeError, LookupError) as error:
        print(type(error).__name__, error)
a = []
b = []
print(a is b, a is a, a is not b, None is None, (a is None) is False)
