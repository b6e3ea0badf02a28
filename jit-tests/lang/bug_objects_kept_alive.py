"""The compiler keeps no class, function or global alive."""
import gc
import sys
import weakref


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
    return weakref.ref(Local)


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
ref = local_class()
gc.collect()
print(ref())


def caller(f):
    return f(2)


def maker():
    def inner(x):
        return x + 1

    for _ in range(100):
        caller(inner)
    return weakref.ref(inner)


r = maker()
gc.collect()
print(r())
