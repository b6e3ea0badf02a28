"""Reversing prefixes of every permutation; and a count of inversions over rotations."""


def run(n):
    order = list(range(n))
    counts = [0] * n
    best = checksum = sign_index = 0
    r = n
    while True:
        while r != 1:
            counts[r - 1] = r
            r -= 1
        deck = order[:]
        flips = 0
        first = deck[0]
        while first:
            deck[:first + 1] = deck[first::-1]
            flips += 1
            first = deck[0]
        if flips > best:
            best = flips
        checksum += -flips if sign_index & 1 else flips
        sign_index += 1
        while True:
            if r == n:
                return checksum, best
            first = order[0]
            for i in range(r):
                order[i] = order[i + 1]
            order[r] = first
            counts[r] -= 1
            if counts[r] > 0:
                break
            r += 1


def run_unseen(length, rounds):
    """Bubble passes over shuffled lists, with swaps by index."""
    swaps = 0
    seed = 12345
    for _ in range(rounds):
        cards = list(range(length))
        for k in range(length - 1, 0, -1):
            seed = (seed * 1103515245 + 12345) % 2147483648
            j = seed % (k + 1)
            cards[k], cards[j] = cards[j], cards[k]
        end = length - 1
        while end > 0:
            last = 0
            for k in range(end):
                if cards[k] > cards[k + 1]:
                    cards[k], cards[k + 1] = cards[k + 1], cards[k]
                    swaps += 1
                    last = k
            end = last
    return swaps
