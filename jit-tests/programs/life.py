"""Life on a torus of lists, on a set of points, and as bits of one big integer; all three must agree."""


def step_lists(board):
    h, w = len(board), len(board[0])
    new = []
    for y in range(h):
        row = []
        up, here, down = board[y - 1], board[y], board[(y + 1) % h]
        for x in range(w):
            left, right = x - 1, (x + 1) % w
            n = up[left] + up[x] + up[right] + here[left] + here[right] + down[left] + down[x] + down[right]
            row.append(1 if n == 3 or (n == 2 and here[x]) else 0)
        new.append(row)
    return new


def step_set(alive, h, w):
    counts = {}
    for y, x in alive:
        for dy in (-1, 0, 1):
            for dx in (-1, 0, 1):
                if dy or dx:
                    p = (y + dy) % h, (x + dx) % w
                    counts[p] = counts.get(p, 0) + 1
    return {p for p, n in counts.items() if n == 3 or n == 2 and p in alive}


def step_bits(rows, w):
    mask = (1 << w) - 1
    h = len(rows)

    def both(r):
        return ((r << 1) | (r >> (w - 1))) & mask, ((r >> 1) | (r << (w - 1))) & mask

    out = []
    for y in range(h):
        ones = twos = fours = 0
        up, here, down = rows[y - 1], rows[y], rows[(y + 1) % h]
        for r in (up, down, *both(up), *both(here), *both(down)):
            carry = ones & r
            ones ^= r
            carry2 = twos & carry
            twos ^= carry
            fours |= carry2
        out.append(~fours & twos & (ones | here) & mask)
    return out


def start(h, w, seed):
    board = []
    for _ in range(h):
        row = []
        for _ in range(w):
            seed = (seed * 69069 + 1) % 2**32
            row.append(1 if seed >> 30 == 0 else 0)
        board.append(row)
    return board


def show(board):
    return "\n".join("".join("#" if c else "." for c in row) for row in board)


h, w = 20, 70
board = start(h, w, 42)
alive = {(y, x) for y in range(h) for x in range(w) if board[y][x]}
rows = [sum(c << x for x, c in enumerate(row)) for row in board]
for generation in range(25):
    board = step_lists(board)
    alive = step_set(alive, h, w)
    rows = step_bits(rows, w)
    if alive != {(y, x) for y in range(h) for x in range(w) if board[y][x]} or rows != [sum(c << x for x, c in enumerate(row)) for row in board]:
        print("differ in generation", generation)
        break
print(show(board))
print(len(alive), sum(map(sum, board)), sum(r.bit_count() for r in rows))
