"""else of loops with exceptions, breaks and returns on the way, nested loops, and loops over what raises in the midst."""

from support import each


def search(items, wanted):
    for item in items:
        try:
            if item == wanted:
                break
            if item is None:
                raise TypeError("none")
        except TypeError:
            continue
        finally:
            last = item
    else:
        return "not found", last
    return "found", last


def nested(rows):
    out = []
    for row in rows:
        i = 0
        while i < len(row):
            if row[i] < 0:
                break
            try:
                out.append(12 // row[i])
            except ZeroDivisionError:
                i += 2
                continue
            i += 1
        else:
            out.append("whole")
            continue
        out.append("cut")
        break
    else:
        out.append("all")
    return out


class Failing:
    def __init__(self, n, error):
        self.n, self.error = n, error

    def __iter__(self):
        return self

    def __next__(self):
        self.n -= 1
        if self.n < 0:
            raise self.error
        return self.n


def over(make):
    s = []
    try:
        for x in make():
            s.append(x)
        else:
            s.append("else")
    except LookupError as error:
        s.append(repr(error))
    return s


each(search, ([1, 2, 3], 2), ([1, 2, 3], 5), ([None, 1], 1), ([None, None], 1), ([], 1), ("abc", "c"), ((1.0, True), 1))
each(nested, ([[1, 2], [3]],), ([[1, -1], [3]],), ([[0, 5, 4], [2, 0]],), ([],), ([[], [0]],), ([["x"]],))
each(over, (lambda: Failing(3, StopIteration(5)),), (lambda: Failing(2, KeyError(1)),), (lambda: Failing(2, OSError(1)),), (lambda: Failing(0, IndexError),), (lambda: 5,))
