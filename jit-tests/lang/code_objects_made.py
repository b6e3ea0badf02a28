"""Functions made at run time: exec and compile in loops, code replaced, FunctionType, closures built by hand, many functions of one code."""

import types

from support import each, hot


def compiled(source, name, *args):
    space = {}
    exec(source, space)
    f = space[name]
    return [f(*args) for _ in range(40)][-1]


def evaluated(expression, **names):
    code = compile(expression, "<expr>", "eval")
    return [eval(code, dict(names)) for _ in range(3)]


def template(x, y=2):
    return x * y + K


K = 1


def copies(n):
    out = []
    for i in range(n):
        f = types.FunctionType(template.__code__, {"K": i}, f"copy{i}", (i,))
        out.append((f(10), f.__name__))
    return out


def closures():
    def make(v):
        def inner():
            return v
        return inner
    f = make(1)
    cell = types.CellType("by hand")
    g = types.FunctionType(f.__code__, globals(), None, None, (cell,))
    out = [g(), g.__name__]
    cell.cell_contents = "changed"
    out.append(g())
    for wrong in ((), (cell, cell), (5,), None):
        try:
            types.FunctionType(f.__code__, globals(), None, None, wrong)
        except (ValueError, TypeError) as error:
            out.append(str(error))
    return out


def replaced(n):
    def f(x):
        return x + 1
    def g(x):
        return x * 2
    def h():
        return n
    out = []
    for i in range(n):
        if i == n - 3:
            f.__code__ = g.__code__
        if i == n - 1:
            try:
                f.__code__ = h.__code__
            except ValueError as error:
                out.append(str(error))
        out.append(f(i))
    return out[-5:]


def changed_code():
    code = template.__code__.replace(co_consts=tuple(c for c in template.__code__.co_consts), co_name="renamed")
    f = types.FunctionType(code, globals())
    return f(1, 2), f.__code__.co_name, f.__code__ == template.__code__, template.__code__ == template.__code__.replace()


def module_code(n):
    space = {"out": []}
    code = compile("for i in range(n):\n    out.append(i * i)\n    if i > 50: break\nelse:\n    last = i", "<mod>", "exec")
    for _ in range(3):
        space["n"] = n
        exec(code, space)
    return len(space["out"]), space.get("last"), space["i"]


each(compiled, ("def f(n):\n    s = 0\n    for i in range(n): s += i\n    return s", "f", 10), ("def f(a, *b, **c): return a, b, c", "f", 1, 2), ("def f(x):\n    return x / 0", "f", 1), ("f = lambda: undefined", "f"), ("def f(:", "f"), ("x = 1", "f"), times=35)
each(lambda e, **k: evaluated(e, a=5, b=[1, 2]), ("a + 1",), ("[x * a for x in b]",), ("(lambda q: q + a)(1)",), ("a / 0",), ("a = 1",), ("missing",), times=35)
hot(copies, 5)
hot(closures)
hot(replaced, 60, times=3)
hot(changed_code)
each(module_code, (5,), (80,), times=35)
