"""Processes that leave early, in every way: in a thread, in a handler at exit, with a pending exception, without Python's end."""

import os
import signal
import subprocess
import sys

COMMON = """
import atexit, os, sys, threading, time, weakref, signal
class R:
    def __init__(s, n): s.n = n
    def __del__(s): print("del", s.n, value(5) if value else None, flush=True)
def value(n):
    t = 0
    for i in range(n): t += i & 3
    return t
def hot():
    for i in range(3000): value(3)
r = R("module")
atexit.register(lambda: print("at exit", value(9), flush=True))
hot()
def loop(ready=None):
    while True:
        value(50)
        if ready: ready.set()
def background():
    ready = threading.Event()
    threading.Thread(target=loop, args=(ready,), daemon=True).start()
    ready.wait()
"""
WAYS = {
    "sys.exit": "sys.exit(4)",
    "os._exit": "background(); os._exit(5)",
    "exit in a thread": """
def left(): hot(); sys.exit(3)
t = threading.Thread(target=left); t.start(); t.join(); print("after")""",
    "exit in a handler": "atexit.register(lambda: (hot(), sys.exit(6)))",
    "raise in a finaliser": """
class X:
    def __del__(s): hot(); raise ValueError("ignored")
x = X()""",
    "raise": "def f(n):\n  if n == 0: raise KeyError('end')\n  f(n - 1)\nfor i in range(300):\n  try: f(3)\n  except KeyError: pass\nf(3)",
    "killed": "background(); os.kill(os.getpid(), signal.SIGTERM); time.sleep(5)",
    "exception in a thread": "def left(): hot(); {}[1]\nt = threading.Thread(target=left); t.start(); t.join(); print('after', flush=True)",
    "exception in a handler": "atexit.register(lambda: (hot(), {}[1]))",
    "interrupted": """
background()
signal.signal(signal.SIGINT, signal.default_int_handler)
try: os.kill(os.getpid(), signal.SIGINT); time.sleep(5)
except KeyboardInterrupt: print('interrupted'); sys.exit(7)""",
    "forked": """
background()
pid = os.fork()
hot()
if pid == 0: sys.exit(8)
print('child', os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), flush=True)""",
    "exec": "background(); sys.stdout.flush(); os.execv(sys.executable, [sys.executable, '-c', 'print(\"another\")'])",
    "started again at exit": """
def started(): 
    t = threading.Thread(target=hot)
    try: t.start(); t.join()
    except RuntimeError as e: print("not started", flush=True)
    hot(); print("started", flush=True)
atexit.register(started)""",
}
for name, source in WAYS.items():
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", COMMON + source], capture_output=True, text=True, timeout=60)
    print("==", name, done.returncode)
    print(done.stdout)
    print("\n".join(line for line in done.stderr.splitlines() if "0x" not in line))
