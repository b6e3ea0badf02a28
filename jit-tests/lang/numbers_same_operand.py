# Both operands are one number, where floats and ints have come to the function: two ints make an int.
def square(t):
    if t < 10:
        return 0.0
    return t * t


def both(t, u):
    if t < 10:
        return 0.0, u + u
    return t + t, t - t, u * u


def product(a, b):
    return a * b


def through(t):
    if t > 100:
        return 1.5
    return product(t, t)


def copied(a):
    if a < 10.5:
        return 0
    c = a
    d = c
    return d * c


def summed(items):
    s = 0
    for a in items:
        s += a * a
    return s


for function in (square, through, copied):
    for i in range(3000):
        function(15.5), function(1), function(200)
    print([function(x) for x in (30, 15.5, 3, 2147483659, -5, True, 2**60 + 1)])
for i in range(3000):
    both(15.5, 2), both(1, 2.5), both(2.5, 3)
print(both(30, 7), both(30.5, 7), both(1, 2**53 + 1), both(2**53 + 1, True))
for i in range(300):
    summed([1, 2.5, 3]), summed([2, 3]), summed([0.5])
print(summed([1, 2, 3]), summed([1, 2.5]), summed([2**53 + 1]), summed([True]))
