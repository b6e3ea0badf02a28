"""Primes by a sieve over a list of flags; and divisor counts by the same kind of strides."""


def run(limit):
    flags = [True] * (limit + 1)
    flags[0] = flags[1] = False
    i = 2
    while i * i <= limit:
        if flags[i]:
            for j in range(i * i, limit + 1, i):
                flags[j] = False
        i += 1
    count = 0
    for flag in flags:
        if flag:
            count += 1
    return count


def run_unseen(top):
    divisors = [0] * (top + 1)
    step = 1
    while step <= top:
        spot = step
        while spot <= top:
            divisors[spot] += 1
            spot += step
        step += 1
    best = 0
    for n in range(1, top + 1):
        if divisors[n] > divisors[best]:
            best = n
    return best, divisors[best]
