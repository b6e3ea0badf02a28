"""Everyday idioms, one function each: `--list`, or a name and seconds."""
import bisect
import collections
import enum
import functools
import itertools
import json
import operator
import re
import struct
import sys
import time

IDIOMS = {}


def idiom(function):
    IDIOMS[function.__name__] = function
    return function


class Point:
    def __init__(self, x, y):
        self.x = x
        self.y = y

    @property
    def total(self):
        return self.x + self.y

    @total.setter
    def total(self, value):
        self.x = value - self.y

    def __call__(self, value):
        return self.x + value

    def __len__(self):
        return 4

    def __getitem__(self, index):
        if index >= 4:
            raise IndexError(index)
        return self.x + index

    def __contains__(self, value):
        return value == self.x

    def __bool__(self):
        return self.y > 0


class Special(Point):
    def __init__(self, x, y, z):
        super().__init__(x, y)
        self.z = z

    @property
    def total(self):
        return super().total + self.z


class Fallback:
    def __getattr__(self, name):
        if name == "missing":
            return 3
        raise AttributeError(name)


class Lock:
    def __init__(self):
        self.depth = 0

    def __enter__(self):
        self.depth += 1
        return self

    def __exit__(self, *details):
        self.depth -= 1
        return False


class Color(enum.Enum):
    RED = 1
    GREEN = 2
    BLUE = 3


Pair = collections.namedtuple("Pair", "left right")
NAMES = ("alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta")
LINE = "name=value; other = 17; third=yes ; last = 2.5"
WORD = re.compile(r"[a-z]+")


@idiom
def property_get_set(n):
    point = Point(1, 2)
    total = 0
    for i in range(n * 10):
        point.total = i
        total += point.total
    return total


@idiom
def super_chain(n):
    total = 0
    for i in range(n * 5):
        total += Special(i, 1, 2).total
    return total


@idiom
def getattr_fallback(n):
    thing = Fallback()
    total = 0
    for i in range(n * 5):
        total += thing.missing
    return total


@idiom
def with_class(n):
    lock = Lock()
    total = 0
    for i in range(n * 10):
        with lock as held:
            total += held.depth
    return total


@idiom
def namedtuple_use(n):
    total = 0
    for i in range(n * 5):
        pair = Pair(i, 2)
        total += pair.left + pair.right
        left, right = pair
        total += left - right
    return total


@idiom
def enum_members(n):
    members = [Color.RED, Color.GREEN, Color.BLUE]
    total = 0
    for i in range(n * 3):
        for member in members:
            if member is Color.RED or member == Color.BLUE:
                total += 1
    return total


@idiom
def enum_values(n):
    members = [Color.RED, Color.GREEN, Color.BLUE]
    total = 0
    for i in range(n * 2):
        for member in members:
            total += member.value
    return total


@idiom
def lru_cached(n):
    @functools.lru_cache(maxsize=None)
    def square(value):
        return value * value

    total = 0
    for i in range(n * 10):
        total += square(i & 31)
    return total


@idiom
def key_error(n):
    table = {name: len(name) for name in NAMES[:4]}
    total = 0
    for i in range(n):
        for name in NAMES:
            try:
                total += table[name]
            except KeyError:
                total += 1
    return total


@idiom
def deque_use(n):
    queue = collections.deque()
    total = 0
    for i in range(n * 8):
        queue.append(i)
        if len(queue) > 10:
            total += queue.popleft()
    return total


@idiom
def counter_use(n):
    total = 0
    for i in range(n // 2 + 1):
        count = collections.Counter(NAMES)
        count["alpha"] += 1
        total += count["alpha"]
    return total


@idiom
def sorted_key(n):
    rows = [(i * 7919 % 101, i) for i in range(30)]
    total = 0
    for i in range(n // 3 + 1):
        total += sorted(rows, key=lambda row: row[0])[0][1]
    return total


@idiom
def map_filter(n):
    numbers = list(range(30))
    total = 0
    for i in range(n):
        total += sum(map(lambda x: x * 2, filter(lambda x: x & 1, numbers)))
    return total


@idiom
def zip_enumerate(n):
    left = list(range(20))
    right = list(range(20, 40))
    total = 0
    for i in range(n):
        for index, (a, b) in enumerate(zip(left, right)):
            total += a * b - index
    return total


@idiom
def list_comprehension(n):
    total = 0
    for i in range(n):
        total += len([x * 2 for x in range(30) if x % 3])
    return total


@idiom
def nested_comprehension(n):
    rows = [list(range(8)) for _ in range(8)]
    total = 0
    for i in range(n // 4 + 1):
        flipped = [[row[k] for row in rows] for k in range(8)]
        total += flipped[3][4]
    return total


@idiom
def split_join(n):
    total = 0
    for i in range(n * 2):
        parts = LINE.split(";")
        total += len(",".join(part.strip() for part in parts))
    return total


@idiom
def percent_format(n):
    total = 0
    for i in range(n * 5):
        total += len("%d: %s (%5.2f)" % (i, "x", 2.5))
    return total


@idiom
def str_replace_find(n):
    total = 0
    for i in range(n * 5):
        total += LINE.find("other") + len(LINE.replace(" ", "")) + LINE.count(";")
    return total


@idiom
def parse_ints(n):
    texts = [str(i * 37) for i in range(20)]
    total = 0
    for i in range(n):
        for text in texts:
            total += int(text)
    return total


@idiom
def regex_calls(n):
    total = 0
    for i in range(n * 2):
        match = WORD.match(LINE)
        if match:
            total += match.end() + len(match.group())
    return total


@idiom
def struct_pack(n):
    total = 0
    for i in range(n * 5):
        a, b = struct.unpack("<IH", struct.pack("<IH", i, 7))
        total += a + b
    return total


@idiom
def itemgetter_use(n):
    get = operator.itemgetter(1)
    pairs = [(i, i * 2) for i in range(10)]
    total = 0
    for i in range(n * 2):
        for pair in pairs:
            total += get(pair)
    return total


@idiom
def callable_object(n):
    add = Point(3, 4)
    total = 0
    for i in range(n * 10):
        total += add(i)
    return total


@idiom
def own_sequence(n):
    point = Point(1, 2)
    total = 0
    for i in range(n * 2):
        for k in range(len(point)):
            total += point[k]
        if point and 1 in point:
            total += 1
    return total


@idiom
def star_args(n):
    def target(a, b, c):
        return a + b - c

    total = 0
    for i in range(n * 5):
        values = (i, 2, 3)
        total += target(*values)
    return total


@idiom
def decorated(n):
    def traced(function):
        @functools.wraps(function)
        def wrapper(*args, **kwargs):
            return function(*args, **kwargs)
        return wrapper

    @traced
    def add(a, b=2):
        return a + b

    total = 0
    for i in range(n * 5):
        total += add(i) + add(i, b=3)
    return total


@idiom
def generator_send(n):
    def averager():
        total = 0
        value = yield 0
        while True:
            total += value
            value = yield total

    running = averager()
    next(running)
    total = 0
    for i in range(n * 5):
        total = running.send(i)
    return total


@idiom
def yield_from_tree(n):
    def walk(tree):
        if tree is not None:
            left, value, right = tree
            yield from walk(left)
            yield value
            yield from walk(right)

    def build(depth):
        if depth == 0:
            return None
        return (build(depth - 1), depth, build(depth - 1))

    tree = build(5)
    total = 0
    for i in range(n // 4 + 1):
        for value in walk(tree):
            total += value
    return total


@idiom
def set_operations(n):
    left = set(range(0, 20, 2))
    right = set(range(0, 20, 3))
    total = 0
    for i in range(n * 2):
        total += len(left & right) + len(left | right)
        if i in left:
            total += 1
    return total


@idiom
def dict_setdefault(n):
    total = 0
    for i in range(n // 2 + 1):
        groups = {}
        for k in range(24):
            groups.setdefault(k % 5, []).append(k)
        total += len(groups[0])
    return total


@idiom
def memo_tuple_keys(n):
    memo = {(x, y): x * y for x in range(6) for y in range(6)}
    total = 0
    for i in range(n // 2 + 1):
        for x in range(6):
            for y in range(6):
                total += memo[x, y]
    return total


@idiom
def bytes_scan(n):
    data = bytes(range(60))
    total = 0
    for i in range(n):
        for byte in data:
            if byte & 1:
                total += byte
    return total


@idiom
def grid_2d(n):
    grid = [[(x * y) & 3 for x in range(8)] for y in range(8)]
    total = 0
    for i in range(n // 2 + 1):
        for y in range(1, 7):
            for x in range(1, 7):
                total += grid[y - 1][x] + grid[y + 1][x] + grid[y][x - 1]
    return total


@idiom
def linked_list(n):
    head = None
    for i in range(30):
        head = Pair(i, head)
    total = 0
    for i in range(n):
        node = head
        while node is not None:
            total += node.left
            node = node.right
    return total


@idiom
def bisect_use(n):
    keys = list(range(0, 100, 3))
    total = 0
    for i in range(n * 5):
        total += bisect.bisect_left(keys, i % 100)
    return total


@idiom
def chain_islice(n):
    left = list(range(10))
    total = 0
    for i in range(n):
        for value in itertools.chain(left, left):
            total += value
        for value in itertools.islice(left, 5):
            total += value
    return total


@idiom
def reduce_lambda(n):
    numbers = list(range(20))
    total = 0
    for i in range(n):
        total += functools.reduce(lambda a, b: a + b, numbers)
    return total


@idiom
def json_dumps(n):
    record = {"name": "x", "values": [1, 2, 3], "flag": True}
    total = 0
    for i in range(n):
        total += len(json.dumps(record))
    return total


@idiom
def reversed_sum(n):
    numbers = [i * 3 for i in range(30)]
    total = 0
    for i in range(n):
        for value in reversed(numbers):
            total = (total * 3 + value) & 0xFFFF
        total += max(numbers) + min(numbers) + sum(numbers)
    return total


def main():
    if sys.argv[1] == "--list":
        print(*IDIOMS)
        return
    function = IDIOMS[sys.argv[1]]
    seconds = float(sys.argv[2])
    n = int(sys.argv[3]) if len(sys.argv) > 3 else 1000
    times = []
    answer = None
    end = time.perf_counter() + seconds
    while time.perf_counter() < end or len(times) < 6:
        start = time.perf_counter()
        answer = function(n)
        times.append(time.perf_counter() - start)
    later = sorted(times[len(times) // 2:])
    print(repr(answer))
    print("%.7f %.7f" % (times[0], later[0]), file=sys.stderr)


if __name__ == "__main__":
    main()
