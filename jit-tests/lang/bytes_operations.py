"""bytes: items, slices, methods, searching, joining, formatting, comparisons with text, decoding and conversions, with their errors."""

from support import each, hot


def items(b):
    s = 0
    for i in range(len(b)):
        s = (s * 31 + b[i]) % 1009
    for c in b:
        s ^= c
    return s, list(b[:3]), b[-1:], b[::-1]


def index(b, i):
    return b[i]


def operators(a, b):
    return a + b, a < b, a == b, b in a, a != b


def methods(b):
    return b.upper(), b.title(), b.strip(), b.split(), b.replace(b"a", b"--"), b.find(b"b"), b.count(b"a"), b.hex(), b.center(9, b"*"), b.startswith((b"x", b"a")), b.partition(b"b"), b.isalpha(), b.zfill(6)


def wrong(b, how):
    if how == 0:
        return b.join(["text"])
    if how == 1:
        return b.split("t")
    if how == 2:
        return b.index(b"absent")
    if how == 3:
        return b.center(10, b"ab")
    if how == 4:
        return b.replace(1, 2)
    if how == 5:
        return "t" in b
    if how == 6:
        return 256 in b
    if how == 7:
        return b.decode("no-such-codec")
    if how == 8:
        return b.translate(b"short")
    return b.startswith("a")


def made(x):
    return bytes(x)


def joined(parts, sep):
    return sep.join(parts)


def concatenated(n):
    b = b""
    kept = []
    for i in range(n):
        b += bytes([i % 256])
        if i % 5 == 0:
            kept.append(b)
    return b, kept[-2:]


each(items, (b"hello",), (b"",), (bytes(range(256)),))
each(index, (b"abc", 1), (b"abc", -1), (b"abc", 3), (b"abc", "x"), (b"abc", True), (b"", 0))
each(operators, (b"ab", b"b"), (b"", b""), (b"ab", bytearray(b"b")), (b"a", "a"), (b"a", 97), (b"a", memoryview(b"a")))
each(methods, (b"abc",), (b" a b ",), (b"",), (b"\xff\x00a",))
each(wrong, *[(b"abc", how) for how in range(10)])
each(made, (3,), ([1, 2],), (-1,), ([256],), ("text",), (range(3),), (b"same",), ([1.5],), (None,), (10**19,), (iter("a"),))
each(joined, ([b"a", b"b"], b"-"), ([], b"-"), ([b"a", bytearray(b"c")], b""), ((b"x",), b"-"), ([b"a", 1], b"-"), (5, b"-"))
hot(concatenated, 11)
