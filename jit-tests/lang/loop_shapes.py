"""Loops of every shape: nested three deep, left from within, else on each, loop variables kept, while with several ends, state machines."""

from support import each


def left(n, how):
    out = []
    for i in range(n):
        for j in range(n):
            for k in range(n):
                if i + j + k == how:
                    break
                out.append(i * 100 + j * 10 + k)
            else:
                continue
            out.append("broke")
            if j > 1:
                break
        else:
            out.append("j done")
    return out[-6:], i, j, k


def variables(items):
    for i, x in enumerate(items):
        pass
    for y in items:
        if y == 3:
            break
    else:
        y = "else"
    return i, x, y


def primes(n):
    out, k = [], 2
    while len(out) < n:
        d = 2
        while d * d <= k:
            if k % d == 0:
                break
            d += 1
        else:
            out.append(k)
        k += 1
    return out


def collatz(n):
    steps = high = 0
    while n != 1:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        steps += 1
        if n > high:
            high = n
        if steps > 500:
            return "long"
    return steps, high


def machine(text):
    state, out, number = "start", [], 0
    i = 0
    while True:
        c = text[i] if i < len(text) else None
        if state == "start":
            if c is None:
                break
            if c.isdigit():
                state, number = "number", 0
                continue
            elif c == "#":
                state = "comment"
            elif not c.isspace():
                out.append(c)
        elif state == "number":
            if c is not None and c.isdigit():
                number = number * 10 + int(c)
            else:
                out.append(number)
                state = "start"
                continue
        elif c is None or c == "\n":
            state = "start"
            if c is None:
                break
        i += 1
    return out


def types_change(n):
    x = 0
    seen = []
    for i in range(n):
        if i == n // 4:
            x = float(x)
        elif i == n // 2:
            x = str(x)
        elif i == 3 * n // 4:
            x = [x]
        x = x + x if not isinstance(x, (str, list)) else x[:4]
        if i % 10 == 0:
            x = 1 if isinstance(x, (int, float)) else x
        seen.append(type(x).__name__)
    return sorted(set(seen)), x


def matrix(n):
    a = [[i + j for j in range(n)] for i in range(n)]
    b = [[i * j for j in range(n)] for i in range(n)]
    c = [[0] * n for _ in range(n)]
    for i in range(n):
        for j in range(n):
            s = 0
            for k in range(n):
                s += a[i][k] * b[k][j]
            c[i][j] = s
    return c


def bubble(items):
    items = list(items)
    swapped, rounds = True, 0
    while swapped:
        swapped = False
        rounds += 1
        for i in range(len(items) - 1):
            if items[i] > items[i + 1]:
                items[i], items[i + 1] = items[i + 1], items[i]
                swapped = True
    return items, rounds


each(left, (3, 2), (4, 5), (3, 99), (1, 0), (0, 0))
each(variables, ([1, 2, 3],), ("ab",), ([3, 4],), ([],))
each(primes, (10,), (0,), (50,))
each(collatz, (27,), (1,), (2**70 + 1,), (0,), (7.0,))
each(machine, ("12 + x3 # note\n4",), ("",), ("#",), ("99",))
each(types_change, (40,), (7,), (0,))
each(matrix, (4,), (1,), (0,))
each(bubble, ([3, 1, 2],), ("hello",), ([2.5, 1, True],), ([1, "a"],), ([],))
