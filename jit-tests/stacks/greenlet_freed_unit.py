"""A unit that only suspended greenlets run in is thrown away, and others are compiled: it is not freed before they have left it."""

# repeat: 3

from greenlet import getcurrent, greenlet

K = 1


def wait(parent):
    return parent.switch() + K


def body():
    parent = getcurrent().parent
    total = 0
    while True:
        total += wait(parent)


warm = greenlet(body)
warm.switch()
for i in range(3000):
    warm.switch(i)
suspended = [greenlet(body) for _ in range(10)]
for g in suspended:
    g.switch()
    g.switch(1)
K = 2
for k in range(60):
    namespace = {}
    exec(f"def f(n):\n  s = 0\n  for i in range(n): s += i * {k} % 7\n  return s", namespace)
    namespace["f"](5000)
for g in [*suspended, warm]:
    g.switch(1)
print("fine")
