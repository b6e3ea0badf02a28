"""Handlers in hot code: the handled exception, context chains, tracebacks, finally with jumps, groups, re-raising, locals."""

# not in mode default: a unit that is made while a function runs holds it, and its references are counted here.
# not in mode late: likewise.
# not in mode beside: likewise.

import sys

HOT = 300


def hot(function, *args):
    """Call often, and show each different outcome once."""
    seen = []
    for _ in range(HOT):
        try:
            result = function(*args)
        except Exception as error:
            result = chain(error)
        if result not in seen:
            seen.append(result)
    print(function.__name__, *seen)


def chain(error):
    out = []
    while error is not None:
        frames = []
        tb = error.__traceback__
        while tb is not None:
            code = tb.tb_frame.f_code
            if code is not hot.__code__:
                where = list(code.co_positions())[tb.tb_lasti // 2]
                line = tb.tb_lineno - code.co_firstlineno
                frames.append((code.co_name, line, where[2:]))
            tb = tb.tb_next
        out.append((type(error).__name__, str(error), frames, error.__suppress_context__))
        error = error.__cause__ or error.__context__
    return out


def name_of(error):
    return type(error).__name__ if error is not None else None


def current():
    return name_of(sys.exception())


def nested_state():
    out = [current()]
    try:
        raise KeyError(1)
    except KeyError:
        out.append(current())
        try:
            raise ValueError(2)
        except ValueError as inner:
            out.append((current(), name_of(inner.__context__)))
        out.append(current())
        try:
            int("x")
        except (TypeError, ValueError):
            out.append(current())
        out.append(name_of(sys.exc_info()[1]))
    out.append(current())
    return out


def loop_state(n):
    out = set()
    for i in range(n):
        try:
            if i % 3 == 0:
                raise KeyError(i)
            if i % 3 == 1:
                continue
        except KeyError as error:
            out.add((current(), error.args[0] == i))
            if i > n // 2:
                break
            continue
        finally:
            out.add(current())
        out.add(("end", current()))
    out.add(("after", current()))
    return sorted(map(str, out))


def in_callee():
    try:
        raise KeyError("outer")
    except KeyError:
        return callee(), current()


def callee():
    before = current()
    try:
        raise ValueError("inner")
    except ValueError as error:
        return before, current(), name_of(error.__context__)


def return_in_handler(n):
    for i in range(n):
        try:
            try:
                raise KeyError(i)
            except KeyError:
                return current(), i
        finally:
            if i == 0:
                continue
    return None


def return_in_finally():
    try:
        raise KeyError
    finally:
        return current()


def break_in_finally():
    out = []
    for i in range(5):
        try:
            out.append(1 // (i - 3))
        finally:
            if i == 3:
                break
    return out, current()


def continue_in_finally():
    out = []
    for i in range(4):
        try:
            out.append(1 // (i - 2))
        finally:
            continue
    return out, current()


def finally_raises():
    try:
        raise KeyError("first")
    finally:
        [].pop()


def bare():
    try:
        raise KeyError("again")
    except KeyError:
        raise


def bare_nested():
    try:
        [][0]
    except IndexError:
        try:
            {}["k"]
        except KeyError:
            pass
        raise


def again():
    raise


def bare_in_callee():
    try:
        int("q")
    except ValueError:
        again()


def bare_without():
    again()


def from_none():
    try:
        {}[0]
    except KeyError:
        raise ValueError("hidden") from None


def from_cause():
    try:
        {}[0]
    except KeyError as error:
        raise ValueError("caused") from error


def not_matching():
    try:
        try:
            {}[0]
        except (TypeError, (ValueError, OSError)):
            return "no"
    except LookupError as error:
        return chain(error)


def bad_match():
    try:
        {}[0]
    except 5:
        return "no"


def bad_match_caught():
    try:
        try:
            {}[0]
        except (KeyError, "x"):
            return "no"
    except TypeError as error:
        return chain(error)


def raising_match():
    try:
        {}[0]
    except undefined_error:
        return "no"


def raise_class():
    try:
        raise ZeroDivisionError
    except ArithmeticError as error:
        return error.args


def raise_odd():
    try:
        raise 5
    except TypeError as error:
        return chain(error)


def bad_cause():
    try:
        raise KeyError from 7
    except TypeError as error:
        return chain(error)


def unbound_after():
    try:
        raise KeyError
    except KeyError as error:
        pass
    return error


def deleted_in_handler():
    try:
        raise KeyError
    except KeyError as error:
        del error
    return "gone"


def rebound_in_handler():
    error = 1
    try:
        raise KeyError
    except KeyError as error:
        error = 2
    try:
        return error
    except UnboundLocalError as unbound:
        return str(unbound)


def else_raises():
    try:
        x = 1
    except KeyError:
        return "no"
    else:
        raise IndexError(x)
    finally:
        x = 2


def with_columns(d):
    try:
        return d["a"] + d["b"] * \
            d["c"]
    except KeyError as error:
        return chain(error)


def numbers(n):
    a, x, b = 0, 0.5, True
    for i in range(n):
        try:
            a += i
            x *= 1.0 if i % 4 else missing_name
            b = i % 2 == 0
        except NameError:
            a -= 1
            x += 0.25
    return a, x, b


def iterate(n):
    it = iter(range(n))
    total = 0
    while True:
        try:
            total += next(it)
        except StopIteration:
            break
    return total


def comprehension(items):
    x = "kept"
    try:
        return [1 // x for x in items], x
    except ZeroDivisionError as error:
        return x, chain(error)


def lookup_loop(d, keys):
    found = missing = 0
    for k in keys:
        try:
            found += d[k]
        except KeyError:
            missing += 1
    return found, missing


def deep(n):
    if n == 0:
        raise KeyError("deep")
    try:
        return deep(n - 1)
    finally:
        deep.count += 1


deep.count = 0


def deep_caught():
    deep.count = 0
    try:
        deep(4)
    except KeyError as error:
        return deep.count, chain(error)


def group(errors):
    out = []
    try:
        raise ExceptionGroup("g", errors)
    except* KeyError as some:
        out.append(("key", current(), [str(e) for e in some.exceptions]))
    except* (ValueError, TypeError) as some:
        out.append(("value", [str(e) for e in some.exceptions]))
    out.append(current())
    return out


def group_plain():
    try:
        raise KeyError("plain")
    except* KeyError as some:
        return_value = [type(e).__name__ for e in some.exceptions]
    return return_value


def group_rest():
    try:
        try:
            raise ExceptionGroup("g", [KeyError(1), OSError(2)])
        except* KeyError:
            pass
    except ExceptionGroup as rest:
        return [repr(e) for e in rest.exceptions], name_of(rest.__context__)


def group_raises():
    try:
        try:
            raise ExceptionGroup("g", [KeyError(1), OSError(2)])
        except* KeyError:
            raise ValueError("new")
        except* OSError:
            raise
    except ExceptionGroup as rest:
        return [type(e).__name__ for e in rest.exceptions]


def group_bad():
    try:
        raise ExceptionGroup("g", [KeyError(1)])
    except* ExceptionGroup:
        pass


def producer(n):
    for i in range(n):
        try:
            if i % 2:
                raise KeyError(i)
            yield i, current()
        except KeyError:
            yield i, current()


def through_generator(n):
    out = []
    for item in producer(n):
        try:
            out.append(item)
            raise ValueError
        except ValueError:
            out.append(current())
    return out, current()


def generator_in_handler(n):
    try:
        raise OSError
    except OSError:
        return list(producer(n)), current()


def kept_frames(n):
    """Locals of a frame that a kept traceback holds, after the function has returned."""
    total, half, even, text = n, n / 2, n % 2 == 0, str(n)
    for i in range(n):
        total += i
        half += 0.5
    try:
        raise KeyError(total)
    except KeyError as error:
        kept_frames.last = error
    total += 1
    even = not even
    return total


def kept():
    kept_frames(7)
    frame = kept_frames.last.__traceback__.tb_frame
    return sorted((k, v) for k, v in frame.f_locals.items()), frame.f_lineno - frame.f_code.co_firstlineno


def own_frame():
    n = 3
    for i in range(4):
        n += i
        try:
            raise KeyError
        except KeyError as error:
            frame = error.__traceback__.tb_frame
            same = frame is sys._getframe()
            line = frame.f_lineno - frame.f_code.co_firstlineno
            seen = frame.f_locals["n"], frame.f_locals["i"]
        del frame
    return same, line, seen, n


def changed_through_frame():
    n = 3
    for i in range(4):
        n += i
        try:
            raise KeyError
        except KeyError as error:
            error.__traceback__.tb_frame.f_locals["n"] = n * 10
        n += 1
    return n


def too_deep(n):
    try:
        return too_deep(n + 1)
    except RecursionError as error:
        return name_of(error), name_of(error.__context__), current()


def recursion():
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(200)
    try:
        return too_deep(0)
    finally:
        sys.setrecursionlimit(limit)


class Noisy:
    def __init__(self, name):
        self.name = name

    def __del__(self):
        deaths.append((self.name, current()))


def fail(*args):
    raise KeyError("fail")


deaths = []


def deaths_of_operands():
    deaths.clear()
    try:
        Noisy("left") + Noisy("right")
    except TypeError:
        deaths.append("add")
    try:
        fail(Noisy("argument"))
    except KeyError:
        deaths.append("call")
    try:
        [Noisy("first"), Noisy("second"), fail()]
    except KeyError:
        deaths.append("list")
    try:
        for _ in [Noisy("item")]:
            {Noisy("key"): fail()}
    except KeyError:
        deaths.append("dict")
    _ = None
    try:
        {}[Noisy("index")]
    except KeyError as error:
        deaths.append(type(error.args[0]).__name__)
    deaths.append("end")
    return list(deaths)


def references():
    marker = object()
    before = sys.getrefcount(marker), sys.getrefcount(fail), sys.getrefcount(KeyError)
    for _ in range(20):
        try:
            fail(marker)
        except KeyError:
            pass
        try:
            {}[marker]
        except KeyError as error:
            kept = error
        del kept
    after = sys.getrefcount(marker), sys.getrefcount(fail), sys.getrefcount(KeyError)
    return [b - a for a, b in zip(before, after)]


def assertion(n):
    try:
        assert n > 5, f"{n} is small"
    except AssertionError as error:
        return str(error)
    return n


for test in (nested_state, in_callee, return_in_finally, break_in_finally, continue_in_finally, finally_raises, bare,
             bare_nested, bare_in_callee, bare_without, from_none, from_cause, not_matching, bad_match,
             bad_match_caught, raising_match, raise_class, raise_odd, bad_cause, unbound_after, deleted_in_handler,
             rebound_in_handler, else_raises, deep_caught, group_plain, group_rest, group_raises, group_bad, kept,
             own_frame, changed_through_frame, recursion, deaths_of_operands, references):
    hot(test)
hot(loop_state, 40)
hot(return_in_handler, 5)
hot(with_columns, {"a": 1, "b": 2})
hot(with_columns, {"a": 1, "b": 2, "c": 3})
hot(numbers, 50)
hot(iterate, 50)
hot(comprehension, [3, 2, 1, 0])
hot(lookup_loop, {i: i for i in range(0, 100, 3)}, range(100))
hot(group, [KeyError("a"), ValueError("b"), TypeError("c")])
hot(group, [KeyError("a"), KeyError("b")])
hot(group, [OSError("left"), KeyError("b")])
hot(through_generator, 6)
hot(generator_in_handler, 6)
hot(assertion, 3)
hot(assertion, 30)
print(numbers(20000), lookup_loop({1: 1}, range(30000)), iterate(20000))
print(current())
for n in range(40000):
    try:
        if n % 1000 == 999:
            raise KeyError(n)
    except KeyError as error:
        last = error.args
print(last, current(), "error" in globals())
{}["uncaught"]
