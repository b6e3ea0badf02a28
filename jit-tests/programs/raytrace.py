"""A ray tracer with vectors as objects, operators, spheres, a plane, shadows and reflections."""


class Vec:
    __slots__ = ("x", "y", "z")

    def __init__(self, x, y, z):
        self.x = x
        self.y = y
        self.z = z

    def __add__(self, o):
        return Vec(self.x + o.x, self.y + o.y, self.z + o.z)

    def __sub__(self, o):
        return Vec(self.x - o.x, self.y - o.y, self.z - o.z)

    def __mul__(self, k):
        return Vec(self.x * k, self.y * k, self.z * k)

    def dot(self, o):
        return self.x * o.x + self.y * o.y + self.z * o.z

    def unit(self):
        return self * (1.0 / self.dot(self) ** 0.5)


class Sphere:
    def __init__(self, centre, radius, shade, mirror):
        self.centre = centre
        self.radius = radius
        self.shade = shade
        self.mirror = mirror

    def hit(self, origin, direction):
        to = self.centre - origin
        along = to.dot(direction)
        d2 = self.radius * self.radius - to.dot(to) + along * along
        if d2 < 0:
            return None
        t = along - d2 ** 0.5
        return t if t > 1e-6 else None

    def normal(self, at):
        return (at - self.centre).unit()


class Plane:
    mirror = 0

    def __init__(self, height):
        self.height = height

    def hit(self, origin, direction):
        if abs(direction.y) < 1e-9:
            return None
        t = (self.height - origin.y) / direction.y
        return t if t > 1e-6 else None

    def normal(self, at):
        return Vec(0, 1, 0)

    @property
    def shade(self):
        return 0.6


class Scene:
    def __init__(self, things, light):
        self.things = things
        self.light = light
        self.rays = 0

    def nearest(self, origin, direction):
        self.rays += 1
        best = None
        for thing in self.things:
            t = thing.hit(origin, direction)
            if t is not None and (best is None or t < best[0]):
                best = t, thing
        return best

    def trace(self, origin, direction, depth=0):
        found = self.nearest(origin, direction)
        if found is None:
            return 0.1 + 0.2 * max(direction.y, 0)
        t, thing = found
        at = origin + direction * t
        normal = thing.normal(at)
        to_light = (self.light - at).unit()
        bright = max(0, normal.dot(to_light))
        if bright and self.nearest(at, to_light):
            bright = bright / 4
        value = thing.shade * (0.2 + 0.8 * bright)
        if thing.mirror and depth < 3:
            bounced = direction - normal * (2 * direction.dot(normal))
            value = value * (1 - thing.mirror) + thing.mirror * self.trace(at, bounced, depth + 1)
        return value


def render(width, height):
    scene = Scene([Sphere(Vec(0, 0, 5), 1, 0.9, 0.3), Sphere(Vec(1.6, 0.2, 4), 0.6, 0.7, 0), Sphere(Vec(-1.5, -0.3, 4), 0.7, 0.8, 0.5), Plane(-1)],
                  Vec(5.0, 6, -2))
    eye = Vec(0, 0, -1)
    total = 0.0
    lines = []
    for row in range(height):
        line = ""
        for column in range(width):
            d = Vec((column - width / 2) / width * 3, (height / 2 - row) / height * 2, 3).unit()
            v = scene.trace(eye, d)
            total += v
            line += " .:-=+*#%@"[min(9, int(v * 10))]
        lines.append(line)
    return lines, total, scene.rays


lines, total, rays = render(64, 22)
print("\n".join(lines))
print(total.hex(), rays)
