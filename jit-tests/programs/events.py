"""A queue of timed events: customers, servers, a lift, breakdowns, with heapq and our own ordering."""

import heapq


class Event:
    serial = 0

    def __init__(self, time, action, *args):
        self.time = time
        self.action = action
        self.args = args
        Event.serial += 1
        self.serial = Event.serial
        self.cancelled = False

    def __lt__(self, other):
        return (self.time, self.serial) < (other.time, other.serial)


class Simulation:
    def __init__(self, seed):
        self.now = 0.0
        self.queue = []
        self.seed = seed
        self.handled = 0

    def random(self):
        self.seed = (self.seed * 16807) % 2147483647
        return self.seed / 2147483647

    def after(self, delay, action, *args):
        if delay < 0:
            raise ValueError(f"{action.__name__} in the past: {delay}")
        e = Event(self.now + delay, action, *args)
        heapq.heappush(self.queue, e)
        return e

    def run(self, until):
        while self.queue and self.queue[0].time <= until:
            e = heapq.heappop(self.queue)
            if not e.cancelled:
                self.now = e.time
                self.handled += 1
                e.action(*e.args)
        self.now = until


class Shop:
    def __init__(self, sim, servers):
        self.sim = sim
        self.free = servers
        self.line = []
        self.served = self.left = 0
        self.waited = 0
        self.longest = 0
        sim.after(0, self.arrive, 0)

    def arrive(self, n):
        sim = self.sim
        sim.after(sim.random() * 2, self.arrive, n + 1)
        patience = sim.after(3 + 5 * sim.random(), self.give_up, n)
        self.line.append((n, sim.now, patience))
        self.longest = max(self.longest, len(self.line))
        self.next()

    def give_up(self, n):
        for i, (m, _, _) in enumerate(self.line):
            if m == n:
                del self.line[i]
                self.left += 1
                return
        raise LookupError(n)

    def next(self):
        while self.free and self.line:
            n, since, patience = self.line.pop(0)
            patience.cancelled = True
            self.free -= 1
            self.waited += self.sim.now - since
            self.sim.after(1 + 2 * self.sim.random(), self.done, n)

    def done(self, n):
        self.free += 1
        self.served += 1
        if n % 50 == 49:
            self.free -= 1
            self.sim.after(10, self.repaired)
        self.next()

    def repaired(self):
        self.free += 1
        self.next()


STATES = {
    "idle": {"call": "closing", "fire": "stopped"},
    "closing": {"closed": "moving", "blocked": "opening", "fire": "stopped"},
    "moving": {"arrived": "opening", "fire": "stopped"},
    "opening": {"opened": "idle", "fire": "stopped"},
    "stopped": {"reset": "idle"},
}


class Lift:
    def __init__(self):
        self.state = "idle"
        self.counts = {}

    def on(self, event):
        try:
            self.state = STATES[self.state][event]
        except KeyError as error:
            raise RuntimeError(f"{event} while {self.state}") from error
        self.counts[self.state] = self.counts.get(self.state, 0) + 1


def ride(n, sim):
    lift = Lift()
    wrong = {}
    words = ["call", "closed", "arrived", "opened", "blocked", "reset", "fire"]
    for i in range(n):
        try:
            lift.on(words[int(sim.random() * 7)])
        except RuntimeError as error:
            wrong[str(error)] = wrong.get(str(error), 0) + 1
    return lift.state, sorted(lift.counts.items()), len(wrong), max(wrong.values())


for servers in (1, 2, 3):
    sim = Simulation(servers * 12345)
    shop = Shop(sim, servers)
    sim.run(500)
    print(servers, sim.handled, shop.served, shop.left, f"{shop.waited / shop.served:.6f}", shop.longest, len(sim.queue) > 0)
print(ride(2000, Simulation(99)))
sim = Simulation(1)
sim.after(1, lambda: sim.after(-1, print))
try:
    sim.run(5)
except ValueError as error:
    print(error, sim.now, sim.handled)
