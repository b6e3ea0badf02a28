"""A class that is assigned to an object after compiled code has made it, bound to it, or been given it back: what is asked of it then is asked
of the new class. (Classes with `__slots__`, of whose instances nothing else tells that they have changed.)"""


class First:
    __slots__ = ("x",)

    def __init__(self):
        self.x = 1

    def name(self):
        return "first"

    def me(self):
        return self


class Second:
    __slots__ = ("x",)

    def name(self):
        return "second"

    def me(self):
        return self


class Turn:
    def __init__(self):
        self.on = False

    def __call__(self, thing):
        if self.on:
            thing.__class__ = Second


def made(turn):
    thing = First()
    turn(thing)
    return thing.name()


def made_before_a_loop(turn, n):
    thing = First()
    names = []
    for _ in range(n):
        names.append(thing.name())
        turn(thing)
    return names


def bound_before(turn, n):
    thing = First()
    name = thing.name
    names = []
    for _ in range(n):
        names.append(name())
        turn(thing)
    name = thing.name
    names.append(name())
    return names


def handed_back(turn):
    thing = First().me()
    turn(thing)
    return thing.name()


def given_and_handed_back(turn, thing):
    same = thing.me()
    turn(same)
    return same.name(), thing.name()


def handed_back_in_a_loop(turn, n):
    thing = First()
    names = []
    for _ in range(n):
        thing = thing.me()
        names.append(thing.name())
        turn(thing)
    return names


def one_of_two(turn, thing, n):
    names = []
    for i in range(n):
        names.append(thing.name())
        same = thing if i % 2 else thing.me()
        turn(same)
        names.append(same.name())
    return names


def all_of_them(turn):
    return (
        made(turn),
        made_before_a_loop(turn, 3),
        bound_before(turn, 3),
        handed_back(turn),
        given_and_handed_back(turn, First()),
        handed_back_in_a_loop(turn, 3),
        one_of_two(turn, First(), 3),
    )


turn = Turn()
for _ in range(300):
    all_of_them(turn)
print(all_of_them(turn))
turn.on = True
print(all_of_them(turn))
turn.on = False
print(all_of_them(turn))
