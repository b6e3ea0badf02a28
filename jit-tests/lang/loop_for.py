"""for over ranges, lists, tuples, strings, dicts, sets, files of lines, and user iterators; mutation while iterating."""


def total(items):
    s = 0
    for x in items:
        s += x
    return s


def bounds(*args):
    out = []
    for i in range(*args):
        out.append(i)
    return len(out), out[:2], out[-2:]


class Countdown:
    def __init__(self, n, fail_at=None):
        self.n = n
        self.fail_at = fail_at

    def __iter__(self):
        return self

    def __next__(self):
        self.n -= 1
        if self.n == self.fail_at:
            raise OSError("iterator broke")
        if self.n < 0:
            raise StopIteration
        return self.n


class Old:
    """Iterated through __getitem__."""

    def __getitem__(self, i):
        if i >= 350:
            raise IndexError
        return i * 2


def growing(items):
    n = 0
    for x in items:
        n += 1
        if len(items) < 500:
            items.append(x + 1)
    return n


def shrinking(items):
    n = 0
    for x in items:
        n += x
        items.remove(x)
    return n, items


def with_else(items, stop):
    for x in items:
        if x == stop:
            break
    else:
        return "end"
    return x


def left_over(n):
    for i in range(n):
        pass
    return i


print(total(range(500)), total(list(range(500))), total(tuple(range(500))), total(iter([1, 2])), total({3: 0, 4: 0}), total({5, 6}))
print(total([1] * 300 + [0.5] * 3), total(Countdown(400)), total(Old()), total(range(2**60, 2**60 + 400)), total(b"abc"))
for args in [(400,), (0,), (5, 400), (400, 0, -1), (0, 400, 7), (10, 0), (2**62, 2**62 + 3), (-3, 3), (2**63 - 2, 2**63 + 2), (0, 2**70, 2**68)]:
    try:
        print(args, *bounds(*args))
    except IndexError as error:
        print(args, error)
print(growing([0]), shrinking(list(range(10))), with_else(range(400), 399), with_else(range(400), 400), left_over(350))
for bad in (5, None, Countdown(400, 20), [1] * 320 + ["x"]):
    try:
        total(bad)
    except (TypeError, OSError) as error:
        print(type(error).__name__, error, error.__traceback__.tb_next.tb_lineno)
try:
    left_over(0)
except UnboundLocalError as error:
    print(error)
d = {i: i for i in range(400)}
try:
    for k in d:
        if k == 350:
            d["new"] = 1
except RuntimeError as error:
    print(error, k)
s = set(range(400))
try:
    for k in s:
        s.discard(k)
        s.add(-1 - k)
except RuntimeError as error:
    print(error)
try:
    range(1, 2, 0)
except ValueError as error:
    print(error)
for i in range(400):
    i *= 2
print(i)
pairs = 0
for i, (j, k) in enumerate(zip(range(400), "ab" * 200)):
    pairs += i * j + (k == "a")
print(pairs)
