"""Huffman codes with a heap of our own: building, writing bits, reading them back, and damaged input."""


class Heap:
    def __init__(self):
        self.items = []

    def push(self, item):
        items = self.items
        items.append(item)
        i = len(items) - 1
        while i > 0:
            up = (i - 1) // 2
            if items[i] >= items[up]:
                break
            items[i], items[up] = items[up], items[i]
            i = up

    def pop(self):
        items = self.items
        if not items:
            raise IndexError("empty heap")
        top = items[0]
        last = items.pop()
        if items:
            items[0] = last
            i = 0
            while True:
                child = 2 * i + 1
                if child >= len(items):
                    break
                if child + 1 < len(items) and items[child + 1] < items[child]:
                    child += 1
                if items[i] <= items[child]:
                    break
                items[i], items[child] = items[child], items[i]
                i = child
        return top

    def __len__(self):
        return len(self.items)


def tree(text):
    counts = {}
    for c in text:
        counts[c] = counts.get(c, 0) + 1
    heap = Heap()
    for n, c in enumerate(sorted(counts)):
        heap.push((counts[c], n, c))
    order = len(counts)
    while len(heap) > 1:
        a, b = heap.pop(), heap.pop()
        heap.push((a[0] + b[0], order, (a[2], b[2])))
        order += 1
    return heap.pop()[2]


def codes(node, prefix="", out=None):
    out = {} if out is None else out
    if isinstance(node, tuple):
        codes(node[0], prefix + "0", out)
        codes(node[1], prefix + "1", out)
    else:
        out[node] = prefix or "0"
    return out


def encode(text, table):
    acc = bits = 0
    out = bytearray()
    for c in text:
        code = table[c]
        for b in code:
            acc = acc << 1 | (b == "1")
            bits += 1
            if bits == 8:
                out.append(acc)
                acc = bits = 0
    pad = -bits % 8 if bits else 0
    if bits:
        out.append(acc << pad)
    return bytes(out), pad


def decode(data, pad, node):
    out = []
    at = node
    total = len(data) * 8 - pad
    seen = 0
    for byte in data:
        for shift in range(7, -1, -1):
            if seen == total:
                break
            seen += 1
            at = at[byte >> shift & 1]
            if not isinstance(at, tuple):
                out.append(at)
                at = node
    if at is not node:
        raise EOFError(f"{len(out)} characters, then half a code")
    return "".join(out)


text = "it was the best of times, it was the worst of times; " * 30 + "é☃"
node = tree(text)
table = codes(node)
data, pad = encode(text, table)
print(len(text), len(data), pad, sorted(table.items(), key=lambda kv: (len(kv[1]), kv))[:5], decode(data, pad, node) == text)
for broken in (data[:-1], data[:100]):
    try:
        print(len(decode(broken, 0, node)))
    except EOFError as error:
        print(error)
try:
    encode("Q", table)
except KeyError as error:
    print("KeyError", error)
try:
    Heap().pop()
except IndexError as error:
    print(error)
h = Heap()
x = 1
for i in range(400):
    x = x * 69069 % 4294967291
    h.push(x % 1000 if i < 390 else x % 1000 + 0.5)
drained = [h.pop() for _ in range(400)]
print(drained == sorted(drained), drained[:5], drained[-2:], codes("a"))
try:
    h.push(1)
    h.push("x")
except TypeError as error:
    print(error)
