"""Attributes and names by strings that are equal but not the same: interned, made, subclasses, not identifiers, in dicts of instances and kwargs."""

from support import each, hot


class Str(str):
    pass


class Box:
    pass


def made(text):
    return "".join(list(text))


def attributes(n):
    b = Box()
    setattr(b, made("alpha"), 1)
    b.__dict__[made("beta")] = 2
    b.__dict__[Str("gamma")] = 3
    b.alpha += n
    return b.alpha, b.beta, b.gamma, getattr(b, made("alpha")), getattr(b, Str("beta")), sorted(b.__dict__), hasattr(b, made("delta"))


def lookups(d, k):
    return d.get(k), d.get(made(k)), d.get(Str(k)), k in d, made(k) in d, d[made(k)] if k in d else None


def keywords(**kw):
    return sorted(kw.items()), kw.get("a"), [type(k).__name__ for k in kw]


def passed(k):
    return keywords(**{made(k): 1, Str("sub"): 2, "not a name": 3, "": 4})


def in_globals(n):
    globals()[made("dynamic_name")] = n
    try:
        return dynamic_name
    finally:
        del globals()[made("dynamic_name")]


def counted(text):
    counts = {}
    for word in text.split():
        counts[word] = counts.get(word, 0) + 1
    return counts, counts.get(made("the")), max(counts, key=counts.get)


def compared(a, b):
    return a == b, a is b, a != b, a in (b,), {a, b}, a in [b], {a: 1} == {b: 1}, a < b


def methods_by_name(o, names):
    return [getattr(o, n)() if callable(getattr(o, n, None)) else None for n in names]


def slots(n):
    class S:
        __slots__ = (made("field"), Str("other"))
    s = S()
    setattr(s, made("field"), n)
    s.other = s.field + 1
    return s.field, getattr(s, Str("other")), S.__slots__


hot(attributes, 5)
table = {"alpha": 1, Str("beta"): 2, "ä": 3, "": 4}
each(lookups, (table, "alpha"), (table, "beta"), (table, "ä"), (table, ""), (table, "none"))
each(passed, ("a",), ("sub",), ("x y",))
hot(in_globals, 3)
hot(counted, "the cat and the dog and the end")
each(compared, ("a", made("a")), ("ab", Str("ab")), ("a", "b"), (made("long text"), made("long text")), ("a", b"a"), ("1", 1))
hot(methods_by_name, "abC", ["upper", made("lower"), "swapcase", "missing", Str("title")])
hot(slots, 7)
