"""Cycles end in the order in which the collector has come to them, also where it ran while units held some of what it came to."""

# not in mode late: what units hold at that time shows.

import atexit
import gc
import os
import sys

# When the collector runs by itself depends on all that was ever made.
gc.disable()


def say(*words, write=os.write):
    write(1, " ".join(map(str, words)).encode() + b"\n")


def helper(i):
    return i & 3


class R:
    def __init__(self, name):
        self.name = name
        self.me = self

    def value(self, n):
        return sum(helper(i) for i in range(n)) if helper else None

    def __del__(self):
        say("del", self.name, self.value(50))


def gen(kept):
    try:
        for i in range(10**9):
            yield i + len(kept.name)
    finally:
        say("gen closed", kept.value(7))


def delegating(n):
    try:
        yield from delegating(n - 1) if n else gen(R("delegating"))
    finally:
        say("delegating closed", n)


class A:
    def __await__(self):
        yield 1


async def co():
    try:
        while True:
            await A()
    finally:
        say("co closed")


CONSTANT = R("constant")


class Other(R):
    kept = 12

    def value(self, n):
        return super().value(n) + self.kept


def make(n):
    def inner(k, r=R(f"default {n}")):
        return len(r.name) + len(CONSTANT.name) + k + n

    return inner


g, d, c = gen(R("gen")), delegating(3), co()
rs = [R(i) for i in range(3)]
inners = [make(i) for i in range(3)]
other = Other("other")
other.rs = rs
cyc = [c, g]
cyc.append(cyc)


def run(times):
    total = 0
    for i in range(times):
        total += next(g) + next(d) + inners[i % 3](i) + other.value(2) + CONSTANT.value(1) + c.send(None)
    return total


@atexit.register
def collects():
    try:
        raise KeyError("seen")
    except KeyError:
        gc.collect()
    say("collected")


say(run(2500))
gc.collect()
say(run(2500))
gone = [R("gone"), Other("gone too"), gen(R("gone gen"))]
for last in gone[-1]:
    break
gone.append(gone)
del gone
gc.collect()
say("end")
