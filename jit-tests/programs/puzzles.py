"""Searches that back up: queens, a sudoku, subset sums, knight's moves, and word squares."""


def queens(n):
    count = 0
    first = None
    columns, diag, anti = [False] * n, [False] * (2 * n), [False] * (2 * n)
    placed = []

    def place(row):
        nonlocal count, first
        if row == n:
            count += 1
            if first is None:
                first = placed[:]
            return
        for c in range(n):
            if not (columns[c] or diag[row + c] or anti[row - c + n]):
                columns[c] = diag[row + c] = anti[row - c + n] = True
                placed.append(c)
                place(row + 1)
                placed.pop()
                columns[c] = diag[row + c] = anti[row - c + n] = False

    place(0)
    return count, first


class Stuck(Exception):
    pass


class Sudoku:
    def __init__(self, text):
        self.cells = [int(c) if c.isdigit() else 0 for c in text if not c.isspace()]
        if len(self.cells) != 81:
            raise ValueError(f"{len(self.cells)} cells")
        self.guesses = 0

    def options(self, i):
        r, c = divmod(i, 9)
        used = 0
        for k in range(9):
            used |= 1 << self.cells[r * 9 + k] | 1 << self.cells[k * 9 + c]
        top, left = r // 3 * 3, c // 3 * 3
        for dr in range(3):
            for dc in range(3):
                used |= 1 << self.cells[(top + dr) * 9 + left + dc]
        return [v for v in range(1, 10) if not used >> v & 1]

    def solve(self):
        best = None
        for i in range(81):
            if not self.cells[i]:
                options = self.options(i)
                if not options:
                    raise Stuck(i)
                if best is None or len(options) < len(best[1]):
                    best = i, options
                    if len(options) == 1:
                        break
        if best is None:
            return True
        i, options = best
        for v in options:
            self.cells[i] = v
            self.guesses += len(options) > 1
            try:
                return self.solve()
            except Stuck:
                pass
        self.cells[i] = 0
        raise Stuck(i)


def subset(numbers, target):
    tried = 0

    def go(i, left):
        nonlocal tried
        tried += 1
        if left == 0:
            return ()
        if i == len(numbers) or left < 0:
            return None
        with_it = go(i + 1, left - numbers[i])
        return (numbers[i],) + with_it if with_it is not None else go(i + 1, left)

    return go(0, target), tried


def knight(n, goal):
    distance = {(0, 0): 0}
    frontier = [(0, 0)]
    while frontier and goal not in distance:
        later = []
        for x, y in frontier:
            for dx, dy in ((1, 2), (2, 1), (-1, 2), (-2, 1), (1, -2), (2, -1), (-1, -2), (-2, -1)):
                p = x + dx, y + dy
                if 0 <= p[0] < n and 0 <= p[1] < n and p not in distance:
                    distance[p] = distance[x, y] + 1
                    later.append(p)
        frontier = later
    return distance.get(goal), len(distance)


print([queens(n) for n in range(1, 8)])
PUZZLE = """53..7.... 6..195... .98....6. 8...6...3 4..8.3..1 7...2...6 .6....28. ...419..5 ....8..79"""
s = Sudoku(PUZZLE)
print(s.solve(), s.guesses, "".join(map(str, s.cells)))
bad = Sudoku(PUZZLE.replace("5", "7", 1))
try:
    bad.solve()
except Stuck as error:
    print("stuck", error)
try:
    Sudoku("123")
except ValueError as error:
    print(error)
print(subset([3, 34, 4, 12, 5, 2, 81, 17, 29], 74), subset([2, 4, 6, 8] * 3, 33), subset([0.5, 1.5, 2], 3.5))
print(knight(20, (19, 19)), knight(3, (1, 1)), knight(8, (7, 0)))
