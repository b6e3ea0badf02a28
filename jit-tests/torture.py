"""Lets single allocations fail in operations, interpreted and compiled, and compares the outcomes.

    python jit-tests/torture.py [-k WORD] [--most N] [--list] [--jobs N]

Each operation is put into four small functions: plain, in a handler, in `finally` and in `with`.
The n-th allocation of a call is made to fail (`_testcapi.set_nomemory`), for n = 0, 1, ..., with
the interpreter's free lists full and empty. Compiled code allocates less and at other points, so
calls are not compared one by one: each outcome of a compiled call (result, exception, lines and
columns, text of the arguments, reference counts) must be an outcome of some interpreted call, of a
function that runs for the first time or is specialised, and the process must not end where the
interpreter continues. (CPython 3.13 does not survive every failure either. If a process ends, each
call runs in a fork of its own.)
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import textwrap
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import harness

HERE = Path(__file__).resolve().parent

#: The operations, by name; `a` and `b` are of the given kinds, `o` is an object with everything,
#: and the result is `r`.
OPERATIONS = {
    # numbers
    "int_add": ("12345678", "87654321", "r = a + b"),
    "int_large": ("2**80", "2**70 + 1", "r = a * b - a // b"),
    "int_overflow": ("2**62", "2**62", "r = a + b"),
    "int_power": ("3", "100", "r = a ** b"),
    "int_shift": ("1", "100", "r = a << b"),
    "float_add": ("1.5", "2.25", "r = a * b + a"),
    "float_mixed": ("1.5", "7", "r = a + b"),
    "int_division": ("7", "2", "r = a / b"),
    "divmod": ("70000", "333", "r = divmod(a, b)"),
    "complex": ("1j", "2.5", "r = a * b"),
    "compare_chain": ("1.5", "2**70", "r = a < b < 2**71"),
    "loop_of_ints": ("40", "3", "r = 0\nfor i in range(a):\n    r += i * b"),
    "loop_of_floats": ("20", "0.5", "r = 0.0\nfor i in range(a):\n    r += i * b"),
    # text and bytes
    "str_concat": ("'left'", "'right'", "r = a + b"),
    "str_repeat": ("'ab'", "30", "r = a * b"),
    "str_index": ("'äöü'", "1", "r = a[b]"),
    "str_slice": ("'a longer text'", "3", "r = a[b:-1]"),
    "str_methods": ("' text '", "'x'", "r = a.upper().strip().replace('T', b).split('E')"),
    "str_join": ("['a', 'b', 'c']", "'-'", "r = b.join(a)"),
    "str_in_place": ("'start'", "5", "r = a\nfor i in range(b):\n    r += 'more'"),
    "fstring": ("1.5", "'t'", "r = f'{a:.3f} {b!r} {a}'"),
    "percent": ("5", "'t'", "r = '%d %s' % (a, b)"),
    "bytes_concat": ("b'ab'", "b'cd'", "r = (a + b)[1:]"),
    "bytearray": ("bytearray(b'abc')", "b'xyz'", "a += b\na[1:2] = b'longer'\nr = bytes(a)"),
    "chr_ord": ("955", "'λ'", "r = chr(a), ord(b), str(a)"),
    # containers
    "tuple": ("1000", "2000", "r = (a, b, a + b)"),
    "list": ("1000", "2000", "r = [a, b, a + b]"),
    "list_append": ("[]", "12", "r = a\nfor i in range(b):\n    a.append(i + 1000)"),
    "list_extend": ("[1]", "(2, 3)", "a.extend(b)\na += [*b, *a]\nr = a"),
    "list_concat": ("[1, 2]", "[3]", "r = a + b * 3"),
    "list_slices": ("[1, 2, 3, 4]", "[9]", "a[1:2] = b * 3\ndel a[::2]\nr = a[:]"),
    "list_sort": ("[3, 1, 2]", "2", "a.sort(key=lambda x: x * b)\nr = sorted(a)"),
    "dict": ("1000", "'key'", "r = {b: a, 'other': b}"),
    "dict_store": ("{}", "12", "r = a\nfor i in range(b):\n    a[i] = i + 1000"),
    "dict_methods": ("{'k': 1}", "'new'", "a.setdefault(b, [])\na.update(x=1)\nr = a.get(b), a.pop('k'), a | {1: 2}"),
    "dict_views": ("{'k': 1000, 'l': 2000}", "0", "r = [(k, v) for k, v in a.items()], list(a.keys()), sum(a.values())"),
    "set": ("1000", "2000", "r = sorted({a, b} | {a, 1})"),
    "set_add": ("set()", "12", "for i in range(b):\n    a.add(i + 1000)\nr = len(a)"),
    "unpack": ("[1, 2, 3]", "(4, 5)", "x, *y = a\nr = [x, y, *b]"),
    "unpack_iterator": ("[1000, 2000]", "0", "x, y = iter(a)\nr = x + y"),
    "subscript_user": ("o", "3", "o[b] = a is o\nr = o[b]"),
    # iteration
    "enumerate": ("['a', 'b']", "1000", "r = [(i, x) for i, x in enumerate(a, b)]"),
    "zip": ("[1, 2]", "'ab'", "r = [p for p in zip(a, b)]"),
    "reversed": ("[1, 2]", "0", "r = [x for x in reversed(a)]"),
    "iter_user": ("o", "0", "r = [x for x in a]"),
    "comprehensions": ("[1000, 2000]", "3", "r = {x: [y + x for y in a] for x in a}, {x * b for x in a}"),
    "sum_generator": ("[1000, 2000]", "3", "r = sum(x * b for x in a)"),
    "map_filter": ("[1000, 2000]", "3", "r = list(map(lambda x: x + b, filter(None, a)))"),
    # calls
    "call": ("1000", "2000", "r = helper(a, b)"),
    "call_keywords": ("1000", "2000", "r = helper(a, y=b)"),
    "call_star": ("(1000,)", "{'y': 2000}", "r = helper(*a, **b)"),
    "call_variadic": ("1000", "2000", "r = variadic(a, b, 3, k=a)"),
    "call_bound": ("o", "1000", "r = a.method(b)"),
    "bound_method": ("o", "1000", "m = a.method\nr = m(b)"),
    "call_class": ("1000", "2000", "r = Point(a, b).x"),
    "call_builtins": ("[3, 1]", "1000.5", "r = len(a), min(a), max(b, 1), abs(-b), int(b), round(b, 1), isinstance(a, list)"),
    "closure": ("1000", "2000", "def inner(z):\n    return z + b\nr = inner(a)"),
    "lambda_default": ("1000", "2000", "r = (lambda x=a: x + b)()"),
    "super_call": ("Sub()", "1000", "r = a.method(b)"),
    "recursion": ("6", "0", "r = recursive(a)"),
    # attributes
    "attribute": ("o", "1000", "a.x = b + 1\nr = a.x + a.y"),
    "new_attribute": ("Point(1, 2)", "1000", "a.new = b\na.newer = b\nr = sorted(vars(a))"),
    "property": ("o", "1000", "a.prop = b\nr = a.prop"),
    "getattr_hook": ("o", "0", "r = a.dynamic"),
    "missing_attribute": ("5", "0", "try:\n    r = a.missing\nexcept AttributeError as e:\n    r = str(e)"),
    "operators_user": ("o", "1000", "r = a + b, -a, a < b, a == b, b in a, len(a)"),
    # exceptions and control
    "raise_catch": ("1000", "0", "try:\n    raise ValueError(a)\nexcept ValueError as e:\n    r = e.args"),
    "raise_from": ("1000", "0", "try:\n    try:\n        a / b\n    except ZeroDivisionError as e:\n        raise KeyError(a) from e\nexcept KeyError as e:\n    r = repr(e.__cause__)"),
    "key_error": ("{}", "'k'", "try:\n    r = a[b]\nexcept KeyError as e:\n    r = e.args"),
    "unbound": ("0", "0", "try:\n    if a:\n        r = 1\n    r += 1\nexcept UnboundLocalError as e:\n    r = str(e)"),
    "group": ("1000", "0", "r = 0\ntry:\n    raise ExceptionGroup('g', [ValueError(a), KeyError(b)])\nexcept* ValueError as g:\n    r = len(g.exceptions)\nexcept* KeyError:\n    r += 10"),
    "match": ("[1, [2, 3, 4]]", "{'k': 5}", "match a, b:\n    case [x, [y, *z]], {'k': v, **rest}:\n        r = x, y, z, v, rest"),
    "match_class": ("Point(1000, 2)", "0", "match a:\n    case Point(x, y=2):\n        r = x\n    case _:\n        r = 0"),
    "generator": ("5", "0", "def g(n):\n    for i in range(n):\n        got = yield i + 1000\n    return n\nr = list(g(a))"),
    "yield_from": ("[1000, 2000]", "0", "def g():\n    yield from a\n    yield from counted(2)\nr = list(g())"),
    "coroutine": ("1000", "0", "async def c(n):\n    return [await d(n), n]\nasync def d(n):\n    return n + 1\ntry:\n    c(a).send(None)\nexcept StopIteration as s:\n    r = s.value"),
    "class_body": ("1000", "0", "class K:\n    x = a\n    def f(self):\n        return self.x\nr = K().f()"),
    "import": ("0", "0", "import sys as s\nfrom sys import path as p\nr = p is s.path"),
    "globals": ("1000", "0", "global shared\nshared = a + 1\nr = shared"),
    "locals": ("1000", "2.5", "x = a + 1\nr = sorted(locals())"),
}

SHAPES = {
    "plain": "{body}\nreturn r",
    "handler": "try:\n{inner}\nexcept MemoryError as error:\n    return 'caught', where(error)\nreturn r",
    "finally": "try:\n{inner}\nfinally:\n    o.done = True\nreturn r",
    "with": "with o:\n{inner}\nreturn r",
}

SUPPORT = '''
import sys

class Everything:
    def __init__(self): self.x, self.y, self.done, self.items = 1, 2, False, {}
    def __enter__(self): return self
    def __exit__(self, *error): self.done = error[0]
    def __getitem__(self, k): return self.items[k]
    def __setitem__(self, k, v): self.items[k] = v
    def __iter__(self): return iter((1000, 2000))
    def __add__(self, other): return other + 1
    def __neg__(self): return -1000
    def __lt__(self, other): return True
    def __eq__(self, other): return self is other
    def __contains__(self, x): return [x] == [1000]
    def __len__(self): return 3
    def __getattr__(self, name):
        if name == "dynamic": return [name]
        raise AttributeError(name)
    def method(self, n): return n + self.x
    @property
    def prop(self): return self._prop + 1
    @prop.setter
    def prop(self, value): self._prop = value * 2
    def __repr__(self): return f"Everything{sorted(self.__dict__.items(), key=str)}"

class Sub(Everything):
    def method(self, n): return super().method(n) * 2

class Point:
    __match_args__ = ("x", "y")
    def __init__(self, x, y): self.x, self.y = x, y
    def __repr__(self): return f"Point{sorted(self.__dict__.items())}"

def helper(x, y=2): return x + y
def variadic(*args, **kwargs): return args, kwargs
def recursive(n): return [n] + recursive(n - 1) if n else []
def counted(n):
    for i in range(n): yield i + 1000

def where(error):
    out = []
    trace = error.__traceback__
    while trace:
        code = trace.tb_frame.f_code
        if code.co_filename.startswith("<op"):
            columns = [row[2:] for row in code.co_positions()][trace.tb_lasti // 2:][:1] if trace.tb_lasti >= 0 else ()
            out.append((code.co_name, trace.tb_lineno, *columns))
        trace = trace.tb_next
    return out
'''


def source(operation, shape):
    """The function's text."""
    body = OPERATIONS[operation][2]
    filled = SHAPES[shape].format(body=body, inner=textwrap.indent(body, "    "))
    return "def f(a, b, o):\n" + textwrap.indent(filled, "    ") + "\n"


def child(operation, most, fork, cold):
    """In a process of its own: the outcome of each call, as one JSON object on stdout."""
    import gc

    import _testcapi

    gc.disable()
    left, right, _ = OPERATIONS[operation]
    set_nomemory, remove = _testcapi.set_nomemory, _testcapi.remove_mem_hooks
    space = {}
    exec(compile(SUPPORT, "<support>", "exec"), space)
    where = space["where"]
    out = {}
    for shape in SHAPES:
        # Each has a module with the same names: the functions share only the support code.
        names = dict(space)
        exec(compile(source(operation, shape), f"<op {operation}>", "exec"), names)
        f = names["f"]
        make = eval(f"lambda o: ({left}, {right}, o)", names)
        for _ in range(0 if cold else 60):
            names["r"] = f(*make(names["Everything"]()))
        gc.freeze()

        def call(n, cleared):
            o = names["Everything"]()
            args = make(o)
            before = [sys.getrefcount(x) for x in args]
            if cleared:
                gc.collect()
            result = error = None
            if cold:
                names["f"].__code__ = names["f"].__code__.replace(co_name="f")
            set_nomemory(n, n + 1)
            try:
                result = f(*args)
            except BaseException as e:
                error = e
            remove()
            if error is not None:
                kind, shown = type(error).__name__, where(error)
                # Objects of a frame in a traceback are dropped with it.
                error.__traceback__ = error.__context__ = None
            else:
                kind, shown = "value", repr(result)
            result = error = None
            gc.collect()
            leaks = [sys.getrefcount(x) - count for x, count in zip(args, before)]
            return kind, shown, repr(args), leaks

        made = [(forked(call, n, cleared) if fork else call(n, cleared)) for cleared in (False, True) for n in range(most)]
        failed = sum(kind == "MemoryError" or "caught" in shown for kind, shown, *_ in made)
        out[shape] = {"outcomes": sorted({json.dumps(outcome) for outcome in made}), "failed": failed}
    print(json.dumps(out))


def forked(call, *args):
    """The outcome of `call` in a fork of this process, or that the process ended."""
    read, write = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.write(write, json.dumps(call(*args)).encode())
        os._exit(0)
    os.close(write)
    with os.fdopen(read, "rb") as pipe:
        text = pipe.read()
    status = os.waitpid(pid, 0)[1]
    return json.loads(text) if text else ("the process ended", f"signal {os.WTERMSIG(status)}", "", [])


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("-k", action="append", metavar="WORD", help="only operations with WORD in their name")
    parser.add_argument("--python", help="the interpreter to test (default: .venv, $PYTHON, python3.13)")
    parser.add_argument("--most", type=int, default=60, help="let each of the first N allocations fail")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--timeout", type=float, default=120.0)
    parser.add_argument("--list", action="store_true", help="print the operations")
    parser.add_argument("--fork", action="store_true", help="run each call in a fork from the first")
    parser.add_argument("--cold", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--child", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        return child(options.child, options.most, options.fork, options.cold)
    names = [n for n in OPERATIONS if not options.k or any(word in n for word in options.k)]
    if options.list:
        return print("\n".join(names))
    python = harness.find_python(options.python)
    reason = harness.unavailable(python)
    if reason:
        sys.exit(f"the JIT can't work in {python}: {reason}")
    totals, bad = [0, 0, 0], []
    with ThreadPoolExecutor(options.jobs) as pool:
        for name, problems, counts in pool.map(lambda n: compare(python, n, options), names):
            totals = [x + y for x, y in zip(totals, counts)]
            print(f"{name:20} {counts[0]:5} allocations failed interpreted, {counts[1]:5} compiled; {counts[2]:3} outcomes  {'DIFFERS' if problems else 'agrees'}", flush=True)
            for problem in problems:
                print(f"    {problem}")
            bad += [name] if problems else []
    print(f"\n{len(names)} operations in {len(SHAPES)} shapes: {totals[0]} failed allocations interpreted, {totals[1]} compiled, "
          f"{totals[2]} different outcomes; {len(bad)} operations differ{': ' + ' '.join(bad) if bad else ''}")
    sys.exit(1 if bad or not names else 0)


def compare(python, name, options, fork=False):
    """Run the operation interpreted and compiled: (name, differences, numbers of failures and
    outcomes)."""
    words = [__file__, "--child", name, "--most", str(options.most), *(["--fork"] if fork else [])]
    off = harness.environment(python, CLADONIA_OFF="1")
    base, cold = run([python, *words], off, options), run([python, *words, "--cold"], off, options)
    # Only the functions under test are compiled: other code runs between the failing allocations.
    ours = run([python, "-m", "cladonia", *words], harness.environment(python, CLADONIA_UNITS="<op,<support>"), options)
    failed = [f"{way}: {result}" for way, result in (("interpreted", base), ("first run", cold), ("compiled", ours)) if isinstance(result, str)]
    if failed and not fork and "CRASH" in "".join(failed):
        return compare(python, name, options, fork=True)
    if failed:
        return name, failed, (0, 0, 0)
    problems = []
    for shape in SHAPES:
        known = {*base[shape]["outcomes"], *cold[shape]["outcomes"]}
        problems += [f"{shape}: only compiled: {outcome}" for outcome in ours[shape]["outcomes"] if outcome not in known]
    counts = [sum(shape["failed"] for shape in way.values()) for way in (base, ours)]
    return name, problems, (*counts, sum(len(shape["outcomes"]) for shape in ours.values()))


def run(command, env, options):
    ended = harness.run(command, env=env, timeout=options.timeout, cwd=HERE)
    if ended.code != 0:
        return f"{ended.how()}: {ended.stderr.decode(errors='replace')[-600:]}"
    try:
        return json.loads(ended.stdout)
    except ValueError:
        return f"no result: {ended.stdout[-300:]!r}"


if __name__ == "__main__":
    main()
