"""Threads running the same hot functions, with their own data, exceptions, and changes from another thread."""

import sys
import threading

sys.setswitchinterval(0.0005)


def work(n, k):
    s = 0
    for i in range(n):
        s += i * k
        if s > 10**12:
            s %= 1000003
    return s


def floats(n, x):
    for i in range(n):
        x = x * 0.999 + i
    return x


def fails(n, at):
    for i in range(n):
        if i == at:
            raise ValueError(at)
    return n


class Account:
    def __init__(self):
        self.balance = 0
        self.lock = threading.Lock()

    def add(self, k):
        with self.lock:
            self.balance += k


def run(targets):
    results = [None] * len(targets)

    def call(i, f, args):
        try:
            results[i] = f(*args)
        except Exception as error:
            results[i] = repr(error)

    workers = [threading.Thread(target=call, args=(i, f, args)) for i, (f, *args) in enumerate(targets)]
    for w in workers:
        w.start()
    for w in workers:
        w.join()
    return results


def deposits(account, n):
    for i in range(n):
        account.add(i)


print(run([(work, 20000, k) for k in range(4)]))
print([f"{x:.6f}" for x in run([(floats, 20000, float(k)) for k in range(3)])])
print(run([(fails, 500, k) for k in (100, 499, 1000)]))
account = Account()
run([(deposits, account, 2000)] * 3)
print(account.balance)
flag = False
spins = 0


def spin():
    """A loop without calls must still let the other thread run."""
    global spins
    while not flag:
        spins += 1
    return "seen"


def set_flag():
    global flag
    work(5000, 1)
    flag = True
    return "set"


print(run([(spin,), (set_flag,)]), spins >= 0)
local = threading.local()


def uses_local(n, k):
    local.total = 0
    for i in range(n):
        local.total += k
    return local.total


print(run([(uses_local, 3000, k) for k in (1, 2)]))
scale = 1


def scaled(n):
    seen = set()
    for i in range(n):
        seen.add(scale)
    return seen <= {1, 2}


def rescale():
    global scale
    scale = 2


print(run([(scaled, 20000), (rescale,)]), scale)
