"""Context variables read and set in hot functions, in copied contexts, through generators and callbacks, reset in and out of turn."""

import contextvars

from support import each, hot

var = contextvars.ContextVar("var", default=0)
bare = contextvars.ContextVar("bare")


def added(n):
    token = var.set(n)
    total = 0
    try:
        for i in range(n):
            total += var.get() + i
            var.set(var.get() + 1)
        return total, var.get()
    finally:
        var.reset(token)


def nested(depth):
    if depth == 0:
        return [var.get()]
    token = var.set(depth)
    try:
        return nested(depth - 1) + [var.get()]
    finally:
        var.reset(token)


def in_copies(n):
    context = contextvars.copy_context()
    out = [context.run(added, i) for i in range(n)]
    context.run(var.set, "inside")
    return out, context[var], var.get(), var in context, len([v for v in context if v is var])


def generators(n):
    def g():
        for i in range(n):
            var.set(var.get() + 1)
            yield var.get()
    context = contextvars.copy_context()
    it = g()
    return [context.run(next, it), next(it), context.run(next, it), var.get(), context[var]]


def wrong(how):
    if how == 0:
        return bare.get()
    if how == 1:
        return bare.get("given")
    if how == 2:
        token = var.set(1)
        var.reset(token)
        var.reset(token)
    if how == 3:
        token = contextvars.copy_context().run(var.set, 5)
        var.reset(token)
    if how == 4:
        bare.reset(var.set(var.get()))
    if how == 5:
        context = contextvars.copy_context()
        return context.run(context.run, len, "x")
    if how == 6:
        return contextvars.copy_context()[bare]
    return contextvars.copy_context().run(lambda: 1 / 0)


def tokens():
    first = var.set(1)
    second = var.set(2)
    out = [first.var is var, second.old_value, var.get()]
    var.reset(second)
    out.append(var.get())
    var.reset(first)
    return out, var.get(), first.old_value in (0, contextvars.Token.MISSING)


each(added, (0,), (5,), (40,))
each(nested, (0,), (3,), (30,))
hot(in_copies, 3)
hot(lambda: contextvars.copy_context().run(generators, 5))
hot(lambda: contextvars.copy_context().run(tokens))


def shown(how):
    try:
        return contextvars.copy_context().run(wrong, how)
    except (RuntimeError, ValueError, LookupError, ArithmeticError) as error:
        return type(error).__name__, str(error).partition("<")[0], isinstance(error, LookupError)


each(shown, *[(i,) for i in range(8)])
