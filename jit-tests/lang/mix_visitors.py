"""Trees of objects walked by dispatch on the class's name, by isinstance, by double dispatch and by generators; copied with cycles; compared."""

from support import each, hot


class Node:
    fields = ()

    def __init__(self, *values):
        if len(values) != len(self.fields):
            raise TypeError(f"{type(self).__name__} takes {len(self.fields)}")
        for name, value in zip(self.fields, values):
            setattr(self, name, value)

    def __repr__(self):
        return f"{type(self).__name__}({', '.join(repr(getattr(self, f)) for f in self.fields)})"

    def __eq__(self, other):
        return type(self) is type(other) and all(getattr(self, f) == getattr(other, f) for f in self.fields)


class Number(Node):
    fields = ("value",)

    def accept(self, v):
        return v.number(self)


class Name(Node):
    fields = ("name",)

    def accept(self, v):
        return v.name(self)


class Binary(Node):
    fields = ("op", "left", "right")

    def accept(self, v):
        return v.binary(self)


class Evaluate:
    def __init__(self, names):
        self.names = names

    def visit(self, node):
        return getattr(self, "visit_" + type(node).__name__, self.unknown)(node)

    def visit_Number(self, node):
        return node.value

    def visit_Name(self, node):
        return self.names[node.name]

    def visit_Binary(self, node):
        a, b = self.visit(node.left), self.visit(node.right)
        return {"+": lambda: a + b, "*": lambda: a * b, "/": lambda: a / b}[node.op]()

    def unknown(self, node):
        raise NotImplementedError(type(node).__name__)


class Show:
    def number(self, n):
        return str(n.value)

    def name(self, n):
        return n.name

    def binary(self, n):
        return f"({n.left.accept(self)} {n.op} {n.right.accept(self)})"


def simplified(node):
    if isinstance(node, Binary):
        left, right = simplified(node.left), simplified(node.right)
        match node.op, left, right:
            case "*", Number(value=0), _:
                return Number(0)
            case "*", _, Number(value=1):
                return left
            case "+", Number(value=a), Number(value=b):
                return Number(a + b)
        return Binary(node.op, left, right)
    return node


def walked(node):
    yield type(node).__name__
    for f in node.fields:
        child = getattr(node, f)
        if isinstance(child, Node):
            yield from walked(child)


def copied(x, memo=None):
    memo = {} if memo is None else memo
    if id(x) in memo:
        return memo[id(x)]
    if isinstance(x, list):
        y = memo[id(x)] = []
        y.extend(copied(item, memo) for item in x)
    elif isinstance(x, dict):
        y = memo[id(x)] = {}
        for k, v in x.items():
            y[copied(k, memo)] = copied(v, memo)
    elif isinstance(x, tuple):
        y = tuple(copied(item, memo) for item in x)
        memo[id(x)] = y
    elif isinstance(x, Node):
        y = memo[id(x)] = object.__new__(type(x))
        y.__dict__.update(copied(x.__dict__, memo))
    else:
        y = x
    return y


def cyclic():
    a = [1]
    a.append(a)
    d = {"a": a, "self": None}
    d["self"] = d
    c = copied(d)
    return c is not d, c["self"] is c, c["a"][1] is c["a"], c["a"] is not a, c["a"][0]


N, V, B = Number, Name, Binary
tree = B("+", B("*", N(2), V("x")), B("/", V("y"), N(4)))
each(lambda t, names: Evaluate(names).visit(t), (tree, {"x": 3, "y": 2}), (tree, {"x": 1.5, "y": 2**70}), (tree, {"x": 1}), (tree, {"x": "ab", "y": 1}), (B("-", N(1), N(2)), {}), (5, {}), (N("t"), {}))
each(lambda t: t.accept(Show()), (tree,), (N(1),), (B("+", N(1), 5),))
each(simplified, (B("*", B("+", N(1), N(2)), N(1)),), (B("*", N(0), V("x")),), (tree,), (N(3),), (B("+", N(1), N("x")),))
each(lambda t: list(walked(t)), (tree,), (N(1),), (5,))
each(lambda t: (copied(t) == t, copied(t) is t, repr(copied(t))), (tree,), ([1, (2, [3]), {"k": ()}],), ("text",))
hot(cyclic)
each(lambda *a: Binary(*a), (1, 2, 3), (1,), ())
