"""Methods of strings, ord and chr computed without a call: characters of every width, surrogates, subclasses, tuples of prefixes, ranges, wrong arguments, replaced names."""

from support import each, hot


class Text(str):
    def startswith(self, part):
        return "own", part

    def isdigit(self):
        return "own digit"


class Plain(str):
    pass


TEXTS = ("", "a", "A", "1", " ", "\t", "\x1c", "\x1f", "\x85", "abc", "aBc", "ABC", "a1", "12 ", "é", "É", "ß", "\xa0", "²", "½", "١", "Ⅷ", "\u2003", "日本", "a日", "\U0001d7d8", "\U0001f600x", "\ud800", "x\udfff", "\x00", "a\x00b", "\x7f", "\xff", "\u0100", Plain("abc"), Plain("1"), Text("abc"), Text("12"))
TESTS = ("isalnum", "isalpha", "isascii", "isdecimal", "isdigit", "islower", "isnumeric", "isspace", "isupper", "istitle", "isidentifier", "isprintable")
SEARCHES = ("startswith", "endswith", "find", "rfind", "index", "rindex", "count")


def test(name):
    space = {}
    exec(f"def {name}(s):\n    return s.{name}()\n", space)
    return space[name]


def search(name):
    space = {}
    exec(f"def {name}(s, t):\n    return s.{name}(t)\n", space)
    return space[name]


def code(c):
    return ord(c)


def character(n):
    return chr(n)


def known(s):
    return s.startswith("ab"), s.endswith("日"), s.startswith(""), s.endswith("c"), s.find("b"), s.count("a"), s.startswith("é"), s.startswith(("ab", "x")), s.startswith("b", 1), s.endswith("b", 0, 2)


def scan(s):
    i = words = digits = others = 0
    total = 0
    while i < len(s):
        c = s[i]
        if c.isspace():
            words += 1
        elif c.isdigit():
            digits = digits * 10 + ord(c) - ord("0")
        elif c.isalpha() or c == "_":
            total += ord(c)
        elif c in "+-*/":
            others += 1
        elif c in ("é", "日"):
            others += 100
        i += 1
    return words, digits, total, others


def shifted(s, n):
    return "".join(chr((ord(c) - 97 + n) % 26 + 97) for c in s if c.isalpha())


def codes(n):
    return [chr(i) for i in range(n)] + [ord(chr(i * 37)) for i in range(n)]


def one_object(n):
    return [chr(i) is chr(i) for i in range(0, 512, n)]


def words(items, t):
    total = 0
    for w in items:
        if w.startswith(t) or w.endswith("a"):
            total += len(w)
    return total


def replaced(n):
    global ord
    out = []
    for i in range(n):
        if i == n - 2:
            ord = lambda c: ("own", c)
        out.append(ord("a"))
    del ord
    return out[-4:]


class Index:
    def __index__(self):
        return 65


class Strange:
    def startswith(self, part):
        return "strange", part

    def isspace(self):
        raise KeyError("isspace")


def unbound(s, t):
    return str.startswith(s, t), str.isdigit(s)


def wrong():
    out = []
    for call in (lambda: "a".isdigit(1), lambda: "a".startswith(), lambda: "a".startswith(1), lambda: "a".startswith("a", "b"), lambda: "a".find(), lambda: "a".find(None), lambda: "a".startswith(prefix="a"), lambda: ord(), lambda: chr(), lambda: str.isdigit(), lambda: str.startswith(1, "a")):
        try:
            call()
        except TypeError as error:
            out.append(str(error))
    return out


for name in TESTS:
    each(test(name), *[(s,) for s in TEXTS], times=31)
each(test("isspace"), ("a",), (1,), (b" ",), (Strange(),), (None,))
for name in SEARCHES:
    each(search(name), *[(s, t) for s in ("", "abc", "abcabc", "日本日", "aé", "\ud800a", Plain("abc"), Text("abc")) for t in ("", "a", "c", "abc", "é", "日", "\ud800", Plain("a"), ("a", "日"), 1, b"a")], times=31)
each(search("startswith"), (b"abc", b"a"), (Strange(), "a"), (1, "a"))
each(code, *[(c,) for c in ("a", "é", "日", "\U0001f600", "\ud800", "\x00", "", "ab", "日本", Plain("a"), Plain(""), b"a", b"ab", bytearray(b"x"), 1, None)])
each(character, *[(n,) for n in (0, 65, 255, 256, 0xd800, 0xffff, 0x10ffff, 0x110000, -1, 2**31, 2**63, 2**70, True, Index(), "a", 1.5)])
each(known, *[(s,) for s in ("abc", "", "日本日", "aé", "éa", Plain("abc"))])
each(scan, ("the 12 quick_foxes + 3",), ("",), ("日本é 4 \U0001f600",), ("\ud800 a\xa0b",), (Plain("ab 1"),))
each(shifted, ("hello, world", 3), ("", 1), ("zebra" * 10, -5))
each(codes, (40,), (300,))
each(one_object, (7,))
each(words, (["aa", "ba", "e", "entre"] * 10, "e"), ([], "a"), (["a"] * 50 + [Text("ab")], "a"), (["a"] * 50 + [3], "a"), (["é", "日a"] * 20, "日"))
print(replaced(60), replaced(60))
each(unbound, ("abc", "a"), (Text("abc"), "a"), (1, "a"), ("12", "1"))
hot(wrong)
