"""Instances whose attributes are in a dictionary of their own, next to instances of the same class that have none."""

import collections
import gc


class Node:
    default = "default"

    def __init__(self, n):
        self.a = n
        self.b = n + 1
        self.items = [n]

    def step(self, by):
        self.a += by
        self.late = self.a
        return self.a

    def other(self):
        return "method"


def inline(n):
    return Node(n)


def dictionary(n):
    node = Node(n)
    node.__dict__ = {"b": n + 1, "items": [n], "a": n}
    return node


def many(n):
    node = Node(n)
    for i in range(40):
        setattr(node, f"field{i}", i)
    return node


def ordered(n):
    node = Node(n)
    node.__dict__ = collections.OrderedDict(items=[n], b=n + 1, a=n)
    return node


class Key(str):
    compared = 0

    def __eq__(self, other):
        Key.compared += 1
        return str.__eq__(self, other)

    __hash__ = str.__hash__


def odd_keys(n):
    node = Node(n)
    node.__dict__ = {7: "seven", Key("a"): n, "b": n, "items": [n]}
    return node


def work(node, times):
    total = 0
    for i in range(times):
        node.a += 1
        node.b = i
        total += node.a + node.b + node.step(2)
        node.items[0] = total
    return total, node.other(), node.default, sorted(map(str, vars(node)))[:6], list(vars(node).items())[:3]


for make in (inline, dictionary, many, ordered, odd_keys, inline):
    for n in (1, 50, 300):
        print(make.__name__, n, work(make(n), n))
    Node.default = make.__name__
print(Key.compared > 0)

mixed = [make(n) for n in range(30) for make in (inline, dictionary, many, ordered)]
print(sum(work(node, 20)[0] for node in mixed))


def call(node):
    return node.other()


def hidden(nodes):
    return [call(node) for node in nodes]


for _ in range(40):
    hidden(mixed)
mixed[1].other = lambda: "an attribute"
mixed[2].__dict__["oth" + "er"] = lambda: "another"
mixed[3].__dict__[Key("other")] = lambda: "odd"
mixed[4].other = lambda: "inline"
print(hidden(mixed[:8]))
del mixed[1].other, mixed[2].other, mixed[4].other
print(hidden(mixed[:3]))


def read(node):
    try:
        return node.late
    except AttributeError as error:
        return str(error)


def write(node, value):
    node.late = value


for node in mixed:
    node.late = 1
print({read(node) for _ in range(20) for node in mixed})
for node in mixed[:6]:
    del node.late
print([read(node) for node in mixed[:8]])
for node in mixed[:6]:
    write(node, "new")
print([read(node) for node in mixed[:8]], list(vars(mixed[1])), list(vars(mixed[2]))[-2:])
mixed[1].__dict__ = {}
print(read(mixed[1]), call(mixed[1]))


class Noisy:
    def __init__(self, name):
        self.name = name

    def __del__(self):
        print("end of", self.name)


holder = dictionary(1)
holder.late = Noisy("first")
for i in range(60):
    write(holder, Noisy(i) if i > 56 else None)
write(holder, None)

# Only numbers, so that the collector need not know of the dictionary; then it must.
plain = Node(1)
plain.__dict__ = {"late": 1}
write(plain, 2)
cycle = Noisy("cycle")
cycle.me = plain
write(plain, cycle)
del plain, cycle
gc.collect()


class Failure(Exception):
    def __init__(self, code):
        super().__init__("failed")
        self.code = code

    def describe(self):
        return f"{self.code}"


def codes(n):
    found = []
    for i in range(n):
        try:
            raise Failure(i)
        except Failure as failure:
            failure.code += 1
            found.append(failure.describe())
    return found[-3:]


print(codes(300))


class Table(dict):
    def __init__(self):
        self.hits = 0

    def hit(self):
        self.hits += 1
        return self.hits


table = Table()
print([table.hit() for _ in range(300)][-1], table)
