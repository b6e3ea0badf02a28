"""import in hot functions: forms, submodules, aliases, stars at module level, missing names, modules that raise, hooks and sys.modules changed."""

import builtins
import sys
import types

from support import each, hot

made = types.ModuleType("made_here")
made.x = 1
made.__all__ = ["x", "y"]
package = types.ModuleType("pack")
package.__path__ = []
sub = types.ModuleType("pack.sub")
sub.value = "deep"
package.sub = sub


class Lazy(types.ModuleType):
    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return f"lazy {name}"


sys.modules.update({"made_here": made, "pack": package, "pack.sub": sub, "lazy": Lazy("lazy"), "blocked": None})


def forms(n):
    import made_here
    import made_here as alias, pack.sub
    import pack.sub as deep
    from made_here import x, x as renamed
    from pack import sub as again
    from pack.sub import value
    from lazy import anything
    return made_here is alias, pack.__name__, deep is again, x + renamed + n, value, anything


def missing(how):
    if how == 0:
        import no_such_module
    elif how == 1:
        from made_here import no_such_name
    elif how == 2:
        import made_here.sub
    elif how == 3:
        from pack import nothing
    elif how == 4:
        import blocked
    elif how == 5:
        from . import relative
    elif how == 6:
        import pack.absent
    elif how == 7:
        from pack.sub import value, other
    return "imported"


def optional():
    try:
        import no_such_module as m
    except ImportError as error:
        m = None
        return m, type(error).__name__, error.name


def star(source):
    space = {}
    exec(source, space)
    return sorted(k for k in space if not k.startswith("__"))


def replaced(n):
    out = []
    for i in range(n):
        if i == n - 3:
            sys.modules["made_here"] = types.SimpleNamespace(x="replaced")
        from made_here import x
        import made_here as m
        out.append((x, m.x))
    sys.modules["made_here"] = made
    return out[-4:]


def hooked(n):
    saved = builtins.__import__
    seen = []
    def own(name, globals=None, locals=None, fromlist=(), level=0):
        seen.append((name, fromlist, level))
        return saved(name, globals, locals, fromlist, level)
    builtins.__import__ = own
    try:
        import made_here
        from pack import sub
    finally:
        builtins.__import__ = saved
    return seen, sub.value, n


def removed():
    saved = builtins.__import__
    del builtins.__import__
    try:
        import made_here
    finally:
        builtins.__import__ = saved


hot(forms, 5)
each(missing, *[(i,) for i in range(8)])
hot(optional)
each(star, ("from pack.sub import *",), ("from lazy import *",))
hot(replaced, 60, times=3)
hot(hooked, 1)
hot(removed)
made.y = 2
hot(star, "from made_here import *")
