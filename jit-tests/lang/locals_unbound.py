"""Local variables: unbound before assignment, after del, on some paths only; shadowing; many locals."""


def maybe(n, limit):
    for i in range(n):
        if i > limit:
            value = i
    return value


def deleted(n):
    x = 0
    for i in range(n):
        x += i
        if i == n - 2:
            del x
    return x


def loop_variable(items):
    for item in items:
        pass
    return item


def except_name():
    error = "before"
    try:
        raise ValueError("inside")
    except ValueError as error:
        pass
    return error


def swap(n):
    a, b, c = 1, 2.0, "three"
    for _ in range(n):
        a, b, c = b, c, a
    return a, b, c


def many(n):
    a0 = a1 = a2 = a3 = a4 = a5 = a6 = a7 = a8 = a9 = 0
    b0 = b1 = b2 = b3 = b4 = b5 = b6 = b7 = b8 = b9 = 0.5
    for i in range(n):
        a0 += i; a1 += a0 % 7; a2 += a1 % 5; a3 -= a2 % 3; a4 ^= a3; a5 |= a4 & 255; a6 += a5 > a4; a7 = a6 - a7; a8 = a7 * 3 % 11; a9 += a8
        b0 += b9 / 2; b1 += b0 * 0.001; b2 -= b1; b3 = b2 * 0.5 + b3 * 0.5; b4 += i; b5 = b4 / 3; b6 = b5 - b3; b7 = -b6; b8 = b7 + b6; b9 = b8 * 0.5
    return a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, b0, b1, b2, b3, b4, b5, b6, b7, b8, b9


def reborn(n):
    out = []
    for i in range(n):
        if i % 2:
            v = i
        else:
            try:
                out.append(v)
                del v
            except UnboundLocalError:
                out.append(None)
    return out[:6], len(out)


print(maybe(400, 300), swap(400), many(350), reborn(400), loop_variable([1, 2]))
for f, args in [(maybe, (400, 500)), (deleted, (400,)), (loop_variable, ([],)), (except_name, ())]:
    try:
        print(f(*args))
    except UnboundLocalError as error:
        print(error, error.__traceback__.tb_next.tb_lineno)
print(sorted(locals() is globals() for _ in range(1)))


def snapshot(n):
    total = 0
    for i in range(n):
        total += i
        if i == n - 1:
            return sorted(locals().items())


print(snapshot(400))
