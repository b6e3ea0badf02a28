# What is dropped may be the last reference to an object whose end is seen: it changes what the code around knew of memory. Each function
# is called often enough to be compiled with a bet that nobody sees the end, and then with objects of which somebody does.


class Node:
    def __init__(self, value):
        self.value = value
        self.other = value
        self.item = None

    def double(self):
        return self.value * 2


class Other:
    def __init__(self):
        self.first = "first"
        self.value = "other"

    def double(self):
        return "other", self.value


class Loud:
    """Its end does something."""

    def __init__(self, act):
        self.act = act

    def __del__(self):
        self.act()


def store(node, item):
    before = node.value
    node.item = item
    return before, node.value, node.other, node.double()


def store_twice(node, item):
    node.item = item
    first = node.value
    node.item = None
    return first, node.value, node.other


def through(node, items):
    items[0] = node.value
    return len(items), items[1], node.value, node.other


def cell(node):
    held = None

    def set(item):
        nonlocal held
        held = item
        return node.value, node.other, held

    return set


def local(node, item):
    kept = item.item
    item.item = None
    kept = node.value
    return kept, node.value, node.other, node.double()


def walk(node, items):
    total = []
    for item in items:
        node.item = item
        total.append(node.value)
    return total


def warm(function, *makers):
    last = None
    for _ in range(3000):
        last = function(*[make() for make in makers])
    return last


def attempt(function, *args):
    try:
        return function(*args)
    except Exception as error:
        return type(error).__name__, str(error)


def check(label, function, make):
    print(label, "quiet", attempt(function, *make(lambda: None)))
    node = Node(1)

    def change():
        node.value = "changed"

    def delete():
        del node.value

    def give_dict():
        node.__dict__ = {"value": "dict", "other": "dict"}

    def add():
        node.__dict__["value"] = "added"

    def reclass():
        node.__class__ = Other

    def shadow():
        node.double = lambda: "shadowed"

    def patch():
        Node.double = lambda self: "patched"

    def fail():
        raise ValueError("not seen by anybody")

    for act in (change, delete, give_dict, add, reclass, shadow, patch):
        node = Node(1)
        original = Node.__dict__["double"]
        print(label, act.__name__, attempt(function, *make(act, node)))
        Node.double = original


def with_item(act, node=None):
    node = node or Node(1)
    node.item = Loud(act)
    return node, None


def with_list(act, node=None):
    return node or Node(1), [Loud(act), 2]


def with_holder(act, node=None):
    holder = Node(0)
    holder.item = Loud(act)
    return node or Node(1), holder


shared = object()
print(warm(store, lambda: Node(1), lambda: shared))
print(warm(store_twice, lambda: Node(1), lambda: shared))
print(warm(through, lambda: Node(1), lambda: [None, 2]))
print(warm(local, lambda: Node(1), lambda: Node(2)))
check("store", store, with_item)
check("store_twice", store_twice, with_item)
check("through", through, with_list)
check("local", local, with_holder)

node = Node(1)
set = cell(node)
for _ in range(3000):
    set(shared)
set(Loud(lambda: setattr(node, "value", "from a cell")))
print("cell", set(None))

print(warm(walk, lambda: Node(1), lambda: [None, shared, 2]))
node = Node(1)
steps = []


def step(n):
    def act():
        steps.append(n)
        node.value = n
    return act


print("walk", walk(node, [Loud(step(n)) for n in range(1, 6)] + [None]), steps)

# The bet is lost again and again: code is made without it.
lost = []
for n in range(2000):
    holder = Node(n)
    holder.item = Loud(lambda: lost.append(n))
    assert store(holder, None)[:3] == (n, n, n)
print("lost", len(lost))


# The frame is true while the end is seen: its line and its locals.
import sys


def watched(node, item):
    here = "watched"
    count = 3
    node.item = item
    return count, here, node.value


for _ in range(3000):
    watched(Node(1), shared)


def look():
    frame = sys._getframe()
    while frame.f_code.co_name != "watched":
        frame = frame.f_back
    print("seen", frame.f_lineno - frame.f_code.co_firstlineno, frame.f_locals["here"], frame.f_locals["count"])
    frame.f_locals["count"] = 4


node = Node(1)
node.item = Loud(look)
print(watched(node, None))
