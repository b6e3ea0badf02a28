"""Small methods that are called of instances of several classes, and what may come between two looks at one of them."""


class State:
    def __init__(self):
        self.pending = True
        self.waiting = False
        self.holding = False

    def is_held(self):
        return self.holding or (not self.pending and self.waiting)

    def is_ready(self):
        return self.pending and (self.waiting and not self.holding)

    def run(self):
        self.pending = False
        self.waiting = self.holding = False
        return self


class Task(State):
    def __init__(self, priority, link):
        State.__init__(self)
        self.priority = priority
        self.link = link
        self.input = None

    def step(self, packet):
        raise NotImplementedError

    def add(self, packet, old):
        if self.input is None:
            self.input = packet
            self.pending = True
            if self.priority > old.priority:
                return self
        else:
            packet.append_to(self.input)
        return old

    def take(self):
        if not self.pending:
            return None
        packet = self.input
        if packet is None:
            return None
        self.input = packet.link
        if self.input is None:
            self.run()
        return self.step(packet)


class Packet:
    def __init__(self, link, value):
        self.link = link
        self.value = value

    def append_to(self, queue):
        self.link = None
        while queue.link is not None:
            queue = queue.link
        queue.link = self

    def __del__(self):
        dropped.append(self.value)


dropped = []


class Adder(Task):
    def __init__(self, priority, link):
        Task.__init__(self, priority, link)
        self.sum = 0

    def step(self, packet):
        self.sum += packet.value
        return self.sum


class Counter(Task):
    def step(self, packet):
        self.priority += 1
        return self.priority


class Keeper(Task):
    def __init__(self, priority, link):
        Task.__init__(self, priority, link)
        self.kept = []
        self.last = None

    def step(self, packet):
        self.last = packet
        self.kept.append(packet.value)
        return len(self.kept)


def scan(task, rounds):
    held = ready = 0
    first = task
    for _ in range(rounds):
        task = first
        while task is not None:
            if task.is_held():
                held += 1
            if task.is_ready():
                ready += 1
            task = task.link
    return held, ready


def feed(tasks, n):
    out = []
    for i in range(n):
        task = tasks[i % len(tasks)]
        best = task.add(Packet(None, i), tasks[0])
        if i % 4 == 3:
            task.add(Packet(None, -i), best)
        out.append(task.take())
        if i % 3 == 0:
            out.append(task.take())
    return out


chain = Adder(3, Counter(5, Keeper(4, Adder(1, None))))
tasks = []
link = chain
while link is not None:
    tasks.append(link)
    link = link.link
print(scan(chain, 60))
print(feed(tasks, 200)[-12:], len(dropped))
print(scan(chain, 60), dropped[-5:])

# Instances get attributes that hide a method, one class at a time: their classes' shared keys grow.
tasks[1].is_held = lambda: True
print(scan(chain, 30))
tasks[3].is_ready = lambda: 1
print(scan(chain, 30))
del tasks[1].is_held
print(scan(chain, 30))
tasks[0].more = "no method"
tasks[2].other = 1
print(scan(chain, 30))

# A method of one class, and of all.
Keeper.is_held = lambda self: self.kept
print(scan(chain, 30))
del Keeper.is_held
held = State.is_held
State.is_held = lambda self: 2 if self.waiting else 0
tasks[2].waiting = True
print(scan(chain, 30))
State.is_held = held


# Another class in the chain, and another class for an object of it.
class Odd(Task):
    __slots__ = ()
    pending = property(lambda self: True, lambda self, value: None)


tasks[3].link = Odd(9, None)
print(scan(chain, 40))
tasks[1].__class__ = Adder
tasks[1].sum = 10
print(scan(chain, 20), feed(tasks, 60)[-6:])


# What a store takes out is what was just found there; its end changes the object that the function goes on with.
class Turning:
    def __init__(self, owner):
        self.owner = owner

    def __del__(self):
        self.owner.__class__ = Turned
        self.owner.seen += 1


class Holder:
    def __init__(self):
        self.seen = 0
        self.flag = True
        self.thing = None

    def name(self):
        return "holder"

    def put(self, thing):
        self.thing = thing
        self.flag = not self.flag
        return self.name(), self.flag

    def swap(self, thing):
        old = self.thing
        self.thing = thing
        return old, self.name()

    def clear(self):
        if self.thing is not None:
            self.thing = None
        return self.name()


class Turned(Holder):
    def name(self):
        return "turned"


class Plain(Holder):
    pass


def use(cls, things):
    out = []
    for thing in things:
        holder = cls()
        out.append(holder.put(thing))
        out.append(holder.swap(None)[1])
        out.append(holder.put("text"))
        out.append(holder.clear())
    return out[-4:]


def turned(n):
    out = []
    for i in range(n):
        holder = Holder() if i % 2 else Plain()
        holder.put(Turning(holder))
        out.append(holder.put(i))
        out.append(holder.name())
        holder.put(Turning(holder))
        out.append(holder.clear())
        holder.put(Turning(holder))
        old, name = holder.swap(None)
        out.append((name, type(holder).__name__))
        del old
        out.append((holder.name(), holder.seen))
    return out


for cls in (Holder, Plain, Turned):
    print(use(cls, list(range(80))))
print(turned(60)[-10:])


# A value that is read before a store ends it, and used after.
class Box:
    def __init__(self, value):
        self.value = value

    def replace(self, value):
        self.value = value
        return value

    def both(self, value):
        return self.value, self.replace(value)

    def added(self, value):
        return self.value + self.replace(value)


class Tall(Box):
    height = 1


boxes = [Box(0.5), Tall(1.5)]
total = 0.0
for i in range(400):
    box = boxes[i & 1]
    total += box.added(i * 0.25)
    a, b = box.both(i * 1.5 + 10**18 // 7)
    total += (b - a) / 10**17
print(total)
big = [Box(10**30), Tall(10**31)]
for i in range(200):
    box = big[i & 1]
    last = box.added(10**29 + i)
print(last, [box.value for box in big])
