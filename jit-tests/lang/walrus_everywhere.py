"""Assignment expressions in conditions, loops, calls, subscripts, slices, f-strings, comprehensions, lambdas, defaults and chains."""

from support import each, hot


def conditions(items):
    out = []
    if (n := len(items)) > 2:
        out.append(n)
    elif n and (first := items[0]):
        out.append(first)
    while (n := n - 1) > 0:
        out.append(-n)
    return out, n


def chunks(text, size):
    pos, out = 0, []
    while chunk := text[pos:pos + size]:
        out.append(chunk)
        pos += len(chunk)
    return out, chunk


def calls(x):
    def f(a, *, b=0):
        return a, b
    return f(y := x + 1, b=(z := y * 2)), y, z, [w := y, w ** 2], (v := 1, v + 1), {(k := "key"): k}


def indexes(items, i):
    return items[j := i], items[(lo := j):(hi := j + 2)], lo, hi, f"{(t := items[0])!r:>{(p := 5)}}", t, p


def short_circuit(a, b):
    got = "unset"
    result = a and (got := b)
    other = (c := a) or (d := b)
    try:
        d
    except UnboundLocalError:
        return result, got, other, c, "d unbound"
    return result, got, other, c, d


def comprehensions(items):
    pairs = [(y, y * y) for x in items if (y := x - 1) > 0]
    running = 0
    sums = [running := running + x for x in items]
    return pairs, sums, running, {k: (last := k) for k in items}, any((found := x) > 2 for x in items), found


def nested(x):
    g = lambda: (h := x + 1) * h
    return g(), (a := (b := (c := x))), a is b is c, [(m, n := m) for m in range(2)], n


def chained(x):
    return 0 < (y := x * 2) < 10 and y, (z := x) == z, not (q := not x), q


class Attr:
    value = (size := 3) + size


def accumulate(n):
    total = 0
    for i in range(n):
        if (total := total + i) > 20:
            total = -(excess := total - 20)
    return total, excess


def at_default(x=(d := 5)):
    return x, d


each(conditions, ([1, 2, 3],), ([5],), ([],), ([0, 1],), ("abcd",))
each(chunks, ("abcdefg", 3), ("", 2), ([1, 2, 3], 2), ("ab", 5))
each(calls, (1,), (1.5,), ("a",))
each(indexes, ([1, 2, 3], 0), ("hello", 2), ([], 0))
each(short_circuit, (0, 1), (1, 0), (2, 3), ("", []))
each(comprehensions, ([1, 2, 3],), ([3, 1],), ([],))
each(nested, (2,), (0.5,))
each(chained, (2,), (7,), (0,), ("a",))
each(accumulate, (10,), (3,))
hot(at_default)
print(Attr.value, Attr.size, d)
