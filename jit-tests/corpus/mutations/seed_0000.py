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

# ---- the case

def s0():
    global G, g, hex, Leaf, mod
    mod.__class__ = Mod
    del hex
def s1():
    return [each(bound, o) for _ in range(3) for o in (slot,)]
def s2():
    return [each(call_m, o) for _ in range(3) for o in (loose, side,)]
def s3():
    global G, g, hex, Leaf, mod
    Leaf.__init__ = lambda self, x=1: setattr(self, 'y', x)
def s4():
    return [each(load_x, o) for _ in range(20) for o in (a, slot2,)]
def s5_do():
    global G, g, hex, Leaf, mod
    Leaf.y = property(quiet)
    del Leaf.y
def s5():
    for _ in range(20): during_calls(a, nothing)
    return during_calls(a, s5_do)
def s6():
    global G, g, hex, Leaf, mod
    Leaf.p = None
def s7():
    return [each(class_level, o) for _ in range(20) for o in (loose,)]
def s8_do():
    global G, g, hex, Leaf, mod
    Side.__bases__ = (Mid,)
def s8():
    return during_names(b, s8_do)

STEPS = [s0, s1, s2, s3, s4, s5, s6, s7, s8]
WARM = 0
