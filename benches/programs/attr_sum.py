"""Sums over attributes of objects: inline values, slots, and a method that updates its object."""


class Point:
    def __init__(self, x, y):
        self.x = x
        self.y = y


def run(n):
    p = Point(0.5, 2)
    total = 0.0
    count = 0
    for _ in range(n):
        total += p.x
        count += p.y
    return total, count


class Meter:
    __slots__ = ("name", "value", "peak")

    def __init__(self, name):
        self.name = name
        self.value = 0
        self.peak = 0

    def add(self, amount):
        self.value += amount
        if self.value > self.peak:
            self.peak = self.value


def run_unseen(turns):
    meter = Meter("m")
    for k in range(turns):
        meter.add(3 if k & 3 else -5)
    return meter.value, meter.peak
