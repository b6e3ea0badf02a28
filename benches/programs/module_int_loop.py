"""An integer loop at module level: no function is ever called. `laps`, `size` and `clock` are given
by the child process."""

times = []
for lap in range(laps):
    started = clock()
    i = 0
    total = 0
    while i < size:
        total += i * i % 7
        i += 1
    times.append(clock() - started)
answer = total
