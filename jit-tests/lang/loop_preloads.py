"""Loops that read the same memory in each turn: what signal handlers and other threads change in the midst of them is seen."""
import array
import signal
import sys
import threading


class Box:
    def __init__(self, value):
        self.value = value


class Doubled:
    """Takes the place of a `Box` while a loop reads its attribute."""

    @property
    def value(self):
        return 2 * self.__dict__["value"]


CHANGES = []


def handler(number, frame):
    # Not while something else runs, or is compiled.
    if CHANGES and frame.f_code.co_name in LOOPS:
        CHANGES.pop(0)()
    if CHANGES:
        signal.setitimer(signal.ITIMER_REAL, 0.005)


signal.signal(signal.SIGALRM, handler)


def by_signal(run, *changes):
    """What a loop gives while the changes are made, each in the midst of it."""
    CHANGES[:] = changes
    signal.setitimer(signal.ITIMER_REAL, 0.005)
    try:
        print(run())
    except (IndexError, AttributeError, ZeroDivisionError) as error:
        trace = error.__traceback__
        while trace.tb_next is not None:
            trace = trace.tb_next
        code = trace.tb_frame.f_code
        print(code.co_name, trace.tb_lineno - code.co_firstlineno, error)


FOREVER = 10**15
LOOPS = {
    "until_longer", "until_out_of_range", "until_found", "until_stored", "row_by_column", "until_attribute", "until_other_class",
    "until_no_attribute", "until_out_of_range_of", "loop", "until_raw", "caught", "raised", "raised_in_for",
}


# The length of a list.

def until_longer(items):
    turns = 0
    while len(items) < 5:
        turns += 1
    return len(items)


def until_out_of_range(items, at):
    total = 0.0
    for _ in range(FOREVER):
        total += items[at]
    return total


def until_found(items, wanted):
    # Where the items lie changes with the length.
    at = 0
    while items[at] != wanted:
        at += 1
        if at == 3:
            at = 0
    return at, items[at]


def until_stored(items):
    # The stores change no length and move nothing.
    at = 0
    for _ in range(FOREVER):
        items[at] = at
        at += 1
        if at == 4:
            at = 0
    return at


def lists():
    some = [1, 2]
    more = lambda: some.append(0)
    by_signal(lambda: until_longer(some), more, more, more)
    floats = [0.5, 1.5, 2.5]
    by_signal(lambda: until_out_of_range(floats, 1), lambda: None, floats.clear)
    ints = [1, 2, 3]
    def moved():
        ints[:] = range(100, 5000)
    def back():
        ints[:] = [4, 5, 99]
    by_signal(lambda: until_found(ints, 99), moved, lambda: None, back)
    stored = [0, 0, 0, 0]
    def shorter():
        del stored[2:]
    by_signal(lambda: until_stored(stored), lambda: stored.extend(range(1000)), shorter)
    print(stored)


# Two lists, one of lists.

def row_by_column(row, table, column, n):
    total = 0.0
    for _ in range(FOREVER):
        for k in range(n):
            total += row[k] * table[k][column]
    return total


def tables():
    row = [1.0, 2.0, 3.0, 4.0]
    table = [[float(i + j) for j in range(3)] for i in range(4)]
    def grown():
        table.extend([[0.0] * 3 for _ in range(300)])
        row[:] = [2.0] * 500
    def shorter():
        del table[2:]
    by_signal(lambda: row_by_column(row, table, 1, 4), grown, shorter)


# Attributes: their values, their classes, and the class of the object.

def until_attribute(box):
    turns = 0
    while box.value < 10:
        turns += 1
    return box.value


def until_other_class(box):
    total = 0
    for _ in range(FOREVER):
        total += box.value
        if box.value == 14:
            break
    return box.value


def until_no_attribute(box):
    total = 0
    for _ in range(FOREVER):
        total += box.value
    return total


def attributes():
    box = Box(1)
    by_signal(lambda: until_attribute(box), lambda: setattr(box, "value", 5), lambda: setattr(box, "value", 12))
    box.value = 1
    by_signal(lambda: until_attribute(box), lambda: setattr(box, "value", 2.5), lambda: setattr(box, "value", 10.5))
    box.value = 7
    by_signal(lambda: until_other_class(box), lambda: None, lambda: setattr(box, "__class__", Doubled))
    gone = Box(1)
    by_signal(lambda: until_no_attribute(gone), lambda: None, lambda: delattr(gone, "value"))
    held = Box([1.0])
    by_signal(lambda: until_out_of_range_of(held), lambda: setattr(held, "value", [2.0]), lambda: held.value.clear())


def until_out_of_range_of(box):
    total = 0.0
    for _ in range(FOREVER):
        total += box.value[0]
    return total


# The contents of a cell.

def cells():
    going, step = True, 1

    def loop():
        total = 0
        while going:
            total += step
        return step

    def faster():
        nonlocal step
        step = 2.5

    def stop():
        nonlocal going
        going = False

    by_signal(loop, faster, stop)
    going = True

    def unbind():
        nonlocal step
        del step

    def caught():
        try:
            return loop()
        except NameError as error:
            return str(error)

    step = 3
    by_signal(caught, lambda: None, unbind)


# Raw items.

def until_raw(items, wanted):
    at = 0
    while items[at] != wanted:
        at += 1
        if at >= len(items):
            at = 0
    return at, len(items)


def raw():
    data = bytearray(b"abc")
    by_signal(lambda: until_raw(data, ord("z")), lambda: data.extend(b"d" * 1000), lambda: data.extend(b"z"))
    data = bytearray(b"abc")
    by_signal(lambda: until_raw(data, ord("z")), lambda: None, data.clear)
    doubles = array.array("d", [1.0, 2.0])
    by_signal(lambda: until_raw(doubles, 9.0), lambda: doubles.extend([3.0] * 500), lambda: doubles.append(9.0))


# A handler of the loop's own catches what comes of it.

def caught(items):
    met = 0
    while True:
        try:
            while True:
                items[0]
        except IndexError:
            met += 1
            items.append(met)
            if met == 2:
                return met, items


def raised(items):
    turns = 0
    try:
        while len(items) < 3:
            turns += 1
    except ZeroDivisionError as error:
        return str(error), len(items)
    return len(items)


def raised_in_for(items):
    turns = 0
    try:
        for _ in range(FOREVER):
            turns += items[0]
            if turns < 0:
                turns = 0
    except ZeroDivisionError as error:
        return str(error), len(items)
    except IndexError as error:
        return str(error), len(items)


def handlers():
    items = [1]
    by_signal(lambda: caught(items), items.clear, items.clear)
    some = [1, 2]
    by_signal(lambda: raised(some), lambda: None, lambda: 1 // 0)
    by_signal(lambda: raised(some), lambda: None, lambda: some.append(3))
    by_signal(lambda: raised_in_for(some), lambda: None, lambda: 1 // 0)
    by_signal(lambda: raised_in_for(some), lambda: None, some.clear)


# Other threads.

def by_thread(run, change):
    started = threading.Event()

    def other():
        started.wait()
        change()

    thread = threading.Thread(target=other)
    thread.start()
    started.set()
    print(run())
    thread.join()


def threads():
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        some = [1]
        by_thread(lambda: until_longer(some), lambda: some.extend(range(100)))
        ints = [1, 2, 3]
        by_thread(lambda: until_found(ints, 99)[1], lambda: ints.__setitem__(slice(None), [99] * 1000))
        box = Box(1)
        by_thread(lambda: until_attribute(box), lambda: setattr(box, "value", 11))
    finally:
        sys.setswitchinterval(interval)


# What is left at the end of loops that no one disturbs.

def quiet(rows, columns, weight):
    found = []
    for row in rows:
        total = 0.0
        for k in range(len(row)):
            total += row[k] * columns[k][0] * weight.value
        found.append(total)
    return found


def never_entered(items, box, n):
    # Nothing is read where there is no turn.
    total = 0
    for _ in range(n):
        total += items[5] + box.value
    return total


def some_turns():
    rows = [[float(i + k) for k in range(5)] for i in range(4)]
    columns = [[float(k)] for k in range(5)]
    for _ in range(40):
        found = quiet(rows, columns, Box(2.0))
    print(found)
    for n in (0, 0, 3):
        for _ in range(40):
            try:
                found = never_entered([1, 2, 3, 4, 5, 6] if n else [], Box(1) if n else None, n)
            except (IndexError, AttributeError) as error:
                found = error
        print(n, found)


lists()
tables()
attributes()
cells()
raw()
handlers()
threads()
some_turns()
