"""Attribute accesses, one kind an entry: fields, methods, methods of two and of four classes,
properties, super(), a module's functions."""

import types

helper = types.ModuleType("helper")
exec("def twice(x):\n    return x + x\n", vars(helper))


class Point:
    scale = 3

    def __init__(self, x, y):
        self.x = x
        self.y = y

    def shifted(self, d):
        return self.x + d

    @property
    def total(self):
        return self.x + self.y

    def area(self):
        return self.x * self.y


class Circle(Point):
    def area(self):
        return self.x * 3


class Line(Point):
    def area(self):
        return self.y


class Dot(Point):
    def area(self):
        return 1


class Base:
    def __init__(self, start):
        self.start = start

    def value(self, k):
        return self.start + k


class Derived(Base):
    def value(self, k):
        return super().value(k) + 1


def attributes(n):
    points = [Point(i, i + 1) for i in range(100)]
    total = 0
    for _ in range(n):
        for p in points:
            total += p.x + p.y
    return total


def methods(n):
    p = Point(3, 4)
    total = 0
    for i in range(n):
        total += p.shifted(i)
    return total


def two_classes(n):
    shapes = [Point(2, 3), Circle(4, 5)] * 50
    total = 0
    for _ in range(n):
        for shape in shapes:
            total += shape.area()
    return total


def four_classes(n):
    shapes = [Point(2, 3), Circle(4, 5), Line(6, 7), Dot(8, 9)] * 25
    total = 0
    for _ in range(n):
        for shape in shapes:
            total += shape.area()
    return total


def properties(n):
    p = Point(3, 4)
    total = 0
    for i in range(n):
        total += p.total + i
    return total


def supers(n):
    d = Derived(5)
    total = 0
    for i in range(n):
        total += d.value(i)
    return total


def modules(n):
    total = 0
    for i in range(n):
        total += helper.twice(i)
    return total
