"""Loops over lists and tuples that run nothing of the program, whose local borrows the items: who has them when such a loop is left."""
import gc
import signal
import sys
import threading


class Point:
    def __init__(self, x, y):
        self.x = x
        self.y = y


class Loud:
    def __init__(self, name, x=1):
        self.name = name
        self.x = self.y = x

    def __del__(self):
        LOG.append((self.name, sys._getframe(1).f_code.co_name, sys._getframe(1).f_lineno - sys._getframe(1).f_code.co_firstlineno))


LOG = []


def total(points, times):
    found = 0
    for _ in range(times):
        for p in points:
            found += p.x + p.y
    return found, p.x


def until(points):
    p = Loud("first")
    for p in points:
        if p.x > 3:
            break
    else:
        return "none", p.x
    return p.x


def kept(points):
    p = None
    for p in points:
        pass
    return p


def left(points):
    found = 0
    for p in points:
        found += p.x * 2
        if found > 20:
            return p
    return found


def passed_by(points):
    skipped = 0
    for p in points:
        if p.x % 2:
            continue
        skipped += p.y
    del p
    return skipped


def of_temporary():
    for p in [Loud("a", 1), Loud("b", 2)]:
        if p.x > 5:
            return None
    return p.name


def caught(points):
    found = 0
    try:
        for p in points:
            found += p.x
    except TypeError as error:
        return found, p.x, str(error), error.__traceback__.tb_lineno - caught.__code__.co_firstlineno
    return found, p.x


def pairs(rows):
    found = 0
    for row in rows:
        for value in row:
            found += value
    return found, value


def run():
    points = [Point(i, i + 1) for i in range(6)]
    counts = [sys.getrefcount(p) for p in points]
    for _ in range(60):
        total(points, 3)
        until(points)
        kept(points)
        left(points)
        passed_by(points)
        of_temporary()
        caught(points)
        pairs(((1, 2), (3, 4)))
    print(total(points, 10), until(points), kept(points).x, left(points).x, passed_by(points))
    print(kept([]), kept(()), until(points[:2]), left(points[:2]), total(tuple(points), 2))
    print(pairs([(1, 2), (2**70, 4)]), pairs([(1, 2.5), (3,)]))
    try:
        kept(3)
    except TypeError as error:
        print(error)
    try:
        passed_by([])
    except UnboundLocalError as error:
        print(error)
    points[3].x = "s"
    print(caught(points), caught(points[:3]))
    points[3].x = 3
    points.append(Loud("last", 7))
    print(total(points, 2), left(points[-1:]))
    points.pop()
    LOG.append(kept(points[4:]).x)
    print([sys.getrefcount(p) for p in points] == counts)
    print(len(LOG), sorted(set(map(str, LOG))))


def interrupted():
    """What a signal's handler and another thread see, and change, in the midst of such a loop."""
    points = [Point(i, 1) for i in range(40)]
    seen = set()

    def handler(number, frame):
        while frame and frame.f_code is not total.__code__:
            frame = frame.f_back
        if frame and "p" in frame.f_locals:
            p = frame.f_locals["p"]
            seen.add(type(p) is Point and 0 <= p.x < 40)
            frame.f_locals["points"][p.x % 40] = Point(p.x, 1)
        gc.collect()
        # Only now: where this takes longer than that, handlers would interrupt each other for ever.
        if not stopped.is_set():
            signal.setitimer(signal.ITIMER_REAL, 0.002)

    stopped = threading.Event()
    signal.signal(signal.SIGALRM, handler)
    signal.setitimer(signal.ITIMER_REAL, 0.002)
    try:
        answers = {total(points, 200) for _ in range(60)}
    finally:
        stopped.set()
        signal.setitimer(signal.ITIMER_REAL, 0)
    print(answers, all(seen))

    done = threading.Event()

    def replace():
        while not done.is_set():
            for i in range(40):
                points[i] = Point(i, 1)

    thread = threading.Thread(target=replace)
    thread.start()
    try:
        print({total(points, 200) for _ in range(30)})
    finally:
        done.set()
        thread.join()


def traced():
    """Tracing that begins in a loop's finaliser sees the lines from there on."""
    lines = []

    class Starts:
        x = y = 1

        def __del__(self):
            def local(frame, event, argument):
                if frame.f_code is until.__code__ and event == "line":
                    lines.append(frame.f_lineno - frame.f_code.co_firstlineno)
                return local
            sys.settrace(local)
            sys._getframe(1).f_trace = local

    def dropped(points):
        p = Starts()
        for p in points:
            if p.x > 3:
                break
        return p.x

    points = [Point(i, 1) for i in range(6)]
    answers = []
    for _ in range(30):
        answers.append(dropped(points))
        answers.append(until(points))
        sys.settrace(None)
    print(set(answers), len(lines), sorted(set(lines)))


run()
interrupted()
traced()
