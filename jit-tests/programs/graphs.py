"""Graphs: shortest ways, components, spanning trees, topological order, flows, colouring, over adjacency dicts and lists."""

import heapq


def make(n, seed):
    g = {i: {} for i in range(n)}
    for _ in range(n * 3):
        seed = (seed * 1103515245 + 12345) % 2**31
        a, b, w = seed % n, seed // n % n, seed >> 20 & 63
        if a != b:
            g[a][b] = g[b][a] = w + 1
    return g


def dijkstra(g, start):
    best = {start: 0}
    queue = [(0, start)]
    while queue:
        d, u = heapq.heappop(queue)
        if d > best[u]:
            continue
        for v, w in g[u].items():
            if d + w < best.get(v, 10**9):
                best[v] = d + w
                heapq.heappush(queue, (d + w, v))
    return best


def floyd(g):
    n = len(g)
    d = [[0 if i == j else g[i].get(j, 10**9) for j in range(n)] for i in range(n)]
    for k in range(n):
        dk = d[k]
        for i in range(n):
            dik = d[i][k]
            row = d[i]
            for j in range(n):
                if dik + dk[j] < row[j]:
                    row[j] = dik + dk[j]
    return d


class Sets:
    def __init__(self, n):
        self.up = list(range(n))

    def find(self, x):
        while self.up[x] != x:
            self.up[x] = self.up[self.up[x]]
            x = self.up[x]
        return x

    def join(self, a, b):
        a, b = self.find(a), self.find(b)
        self.up[a] = b
        return a != b


def spanning(g):
    edges = sorted((w, u, v) for u in g for v, w in g[u].items() if u < v)
    sets = Sets(len(g))
    return sum(w for w, u, v in edges if sets.join(u, v)), len({sets.find(u) for u in g})


class Cycle(Exception):
    pass


def topological(deps):
    done, order, active = set(), [], []

    def visit(k):
        if k in done:
            return
        if k in active:
            raise Cycle(" -> ".join(active[active.index(k):] + [k]))
        active.append(k)
        for d in deps.get(k, ()):
            visit(d)
        active.pop()
        done.add(k)
        order.append(k)

    for k in sorted(deps):
        visit(k)
    return order


def colour(g):
    colours = {}
    for u in sorted(g, key=lambda u: (-len(g[u]), u)):
        used = {colours[v] for v in g[u] if v in colours}
        c = 0
        while c in used:
            c += 1
        colours[u] = c
    return max(colours.values()) + 1


def flow(g, source, sink):
    left = {u: dict(vs) for u, vs in g.items()}
    total = 0
    while True:
        back = {source: None}
        frontier = [source]
        while frontier and sink not in back:
            u = frontier.pop(0)
            for v, c in left[u].items():
                if c > 0 and v not in back:
                    back[v] = u
                    frontier.append(v)
        if sink not in back:
            return total
        v, narrow = sink, float("inf")
        while back[v] is not None:
            narrow = min(narrow, left[back[v]][v])
            v = back[v]
        v = sink
        while back[v] is not None:
            left[back[v]][v] -= narrow
            left[v][back[v]] = left[v].get(back[v], 0) + narrow
            v = back[v]
        total += narrow


g = make(45, 7)
d = dijkstra(g, 0)
f = floyd(g)
print(sum(d.values()), all(f[0][k] == v for k, v in d.items()), sum(map(sum, f)), spanning(g), colour(g), flow(g, 0, 44))
g[3][4] = 0.5
print(sum(dijkstra(g, 3).values()), sum(map(sum, floyd(g))))
deps = {f"m{i}": [f"m{j}" for j in range(i + 1, 120) if j % (i + 2) == 0] for i in range(120)}
print(topological(deps)[:8], len(topological(deps)))
deps["m118"].append("m0")
try:
    topological(deps)
except Cycle as error:
    print(error)
for bad in (lambda: dijkstra(g, 99), lambda: dijkstra({0: {1: "x"}}, 0), lambda: flow(g, 0, "z"), lambda: Sets("x")):
    try:
        print(bad())
    except (KeyError, TypeError, ValueError) as error:
        print(type(error).__name__, error)
