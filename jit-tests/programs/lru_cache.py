"""A least-recently-used cache as a linked list and a dict, a ring buffer, a trie, and an interval map under random use."""


class Link:
    __slots__ = ("key", "value", "before", "after")


class LRU:
    def __init__(self, size):
        if size < 1:
            raise ValueError(f"size must be positive, not {size}")
        self.size = size
        self.map = {}
        self.root = r = Link()
        r.before = r.after = r
        self.hits = self.misses = 0

    def _unlink(self, l):
        l.before.after = l.after
        l.after.before = l.before

    def _front(self, l):
        r = self.root
        l.after = r.after
        l.before = r
        r.after.before = l
        r.after = l

    def get(self, key, default=None):
        l = self.map.get(key)
        if l is None:
            self.misses += 1
            return default
        self.hits += 1
        self._unlink(l)
        self._front(l)
        return l.value

    def put(self, key, value):
        l = self.map.get(key)
        if l is not None:
            l.value = value
            self._unlink(l)
        else:
            if len(self.map) >= self.size:
                old = self.root.before
                self._unlink(old)
                del self.map[old.key]
            l = Link()
            l.key, l.value = key, value
            self.map[key] = l
        self._front(l)

    def keys(self):
        out = []
        l = self.root.after
        while l is not self.root:
            out.append(l.key)
            l = l.after
        return out


class Ring:
    def __init__(self, n):
        self.items = [None] * n
        self.start = self.count = 0

    def push(self, x):
        if self.count == len(self.items):
            raise OverflowError("full")
        self.items[(self.start + self.count) % len(self.items)] = x
        self.count += 1

    def pop(self):
        if not self.count:
            raise IndexError("empty")
        x = self.items[self.start]
        self.start = (self.start + 1) % len(self.items)
        self.count -= 1
        return x


class Trie:
    def __init__(self):
        self.children = {}
        self.end = 0

    def add(self, word):
        node = self
        for c in word:
            if c not in node.children:
                node.children[c] = Trie()
            node = node.children[c]
        node.end += 1

    def starting(self, prefix):
        node = self
        for c in prefix:
            node = node.children.get(c)
            if node is None:
                return []
        out = []
        todo = [(prefix, node)]
        while todo:
            word, node = todo.pop()
            if node.end:
                out.append((word, node.end))
            for c in sorted(node.children, reverse=True):
                todo.append((word + c, node.children[c]))
        return out


def exercise(n, size):
    cache = LRU(size)
    seed = 1
    s = 0
    for i in range(n):
        seed = (seed * 1103515245 + 12345) % 2**31
        k = seed >> 16 & 63
        k = k if k < 50 else str(k) if k < 60 else k / 2
        v = cache.get(k)
        if v is None:
            cache.put(k, i)
        else:
            s += v
    return s, cache.hits, cache.misses, cache.keys()[:6]


def rings(n):
    r = Ring(16)
    s = errors = 0
    for i in range(n):
        try:
            if i % 5 < 3:
                r.push(i)
            else:
                s += r.pop()
            if i % 97 == 0:
                while True:
                    s -= r.pop()
        except OverflowError:
            errors += 1
        except IndexError:
            errors += 1000
    return s, errors, r.count


t = Trie()
for w in ("car cart care cat dog do done door" * 1).split() * 40 + ["caré"]:
    t.add(w)
print(exercise(4000, 20), rings(3000), t.starting("ca"), t.starting("do"), t.starting("x"))
for f in (lambda: LRU(0), lambda: LRU("x"), lambda: LRU(2).put([], 1), lambda: Ring(0).push(1), lambda: t.add(5)):
    try:
        f()
    except (ValueError, TypeError, OverflowError) as error:
        print(type(error).__name__, error)
