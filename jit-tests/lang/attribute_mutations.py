"""Every assignment that can change what an attribute access means, at every moment: before the accesses have run, after they
have, in the midst of a call, by a finaliser, and by another thread."""
import sys
import threading
import types

WORLD = '''
import builtins, types

class Meta(type):
    pass

class Data:
    def __get__(self, instance, owner):
        return "data"
    def __set__(self, instance, value):
        pass

class NonData:
    def __get__(self, instance, owner):
        return "non-data"

class Base(metaclass=Meta):
    k = 10
    def __init__(self):
        self.x = 1
        self.y = 2
    def m(self, d=1):
        return ("m", d)
    def up(self):
        return "up"
    @property
    def p(self):
        return self.x

class Mid(Base):
    def up(self):
        return ("Mid", super().up())

class Other(Base):
    def m(self, d=2):
        return ("other m", d)
    def up(self):
        return "other up"

class Plain:
    k = 20
    def m(self):
        return "plain"

class Slots:
    __slots__ = ("x", "y")
    k, p = 5, 6
    def __init__(self):
        self.x, self.y = 3, 4
    def m(self, d=3):
        return ("slots m", d)
    def up(self):
        return "slots up"

class Slots2:
    __slots__ = ("x", "y")
    k, p, m, up = 7, 8, Slots.m, Slots.up

mod = types.ModuleType("mod")
mod.v = 5
mod.f = lambda a: ("f", a)

class Module(types.ModuleType):
    @property
    def v(self):
        return "property"

G = 1
def g(a, b=2):
    return (a, b)
def g2(a, b=3):
    return ("g2", a, b)
def other(self, *rest):
    return ("replaced", len(rest))
def get_any(self, name):
    return "any" if name in ("x", "m", "k", "p", "up") else object.__getattribute__(self, name)
def set_any(self, name, value):
    object.__setattr__(self, name, ("set", value))

o = Mid()
s = Slots()

def accesses(o, do):
    r = [o.x, o.k, o.p, o.m(1), o.up(), G, g(1), mod.v, mod.f(2), Mid.k, hex(17)]
    o.y = 3
    do()
    r += [o.x, o.k, o.m(1), G, g(1), mod.v, mod.f(2), Mid.k, hex(17)]
    o.y = 4
    r += [o.p, o.up(), o.m(), o.y]
    return r

def single_x(o, do):
    a = o.x
    do()
    return a, o.x

def single_m(o, do):
    a = o.m(1)
    do()
    return a, o.m(2)

def single_store(o, do):
    o.x = 5
    do()
    o.x = 6
    return o.x

def single_super(o, do):
    a = o.up()
    do()
    return a, o.up()

def looped(o, do):
    r = []
    for i in range(6):
        if i == 3:
            do()
        r.append(o.x)
        r.append(o.m(i))
    return r

def plain(o, do):
    a = Plain.k, Plain.m(1), Plain().m()
    do()
    return a, Plain.k, Plain.m(1), Plain().m()

def missing(o, do):
    do()
    return o.missing
'''

CLASS_CHANGES = [f"{cls}.{name} = {value}" for cls in ("Mid", "Base") for name in ("x", "k", "m", "p")
                 for value in ("7", "other", "property(other)", "Data()", "NonData()", "staticmethod(other)")]
CHANGES = CLASS_CHANGES + """Meta.k = 7
Meta.k = Data()
Meta.m = property(other)
Meta.x = property(other)
del Base.k
del Base.m
del Base.p
del Mid.up
del Base.up
Mid.k = 1; del Mid.k
Mid.__getattr__ = other
Mid.__getattribute__ = get_any
Mid.__setattr__ = set_any
Base.__getattr__ = other
Base.missing = 5
Meta.k = property(other)
Meta.missing = 1
Mid.__bases__ = (Other,)
Mid.up = Other.up
o.m = lambda *a: "own"
o.k = "own"
o.__dict__["m"] = other
o.__dict__["k"] = 3
o.__dict__["p"] = 3
o.missing = 1
o.__dict__ = dict(x=9, m=other)
o.__dict__ = {}
o.__dict__.clear()
o.__dict__
del o.x
del o.x; o.x = 8
for n in range(40): setattr(o, "f%d" % n, n)
o.__class__ = Other
o.__class__ = Base
s.__class__ = Slots2
s.x = 30
del s.x
Slots.x = 1
Slots.m = other
mod.v = 6
mod.f = g
del mod.v
mod.__class__ = Module
mod.__dict__["f"] = g2
mod.__dict__.clear()
G = 2
G = "text"
del G
g = g2
g.__code__ = g2.__code__
g.__defaults__ = (9,)
Base.m.__code__ = other.__code__
Base.m.__defaults__ = (9,)
Base.p.fget.__code__ = other.__code__
hex = lambda o: "own hex"
mod = Mid
Mid = Base
type.__setattr__(Base, "k", 11)
object.__setattr__(o, "k", 12)
Base.k = 10
builtins.hex = lambda o: "changed"
Plain.k = 21
Plain.m = other
del Plain.m
del Plain.k
Plain.__class__ = Meta
Plain.__call__ = other
Plain.__init__ = other
Plain.__new__ = other
""".splitlines()

# From 3.14 on the interpreter reads an attribute of a module from its dict, once it has done so often, also if the module has got a class with
# a property of that name meanwhile. Compiled code asks the class.
if sys.version_info >= (3, 14):
    CHANGES.remove("mod.__class__ = Module")

FUNCTIONS = ("accesses", "single_x", "single_m", "single_store", "single_super", "looped", "missing", "plain")


def nothing():
    pass


class Fin:
    def __init__(self, do):
        self.do = do

    def __del__(self):
        self.do()


def quiet(do):
    """The change as something to call: one that is not allowed changes nothing."""
    def change():
        try:
            do()
        except Exception as error:
            seen.append(type(error).__name__)
    return change


def finalised(do):
    def change():
        f = Fin(do)
        f = None
    return change


def threaded(do):
    def change():
        thread = threading.Thread(target=do)
        thread.start()
        thread.join()
    return change


def show(value):
    if isinstance(value, (tuple, list)):
        return f"({' '.join(map(show, value))})"
    if isinstance(value, (int, str)):
        return repr(value)
    return getattr(value, "__name__", None) or type(value).__name__


def one(f, o, do):
    try:
        return show(f(o, do))
    except Exception as error:
        return f"{type(error).__name__}: {error}"


MOMENTS = ("before", "after", "during", "finaliser", "thread")
kept = hex
builtins = __import__("builtins")

for number, change in enumerate(CHANGES):
    change_code = compile(change, "<change>", "exec")
    for at, moment in enumerate(MOMENTS):
        rotating = (MOMENTS[number % 5], MOMENTS[(number + 2) % 5])[: 1 + (number >= len(CLASS_CHANGES))]
        if moment not in ("during", *rotating):
            continue
        seen = []
        space = {"__name__": "world"}
        # Of code that runs in many namespaces only some is compiled: each world has its own.
        exec(compile(WORLD, "<world>", "exec"), space)
        do = quiet(lambda: exec(change_code, space))
        # Each change meets every function, each function every moment.
        names = [FUNCTIONS[(number + 3 * at + i) % len(FUNCTIONS)] for i in range(2)]
        results = []
        for name in names:
            f = space[name]
            if moment == "before":
                do()
            else:
                for _ in range(30):
                    for thing in (space["o"], space["s"]):
                        one(f, thing, nothing)
            how = {"during": do, "finaliser": finalised(do), "thread": threaded(do)}.get(moment, nothing)
            if moment == "after":
                do()
            results.append(one(f, space["o"], how))
            results.append(one(f, space["s"], nothing))
            results.append(one(f, space["o"], nothing))
        builtins.hex = kept
        print(change, "|", moment, names[0], names[1], *results, *seen, sep=" | ")
