"""Source is parsed, its names are changed by a transformer, and it is written again by
ast.unparse."""

import ast

CLASS = '''
import os, sys as system
from collections import (defaultdict, deque as queue)

class Machine_N(Base, metaclass=Meta, **options):
    """The machine, and what it does."""
    limit: int = 3 * 5 ** 2 // 4
    __slots__ = ("a", "b", *more)

    @property
    async def state(self, /, first, second=2, *rest, only: "str", other=None, **named) -> dict[str, list[int]]:
        async with self.lock as held, other:
            async for item in await self.items(first, *rest, key=only):
                yield {**named, "x": item, f"key {item!r:>{second}}": [i async for i in item if i]}

    def step(self, count):
        global total
        try:
            while (left := count - self.done) > 0 and not self.stopped:
                if left % 2 == 0 or self.a[left:-1:2] is None:
                    self.b[left], (x, *y) = -left, self.pairs(lambda a, b=1: a if a < b <= 3 else ~b)
                elif left in {1, 2, 3} | self.seen:
                    continue
                else:
                    del self.a[0], self.b
                    total += sum(i * j for i in range(left) for j in range(i) if i != j)
            else:
                return total
        except (ValueError, KeyError) as error:
            raise RuntimeError(f"no step {count + 1}: {error}") from error
        finally:
            assert self.done >= 0, "less than nothing"

    def match(self, thing):
        match thing:
            case {"kind": "point", "at": (x, y), **rest} if x > y:
                return x, y, rest
            case Machine_N(a=[1, 2, *_]) | None | -1.5 | "text":
                return (yield from thing)
            case _:
                print(*thing, sep="\\n", end='"', file=system.stderr)
'''
SOURCE = "\n".join(CLASS.replace("_N", f"_{n}") for n in range(5))


class Renamed(ast.NodeTransformer):
    def __init__(self):
        self.names = {}

    def visit_Name(self, node):
        new = self.names.setdefault(node.id, f"{node.id}_{len(self.names)}")
        return ast.copy_location(ast.Name(new, node.ctx), node)

    def visit_Constant(self, node):
        return ast.Constant(node.value + 1) if type(node.value) is int else node


def work():
    return ast.unparse(ast.fix_missing_locations(Renamed().visit(ast.parse(SOURCE))))
