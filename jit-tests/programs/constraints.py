"""A network of one-way constraints with strengths, solved incrementally: many small classes and method calls."""

REQUIRED, STRONG, MEDIUM, WEAK = 0, 1, 2, 3


class Variable:
    def __init__(self, name, value=0):
        self.name = name
        self.value = value
        self.users = []
        self.determined = None
        self.mark = 0
        self.strength = WEAK

    def __repr__(self):
        return f"{self.name}={self.value}"


class Constraint:
    def __init__(self, strength):
        self.strength = strength

    def add(self, planner):
        for v in self.variables():
            v.users.append(self)
        planner.satisfy(self)

    def remove(self, planner):
        for v in self.variables():
            v.users.remove(self)
        if self.output().determined is self:
            self.output().determined = None
            planner.repair(self.output())


class Stay(Constraint):
    def __init__(self, v, strength):
        super().__init__(strength)
        self.v = v

    def variables(self):
        return (self.v,)

    def output(self):
        return self.v

    def inputs(self):
        return ()

    def execute(self):
        pass


class Edit(Stay):
    value = 0

    def execute(self):
        self.v.value = self.value


class Equal(Constraint):
    def __init__(self, a, b, strength=REQUIRED):
        super().__init__(strength)
        self.a = a
        self.b = b

    def variables(self):
        return self.a, self.b

    def output(self):
        return self.b

    def inputs(self):
        return (self.a,)

    def execute(self):
        self.b.value = self.a.value


class Scale(Equal):
    def __init__(self, a, factor, offset, b):
        super().__init__(a, b)
        self.factor = factor
        self.offset = offset

    def execute(self):
        self.b.value = self.a.value * self.factor.value + self.offset.value


class Planner:
    def __init__(self):
        self.mark = 0
        self.executed = 0

    def satisfy(self, c):
        out = c.output()
        if out.determined is None or c.strength < out.determined.strength:
            self.mark += 1
            if self.depends(c, out):
                raise RecursionError(f"cycle through {out.name}")
            out.determined = c
            out.strength = c.strength
            self.propagate(out, c)

    def depends(self, c, target):
        for v in c.inputs():
            if v is target:
                return True
            if v.mark != self.mark:
                v.mark = self.mark
                if v.determined is not None and self.depends(v.determined, target):
                    return True
        return False

    def propagate(self, v, first):
        todo = [first]
        while todo:
            c = todo.pop(0)
            c.execute()
            self.executed += 1
            out = c.output()
            for user in out.users:
                if user is not c and user.output() is not out and user.output().determined is user:
                    todo.append(user)

    def repair(self, v):
        best = None
        for c in v.users:
            if c.output() is v and (best is None or c.strength < best.strength):
                best = c
        if best is not None:
            self.satisfy(best)


def chain(n):
    planner = Planner()
    vs = [Variable(f"v{i}") for i in range(n)]
    for a, b in zip(vs, vs[1:]):
        Equal(a, b).add(planner)
    edit = Edit(vs[0], STRONG)
    edit.add(planner)
    for value in range(40):
        edit.value = value * 0.5 if value > 35 else value
        planner.propagate(vs[0], edit)
        assert vs[-1].value == edit.value
    edit.remove(planner)
    return vs[0], vs[-1], planner.executed


def projection(n):
    planner = Planner()
    factor, offset = Variable("factor", 10), Variable("offset", 1000)
    pairs = []
    for i in range(n):
        src, dst = Variable(f"s{i}", i), Variable(f"d{i}", i)
        Stay(src, MEDIUM).add(planner)
        Scale(src, factor, offset, dst).add(planner)
        pairs.append((src, dst))
    for src, dst in pairs:
        edit = Edit(src, STRONG)
        edit.value = 17
        edit.add(planner)
        assert dst.value == 1170, dst
        edit.remove(planner)
    factor.value = 5
    for src, dst in pairs:
        planner.propagate(src, src.determined)
    return sum(d.value for _, d in pairs), planner.executed


print(chain(60), projection(120))
a, b, c = (Variable(n) for n in "abc")
p = Planner()
Equal(a, b).add(p)
Equal(b, c).add(p)
try:
    Equal(c, a).add(p)
except RecursionError as error:
    print(error)
