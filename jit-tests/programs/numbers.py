"""Number crunching: primes, big factorials, digits of pi, fractions, integration, random numbers, fixed point."""


def primes(n):
    out = []
    k = 2
    while len(out) < n:
        for p in out:
            if p * p > k:
                out.append(k)
                break
            if k % p == 0:
                break
        else:
            out.append(k)
        k += 1
    return out


def pi_digits(n):
    q, r, t, k, m, x = 1, 0, 1, 1, 3, 3
    out = ""
    while len(out) < n:
        if 4 * q + r - t < m * t:
            out += str(m)
            q, r, m = q * 10, 10 * (r - m * t), (10 * (3 * q + r)) // t - 10 * m
        else:
            q, r, t, k, m, x = q * k, (2 * q + r) * x, t * x, k + 1, (q * (7 * k + 2) + r * x) // (t * x), x + 2
    return out


class Fraction:
    def __init__(self, n, d=1):
        if d == 0:
            raise ZeroDivisionError(f"{n}/0")
        a, b = abs(n), abs(d)
        while b:
            a, b = b, a % b
        if d < 0:
            n, d = -n, -d
        self.n, self.d = n // (a or 1), d // (a or 1)

    def __add__(self, o):
        return Fraction(self.n * o.d + o.n * self.d, self.d * o.d)

    def __mul__(self, o):
        return Fraction(self.n * o.n, self.d * o.d)

    def __truediv__(self, o):
        return Fraction(self.n * o.d, self.d * o.n)

    def __lt__(self, o):
        return self.n * o.d < o.n * self.d

    def __repr__(self):
        return f"{self.n}/{self.d}"


def harmonic(n):
    s = Fraction(0)
    for i in range(1, n):
        s = s + Fraction(1, i)
    return s


def integrate(f, a, b, n):
    h = (b - a) / n
    s = f(a) + f(b)
    for i in range(1, n):
        s += f(a + i * h) * (4 if i % 2 else 2)
    return s * h / 3


def newton(f, df, x):
    for i in range(100):
        step = f(x) / df(x)
        x -= step
        if abs(step) < 1e-14:
            return x, i
    raise ArithmeticError("no root")


def modpow(b, e, m):
    r = 1
    while e:
        if e & 1:
            r = r * b % m
        b = b * b % m
        e >>= 1
    return r


def probably_prime(n):
    if n < 2 or n % 2 == 0:
        return n == 2
    d, s = n - 1, 0
    while d % 2 == 0:
        d //= 2
        s += 1
    for a in (2, 3, 5, 7, 11, 13):
        if a % n == 0:
            continue
        x = modpow(a, d, n)
        if x in (1, n - 1):
            continue
        for _ in range(s - 1):
            x = x * x % n
            if x == n - 1:
                break
        else:
            return False
    return True


def twister(n):
    a, b, c = 123456789, 362436069, 521288629
    s = 0
    for _ in range(n):
        t = (a ^ (a << 11)) & 0xFFFFFFFF
        a, b = b, c
        c = (c ^ (c >> 19) ^ t ^ (t >> 8)) & 0xFFFFFFFF
        s += c & 1023
    return s, c


def isqrt(n):
    if n < 0:
        raise ValueError("negative")
    x = n
    y = (x + 1) // 2
    while y < x:
        x, y = y, (y + n // y) // 2
    return x


def factorial(n):
    r = 1
    for i in range(2, n + 1):
        r *= i
    return r


def statistics(values):
    n = mean = m2 = 0
    for v in values:
        n += 1
        d = v - mean
        mean += d / n
        m2 += d * (v - mean)
    return n, mean, (m2 / (n - 1)) ** 0.5


print(primes(500)[-3:], pi_digits(100), harmonic(60), factorial(120) % (10**9 + 7), len(str(factorial(400))))
print(integrate(lambda x: x * x, 0, 3, 400), integrate(lambda x: 1 / x, 1.0, 2.0, 400).hex(), newton(lambda x: x * x - 2, lambda x: 2 * x, 1))
print(modpow(3, 10**18, 10**9 + 7), [n for n in range(2**31, 2**31 + 60) if probably_prime(n)], probably_prime(2**61 - 1), probably_prime(2**67 - 1))
print(twister(5000), isqrt(10**40), isqrt(2**62), isqrt(0), statistics(range(500)), statistics([0.5, 1, True, 2.5]))
for f in (lambda: Fraction(1, 0), lambda: Fraction(1) / Fraction(0), lambda: newton(lambda x: x * x + 1, lambda x: 2 * x, 0.5), lambda: isqrt(-1),
          lambda: integrate(lambda x: 1 / x, -1, 1, 4), lambda: statistics([1]), lambda: newton(lambda x: x, lambda x: 0, 1), lambda: modpow(2, -1, 5) if False else modpow("a", 1, 5)):
    try:
        print(f())
    except (ArithmeticError, ValueError, TypeError) as error:
        print(type(error).__name__, error)
