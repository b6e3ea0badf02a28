"""Strings in hot loops: building, indexing by kind of character, comparing, formatting, methods, bytes, errors."""


def build(n):
    s = ""
    for i in range(n):
        s += chr(97 + i % 26)
    return s


def build_shared(n):
    s = ""
    kept = []
    for i in range(n):
        s += "x"
        if i % 100 == 0:
            kept.append(s)
    return s[-3:], [len(k) for k in kept]


def widen(n):
    s = ""
    for i in range(n):
        s += "a" if i < n - 4 else "é☃𝄞z"[i - n + 4]
    return s[-6:], len(s)


def counts(text):
    vowels = digits = 0
    for c in text:
        if c in "aeiou":
            vowels += 1
        elif "0" <= c <= "9":
            digits += 1
    return vowels, digits


def reverse(text):
    out = ""
    for i in range(len(text) - 1, -1, -1):
        out += text[i]
    return out


def palindrome(text):
    i, j = 0, len(text) - 1
    while i < j:
        if text[i] != text[j]:
            return False
        i += 1
        j -= 1
    return True


def caesar(text, k):
    out = []
    for c in text:
        if c.isalpha() and c.isascii():
            base = ord("A") if c.isupper() else ord("a")
            out.append(chr((ord(c) - base + k) % 26 + base))
        else:
            out.append(c)
    return "".join(out)


def checksum(data):
    a, b = 1, 0
    for byte in data:
        a = (a + byte) % 65521
        b = (b + a) % 65521
    return b << 16 | a


def percent(n):
    out = ""
    for i in range(n):
        out = "%d/%s/%5.1f|%r" % (i, out[:4], i / 3, i % 2 == 0)
    return out


def repeat(n):
    s = 0
    for i in range(n):
        s += len("ab" * (i % 5)) + ("a" * i == "a" * i) + ("a" < "b") + ("ab" in "xaby")
    return s


def plus(values):
    s = ""
    for v in values:
        s = s + v
    return s


print(build(400)[-30:], build_shared(400), widen(400))
print(counts("hello world 123 " * 50), reverse("añb☃c𝄞" * 60)[:12], palindrome("ab" * 300 + "a"), palindrome("ab" * 300), palindrome(""))
print(caesar("Hello, World! é" * 30, 3)[:16], checksum(b"some bytes" * 60), percent(400), repeat(400))
for values in (["a"] * 320 + [1], ["a"] * 300 + [b"b"], [None]):
    try:
        plus(values)
    except TypeError as error:
        print(error, error.__traceback__.tb_next.tb_lineno)
for f in (lambda: "abc"[5], lambda: "%d" % "x", lambda: "%d %d" % (1,), lambda: "a" * "b", lambda: "a" - "b", lambda: "{}{}".format(1),
          lambda: "é".encode("ascii"), lambda: chr(-1), lambda: ord("ab"), lambda: "a" < 1, lambda: "x".index("y"), lambda: int("12a")):
    try:
        print(f())
    except Exception as error:
        print(type(error).__name__, error)


def interned(n):
    hits = 0
    for i in range(n):
        a = "key" + str(i % 3)
        hits += {"key0": 1, "key1": 2}.get(a, 0)
    return hits


def splits(n):
    total = 0
    for i in range(n):
        for word in f"{i} {i * 2},{i * 3}".replace(",", " ").split():
            total += int(word)
    return total


print(interned(400), splits(300))
