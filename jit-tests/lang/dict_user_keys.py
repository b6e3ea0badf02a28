"""Keys with own __hash__ and __eq__: collisions, equality that raises, changes the dict, or is asked in order; identity before equality."""

from support import each, hot

log = []


class Key:
    def __init__(self, name, hash_=1, equal=None):
        self.name, self.hash_, self.equal = name, hash_, equal

    def __hash__(self):
        log.append(f"hash {self.name}")
        if isinstance(self.hash_, Exception):
            raise self.hash_
        return self.hash_

    def __eq__(self, other):
        log.append(f"{self.name} == {getattr(other, 'name', other)}")
        if callable(self.equal):
            return self.equal()
        return self.name == getattr(other, "name", other)

    def __repr__(self):
        return self.name


class NoHash:
    def __eq__(self, other):
        return True


def stored(names):
    log.clear()
    d = {}
    for n in names:
        d[Key(n)] = n
    return d, len(d), log[-6:]


def looked(d, k):
    log.clear()
    return d.get(k), k in d, list(log)


def fails():
    raise ZeroDivisionError("eq")


def clearing():
    d = {}
    keys = [Key(str(i)) for i in range(3)]
    for k in keys:
        d[k] = k.name
    evil = Key("evil", equal=lambda: d.clear())
    log.clear()
    return d.get(evil, "gone"), len(d)


def same_object():
    nan = float("nan")
    odd = Key("odd", equal=lambda: False)
    return {nan: 1}[nan], float("nan") in {nan: 1}, {odd: 1}[odd], nan in [nan], [nan] == [nan], odd in (odd,), {odd, odd} == {odd}


def wrong(k):
    return {k: 1}


each(stored, ("abc",), ("aab",), ("",))
table = {Key(n): n for n in "abcd"}
first = next(iter(table))
each(looked, (table, first), (table, Key("c")), (table, Key("z")), (table, Key("c", 2)), (table, Key("q", 1, fails)), (table, Key("r", TypeError("no hash"))), (table, "a"))
hot(clearing)
hot(same_object)
each(wrong, (NoHash(),), (Key("x", 2**70),), (Key("x", -1),), (Key("x", "text"),), (Key("x", None),))
hot(lambda: hash(Key("m", -1)) == -2)
