"""The suite that apps.py runs as whole processes, under unittest and under pytest."""

import random
import unittest

from intervals import Interval, IntervalSet


class IntervalCases(unittest.TestCase):
    def test_order(self):
        some = [Interval(a, b) for a in range(8) for b in range(a + 1, 9)]
        random.Random(1).shuffle(some)
        self.assertEqual([(part.low, part.high) for part in sorted(some)], [(a, b) for a in range(8) for b in range(a + 1, 9)])

    def test_empty_ones_are_refused(self):
        for low, high in ((1, 1), (2, 1), (0, -5)):
            with self.subTest(low=low), self.assertRaisesRegex(ValueError, "is not below"):
                Interval(low, high)

    def test_hash_and_equality(self):
        self.assertEqual(len({Interval(1, 2), Interval(1, 2), Interval(1, 3)}), 2)
        self.assertNotEqual(Interval(1, 2), (1, 2))


class SetCases(unittest.TestCase):
    def setUp(self):
        self.random = random.Random(self.id())
        self.set, self.numbers = IntervalSet(), set()

    def change(self, steps=20, limit=120):
        for _ in range(steps):
            low = self.random.randrange(limit)
            high = low + self.random.randrange(1, 15)
            if self.random.random() < 0.6:
                self.set.add(low, high)
                self.numbers.update(range(low, high))
            else:
                self.set.remove(low, high)
                self.numbers.difference_update(range(low, high))

    def check(self, some, numbers):
        self.assertEqual(list(some), sorted(numbers))
        self.assertEqual(len(some), len(numbers))
        for before, after in zip(some.parts, some.parts[1:]):
            self.assertLess(before.high, after.low + 1)

    def test_contains(self):
        self.change()
        for number in range(-1, 140):
            self.assertEqual(number in self.set, number in self.numbers)

    def test_shown(self):
        self.assertEqual(repr(IntervalSet([(5, 9), (1, 3), (2, 6)])), "[1, 9)")
        self.assertEqual(repr(self.set), "nothing")

    def test_union_and_intersection(self):
        self.change()
        other, others = self.set, self.numbers
        self.set, self.numbers = IntervalSet(), set()
        self.change()
        self.check(self.set | other, self.numbers | others)
        self.check(self.set & other, self.numbers & others)


def made(steps):
    def test(self):
        self.change(steps)
        self.check(self.set, self.numbers)

    return test


for steps in range(1, 301):
    setattr(SetCases, f"test_steps_{steps:03}", made(steps))

if __name__ == "__main__":
    unittest.main()
