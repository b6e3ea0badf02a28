"""Exits of a large function whose raw locals its frame shows already: each place leaves with what they are there.

What is dropped, called and read many times makes the function show its numbers once; then one operand after the other is of another
class, so that the function leaves at each of its statements, some of them in loops, or behind a local that was not bound.
"""


class Item:
    def __init__(self, x):
        self.x = x

    def get(self, more):
        return self.x + more


class Loud(Item):
    def __del__(self):
        SEEN.append(self.x)


SEEN = []

STATEMENTS = """
    a = (a + p{n}.get(b)) & 4095
    x = x * 0.5 + y
    flag = a > b
    old = item
    item = l[{n} & 3]
    l[{n} & 3] = p{n}
    y = y - x * 0.25 + p{n}.x
    if flag:
        late = a - b
    for i in range(2 + {n} % 2):
        c = c ^ (a + i)
        for j in range(i, 3):
            b = (b + i * j + p{n}.x) & 255
    item = old
    del old
    a, b = b, a
"""


def function(count):
    text = "def f(l, ps, a, b, c, x, y, item):\n    flag = False\n"
    text += "".join(f"    p{n} = ps[{n}]\n" for n in range(count))
    text += "".join(STATEMENTS.format(n=n) for n in range(count))
    text += "    try:\n        late\n    except NameError:\n        late = 'unbound'\n"
    text += "    return a, b, c, x, y, flag, late, i, j, type(item).__name__, item.x, [one.x for one in l]\n"
    names = {}
    exec(text, names)
    return names["f"]


def call(f, ps, a, b, c):
    l = [Item(n) for n in range(4)]
    try:
        return f(l, ps, a, b, c, 1.5, 2.5, Item(0))
    except (TypeError, OverflowError, AttributeError) as e:
        line = e.__traceback__.tb_next.tb_lineno
        frame = e.__traceback__.tb_next.tb_frame.f_locals
        kept = {name: frame[name] for name in sorted(frame) if isinstance(frame[name], (int, float, str))}
        return type(e).__name__, str(e), line, kept


COUNT = 8
#: What an operand may be in place of an int.
OTHERS = [2.25, 1 << 70, True, "text", Loud, None]

for round in range(3):
    f = function(COUNT)
    for turn in range(40):
        call(f, [Item(n + turn) for n in range(COUNT)], turn, 7, 1)
    for other in OTHERS:
        for place in range(COUNT):
            ps = [Item(n) for n in range(COUNT)]
            ps[place] = Loud(place) if other is Loud else Item(other)
            print(round, other if other is not Loud else "loud", place, call(f, ps, place, 300 * round, 5))
            del ps
    print(call(f, [Item(n) for n in range(COUNT)], 1 << 62, 1 << 62, 1 << 62), call(f, [Item(n) for n in range(COUNT)], 0.5, 1, 2))
print(sorted(SEEN) == sorted(list(range(COUNT)) * 3), len(SEEN))
