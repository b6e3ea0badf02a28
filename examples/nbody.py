"""The planets' dance: gravity between five bodies, as objects, printing the energy and the time it took."""

import sys
import time


class Body:
    def __init__(self, mass, x, y, z, vx, vy, vz):
        self.mass = mass
        self.x, self.y, self.z = x, y, z
        self.vx, self.vy, self.vz = vx, vy, vz


def advance(bodies, dt):
    for i, a in enumerate(bodies):
        for j in range(i + 1, len(bodies)):
            b = bodies[j]
            dx = a.x - b.x
            dy = a.y - b.y
            dz = a.z - b.z
            d2 = dx * dx + dy * dy + dz * dz
            pull = dt / (d2 * d2 ** 0.5)
            a.vx -= dx * b.mass * pull
            a.vy -= dy * b.mass * pull
            a.vz -= dz * b.mass * pull
            b.vx += dx * a.mass * pull
            b.vy += dy * a.mass * pull
            b.vz += dz * a.mass * pull
    for body in bodies:
        body.x += body.vx * dt
        body.y += body.vy * dt
        body.z += body.vz * dt


def energy(bodies):
    total = 0.0
    for i, a in enumerate(bodies):
        total += 0.5 * a.mass * (a.vx * a.vx + a.vy * a.vy + a.vz * a.vz)
        for b in bodies[i + 1:]:
            total -= a.mass * b.mass / ((a.x - b.x) ** 2 + (a.y - b.y) ** 2 + (a.z - b.z) ** 2) ** 0.5
    return total


def main():
    steps = int(sys.argv[1]) if len(sys.argv) > 1 else 200_000
    bodies = [
        Body(40.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0),
        Body(0.04, 4.8, -1.1, -0.1, 0.6, 2.8, -0.02),
        Body(0.011, 8.3, 4.1, -0.4, -1.0, 1.8, 0.008),
        Body(0.0017, 12.9, -15.1, -0.2, 1.1, 0.9, -0.01),
        Body(0.002, 15.4, -25.9, 0.2, 1.0, 0.6, -0.03),
    ]
    started = time.perf_counter()
    before = energy(bodies)
    for _ in range(steps):
        advance(bodies, 0.001)
    after = energy(bodies)
    took = time.perf_counter() - started
    print(f"energy {before:.9f} -> {after:.9f} after {steps} steps")
    print(f"{took:.2f} s")


if __name__ == "__main__":
    main()
