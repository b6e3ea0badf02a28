"""Strings are compared, indexed and measured in place: of all widths, with operands that turn out to be something else."""


class Text(str):
    def __eq__(self, other):
        return "equal?"

    __hash__ = str.__hash__

    def __len__(self):
        return 77

    def __getitem__(self, index):
        return ("item", index)


def made(text):
    """The same characters in another object."""
    return "".join(list(text))


def same(a, b):
    return (a == b, a != b, "equal" if a == b else "not")


def count(texts, wanted):
    found = 0
    for text in texts:
        if text == wanted:
            found += 1
        elif text != "other":
            found += 100
    return found


def at(text, index):
    return text[index]


def spelled(text):
    out = []
    for i in range(len(text)):
        out.append(text[i])
        if text[i] == "b" or text[-i - 1] == "\xe9":
            out.append("!")
    return "".join(out)


def measured(text):
    n = 0
    while text:
        n += len(text)
        text = text[1:]
    return n


def attempt(f, *args):
    try:
        return f(*args)
    except Exception as error:
        return type(error).__name__, str(error)


letters = ["", "a", "b", "\x00", "\xe9", "\u20ac", "\U0001f600"]
texts = [made(letter * n) + end for letter in letters for n in (0, 1, 3, 6, 7, 8, 9, 15, 16, 17, 40) for end in ("", "x", "y", "\xff", "\u0101")]

for lap in range(3):
    total = 0
    for a in texts:
        for b in texts:
            yes, no, word = same(a, b)
            assert yes is not no and word == ("equal" if yes else "not"), (a, b)
            assert yes == (a.encode("utf-16", "surrogatepass") == b.encode("utf-16", "surrogatepass")), (a, b)
            total += yes
    print(lap, total)

for a in texts:
    b = made(a)
    for k in range(len(a)):
        other = a[:k] + "?" + a[k + 1:]
        assert same(a, b)[0] is True and same(a, other)[0] is False, (a, k)

print(count([made("if"), made("else"), "if", "other", made("iff"), made("\xef")] * 50, "if"))
print(count(["\u20acuro", made("\u20acuro"), "euro", "\u20acurO"] * 50, "\u20acuro"))
for odd in (None, 3, 2.5, b"if", ("if",), Text("if"), ["if"]):
    print(count([odd, "if", odd], "if"), same("if", odd), same(odd, "if"))

for text in ("abcb", "caf\xe9 b\xe9b\xe9", "\u20ac b \u20ac", "mixed \U0001f600 b", ""):
    print(ascii([spelled(text) for _ in range(3)][-1]), measured(text), [ascii(attempt(at, text, k)) for k in (-99, -2, -1, 0, 1, 3, 99, True, 10**30)])
for k in range(200):
    assert at("abcdefghij", k % 10) == "abcdefghij"[k % 10]
    assert at("caf\xe9", 3) is at("\xe9", 0) and at("abc", 1) is at("xbx", -2)
print(attempt(at, "abc", "b"), attempt(at, "abc", None), attempt(at, Text("abc"), 1), attempt(at, [1, 2], 1), attempt(at, {"a": 2}, "a"))
print(attempt(measured, "abcdef"), attempt(len, Text("abc")), [attempt(measured, odd) for odd in ([1, 2], (), b"abc")])


def lengths(things):
    total = 0
    for thing in things:
        total += len(thing)
    return total


print(lengths(texts * 5), attempt(lengths, texts + [Text("abc"), [1, 2], {}]), attempt(lengths, [*texts, 4]))


def same_object(text):
    return text[0] is text[0], text[0] == text[0], text[0] is text[-1]


for text in ("aba", "\xe9b\xe9", "\u20acb\u20ac", "a\u20aca"):
    print(ascii(text), [same_object(text) for _ in range(100)][-1])
