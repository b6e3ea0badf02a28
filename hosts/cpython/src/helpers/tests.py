# Runs the interpreter's bytecode and the helper on the same operands and compares the results.
import faulthandler
import operator
import sys

faulthandler.enable()

NULL = type('NULL', (), {'__repr__': lambda self: 'NULL'})()


def outcome(f):
    try:
        return 'value', repr(f())
    except BaseException as e:
        cause = e.__cause__
        e.__traceback__ = None
        return type(e).__name__, str(e), getattr(e, 'name', None), repr(cause), e.__suppress_context__


def named(f, *names):
    # Give a function's code more names: helpers find theirs in the code of the frame.
    f.__code__ = f.__code__.replace(co_names=f.__code__.co_names + names)
    return f


def check(name, native, imms=(), operands=(), array=(), outputs=0, wrap=lambda r: r):
    ours = lambda: wrap(helper(name, imms, operands, array, outputs))
    named(ours, *(imm for imm in imms if isinstance(imm, str)))
    a, b = outcome(native), outcome(ours)
    assert a == b, (name, operands, a, b)
    for _ in range(20):
        outcome(ours)
    before = sys.getallocatedblocks()
    for _ in range(200):
        outcome(ours)
    grown = sys.getallocatedblocks() - before
    assert grown < 60, (name, operands, 'leaks', grown)


class Odd:
    def __eq__(self, other): return []
    def __bool__(self): raise ValueError('no truth')
    def __len__(self): return -1
    def __iter__(self): return iter((1, 2, 3))
    def __index__(self): raise KeyError('idx')
    __hash__ = None


odd = Odd()
values = [1, -3, 2.5, 'ab', [1, 2], (1, 2, 3), {'a': 1}, None, True, odd, 10**30, b'x']
binary = ['+', '&', '//', '<<', '@', '*', '%', '|', '**', '>>', '-', '/', '^']
for n, op in enumerate(binary):
    f = eval(f'lambda a, b: a {op} b')
    for a in values:
        for b in (2, 0, 'z', 1.5, odd):
            if op in '<<**' and (a == 10**30 or isinstance(a, Odd)):
                continue
            check('binary_op', lambda: f(a, b), (n,), (a, b))


def inplace(a, b):
    a += b
    return a


check('binary_op', lambda: inplace([1], (2,)), (13,), ([1], (2,)), wrap=lambda r: [1, 2])
for n, op in enumerate(['<', '<=', '==', '!=', '>', '>=']):
    f = eval(f'lambda a, b: a {op} b')
    g = eval(f'lambda a, b: True if a {op} b else False')
    for a in values + [float('nan')]:
        for b in (2, 'z', odd, a):
            check('compare', lambda: f(a, b), (n,), (a, b))
            check('compare_bool', lambda: g(a, b), (n,), (a, b))
for a in values:
    check('truth', lambda: True if a else False, (), (a,))
    check('negative', lambda: -a, (), (a,))
    if a is not True:
        check('invert', lambda: ~a, (), (a,))
    check('get_iter', lambda: type(iter(a)), (), (a,), wrap=type)
    check('get_len', lambda: len(a), (), (a,))
    check('contains', lambda: 1 in a, (), (1, a))
    check('format_simple', lambda: f'{a}', (), (a,), wrap=lambda r: r)
    check('format_with_spec', lambda: f'{a:>8}', (), (a, '>8'))
    for k in (0, -9, 'a', odd):
        check('get_item', lambda: a[k], (), (a, k))

        def store():
            a[k] = 5
            return ()

        def delete():
            del a[k]
        if type(a) not in (list, dict):
            check('set_item', store, (), (a, k, 5))
            check('del_item', delete, (), (a, k))
    check('get_slice', lambda: a[0:2], (), (a, 0, 2))
    check('convert_value', lambda: f'{a!r}', (1,), (a,))
    check('convert_value', lambda: f'{a!s}', (0,), (a,))
    check('convert_value', lambda: f'{a!a}', (2,), (a,))

    def ab():
        x, y = a
        return x, y

    def star():
        x, *y, z = a
        return x, y, z
    check('unpack_sequence', ab, (2,), (a,), outputs=2)
    check('unpack_ex', star, (1 | 1 << 8,), (a,), outputs=3)
    check('list_extend', lambda: [*a] and (), (), ([], a)) if a is not None and not isinstance(a, dict) else None
    check('set_update', lambda: {0, *a} and (), (), ({0}, a)) if type(a) is not list else None
    check('dict_update', lambda: {**a} and (), (), ({}, a))
    check('dict_merge', lambda: dict(x=1, **a) and (), (), ({'x': 1}, a, dict)) if type(a) is not dict else None
    check('match_mapping', lambda: isinstance(a, dict), (), (a,))
    check('match_sequence', lambda: isinstance(a, (list, tuple)), (), (a,))
    check('call_ex', lambda: max(*a), (), (), (max, a))
    check('call_ex', lambda: a(*()), (), (), (a, ()))

    def enter():
        with a:
            pass
    if sys.version_info < (3, 14):
        check('before_with', enter, (), (a,), outputs=2)
    else:
        # The interpreter looks the methods up by an instruction each, `__exit__` first.
        check('load_special', enter, (1,), (a,))

    async def enter_async():
        async with a:
            pass

    def start():
        enter_async().send(None)
    if sys.version_info >= (3, 14):
        check('load_special', start, (3,), (a,))
    check('raise', lambda: exec('raise a', {'a': a}), (1,), (a, NULL))

    def from_():
        raise KeyError('k') from a
    check('raise', from_, (2,), (KeyError('k'), a))


class Manager:
    def __enter__(self): return 'entered'
    def __exit__(self, *args): return 'left'
    async def __aenter__(self): return 'entered'
    async def __aexit__(self, *args): return 'left'


class OnlyEnters:
    def __enter__(self): return 'entered'
    __aenter__ = __aexit__ = __enter__


def enter_as(manager):
    with manager as entered:
        return entered


manager = Manager()
if sys.version_info < (3, 14):
    check('before_with', lambda: (manager.__exit__, enter_as(manager)), (), (manager,), outputs=2)
    check('before_with', lambda: enter_as(OnlyEnters()), (), (OnlyEnters(),), outputs=2)
else:
    for which, name in enumerate(('__enter__', '__exit__', '__aenter__', '__aexit__')):
        check('load_special', lambda: getattr(manager, name), (which,), (manager,))
    check('load_special', lambda: enter_as(OnlyEnters()), (1,), (OnlyEnters(),))
    # Template strings are no syntax of the older version.
    for text, conversion in (('t"{x + 1}"', 0), ('t"{x + 1!s}"', 1), ('t"{x + 1!r}"', 2), ('t"{x + 1!a}"', 3)):
        native = eval(f'lambda x: {text}.interpolations[0]')
        check('build_interpolation', lambda: native(4), (conversion,), (), (5, 'x + 1'))
    native = eval('lambda x: t"{x + 1!r:>{3}}".interpolations[0]')
    check('build_interpolation', lambda: native(4), (2,), (), (5, 'x + 1', '>3'))
    native = eval('lambda x: t"a{x}b"')
    check('call_intrinsic_2', lambda: native(4), (5,), (('a', 'b'), (native(4).interpolations[0],)))
check('build_slice', lambda: slice(1, 2), (), (1, 2, NULL))
check('build_slice', lambda: slice(1, 2, 3), (), (1, 2, 3))
check('set_slice', lambda: operator.setitem([1, 2], slice(0, 1), 'xyz') or (), (), ([1, 2], 0, 1, 'xyz'))
check('set_slice', lambda: operator.setitem((1, 2), slice(0, 1), 'xyz'), (), ((1, 2), 0, 1, 'xyz'))
check('raise', lambda: exec('raise ValueError'), (1,), (ValueError, NULL))
check('raise', lambda: exec('raise ValueError from KeyError'), (2,), (ValueError, KeyError))
check('raise_again', lambda: exec('raise'))


def reraise(f):
    try:
        1 / 0
    except ZeroDivisionError:
        f()


assert outcome(lambda: reraise(lambda: exec('raise'))) == outcome(
    lambda: reraise(lambda: helper('raise_again', (), (), (), 0)))


class NotAnException(BaseException):
    def __new__(cls): return 5


check('raise', lambda: exec('raise n', {'n': NotAnException}), (1,), (NotAnException, NULL))

# Attributes and methods.


class Slots:
    __slots__ = 'attribute', 'unset'

    def method(self): return 'm'


class Property:
    @property
    def attribute(self): raise AttributeError('inner')

    def __getattr__(self, name): return 'dynamic ' + name


s = Slots()
s.attribute = 3
for a in (s, 5, Property(), Slots, odd):
    check('load_attr', lambda: a.attribute, ('attribute',), (a,))
    check('load_attr', lambda: a.unset, ('unset',), (a,))

    def store():
        a.attribute = 7
        return ()
    if a is not Slots and a is not odd:
        check('store_attr', store, ('attribute',), (a, 7))

        def delete():
            del a.unset
        check('delete_attr', delete, ('unset',), (a,))
    check('load_method', lambda: a.method and None, ('method',), (a,), outputs=2, wrap=lambda r: None)


def methods():
    found = helper('load_method', ('method',), (s,), (), 2)
    assert found == (Slots.method, s), found
    found = helper('load_method', ('attribute',), (s,), (), 2)
    assert found == (s.attribute, NULL), found
    s.method


methods()


class Base:
    def f(self): return 'base'
    x = 'static'


class Derived(Base):
    def f(self): return 'derived'

    def ask(self):
        assert helper('load_super_attr', ('f', 1), (super, Derived, self), (), 2) == (Base.f, self)
        found = helper('load_super_attr', ('f', 0), (super, Derived, self), (), 2)
        assert found[0]() == 'base' and found[1] is NULL
        assert helper('load_super_attr', ('x', 3), (super, Derived, self), (), 2) == ('static', NULL)
        shadow = lambda *args: type('S', (), {'f': args})
        assert helper('load_super_attr', ('f', 3), (shadow, Derived, self), (), 2) == ((Derived, self), NULL)
        assert helper('load_super_attr', ('f', 1), (shadow, Derived, self), (), 2) == ((), NULL)
        a = outcome(lambda: super(Derived, self).nothing)
        b = outcome(named(lambda: helper('load_super_attr', ('nothing', 2), (super, Derived, self), (), 2), 'nothing'))
        assert a == b, (a, b)
        a = outcome(lambda: super(Derived, 5).f)
        b = outcome(named(lambda: helper('load_super_attr', ('f', 2), (super, Derived, 5), (), 2), 'f'))
        assert a == b, (a, b)
        self.f, self.x, self.nothing


try:
    Derived().ask()
except AttributeError:
    pass

# Names.
present = 'here'
check('load_global', lambda: present, ('present',), ())
check('load_global', lambda: len, ('len',), ())


def missing_names():
    assert outcome(lambda: missing) == outcome(lambda: (helper('load_global', ('missing',), (), (), 0), missing))
    gone = lambda: exec('global missing; del missing', globals())
    assert outcome(gone) == outcome(lambda: (helper('delete_global', ('missing',), (), (), 0), missing))


missing_names()


class Namespace(dict):
    log = []

    def __getitem__(self, key):
        self.log.append(key)
        if key == 'bad':
            raise IndexError('bad')
        return dict.__getitem__(self, key)

    def __setitem__(self, key, value):
        self.log.append(('set', key))
        dict.__setitem__(self, key, value)


source = '''
helper('store_name', ('fresh',), (5,), (), 0)
assert helper('load_name', ('fresh',), (), (), 0) == 5 and fresh == 5
assert helper('load_name', ('len',), (), (), 0) is len
a = outcome(lambda: exec('absent'))
b = outcome(lambda: exec("helper('load_name', ('absent',), (), (), 0); absent"))
assert a == b, (a, b)
helper('delete_name', ('fresh',), (), (), 0)
try:
    helper('delete_name', ('fresh',), (), (), 0)
    assert False
except NameError as e:
    assert str(e) == "name 'fresh' is not defined" and e.name == 'fresh'
helper('setup_annotations', (), (), (), 0)
assert __annotations__ == {}
helper('setup_annotations', (), (), (), 0)
assert helper('load_locals', (), (), (), 0) is locals()
assert helper('load_build_class', (), (), (), 0) is __build_class__
helper('store_global', ('through',), ('g',), (), 0)
assert helper('load_from_dict_or_globals', ('through',), ({'through': 1},), (), 0) == 1
assert helper('load_from_dict_or_globals', ('through',), ({},), (), 0) == 'g'
through
'''
shared = dict(helper=helper, NULL=NULL, outcome=outcome)
exec(source, shared)
assert shared['through'] == 'g'
ns = Namespace()
exec(source, shared, ns)
assert ('set', 'fresh') in ns.log and 'len' in ns.log, ns.log
ns['bad'] = 1
try:
    exec("helper('load_name', ('bad',), (), (), 0); bad", shared, ns)
    assert False
except IndexError:
    pass
try:
    exec("helper('load_build_class', (), (), (), 0)", {'helper': helper, 'NULL': NULL, '__builtins__': {}})
    assert False
except NameError as e:
    assert str(e) == '__build_class__ not found'

# Calls.


class Caller:
    def method(self, *args, **kw): return args, kw


def f(a, b=2, *args, k=3, **kw): return a, b, args, k, kw


bound = Caller().method
for callable_ in (f, bound, max, dict, 5, int, Slots, operator.itemgetter(1)):
    for args in ((), (1,), ((1, 2), (3, 4)), ('12',)):
        if callable_ is Slots and not args:
            continue
        check('call', lambda: callable_(*args), (), (NULL,), (callable_, NULL) + args)
        kw = {'k': 9, 'zz': 8}
        check('call', lambda: callable_(*args, **kw), (), (tuple(kw),), (callable_, NULL) + args + (9, 8))
check('call', lambda: f(1, 2), (), (NULL,), (f, 1, 2))
check('call', lambda: f(1, k=2), (), (('k',),), (f, 1, 2))
check('call', lambda: [1, 2].index(2), (), (NULL,), (list.index, [1, 2], 2))
check('call_ex', lambda: f(*[1, 2], **{'k': 4}), (), (), (f, [1, 2], {'k': 4}))
check('call_ex', lambda: f(*(1, 2), **{1: 4}), (), (), (f, (1, 2), {1: 4}))
check('call_ex', lambda: f(*(1, 2), **{'no': 4}), (), (), (f, (1, 2), {'no': 4}))
check('call_ex', lambda: max(*(1, 2), **{'key': abs}), (), (), (max, (1, 2), {'key': abs}))
def three(a, b, c):
    return a, b, c


def failing():
    raise KeyError('failing')


check('call_interpreted', lambda: three(1, 2, 3), (), (three,), (1, 2, 3))
check('call_interpreted', lambda: failing(), (), (failing,), ())


def generator(n): yield n


check('call_interpreted', lambda: list(generator(4)), (), (generator,), (4,), wrap=list)


# Intrinsics of the bytecode, by the core's numbers.
check('call_intrinsic_1', lambda: +5, (4,), (5,))
check('call_intrinsic_1', lambda: +'x', (4,), ('x',))
check('call_intrinsic_1', lambda: (1, 2), (5,), ([1, 2],))
check('call_intrinsic_1', lambda: exec('raise SystemError("invalid intrinsic function")'), (99,), (1,))


class Star: a1, _hidden = 1, 2


star_scope = dict(helper=helper, NULL=NULL, m=Star)
exec("helper('call_intrinsic_1', (1,), (m,), (), 0)", star_scope)
assert star_scope['a1'] == 1 and '_hidden' not in star_scope

# Iteration.
it = iter([10, 20])
assert helper('iter_next', (), (it,), (), 1) == (10,)
assert helper('iter_next', (), (it,), (), 1) == (20,)
assert helper('iter_next', (), (it,), (), 1) is NULL


def fails():
    yield 1
    raise KeyError('in generator')


it = fails()
helper('iter_next', (), (it,), (), 1)
assert outcome(lambda: helper('iter_next', (), (it,), (), 1))[:2] == ('KeyError', "'in generator'")
assert helper('iter_next', (), (it,), (), 1) is NULL

# Displays.
check('build_tuple', lambda: (), array=())
check('build_tuple', lambda: (1, 'a'), array=(1, 'a'))
check('build_list', lambda: [], array=())
check('build_list', lambda: [1, 'a'], array=(1, 'a'))
check('build_set', lambda: {1, 2}, array=(1, 2))
check('build_set', lambda: {1, [], {}}, array=(1, [], {}))
check('build_map', lambda: {}, array=())
check('build_map', lambda: {'a': 1, 'b': 2}, array=('a', 1, 'b', 2))
check('build_map', lambda: {'a': 1, (): 2, (): 3, str([]): 4}, array=('a', 1, (), 2, (), 3, '[]', 4))
check('build_map', lambda: {[]: 1}, array=([], 1))
check('build_const_key_map', lambda: {'a': 1, 'b': 2}, operands=(('a', 'b'),), array=(1, 2))
check('build_string', lambda: 'abc', array=('a', 'bc'))
check('build_string', lambda: '', array=())
check('list_append_object', lambda: (), operands=([], 1))
check('set_add', lambda: {1}.add([]), operands=({1}, []))
check('map_add', lambda: {}.__setitem__([], 1), operands=({}, [], 1))

# Matching.


class Point:
    __match_args__ = ('x', 'y')
    def __init__(self): self.x, self.y = 1, 2


check('match_keys', lambda: (1,), operands=({'a': 1}, ('a',)))
check('match_keys', lambda: None, operands=({'a': 1}, ('b',)))
check('match_keys', lambda: exec("match {'a': 1}:\n case {'a': 1, **rest}: raise ValueError('mapping pattern checks duplicate key (\\'a\\')')"),
      operands=({'a': 1}, ('a', 'a')))
check('match_class', lambda: (1, 2), (2,), (Point(), Point, ()))
check('match_class', lambda: (1,), (0,), (Point(), Point, ('x',)))
check('match_class', lambda: None, (0,), (5, Point, ()))


def too_many(p):
    match p:
        case Point(a, b, c): pass


check('match_class', lambda: too_many(Point()), (3,), (Point(), Point, ()))

# Functions.


def make():
    code = (lambda a, b=1: a).__code__
    g = helper('make_function', (), (code,), (), 0)
    assert g.__globals__ is globals() and g(4, 5) == 4
    helper('set_function_attribute', (0,), (g, (9,)), (), 0)
    assert g.__defaults__ == (9,) and g(3) == 3
    helper('set_function_attribute', (2,), (g, ('a', int)), (), 0)
    assert g.__annotations__ == {'a': int}
    k = helper('make_function', (), ((lambda *, k=1: k).__code__,), (), 0)
    helper('set_function_attribute', (1,), (k, {'k': 6}), (), 0)
    assert k() == 6
    cell = 5
    c = helper('make_function', (), ((lambda: cell).__code__,), (), 0)
    helper('set_function_attribute', (3,), (c, (lambda: cell).__closure__), (), 0)
    assert c() == 5
    if sys.version_info >= (3, 14):
        helper('set_function_attribute', (4,), (c, lambda format: {'x': int}), (), 0)
        assert c.__annotations__ == {'x': int}


for _ in range(3):
    make()
assert helper('load_assertion_error', (), (), (), 0) is AssertionError

# Imports.


def imports():
    import os.path
    found = helper('import_name', ('os', 0), (0, None), (), 0)
    import os
    assert found is os
    found = helper('import_name', ('os.path', 0), (0, ('join',)), (), 0)
    assert found is os.path
    assert helper('import_from', ('join',), (os.path,), (), 0) is os.path.join
    from os.path import join

    def native():
        from os import no_such_thing
    def ours():
        helper('import_from', ('no_such_thing',), (os,), (), 0)
        os.no_such_thing
    a, b = outcome(native), outcome(ours)
    assert a == b, (a, b)
    try:
        ours()
    except ImportError as e:
        assert e.__traceback__.tb_next.tb_next is None and (e.name, e.name_from) == ('os', 'no_such_thing')
    import types
    for module in (types.ModuleType('odd'), 5, types.SimpleNamespace(__name__='x.y')):
        sys.modules['_cladonia_test'] = module
        def native():
            from _cladonia_test import no_such_thing
        def ours():
            helper('import_from', ('no_such_thing',), (module,), (), 0)
            os.no_such_thing
        a, b = outcome(native), outcome(ours)
        assert a == b, (a, b)
    sys.modules['os.only_in_modules'] = 'found'
    assert helper('import_from', ('only_in_modules',), (os,), (), 0) == 'found'
    os.only_in_modules


try:
    imports()
except AttributeError as e:
    assert e.name == 'only_in_modules', e

bare = dict(helper=helper, NULL=NULL, __builtins__={})
try:
    exec("helper('import_name', ('os', 0), (0, NULL), (), 0)\nos", bare)
    assert False
except ImportError as e:
    assert str(e) == '__import__ not found'
helper('handle_pending', (), (), (), 0)
