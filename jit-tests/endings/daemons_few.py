"""Two daemon threads, so that each is where it asks for the lock by itself: in a loop that is interrupted."""
# repeat: 20
# ends while threads run

import _thread
import os
import time


def recursion():
    def down(n):
        return 0 if n == 0 else 1 + down(n - 1)

    while True:
        down(50)


def generators():
    while True:
        sum(x for x in range(10))
        sorted([3, 2, 1], key=lambda z: -z)


for shape in (recursion, generators) if os.getpid() % 2 else (recursion, recursion):
    _thread.start_new_thread(shape, ())
time.sleep(0.05)
print("end")
