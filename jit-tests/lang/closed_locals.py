"""Functions of numbers that need no frame, with locals that are a constant on one way and a number on another: called from hot loops."""


def assigned_on_one_way(a):
    r = 0
    if a < 3:
        r = a + 1
    return r


def by_truth(a):
    r = 0
    if a: r |= 512
    return r


def largest(a):
    m = 1
    if a > m:
        m = a
    return m


def float_on_one_way(x):
    r = 0.0
    if x < 1.5:
        r = x * 2.0
    return r


def argument_overwritten(a, b):
    b = 0
    if a * -1 < a: return b + b
    if not b: return 2**40
    return 1


def argument_constant_again(a):
    if a > 4:
        a = 0
    b = a + 1
    a = 5
    if b > 2:
        a = b
    return a


def main():
    for f in (assigned_on_one_way, by_truth, largest, argument_constant_again):
        total = 0
        for k in range(4000):
            total += f(k % 7) * (k % 5 + 1)
        print(f.__name__, total)
    total = 0.0
    for k in range(4000):
        total += float_on_one_way((k % 9) * 0.25)
    print(total)
    total = 0
    for k in range(4000):
        total += argument_overwritten(k % 11 - 4, 1 if k % 2 else 0.5)
    print(total)


# Functions of one caller, and of another that is no function.
main()
total = 0
for k in range(4000):
    total += assigned_on_one_way(k % 5) + by_truth(k % 3) + largest(k % 4)
print(total)
