"""A C function passes its own arguments on where they are. They are its caller's still, and live until that call is over. Those of an
interpreted generator or coroutine are not: they die where the callee drops them, as those of any interpreted call."""

import contextvars
import functools
import operator


class D:
    def __init__(self, name="object"):
        self.name = name

    def __del__(self):
        log.append("del " + self.name)


log = []
run = contextvars.copy_context().run


def one(x):
    x = None
    log.append("dropped")


def three(a, b, c=None):
    a = None
    log.append("a")
    b = None
    log.append("b")
    c = None
    log.append("c")


def rest(*args, **names):
    args = names = None
    log.append("dropped")


def keyword(*, x):
    x = None
    log.append("dropped")


class Holder:
    def method(self, x):
        x = None
        log.append("dropped")


holder = Holder()
FORMS = """
one(D())
one(x=D())
three(D("1"), D("2"))
three(D("1"), D("2"), D("3"))
three(D("1"), c=D("3"), b=D("2"))
rest(D())
rest(D("1"), D("2"), y=D("3"))
keyword(x=D())
holder.method(D())
Holder.method(holder, D())
run(one, D())
run(three, D("1"), D("2"), D("3"))
run(three, D("1"), c=D("3"), b=D("2"))
run(contextvars.copy_context().run, one, D())
run(keyword, x=D())
run(rest, D("1"), y=D("2"))
run(holder.method, D())
run(Holder.method, holder, D())
operator.call(one, D())
operator.call(three, D("1"), D("2"), D("3"))
operator.call(three, D("1"), c=D("3"), b=D("2"))
operator.call(rest, D("1"), y=D("2"))
operator.call(run, one, D())
functools.partial(one)(D())
functools.partial(three, D("1"))(D("2"), D("3"))
list(map(one, [D()]))
sorted([D()], key=one)
""".strip().splitlines()


def warm():
    for _ in range(40):
        one(1)
        three(1, 2, 3)
        rest(1, y=2)
        keyword(x=1)
        holder.method(1)
    log.clear()


def report(where, form, call):
    log.clear()
    call()
    print(where, form, log)


warm()
for form in FORMS:
    names = {}
    exec(
        f"def plain():\n {form}\ndef generator():\n {form}\n yield\nasync def coroutine():\n {form}\n",
        globals(),
        names,
    )
    report("module", form, lambda: exec(form, globals()))
    report("plain", form, names["plain"])
    report("generator", form, lambda: list(names["generator"]()))

    def step():
        try:
            names["coroutine"]().send(None)
        except StopIteration:
            pass

    report("coroutine", form, step)
