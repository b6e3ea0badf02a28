"""Functions that bind globals: what they keep in registers must be in the dict whenever somebody can look."""

import sys
import threading

count = 0
total = 0.0
flag = False
items = []
text = ""


def bump():
    global count
    count += 1


def bump_by(n):
    global count, total
    for i in range(n):
        count += i
        total += 0.5 * i
    return count, total


def look():
    return globals()["count"], count, sys._getframe(1).f_globals["count"]


def watched(n):
    global count
    seen = []
    for i in range(n):
        count = i * 3
        if i % 7 == 0:
            seen.append(look())
        count += 1
    return seen, count


def changed_by_callee(n):
    global count
    count = 0
    for i in range(n):
        count += 1
        bump()
        count *= 1
    return count


def raises(n, at):
    global count
    try:
        for i in range(n):
            count = i
            10 // (at - i)
    except ZeroDivisionError as e:
        return "caught", count, e.__traceback__.tb_lineno - raises.__code__.co_firstlineno
    return "done", count


def raises_out(n, at):
    global count, total
    for i in range(n):
        count += 1
        total = count / 2
        [0][int(i == at)]


def unbound():
    global never, count
    count += 1
    try:
        return never
    except NameError as e:
        return str(e)


def made_and_deleted(n):
    global made
    out = []
    for i in range(n):
        made = i
        made += 1
        out.append(made)
        del made
        out.append("made" in globals())
    try:
        made += 1
    except NameError as e:
        out.append(str(e))
    return out[-5:]


def shadows_a_builtin(n):
    global len
    before = len("abc")
    len = n
    try:
        len += 1
        return before, len
    finally:
        del len


class Noisy:
    def __init__(self, name):
        self.name = name

    def __del__(self):
        print("gone", self.name, count)


def objects_die_in_time(n):
    global held, count
    for i in range(n):
        count = i
        held = Noisy(i)
        count = i + 100
    held = None


def grows(n):
    global count
    count = 1
    for _ in range(n):
        count *= 3
    return count


class Int(int):
    def __add__(self, other):
        return Int(int(self) + int(other) + 1)


def of_a_subclass(n):
    global count
    count = Int(5)
    for i in range(n):
        count = count + i
    return type(count).__name__, count


def kinds(n):
    global flag, text, items
    for i in range(n):
        flag = not flag
        text = text + "x" if i % 3 else ""
        items = items + [i] if i % 4 else []
    return flag, text, items


def recurses(n):
    global count
    count += 1
    if n:
        recurses(n - 1)
        count += 1
    return count


def changes_kind(n):
    global count
    count = 0
    for i in range(n):
        count = count + 1 if i < n // 2 else float(count) + 0.5
    return count


def yields(n):
    global count
    for i in range(n):
        count = i
        yield count
        count += 10


def closure(n):
    def inner():
        global count
        count += n
        return count
    return inner


def main():
    global count, total
    for _ in range(3):
        for _ in range(40):
            bump()
        print(count, bump_by(50))
        print(watched(30))
        print(changed_by_callee(60))
        print(raises(20, 13), raises(20, 50))
        try:
            raises_out(30, 17)
        except IndexError as e:
            tb = e.__traceback__.tb_next
            print(type(e).__name__, tb.tb_lineno - raises_out.__code__.co_firstlineno, count, total)
        print(unbound(), count)
        print(made_and_deleted(10))
        print(shadows_a_builtin(7), len("four"))
        objects_die_in_time(4)
        print(grows(60), of_a_subclass(20), kinds(31))
        count = 0
        print(recurses(20), changes_kind(40))
        print([(x, count) for x in yields(4)], count)
        step = closure(3)
        print([step() for _ in range(30)][-1])
        count, total = 0, 0.0


main()

# Another namespace for the same code, and one that dies.
for k in range(6):
    space = {"__name__": "other", "count": k, "__builtins__": __builtins__}
    exec("def f(n):\n global count\n for i in range(n): count += i\n return count\n", space)
    print(space["f"](30), space["count"])
    space["count"] = "s"
    try:
        space["f"](2)
    except TypeError as e:
        print(e)
    del space["count"]
    try:
        space["f"](2)
    except NameError as e:
        print(e)

# The dict changes its shape meanwhile.
for k in range(200):
    globals()[f"extra{k}"] = k
    bump()
for k in range(200):
    del globals()[f"extra{k}"]
    bump()
print(count)

seen = []


def tracer(frame, event, arg):
    if frame.f_code is bump.__code__ and event == "return":
        seen.append(frame.f_globals["count"])
    return tracer


sys.settrace(tracer)
for _ in range(3):
    bump()
sys.settrace(None)
print(seen)

lock = threading.Lock()


def locked(n):
    global count
    for _ in range(n):
        with lock:
            count += 1


count = 0
threads = [threading.Thread(target=locked, args=(300,)) for _ in range(4)]
for t in threads:
    t.start()
for t in threads:
    t.join()
print(count)
