"""Random functions, run interpreted and compiled in one process, and compared.

    python jit-tests/fuzz_functions.py --minutes 10 [--seed N]     searches for disagreements; found ones go to corpus/
    python jit-tests/fuzz_functions.py --replay                    runs the corpus
    python jit-tests/fuzz_functions.py --minutes 1 --plant         damages the compiled side, which it must detect

A case is the source of a function `target` with the code that it needs, and a list CALLS of
argument tuples. Every call is compared by result (floats by their bits), exception with its line,
changes of its arguments, and log. A case runs in five modes: compiled before its first call;
compiled after it was interpreted for a while with other types of arguments; compiled when hot;
with every guard failing; and compiled to LIR, which is interpreted. Cases run in a worker process,
so that a crash is a finding and does not end the search.

A quarter of the cases are small functions of numbers, which a hot loop calls with ints and floats
alternately: such functions may be compiled without a frame, and for each combination of types.
Another quarter are functions of objects, tuples and closures that call each other.

With hypothesis installed a disagreement is shrunk; without it cases come from the random module.
"""

from __future__ import annotations

import collections
import gc
import signal
import sys
import time
import types
import warnings
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import fuzzing
import harness
from fuzzing import Disagreement

HERE = Path(__file__).resolve().parent
CORPUS = HERE / "corpus"
HYPOTHESIS_BATCH = 100


# ---- generating cases ----------------------------------------------------------------------------

INTS = ["0", "1", "-1", "2", "3", "7", "-7", "10", "255", "256", "2**30-1", "2**30", "-2**30", "2**31", "2**53+1", "2**60-1",
        "2**60", "-2**60", "2**62", "2**63-1", "2**63", "-2**63", "-2**63-1", "2**64", "10**30"]
FLOATS = ["0.0", "-0.0", "1.0", "-1.5", "0.1", "2.0**53", "2.0**63", "1e308", "-1e308", "5e-324", "float('inf')", "-float('inf')",
          "float('nan')"]
OTHERS = ["True", "False", "None", "''", "'a'", "'abc'", "'é☃'", "()", "(1, 2.5)", "I(5)", "I(2**61)"]
LISTS = ["[]", "[1, 2, 3]", "[1.5, -0.0, 2.5]", "[1, 2.5, 'x']", "[0] * 5", "[2**60, 2**63, -1]", "['a', 'b']", "[True, False, 1]"]
BINARY = ["+", "-", "*", "//", "%", "/", "&", "|", "^", "<<", ">>"]
COMPARE = ["<", "<=", "==", "!=", ">", ">=", "is", "is not"]
PRELUDE = '''\
LOG = []

class I(int):
    pass

class P:
    limit = 3
    def __init__(self, x, y):
        self.x = x
        self.y = y
    def step(self, d):
        self.x = self.x + d
        return self.y
    @property
    def both(self):
        return self.x, self.y

class S:
    __slots__ = ("x", "y")
    def __init__(self, x, y):
        self.x = x
        self.y = y
    def step(self, d):
        self.y = d
        return self.x

G = 3

def log(*values):
    LOG.append(values)
    return values[0] if values else None

def helper(a, b=2):
    if a == b:
        return a
    return a - b

def small(v):
    """What does not grow without end."""
    if type(v) is int or type(v) is float:
        return v if -1e30 < v < 1e30 else 1
    if type(v) is list or type(v) is tuple or type(v) is str:
        return v if len(v) < 12 else 0
    return v

'''


class Maker:
    """Writes one random case. Every choice goes through `pick`, so that a shrinking chooser can
    make it simpler."""

    def __init__(self, below):
        self.below = below
        self.lines = []
        self.loops = 0
        self.handlers = 0

    def pick(self, choices):
        return choices[self.below(len(choices))]

    def chance(self, percent):
        return self.below(100) < percent

    def case(self):
        if self.chance(55):
            return self.pick([Numbers, Objects])(self.below).case()
        self.block(1, 3, 2 + self.below(4))
        self.lines.append(f"    return a, b, c, {self.value(1)}")
        calls = [f"({self.argument()}, {self.argument()}, {self.container()}, {self.pick(['P', 'S', 'P'])}({self.argument()}, {self.argument()}))"
                 for _ in range(2 + self.below(5))]
        if self.chance(70):  # One kind first, so that there is something to bet on.
            kinds = self.pick([("3", "4"), ("2.5", "0.5"), ("2**29", "2**30-1"), ("True", "7"), ("5", "1.5")])
            calls[:0] = [f"({kinds[0]}, {kinds[1]}, [1, 2, 3], P(1, 2))"] * 3
        body = "\n".join(self.lines)
        return f"{PRELUDE}def target(a, b, c, p):\n    v = w = 0\n{body}\n\nCALLS = lambda: [\n    " + ",\n    ".join(calls) + ",\n]\n"

    #: Definitions of a case in addition to the prelude.
    CLASSES = ""

    def called_in_a_loop(self, calls, values, turns):
        """The case of the functions written so far and a loop that calls them. A call is a
        function's name and, for each argument, the number of the `values` that it cycles through;
        each argument cycles more slowly than the one before."""
        lines = ["def target(a, b, c, p):", f"    for i in range({turns}):"]
        for name, sources in calls:
            given = ", ".join(f"VALUES[{source}][i // {k} % len(VALUES[{source}])]" for k, source in enumerate(sources, 1))
            lines += ["        try:", f"            log({name}({given}))", "        except Exception as error:",
                      "            trace = error.__traceback__.tb_next",
                      "            log(type(error).__name__, str(error), trace and trace.tb_lineno)"]
        body = "\n".join(self.lines + ["", *lines])
        return f"{PRELUDE}{self.CLASSES}VALUES = [{', '.join(values)}]\n\n{body}\n    return i\n\nCALLS = lambda: [(1, 2, [], P(1, 2))] * 6\n"

    def argument(self):
        return self.pick(self.pick([INTS, INTS, FLOATS, OTHERS]))

    def container(self):
        return self.pick(LISTS + ["(1, 2, 3)", "{0: 1, 1: 2.5}", "'abc'", "range(5)"]) if self.chance(90) else self.argument()

    def block(self, depth, budget, statements):
        for _ in range(statements):
            self.statement(depth, budget)

    def put(self, depth, text):
        self.lines.append("    " * depth + text)

    def statement(self, depth, budget):
        kinds = ["assign", "assign", "augment", "augment", "store", "log", "branch", "loop", "try", "unpack", "misc"]
        kind = self.pick(kinds[:6] if budget == 0 else kinds)
        getattr(self, f"_{kind}")(depth, budget)

    def variable(self):
        return self.pick(["a", "b", "v", "w"])

    def _assign(self, depth, budget):
        self.put(depth, f"{self.variable()} = {self.value(2)}")

    def _augment(self, depth, budget):
        self.put(depth, f"{self.variable()} {self.pick(BINARY[:6] + ['&', '|', '^'])}= {self.value(1)}")

    def _store(self, depth, budget):
        self.put(depth, self.pick([
            f"p.{self.pick('xy')} = {self.value(1)}", f"c[{self.index()}] = {self.value(1)}", f"p.{self.pick('xy')} += {self.value(0)}",
            f"c.append({self.value(1)})", f"c[{self.index()}] += {self.value(0)}", f"p.step({self.value(1)})", f"del c[{self.index()}]"]))

    def _log(self, depth, budget):
        self.put(depth, f"log({self.value(1)}, {self.value(1)})")

    def _branch(self, depth, budget):
        self.put(depth, f"if {self.condition()}:")
        self.block(depth + 1, budget - 1, 1 + self.below(2))
        if self.chance(50):
            self.put(depth, f"elif {self.condition()}:" if self.chance(30) else "else:")
            self.block(depth + 1, budget - 1, 1 + self.below(2))

    def _loop(self, depth, budget):
        self.loops += 1
        i, bound = f"i{self.loops}", 3 + self.below(20)
        form = self.below(4)
        if form == 0:
            self.put(depth, f"{i} = 0")
            self.put(depth, f"while {i} < {bound} and {self.condition()}:")
            self.put(depth + 1, f"{i} += 1")
        elif form == 1:
            self.put(depth, f"for {self.pick([i, 'v', 'w'])} in c if type(c) is not list else list(c):")
        else:
            self.put(depth, f"for {self.pick([i, 'v'])} in range({bound}):")
        self.block(depth + 1, budget - 1, 1 + self.below(3))
        # Numbers must not grow without end.
        self.put(depth + 1, "if type(a) is int and abs(a) > 2**200: a = 1")
        self.put(depth + 1, "if type(b) is int and abs(b) > 2**200: b = 1")
        self.put(depth + 1, "if type(v) is int and abs(v) > 2**200: v = 1")
        self.put(depth + 1, "if type(w) is int and abs(w) > 2**200: w = 1")
        self.put(depth + 1, "if type(v) is not int and hasattr(v, '__len__') and len(v) > 40: v = 0")
        self.put(depth + 1, "if type(a) is not int and hasattr(a, '__len__') and len(a) > 40: a = 0")
        self.put(depth + 1, "if type(b) is not int and hasattr(b, '__len__') and len(b) > 40: b = 0")
        self.put(depth + 1, "if type(w) is not int and hasattr(w, '__len__') and len(w) > 40: w = 0")
        if self.chance(40):
            self.put(depth + 1, f"if {self.condition()}:")
            self.put(depth + 2, self.pick(["break", "continue"]))
        if self.chance(20):
            self.put(depth, "else:")
            self.block(depth + 1, 0, 1)

    def _try(self, depth, budget):
        self.handlers += 1
        self.put(depth, "try:")
        self.block(depth + 1, budget - 1, 1 + self.below(2))
        if self.chance(20):
            self.put(depth + 1, f"raise {self.pick(['ValueError', 'KeyError', 'ZeroDivisionError'])}({self.value(0)})")
        if self.chance(85):
            caught = self.pick(["Exception", "TypeError", "(TypeError, ValueError)", "ArithmeticError", "LookupError"])
            self.put(depth, f"except {caught} as error:")
            self.put(depth + 1, "log(type(error).__name__, str(error), error.__traceback__.tb_lineno)")
            self.block(depth + 1, 0, self.below(2))
            if self.chance(15):
                self.put(depth + 1, "raise")
            if self.chance(30):
                self.put(depth, "else:")
                self.block(depth + 1, 0, 1)
            if self.chance(70):
                return
        self.put(depth, "finally:")
        self.put(depth + 1, f"log('finally', {self.value(0)})")

    def _unpack(self, depth, budget):
        self.put(depth, self.pick(["v, w = w, v", "a, b = b, a", f"v, w = {self.value(1)}, {self.value(1)}", "v, *w = c", "v, w = c",
                                   "a, v, w = v, w, a"]))

    def _misc(self, depth, budget):
        self.put(depth, self.pick([
            f"v = [{self.value(0)} for q in range(4)]", f"v = {{{self.value(0)!r}: {self.value(0)}}}", f"w = f'{{{self.value(0)}}}-{{a}}'[:30]",
            "w = (lambda q: q)(a)", f"v = helper({self.value(0)})", f"v = helper(b={self.value(0)}, a={self.value(0)})", "v = p.both",
            f"assert {self.condition()}, 'assertion'", "del v", f"v = (w := {self.value(1)})", "P.limit = a", "v = not w",
            "global G; G = b"] if depth == 1 and not any("G" in line for line in self.lines) else [
            "v = not w", f"v = helper({self.value(0)})", "w = p.both", f"v = [{self.value(0)}, a]"]))

    def index(self):
        return self.pick(["0", "1", "-1", "2", "5", "-9", "v", "a", "len(c) - 1", "True"])

    def value(self, depth):
        atoms = ["a", "b", "v", "w", "p.x", "p.y", "G", self.pick(INTS[:12]), self.pick(INTS), self.pick(FLOATS), "p.limit", "len(c)"]
        if depth == 0:
            return self.pick(atoms)
        form = self.below(12)
        if form < 6:
            left, right = self.value(depth - 1), self.value(depth - 1)
            operator = self.pick(BINARY[:6] if self.chance(75) else BINARY)
            # A left shift by a variable could allocate all memory.
            return f"({left} << ({right} & 70))" if operator == "<<" and self.chance(90) else f"({left} {'-' if operator == '<<' else operator} {right})"
        if form == 6:
            return f"({self.pick(['-', '~', '+', 'not '])}{self.value(depth - 1)})"
        if form == 7:
            return f"c[{self.index()}]"
        if form == 8:
            return f"({self.value(depth - 1)} if {self.condition()} else {self.value(depth - 1)})"
        if form == 9:
            return self.pick([f"helper({self.value(0)}, {self.value(0)})", f"p.step({self.value(0)})", f"abs({self.value(0)})",
                              f"int({self.value(0)})", f"float({self.value(0)})", f"min({self.value(0)}, {self.value(0)})",
                              f"log({self.value(0)})", f"type({self.value(0)}).__name__", f"bool({self.value(0)})"])
        if form == 10:
            return f"({self.condition()})"
        return self.pick(atoms + OTHERS)

    def condition(self):
        form = self.below(6)
        if form < 4:
            return f"{self.value(0)} {self.pick(COMPARE)} {self.value(0)}"
        if form == 4:
            return f"{self.value(0)} {self.pick(['and', 'or'])} {self.value(0)}"
        return self.pick([f"{self.value(0)} in c", f"not {self.value(0)}", f"{self.value(0)} < {self.value(0)} <= {self.value(0)}", "v", "a"])


class Numbers(Maker):
    """Writes functions of numbers and a loop that calls them."""

    ATOMS = ["0", "1", "2", "-1", "3", "7", "0.5", "-0.0", "1.5", "True", "2**40", "2**62"]
    #: Values that a loop passes: mostly ints, so that the compiler speculates on them.
    MIXTURES = ["[k % 11 - 4 for k in range(11)]", "[(k % 13 - 5) * 0.5 for k in range(13)]",
                "[k % 7 - 3 if k % 3 else (k % 5 - 2) * 0.25 for k in range(21)]", "[0, 0.0, 2, 3, -1, -2, 0.5, -0.5, 1, 5.0, 7, 4, 4.0]",
                "[1] * 40 + [0.0, 2, -0.5]", "[True, 2, 3]", "[2**29 + k for k in range(5)]"]

    def case(self):
        functions = [self.function(f"f{n}") for n in range(1 + self.below(3))]
        return self.called_in_a_loop([(name, range(arity)) for name, arity in functions], [self.pick(self.MIXTURES) for _ in range(3)], 150)

    def function(self, name):
        arity = 1 + self.below(3)
        self.names = list("abc"[:arity])
        self.put(0, f"def {name}({', '.join(self.names)}):")
        for local in "pqr"[:self.below(4)]:
            self.put(1, f"{local} = {self.pick(['0', '1', '0.0', '1.5', '-1', 'True', self.pick(self.names)])}")
            self.names.append(local)
        self.block(1, 2, 1 + self.below(4))
        self.put(1, f"return {self.value(2)}")
        return name, arity

    def statement(self, depth, budget):
        form = self.below(10) if budget else self.below(6)
        if form < 5:
            self.put(depth, f"{self.pick(self.names)} = {self.value(2)}")
        elif form == 5:
            self.put(depth, f"{self.pick(self.names)} {self.pick(['+', '-', '*', '|', '^'])}= {self.value(1)}")
        elif form < 9:
            self._branch(depth, budget)
        else:
            self.put(depth, f"if {self.condition()}: return {self.value(1)}")

    def value(self, depth):
        form = self.below(20)
        if depth == 0 or form < 7:
            return self.pick(self.names if self.chance(70) else self.ATOMS)
        left, right = self.value(depth - 1), self.value(depth - 1)
        if form < 15:
            return f"({left} {self.pick(['+', '-', '*', '+', '-', '*', '//', '%', '/', '&', '|'])} {right})"
        if form == 15:
            return f"({left} {self.pick(['<<', '>>'])} {self.pick(['1', '3', '60'])})"
        return self.pick([f"(-{left})", f"abs({left})", f"({left} if {self.condition()} else {right})", f"{self.pick(['min', 'max'])}({left}, {right})"])

    def condition(self):
        if self.chance(25):
            return self.pick(["", "not "]) + self.pick(self.names)
        return f"{self.value(1)} {self.pick(['<', '<=', '>', '>=', '==', '!='])} {self.value(1)}"


class Objects(Maker):
    """Writes functions of objects, closures, tuples and lists that call each other, and a loop
    that calls them.

    A name has a kind: a number, an object, a pair of numbers or a list of numbers. Its uses mostly
    fit its kind, since otherwise hardly any function would run past its first line."""

    #: Values that a loop passes: mostly of one class, so that the compiler speculates on it.
    MIXTURES = {
        "number": ["[k % 11 - 4 for k in range(11)]", "[(k % 13 - 5) * 0.5 for k in range(13)]", "[1, 2, 3, 0.5]",
                   "[1] * 40 + [0.0, 2, -0.5]", "[k % 7 - 3 if k % 3 else (k % 5 - 2) * 0.25 for k in range(21)]", "[True, 2, 3]",
                   "[1, 2] * 20 + [None]"],
        "object": ["[A(k, 1) for k in range(5)]", "[A(1, 2)] * 30 + [B(1, 0.5)]", "[A(1, 2), B(2, 3), C(0.5)]", "[A(0.5, 1)] * 20 + [3]"],
        "pair": ["[(1, 2), (3, 4), (0.5, 1)]", "[(1, 2)] * 30 + [(0.5, 1.5), [3, 4]]", "[(k, k + 0.5) for k in range(6)]"],
        "list": ["[[1, 2], [3, 4, 5], [0.5, 1]]", "[[1, 2]] * 30 + [[0.5, 1.5], []]", "[[0.5, 1.5], [2.5]]"],
    }
    ATOMS = {"number": ["0", "1", "2", "-1", "7", "0.5", "-0.0", "1.5", "True", "2**40"], "object": ["A(1, 2)", "B(2, 0.5)", "C(1)"],
             "pair": ["(1, 2)", "(0.5, 1)"], "list": ["[]", "[1, 2]", "[0.5]"]}
    CLASSES = """\
class A:
    kind = 1
    def __init__(self, x, y=0):
        self.x = x
        self.y = y
    def get(self):
        return self.x
    def add(self, n):
        self.x = small(self.x + n)
        return self
    def both(self, other):
        return self.x, other.x
    def __repr__(self):
        return f"{type(self).__name__} {self.kind}"
    def __add__(self, other):
        return A(small(self.x + (other.x if isinstance(other, A) else other)), self.y)
    def __eq__(self, other):
        return isinstance(other, A) and self.x == other.x

class B(A):
    kind = 2
    def get(self):
        return self.y

class C:
    __slots__ = ("x", "y")
    kind = 3
    def __init__(self, x, y=1):
        self.x, self.y = x, y
    def get(self):
        return self.y
    def add(self, n):
        self.y = n
        return self
    def both(self, other):
        return self.y, other.y
    def __repr__(self):
        return "C"

"""

    def case(self):
        self.functions = []
        for n in range(1 + self.below(3)):
            self.function(f"f{n}")
        turns, calls, values = self.pick([150, 150, 400]), [], []
        for name, params, _ in self.functions:
            calls.append((name, range(len(values), len(values) + len(params))))
            values += [self.pick(self.MIXTURES[kind]) for kind in params]
        return self.called_in_a_loop(calls, values, turns)

    def kind(self):
        return self.pick(["number", "number", "number", "number", "object", "pair", "list"])

    def function(self, name):
        params = [self.kind() for _ in range(1 + self.below(3))]
        self.names, self.inner, self.loops = dict(zip("abc", params)), [], 0
        self.put(0, f"def {name}({', '.join(self.names)}):")
        for local in "pqrs"[:1 + self.below(4)]:
            kind = self.kind()
            self.put(1, f"{local} = {self.value(1, kind)}")
            self.names[local] = kind
        for k in range(self.below(3)):
            self.closure(f"g{k}")
        self.block(1, 3, 2 + self.below(5))
        result = self.kind()
        self.put(1, f"return {self.value(2, result)}")
        self.functions.append((name, params, result))

    def closure(self, name):
        """A function in the function, which may write its locals."""
        outer = self.names
        params = {"u": self.kind(), "w": self.kind()} if self.chance(40) else {"u": self.kind()} if self.chance(50) else {}
        self.put(1, f"def {name}({', '.join(params)}):")
        if self.chance(60):
            written = sorted({self.pick(list(outer)) for _ in range(1 + self.below(2))})
            self.put(2, f"nonlocal {', '.join(written)}")
            for local in written:
                self.put(2, f"{local} = {self.value(1, outer[local])}")
        self.names = {**outer, **params}
        result = self.kind()
        if self.chance(30):
            self.put(2, f"if {self.condition()}: return {self.value(1, result)}")
        self.put(2, f"return {self.value(1, result)}")
        self.names = outer
        self.inner.append((name, list(params.values()), result))

    def name(self, kind=None):
        """A name of this kind, if there is one and the random choice allows it."""
        fitting = [name for name, known in self.names.items() if known == kind]
        return self.pick(fitting) if fitting and self.chance(96) else self.pick(list(self.names))

    def statement(self, depth, budget):
        form = self.below(24) if budget else self.below(15)
        if form < 4:
            name = self.name()
            self.put(depth, f"{name} = {self.value(2, self.names[name])}")
        elif form < 6:
            name = self.name("number")
            operator = self.pick(["+", "-", "*", "+"]) if self.names[name] == "number" else "+"
            self.put(depth, f"{name} {operator}= {self.value(1, self.names[name])}")
        elif form < 9:
            left, right = self.name(), self.name()
            kinds = [self.names[left], self.names[right]]
            same = self.name(kinds[0])
            self.put(depth, self.pick([f"{left}, {same} = {same}, {left}", f"{left}, {right} = {self.value(1, kinds[0])}, {self.value(1, kinds[1])}",
                                       f"{self.name('number')}, {self.name('number')} = {self.value(1, 'pair')}",
                                       f"{left}, {right}, {same} = {same}, {self.value(1, kinds[1])}, {left}"]))
        elif form < 11:
            target = self.name("object")
            self.put(depth, self.pick([f"{target}.x = {self.value(1)}", f"{target}.y += {self.value(0)}", f"{target}.add({self.value(0)})",
                                       f"{target} = {target}.add({self.value(0)})", f"{target}.x += 1"]))
        elif form == 11:
            target = self.name("list")
            self.put(depth, self.pick([f"{target}[{self.pick(['0', '-1', '1'])}] = {self.value(1)}", f"{target}.append({self.value(1)})",
                                       f"if type({target}) is list and len({target}) < 9: {target}.append({self.value(1)})"]))
        elif form < 15:
            self.put(depth, f"log({self.value(1, self.kind())})" if self.chance(60) else self.value(2, self.kind()))
        elif form < 19:
            self._branch(depth, budget)
        elif form < 22:
            self._loop(depth, budget)
        else:
            self._try(depth, budget)

    def _loop(self, depth, budget):
        self.loops += 1
        number = self.value(0)
        over = self.pick([f"range({1 + self.below(9)})", f"range({1 + self.below(9)})", f"({number}, {self.value(0)}, {self.value(1)})",
                          f"[{number}, {self.value(0)}]", f"({self.value(0)}, {number})", self.name("list"), self.name("pair")])
        local = self.pick([f"i{self.loops}", f"i{self.loops}", self.name("number")])
        self.put(depth, f"for {local} in {over}:")
        names = self.names
        self.names = {**names, local: "number"}
        self.block(depth + 1, budget - 1, 1 + self.below(3))
        self.names = names
        for name in names:
            self.put(depth + 1, f"{name} = small({name})")
        if self.chance(30):
            self.put(depth + 1, f"if {self.condition()}: {self.pick(['break', 'continue'])}")

    def call(self, depth, kind):
        """A call of a function written before, so that there is no recursion."""
        known = [f for f in self.inner + self.functions if f[2] == kind]
        if not known:
            return self.value(depth, kind)
        name, params, _ = self.pick(known)
        return f"{name}({', '.join(self.value(depth, param) for param in params)})"

    def value(self, depth, kind="number"):
        form = self.below(20)
        if self.chance(2):
            return self.value(depth, self.kind())
        if depth == 0 or form < 4:
            return self.name(kind) if kind in self.names.values() and self.chance(80) else self.pick(self.ATOMS[kind])
        if form < 6:
            return self.call(depth - 1, kind)
        if form == 6:
            return f"({self.value(depth - 1, kind)} if {self.condition()} else {self.value(depth - 1, kind)})"
        if form == 7:
            return f"({self.value(depth - 1, kind)} {self.pick(['and', 'or'])} {self.value(depth - 1, kind)})"
        return getattr(self, f"_{kind}")(depth)

    def _number(self, depth):
        left, right = self.value(depth - 1), self.value(depth - 1)
        form = self.below(12)
        if form < 4:
            return f"({left} {self.pick(['+', '-', '*', '+', '-', '*', '//', '%', '/'])} {right})"
        if form < 7:
            target = self.value(depth - 1, "object")
            return self.pick([f"{target}.x", f"{target}.y", f"{target}.get()", f"{target}.kind", f"A({left}, {right}).get()"])
        if form < 9:
            return f"{self.value(depth - 1, self.pick(['pair', 'pair', 'list']))}[{self.pick(['0', '1', '-1'])}]"
        return self.pick([f"(-{left})", f"isinstance({self.value(depth - 1, self.kind())}, {self.pick(self.KINDS)})", f"float({left})",
                          f"({self.condition()})", f"(lambda k: k + {left})({right})", f"log({left})", f"min({left}, {right})",
                          f"sum([q for q in {self.value(0, 'list')}])", f"len({self.value(0, 'list')})"])

    def _object(self, depth):
        left, right = self.value(depth - 1), self.value(depth - 1)
        return self.pick([f"A({left}, {right})", f"B({left}, {right})", f"C({left})", f"A({left})",
                          f"{self.name('object')}.add({left})", f"({self.name('object')} + {self.value(0, self.pick(['number', 'object']))})"])

    def _pair(self, depth):
        left, right = self.value(depth - 1), self.value(depth - 1)
        return self.pick([f"({left}, {right})", f"({left}, {right})", f"{self.name('object')}.both({self.name('object')})",
                          f"(lambda k: (k, {left}))({right})", f"({self.name('pair')}[1], {left})"])

    def _list(self, depth):
        left, right = self.value(depth - 1), self.value(depth - 1)
        return self.pick([f"[{left}, {right}]", f"[q * {left} for q in ({left}, {right})]", f"{self.name('list')}[:2]",
                          f"list({self.value(depth - 1, 'pair')})", f"[{left}] * 3", f"[q + 1 for q in {self.name('list')}]"])

    KINDS = ["int", "float", "A", "B", "tuple", "list", "str", "(int, float)", "bool"]

    def condition(self):
        form = self.below(8)
        if form < 2:
            return self.pick(["", "not "]) + self.name()
        if form < 4:
            return f"isinstance({self.value(0, self.kind())}, {self.pick(self.KINDS)})"
        if form == 4:
            return f"type({self.value(0, self.kind())}) is {self.pick(self.KINDS[:-2])}"
        if form == 5:
            return f"{self.value(0, self.kind())} is {self.pick(['', 'not '])}None"
        if form == 6:
            return f"{self.name('object')} == {self.name('object')}"
        return f"{self.value(1)} {self.pick(['<', '<=', '>', '==', '!=', '=='])} {self.value(1)}"


# ---- running a case
# -----------------------------------------------------------------------------------------------------


MEMORY = 3 * 2**30
SLOW_S = 0.3  # A case that takes the interpreter longer is passed over.
STUCK_S = 30  # Compiled, it may take this long before it counts as hanging.


class TooSlow(BaseException):
    pass


def limit_memory():
    import resource

    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))


def check(source, plant=False):
    """Run a case in every mode and compare. Returns the number of compared calls, or None if the
    case isn't worth running."""
    warnings.simplefilter("ignore")
    try:
        code = compile(source, "<case>", "exec")
    except (SyntaxError, ValueError):
        return None
    signal.signal(signal.SIGALRM, too_slow)
    signal.setitimer(signal.ITIMER_REAL, SLOW_S)
    try:
        expected = outcomes(code, "interpreted")
    except (TooSlow, MemoryError):
        return None
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
    if any(ended[:2] == ("raised", "MemoryError") for ended, *_ in expected):
        return None
    # In an endless loop of machine code, no handler would run: the signal itself ends the process,
    # which the parent reports.
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.setitimer(signal.ITIMER_REAL, STUCK_S)
    try:
        return compare(source, code, expected, plant)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


def too_slow(number, frame):
    raise TooSlow


WAYS = ("compiled at once", "compiled when warm", "compiled when hot", "guards forced", "in the LIR interpreter")


def compare(source, code, expected, plant):
    import cladonia

    planted = compile(damaged(source), "<case>", "exec") if plant else code
    for way in WAYS:
        # Refusals of earlier cases stay in the counts.
        known = faults(cladonia)
        found = outcomes(planted, way)
        if new := faults(cladonia) - known:
            raise Disagreement(f"{way}: {'; '.join(text[:1000] for text in new)}")
        for i, (theirs, ours) in enumerate(zip(expected, found)):
            if theirs != ours:
                raise Disagreement(f"{way}, call {i}:\n  interpreted: {theirs}\n  compiled:    {ours}")
        if len(found) != len(expected):
            raise Disagreement(f"{way}: {len(found)} calls, interpreted {len(expected)}")
    return len(expected)


def faults(cladonia):
    """Errors that the compiler has found in its own work so far: each reason with its count."""
    stats = cladonia.stats()
    refused = harness.refusals(stats)
    return collections.Counter({reason: refused[reason] for reason in harness.faults(stats)})


def outcomes(code, way):
    """The outcome of every call of a case, from a fresh start."""
    import cladonia

    space = {"__name__": "case"}
    exec(code, space)
    target, calls_of = space["target"], space["CALLS"]
    functions = [value for value in space.values() if isinstance(value, types.FunctionType) and value is not calls_of]
    functions += [space["P"].__init__, space["P"].step, space["S"].__init__, space["S"].step]
    calls = calls_of()
    if way == "compiled at once":
        compile_all(cladonia, functions)
    elif way == "in the LIR interpreter":
        cladonia.enable(threshold=0, oracle=True)
    elif way == "compiled when hot" and cladonia.available() is None:
        cladonia.enable(threshold=30)
    elif way == "guards forced" and cladonia.available() is None:
        cladonia.enable(threshold=0, force_exit="first")
    try:
        results = []
        for i, arguments in enumerate(calls):
            if way == "compiled when warm" and i == 3:
                compile_all(cladonia, functions)
            results.append(one(target, arguments, space))
        return results
    finally:
        if way != "interpreted":
            cladonia.disable()


def compile_all(cladonia, functions):
    for f in functions:
        try:
            cladonia.compile(f)
        except cladonia.NotCompiled:
            pass


def one(target, arguments, space):
    space["LOG"].clear()
    try:
        ended = ("returned", show(target(*arguments)))
    except RecursionError:
        ended = ("raised", "RecursionError")
    except Exception as error:
        trace, lines = error.__traceback__.tb_next, []
        while trace is not None:
            lines.append((trace.tb_frame.f_code.co_name, trace.tb_lineno, position(trace)))
            trace = trace.tb_next
        ended = ("raised", type(error).__name__, str(error), lines, type(error.__context__).__name__)
    return ended, show(arguments), show(space["LOG"]), show(space["G"]), show(space["P"].limit)


def position(trace):
    import itertools

    return next(itertools.islice(trace.tb_frame.f_code.co_positions(), trace.tb_lasti // 2, None))


def show(value, depth=0):
    """A value as text that distinguishes everything that may differ: types, float bits,
    sharing."""
    kind = type(value)
    if depth > 6:
        return "..."
    if kind is float:
        return "nan" if value != value else value.hex()
    if kind in (list, tuple):
        return f"{kind.__name__}({', '.join(show(v, depth + 1) for v in value)})"
    if kind is dict:
        return f"dict({', '.join(f'{show(k, depth + 1)}: {show(v, depth + 1)}' for k, v in value.items())})"
    if kind.__name__ in ("P", "S", "A", "B", "C"):
        return f"{kind.__name__}({show(getattr(value, 'x', '?'), depth + 1)}, {show(getattr(value, 'y', '?'), depth + 1)})"
    if kind in (int, bool, str, type(None)) or isinstance(value, int):
        return f"{kind.__name__} {value!r}"
    return kind.__name__


def damaged(source):
    """The same case with a fault such as a compiler might have: a subtraction in `helper` that
    wraps at 64 bits."""
    wraps = "type(a) is type(b) is int and (a - b) >> 63 not in (0, -1)"
    return source.replace("return a - b\n", f"return a - b if not ({wraps}) else (a - b + 2**63) % 2**64 - 2**63\n")


# ---- searching for disagreements -----------------------------------------------------------------


def work(seed, seconds, current, plant):
    """A worker: generates and checks cases until its time is up. The current case is in the file
    `current`, for the parent to find."""
    limit_memory()
    deadline = time.monotonic() + seconds
    counts = {"cases": 0, "calls": 0}

    def run(source):
        current.write_text(source, encoding="utf-8")
        compared = check(source, plant)
        if compared:
            counts["cases"] += 1
            counts["calls"] += compared
        if counts["cases"] % 16 == 0:
            # A case's functions and their units are freed by cycle collection: 64 of them may reach
            # the memory limit.
            gc.collect()

    try:
        hunt = with_hypothesis(run, seed, deadline, Maker)
    except ImportError:
        hunt = with_random(run, seed, deadline, Maker)
    failure = hunt()
    print(f"{counts['cases']} {counts['calls']}")
    if failure:
        print(failure)
        sys.exit(3)


def with_hypothesis(run, seed, deadline, maker):
    import hypothesis
    from hypothesis import HealthCheck, Phase, strategies

    def batch(number):
        @hypothesis.seed(seed * 1_000_003 + number)
        @hypothesis.settings(max_examples=HYPOTHESIS_BATCH, database=None, deadline=None, suppress_health_check=list(HealthCheck),
                             phases=(Phase.generate, Phase.shrink), report_multiple_bugs=False)
        @hypothesis.given(strategies.data())
        def cases(data):
            run(maker(lambda n: data.draw(strategies.integers(0, n - 1))).case())

        cases()

    def hunt():
        number = 0
        while time.monotonic() < deadline:
            try:
                batch(number)
            except Disagreement as error:
                return str(error)
            except hypothesis.errors.Flaky as error:
                # A group of exceptions, if hypothesis raises one.
                raised = getattr(error, "exceptions", ()) or (error.__cause__ or error.__context__ or error,)
                return f"disagreed once, not again: {'; '.join(f'{type(r).__name__}: {r}' for r in raised)}"
            number += 1
        return None

    return hunt


def with_random(run, seed, deadline, maker):
    import random

    chooser = random.Random(seed)

    def hunt():
        while time.monotonic() < deadline:
            try:
                run(maker(chooser.randrange).case())
            except Disagreement as error:
                return str(error)
        return None

    return hunt


def sow(count):
    """Write the seed corpus: fixed seeds of the plain generator, chosen for their coverage of the
    language."""
    import random

    limit_memory()
    best = []
    for seed in range(1500):
        source = Maker(random.Random(seed).randrange).case()
        try:
            if check(source) is None:
                continue
            ended = outcomes(compile(source, "<case>", "exec"), "interpreted")
        except Exception:
            continue
        kinds = {o[0][0] if o[0][0] == "returned" else o[0][1] for o in ended}
        returned = sum(o[0][0] == "returned" for o in ended)
        score = len(kinds) * 3 + min(returned, 4) * 2 + source.count("for ") + source.count("try:") * 2 - len(source) // 2500
        best.append((score, -seed, source))
    for score, seed, source in sorted(best, reverse=True)[:count]:
        (CORPUS / f"seed_{-seed:04}.py").write_text(source, encoding="utf-8")


def main():
    CORPUS.mkdir(exist_ok=True)
    fuzzing.main(fuzzing.Fuzzer(
        file=__file__, corpus=CORPUS, counted=("functions", "calls"), ways=WAYS, work=work, check=check, sow=sow,
        damage="damage the compiled side", planted="the planted fault", seconds_per_worker=120, patience=60, seconds_per_case=120),
        __doc__.partition("\n")[0])


if __name__ == "__main__":
    main()
