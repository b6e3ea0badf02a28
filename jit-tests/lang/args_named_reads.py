"""Reads of a dict of named arguments in a function that is called with known names: items, `get`,
`in`, `len`, truth; keys that are missing; dicts that are changed or passed on."""


def area(**size):
    return size["w"] * size.get("h", 1) + len(size)


def tested(a, **rest):
    if rest:
        a += 1
    if "x" in rest:
        a += rest["x"]
    if "y" not in rest:
        a += 100
    return a, not rest


def missing(**names):
    return names["absent"]


def got(**names):
    return names.get("absent"), names.get("there"), names.get("absent", names)


def changed(**names):
    names["w"] = 7
    return names["w"], len(names)


def removed(**names):
    del names["w"]
    return "w" in names, names.get("w", "gone"), len(names)


def shown(**names):
    return names, len(names)


def computed(key, **names):
    return names.get(key), key in names


class Word(str):
    def __hash__(self):
        return hash("w")

    def __eq__(self, other):
        return True


def odd(**names):
    return names.get(Word("z")), Word("z") in names


class Key:
    def __init__(self, **options):
        self.width = options.get("width", 3)
        self.name = options["name"] if "name" in options else "none"


def work(n):
    total, seen = 0, []
    for i in range(n):
        total += area(w=i) + area(w=i, h=2) + area(h=i, w=3)
        total += tested(i)[0] + tested(i, x=i)[0] + tested(i, y=i, x=2)[0]
        total += Key(width=i).width + Key(name="n").width + len(Key(name="abc").name)
    for i in range(3):
        seen.append((tested(i, x=i), tested(i), got(there=i), changed(w=i), changed(v=i), removed(w=i, v=2)))
        seen.append((shown(), shown(a=i, b=2), computed("w", w=i), computed("z", w=i), odd(w=i)))
        try:
            missing(w=i)
        except KeyError as error:
            seen.append(repr(error))
    return total, seen


for _ in range(4):
    print(work(60))
