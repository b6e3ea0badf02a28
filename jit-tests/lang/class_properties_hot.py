"""Properties whose getters are compiled before the loops that ask them: what the interpreter has ceased to observe."""


class Point:
    def __init__(self, x, y):
        self.x, self.y = x, y

    @property
    def total(self):
        return self.x + self.y


class Far(Point):
    @property
    def total(self):
        return self.x * 100


class Lazy:
    def __getattr__(self, name):
        return len(name)


class Plain:
    total = 7


def warm(p, n):
    for _ in range(n):
        p.total


def one(p, n):
    total = 0
    for i in range(n):
        total += p.total + i
    return total


def of_field(holder, n):
    total = 0
    for _ in range(n):
        total += holder.x.total
    return total


def several(points, n):
    total = 0
    for _ in range(n):
        for p in points:
            total += p.total
    return total


def main():
    p, far = Point(3, 4), Far(5, 6)
    warm(p, 500)
    warm(far, 500)
    for _ in range(3):
        print(one(p, 700), one(far, 700), of_field(Point(p, far), 700))
        print(several([p, far], 300), several([p], 300))
    print(several([p, far, Plain(), Lazy()], 300), one(Plain(), 300), one(Lazy(), 300))
    # The property changes, is hidden no more, and is gone.
    Point.total = property(lambda self: self.y)
    print(one(p, 700), of_field(Point(p, far), 700))
    Point.total = 11
    print(one(p, 700), of_field(Point(p, far), 700))
    p.total = 12
    print(one(p, 700), of_field(Point(p, far), 700))
    del Point.total, p.total
    try:
        one(p, 700)
    except AttributeError as error:
        print(error)
    p.__class__ = Far
    print(one(p, 700), of_field(Point(p, far), 700))


main()
