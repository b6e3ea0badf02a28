"""Bodies in each other's gravity, as lists, as objects, and as slots; energies must agree."""


class Body:
    def __init__(self, row):
        self.m, self.x, self.y, self.vx, self.vy = row


class Slim:
    __slots__ = ("m", "x", "y", "vx", "vy")

    def __init__(self, row):
        self.m, self.x, self.y, self.vx, self.vy = row


ROWS = [(10.0, 0.0, 0.0, 0.0, 0.0), (0.1, 4.0, 0.0, 0.0, 1.6), (0.02, -7.0, 1.0, 0.1, -1.2), (0.05, 0.0, 12.0, -0.9, 0.0)]


def step(bodies, dt):
    for i in range(len(bodies)):
        a = bodies[i]
        for j in range(i + 1, len(bodies)):
            b = bodies[j]
            dx = a.x - b.x
            dy = a.y - b.y
            d2 = dx * dx + dy * dy
            f = dt / (d2 * d2 ** 0.5)
            a.vx -= dx * b.m * f
            a.vy -= dy * b.m * f
            b.vx += dx * a.m * f
            b.vy += dy * a.m * f
    for b in bodies:
        b.x += b.vx * dt
        b.y += b.vy * dt


def energy(bodies):
    e = 0.0
    for i, a in enumerate(bodies):
        e += a.m * (a.vx ** 2 + a.vy ** 2) / 2
        for b in bodies[i + 1:]:
            e -= a.m * b.m / ((a.x - b.x) ** 2 + (a.y - b.y) ** 2) ** 0.5
    return e


def rows_step(rows, dt):
    for i, a in enumerate(rows):
        for b in rows[i + 1:]:
            dx, dy = a[1] - b[1], a[2] - b[2]
            d2 = dx * dx + dy * dy
            f = dt / (d2 * d2 ** 0.5)
            a[3] -= dx * b[0] * f
            a[4] -= dy * b[0] * f
            b[3] += dx * a[0] * f
            b[4] += dy * a[0] * f
    for r in rows:
        r[1] += r[3] * dt
        r[2] += r[4] * dt


def simulate(kind, steps):
    bodies = [kind(row) for row in ROWS]
    for _ in range(steps):
        step(bodies, 0.01)
    return energy(bodies).hex()


rows = [list(r) for r in ROWS]
for _ in range(1500):
    rows_step(rows, 0.01)
print(simulate(Body, 1500), simulate(Slim, 1500), rows[1][1].hex())
mixed = [Body(r) if i % 2 else Slim(r) for i, r in enumerate(ROWS)]
for _ in range(700):
    step(mixed, 0.01)
print(energy(mixed).hex())
mixed[0].x = mixed[1].x
mixed[0].y = mixed[1].y
try:
    step(mixed, 0.01)
except ZeroDivisionError as error:
    print(error, error.__traceback__.tb_next.tb_lineno)
