"""A thread's stack may be enough for the interpreter and too small for the compiler."""

import os
import threading


def f(x):
    return x * 2 // 3


def work():
    out.append(sum(f(i) for i in range(1000)))
    total = 0
    for i in range(10000):
        total += i
    out.append(total)


out = []
# Where compiled code is interpreted for tests, that takes more than compiled code does.
threading.stack_size(1 << 20 if os.environ.get("CLADONIA_ORACLE") else 65536)
for _ in range(3):
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
threading.stack_size(0)
work()
print(out)
