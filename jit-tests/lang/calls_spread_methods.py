"""Calls with stars of functions and of bound methods: what the callee is given, when it dies, and what wrong calls say."""
import traceback


class Loud:
    def __init__(self, name):
        self.name = name

    def __del__(self):
        print("del", self.name)


class Box:
    def __init__(self, name):
        self.name = name

    def plain(self, a, b=2, *rest, c=3, **named):
        return self.name, a, b, rest, c, named

    def two(self, a, b=5):
        return self.name, a, b

    def drops(self, a):
        name = a.name
        del a
        print("dropped", name)
        return name

    def leaves(self):
        print("alone")

    def yields(self, *args):
        yield from args

    async def waits(self, a):
        return a

    @classmethod
    def made(cls, *args, **named):
        return cls.__name__, args, named

    def __call__(self, *args):
        return args


class Slots:
    __slots__ = ("x",)

    def __init__(self, *args, **named):
        self.x = args, named

    def get(self, *args):
        return self.x, args


def spread(f, args, named):
    return f(*args, **named)


def star(f, args):
    return f(*args)


def method(box, args, named):
    return box.plain(*args, **named)


def two(box, args):
    return box.two(*args)


def free(a, b=5, *rest, **named):
    return a, b, rest, named


def drops(a):
    name = a.name
    del a
    print("dropped", name)
    return name


def attempt(f, *args):
    try:
        return f(*args)
    except BaseException as e:
        parts = traceback.extract_tb(e.__traceback__)[1:]
        return f"{type(e).__name__}: {e} {[(p.name, p.lineno, p.colno) for p in parts]}"


box = Box("box")
for i in range(60):
    last = (
        spread(box.plain, (i,), {}),
        spread(box.plain, (i, 1, 2, 3), {"c": 4, "d": 5}),
        method(box, (1, 2), {"x": i}),
        method(box, [1, 2, 3], {}),
        two(box, (i,)),
        two(box, range(2)),
        star(box.two, (1, 2)),
        star(free, (1, 2, 3)),
        spread(free, (1,), {"z": i}),
        star(box, (1, i)),
        spread(Box.made, (i,), {"k": 1}),
        spread(Slots, (i,), {"k": 1}).get(2),
        star(len, ([1, 2],)),
        spread(dict, ([(1, 2)],), {"a": i}),
        list(star(box.yields, (1, 2))),
        star("{} {}".format, (1, i)),
    )
print(last)

for f in (box.two, free, box.leaves, box.drops, Box.two, box.made):
    for args, named in (((), {}), ((1, 2, 3), {}), ((1,), {"b": 2}), ((1,), {"a": 2}), ((1,), {"nothing": 2}), ((1,), {3: 4}), (5, {}), ((1,), 5)):
        print(f.__name__, attempt(spread, f, args, named))


def deaths():
    for f in (drops, box.drops):
        for _ in range(35):
            star(f, (Loud("one"),))
            star(f, [Loud("two")])
            spread(f, (Loud("three"),), {})
            spread(f, (), {"a": Loud("four")})


deaths()


def of_method():
    for _ in range(35):
        star(Box(Loud("owner")).two, (1, 2))


of_method()


class Deep:
    def down(self, *args):
        return self.down(*args)

    def named(self, **named):
        return self.named(**named)


for name in ("down", "named"):
    try:
        getattr(Deep(), name)()
    except RecursionError as e:
        print(e)

pending = star(box.waits, (7,))
try:
    pending.send(None)
except StopIteration as e:
    print(e.value)
