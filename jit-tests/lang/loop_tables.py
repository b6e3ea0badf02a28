"""Loops over rows of tables into which they store: rows that are the table itself, tables in their own rows, rows that two tables share,
and what is a row only for some turns."""


def add(table, other, r, q, n):
    for s in range(n):
        table[r][s] += other[q][s]
    return table[r]


def fill(table, r, n, value):
    for s in range(n):
        table[r][s] = value
    return s


def first(line, table, n):
    total = 0
    for s in range(n):
        table[s] = s
        total += line[0]
    return total


def deepest(table, path, n):
    for s in range(n):
        table[path[0]][path[1]][s] = table[path[0]][path[1]][s] + 1
    return table


def steps(costs, n):
    best = [[0] * n for _ in range(n)]
    for i in range(1, n):
        for j in range(1, n):
            if costs[i][j] % 3 == 0:
                best[i][j] = best[i - 1][j - 1] + 1
            else:
                best[i][j] = max(best[i - 1][j], best[i][j - 1])
    return best[n - 1]


def show(value, depth=3):
    """A list that may be in itself."""
    if isinstance(value, list):
        return "..." if depth == 0 else [show(item, depth - 1) for item in value]
    return value


def attempt(function, *args):
    try:
        return show(function(*args))
    except Exception as error:
        return type(error).__name__, str(error), error.__traceback__.tb_next.tb_lineno


def warm():
    for _ in range(12):
        table, other = [[n * 7 + k for k in range(9)] for n in range(4)], [[300 + n] * 9 for n in range(4)]
        print(add(table, other, 2, 1, 9)[3], fill(table, 3, 9, 5), first([1000, 2], [0] * 9, 9), steps(table * 2, 8)[-1])
        print(deepest([table, other], (1, 2), 9)[1][2][4])


def alike():
    """What was bet to be two lists is one."""
    for turn in range(4):
        rows = [[k for k in range(6)] for _ in range(6)]
        # Both tables are one, then both rows.
        print(attempt(add, rows, rows, 1, 2, 6), attempt(add, rows, rows, 3, 3, 6))
        # The row is the table that it is in: the second turn finds a number there.
        rows[0] = rows
        print(attempt(fill, rows, 0, 6, turn))
        print(show(rows))
        # The row that is stored into is the other table.
        other = [[1] * 6 for _ in range(6)]
        table = [other, other]
        print(attempt(add, table, other, 1, 2, 6), show(table))
        other = [[1] * 6 for _ in range(6)]
        print(attempt(fill, [other, 1], 0, 6, [turn]), show(other))
        # What is read is where it is stored.
        line = [turn, 5, 5, 5, 5, 5, 5]
        print(first(line, line, 6), line)
        # In its own depth.
        cube = [[[k] * 6 for k in range(3)] for _ in range(3)]
        cube[1][2] = cube[1]
        print(attempt(deepest, cube, (1, 2), 3), show(cube))


def shared():
    """Rows that tables share are not the tables."""
    line = [10] * 6
    for _ in range(3):
        print(add([line, line], [line, line], 0, 1, 6))
    print(add([line], [[2**62] * 6], 0, 0, 6), add([line], [[0.5] * 6], 0, 0, 6))


def short():
    for n in (0, 1, 5, 7):
        table = [[0] * 5, [1] * 6]
        print(attempt(add, table, table, 0, 1, n), attempt(add, table, table, 5, 1, n), attempt(add, table, None, 0, 1, n))


warm()
alike()
shared()
short()
warm()
