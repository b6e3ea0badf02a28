"""Points of the Mandelbrot set on a grid."""


def run(size):
    inside = 0
    for row in range(size):
        ci = 2.0 * row / size - 1.0
        for column in range(size):
            cr = 3.0 * column / size - 2.0
            zr = zi = 0.0
            for _ in range(50):
                r2 = zr * zr
                i2 = zi * zi
                if r2 + i2 > 4.0:
                    break
                zi = 2.0 * zr * zi + ci
                zr = r2 - i2 + cr
            else:
                inside += 1
    return inside


def julia_escape(x, y, limit):
    steps = 0
    while steps < limit:
        x, y = x * x - y * y - 0.8, 2.0 * x * y + 0.156
        if x * x + y * y >= 4.0:
            return steps
        steps += 1
    return limit


def run_unseen(width, height):
    """A Julia set, counted through a call per point."""
    total = 0
    for j in range(height):
        for i in range(width):
            total += julia_escape(3.2 * i / width - 1.6, 2.4 * j / height - 1.2, 40)
    return total
