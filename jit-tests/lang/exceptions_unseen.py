# Exceptions that a handler of the same function catches and drops: they are not made where nothing
# can see them, and are where something does.

import sys
import traceback


class Error(Exception):
    pass


class Other(Error):
    pass


def missing_key(table, keys):
    found = missed = 0
    for key in keys:
        try:
            found += table[key]
        except KeyError:
            missed += 1
    return found, missed


def missing_index(items, indices):
    total = 0
    for index in indices:
        try:
            total += items[index]
        except IndexError:
            total -= 1
    return total


def either(container, keys):
    total = 0
    for key in keys:
        try:
            total += container[key]
        except LookupError:
            total -= 1
    return total


def wrong_clause(table, keys):
    log = []
    for key in keys:
        try:
            try:
                log.append(table[key])
            except IndexError:
                log.append("index")
        except KeyError as error:
            log.append((type(error).__name__, error.args, error.__traceback__.tb_lineno - wrong_clause.__code__.co_firstlineno))
    return log


def two_clauses(table, keys):
    log = []
    for key in keys:
        try:
            log.append(table[key])
        except IndexError:
            log.append("index")
        except KeyError:
            log.append("key")
    return log


def default(table, key):
    try:
        return table[key]
    except KeyError:
        return None


def first(tables, key):
    for table in tables:
        try:
            value = table[key]
        except KeyError:
            continue
        break
    else:
        value = "nowhere"
    return value


def names_it(table, keys):
    n = 0
    for key in keys:
        try:
            table[key]
        except KeyError as error:
            n += 1
    return n, "error" in locals()


def looks(table, keys):
    log = []
    for key in keys:
        try:
            table[key]
        except KeyError:
            log.append(repr(sys.exc_info()[1]))
    return log, sys.exc_info()


def raises(n):
    t = 0
    for i in range(n):
        try:
            if i % 3 == 0:
                raise Error
            if i % 3 == 1:
                raise Other("text", i)
            t += 1
        except Other:
            t += 100
        except Error:
            t += 10000
    return t


def raises_local(n):
    t = 0
    for i in range(n):
        try:
            raise ValueError(i)
        except ValueError as error:
            t += 1
        t += 1
    return t


def grows(n, by):
    # The sum outgrows a machine word in the handler: an exit with the exception handled.
    t = 1
    for i in range(n):
        try:
            if i & 1:
                raise Error(i)
            t += 1
        except Error:
            t += by
    return t


def changes(values):
    # The operand's class changes in the handler.
    t = 0
    for value in values:
        try:
            raise Error
        except Error:
            t += value
    return t


def nested(n):
    t = 0
    for i in range(n):
        try:
            raise Error(i)
        except Error:
            try:
                {}[i]
            except KeyError as error:
                t += isinstance(error.__context__, Error)
    return t


def chained(n):
    log = []
    for i in range(n):
        try:
            try:
                {}[i]
            except KeyError:
                raise Other(i)
        except Error as error:
            log.append((error.args, repr(error.__context__)))
    return log


def finally_too(table, keys):
    log = []
    for key in keys:
        try:
            try:
                table[key]
            finally:
                log.append(key)
        except KeyError:
            log.append("missing")
    return log


def shows_traceback(n):
    log = []
    for i in range(n):
        try:
            {}[i]
        except KeyError:
            log.append(traceback.format_exc().splitlines()[-1])
    return log


class Key:
    def __init__(self, value, log):
        self.value, self.log = value, log

    def __hash__(self):
        return hash(self.value)

    def __eq__(self, other):
        self.log.append("eq")
        return False


class Raising(Key):
    __hash__ = Key.__hash__

    def __eq__(self, other):
        raise KeyError("from eq")


class Defaults(dict):
    def __missing__(self, key):
        return 7


class Strict(dict):
    def __getitem__(self, key):
        raise KeyError("strict")


class Deleted(Exception):
    log = []

    def __del__(self):
        Deleted.log.append(repr(sys.exc_info()[1]))


def deleted(n):
    for i in range(n):
        try:
            raise Deleted(i)
        except Deleted:
            i += 1
    return len(Deleted.log), Deleted.log[:2]


class Made(Exception):
    made = 0

    def __init__(self, *args):
        Made.made += 1


def made(n):
    for i in range(n):
        try:
            raise Made(i)
        except Made:
            i += 1
    return Made.made


class Argument:
    log = []

    def __del__(self):
        Argument.log.append(repr(sys.exc_info()[1]))


def arguments(n):
    for i in range(n):
        try:
            raise Error(Argument())
        except Error:
            i += 1
    return len(Argument.log), Argument.log[0]


def loops(n):
    i = t = 0
    while True:
        try:
            i += 1
            if i > n:
                raise StopIteration
            t += i
        except StopIteration:
            break
    return t, i


def generated(table, keys):
    for key in keys:
        try:
            yield table[key]
        except KeyError:
            yield -1


for turn in range(60):
    log = []
    table = {i: i * 2 for i in range(0, 40, 2)}
    texts = {"a": 1, "b": 2}
    results = [
        missing_key(table, range(40)),
        missing_key(texts, ["a", "c", "b", "d", "a"]),
        missing_key(Defaults(table), range(40)),
        missing_key(Strict(table), range(10)),
        missing_key({Key(3, log): 1, 4: 2}, [3, 4, 5]),
        missing_key({Raising(3, log): 1, 4: 2}, [3, 4, 5]),
        missing_key(table, [2, 2.0, True, None, "x", (1, 2)]),
        missing_index([1, 2, 3], range(-5, 6)),
        missing_index((1, 2, 3), range(-5, 6)),
        missing_index([1, 2, 3], [0, 10**30, True, 1]),
        missing_index(range(3), range(-5, 6)),
        either(table, range(10)), either([5, 6], range(4)),
        wrong_clause(texts, ["a", "z"]), two_clauses(texts, ["a", "z", "b"]),
        [default(texts, key) for key in "abc"], first([{}, {1: 2}, {3: 4}], 3), first([{}, {}], 3),
        names_it(texts, "abcd"), looks(texts, "abc"),
        raises(30), raises_local(20), grows(9, 1), nested(5), chained(3), finally_too(texts, "axb"), shows_traceback(2),
        deleted(3), made(3), arguments(3), loops(10), list(generated(texts, "axby")),
        changes([1] * 10),
    ]
    if turn in (0, 30, 59):
        print(turn, len(log), *results, sep="\n  ")

print(grows(9, 2**61), grows(40, 2**62), changes([1, 2, 2.5, 1 << 70, True]))
for bad in ([], {}, "text"):
    try:
        missing_key(texts, ["a", bad, "zz"] if bad != "text" else [bad])
    except TypeError as error:
        print(error)
try:
    missing_key(texts, [[]])
except TypeError as error:
    print(error, error.__context__)

# What was known of a class changes.
Error.__init__ = lambda self, *args: log.append(args)
log.clear()
print(raises(9), raises_local(3), len(log))
del Error.__init__
Error.__bases__ = (ValueError,)
print(raises(9), isinstance(Error(), ValueError))


class Meta(type):
    def __call__(cls, *args):
        log.append("call")
        return super().__call__(*args)


class Called(Exception, metaclass=Meta):
    pass


def called(n):
    t = 0
    for i in range(n):
        try:
            raise Called(i)
        except Called:
            t += 1
    return t


log.clear()
print([called(20) for _ in range(40)][-1], len(log))


def traced(n):
    t = 0
    for i in range(n):
        try:
            {}[i]
        except KeyError:
            t += 1
    return t


for _ in range(50):
    traced(20)
events = []
sys.settrace(lambda frame, event, arg: (lambda f, e, a: events.append((e, f.f_lineno - traced.__code__.co_firstlineno)) if e == "exception" else None))
traced(2)
sys.settrace(None)
print(events)
