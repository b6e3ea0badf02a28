"""Operands of an instruction that raises die in the interpreter's order."""
class T:
    def __init__(self, name): self.name = name
    def __del__(self): print("del", self.name)
    def _boom(self, *a, **k): raise ValueError(self.name)
    __add__ = __lt__ = __eq__ = __getitem__ = __setitem__ = __delitem__ = __contains__ = __call__ = __hash__ = __format__ = __iadd__ = __imul__ = __matmul__ = __pow__ = _boom
    __iter__ = __enter__ = __exit__ = _boom
    keys = _boom
class A:
    __slots__ = ()
    def __del__(self): print("del A")
class P:
    @property
    def x(self): raise ValueError("P.x")
    @x.setter
    def x(self, v): raise ValueError("P.x=")
    def __del__(self): print("del P")
class IT:
    def __init__(self, name): self.name = name; self.n = 0
    def __iter__(self): return self
    def __next__(self):
        self.n += 1
        if self.n > 2: raise ValueError("next")
        return T(f"{self.name}{self.n}")
    def __del__(self): print("del", self.name)
def g(a, b=1, *, c=2): return a.x
import operator
fs = [
 lambda: T("a") + T("b"),
 lambda: T("a") < T("b"),
 lambda: T("a") == T("b"),
 lambda: T("a")[T("b")],
 lambda: T("a")[T("b"):T("c")],
 lambda: T("a")[T("b"):T("c"):T("d")],
 lambda: T("a") in T("b"),
 lambda: T("a")(T("b"), T("c")),
 lambda: T("a")(T("b"), k=T("c")),
 lambda: T("a")(*(T("b"), T("c"))),
 lambda: T("a")(*(T("b"), T("c")), **{"k": T("d")}),
 lambda: T("a").foo(T("b")),
 lambda: T("a")._boom(T("b"), T("c")),
 lambda: T("a")._boom(T("b"), k=T("c")),
 lambda: {T("a"): T("b")},
 lambda: {1: T("z"), T("a"): T("b"), 2: T("y")},
 lambda: {T("a"), T("b")},
 lambda: f"{T('a'):{'x'}}",
 lambda: (T("a"), T("b"), T("c").foo),
 lambda: [T("a"), *T("b")],
 lambda: {**{"a": T("a")}, **T("b")},
 lambda: g(T("a"), T("b"), c=T("c")),
 lambda: g(T("a")),
 lambda: len(T("a")),
 lambda: operator.add(T("a"), T("b")),
 lambda: divmod(T("a"), T("b")),
 lambda: T("a") @ T("b"),
 lambda: T("a") ** T("b"),
 lambda: T("a") * T("b"),
 lambda: [T("q"), T("a") - T("b"), T("r")],
 lambda: (T("x") if T("a") > 1 else 2),
 lambda: max(T("a"), T("b")),
 lambda: "%s %d" % (T("a"), T("b")),
 lambda: [1, 2][T("a")],
 lambda: (1, 2)[T("a")],
 lambda: {}[T("a")],
 lambda: "abc"[T("a")],
 lambda: [x for x in IT("it")],
 lambda: {x: T("v") for x in IT("it")},
 lambda: {x for x in IT("it")},
 lambda: P().x,
 lambda: getattr(A(), "zork"),
 lambda: A().zork,
]
def s1(): T("a")[T("b")] = T("c")
def s2(): del T("a")[T("b")]
def s3(): A().x = T("b")
def s4(): P().x = T("b")
def s5(): T("a")[T("b"):T("c")] = T("d")
def s6():
    x = T("a"); x += T("b")
def s7():
    [1, 2][T("a")] = T("b")
def s8(): {}[T("a")] = T("b")
def s9():
    with T("a"): pass
def s10():
    a, b = T("a"), T("b")
    c, d, e = (a, b)
def s11():
    a, b = [T("a"), T("b"), T("c")]
def s12():
    a, b = IT("it")
def s13():
    a, *b = IT("it")
def s14():
    for x in IT("it"): pass
def s15():
    for x in IT("it"):
        for y in IT("jt"): pass
def s16(): raise T("a")
def s17(): raise ValueError(1) from T("a")
def s18():
    l = [T("a")]; l.append(T("b"), T("c"))
def s19():
    l = [T("a"), T("b")]
    l[0] = T("c"); l[5] = T("d")
def s20():
    x = T("a")
    x = T("b")
    del x
    x.foo
def s21():
    t = T("a")
    t.x = T("b"); t.x = T("c"); del t.x; del t.x
def s22():
    import sys
    setattr(sys, T("a"), T("b"))
def s23():
    x = [T("a")] * 2
    x[T("b")] += 1
def s24():
    x = T("a")
    x.q += T("b")
def s25():
    T("a").x.y = T("b")
def s26():
    T("a").b.c(T("d"))
def s27():
    def inner(a, b): return a + b
    inner(T("a"), T("b"))
def s28():
    class K(T): pass
    K("a") + K("b")
def s29():
    d = {1: T("a")}
    d[1] = T("b")
    d[2][3] = T("c")
def s30():
    d = {1: T("a")}
    for k in d: d[T("k").name] = T("v")
fs += [v for k, v in sorted(globals().items()) if k[0] == "s" and k[1:].isdigit()]
def run(f):
    try: f()
    except Exception as e: print(" ", type(e).__name__, e)
for rep in range(3):
    for i, f in enumerate(fs):
        print("#", i, f.__name__)
        run(f)
