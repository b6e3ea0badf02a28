"""A small operating system: tasks with priorities pass packets to each other through queues. And a
lift simulation."""

WAITING, READY, HELD = 0, 1, 2


class Packet:
    def __init__(self, kind, owner):
        self.kind = kind
        self.owner = owner
        self.next = None
        self.datum = 0
        self.data = [0, 0, 0, 0]


class Task:
    def __init__(self, system, ident, priority):
        self.system = system
        self.ident = ident
        self.priority = priority
        self.state = WAITING
        self.head = None
        self.tail = None
        self.runs = 0

    def post(self, packet):
        packet.next = None
        if self.head is None:
            self.head = packet
        else:
            self.tail.next = packet
        self.tail = packet
        if self.state == WAITING:
            self.state = READY
        return self

    def take(self):
        packet = self.head
        if packet is not None:
            self.head = packet.next
            if self.head is None:
                self.tail = None
        return packet

    def ready(self):
        return self.state == READY

    def step(self):
        self.runs += 1
        packet = self.take()
        if packet is None:
            self.state = WAITING
            return
        self.work(packet)

    def work(self, packet):
        raise NotImplementedError


class Idle(Task):
    def __init__(self, system, ident, count):
        Task.__init__(self, system, ident, 0)
        self.count = count
        self.control = 1
        self.state = READY

    def step(self):
        self.runs += 1
        self.count -= 1
        if self.count <= 0:
            self.state = HELD
            self.system.stop = True
        elif self.control & 1:
            self.control = self.control >> 1 ^ 0xD008
            self.system.send(2, Packet(1, self.ident))
        else:
            self.control >>= 1
            self.system.send(3, Packet(2, self.ident))


class Worker(Task):
    def __init__(self, system, ident, priority, target):
        Task.__init__(self, system, ident, priority)
        self.target = target
        self.letter = 0

    def work(self, packet):
        for i in range(4):
            self.letter = (self.letter + 1) % 26
            packet.data[i] = 65 + self.letter
        packet.owner = self.ident
        self.system.send(self.target, packet)


class Handler(Task):
    def __init__(self, system, ident, priority, device):
        Task.__init__(self, system, ident, priority)
        self.device = device
        self.handled = 0

    def work(self, packet):
        spot = packet.datum
        if spot < 4:
            packet.datum = spot + 1
            self.handled += packet.data[spot]
            self.system.send(self.device if spot & 1 else self.ident, packet)


class Device(Task):
    def __init__(self, system, ident, priority, back):
        Task.__init__(self, system, ident, priority)
        self.back = back

    def work(self, packet):
        self.system.sent += 1
        self.system.send(self.back, packet)


class System:
    def __init__(self, turns):
        self.stop = False
        self.sent = 0
        self.switches = 0
        self.tasks = [
            Idle(self, 0, turns), Device(self, 1, 50, 4), Worker(self, 2, 10, 4), Worker(self, 3, 20, 4), Handler(self, 4, 30, 1),
        ]

    def send(self, ident, packet):
        self.tasks[ident].post(packet)

    def next_task(self):
        best = None
        for task in self.tasks:
            if task.ready() and (best is None or task.priority > best.priority):
                best = task
        return best

    def schedule(self):
        while not self.stop:
            task = self.next_task()
            self.switches += 1
            task.step()
        return self.switches, self.sent, self.tasks[4].handled


def run(turns):
    return System(turns).schedule()


class Car:
    __slots__ = ("floor", "going", "load", "trips")

    def __init__(self, floor):
        self.floor = floor
        self.going = 1
        self.load = []
        self.trips = 0

    def move(self, top):
        self.floor += self.going
        if self.floor == top or self.floor == 0:
            self.going = -self.going
            self.trips += 1


class Rider:
    __slots__ = ("origin", "goal", "waited")

    def __init__(self, origin, goal):
        self.origin = origin
        self.goal = goal
        self.waited = 0

    def tick(self):
        self.waited += 1
        return self.waited


class Building:
    def __init__(self, floors, cars):
        self.floors = [[] for _ in range(floors)]
        self.cars = [Car(i * floors // cars) for i in range(cars)]
        self.seed = 7
        self.arrived = 0
        self.waiting = 0

    def chance(self, n):
        self.seed = (self.seed * 69069 + 1) % 4294967296
        return (self.seed >> 8) % n

    def tick(self):
        count = len(self.floors)
        origin, goal = self.chance(count), self.chance(count)
        if origin != goal:
            self.floors[origin].append(Rider(origin, goal))
        for car in self.cars:
            car.move(count - 1)
            staying = []
            for rider in car.load:
                if rider.goal == car.floor:
                    self.arrived += 1
                else:
                    staying.append(rider)
            car.load = staying
            queue = self.floors[car.floor]
            while queue and len(car.load) < 6:
                car.load.append(queue.pop())
        for queue in self.floors:
            for rider in queue:
                self.waiting += rider.tick() & 1


def run_unseen(ticks):
    building = Building(12, 3)
    for _ in range(ticks):
        building.tick()
    return building.arrived, building.waiting
