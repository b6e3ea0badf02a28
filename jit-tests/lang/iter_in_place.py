"""Loops over the keys and the values of dicts, and over lists from the end."""


def keys_of(d, n):
    found = []
    for _ in range(n):
        found = []
        for k in d:
            found.append(k)
    return found


def values_of(d, n):
    total = 0
    for _ in range(n):
        for v in d.values():
            total += v
    return total


def views_of(d, n):
    found = 0
    for _ in range(n):
        for k in d.keys():
            found += len(str(k))
    return found


def backwards(xs, n):
    found = []
    for _ in range(n):
        found = []
        for x in reversed(xs):
            found.append(x)
    return found


class Instance:
    def __init__(self):
        self.a = 1
        self.b = 2


class Own(dict):
    def __iter__(self):
        return iter(["own"])


class Back:
    def __reversed__(self):
        return iter("back")


mixed = {"a": 1, 2: 2, (3, 4): 3, None: 4}
holes = {i: i for i in range(12)}
for k in (0, 3, 4, 5, 11):
    del holes[k]
for n in (1, 60, 400):
    for d in ({"a": 1, "b": 2}, {1: 5, 2: 6}, mixed, holes, {}, vars(Instance())):
        print(keys_of(d, n), values_of(d, n), views_of(d, n))
    for xs in ([1, 2, 3], [], (4, 5), "xyz", range(4), {1: 2, 3: 4}, Back()):
        print(backwards(xs, n))
print(keys_of(Own(x=1), 50), values_of(Own(x=1), 50), views_of(Own(x=1), 50))


def tried(function, *args):
    try:
        return function(*args)
    except Exception as e:
        return type(e).__name__, str(e), e.__traceback__.tb_next.tb_lineno


def resized(d, step):
    seen = []
    for k in d:
        seen.append(k)
        if len(seen) == 2:
            step(d)
    return seen


def resized_values(d, step):
    seen = []
    for v in d.values():
        seen.append(v)
        if len(seen) == 2:
            step(d)
    return seen


def swap(d):
    del d["e"]
    d["f"] = 1


steps = (
    lambda d: None,
    lambda d: d.update(z=1),
    lambda d: d.pop("a"),
    swap,
    lambda d: d.update(c="changed"),
    lambda d: d.clear(),
)
for _ in range(120):
    results = [
        (tried(f, {k: k for k in "abcde"}, step)) for step in steps for f in (resized, resized_values)
    ]
print(*results, sep="\n")


def changed_list(xs, step):
    seen = []
    for x in reversed(xs):
        seen.append(x)
        if len(seen) == 2:
            step(xs)
    return seen


list_steps = (
    lambda xs: xs.pop(),
    lambda xs: xs.append(9),
    lambda xs: xs.clear(),
    lambda xs: xs.insert(0, 8),
    lambda xs: xs.extend(range(20)),
    lambda xs: xs.__setitem__(0, "first"),
)
for _ in range(120):
    results = [changed_list(list(range(6)), step) for step in list_steps]
print(*results, sep="\n")


# The iterator is used inside the loop, and behind it.
def inside(iterator):
    seen = []
    for x in iterator:
        seen.append((x, next(iterator, None)))
    return seen, list(iterator)


def behind(iterator):
    for x in iterator:
        if x == 3:
            break
    rest = [next(iterator)]
    for x in iterator:
        rest.append(x)
    return rest


numbers = {i: i for i in range(7)}
for _ in range(200):
    result = [
        f(make())
        for f in (inside, behind)
        for make in (
            lambda: iter(numbers),
            lambda: iter(numbers.values()),
            lambda: reversed(list(numbers)),
            lambda: reversed(numbers),
        )
    ]
print(*result, sep="\n")


def nested(d, n):
    total = 0
    for _ in range(n):
        for k in d:
            for j in d:
                total += k * j
            for v in reversed([k, total & 3]):
                total -= v
    return total


print(nested(numbers, 100))


# Exceptions in the body, and other types than at first.
def summed(xs):
    total = 0
    for x in reversed(xs):
        total = total + x
    return total


for _ in range(300):
    summed([1, 2, 3])
print(summed([1.5, 2]), tried(summed, [1, "a"]), summed((1, 2)), tried(summed, [None]))


def caught(d):
    bad = []
    for k in d:
        try:
            bad.append(10 // k)
        except ZeroDivisionError:
            bad.append("zero")
    return bad


for _ in range(200):
    result = caught({1: 1, 0: 2, 5: 3})
print(result)
