"""The Mandelbrot set in the terminal."""

import time


def depth(cr, ci, limit):
    zr = zi = 0.0
    for n in range(limit):
        zr, zi = zr * zr - zi * zi + cr, 2.0 * zr * zi + ci
        if zr * zr + zi * zi > 4.0:
            return n
    return limit


def picture(width, height, limit, shades=" .:-=+*#%@"):
    lines = []
    for row in range(height):
        line = ""
        for column in range(width):
            n = depth(3.2 * column / width - 2.2, 2.4 * row / height - 1.2, limit)
            line += shades[n * (len(shades) - 1) // limit]
        lines.append(line)
    return "\n".join(lines)


if __name__ == "__main__":
    started = time.perf_counter()
    print(picture(100, 36, 2000))
    print(f"{time.perf_counter() - started:.2f} s")
