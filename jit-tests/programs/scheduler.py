"""An operating system in miniature: tasks of several classes, queues of packets, priorities, and a clock."""


class Packet:
    def __init__(self, link, ident, kind):
        self.link = link
        self.ident = ident
        self.kind = kind
        self.datum = 0
        self.data = [0] * 4

    def append_to(self, queue):
        self.link = None
        if queue is None:
            return self
        p = queue
        while p.link is not None:
            p = p.link
        p.link = self
        return queue


class Task:
    def __init__(self, kernel, ident, priority, queue):
        self.kernel = kernel
        self.ident = ident
        self.priority = priority
        self.queue = queue
        self.waiting = queue is None
        self.held = False
        self.ran = 0

    def run(self):
        packet = self.queue
        if packet is not None:
            self.queue = packet.link
        self.ran += 1
        return self.act(packet)

    def take(self, packet):
        self.queue = packet.append_to(self.queue)
        self.waiting = False

    def wait(self):
        self.waiting = self.queue is None
        return None


class Idler(Task):
    def __init__(self, kernel, ident, count):
        super().__init__(kernel, ident, 0, None)
        self.waiting = False
        self.count = count
        self.bits = 1

    def act(self, packet):
        self.count -= 1
        if self.count == 0:
            self.held = True
            return None
        if self.bits & 1:
            self.bits = (self.bits >> 1) ^ 0xD008
            return self.kernel.send(1, Packet(None, self.ident, "work"))
        self.bits >>= 1
        return self.kernel.send(2, Packet(None, self.ident, "device"))


class Worker(Task):
    letters = 0

    def act(self, packet):
        if packet is None:
            return self.wait()
        for i in range(4):
            Worker.letters = (Worker.letters + 1) % 26
            packet.data[i] = ord("A") + Worker.letters
        return self.kernel.send(3, packet)


class Device(Task):
    def __init__(self, *args):
        super().__init__(*args)
        self.log = []

    def act(self, packet):
        if packet is None:
            return self.wait()
        if len(self.log) < 30:
            self.log.append(packet.ident)
        packet.datum += 1
        if packet.datum < 3:
            return self.kernel.send(3, packet)
        return None


class Sink(Task):
    def act(self, packet):
        if packet is None:
            return self.wait()
        self.kernel.done[packet.kind] = self.kernel.done.get(packet.kind, 0) + 1
        if packet.kind == "work" and packet.datum < 2:
            return self.kernel.send(2, packet)
        return None


class Kernel:
    def __init__(self, count):
        self.done = {}
        self.tasks = [Idler(self, 0, count), Worker(self, 1, 10, None), Device(self, 2, 20, None), Sink(self, 3, 5, None)]
        self.steps = 0

    def send(self, ident, packet):
        try:
            self.tasks[ident].take(packet)
        except IndexError:
            raise LookupError(f"no task {ident}") from None
        return ident

    def loop(self):
        while True:
            best = None
            for t in self.tasks:
                if not t.held and not t.waiting and (best is None or t.priority > best.priority):
                    best = t
            if best is None or self.tasks[0].held:
                return self.steps
            best.run()
            self.steps += 1


k = Kernel(1500)
print(k.loop(), sorted(k.done.items()), [t.ran for t in k.tasks], k.tasks[2].log[:6], Worker.letters)
k = Kernel(300)
k.tasks.pop()
try:
    k.loop()
except LookupError as error:
    print(error, k.steps)
