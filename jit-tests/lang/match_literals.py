"""match against literals: equality of types, signs, complex numbers, bytes, None and booleans by identity, user equality that lies or raises."""

from support import each


def number(x):
    match x:
        case 0:
            return "zero"
        case -1:
            return "minus one"
        case 1.5 | -2.5:
            return "float"
        case 3 + 4j:
            return "complex"
        case -1 - 1j:
            return "negative complex"
        case 18446744073709551616:
            return "large"
        case "":
            return "empty text"
        case b"" | b"x":
            return "bytes"
    return "none of them"


def constant(x):
    match x:
        case None:
            return "None"
        case True:
            return "True"
        case False:
            return "False"
        case 1 | 0:
            return "equal to a bool"
        case _:
            return "other"


def text(x):
    match x:
        case "a" "b":
            return 1
        case 'abc':
            return 2
        case b"ab":
            return 3


class Liar:
    def __init__(self, answer):
        self.answer = answer
        self.asked = []

    def __eq__(self, other):
        self.asked.append(other)
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer

    def __repr__(self):
        asked, self.asked = self.asked, []
        return f"Liar{asked}"


class Falsy:
    def __bool__(self):
        raise OSError("no truth")


def lied(liar):
    return number(liar), constant(liar), text(liar), liar


each(number, *[(x,) for x in (0, 0.0, False, -0.0, -1, -1.0, 1.5, -2.5, 3 + 4j, -1 - 1j, 2**64, 2.0**64, "", b"", b"x", bytearray(b"x"), None, (), float("nan"))])
each(constant, *[(x,) for x in (None, True, False, 1, 0, 1.0, 0.0, "None", ())])
each(text, *[(x,) for x in ("ab", "abc", b"ab", "a", None)])
each(lied, (Liar(True),), (Liar(False),), (Liar([]),), (Liar("yes"),), (Liar(ValueError("eq")),), (Liar(Falsy()),), (Liar(NotImplemented),), times=40)
