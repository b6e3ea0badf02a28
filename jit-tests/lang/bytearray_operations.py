"""bytearray and memoryview: items set and deleted, growing, in-place operators, exports that forbid resizing, casts, errors."""

from support import each, hot


def sieve(n):
    s = bytearray([1]) * (n + 1)
    s[0:2] = b"\0\0"
    for i in range(2, int(n**0.5) + 1):
        if s[i]:
            s[i * i::i] = bytes(len(range(i * i, n + 1, i)))
    return sum(s), [i for i in range(n) if s[i]][-3:]


def assign(b, i, v):
    b = bytearray(b)
    b[i] = v
    b[i] += 1
    return b


def grow(n):
    b = bytearray()
    for i in range(n):
        b.append(i % 256)
        b.extend((i, 1))
        b += b"x"
    b.insert(0, 7)
    b.reverse()
    popped = b.pop(), b.pop(0)
    b.remove(1)
    b *= 2
    return b, popped, len(b)


def wrong(how, x):
    b = bytearray(b"abc")
    if how == 0:
        b.append(x)
    elif how == 1:
        b.extend(x)
    elif how == 2:
        b += x
    elif how == 3:
        b.remove(x)
    elif how == 4:
        b.pop(x)
    elif how == 5:
        del b[x]
    elif how == 6:
        b.insert(x, x)
    return b


def exported(b):
    b = bytearray(b)
    with memoryview(b) as m:
        out = [m[0], bytes(m[1:]), m.nbytes, m.readonly]
        try:
            b.append(1)
        except BufferError as error:
            out.append(str(error))
        m[0] = 65
    try:
        m[0]
    except ValueError as error:
        out.append(str(error))
    b.append(1)
    return out, b


def views(b):
    m = memoryview(b)
    c = m.cast("H")
    return list(c), c.shape, m == b, m[::2].tolist(), hash(m[:1]) == hash(b[:1]), [x for x in m], m[1:3] == b[1:3]


def view_wrong(m, i, v):
    m[i] = v


hot(sieve, 60, times=60)
each(assign, (b"abc", 0, 65), (b"abc", 2, 255), (b"abc", 3, 1), (b"abc", 0, 256), (b"abc", 0, "x"), (b"abc", -1, True), (b"abc", 0, 1.5), (b"", 0, 0))
hot(grow, 3)
each(wrong, *[(how, x) for how in range(7) for x in (1, 256, "a", b"c", None, -9)], times=35)
each(exported, (b"abc",), (b"x",), (b"",))
each(views, (b"abcd",), (b"",), (b"abc",), (bytearray(b"ab"),))
each(view_wrong, (memoryview(b"ab"), 0, 1), (memoryview(bytearray(2)), 5, 1), (memoryview(bytearray(2)), 0, 300), (memoryview(bytearray(2)), "a", 1), (memoryview(bytearray(2)), 0, b"x"))
