"""`self.total += other.step()`: the old total is read before the call, and what the call stores may be of the same instance, of another one
with the same numbers, or the last thing that kept the total."""

import sys


class Counter:
    def __init__(self, total=1000, steps=1000):
        self.total = total
        self.steps = steps

    def step(self):
        self.steps += 1
        return self.steps & 3

    def add(self, other):
        self.total += other.step()
        return self.total

    def both(self, other):
        self.total = self.total + other.step() + other.step() + self.steps
        return self.total


class Thief(Counter):
    """What it is asked for changes the one who asks."""

    def __init__(self, victim, total=1000, steps=1000):
        super().__init__(total, steps)
        self.victim = victim

    def step(self):
        self.victim.total = self.steps
        return 1


class Wrecker(Thief):
    def step(self):
        del self.victim.total
        return 1


class Swapper(Thief):
    """The total lives on in the place that it had and in another one."""

    def step(self):
        self.steps = self.victim.total
        return 1


def run(counter, others, n):
    out = []
    for k in range(n):
        out.append(counter.add(others[k % len(others)]))
    return out[-3:], counter.total, [other.steps for other in others]


def run_both(counter, others, n):
    last = 0
    for k in range(n):
        last = counter.both(others[k % len(others)])
    return last, counter.total, [other.steps for other in others]


def plain():
    for n in (1, 40, 300):
        print(run(Counter(), [Counter(), Counter(5, 5)], n), run_both(Counter(), [Counter()], n))
    # One is its own other, and numbers that both have.
    one = Counter()
    print(run(one, [one], 50), run_both(one, [one], 50))
    shared = 123456789
    a, b = Counter(shared, shared), Counter(shared, shared)
    print(run(a, [b, a], 50), run_both(b, [a, b], 50), shared, a.total, a.steps, b.total, b.steps)


def kept():
    """Who has taken a total keeps it."""
    counter, other = Counter(10**6), Counter(10**6)
    totals = []
    for _ in range(40):
        totals.append(counter.total)
        counter.add(other)
        totals.append(other.steps)
    print(totals[:6], totals[-6:], len({id(total) for total in totals}) > 40)


def changed(kind):
    counter = Counter()
    other = kind(counter)
    for turn in range(3):
        try:
            print(run(counter, [Counter(), other], 31 + turn))
        except AttributeError as error:
            print(error, error.__traceback__.tb_next.tb_next.tb_lineno)
            counter.total = 7000
    print(counter.__dict__, {name: value for name, value in other.__dict__.items() if name != "victim"})


def classes():
    """Totals and steps of other classes."""
    for total, steps in ((0.5, 1000), (2**70, 1000), (True, 1000), (1000, 2**63 - 3), (1000, 2**62)):
        counter, other = Counter(total), Counter(1, steps)
        print(run(counter, [other], 12), run_both(counter, [other], 12))


def counts():
    counter, other = Counter(5000), Counter(7000)
    run(counter, [other], 200)
    print(sys.getrefcount(counter.total) == sys.getrefcount(other.steps), counter.total, other.steps)


for _ in range(3):
    plain()
    kept()
    for kind in (Thief, Wrecker, Swapper):
        changed(kind)
    classes()
    counts()
