"""Code that awaits at its top level is a coroutine whose names are those of its globals."""

import ast
import asyncio
import inspect
import types

SOURCES = [
    "import asyncio\na = await asyncio.sleep(0, 1)",
    "async def later(value):\n    return value\na = await later(2)\nb = [await later(i) for i in range(2)]",
    "async def some():\n    yield 3\n    yield 4\na = [x async for x in some()]",
    "a = (x for x in range(3))\na = tuple(a)",
    "async with lock as got:\n    a = got",
]


class Lock:
    async def __aenter__(self):
        return "locked"

    async def __aexit__(self, *exception):
        return False


def ran(source):
    code = compile(source, "?", "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
    space = {"lock": Lock()}
    made = types.FunctionType(code, space)()
    if inspect.iscoroutine(made):
        asyncio.run(made)
    return inspect.iscoroutine(made), space["a"], space.get("b"), sorted(name for name in space if name != "__builtins__")


for _ in range(50):
    got = [ran(source) for source in SOURCES]
print(got)


def yields():
    code = compile("x = yield_me", "?", "exec")
    space = {"yield_me": 7}
    types.FunctionType(code, space)()
    return space["x"]


for _ in range(50):
    got = yields()
print(got)
