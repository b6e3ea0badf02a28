"""Calls whose arguments are yielded: while the generator is suspended, the callable and the null
behind it are on the frame's stack."""


def spread(*values):
    return values


def keep(a, b=2, *, c=3):
    return a, b, c


class Held:
    def __init__(self, name):
        self.name = name

    def method(self, a, b):
        return self.name, a, b


def calls(rounds):
    for i in range(rounds):
        yield spread((yield i), (yield -i))


def local_calls(rounds):
    def inner(*values):
        return len(values), values

    def plain(a, b):
        return a - b

    for i in range(rounds):
        yield inner((yield "one"), i)
        yield plain((yield "two"), (yield "three"))


def keyword_calls(rounds):
    for i in range(rounds):
        yield keep((yield i), c=(yield i + 1))


def method_calls(rounds):
    held = Held("h")
    for _ in range(rounds):
        yield held.method((yield "a"), (yield "b"))


def joined_calls(rounds):
    for i in range(rounds):
        yield spread((yield "x") or i, (yield "y") if i % 2 else -1)


def tables(rounds):
    table = [spread, lambda *values: values[::-1], keep]
    for i in range(rounds):
        yield table[i % 3]((yield i), (yield i * 2))


def nested(rounds):
    for i in range(rounds):
        yield spread(spread((yield 1), 2), keep((yield 3), (yield 4)))


def drive(make, rounds):
    generator = make(rounds)
    shown = []
    value = next(generator)
    step = 0
    while True:
        step += 1
        if step < 8 or step % 101 == 0:
            shown.append(value)
        try:
            value = generator.send(step if step % 5 else None)
        except StopIteration:
            return step, shown


def main():
    for make in (calls, local_calls, keyword_calls, method_calls, joined_calls, tables, nested):
        for rounds in (3, 200):
            print(make.__name__, *drive(make, rounds))
    # Many generators, each with a few yields.
    for make in (calls, local_calls, keyword_calls, method_calls, joined_calls, tables, nested):
        totals = {}
        for turn in range(300):
            steps, shown = drive(make, turn % 4 + 1)
            totals[steps] = totals.get(steps, 0) + len(str(shown))
        print(make.__name__, totals)
    # Called often before, so that the callees are known when the generators are compiled.
    for _ in range(200):
        spread(1, 2)
        keep(1)
    for make in (calls, tables, nested):
        print(make.__name__, *drive(make, 300))


main()
