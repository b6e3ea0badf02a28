"""Subscripts of lists, tuples, strings, dicts and user classes: negative, out of range, wrong kinds, slices, deletes."""


def get(container, key):
    return container[key]


def gather(container, keys):
    s = []
    for k in keys:
        s.append(container[k])
    return s


def sum_at(items, n):
    s = 0
    for i in range(n):
        s += items[i % 7] + items[-1 - i % 7]
    return s


def put(container, key, value):
    container[key] = value
    return container


def fill(items, values):
    for i in range(len(items)):
        items[i] = values[i % len(values)]
    return items


class Table:
    def __init__(self):
        self.log = []

    def __getitem__(self, key):
        self.log.append(key)
        if key == 13:
            raise LookupError("unlucky")
        return 2 * key

    def __setitem__(self, key, value):
        self.log.append((key, value))

    def __delitem__(self, key):
        raise KeyError(key)


class Index:
    def __index__(self):
        return 2


class MyList(list):
    def __getitem__(self, i):
        return -list.__getitem__(self, i)


class Missing(dict):
    def __missing__(self, key):
        return f"no {key}"


L = [10, 20, 30, 40, 50, 60, 70]
T = tuple(L)
S = "abcdefg"
U = "aé☃𝄞z"
D = {0: "zero", 1.5: "half", "k": 1, True: "yes", (1, 2): "pair"}
print(sum_at(L, 400), sum_at(T, 400), sum_at([0.5] * 7, 400), sum_at([1, 2.5, True, 4, 5, 6, 2**61], 400), sum_at(MyList(L), 300))
print(gather(S, [0, 3, -1]), gather(U, range(5)), gather(D, [0, 1.5, "k", 1, (1, 2), 0.0]), gather(b"xyz", [0, -1]), gather(range(10, 20), [1, -1]))
print(gather(Missing({1: 2}), [1, 5]), gather(L, [Index(), True]))
BAD = [(L, 7), (L, -8), (L, 2**63), (L, -(2**70)), (L, "x"), (L, 1.0), (L, None), (T, 7), (S, 7), (S, "a"), (D, 99), (D, []), (5, 0),
       (None, 0), (Table(), 13), (L, slice(0, 5, 0))]
for container, key in BAD:
    try:
        print(get(container, key))
    except (IndexError, TypeError, KeyError, LookupError, ValueError) as error:
        print(type(error).__name__, error, error.__traceback__.tb_next.tb_lineno)
t = Table()
print(sum(gather(t, range(13))), len(t.log), get(L, slice(1, 3)), get(S, slice(None, None, -2)), get(T, slice(-2, None)))
print(put([1, 2, 3], -1, "x"), put({}, "a", 1), put([1, 2, 3], slice(0, 2), "pq"), put(t, 1, 2).log[-1])
print(fill([0] * 10, [1, 2.5, "s"]), sum(fill([0] * 400, [1, 2, 3])), fill([None] * 3, [2**70]))
for container, key in [([1], 1), ([1], -2), ((1, 2), 0), ("ab", 0), ({}, []), ([1], "x"), (range(3), 0)]:
    try:
        put(container, key, 0)
    except (IndexError, TypeError) as error:
        print(type(error).__name__, error)
try:
    gather(L, list(range(7)) * 50 + [7])
except IndexError as error:
    print(error, error.__traceback__.tb_next.tb_lineno)


def trims(items):
    n = 0
    while items:
        del items[0]
        if len(items) % 2:
            del items[-1:]
        n += 1
    return n


print(trims(list(range(400))))
for container, key in [([1], 5), ({}, 5), ((1,), 0), (t, 1)]:
    try:
        del container[key]
    except (IndexError, KeyError, TypeError) as error:
        print(type(error).__name__, error)


def shrinks_under_us(items, n):
    s = 0
    for i in range(n):
        s += items[i]
        if i == 350:
            items.clear()
    return s


try:
    shrinks_under_us(list(range(400)), 400)
except IndexError as error:
    print(error)
