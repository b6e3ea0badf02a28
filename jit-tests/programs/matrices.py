"""Matrices of ints, floats and fractions of both: product, determinant, inverse, powers, and errors of shape."""


class ShapeError(ValueError):
    pass


def shape(a):
    width = len(a[0])
    for row in a:
        if len(row) != width:
            raise ShapeError(f"ragged: {len(row)} and {width}")
    return len(a), width


def multiply(a, b):
    (n, m), (k, p) = shape(a), shape(b)
    if m != k:
        raise ShapeError(f"{n}x{m} by {k}x{p}")
    out = []
    for i in range(n):
        row = []
        for j in range(p):
            s = 0
            for q in range(m):
                s += a[i][q] * b[q][j]
            row.append(s)
        out.append(row)
    return out


def transpose(a):
    return [list(row) for row in zip(*a)]


def identity(n):
    return [[1 if i == j else 0 for j in range(n)] for i in range(n)]


def power(a, k):
    out = identity(len(a))
    while k:
        if k & 1:
            out = multiply(out, a)
        a = multiply(a, a)
        k >>= 1
    return out


def determinant(a):
    """Exact for ints, without fractions."""
    a = [row[:] for row in a]
    n = len(a)
    sign, previous = 1, 1
    for k in range(n - 1):
        if a[k][k] == 0:
            for i in range(k + 1, n):
                if a[i][k]:
                    a[k], a[i] = a[i], a[k]
                    sign = -sign
                    break
            else:
                return 0
        for i in range(k + 1, n):
            for j in range(k + 1, n):
                a[i][j] = (a[i][j] * a[k][k] - a[i][k] * a[k][j]) // previous
        previous = a[k][k]
    return sign * a[-1][-1]


def inverse(a):
    n = len(a)
    rows = [list(map(float, row)) + [1.0 if i == j else 0.0 for j in range(n)] for i, row in enumerate(a)]
    for k in range(n):
        pivot = max(range(k, n), key=lambda i: abs(rows[i][k]))
        rows[k], rows[pivot] = rows[pivot], rows[k]
        d = rows[k][k]
        if d == 0:
            raise ZeroDivisionError("singular")
        rows[k] = [x / d for x in rows[k]]
        for i in range(n):
            if i != k:
                f = rows[i][k]
                rows[i] = [x - f * y for x, y in zip(rows[i], rows[k])]
    return [row[n:] for row in rows]


def sample(n, seed):
    out = []
    for i in range(n):
        row = []
        for j in range(n):
            seed = (seed * 1103515245 + 12345) % 2**31
            row.append(seed // 65536 % 19 - 9)
        out.append(row)
    return out


a, b = sample(18, 1), sample(18, 2)
c = multiply(a, b)
print(sum(map(sum, c)), c[3][4], multiply(transpose(b), transpose(a)) == transpose(c))
print(determinant(sample(12, 3)), determinant([[1, 2], [2, 4]]), determinant([[0, 1], [1, 0]]))
print(power([[1, 1], [1, 0]], 300)[0][1], power([[0.5, 0.25], [0.5, 0.75]], 50)[0])
m = sample(10, 5)
unit = multiply(inverse(m), m)
print(max(abs(unit[i][j] - (i == j)) for i in range(10) for j in range(10)) < 1e-9)
late = [row[:] for row in a]
late[17][17] = 0.5
print(sum(map(sum, multiply(late, b))))
late[17][16] = 2**62
print(sum(map(sum, multiply(late, b))))
for f in (lambda: multiply(a, [[1]]), lambda: shape([[1, 2], [3]]), lambda: inverse([[1, 2], [2, 4]]), lambda: multiply([["a"]], [["b"]]), lambda: shape([])):
    try:
        f()
    except (ShapeError, ZeroDivisionError, TypeError, IndexError) as error:
        print(type(error).__name__, error, error.__traceback__.tb_next.tb_next.tb_lineno)
