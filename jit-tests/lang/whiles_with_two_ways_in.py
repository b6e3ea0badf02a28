"""While loops that are tested at both ends and continued: the interpreter's code goes round in more ways than one."""


def continued(b):
    x = n = 0
    while x < b:
        y = x
        while y < b:
            y += 1
            n += y
            if x == 1000:
                continue
        x += 1
    return n


def three(b):
    x = n = 0
    while x < b:
        y = x
        while y < b:
            z = y
            while z < b:
                z += 1
                n += x ^ z
                if z == 17:
                    break
                if x == 5:
                    continue
            else:
                n += 1
            y += 1
        x += 1
    return n


def never_left(b):
    n = i = 0
    while True:
        i += 1
        j = i
        while j < b:
            j += 1
            if j & 1:
                continue
            n += j
        if i >= b:
            return n


for f in continued, three, never_left:
    for _ in range(60):
        result = f(40)
    print(f.__name__, result)
