"""Values of a class whose own classes get `__get__` or `__set__` while the attribute is in use: the class that has the values does not change."""

PROGRAM = """
def read(o):
    return o.x

def read_class(o):
    return type(o).x

def read_named():
    return D.x

def write(o, value):
    o.x = value

class Value:
    {value}

class D:
    x = Value()

o, shadowed, written = D(), D(), D()
shadowed.__dict__["x"] = "instance"

def show(seen):
    return seen if isinstance(seen, str) else type(seen).__name__

def look():
    for i in range(60):
        found = [show(read(o)), show(read(shadowed)), show(read_class(o)), show(read_named())]
        write(written, i)
    return found, written.__dict__.get("x")

print(look())
written.__dict__.clear()
{change}
print(look())
"""
VALUES = "pass", "def __get__(self, obj, owner): return 'got'"
CHANGES = (
    "Value.__get__ = lambda self, obj, owner: 'got later'",
    "Value.__set__ = lambda self, obj, value: None",
    "Value.__get__ = lambda self, obj, owner: 'got later'; Value.__set__ = lambda self, obj, value: None",
)

for value in VALUES:
    for change in CHANGES:
        exec(PROGRAM.format(value=value, change=change), {})


def becomes(n):
    class Late:
        def __get__(self, obj, owner):
            return "descriptor"

    class D:
        x = Late()

    o = D()
    o.__dict__["x"] = "instance"
    for i in range(n):
        if i == n - 3:
            Late.__set__ = lambda self, obj, value: None
        found = o.x
    return found


print([becomes(60) for _ in range(6)])
