"""What the compiler has asked about ends while a worker compiles: namespaces go one after another, each with its classes and functions,
and what a unit was about is changed in the call that it is made for. A question about a function that had ended was answered from freed
memory, and a unit relied on objects that nobody kept."""
# repeat: 3

WORLD = '''
class Base:
    def __init__(self):
        self.x = 1
    def m(self, d=1):
        return ("m", d)

class Slots:
    __slots__ = ("x", "y")
    def __init__(self):
        self.x, self.y = 3, 4
    def m(self, d=3):
        return ("slots m", d)

def get_any(self, name):
    return "any" if name in ("x", "m", "k", "p", "up") else object.__getattribute__(self, name)

o = Base()
s = Slots()

def single_x(o, do):
    a = o.x
    do()
    return a, o.x

def single_m(o, do):
    a = o.m(1)
    do()
    return a, o.m(2)
'''


def nothing():
    pass


def one(f, o, do):
    try:
        return f(o, do)
    except Exception as error:
        return f"{type(error).__name__}: {error}"


for number in range(300):
    space = {"__name__": "world"}
    exec(compile(WORLD, "<world>", "exec"), space)

    def do():
        space["Base"].__getattribute__ = space["get_any"]

    results = []
    for name in ("single_x", "single_m"):
        f = space[name]
        for _ in range(30):
            for o in space["o"], space["s"]:
                one(f, o, nothing)
        results += [one(f, space["o"], do), one(f, space["o"], nothing), one(f, space["s"], nothing)]
    if number % 100 == 0:
        print(number, *results)
