"""Division, floor division, modulo, divmod and power: signs, zero, and large operands."""

A = [0, 1, -1, 2, -2, 7, -7, 10, -10, 2**30, -(2**30), 2**30 - 1, 2**60, -(2**60), 2**63 - 1, -(2**63), 2**63, 10**25, -(10**25)]


def floor_div(a, b):
    return a // b


def mod(a, b):
    return a % b


def true_div(a, b):
    return a / b


def power(a, b):
    return a ** b


def clock(n, m):
    hands = 0
    for i in range(-n, n):
        hands = hands * 3 + i // m - i % m
        hands %= 10**9 + 7
    return hands


def halves(n):
    out = 0.0
    for i in range(n):
        out += i / 2 - i / 4
    return out


def late_zero(n):
    d = n
    s = 0
    try:
        for i in range(n + 5):
            s += 1000 // d
            d -= 1
    except ZeroDivisionError as error:
        return s, i, d, str(error)


def late_zero_mod(n):
    s = 0
    for d in range(n, -1, -1):
        s += 1000 % d
    return s


for a in A:
    row = []
    for b in A:
        for f in (floor_div, mod, true_div):
            try:
                row.append(f(a, b))
            except ZeroDivisionError as error:
                row.append(str(error))
        if b:
            assert floor_div(a, b) * b + mod(a, b) == a
    print(*row)
print(clock(400, 7), clock(400, -7), clock(350, 2**31), halves(500))
print(late_zero(400))
try:
    late_zero_mod(400)
except ZeroDivisionError as error:
    print(error, error.__traceback__.tb_next.tb_lineno)
for a, b in [(2, 10), (2, 100), (-2, 63), (2, -1), (0, 0), (0, -1), (7, 0), (10, 30), (True, 5), (-3, 3)]:
    try:
        print(power(a, b))
    except ZeroDivisionError as error:
        print(error)
for a, b in [(10**400, 3), (10**400, 10**399), (1, 10**400)]:
    try:
        print(true_div(a, b))
    except OverflowError as error:
        print(error)
for a, b in [(7.5, 2), (-7.5, 2), (7, -2.5), (1e300, 1e-300), (-0.0, 5), (5, float("inf")), (-5, float("inf"))]:
    print(floor_div(a, b), mod(a, b), true_div(a, b))
try:
    mod("%d", "x")
except TypeError as error:
    print(error)
print(mod("%d-%s", (3, "y")))
