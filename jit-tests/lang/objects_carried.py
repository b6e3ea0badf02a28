"""Instances and tuples that a variable has from one turn of a loop to the next, each time another one: nobody makes them as long as
only compiled code can see them, and nobody can tell."""

import gc
import sys
import weakref

log = []


class Vec:
    def __init__(self, x, y):
        self.x = x
        self.y = y

    def __add__(self, other):
        return Vec(self.x + other.x, self.y + other.y)

    def __repr__(self):
        return f"{type(self).__name__}({self.x}, {self.y})"


class Sub(Vec):
    def __add__(self, other):
        return Sub(self.y + other.x, self.x + other.y)


class Slotted:
    __slots__ = ("y", "x")

    def __init__(self, x, y):
        self.x = x
        self.y = y

    def __add__(self, other):
        return Slotted(self.x + other.x, self.y + other.y)


class Counter:
    def __init__(self):
        self.n = 0
        self.last = None


class Marked:
    def __init__(self, name):
        self.name = name

    def __del__(self):
        log.append(self.name)


class Looks:
    """Looks, when it ends, at what its frame has."""

    def __del__(self):
        names = sys._getframe(1).f_locals
        seen.append(repr(names.get("q")))


class Dies:
    def __init__(self, x):
        self.x = x

    def __add__(self, other):
        return Dies(self.x + other)

    def __del__(self):
        log.append(self.x)


def summed(vs):
    p = Vec(0.0, 0.0)
    for v in vs:
        p = p + v
    return p.x - p.y


def slots_summed(vs):
    p = Slotted(0.5, 1.5)
    for v in vs:
        p = p + v
    return p.x, p.y


def summed_in_two(vs):
    p = Vec(0.0, 1.0)
    q = Vec(1.0, 0.0)
    for v in vs:
        # Each is the other one in the next turn.
        p, q = q, p + v
    return p.x, p.y, q.x, q.y, p is q


def the_last_two(vs):
    new = Vec(0.0, 1.0)
    old = Vec(0.0, 2.0)
    same = 0
    for v in vs:
        old = new
        new = new + v
        same += old is new
    return old.x, new.x, same


def both_names(vs):
    p = q = Vec(0, 0)
    for v in vs:
        p = q = q + v
    return p is q, p.x, p.y


def assigned_in(n):
    c = Counter()
    for i in range(n):
        c.n = c.n + i
        c.last = i
    return c.n, c.last


def new_or_old(xs):
    best = Vec(xs[0], 0)
    n = 0
    for x in xs:
        n += 1
        if x > best.x:
            best = Vec(x, n)
    return best.x, best.y


def of_either_side(xs):
    total = 0.0
    p = Vec(0.0, 0.0)
    for x in xs:
        if x > 2.5:
            p = Vec(x, total)
        else:
            p = Vec(1.0, x)
        total += p.x * p.y
    return total


def nested_loops(n):
    p = Vec(0.0, 0.0)
    step = Vec(0.5, 0.25)
    for i in range(n):
        for j in range(3):
            p = p + step
        step = Vec(step.y, step.x)
    return p.x, p.y


def tuples(n, a, b):
    t = (a, b)
    for i in range(n):
        t = (t[1], (t[0] + t[1]) % 1000)
    return t[0]


def tuples_taken_apart(n, a, b):
    t = (a, b)
    i = 0
    while i < n:
        x, y = t
        t = y, x + y
        i += 1
    return t[1]


def in_each_other(n, a):
    t = (a, (a, a))
    for i in range(n):
        t = (t[1][0] + 1, (t[0], t[1][1] + 2))
    return t[0] + t[1][0] * 3 + t[1][1] * 7


def of_objects(words):
    # The words live as long as the tuple that has them.
    t = (words[0], 0)
    n = 0
    for word in words:
        n += 1
        if len(word) > len(t[0]):
            t = (word, n)
    found, n = t
    t = None
    return found, n


def drops(n):
    t = (Marked("a0"), Marked("b0"))
    for i in range(1, n):
        t = (Marked(f"a{i}"), t[0])
        log.append("turn")
    t = None
    log.append("after")


def finalised(n):
    d = Dies(0)
    for i in range(n):
        d = d + 1
    return d.x


def raises(vs, bad):
    p = Vec(0, 0)
    n = 0
    for v in vs:
        n += 1
        if n == bad:
            v = None
        p = p + v
    return p.x


def looked_at(vs, look):
    p = Vec(0, 0)
    for v in vs:
        p = p + v
        look()
    return p.x


def look_at_frame():
    frame = sys._getframe(1)
    p = frame.f_locals["p"]
    seen.append((repr(p), frame.f_locals["p"] is p))


def change_through_frame():
    sys._getframe(1).f_locals["p"].x = 100


def keep_weakly():
    refs.append(weakref.ref(sys._getframe(1).f_locals["p"]))


seen, refs = [], []


def leaves_with_both(vs, limit):
    # Where the sum does not fit any more, both names are of one object.
    p = Vec(0, 0)
    for v in vs:
        q = None
        p = p + v
        q = p
        limit = limit + limit
        if q is not p:
            return "two objects"
    q.x = -1
    return p.x, p.y, limit.bit_length()


def passes_on_at_last(vs, keep):
    p = Vec(0, 0)
    n = 0
    for v in vs:
        p = p + v
        n += 1
        if n == 70:
            keep.append(p)
    return p.x


def ends_beside_another(n):
    for i in range(n):
        p = Vec(Looks(), 0)
        q = Vec(i, i + 1)
        p = None
        t = (Looks(), i)
        q = Vec(q.y, t[1])
        t = None
    return q.x + q.y


def made_each_turn(xs):
    total = 0.0
    for x in xs:
        p = Vec(x, 0.5)
        q = p + p
        total += q.x * p.y
    return total, p.x, q.y


def made_in_some(xs):
    total = 0
    for x in xs:
        if x % 3 == 0:
            p = Vec(x, 1)
        total += x
    return total + p.x


def deleted_in_some(xs):
    total = 0
    for x in xs:
        p = (x, total)
        total += p[0]
        if x % 3 == 0:
            del p
    return total, p[1]


def bound_or_not(xs, look):
    for x in xs:
        look()
        p = Vec(x, 1)
        t = (x, 2)
        look()
    return t[0] + p.x


def bound_there():
    names = sys._getframe(1).f_locals
    seen.append([(k, repr(names[k])) for k in ("p", "t") if k in names])


def constant_at_first(xs):
    best = (0, 0)
    n = 0
    for x in xs:
        n += 1
        if x > best[0]:
            best = (x, n)
    return best[0] + best[1] * 10


def constant_shown(xs, look):
    t = (1, 2.5)
    for x in xs:
        look()
        # Leaves where it is no int that fits.
        t = (t[0] + x, t[1])
    return t[0]


def frame_kept(xs, keep):
    t = (0, 1)
    for x in xs:
        keep(x)
        p = Vec(x * 0.5, 0.25)
        t = (t[1], x * 2)
    return p.x + t[0]


def is_it_the_constant():
    frame = sys._getframe(1)
    t = frame.f_locals["t"]
    seen.append((t, any(t is c for c in frame.f_code.co_consts), frame.f_locals["t"] is t))


def constant_left(xs, look):
    t = (1, 2)
    s = 0
    for x in xs:
        s = s + x
        if s > 1000000:
            # Never met before: the interpreter finds the constant in the first turn, and what took its place later.
            look()
            s = 0
        t = (t[0] + 1, x)
    return t[0]


def constant_kept(n, step):
    t = (5, "seven", 7000)
    s = 1
    for i in range(n):
        # Leaves where the sum does not fit; in the first turn, or later.
        s = s + step
        if i % 50 == 49:
            t = (t[2], "other", t[0])
    s = t[0]
    return t


def caught_in_turns(xs):
    t = (0, 0)
    for x in xs:
        try:
            t = (t[1], 100 // x)
        except ZeroDivisionError:
            t = (t[0], -1)
    return t[0] * 1000 + t[1]


def main():
    vs = [Vec(float(i), 0.5) for i in range(60)]
    ints = [Vec(i, 2) for i in range(60)]
    for _ in range(3):
        print(summed(vs), summed_in_two(vs), the_last_two(vs), both_names(ints))
        print(slots_summed([Slotted(i, 2.0) for i in range(50)]))
        print(assigned_in(50), new_or_old([i * 37 % 61 for i in range(60)]))
        print(of_either_side([i % 7 / 2 for i in range(80)]), nested_loops(50))
        print(tuples(60, 0, 1), tuples_taken_apart(60, 0, 1), in_each_other(50, 1))
        print(of_objects(["a", "bcd", "xyz" * 3, "ü" * 4] * 20))
    # The ints become too large, and the classes others.
    print(tuples_taken_apart(200, 0, 1), tuples_taken_apart(70, 0, 0.5))
    print(in_each_other(60, 1 << 62), tuples(50, 0.5, 7))
    print(summed(vs[:30] + [Sub(1.0, 2.0)] + vs), summed(ints), summed([Vec(1 << 62, 1)] * 9))
    print(both_names([Vec(1 << 61, i) for i in range(50)]), new_or_old([1.5, 2.5] * 30))

    for _ in range(2):
        drops(40)
        print(log[:8], log[-6:], len(log))
        log.clear()
        print(finalised(50), log[:4], len(log))
        log.clear()

    for bad in 0, 51, 60:
        try:
            print(raises(ints, bad))
        except AttributeError as e:
            frame = e.__traceback__.tb_next.tb_frame
            print(e, frame.f_locals["p"], frame.f_locals["n"])
            del frame

    def nothing():
        pass

    for _ in range(3):
        print(looked_at(ints, nothing))
    for look in look_at_frame, change_through_frame, keep_weakly, gc.collect:
        print(looked_at(ints[:5], look), looked_at(ints, nothing))
    print(seen, [ref() for ref in refs])
    print(leaves_with_both(ints, 1), leaves_with_both(ints * 2, 3))
    keep = []
    for _ in range(40):
        passes_on_at_last(ints[:20], keep)
    print(passes_on_at_last(ints + ints, keep), keep)

    for _ in range(3):
        print(made_each_turn([i / 2 for i in range(60)]), made_in_some(range(1, 60)))
        print(deleted_in_some(range(1, 60)), constant_at_first([3, 1, 4, 1, 5] * 9))
        print(caught_in_turns([i % 7 for i in range(60)]), caught_in_turns([i % 7 for i in range(65)]))
    print(made_each_turn(range(9)), made_each_turn([1 << 62, 1, 0.5]), constant_at_first([1 << 62, 1 << 63]))
    for f in made_each_turn, made_in_some, deleted_in_some:
        for xs in [], [1], [1, 2, 4, 1 << 63], [1, 3]:
            try:
                print(f(xs))
            except UnboundLocalError as e:
                print(e)
    seen.clear()
    for _ in range(3):
        print(bound_or_not(range(50), nothing), constant_shown(range(50), nothing))
    print(bound_or_not(range(3), bound_there), seen)
    seen.clear()
    print(constant_shown([1, 1 << 62, 3, 1 << 62], is_it_the_constant), seen)
    seen.clear()
    for _ in range(50):
        constant_left(range(20), nothing)
    print(constant_left([1 << 70, 1, 1 << 40, 2, 3], is_it_the_constant), seen)
    frames = []

    def keep_frame(x):
        if x == 45:
            frames.append(sys._getframe(1))

    for xs in [range(40)] * 4 + [range(50)] * 3 + [[45]]:
        frame_kept(xs, keep_frame)
    # What they hold after the return is what they held at last.
    print([(frame.f_locals["p"], frame.f_locals["t"], frame.f_locals["x"]) for frame in frames])
    seen.clear()
    print(ends_beside_another(40), seen[::9], ends_beside_another(2), seen[-4:], len(seen))
    kept = [constant_kept(n, step) for n, step in [(60, 1)] * 5 + [(40, 1), (40, 1 << 61), (99, 1 << 57), (0, 1)]]
    constants = constant_kept.__code__.co_consts
    print(kept, [any(t is c for c in constants) for t in kept])
    print([sys.getrefcount(t) < 20 for t in constants if isinstance(t, tuple)])

    # What the class becomes holds for the next instance.
    add = Vec.__add__
    Vec.__add__ = lambda self, other: Sub(self.x, other.y)
    print(summed(vs))
    Vec.__add__ = add
    Vec.__del__ = lambda self: log.append("gone")
    print(summed(vs), len(log))
    del Vec.__del__
    print(summed(vs), len(log))


main()
