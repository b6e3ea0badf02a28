"""Exceptions as the ordinary way of programs: missing keys, ends of iterators, parsing with fallbacks, retries, counters kept across raises."""

from support import each, hot


class Retry(Exception):
    def __init__(self, after):
        self.after = after


class Missing(KeyError):
    pass


def counted(words):
    counts = {}
    for w in words:
        try:
            counts[w] += 1
        except KeyError:
            counts[w] = 1
        except TypeError:
            counts["bad"] = counts.get("bad", 0) + 1
    return counts


def parsed(text):
    for kind in (int, float, complex):
        try:
            return kind(text)
        except ValueError:
            pass
        except TypeError as error:
            return type(error).__name__
    return text


def merged(a, b):
    out, x, y = [], iter(a), iter(b)
    try:
        p = next(x)
        q = next(y)
        while True:
            if p <= q:
                out.append(p)
                p = next(x)
            else:
                out.append(q)
                q = next(y)
    except StopIteration:
        out.extend(x)
        out.append("end")
    return out


def tries(plan):
    log, attempts = [], 0
    plan = iter(plan)
    while True:
        attempts += 1
        try:
            step = next(plan)
            if isinstance(step, Exception):
                raise step
            log.append(step)
            if step == "done":
                break
        except Retry as r:
            log.append(("retry", r.after))
            if attempts > 6:
                raise TimeoutError(attempts) from r
            continue
        except StopIteration:
            return log, "exhausted"
        else:
            log.append("ok")
        finally:
            attempts += 0.5
    return log, attempts


def nested_lookup(d, path):
    try:
        for key in path:
            d = d[key]
    except (KeyError, IndexError) as error:
        raise Missing(f"{key!r} of {path}") from error
    except TypeError:
        return "a leaf", d
    return d


def safe(d, path):
    try:
        return nested_lookup(d, path)
    except Missing as error:
        return error.args, type(error.__cause__).__name__


def divisions(pairs):
    total, errors = 0.0, 0
    for a, b in pairs:
        try:
            try:
                total += a / b
            except ZeroDivisionError:
                errors += 1
                total += a // (b + 1)
        except (TypeError, OverflowError) as error:
            total -= 1
            last = str(error)
        else:
            last = None
    return total, errors, last


def raised_often(n):
    kinds = (ValueError, KeyError, IndexError, OSError, LookupError)
    caught = dict.fromkeys(("value", "lookup", "other"), 0)
    for i in range(n):
        try:
            raise kinds[i % 5](i)
        except ValueError:
            caught["value"] += 1
        except LookupError as error:
            caught["lookup"] += error.args[0]
        except Exception:
            caught["other"] += 1
    return caught


each(counted, ("a b a c a".split(),), (["a", [], "a", {}],), ([],), ([1, 1.0, True],))
each(parsed, ("12",), ("1.5",), ("2j",), ("text",), ([],), ("",), (None,), (7.9,))
each(merged, ([1, 4, 5], [2, 3, 6]), ([], [1]), ([1], []), ([1, "a"], [2]), ([2.5, 3], [1]))
each(lambda plan: tries(plan()), (lambda: ["a", Retry(1), "done"],), (lambda: [Retry(i) for i in range(9)],), (lambda: ["x"],), (lambda: [KeyError("through")],), (lambda: [Retry(0), "b", "done"],))
tree = {"a": {"b": [1, {"c": "deep"}]}, "n": None}
each(safe, (tree, "ab"), (tree, ("a", "b", 1, "c")), (tree, ("a", "x")), (tree, ("a", "b", 9)), (tree, ("n", 1)), (tree, ()), (tree, ("a", "b", "c")))
each(divisions, ([(1, 2), (3, 0), (5, 4)],), ([("a", 1), (1, 2)],), ([(10**400, 3), (1, 0)],), ([(1.5, 0.5)],), ([(1,)],))
hot(raised_often, 30)
