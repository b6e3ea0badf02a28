"""C functions and the methods of C classes by flavour: no argument, one, several, keywords, with every wrong call."""

import math
import operator
import sys

try:
    import _testcapi
except ImportError:
    _testcapi = None


class Loud:
    def __init__(self, name):
        self.name = name

    def __del__(self):
        print("del", self.name)

    def __hash__(self):
        raise RuntimeError("no hash of " + self.name)

    def __index__(self):
        return 7


class Meta(type):
    pass


class Made(metaclass=Meta):
    pass


class Words(list):
    pass


def show(function, *args, **kwargs):
    try:
        print(function(*args, **kwargs))
    except BaseException as error:
        print(type(error).__name__, error, error.__traceback__.tb_next is not None)


def none_taken():
    print("a b".split(), [3, 1].copy(), {}.items(), callable(len))
    show(lambda: [].clear(1))
    show(lambda: [].clear(x=1))
    show(lambda: list.clear())
    show(lambda: list.clear({}))
    show(lambda: sys.getrecursionlimit(1))


def one_taken():
    print(len("abc"), ord("a"), abs(-3), hash("") == hash(""), math.floor(2.5), operator.index(Loud("index")))
    items = []
    items.append(1)
    list.append(items, 2)
    print(items, "".join(["a", "b"]), "abc".__contains__("b"))
    show(lambda: len())
    show(lambda: len(1, 2))
    show(lambda: len(1))
    show(lambda: len(obj=[]))
    show(lambda: list.append(items))
    show(lambda: list.append((), 1))
    show(lambda: items.append(1, 2))
    show(lambda: {}.__contains__(Loud("key")))


def several_taken():
    words = {"a": 1}
    print(words.get("a"), words.get("b"), words.get("b", 2), words.pop("a"), words.pop("a", 3))
    print(isinstance(1, int), getattr(words, "missing", 4), max(1, 2), divmod(7, 2), math.gcd(4, 6), pow(2, 5, 7))
    print("a,b".split(","), "aba".replace("a", "c", 1), "x".ljust(3, "."), [1, 2, 1].index(1, 1))
    show(lambda: words.get())
    show(lambda: words.get(1, 2, 3))
    show(lambda: dict.get([], 1))
    show(lambda: words.get(Loud("got"), 1))
    show(lambda: isinstance(1))
    show(lambda: getattr(1, 2))
    show(lambda: words.pop("none"))
    show(lambda: words.get(k=1))


def keywords_taken():
    print(sorted([2, 1], reverse=True), max([1, 2], key=lambda x: -x), "a b c".split(maxsplit=1), "a b".split(" ", maxsplit=1))
    print(int.from_bytes(b"\1\2", "little"), (258).to_bytes(2, byteorder="big"), [2, 1].sort(key=None))
    show(lambda: sorted([1], wrong=1))
    show(lambda: sorted())
    show(lambda: "a".split(1, 2, 3))
    show(lambda: [1].sort(1))
    show(lambda: str.split(1, sep="a"))


def types_taken():
    print(type(1), type(Made()), type(Made), type(type), Meta("Other", (), {}))
    show(lambda: type())
    show(lambda: type(1, 2))
    show(lambda: Meta(1))
    show(lambda: type(object=1))
    print(dict.fromkeys("ab", 1), str.maketrans("a", "b"), Words.append is list.append, bytes.fromhex("00ff"))
    words = Words()
    words.append(1)
    Words.extend(words, (2, 3))
    print(words, float.fromhex("0x1p-1"))


def dropped():
    print(len([Loud("argument")]))
    print({}.get(1, Loud("default")).name)
    print([Loud("receiver")].copy() and None)
    show(lambda: getattr(Loud("asked"), "missing"))


def calls_back(depth):
    if depth:
        return max([depth], key=lambda _: calls_back(depth - 1))
    return sorted([3, 1, 2], key=lambda x: 10 // (x - 2) if depth is None else -x)


def reads_frames():
    here = 5
    print(sorted(locals()), sorted(vars()), dir(), eval("here + 1"))
    exec("print(here)")
    for function in (locals, vars, dir):
        print(sorted(function()))


def breaks_the_rule():
    if _testcapi is None:
        return
    for function in (_testcapi.return_null_without_error, _testcapi.return_result_with_error):
        try:
            function()
        except SystemError as error:
            print(error, repr(error.__cause__))


def limits():
    def build(depth):
        nested = []
        for _ in range(depth):
            nested = [nested]
        return nested

    deep = build(100_000)
    try:
        repr(deep)
    except RecursionError as error:
        # From 3.14 on the message gives the number of KiB of the C stack that are used.
        message = str(error) if sys.version_info < (3, 14) else str(error).partition(" (used")[0]
        print("RecursionError", message[:32])
    while deep:
        deep = deep.pop()


for _ in range(3):
    none_taken()
    one_taken()
    several_taken()
    keywords_taken()
    types_taken()
    dropped()
    print(calls_back(3))
    reads_frames()
    breaks_the_rule()
    limits()
