"""Another integer loop at module level, over a range, with a branch."""

times = []
for round_number in range(laps):
    begin = clock()
    evens = odds = 0
    for value in range(3, size, 2):
        mixed = value ^ (value >> 3)
        if mixed & 1:
            odds += mixed & 63
        else:
            evens -= 1
    times.append(clock() - begin)
answer = (evens, odds)
