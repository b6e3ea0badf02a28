"""Small simulations: life in sets, events in order, random numbers by masks, dynamic programming, flood fill, checksums by tables."""

from support import each, hot


def life(cells, steps):
    cells = set(cells)
    for _ in range(steps):
        near = {}
        for x, y in cells:
            for dx in (-1, 0, 1):
                for dy in (-1, 0, 1):
                    if dx or dy:
                        k = x + dx, y + dy
                        near[k] = near.get(k, 0) + 1
        cells = {c for c, n in near.items() if n == 3 or n == 2 and c in cells}
    return sorted(cells)


def xorshift(seed, n):
    out = []
    x = seed
    for _ in range(n):
        x ^= (x << 13) & 0xFFFFFFFFFFFFFFFF
        x ^= x >> 7
        x ^= (x << 17) & 0xFFFFFFFFFFFFFFFF
        out.append(x % 1000)
    return out, x


def crc(data):
    table = []
    for i in range(256):
        c = i
        for _ in range(8):
            c = (c >> 1) ^ 0xEDB88320 if c & 1 else c >> 1
        table.append(c)
    r = 0xFFFFFFFF
    for b in data:
        r = table[(r ^ b) & 0xFF] ^ (r >> 8)
    return r ^ 0xFFFFFFFF


def knapsack(items, room):
    best = [0] * (room + 1)
    for weight, value in items:
        for w in range(room, weight - 1, -1):
            best[w] = max(best[w], best[w - weight] + value)
    return best[room], best[:5]


def distance(a, b):
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        last, row[0] = row[0], i
        for j, y in enumerate(b, 1):
            last, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, last + (x != y))
    return row[-1]


def fill(grid, r, c):
    grid = [list(row) for row in grid]
    old, todo, n = grid[r][c], [(r, c)], 0
    while todo:
        r, c = todo.pop()
        if 0 <= r < len(grid) and 0 <= c < len(grid[r]) and grid[r][c] == old:
            grid[r][c] = "#"
            n += 1
            todo += [(r + 1, c), (r - 1, c), (r, c + 1), (r, c - 1)]
            if n > 99:
                raise RuntimeError("full")
    return n, ["".join(row) for row in grid]


def events(plan, until):
    now, log, queue = 0.0, [], sorted(plan)
    while queue and now < until:
        now, name, every = queue.pop(0)
        log.append((round(now, 3), name))
        if every:
            queue.append((now + every, name, every))
            queue.sort()
    return log, now


def bank(moves):
    accounts, failed = {}, 0
    for source, target, amount in moves:
        try:
            if source is not None:
                if accounts[source] < amount:
                    raise ValueError(source)
                accounts[source] -= amount
            accounts[target] = accounts.get(target, 0) + amount
        except (KeyError, ValueError):
            failed += 1
    return accounts, failed


each(life, ([(1, 0), (1, 1), (1, 2)], 5), ([(0, 1), (1, 2), (2, 0), (2, 1), (2, 2)], 8), ([], 3), ([(0,)], 1), times=20)
each(xorshift, (88172645463325252, 10), (1, 5), (0, 3), (-5, 4), times=40)
each(crc, (b"123456789",), (b"",), (bytearray(range(20)),), ([256, 1],), ("text",), times=31)
each(knapsack, ([(3, 4), (4, 5), (2, 3)], 6), ([], 3), ([(1, 0.5), (2, 2**70)], 4), ([("x", 1)], 2), ([(5, 1)], 0))
each(distance, ("kitten", "sitting"), ("", "abc"), ([1, 2, 3], (1, 3)), ("same", "same"), (5, "x"))
each(fill, (["aab", "aba", "aaa"], 0, 0), (["ab"], 0, 1), (["#"], 0, 0), ([], 0, 0), (["a" * 12] * 12, 5, 5))
each(events, ([(1, "once", 0), (0.5, "tick", 0.75)], 3), ([], 5), ([(0, "a", 1), (0, "b", 1)], 2), ([(0, "a", 1), ("x", "b", 1)], 2))
each(bank, ([(None, "a", 10), ("a", "b", 4), ("b", "c", 5), ("z", "a", 1)],), ([(None, "a", 0.5), ("a", "a", 0.25)],), ([("a", "b")],), ([(None, [], 1)],))
