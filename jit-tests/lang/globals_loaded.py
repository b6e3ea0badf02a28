"""Globals of which nothing may be relied on: instances of the program's classes, names that change, names that go."""

import sys
import types
import weakref


class Area:
    def __init__(self, start):
        self.count = start
        self.items = [start, start + 1]

    def __del__(self):
        ended.append(self.count)


ended = []
area = Area(0)
counter = 0


def step(n):
    area.count += n
    return area.count + area.items[0]


def bump():
    global counter
    counter += 1
    return counter


def through(n):
    # The callee is small enough to stand in place of its call.
    return step(n) + step(1)


def kept():
    before = area
    return before is area, len(area.items)


def used(n):
    total = 0
    for i in range(n):
        total += through(i) + bump()
        if i % 50 == 0:
            total += kept()[1]
    return total


print(used(200), counter, area.count)

# Another object: the first one ends at once, whoever compiled what.
area = Area(1000)
print(ended, step(1), through(2))
watched = weakref.ref(area)
references = sys.getrefcount(area)
print(used(100), sys.getrefcount(area) == references)
area = types.SimpleNamespace(count=5, items=(7,))
print(ended[1:], watched(), step(1), through(2), kept())


class Other:
    count = 3
    items = [4.5]


area = Other()
print([step(i) for i in range(3)], area.__dict__)

# Gone, and found among the builtins, and back again.
try:
    del area
    step(1)
except NameError as e:
    print(e, e.name)
import builtins

builtins.area = Area(70)
print(step(1), through(1), kept())
area = Area(80)
print(step(1), through(1))
del area
print(step(2))
del builtins.area
try:
    through(1)
except NameError as e:
    print(e, e.__traceback__.tb_next.tb_lineno - e.__traceback__.tb_lineno, ended)


def looked_up(times):
    found = 0
    for _ in range(times):
        found += len(table)
    return found


class Sized:
    def __init__(self, n):
        self.n = n

    def __len__(self):
        if self.n == 3:
            # Many more names: the namespace's table is made anew while this runs.
            for i in range(300):
                globals()[f"name_{i}"] = i
        return self.n


table = Sized(2)
print(looked_up(150))
table = Sized(3)
print(looked_up(150), name_299)
for i in range(300):
    del globals()[f"name_{i}"]
table = Sized(4)
print(looked_up(150))

# One code in two namespaces.
first, second = {"area": Area(1), "__builtins__": builtins}, {"area": Area(2), "__builtins__": builtins}
in_first = types.FunctionType(step.__code__, first)
in_second = types.FunctionType(step.__code__, second)
print(sum(in_first(1) + 2 * in_second(1) for _ in range(150)))
del first["area"]
print(ended[-1], in_second(0))
second.clear()
try:
    in_second(0)
except NameError as e:
    print(e, ended[-1])


# Each call binds the name anew, to an object of another class now and then.
def rebinding(i):
    global current
    current = Sized(i) if i % 3 else [i]
    return len(current)


print(sum(rebinding(i) for i in range(4, 300)), type(current))
