"""%-formatting of str and bytes, and str.format: mappings, tuples, too many and too few, flags, user objects, attribute and item fields."""

from support import each


class Shown:
    attr = {"key": [1, 2]}

    def __str__(self):
        return "shown"

    def __repr__(self):
        return "<Shown>"

    def __int__(self):
        return 42

    def __index__(self):
        return 43

    def __float__(self):
        return 4.25


class Fails:
    def __str__(self):
        raise LookupError("str")

    __repr__ = __str__

    def __getitem__(self, key):
        raise IndexError(key)


def percent(template, args):
    return template % args


def fields(template, *args, **kwargs):
    return template.format(*args, **kwargs)


def constants(x, y):
    return "%s and %r" % (x, y), "%5s|%-5s|" % (x, y), "%s" % x, "%a %s%%" % (x, y)


s = Shown()
each(percent, ("%d %i", (1, 2)), ("%s", "x"), ("%s", (1,)), ("%s %s", (1,)), ("%s", (1, 2)), ("none", ()), ("none", 1), ("none", {}), ("%(a)s %(b)05.1f", {"a": 1, "b": 2.25}),
     ("%(a)s", {}), ("%(a)s", 5), ("%*d", (5, 3)), ("%-+8.3d|", 7), ("%x %X %o %#x", (255, 255, 8, 16)), ("%c%c", ("a", 98)), ("%c", "ab"), ("%c", -1), ("%e %g", (1.5, 1e100)),
     ("%d", 1.9), ("%d", "1"), ("%x", 1.5), ("%s %r %a", (s, s, "ä")), ("%d", s), ("%x", s), ("%.1f", s), ("%s", Fails()), ("%", 1), ("%z", 1), ("%5%", ()), ("%s" * 3, "abc"),
     ("%.2s|%10.1r|", ("abc", "xyz")), ("%(x", {}), ("%*s", ("a", 1)), times=35)
each(percent, (b"%d %s", (1, b"x")), (b"%b", b"y"), (b"%s", "text"), (b"%a", "ä"), (b"%c", 65), (b"%c", 256), (b"%r", 1.5), (bytearray(b"%x"), 255), times=35)
each(fields, ("{} {}", 1, 2), ("{1} {0}", 1, 2), ("{} {1}", 1, 2), ("{2}", 1), ("{0.attr[key][1]}", s), ("{0[a]}", {"a": 3}), ("{0[0]}", Fails()), ("{0.none}", s), ("{!r:>10}", "x"),
     ("{:{}}", "a", 5), ("{{}}",), ("{", 1), ("}", 1), ("{!x}", 1), ("{0:{1}{2}}", 5, "0", "3"), ("{0!s:.2}", Shown()), ("{:d}", "x"), ("{0.}", 1), ("{0[}", 1), times=35)
each(lambda: fields("{a} {b.real}", a=1, b=2), ())
each(lambda: fields("{missing}", a=1), ())
each(constants, (1, "two"), (None, s), ((1, 2), []), (Fails(), 1))
