"""A tree of cells summed by a recursive method whose totals begin as ints and become floats on some ways only, joined four times."""

import math


class Point:
    def __init__(self, x, y):
        self.x = x
        self.y = y


class Cell:
    def __init__(self, depth, k):
        self.at = Point(k * 0.5, k * 0.25 + depth)
        self.mass = 1.5 + k
        self.divided = depth > 0
        self.a = Cell(depth - 1, k + 1) if depth and k % 4 else None
        self.b = Cell(depth - 1, k + 2) if depth and k % 3 else None
        self.c = Cell(depth - 1, k + 3) if depth and k % 5 < 3 else None
        self.d = Cell(depth - 1, k + 4) if depth and k % 7 < 4 else None

    def force(self, p, theta):
        if self.mass == 0:
            return 0, 0
        dx = self.at.x - p.x
        dy = self.at.y - p.y
        distance = math.sqrt(dx * dx + dy * dy)
        if not self.divided or 0.5 / distance < theta:
            if distance < 0.1:
                distance = 0.1
            f = self.mass / (distance * distance)
            return f * dx / distance, f * dy / distance
        fx, fy = 0, 0
        if self.a:
            ax, ay = self.a.force(p, theta)
            fx += ax
            fy += ay
        if self.b:
            bx, by = self.b.force(p, theta)
            fx += bx
            fy += by
        if self.c:
            cx, cy = self.c.force(p, theta)
            fx += cx
            fy += cy
        if self.d:
            dx, dy = self.d.force(p, theta)
            fx += dx
            fy += dy
        return fx, fy


cell = Cell(4, 1)
s = 0.0
for i in range(600):
    x, y = cell.force(Point(i * 0.1, i % 7 + 0.3), 0.0 if i % 2 else 0.05)
    s += x + y
print(round(s, 9), cell.force(Point(1, 2), 0.5))
