"""Products of matrices that are lists of lists."""


def matrix(n, seed):
    return [[(i * seed + j * 3) % 17 / 4.0 for j in range(n)] for i in range(n)]


def multiply(a, b, n):
    c = [[0.0] * n for _ in range(n)]
    for i in range(n):
        row = a[i]
        out = c[i]
        for j in range(n):
            s = 0.0
            for k in range(n):
                s += row[k] * b[k][j]
            out[j] = s
    return c


def run(n):
    a, b = matrix(n, 5), matrix(n, 11)
    c = multiply(a, b, n)
    return sum(map(sum, c)), c[n // 2][n // 3]


def run_unseen(rows, inner):
    """Whole numbers, not square, accumulated in place."""
    left = [[(r + 2 * q) % 9 - 4 for q in range(inner)] for r in range(rows)]
    right = [[(3 * q + s) % 7 for s in range(rows + 1)] for q in range(inner)]
    product = [[0] * (rows + 1) for _ in range(rows)]
    for q in range(inner):
        for r in range(rows):
            factor = left[r][q]
            for s in range(rows + 1):
                product[r][s] += factor * right[q][s]
    trace = 0
    for r in range(rows):
        trace += product[r][r] * (r + 1)
    return trace
