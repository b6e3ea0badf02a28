"""Gravity between bodies that are lists of floats; and between bodies that are objects."""


def start():
    # Mass, position, velocity: a small made-up system.
    return [
        [40.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0],
        [0.04, 4.8, -1.1, -0.1, 0.6, 2.8, -0.02],
        [0.011, 8.3, 4.1, -0.4, -1.0, 1.8, 0.008],
        [0.0017, 12.9, -15.1, -0.2, 1.1, 0.9, -0.01],
        [0.002, 15.4, -25.9, 0.2, 1.0, 0.6, -0.03],
    ]


def energy(bodies):
    e = 0.0
    for i, a in enumerate(bodies):
        e += 0.5 * a[0] * (a[4] * a[4] + a[5] * a[5] + a[6] * a[6])
        for b in bodies[i + 1:]:
            dx, dy, dz = a[1] - b[1], a[2] - b[2], a[3] - b[3]
            e -= a[0] * b[0] / (dx * dx + dy * dy + dz * dz) ** 0.5
    return e


def advance(bodies, pairs, dt):
    for a, b in pairs:
        dx = a[1] - b[1]
        dy = a[2] - b[2]
        dz = a[3] - b[3]
        d2 = dx * dx + dy * dy + dz * dz
        mag = dt / (d2 * d2 ** 0.5)
        am = a[0] * mag
        bm = b[0] * mag
        a[4] -= dx * bm
        a[5] -= dy * bm
        a[6] -= dz * bm
        b[4] += dx * am
        b[5] += dy * am
        b[6] += dz * am
    for body in bodies:
        body[1] += dt * body[4]
        body[2] += dt * body[5]
        body[3] += dt * body[6]


def run(steps):
    bodies = start()
    pairs = [(a, b) for i, a in enumerate(bodies) for b in bodies[i + 1:]]
    for _ in range(steps):
        advance(bodies, pairs, 0.001)
    return energy(bodies)


class Charge:
    def __init__(self, q, x, y, vx, vy):
        self.q = q
        self.x = x
        self.y = y
        self.vx = vx
        self.vy = vy


def run_unseen(turns):
    """Charges in a plane, as objects, with a drag."""
    cloud = [Charge(1.0 + i % 3, i * 1.5, i * i % 7 * 0.75, 0.1 * i, -0.05 * i) for i in range(6)]
    for _ in range(turns):
        for one in cloud:
            fx = fy = 0.0
            for other in cloud:
                if other is not one:
                    ux = one.x - other.x
                    uy = one.y - other.y
                    r2 = ux * ux + uy * uy + 0.01
                    push = one.q * other.q / (r2 * r2 ** 0.5)
                    fx += ux * push
                    fy += uy * push
            one.vx = (one.vx + fx * 0.002) * 0.999
            one.vy = (one.vy + fy * 0.002) * 0.999
        for one in cloud:
            one.x += one.vx * 0.002
            one.y += one.vy * 0.002
    return sum(c.x * c.vx + c.y * c.vy for c in cloud)
