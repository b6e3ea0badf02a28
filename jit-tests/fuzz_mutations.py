"""Random assignments that change the meaning of attribute accesses, interpreted and compiled.

    python jit-tests/fuzz_mutations.py --minutes 10 [--seed N]     searches for disagreements; found ones go to corpus/mutations/
    python jit-tests/fuzz_mutations.py --replay                    runs the corpus
    python jit-tests/fuzz_mutations.py --minutes 1 --plant         hides one assignment from the compiled side, which it must detect

A case is a program of classes, instances and a module, the functions of `ACCESSES`, which load,
store, delete and call attributes, and STEPS: calls of those, and assignments to classes, bases,
metaclasses, instances, `__class__`, `__dict__`, `__bases__`, slots, properties, the module,
globals, builtins and functions. The assignments happen before anything is compiled, after, in the
middle of a compiled call, in a finaliser and on another thread. The result or exception of each
step is compared.
"""

from __future__ import annotations

import signal
import sys
import time
import warnings
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import fuzz_functions
import fuzzing
from fuzz_functions import TooSlow
from fuzzing import Disagreement

CORPUS = Path(__file__).resolve().parent / "corpus" / "mutations"
WAYS = ("compiled at once", "compiled when warm", "by itself", "guards forced", "in the LIR interpreter")
SLOW_S = 2
STUCK_S = 60


# ---- the world of a case
# ------------------------------------------------------------------------------------------------

PRELUDE = '''\
import builtins, gc, threading, types

class Meta(type):
    @property
    def level(cls):
        return len(cls.__mro__)

class Data:
    """A data descriptor."""
    def __get__(self, instance, owner):
        return ("data", instance is None)
    def __set__(self, instance, value):
        instance.__dict__["log"] = instance.__dict__.get("log", 0) + 1

class NonData:
    def __get__(self, instance, owner):
        return ("non-data", instance is None)

class Base(metaclass=Meta):
    k = 10
    def __init__(self, x=1):
        self.x = x
        self.y = 2
        self.other = None
    def m(self, d=1):
        return ("Base.m", d)
    def up(self):
        return "Base.up"
    @property
    def p(self):
        return self.x
    @p.setter
    def p(self, value):
        self.x = value
    @staticmethod
    def s(a):
        return ("s", a)
    @classmethod
    def c(cls):
        return cls.__name__

class Mid(Base):
    def up(self):
        return ("Mid.up", super().up())

class Leaf(Mid):
    k = 11
    def up(self):
        return ("Leaf.up", super().up())
    def inc(self):
        self.x = self.x + 1
        return self.x

class Side(Base):
    def m(self, d=2):
        return ("Side.m", d)

class Slotted:
    __slots__ = ("x", "y", "__weakref__")
    def __init__(self):
        self.x = 3
        self.y = 4
    def m(self, d=3):
        return ("Slotted.m", d)

class Slotted2:
    __slots__ = ("x", "y", "__weakref__")
    m = Slotted.m

class Plain:
    k = 20
    @staticmethod
    def s(a):
        return ("plain s", a)
    def m(self, d=4):
        return ("plain m", d)

class Loose:
    pass

class Fin:
    """Runs something when it dies."""
    def __init__(self, do):
        self.do = do
    def __del__(self):
        self.do()

mod = types.ModuleType("mod")
mod.v = 5
mod.f = lambda a: ("mod.f", a)

class Mod(types.ModuleType):
    @property
    def v(self):
        return "property of the module"
    def __getattr__(self, name):
        return ("module getattr", name)

G = 1
def g(a, b=7):
    return (a, b)
def g2(a, b=8):
    return ("g2", b, a)

def replaced(self, d=9):
    return ("replaced", d)
def on_missing(self, name):
    return ("missing", name)
def on_any(self, name):
    return ("any", name) if name in ("x", "m", "k", "p") else object.__getattribute__(self, name)
def on_set(self, name, value):
    object.__setattr__(self, name, ("set", value))
def quiet(self):
    return "quiet"

a, b, leaf, side, slot, slot2, loose = Base(), Mid(5), Leaf(2), Side(3), Slotted(), Slotted2(), Loose()
OBJECTS = [a, b, leaf, side, slot, slot2, loose]
a.other, b.other, leaf.other, side.other = b, leaf, a, slot

def nothing():
    pass

# ---- the accesses

def load_x(o): return o.x
def load_k(o): return o.k
def load_p(o): return o.p
def load_missing(o): return o.missing
def call_m(o): return o.m(1)
def call_m_default(o): return o.m()
def call_s(o): return o.s(2)
def call_c(o): return o.c()
def call_up(o): return o.up()
def call_inc(o): return o.inc()
def store_x(o):
    o.x = 41
    return o.x
def store_k(o):
    o.k = 42
    return o.k
def store_p(o):
    o.p = 43
    return o.x
def delete_x(o):
    o.x = 1
    del o.x
    return o.x
def chain(o): return o.other.x
def chain_call(o): return o.other.m(3)
def bound(o):
    f = o.m
    return f(4)
def several(o): return (o.x, o.y, o.m(2), o.k, o.x)
def class_k(o): return (Base.k, Mid.k, Leaf.k)
def class_m(o): return Leaf.m(o, 6)
def plain(o): return (Plain.k, Plain.s(1), Plain.m(o, 2), Plain().m())
def class_level(o): return (Base.level, Leaf.level)
def make(o):
    n = Mid(8)
    return (n.x, n.m(), n.k)
def make_leaf(o): return Leaf(4).inc()
def module_v(o): return mod.v
def module_f(o): return mod.f(5)
def module_store(o):
    mod.w = 6
    return mod.w
def name_G(o): return G
def name_g(o): return g(1)
def name_hex(o): return hex(17)
def isinstance_(o): return (isinstance(o, Mid), isinstance(o, Base), type(o) is Leaf)
def loop(o):
    total = []
    for i in range(6):
        total.append(o.x)
        total.append(o.m(i))
    return total
def during_loads(o, do):
    r = [o.x]
    do()
    r.append(o.x)
    r.append(o.m(1))
    r.append(o.k)
    return r
def during_calls(o, do):
    r = [o.m(1), o.k, o.p]
    do()
    r.append(o.m(2))
    r.append(o.k)
    r.append(o.p)
    return r
def during_stores(o, do):
    o.x = 1
    do()
    o.x = 2
    return (o.x, o.y)
def during_loop(o, do):
    total = []
    for i in range(8):
        if i == 4:
            do()
        total.append(o.x)
        total.append(o.m(i))
        total.append(o.k)
    return total
def during_names(o, do):
    r = [G, g(1), mod.v, mod.f(2), Base.k, Leaf.k]
    do()
    r += [G, g(1), mod.v, mod.f(2), Base.k, Leaf.k]
    return r
def during_super(o, do):
    r = [o.up()]
    do()
    r.append(o.up())
    return r
def finalised(o, do):
    r = [o.x, o.m(1)]
    f = Fin(do)
    f = None
    r += [o.x, o.m(2), o.k]
    return r
def finalised_by_store(o, do):
    o.y = Fin(do)
    r = [o.x]
    o.y = 2
    r += [o.x, o.m(2), o.k]
    return r
def threaded(o, do):
    r = [o.x, o.m(1)]
    t = threading.Thread(target=do)
    t.start()
    t.join()
    r += [o.x, o.m(2), o.k]
    return r
'''

ACCESSES = """load_x load_k load_p load_missing call_m call_m_default call_s call_c call_up call_inc store_x store_k store_p delete_x chain
chain_call bound several class_k class_m plain class_level make make_leaf module_v module_f module_store name_G name_g name_hex isinstance_
loop""".split()
DURING = """during_loads during_calls during_stores during_loop during_names during_super finalised finalised_by_store
threaded""".split()
CLASSES = ["Base", "Mid", "Leaf", "Side", "Slotted", "Plain", "Meta"]
DICTS = ["a", "b", "leaf", "side"]
OBJECTS = [*DICTS, "slot", "slot2", "loose"]
NAMES = ["x", "y", "k", "m", "p", "s", "c", "up", "missing", "inc"]
VALUES = ["1", "'text'", "replaced", "property(quiet)", "staticmethod(quiet)", "staticmethod(replaced)", "classmethod(quiet)", "Data()",
          "NonData()", "lambda *a: ('lambda', len(a))", "Base.m", "None", "2.5", "a.m", "Loose"]
SPECIAL = [("__getattr__", "on_missing"), ("__getattribute__", "on_any"), ("__setattr__", "on_set"), ("__slots__", "()"),
           ("__init__", "lambda self, x=1: setattr(self, 'y', x)"), ("__new__", "staticmethod(lambda cls, *a: object.__new__(cls))")]


class Maker:
    """Generates a case from a source of numbers below a bound."""

    def __init__(self, below):
        self.below = below

    def pick(self, choices):
        return choices[self.below(len(choices))]

    def case(self):
        lines, steps = [], []
        for number in range(3 + self.below(10)):
            name = f"s{number}"
            lines += self.step(name)
            steps.append(name)
        warm = self.below(len(steps))
        return PRELUDE + "\n# ---- the case\n\n" + "\n".join(lines) + f"\n\nSTEPS = [{', '.join(steps)}]\nWARM = {warm}\n"

    def step(self, name):
        form = self.below(10)
        if form < 4:
            return self.calls(name)
        if form < 7:
            return [f"def {name}():", *self.mutation()]
        do = [f"def {name}_do():", *self.mutation()]
        calls = f"    return {self.pick(DURING)}({self.pick(OBJECTS)}, {name}_do)"
        warm = [f"    {self.pick(DURING)}({self.pick(OBJECTS)}, nothing)"] if self.below(2) else []
        if self.below(2):
            # The same access function with and without the change: compiled from its profile
            # without it.
            during, thing = self.pick(DURING), self.pick(OBJECTS)
            warm, calls = [f"    for _ in range(20): {during}({thing}, nothing)"], f"    return {during}({thing}, {name}_do)"
        return [*do, f"def {name}():", *warm, calls]

    def calls(self, name):
        access = self.pick(ACCESSES)
        objects = [self.pick(OBJECTS)]
        while self.below(2) and len(objects) < 5:
            objects.append(self.pick(OBJECTS))
        times = self.pick([1, 3, 20])
        return [f"def {name}():", f"    return [each({access}, o) for _ in range({times}) for o in ({', '.join(objects)},)]"]

    def mutation(self):
        lines = ["    global G, g, hex, Leaf, mod"]
        for _ in range(1 + (self.below(3) == 0) + (self.below(6) == 0)):
            lines += self.one()
        return lines

    def one(self):
        form = self.below(24)
        cls, thing, name, value = self.pick(CLASSES), self.pick(OBJECTS), self.pick(NAMES), self.pick(VALUES)
        if form < 6:
            return [f"    {cls}.{name} = {value}"]
        if form < 8:
            return [f"    del {cls}.{name}"]
        if form == 8:
            return [f"    {thing}.{name} = {value}"]
        if form == 9:
            return [f"    del {thing}.{name}"]
        if form == 10:
            return [f"    {self.pick(DICTS)}.__dict__[{name!r}] = {value}"]
        if form == 11:
            return [f"    {self.pick(DICTS)}.__dict__.pop({name!r}, None)"]
        if form == 12:
            return [f"    {self.pick(DICTS)}.__dict__ = {self.pick([f'dict([("x", 7), ({name!r}, {value})])', 'dict(a.__dict__)', 'b.__dict__'])}"]
        if form == 13:
            return [f"    {thing}.__class__ = {self.pick(['Base', 'Mid', 'Leaf', 'Side', 'Slotted', 'Slotted2', 'Loose'])}"]
        if form == 14:
            return [f"    {self.pick(['Mid', 'Leaf', 'Side'])}.__bases__ = ({self.pick(['Base', 'Mid', 'Side', 'Base'])},)"]
        if form == 15:
            return [f"    mod.{self.pick('vfw')} = {self.pick(['1', 'g', 'g2', repr('v'), 'Base', 'lambda a: (a, a)'])}"]
        if form == 16:
            return [self.pick(["    del mod.v", "    del mod.f", "    mod.__class__ = Mod", "    mod.__dict__['v'] = 'dict'",
                               "    mod.__dict__.clear()", "    mod.__class__ = types.ModuleType", "    mod.__getattr__ = lambda n: n"])]
        if form == 17:
            return [self.pick(["    G = 2", "    G = 'text'", "    del G", "    G = g"])]
        if form == 18:
            return [self.pick(["    g = g2", "    hex = lambda o: 'hex'", "    del hex", "    del g", "    mod = a", "    Leaf = Side",
                               "    builtins.oct = g", "    builtins.hex = lambda o: 'builtin'"])]
        if form == 19:
            return [self.pick(["    g.__code__ = g2.__code__", "    g.__defaults__ = (70,)", "    g.__defaults__ = None",
                               "    Base.m.__defaults__ = (90,)", "    Base.m.__code__ = replaced.__code__",
                               "    Base.__init__.__defaults__ = (6,)", "    Base.up.__code__ = quiet.__code__"])]
        if form == 20:
            special, how = self.pick(SPECIAL)
            return [f"    {self.pick(['Base', 'Mid', 'Leaf', 'Slotted', 'Meta'])}.{special} = {how}"]
        if form == 21:
            return [f"    for n in range(40): setattr({self.pick(DICTS)}, 'f%d' % n, n)"]
        if form == 22:
            return [self.pick(["    gc.collect()", "    vars(a).clear()", "    vars(leaf).update(m=1, k=2)", "    type.__setattr__(Base, 'k', 5)",
                               "    Base.p = property(quiet, lambda self, v: None)", "    object.__setattr__(a, 'k', 3)",
                               "    Plain.__class__ = Meta", "    Base.__class__ = type", "    Mid.__class__ = type('M2', (Meta,), {})",
                               "    del Leaf.up", "    Base.p.fget.__code__ = quiet.__code__", "    a.__dict__"])]
        return [f"    {cls}.{name} = {value}", f"    del {cls}.{name}"]


EPILOGUE = '''
def each(f, *arguments):
    """The result of a call as data; an exception counts as a result."""
    try:
        return f(*arguments)
    except RecursionError:
        return "RecursionError"
    except Exception as error:
        return type(error).__name__, str(error)
'''


# ---- running a case
# -----------------------------------------------------------------------------------------------------


def check(source, plant=False):
    """Run a case in every mode and compare. Returns the number of compared steps, or None if the
    case isn't worth running."""
    warnings.simplefilter("ignore")
    expected = timed(lambda: outcomes(source, "interpreted"))
    if expected is None:
        return None
    planted = hidden(source) if plant else source
    for way in WAYS:
        # In an endless loop of machine code, no handler would run: the signal itself ends the
        # process, which the parent reports.
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.setitimer(signal.ITIMER_REAL, STUCK_S)
        try:
            found = outcomes(planted, way)
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
        for number, (theirs, ours) in enumerate(zip(expected, found, strict=True)):
            if theirs != ours:
                raise Disagreement(f"{way}, step {number}:\n  interpreted: {theirs}\n  compiled:    {ours}")
    return len(expected)


def timed(run):
    def too_slow(number, frame):
        raise TooSlow

    signal.signal(signal.SIGALRM, too_slow)
    signal.setitimer(signal.ITIMER_REAL, SLOW_S)
    try:
        return run()
    except (TooSlow, MemoryError):
        return None
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


def outcomes(source, way):
    """The result of every step of a case, from a fresh start, and the final state of its
    objects."""
    import builtins

    import cladonia

    space = {"__name__": "case"}
    kept = {"hex": builtins.hex, "oct": builtins.oct}
    # A code object is compiled for a few namespaces only: each mode has its own.
    exec(compile(source + EPILOGUE, "<case>", "exec"), space)
    if way == "by itself":
        cladonia.enable(threshold=2)
    elif way == "in the LIR interpreter":
        cladonia.enable(threshold=0, oracle=True)
    elif way == "guards forced" and cladonia.available() is None:
        cladonia.enable(threshold=0, force_exit="first")
    elif way == "compiled at once":
        fuzz_functions.compile_all(cladonia, functions(space))
    try:
        results = []
        for number, step in enumerate(space["STEPS"]):
            if way == "compiled when warm" and number == space["WARM"]:
                fuzz_functions.compile_all(cladonia, functions(space))
            results.append(show(space["each"](step)))
        results.append(show([vars(o) if hasattr(o, "__dict__") else None for o in space["OBJECTS"]]))
        return results
    finally:
        if way != "interpreted":
            cladonia.disable()
        builtins.hex, builtins.oct = kept["hex"], kept["oct"]


def functions(space):
    """All functions of a case that can be compiled."""
    # An older case may lack some of them.
    found = [space[name] for name in ACCESSES + DURING if name in space]
    for name in ("Base", "Mid", "Leaf", "Side", "Slotted"):
        members = list(vars(space[name]).values()) if isinstance(space.get(name), type) else []
        for member in members:
            member = getattr(member, "fget", None) or getattr(member, "__func__", member)
            if type(member) is type(space["nothing"]):
                found.append(member)
    return found


def show(value, depth=0):
    kind = type(value)
    if depth > 5:
        return "..."
    if kind in (list, tuple):
        return f"{kind.__name__}({', '.join(show(v, depth + 1) for v in value)})"
    if kind is dict:
        return f"dict({', '.join(f'{show(k, depth + 1)}: {show(v, depth + 1)}' for k, v in value.items())})"
    if kind in (int, float, bool, str, type(None)):
        return f"{kind.__name__} {value!r}"
    if isinstance(value, type):
        return f"class {type.__dict__['__name__'].__get__(value)}"
    return type.__dict__["__name__"].__get__(kind)


def hidden(source):
    """The same case without its last assignment to a class: the effect of a compiler that does not
    watch it."""
    lines = source.split("\n")
    for at in range(len(lines) - 1, 0, -1):
        if lines[at].startswith(tuple(f"    {cls}." for cls in CLASSES)):
            lines[at] = "    pass"
            break
    return "\n".join(lines)


# ---- searching for disagreements -----------------------------------------------------------------


def work(seed, seconds, current, plant):
    """A worker: generates and checks cases until its time is up. The current case is in the file
    `current`, for the parent to find."""
    fuzz_functions.limit_memory()
    deadline = time.monotonic() + seconds
    counts = {"cases": 0, "steps": 0}

    def run(source):
        current.write_text(source, encoding="utf-8")
        compared = check(source, plant)
        if compared:
            counts["cases"] += 1
            counts["steps"] += compared

    try:
        hunt = fuzz_functions.with_hypothesis(run, seed, deadline, Maker)
    except ImportError:
        hunt = fuzz_functions.with_random(run, seed, deadline, Maker)
    failure = hunt()
    print(f"{counts['cases']} {counts['steps']}")
    if failure:
        print(failure)
        sys.exit(3)


def sow(count):
    """Write the seed corpus: fixed seeds of the plain generator."""
    import random

    for seed in range(count):
        (CORPUS / f"seed_{seed:04}.py").write_text(Maker(random.Random(seed).randrange).case(), encoding="utf-8")


def main():
    CORPUS.mkdir(parents=True, exist_ok=True)
    fuzzing.main(fuzzing.Fuzzer(
        file=__file__, corpus=CORPUS, counted=("sequences", "steps"), ways=WAYS, work=work, check=check, sow=sow,
        damage="hide an assignment from the compiled side", planted="the hidden assignment", seconds_per_worker=60, patience=120,
        seconds_per_case=300), __doc__.partition("\n")[0])


if __name__ == "__main__":
    main()
