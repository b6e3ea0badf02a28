"""Functions of hundreds of locals: what takes too long to compile runs interpreted, and nobody waits for it."""


def made(n):
    names = ", ".join(f"x{i}" for i in range(n))
    body = "; ".join(f"x{i} = {i}" for i in range(n))
    space = {}
    exec(f"def f(k):\n    {body}\n    [({names}) for {names} in (range({n}),)]\n    y = [{names}]\n    return sum(y) + k, x{n - 1}", space)
    return space["f"]


for n in (20, 300, 600):
    f = made(n)
    print(n, [f(k) for k in range(60)][-1])
