"""The spectral norm of an infinite matrix, by the power method."""


def entry(i, j):
    return 1.0 / ((i + j) * (i + j + 1) // 2 + i + 1)


def times(v, n):
    out = []
    for i in range(n):
        s = 0.0
        for j in range(n):
            s += entry(i, j) * v[j]
        out.append(s)
    return out


def transposed_times(v, n):
    out = []
    for i in range(n):
        s = 0.0
        for j in range(n):
            s += entry(j, i) * v[j]
        out.append(s)
    return out


def run(n):
    u = [1.0] * n
    for _ in range(4):
        v = transposed_times(times(u, n), n)
        u = transposed_times(times(v, n), n)
    vbv = vv = 0.0
    for i in range(n):
        vbv += u[i] * v[i]
        vv += v[i] * v[i]
    return (vbv / vv) ** 0.5


def weight(row, column):
    return (row + 2.0) / (column + row * 3 + 1)


def run_unseen(side):
    """Power iteration on another matrix, normalised each time."""
    vector = [float(k % 5 + 1) for k in range(side)]
    size = 0.0
    for _ in range(8):
        image = [0.0] * side
        for row in range(side):
            acc = 0.0
            for column in range(side):
                acc += weight(row, column) * vector[column]
            image[row] = acc
        size = 0.0
        for x in image:
            size += x * x
        size = size ** 0.5
        for k in range(side):
            vector[k] = image[k] / size
    return size
