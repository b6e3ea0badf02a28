"""Generators of other interpreters, whose code objects have extras of another tool under the number that the JIT's have here; and objects listed there."""

import threading

import _interpreters

CODE = """
import ctypes
import gc

api = ctypes.pythonapi
request = api.PyUnstable_Eval_RequestCodeExtraIndex
request.argtypes = [ctypes.c_void_p]
request.restype = ctypes.c_ssize_t
mark = api.PyUnstable_Code_SetExtra
mark.argtypes = [ctypes.py_object, ctypes.c_ssize_t, ctypes.c_void_p]


def squares(n):
    got = 0
    for k in range(n):
        got = (yield k * k) or 0


async def answer(x):
    return x


def run(coroutine):
    try:
        coroutine.send(None)
    except StopIteration as ended:
        return ended.value


indexes = {request(None) for _ in range(4)}
for code in (squares.__code__, answer.__code__):
    for index in indexes:
        assert mark(code, index, 1) == 0
for _ in range(50):
    # By C code, by `send`, and deallocated at the start, in the middle and at the end.
    assert sum(squares(10)) == 285
    running = squares(10)
    assert [next(running), running.send(None), running.send(3)] == [0, 1, 4]
    squares(3)
    assert run(answer(7)) == 7
    assert any(x is running for x in gc.get_objects())
    assert squares in gc.get_referrers(squares.__code__)
    assert squares.__code__ in gc.get_referents(squares)
for code in (squares.__code__, answer.__code__):
    for index in indexes:
        assert mark(code, index, None) == 0
"""


def squares(n):
    for k in range(n):
        yield k * k


def pairs(n):
    total = 0
    for k in range(n):
        pair = [k, k + 1]
        pair.append(sum(squares(3)))
        total += pair[0] + pair[-1]
    return total


for _ in range(3):
    pairs(100)
others = [_interpreters.create("isolated") for _ in range(2)]
print([_interpreters.exec(other, CODE) for other in others], pairs(100))
failures = []
threads = [threading.Thread(target=lambda i=i: failures.append(_interpreters.exec(i, CODE))) for i in others]
for thread in threads:
    thread.start()
seen = {pairs(100) for _ in range(50)}
for thread in threads:
    thread.join()
for other in others:
    _interpreters.destroy(other)
print(failures, seen, pairs(100))
