"""Stores into rows whose old items end: what ends sees the store, and may take the row, the table and the value with it."""

import sys

LOG = []


class Item:
    def __init__(self, name, act=None):
        self.name, self.act = name, act

    def __repr__(self):
        return f"<{self.name}>"

    def __del__(self):
        LOG.append(self.name)
        if self.act is not None:
            self.act()


def fill(table, i, n, value):
    for j in range(n):
        table[i][j] = value
    return j


def put(table, i, j, value):
    table[i][j] = value
    return table


def take(rows, n):
    """The value's last place is the list that it is stored into."""
    total = 0
    for k in range(n):
        rows[k & 1][k % 3] = [k]
        total += len(rows[k & 1][k % 3])
    return total


def swap_rows(table, n):
    for k in range(n):
        table[k % 2], table[(k + 1) % 2] = table[(k + 1) % 2], table[k % 2]
        table[0][k % 3] = k
    return table


def nested(box, i, j, n, value):
    for k in range(n):
        box.cells[i][j] = value
        box.last[0] = box.cells[i]
    return k


class Box:
    def __init__(self, cells):
        self.cells = cells
        self.last = [None]


def logged(function, *args):
    del LOG[:]
    try:
        result = function(*args)
    except Exception as error:
        result = type(error).__name__, str(error), error.__traceback__.tb_next.tb_lineno
    return result, LOG[:]


def warm():
    for _ in range(40):
        table = [[0.5] * 6 for _ in range(3)]
        fill(table, 1, 6, 1.5), put(table, 0, 2, "x"), take([[0] * 3, [1] * 3], 6)
        box = Box([[0] * 4 for _ in range(2)])
        nested(box, 1, 2, 5, "v")
    print(table, swap_rows([[0] * 3, [1] * 3], 7), box.cells, box.last)


def ends():
    for count in (1, 2, 6):
        table = [[Item((i, j)) for j in range(6)] for i in range(2)]
        print(logged(fill, table, 1, count, None), [len(row) for row in table])
        print(logged(put, table, 0, 3, 7), logged(put, table, 0, 3, 8)[1])
        del table
        print(len(LOG))


def takes_along():
    # The item's end removes the row, which nothing else holds.
    table = [[0] * 5, [0] * 5]
    table[1][2] = Item("row", lambda: table.__setitem__(1, ["other"] * 5))
    print(logged(fill, table, 1, 5, "new"), table)
    # It empties the table.
    table = [[0] * 5, [0] * 5]
    table[0][1] = Item("table", table.clear)
    print(logged(fill, table, 0, 5, "new"), table)
    # It shortens the row.
    table = [[0] * 5]
    table[0][1] = Item("short", lambda: table[0].__delitem__(slice(2, None)))
    print(logged(fill, table, 0, 5, "new"), table)
    # It takes the value out of the row again.
    table = [[0] * 5]
    table[0][1] = Item("value", lambda: table[0].__setitem__(1, "gone"))
    print(logged(fill, table, 0, 5, Item("last")), LOG[-1:], table[0][1])
    del table
    print(LOG[-2:])
    # It looks at the frame.
    table = [[0] * 5]
    table[0][3] = Item("frame", lambda: LOG.append((sys._getframe(2).f_lineno, sys._getframe(2).f_locals["j"])))
    print(logged(fill, table, 0, 5, "new"), table)
    # It raises, which is told to nobody but the hook.
    hook, sys.unraisablehook = sys.unraisablehook, lambda told: LOG.append(type(told.exc_value).__name__)
    table = [[0] * 5]
    table[0][3] = Item("raises", lambda: 1 // 0)
    print(logged(fill, table, 0, 5, "new"), table)
    sys.unraisablehook = hook


def of_boxes():
    box = Box([[0] * 4 for _ in range(2)])
    box.cells[1][2] = Item("cell", lambda: box.cells.__setitem__(1, [9] * 4))
    print(logged(nested, box, 1, 2, 4, "v"), box.cells, box.last)
    box = Box([[0] * 4 for _ in range(2)])
    box.last[0] = Item("last", lambda: setattr(box, "cells", [[5] * 4] * 2))
    print(logged(nested, box, 1, 2, 4, "w"), box.cells, box.last)


warm()
ends()
takes_along()
of_boxes()
warm()
