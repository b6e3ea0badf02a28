"""What a program leaves behind, in the order in which it ends: handlers, a timer, a generator, a coroutine, objects in cycles."""
# repeat: 20

import atexit, sys, gc, weakref, threading
class R:
    def __init__(s, n): s.n = n; s.me = s
    def __del__(s):
        t = 0
        for i in range(3000): t += helper(i) if helper else -1
        print('del', s.n, t, G)
def helper(i): return i & 3
G = 'g'
def gen():
    try:
        for i in range(10**9): yield i
    finally: print('gen closed', helper is None or helper(3))
g = gen()
for i in range(5000): next(g)
rs = [R(i) for i in range(3)]
def at(k):
    s = 0
    for i in range(9000): s += helper(i) + k
    print('at', k, s)
for k in range(3): atexit.register(at, k)
def cb(r): print('weak', sum(helper(i) for i in range(5000)) if helper else None)
o = R(9); w = weakref.ref(o, cb)
for i in range(9000): helper(i)
weakref.finalize(o, print, 'fin')
ended = threading.Event()
t = threading.Timer(0.01, lambda: (ended.wait(), print('timer', sum(helper(i) for i in range(9000))))); t.start()
async def co():
    try:
        while True: await A()
    finally: print('co closed')
class A:
    def __await__(s): yield 1
c = co()
for i in range(5000): c.send(None)
sys.modules['__main__'].cyc = cyc = [c, g]; cyc.append(cyc)
print('end'); ended.set()
