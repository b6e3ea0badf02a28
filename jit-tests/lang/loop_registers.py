"""Loops that count in registers: left in the middle of a turn, at a guard, by an exception, by a call; steps, bounds of machine words."""


def squares(n):
    t = 0
    for i in range(n):
        t += i * i % 7
    return t


def becomes_float(n):
    t = 0
    for i in range(n):
        if i == 70:
            t = t + 0.5
        t += i
    return t


def overflows(n):
    t = 2 ** 62
    seen = []
    for i in range(2 ** 61, 2 ** 61 + n):
        t += i
        seen.append(t)
    return seen[-1], len(seen)


def handled(n, x):
    out = []
    for i in range(3, n, 2):
        try:
            out.append(10 // (i - x))
        except ZeroDivisionError:
            out.append("zero")
            continue
    return out


def nested(n):
    t = 0
    for i in range(n, -n, -3):
        for j in range(i, i + 5):
            if j == 11:
                break
            t += j
        else:
            t -= 1
    return t


def points(size, most):
    inside = 0
    last = []
    for row in range(size):
        y = 2.0 * row / size - 1.0
        for column in range(size):
            a = b = 0.0
            for turn in range(most):
                if a * a + b * b > 4.0:
                    last.append(turn)
                    break
                a, b = a * a - b * b + 3.0 * column / size - 2.0, 2.0 * a * b + y
            else:
                inside += 1
    return inside, sum(last), turn, a, b


def words(start, stop, step):
    seen = []
    for i in range(start, stop, step):
        seen.append(i)
        if len(seen) == 20:
            break
    return seen


def items(values, n):
    s = 0
    for i in range(n):
        s += values[i]
    return s


def items_from_the_end(values, n):
    s = 0
    for i in range(-n, n):
        s += values[i] * 2
    return s


def advanced_by_hand(n):
    seen = []
    it = iter(range(n))
    for i in it:
        if i % 3 == 0:
            seen.append(next(it, None))
        seen.append(i)
    return seen


def left_by_a_finaliser(n):
    class Noisy:
        def __del__(self):
            log.append("gone")

    log = []
    kept = [Noisy() for _ in range(3)]
    for i in range(n):
        if i % 40 == 39 and kept:
            kept[0] = i
            del kept[0]
        log.append(i)
    return len(log), log.count("gone"), log.index("gone")


def attempt(f, *args):
    try:
        return f(*args)
    except Exception as error:
        return type(error).__name__, error.__traceback__.tb_next.tb_lineno


for _ in range(3):
    print(squares(300), [squares(k) for k in range(4)])
    print(becomes_float(100), becomes_float(10), overflows(9))
    print(handled(30, 9), handled(20, 8))
    print(nested(40), nested(0), points(8, 20))
    print(words(2 ** 63 - 4, 2 ** 63 - 1, 1), words(2 ** 63 - 3, 2 ** 63 + 3, 1))
    print(words(-(2 ** 63), 2 ** 63 - 1, 2 ** 60), words(2 ** 62, -(2 ** 63), -(2 ** 61)), words(5, 5, 1), words(0, 5, -1))
    for n in 0, 10, 30, 31:
        print(attempt(items, [1.5] * 30, n), attempt(items, list(range(30)), n), attempt(items_from_the_end, [1.5] * 30, n))
    print(advanced_by_hand(20), left_by_a_finaliser(200))
