"""After a builtin has read the locals of a running frame, they are still right where compiled code is left."""


def f(items, n):
    out = []
    for t in range(3):
        for i in range(1, n):
            try:
                item = items[i]
            except IndexError:
                item = "none"
            out.append((t, i, item))
        out.append(eval("a + 1", {"a": t}))
        total = 0
        for j in range(n):
            total += j
            if j == n - 1:
                out.append(sorted(locals())[:3])
        for k in range(n):
            try:
                items[n]
            except IndexError:
                out.append((i, j, k, total))
    return out


for _ in range(30):
    result = f([1, 2, None], 6)
print(result)
