"""The audit took what a conditional expression in inlined code lends for a reference: the code was right, and refused."""


def scaled(a, b, c=0, z=0.0, one=1):
    a = (0 if a else 1) + (z - 1099511627776.0)
    if -0.0 != 2.0:
        c = (-0.0 + a) * (z if abs(0) == z else 1)
    return 7


def chosen(a, z=0.5):
    return a * (z if a > 1 else 2.5)


def target(values):
    for i in range(150):
        try:
            scaled(values[i % len(values)], values[0])
            chosen(values[i % len(values)])
        except Exception as error:
            print(error)
    return i


print({target([0, 1, 2]) for turn in range(6)}, {target([0.5, 1.5]) for turn in range(6)})
