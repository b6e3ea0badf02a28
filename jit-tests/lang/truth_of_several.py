"""Truth of what is None or an object of a class that says it: expected, not expected, changed meanwhile, the last reference, in each form of test."""

import sys

from support import each, hot


class Node:
    def __init__(self, value, left=None, right=None):
        self.value, self.left, self.right = value, left, right

    def __repr__(self):
        return f"Node({self.value})"


class Other:
    __slots__ = ("next",)

    def __init__(self, next=None):
        self.next = next

    def __repr__(self):
        return "Other()"


class Sub(Node):
    pass


class Sized(Node):
    def __len__(self):
        return self.value


class Asked(Node):
    def __bool__(self):
        if self.value < 0:
            raise ValueError(self.value)
        return self.value % 2 == 0


def tree(low, high, kind=Node):
    if low >= high:
        return None
    middle = (low + high) // 2
    return kind(middle, tree(low, middle, kind), tree(middle + 1, high, kind))


def summed(node):
    if not node:
        return 0
    return node.value + (summed(node.left) if node.left else 0) + (summed(node.right) if node.right else 0)


def depth(node):
    n = 0
    while node:
        n += 1
        node = node.left or node.right
    return n


def forms(x, y):
    out = []
    if x:
        out.append("if")
    out.append(not x)
    out.append(bool(x))
    out.append(x and y)
    out.append(x or y)
    out.append([z for z in (x, y) if z])
    out.append("all" if x and y else "any" if x or y else "none")
    return [repr(o) for o in out]


def guarded(x):
    try:
        if x:
            return "true"
        return "false"
    except ValueError as e:
        return repr(e), e.__traceback__.tb_lineno - guarded.__code__.co_firstlineno


def over(values):
    return [guarded(x) for x in values]


def changed(n):
    """The class says something else in the midst."""

    class Local:
        pass

    out, o = [], Local()
    for i in range(n):
        x = o if i % 3 else None
        if i == n - 6:
            Local.__len__ = lambda self: 0
        if i == n - 4:
            Local.__bool__ = lambda self: True
        if i == n - 2:
            del Local.__bool__, Local.__len__
        out.append("true" if x else "false")
    return out[-9:]


def another_class(n):
    """The object is of another class than a moment ago."""
    o, out = Node(0), []
    for i in range(n):
        if i == n - 3:
            o.__class__ = Sized
        if i == n - 1:
            o.__class__ = Sub
        x = o if i % 2 else None
        out.append((bool(x), "yes" if x else "no", not o))
    return out[-5:]


def last_reference(n):
    """The object dies where it is asked, and its end may be seen."""
    log = []

    class Dying:
        def __del__(self):
            frame = sys._getframe(1)
            log.append((frame.f_lineno - frame.f_code.co_firstlineno, frame.f_locals.get("i")))

    out = []
    for i in range(n):
        if Dying() if i % 2 else None:
            out.append(i)
        out.append(not (None if i % 3 else Dying()))
        while None if i % 2 else Dying():
            break
    return out[-4:], log[-4:], len(log)


def dies_and_changes(n):
    """The end of the object makes its class say something else."""

    class Dying:
        def __del__(self):
            Dying.__bool__ = lambda self: False

    out = []
    for i in range(n):
        if i == n - 2:
            keep = None
        else:
            keep = Dying()
        out.append("true" if (Dying() if i >= n - 2 else keep if i % 2 else None) else "false")
        if keep:
            out.append("kept")
    return out[-6:]


def counts(n):
    node, none = Node(1), None
    before = sys.getrefcount(node)
    for i in range(n):
        x = node if i % 2 else none
        if x:
            pass
        y = not x
        z = x and y
    del x, y, z
    return sys.getrefcount(node) - before


for kind in (Node, Sub, Sized, Asked):
    try:
        hot(summed, tree(0, 40, kind))
        hot(depth, tree(0, 40, kind))
    except ValueError as e:
        print(repr(e))
each(forms, *[(a, b) for a in (None, Node(1), Other()) for b in (None, Node(2), Sized(0), Asked(1))], times=20)
hot(over, [None, Node(1), None, Sub(2)])
hot(over, [None, Node(1), Other(), Asked(-1), Sized(0), 0, "", [], 1.5, Asked(2), Asked(-3), object()])
hot(changed, 60, times=3)
hot(another_class, 60, times=3)
hot(last_reference, 40)
hot(dies_and_changes, 40, times=3)
hot(counts, 50)
