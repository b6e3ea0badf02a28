"""while: break, continue, else, nesting, conditions that change their type, and loops that never run."""


def collatz(n):
    steps = 0
    while n != 1:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        steps += 1
    return steps


def search(limit, wanted):
    i = 0
    while i < limit:
        i += 1
        if i % 3 == 0:
            continue
        if i == wanted:
            break
    else:
        return "none", i
    return "found", i


def nested(n):
    i = total = 0
    while i < n:
        j = 0
        while True:
            j += 1
            if j > i % 7:
                break
            if j == 3:
                continue
            total += i * j
        else:
            total = -1
        i += 1
    return total


def shrinking(items):
    n = 0
    while items:
        n += items.pop()
        if n > 1000:
            items = ()
    return n


def kinds(n):
    """The condition is an int, then a float, then a string."""
    x = n
    turns = 0
    while x:
        turns += 1
        if type(x) is int:
            x = x - 1 if x > 1 else 3.0
        elif type(x) is float:
            x = x - 0.5 if x > 0.5 else "abc"
        else:
            x = x[1:]
    return turns, x


def never():
    while 0:
        return "no"
    while False:
        return "no"
    while []:
        return "no"
    else:
        return "else"


def fails(n):
    x = n
    while x > 0:
        x = x - 1 if x != 50 else None
    return x


print(max((collatz(n), n) for n in range(1, 400)))
print(search(500, 400), search(500, 399), search(0, 1))
print(nested(300))
print(shrinking(list(range(100))), shrinking([1] * 500), shrinking([]))
print(kinds(400), never())
try:
    fails(400)
except TypeError as error:
    print(error, error.__traceback__.tb_next.tb_lineno)
