"""`from a import b` where there is no b raises what the interpreter raises."""


def f():
    try:
        from math import no_such_name
    except ImportError as e:
        return str(e).partition(" (")[0], e.name, e.name_from
    return no_such_name


for _ in range(50):
    result = f()
print(result)
