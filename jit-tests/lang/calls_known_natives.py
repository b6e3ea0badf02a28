"""Calls of C functions, methods and classes that are known by name: what they give, raise, keep alive and let die, what auditors
hear, and what happens when the name comes to mean something else."""
import builtins
import signal
import sys
import traceback

try:
    import _testcapi
except ImportError:
    _testcapi = None


class Loud:
    def __init__(self, name):
        self.name = name

    def __del__(self):
        print("del", self.name)


class Liar:
    @property
    def __class__(self):
        return int


class Asked(type):
    def __instancecheck__(cls, instance):
        print("asked of", type(instance).__name__)
        return True

    def __subclasscheck__(cls, other):
        print("asked of class", other.__name__)
        return len(other.__name__) > 3


class Anything(metaclass=Asked):
    pass


class Text(str):
    pass


class Named:
    def __str__(self):
        return Text("named")

    def __hash__(self):
        return 12

    def __eq__(self, other):
        print("compared")
        return True


class Wrong:
    def __str__(self):
        return 7

    def __hash__(self):
        return "no"

    def __len__(self):
        return -1


def attempt(f, *args):
    try:
        return f(*args)
    except BaseException as e:
        parts = traceback.extract_tb(e.__traceback__)[1:]
        at = [(p.name, p.lineno, p.colno, p.end_colno) for p in parts]
        return f"{type(e).__name__}: {e} {at}"


def same(x):
    a = id(x)
    b = id(x)
    return a == b and a == builtins.id(x) and type(a) is int and a > 0


def class_of(x):
    return type(x)


def text_of(x):
    return str(x)


def is_int(x):
    return isinstance(x, int)


def is_some(x):
    return isinstance(x, (str, (bytes, list)))


def is_anything(x):
    return isinstance(x, Anything)


def is_sub(x):
    return issubclass(x, Anything), issubclass(x, Exception)


def found(d, key):
    return d.get(key), d.get(key, "none"), d.setdefault(key, 4)


def attributes(x):
    return getattr(x, "name", None), hasattr(x, "name"), callable(x)


def hashed(x):
    return hash(x)


def made(x):
    return tuple(x), list(x), len(set(x)), len(frozenset(x))


def joined(sep, parts):
    return sep.join(parts), sep.startswith("-"), sep.replace("-", "+")


def lengths(x):
    return len(x)


def raised(kind):
    try:
        return kind("a", 1)
    except TypeError as e:
        return str(e)


VALUES = [0, 1.5, "a", b"b", None, True, [1], (2, 3), {}, {4}, int, Loud, len, Liar(), Named(), Wrong(), 2**80, range(3)]


def warm():
    for _ in range(40):
        for x in VALUES[:12]:
            same(x), class_of(x), text_of(x), is_int(x), is_some(x), hasattr(x, "name")
            attributes(x)
        found({1: 2}, 1), hashed("a"), made([1, 2, 2]), joined("-", ["a", "b"]), lengths("abc")
        raised(ValueError)


def values():
    for x in VALUES:
        print(same(x), class_of(x).__name__, is_int(x), is_some(x), attributes(x)[1:])
        print(attempt(lengths, x), attempt(made, x))
    for x in (Named(), Wrong(), Text("t"), Text):
        print(attempt(text_of, x), type(attempt(text_of, x)).__name__)
    print(attempt(hashed, Wrong()), attempt(hashed, []), hashed(Named()))
    print(is_anything(3), is_anything(Anything()), attempt(is_sub, int), attempt(is_sub, bool), attempt(is_sub, 3))
    print(attempt(found, {Named(): 1}, Named()), attempt(found, {}, []), attempt(found, [], 1))
    print(attempt(joined, "-", ["a", 1]), attempt(joined, "-", 3), attempt(joined, 3, "a"))
    print(raised(ValueError), raised(KeyError), attempt(raised, int))


def bad_calls(d):
    # No `dict.get()`: once specialised, CPython 3.13.0 takes what lies behind the stack for its receiver.
    def none():
        return d.get()

    def many():
        return d.get(1, 2, 3)

    def unbound():
        return dict.get([], 1)

    def of_id():
        return id()

    def of_id_two():
        return id(1, 2)

    def of_type():
        return type(1, 2)

    def of_instance():
        return isinstance(1, 2)

    for f in (none, many, unbound, of_id, of_id_two, of_type, of_instance):
        for _ in range(40):
            last = attempt(f)
        print(last)


def deaths():
    def take(d):
        return d.get(Loud("key"), Loud("default")).name

    def twice(d):
        return isinstance(Loud("first"), type(Loud("second")))

    def numbered():
        return id(Loud("numbered")) > 0

    def classed():
        return type(Loud("classed")).__name__

    for f, args in ((take, ({},)), (twice, ({},)), (numbered, ()), (classed, ())):
        for _ in range(35):
            f(*args)


def counts():
    def held(d, x):
        # From 3.14 on, the interpreter takes no reference for an argument that is a local of the
        # caller. Compiled code does.
        before = 0 if sys.version_info < (3, 14) else sys.getrefcount(x)
        d.get(x, x)
        type(x)
        id(x)
        isinstance(x, str)
        str(d)
        return sys.getrefcount(x) - before

    x = object()
    print({held({}, x) for _ in range(60)})


def deep():
    def depth(n):
        item = []
        for _ in range(n):
            item = [item]
        return repr(item)

    for _ in range(35):
        depth(3)
    # From 3.14 on the message gives the number of KiB of the C stack that are used.
    raised = attempt(depth, 100000)
    print(len(depth(50)), (raised if sys.version_info < (3, 14) else raised.partition(" (used")[0])[:40])

    class Endless:
        def __hash__(self):
            return hash(self)

        def __getattr__(self, name):
            return getattr(self, name)

    endless = Endless()

    def ask(x):
        return hash(x)

    def get(x):
        return getattr(x, "nothing", 3)

    for _ in range(35):
        ask(1), get(1)
    for f in (ask, get):
        try:
            f(endless)
        except RecursionError as e:
            print(e)


def signals():
    heard = []
    signal.signal(signal.SIGUSR1, lambda *args: heard.append(args[0] == signal.SIGUSR1))
    raise_signal, number = signal.raise_signal, signal.SIGUSR1

    def ring():
        before = len(heard)
        raise_signal(number)
        return len(heard) - before

    print({ring() for _ in range(50)})

    def stop(*args):
        raise InterruptedError("stopped")

    signal.signal(signal.SIGUSR1, stop)
    for _ in range(40):
        last = attempt(ring)
    print(last)


def unfit():
    def neither():
        return _testcapi.return_null_without_error()

    def both():
        return _testcapi.return_result_with_error()

    if _testcapi:
        for f in (neither, both):
            for _ in range(40):
                last = attempt(f)
            print(last)


def shadowed():
    out = []

    def ask(x):
        return id(x), type(x), isinstance(x, int)

    real = ask(1)
    for _ in range(50):
        ask(1)
    print(ask(1) == real)
    globals()["id"] = lambda x: "mine"
    out.append(ask(1)[0])
    del globals()["id"]
    builtins.isinstance, kept = (lambda x, c: "theirs"), builtins.isinstance
    out.append(ask(1)[2])
    builtins.isinstance = kept
    globals()["type"] = str
    out.append(ask(1)[1])
    del globals()["type"]
    print(out, ask(1) == real)


def audited():
    events = []
    on = [True]

    def hook(event, args):
        if on[0] and event == "builtins.id":
            events.append(type(args[0]).__name__)

    def ask(x):
        return id(x)

    first = [ask(x) for x in VALUES * 5]
    sys.addaudithook(hook)
    second = [ask(x) for x in VALUES * 5]
    on[0] = False
    print(first[3:10] == second[3:10], len(events), set(events))


warm()
values()
bad_calls({})
deaths()
counts()
deep()
signals()
unfit()
shadowed()
audited()
