"""Linked structures of the program's own: an LRU cache by a doubly linked list, a heap, a trie, union-find and an AVL-like tree with rotation."""

from support import each, hot


class Link:
    __slots__ = ("prev", "next", "key", "value")

    def __init__(self, key=None, value=None):
        self.key, self.value = key, value
        self.prev = self.next = self


class LRU:
    def __init__(self, size):
        self.size, self.links, self.root = size, {}, Link()

    def touch(self, link):
        link.prev.next, link.next.prev = link.next, link.prev
        last = self.root.prev
        last.next = self.root.prev = link
        link.prev, link.next = last, self.root

    def get(self, key, make):
        try:
            link = self.links[key]
        except KeyError:
            if len(self.links) >= self.size:
                old = self.root.next
                self.root.next, old.next.prev = old.next, self.root
                del self.links[old.key]
            link = self.links[key] = Link(key, make(key))
        self.touch(link)
        return link.value

    def __iter__(self):
        link = self.root.next
        while link is not self.root:
            yield link.key
            link = link.next


def cached(keys, size):
    made = []
    lru = LRU(size)
    values = [lru.get(k, lambda k: (made.append(k), k * 2)[1]) for k in keys]
    return values, made, list(lru)


def heap_sorted(items):
    heap = []
    for x in items:
        heap.append(x)
        i = len(heap) - 1
        while i and heap[(p := (i - 1) // 2)] > heap[i]:
            heap[p], heap[i] = heap[i], heap[p]
            i = p
    out = []
    while heap:
        out.append(heap[0])
        last = heap.pop()
        if heap:
            heap[0], i = last, 0
            while (c := 2 * i + 1) < len(heap):
                if c + 1 < len(heap) and heap[c + 1] < heap[c]:
                    c += 1
                if not heap[c] < heap[i]:
                    break
                heap[c], heap[i], i = heap[i], heap[c], c
    return out


class Trie(dict):
    end = False

    def add(self, word):
        node = self
        for c in word:
            node = node.setdefault(c, Trie())
        node.end = True

    def words(self, prefix=""):
        if self.end:
            yield prefix
        for c in sorted(self):
            yield from self[c].words(prefix + c)


def trie(words):
    t = Trie()
    for w in words:
        t.add(w)
    return list(t.words()), len(t), "end" in t.__dict__


def groups(n, pairs):
    parent = list(range(n))
    def find(x):
        while parent[x] != x:
            parent[x] = parent[parent[x]]
            x = parent[x]
        return x
    for a, b in pairs:
        parent[find(a)] = find(b)
    return sorted([find(i) for i in range(n)]), len({find(i) for i in range(n)})


class Tree:
    def __init__(self, key):
        self.key, self.left, self.right, self.height = key, None, None, 1


def insert(t, key):
    if t is None:
        return Tree(key)
    side = "left" if key < t.key else "right"
    setattr(t, side, insert(getattr(t, side), key))
    if height(t.left) > height(t.right) + 1:
        t = rotate(t, "left", "right")
    elif height(t.right) > height(t.left) + 1:
        t = rotate(t, "right", "left")
    t.height = 1 + max(height(t.left), height(t.right))
    return t


def rotate(t, a, b):
    up = getattr(t, a)
    setattr(t, a, getattr(up, b))
    setattr(up, b, t)
    t.height = 1 + max(height(t.left), height(t.right))
    return up


def height(t):
    return t.height if t else 0


def tree(keys):
    t = None
    for k in keys:
        t = insert(t, k)
    return height(t), t and t.key


each(cached, ([1, 2, 3, 1, 4, 2], 3), ("abcabcd", 2), ([], 1), ([1, []], 2), ([1, 1.0, True], 5))
each(heap_sorted, ([5, 1, 4, 1, 3],), ("heap",), ([],), ([2.5, 1, True],), ([(2, "b"), (1, "a")],), ([1, "x"],))
each(trie, (["to", "tea", "ten", "to"],), ([],), ([""],), (["a", 5],), ([("x", "y")],))
each(groups, (5, [(0, 1), (3, 4), (1, 4)]), (3, []), (0, []), (2, [(0, 5)]))
each(tree, (list(range(30)),), ([5, 3, 8, 1, 4],), ([],), ("hello",), ([1, "x"],), ([2.5, 1, 7],))
