"""What is taken out of a function's own lists and dicts is what it has put there, unless somebody else gets at them."""

import gc
import sys
import threading


def halves(n):
    items = []
    for i in range(n):
        items.append(i * 0.5)
    total = 0.0
    for x in items:
        total += x
    return total


def sieve(n):
    flags = [True] * (n + 1)
    count = 0
    for i in range(2, n + 1):
        if flags[i]:
            count += 1
            for j in range(i * i, n + 1, i):
                flags[j] = False
    return count


def table(n):
    rows = [[0] * 8 for _ in range(8)]
    for i in range(8):
        for j in range(8):
            rows[i][j] = n if not i or not j else (rows[i - 1][j] + rows[i][j - 1]) & 1023
    return rows[7][7]


def counts(n):
    seen = {}
    for i in range(n):
        k = i % 7
        if k in seen:
            seen[k] += 1
        else:
            seen[k] = 1
    return seen[3]


def mixed(n):
    items = [0.5]
    for i in range(n):
        items.append(i if i % 5 == 4 else i * 0.5)
    total = 0.0
    for x in items:
        total += x
    return total


def joined(n):
    mine, yours = [1], ["a"]
    both = mine if n % 2 else yours
    both.append(None)
    return [type(x).__name__ for x in mine] + [type(x).__name__ for x in yours]


def given(f, n):
    items = [0.5, 1.5]
    f(items)
    total = 0.0
    for x in items:
        total += x
    return total


def kept(keep, n):
    items = [0.5, 1.5]
    row = [items]
    keep(row)
    total = 0.0
    for x in row[0]:
        total += x
    return total


def called(f, n):
    items = [0.5, 1.5]
    rows = [items]
    f()
    total = 0.0
    for x in items:
        total += x
    for row in rows:
        total += row[0]
    return total


def looped(f, n):
    items = []
    for i in range(n):
        items.append(0.25)
        f()
    total = 0.0
    for x in items:
        total += x
    return total


def caught(f, n):
    items = [0.5]
    try:
        f()
        items = [2]
    except ValueError as e:
        items.append(3)
        e.__traceback__.tb_frame.f_locals["items"].append(1 << 70)
    total = 0.0
    for x in items:
        total += x
    return total


class Watcher:
    def __init__(self, f):
        self.f = f

    def __del__(self):
        self.f()


def dropped(f, n):
    items = [0.5, 1.5]
    watcher = Watcher(f)
    watcher = None
    total = 0.0
    for x in items:
        total += x
    return total


def own(n):
    items = [0.5, 1.5]
    locals()["items"].append(7)
    total = 0.0
    for x in items:
        total += x
    return total


def made(n):
    items = [0.5]

    def add(x):
        items.append(x)

    add(1)
    add(1 << 65)
    total = 0.0
    for x in items:
        total += x
    return total


def yielding(n):
    items = [0.5, 1.5]
    yield items
    total = 0.0
    for x in items:
        total += x
    yield total


def keyed(n):
    class Key:
        def __hash__(self):
            return 1

        def __eq__(self, other):
            sys._getframe(1).f_locals["values"][1] = "later"
            return False

    values = {1: 2.5}
    try:
        values[Key()]
    except KeyError:
        pass
    return values[1] * 2


def nothing(*args):
    return None


def append_text(*args):
    sys._getframe(1).f_locals["items"].append(10)


def append_to_callers_caller(*args):
    sys._getframe(2).f_locals["items"].append(10)


def append_large(*args):
    sys._getframe(1).f_locals["items"].append(1 << 80)


def by_collector(*args):
    for found in gc.get_objects():
        if type(found) is list and len(found) == 2 and found[0] == 0.5 and found[1] == 1.5 and type(found[1]) is float:
            found[1] = 100


def by_referrers(*args):
    mark = sys._getframe(1).f_code.co_consts
    for constant in mark:
        if constant == 1.5:
            for found in gc.get_referrers(constant):
                if type(found) is list:
                    found.append(1000)


def by_referents(*args):
    for found in gc.get_referents(sys._getframe(1)):
        if type(found) is list and found and found[0] == 0.5:
            found.append(10000)


def by_thread(*args):
    caller = sys._getframe(1)
    thread = threading.Thread(target=lambda: caller.f_locals["items"].append(5))
    thread.start()
    thread.join()


def fail(*args):
    raise ValueError


kept_rows = []


def keep_row(row):
    kept_rows.append(row)
    row[0].append(2)
    row[0] = [1 << 66]


for lap in range(60):
    print(halves(30), sieve(60), table(lap), counts(40), mixed(lap), joined(lap))
    late = lap > 45
    print(given((lambda l: l.append(lap)) if late else nothing, 1))
    print(kept(keep_row if late else nothing, 1))
    for extra in (nothing, append_text, append_large, by_collector, by_referrers, by_referents, by_thread):
        f = extra if lap % 9 == 8 else nothing
        print(extra.__name__, called(f, 1), dropped(nothing, 1))
    print(looped(append_text if late else nothing, 5))
    print(caught(fail if late else nothing, 1))
    print(dropped(append_to_callers_caller if late else nothing, 1))
    print(own(1), made(1), keyed(1))
    waiting = yielding(1)
    next(waiting).append(lap)
    print(next(waiting))
