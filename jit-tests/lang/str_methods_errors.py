"""str methods with every odd argument: bounds, tuples, counts, tables, widths, case of special letters, splitting, and their messages."""

from support import each


def find(s, *args):
    return s.find(*args), s.rfind(*args), s.count(*args), s.startswith(*args), s.endswith(*args)


def index(s, x):
    return s.index(x), s.rindex(x)


def split(s, *args):
    return s.split(*args), s.rsplit(*args)


def lines(s, keep):
    return s.splitlines(keep), s.splitlines(), len(s.expandtabs(4)), s.partition(":"), s.rpartition(":")


def case(s):
    return s.upper(), s.lower(), s.title(), s.capitalize(), s.swapcase(), s.casefold()


def kinds(s):
    return s.isalpha(), s.isdigit(), s.isdecimal(), s.isnumeric(), s.isalnum(), s.isspace(), s.isupper(), s.islower(), s.istitle(), s.isidentifier(), s.isprintable(), s.isascii()


def pads(s, *args):
    return s.center(*args), s.ljust(*args), s.rjust(*args), s.zfill(args[0])


def replace(s, *args):
    return s.replace(*args)


def strips(s, chars):
    return s.strip(chars), s.lstrip(chars), s.rstrip(chars), s.removeprefix("ab"), s.removesuffix("ab")


def joins(sep, items):
    return sep.join(items)


def translate(s, table):
    return s.translate(table)


def made(*args):
    return str.maketrans(*args)


def encode(s, *args):
    return s.encode(*args)


each(find, ("hello", "l"), ("hello", ""), ("", ""), ("hello", "l", 3), ("hello", "l", -2, 100), ("hello", "x"), ("hello", 5), ("hello", "l", None, 3), ("hello", "l", "x"), ("aXbX", "X", 2**70), times=31)
each(index, ("hello", "l"), ("hello", "x"), ("", ""), ("a", 1), times=31)
each(split, ("a b  c",), ("a b  c", " "), ("a b c", None, 1), ("a,b,c", ",", 1), ("", ), ("", ","), ("abc", ""), ("abc", 1), (" a ", None, 0), ("aXXb", "XX"), ("a b", " ", "x"), times=31)
each(lines, ("a\nb\r\nc\x0bd\u2028e", True), ("a:b:c\n", False), ("", True), ("\n\n", 1), ("a\tb", []), times=31)
each(case, ("straße",), ("ǅ ﬁ İ",), ("don't stop",), ("",), ("ΑΣ ΣΑ",), ("1a2B",), times=31)
each(kinds, ("abc",), ("12",), ("²",), ("½",), ("",), (" \t",), ("Ab Cd",), ("x1",), ("\x7f",), ("é",), ("_",), times=31)
each(pads, ("ab", 6), ("ab", 7, "*"), ("ab", 1), ("-5", 6), ("ab", 5, ""), ("ab", 5, "xy"), ("ab", "x"), ("ä", 4, "𝄞"), times=31)
each(replace, ("aaa", "a", "b"), ("aaa", "a", "b", 2), ("aaa", "", "-"), ("aaa", "aa", ""), ("abc", "x", "y"), ("abc", "a", 5), ("abc", "b", "ä𝄞"), ("aaa", "a", "b", -1), times=31)
each(strips, ("  ab  ", None), ("abxab", "ab"), ("", "x"), ("abab", ""), ("ab", 5), ("\u2003a\u2003", None), times=31)
each(joins, (",", ["a", "b"]), (",", []), ("", "abc"), (",", ["a", 1]), (",", 5), (",", {"x": 1, "y": 2}), (",", (c for c in "ab")), ("ä", ["a", "𝄞"]), (5, ["a"]) if False else (",", ["only"]), times=31)
each(translate, ("abc", {97: "X", 98: None, 99: 100}), ("abc", {97: "long"}), ("abc", {97: []}), ("abc", "xyz" * 40), ("abc", {}), ("abc", 5), ("a", {97: -1}), times=31)
each(made, ("ab", "xy"), ("ab", "xy", "z"), ({"a": 1, 98: "b"},), ("ab", "x"), ({"ab": 1},), (5,), times=31)
each(encode, ("ä",), ("ä", "ascii"), ("ä", "ascii", "replace"), ("ä", "ascii", "xmlcharrefreplace"), ("ä\ud800", "utf-8"), ("ä", "utf-16-le"), ("ä", "none-such"), ("ä", "ascii", "nope"), times=31)
