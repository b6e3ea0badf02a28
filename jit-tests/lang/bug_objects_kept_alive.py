"""The compiler keeps no global's value alive, and no class longer than the code that names it."""
import sys


class Noisy:
    def __init__(self, name):
        self.name = name

    def __del__(self):
        print("del", self.name)


value = Noisy("first")


def use():
    return value.name


def count():
    return sys.getrefcount(value)


def local_class():
    class Local:
        def __init__(self, x):
            self.x = x

        def get(self):
            return self.x

    total = 0
    for i in range(200):
        total += Local(i).get()
    print(total)
    return total


def replace(x):
    global value
    value = Noisy(x)
    return x


def during(x):
    # The global is on the stack while the call replaces it.
    return [value, replace(x), value.name][1:]


for _ in range(100):
    use(), count()
print(use(), count())
value = Noisy("second")
print("replaced")
print(use(), count())
print(during("third"))
for i in range(100):
    use()
del value
print("deleted")
# What a unit names (a class it guards on, a function it calls) lives as long as the unit; see docs/cpython.md.
local_class()
