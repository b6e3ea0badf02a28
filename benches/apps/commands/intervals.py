"""Sets of whole numbers as sorted intervals; the module under test in test_intervals.py."""

import bisect
import functools


@functools.total_ordering
class Interval:
    __slots__ = ("low", "high")

    def __init__(self, low, high):
        if low >= high:
            raise ValueError(f"{low} is not below {high}")
        self.low, self.high = low, high

    def __eq__(self, other):
        return isinstance(other, Interval) and (self.low, self.high) == (other.low, other.high)

    def __lt__(self, other):
        return (self.low, self.high) < (other.low, other.high)

    def __hash__(self):
        return hash((self.low, self.high))

    def __contains__(self, number):
        return self.low <= number < self.high

    def __repr__(self):
        return f"[{self.low}, {self.high})"


class IntervalSet:
    def __init__(self, intervals=()):
        self.parts = []
        for low, high in intervals:
            self.add(low, high)

    def add(self, low, high):
        new = Interval(low, high)
        before = [part for part in self.parts if part.high < new.low]
        after = [part for part in self.parts if part.low > new.high]
        touching = self.parts[len(before):len(self.parts) - len(after)]
        for part in touching:
            new = Interval(min(new.low, part.low), max(new.high, part.high))
        self.parts = [*before, new, *after]

    def remove(self, low, high):
        left = []
        for part in self.parts:
            if part.high <= low or part.low >= high:
                left.append(part)
                continue
            if part.low < low:
                left.append(Interval(part.low, low))
            if part.high > high:
                left.append(Interval(high, part.high))
        self.parts = left

    def __contains__(self, number):
        at = bisect.bisect_right(self.parts, number, key=lambda part: part.low) - 1
        return at >= 0 and number in self.parts[at]

    def __iter__(self):
        for part in self.parts:
            yield from range(part.low, part.high)

    def __len__(self):
        return sum(part.high - part.low for part in self.parts)

    def __eq__(self, other):
        return isinstance(other, IntervalSet) and self.parts == other.parts

    def __or__(self, other):
        made = IntervalSet()
        for part in sorted(self.parts + other.parts):
            made.add(part.low, part.high)
        return made

    def __and__(self, other):
        made, mine, theirs = IntervalSet(), iter(self.parts), iter(other.parts)
        a, b = next(mine, None), next(theirs, None)
        while a and b:
            low, high = max(a.low, b.low), min(a.high, b.high)
            if low < high:
                made.parts.append(Interval(low, high))
            if a.high <= b.high:
                a = next(mine, None)
            else:
                b = next(theirs, None)
        return made

    def __repr__(self):
        return " ".join(map(repr, self.parts)) or "nothing"
