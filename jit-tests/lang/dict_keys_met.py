"""What lookups find in dicts by all kinds of keys, in tables of all sizes: equal ones, those with the same hash, removed ones."""


class Text(str):
    pass


class Same(int):
    def __hash__(self):
        return 1

    def __eq__(self, other):
        return "equal"


class Missing(dict):
    def __missing__(self, key):
        return "missing " + repr(key)


class Bad:
    def __hash__(self):
        raise ValueError("no hash")


def each(d, keys):
    found = []
    for key in keys:
        try:
            item = d[key]
        except (KeyError, TypeError, ValueError) as error:
            item = type(error).__name__, error.args
        try:
            found.append((item, key in d, d.get(key), d.get(key, "default")))
        except (TypeError, ValueError) as error:
            found.append((item, str(error)))
    return found


fresh = "".join(["a", "b"])
keys = ["ab", fresh, Text("ab"), "c", "", 0, 1, -1, -2, True, False, 1.0, 2**30 - 1, 2**30, -(2**30), 2**61 - 1, 2**61, 2**70, None,
        (), (1, "a"), Same(7), [], Bad(), b"ab", "\u00e9", "\U0001f600"]
strings = {"ab": 1, "c": 2, "\u00e9": 3}
numbers = {0: "zero", -1: "minus one", -2: "minus two", 1: "one", 2**30: "large", 2**61 - 1: "prime"}
mixed = {**strings, **numbers, None: "none", (): "empty", (1, "a"): "pair", 2.5: "float", 2**70: "huge"}
removed = dict(mixed)
for key in ["ab", -1, 2**30]:
    del removed[key]
sizes = [{k: -k for k in range(n)} for n in (0, 3, 200, 300, 70000)]
texts = [{str(k): k for k in range(n)} for n in (3, 200, 70000)]
same_hash = {Same(1): "same", 5: "five"}
for turn in range(60):
    answers = [each(d, keys) for d in (strings, numbers, mixed, removed, {}, Missing(mixed), same_hash, vars(Missing(mixed)) or {})]
for answer in answers:
    print(answer)
for turn in range(30):
    answers = [each(d, [0, 1, 2, 199, 299, 69999, 70000, -1, "1"]) for d in sizes]
    answers += [each(d, ["0", "2", "199", "69999", "70000", 1]) for d in texts]
for answer in answers:
    print(answer)


class Instance:
    def __init__(self):
        self.a, self.b = 1, 2


def of_instances(one):
    d = vars(one)
    return each(d, ["a", "b", "c", 1])


for turn in range(60):
    answer = of_instances(Instance())
one = Instance()
del one.a
one.c = 3
print(answer, of_instances(one))


# Changed while it is looked at by a loop.
def grows(n):
    d, hits = {}, 0
    for i in range(n):
        if i % 7 in d:
            hits += d[i % 7]
        d[i % 11] = i
        if i % 13 == 0:
            d.pop(i % 11)
    return hits, sorted(d.items())


for turn in range(20):
    answer = grows(200)
print(answer)


# An equality that runs code, in the middle of a lookup.
class Nosy:
    def __init__(self, container):
        self.container = container

    def __hash__(self):
        return hash("key")

    def __eq__(self, other):
        self.container.clear()
        return False


def looks(d, key):
    return key in d, d.get(key)


for turn in range(60):
    looks({"key": 1, 2: 3}, "key")
d = {}
d[Nosy(d)] = 1
print(looks(d, "key"), d)
