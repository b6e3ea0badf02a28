"""An interpreter in the program: byte code in bytes, dispatch by match, by dict of lambdas and by methods, with stacks, calls and faults."""

from support import each, hot

PUSH, ADD, MUL, SUB, JNZ, DUP, SWAP, DEC, HALT, CALL, RET, PRINT, POP = range(13)


class Fault(Exception):
    def __init__(self, pc, why):
        super().__init__(f"{why} at {pc}")
        self.pc = pc


def by_match(code, limit=1000):
    stack, calls, out, pc = [], [], [], 0
    for _ in range(limit):
        try:
            op = code[pc]
            match op:
                case 0:
                    stack.append(code[pc + 1])
                    pc += 1
                case 1 | 2 | 3:
                    b, a = stack.pop(), stack.pop()
                    stack.append(a + b if op == 1 else a * b if op == 2 else a - b)
                case 4:
                    if stack[-1]:
                        pc = code[pc + 1]
                        continue
                    pc += 1
                case 5:
                    stack.append(stack[-1])
                case 6:
                    stack[-1], stack[-2] = stack[-2], stack[-1]
                case 7:
                    stack[-1] -= 1
                case 8:
                    return stack, out
                case 9:
                    calls.append(pc + 2)
                    pc = code[pc + 1]
                    continue
                case 10:
                    pc = calls.pop()
                    continue
                case 11:
                    out.append(stack.pop())
                case 12:
                    del stack[-1]
                case _:
                    raise Fault(pc, f"op {op}")
        except IndexError as error:
            raise Fault(pc, "empty") from error
        pc += 1
    raise Fault(pc, "limit")


class Machine:
    def __init__(self, code):
        self.code, self.stack, self.pc, self.running = code, [], 0, True
        self.ops = {PUSH: self.push, ADD: self.binary(lambda a, b: a + b), MUL: self.binary(lambda a, b: a * b), SUB: self.binary(lambda a, b: a - b),
                    JNZ: self.jump, DUP: lambda: self.stack.append(self.stack[-1]), DEC: self.dec, HALT: self.halt, SWAP: self.swap}

    def next(self):
        value = self.code[self.pc]
        self.pc += 1
        return value

    def push(self):
        self.stack.append(self.next())

    def binary(self, f):
        def run():
            b = self.stack.pop()
            self.stack[-1] = f(self.stack[-1], b)
        return run

    def jump(self):
        target = self.next()
        if self.stack[-1]:
            self.pc = target

    def dec(self):
        self.stack[-1] -= 1

    def swap(self):
        s = self.stack
        s[-1], s[-2] = s[-2], s[-1]

    def halt(self):
        self.running = False

    def run(self):
        while self.running:
            try:
                op = self.ops[self.next()]
            except KeyError as error:
                raise Fault(self.pc, f"op {error}") from None
            op()
        return self.stack


def by_methods(code):
    return Machine(code).run()


factorial = bytes([PUSH, 1, PUSH, 20, SWAP, PUSH, 2, MUL, SWAP, DEC, JNZ, 4, HALT])
squares = bytes([PUSH, 9, DUP, DUP, MUL, PRINT, DEC, JNZ, 2, HALT])
calling = bytes([PUSH, 3, CALL, 7, CALL, 7, HALT, DUP, MUL, RET])
for code in (factorial, squares, calling, bytes([ADD]), bytes([99]), bytes([PUSH]), bytes([PUSH, 1, JNZ, 0]), b"", [PUSH, 2.5, PUSH, "x", MUL, HALT], bytes([RET])):
    hot(by_match, code, times=40)
for code in (factorial, bytes([PUSH, 5, PUSH, 7, SUB, HALT]), bytes([99]), bytes([ADD]), [PUSH, 1.5, DUP, ADD, HALT]):
    hot(by_methods, code, times=40)
