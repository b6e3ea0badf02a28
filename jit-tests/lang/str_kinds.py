"""Text of one, two and four bytes a letter: concatenation in place, indexes, iteration, comparison, hashing, growth of kind, aliases kept."""

from support import each, hot


def grown(parts, n):
    s = ""
    kept = []
    for i in range(n):
        s += parts[i % len(parts)]
        if i % 7 == 3:
            kept.append(s)
    return s, kept[-1:], len(s), max(s, default="")


def walked(s):
    out = 0
    for c in s:
        out = (out * 31 + ord(c)) % 100003
    for i in range(len(s)):
        out ^= ord(s[i]) + ord(s[-i - 1])
    return out, s[::-1], sorted(set(s))


def item(s, i):
    return s[i]


def letters(n):
    return [chr(i) for i in range(n, n + 3)], "".join(chr(n + i) for i in range(3)), ord(chr(n))


def compared(a, b):
    return a < b, a == b, a <= b, a is b, hash(a) == hash(b), a in b, a + b == f"{a}{b}", {a: 1}.get(b)


def counted(text):
    d = {}
    for c in text:
        if c in d:
            d[c] += 1
        else:
            d[c] = 1
    return d


def caesar(text, k):
    out = []
    for c in text:
        if "a" <= c <= "z":
            out.append(chr((ord(c) - 97 + k) % 26 + 97))
        else:
            out.append(c)
    return "".join(out)


def in_object(n):
    class Holder:
        text = ""
    h = Holder()
    d = {"k": ""}
    parts = [""]
    for i in range(n):
        h.text += "ab"
        d["k"] += "cd"
        parts[0] += h.text[-1]
    return h.text, d["k"], parts, Holder.text


def wrong(a, b):
    a += b
    return a


def interned(x):
    s = "con" + "stant"
    t = "".join(["con", x])
    return s == t, s, {s: 1}[t]


each(grown, (["a", "b"], 30), (["a", "ä"], 20), (["a", "λ"], 20), (["a", "𝄞", "ä"], 20), ([""], 9), (["a", 5], 4))
each(walked, ("hello",), ("häλ𝄞",), ("",), ("\0\x7f\x80\uffff",))
each(item, ("abc", 0), ("aλ", -1), ("𝄞x", 0), ("", 0), ("abc", 3), ("abc", "0"), ("abc", True), ("abc", 2**64))
each(letters, (97,), (254,), (65534,), (0x10FFFD,), (0x10FFFF,), (-1,), ("a",))
each(compared, ("a", "a"), ("ab", "abc"), ("ä", "a\u0308"), ("", ""), ("λ", "𝄞"), ("é" * 3, "éée" + "")) 
each(counted, ("mississippi",), ("",), ("äöä",))
each(caesar, ("hello, world", 3), ("xyzä", -1), ("abc", 0.5))
hot(in_object, 6)
each(wrong, ("a", 1), ("a", None), ("a", b"b"), ([1], "ab"), (1, "a"))
hot(interned, "stant")
