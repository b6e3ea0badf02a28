"""A global is replaced that compiled code relies on, in a namespace with a key whose comparison runs code: that replaces others meanwhile."""

other = 1
compared = 0
quiet = True


class Odd:
    """Lies where `limit` would lie in a table, and is no string."""

    def __hash__(self):
        return hash("limit")

    def __eq__(self, that):
        global compared, other
        compared += 1
        if not quiet:
            other += 1
            relies_on_other(3)
        return False


globals()[Odd()] = "odd"
limit = 10


def relies_on_limit(n):
    total = 0
    for i in range(n):
        total += i % limit
    return total


def relies_on_other(n):
    total = 0
    for i in range(n):
        total += i * other
    return total


def more():
    for _ in range(200):
        relies_on_limit(20)
        relies_on_other(20)
    return relies_on_limit(50), relies_on_other(50)


print(more())
for turn in range(6):
    quiet = False
    limit = 11 + turn
    quiet = True
    print(turn, relies_on_limit(50), relies_on_other(50) > 0, other > 1)
    print(more()[0])
print(compared > 0)
