"""The Python interface: compile a function, ask why another can't be, read the statistics, see a function's stages."""

import cladonia


@cladonia.jit
def collatz(n):
    steps = 0
    while n != 1:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        steps += 1
    return steps


def squares(n):
    yield from (i * i for i in range(n))


if __name__ == "__main__":
    print("available:", cladonia.available() or "yes")
    print("compiled:", cladonia.is_compiled(collatz), "-", cladonia.why_not(collatz) or "nothing against it")
    print("longest below 10000:", max(map(collatz, range(1, 10_000))))
    try:
        cladonia.compile(squares)
    except cladonia.NotCompiled as reason:
        print("squares:", reason)
    for name, value in cladonia.stats()["coverage"].items():
        print(f"{name:28}{value}")
    try:
        print(cladonia.dump(collatz, "hir"))
    except cladonia.NotCompiled as reason:
        print("no dump:", reason)
