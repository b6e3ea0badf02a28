"""`cladonia.Type`: created from Python's classes and objects, combined, queried, printed and
parsed; and deallocated in time."""

import copy
import doctest
import gc
import math
import re
import subprocess
import sys
import unittest
import weakref

import cladonia
import harness
from support import child, needs_jit

try:
    from cladonia import Type
except ImportError as error:
    raise unittest.SkipTest(str(error)) from None


class MyClass: pass
class MySubclass(MyClass): pass
class MyInt(int): pass
class MyClassInt(MyInt, MyClass): pass
class MyBytes(bytes): pass
class Vehicle: pass
class Car(Vehicle): pass
class Motorcycle(Vehicle): pass
class Metaclass(type): pass
class MyClassWithMeta(metaclass=Metaclass): pass


my_obj, my_obj2, my_subobj, meta_obj = MyClass(), MyClass(), MySubclass(), MyClassWithMeta()
an_int, my_int, my_class_int, a_bytes, my_bytes = 5, MyInt(), MyClassInt(), b"hello", MyBytes()


def user(cls):
    return Type.of_class(cls)


def exact(cls):
    return Type.of_class(cls, exact=True)


def one(obj):
    return Type.of(obj)


class TheSpecification(unittest.TestCase):
    """Every relation and equation of the specification, in its order and its words."""

    def check(self, *texts):
        names = {
            **{cls.__name__: user(cls) for cls in (MyClass, MySubclass, MyInt, MyClassInt, MyBytes, Vehicle, Car, Motorcycle, Metaclass,
                                                   MyClassWithMeta)},
            **{f"{cls.__name__}:Exact": exact(cls) for cls in (MyClass, MySubclass)},
            **{f"{cls.__name__}:obj": one(cls) for cls in (Metaclass, MyClassWithMeta)},
            **{name: one(globals()[name]) for name in ("my_obj", "my_obj2", "my_subobj", "meta_obj", "an_int", "my_int", "my_class_int",
                                                       "a_bytes", "my_bytes")}}

        def specialized(match):
            base, name = match.groups()
            if name not in names:
                return f"Type.parse({match[0]!r})"
            return f"(Type.{base} & names[{name!r}])"

        for text in texts:
            source = re.sub(r"!\((.*)\)$", r"not (\1)", text)
            source = re.sub(r"\{(.*?)\}", lambda m: "(" + "|".join(m[1].split("|")) + ")", source)
            # Names outside of brackets are predefined types, names in them are ours.
            source = re.sub(r"\b([A-Z]\w*)\[([\w:]+)\]", specialized, source)
            source = re.sub(r"(?<![\w.'\"\[:])([A-Z]\w*)\b(?![\w'\":\]])", lambda m: m[0] if m[0] == "Type" else f"Type.{m[0]}", source)
            with self.subTest(text, python=source):
                self.assertIs(eval(source, {"Type": Type, "names": names}), True)

    def test_specialization(self):
        self.check(
            "User[MyClass] < User",
            "User[MyClass:Exact] < User[MyClass]",
            "User[MySubclass] < User[MyClass]",
            "!(User[MySubclass] < User[MyClass:Exact])",
            "LongUser[MyInt] < LongUser",
            "LongUser[MyClassInt] < User[MyClass]",
            "LongUser[MyClassInt] < LongUser[MyInt]",
            "BytesUser[MyBytes] < BytesUser",
            "ObjectUser[my_obj] < User[MyClass]",
            "ObjectUser[my_obj] < User[MyClass:Exact]",
            "ObjectUser[my_subobj] < User[MyClass]",
            "!(ObjectUser[my_subobj] < User[MyClass:Exact])",
            "ObjectUser[my_subobj] < User[MySubclass]",
            "ObjectUser[my_subobj] < User[MySubclass:Exact]",
            "LongExact[an_int] < LongExact",
            "LongUser[my_int] < LongUser",
            "LongUser[my_int] < LongUser[MyInt]",
            "LongUser[my_class_int] < LongUser[MyClassInt]",
            "LongUser[my_class_int] < LongUser[MyInt]",
            "LongUser[my_class_int] < User[MyClass]",
            "BytesExact[a_bytes] < BytesExact",
            "BytesUser[my_bytes] < BytesUser[MyBytes]",
            "User[MyClass] & Long == LongUser[MyClass]",
            "ObjectUser[my_obj] & User[MyClass] == ObjectUser[my_obj]",
            "ObjectUser[my_obj] & ObjectUser[my_obj2] == Bottom",
            "ObjectUser[my_subobj] & ObjectUser[my_obj] == Bottom",
            "ObjectUser[my_obj] & LongUser[my_int] == Bottom")

    def test_representation_limitations(self):
        self.check(
            "User[MyClass] | User[MySubclass] == User[MyClass]",
            "User[MyClass] | LongUser[MyInt] == User",
            "ObjectUser[my_obj] | User[MyClass] == User[MyClass]",
            "ObjectUser[my_subobj] | User[MyClass] == User[MyClass]",
            "ObjectUser[my_subobj] | User[MySubclass] == User[MySubclass]",
            "ObjectUser[my_obj] | ObjectUser[my_obj] == ObjectUser[my_obj]",
            "ObjectUser[my_obj] | ObjectUser[my_obj2] == ObjectUser[MyClass]",
            "ObjectUser[my_subobj] | ObjectUser[my_obj] == ObjectUser[MyClass]",
            "LongUser[my_class_int] | LongUser[MyInt] == LongUser[MyInt]",
            "ObjectUser[my_obj] | LongUser[my_int] == {ObjectUser|LongUser}",
            "User[MyClass] & User[MySubclass] == User[MySubclass]",
            "LongUser[MyInt] & BytesUser[MyBytes] == Bottom",
            "MortalDict | ImmortalLong == Dict | Long",
            "{Dict|Long} - MortalDict == ImmortalDict | Long",
            "ImmortalDict | Long == {Dict|Long}")

    def test_metaclasses(self):
        self.check(
            "TypeUser[MyClassWithMeta:obj] < TypeUser[Metaclass]",
            "!(ObjectUser[meta_obj] <= TypeUser[Metaclass])",
            "ObjectUser[meta_obj] < User[MyClassWithMeta]")
        self.assertEqual(str(one(Metaclass)), "TypeExact[Metaclass:obj]")

    def test_intersections_and_multiple_inheritance(self):
        self.check(
            "User[MyClass] & LongUser[MyInt] == LongUser[MyClass]",
            "LongUser[MyInt] & User[MyClass] == LongUser[MyClass]",
            "LongUser[MyClassInt] < LongUser[MyClass]",
            "User[MyClass] & BytesUser[MyBytes] == BytesUser[MyBytes]",
            "User[MyClass] & ObjectUser == ObjectUser[MyClass]",
            "ObjectUser[MyClass] & LongUser[MyInt] == Bottom")

    def test_primitives(self):
        self.check(
            "CInt32[123] < CInt",
            "!(CInt32[123] < Long)",
            "!(CInt32[123] < CInt64)",
            "!(CInt32 < CInt64)",
            "CBool[true] < CBool",
            "CBool[false] < Primitive")
        self.assertFalse(Type.parse("CInt32[123]") < one(123))

    def test_least_common_ancestors(self):
        self.check(
            "LongUser[MyInt] | Unicode == {LongUser|Unicode}",
            "User[Car] | User[Vehicle] == User[Vehicle]",
            "User[Car] | User[Motorcycle] == User")
        self.assertEqual(user(Car).join(user(Motorcycle)), user(Vehicle))


class TheChapter(unittest.TestCase):
    def test_every_python_example_of_the_chapter_on_types_is_so(self):
        chapter = (harness.ROOT / "docs" / "types.md").read_text()
        examples = "".join(re.findall(r"^```python\n(.*?)^```$", chapter, re.M | re.S))
        test = doctest.DocTestParser().get_doctest(examples, {"__name__": "examples"}, "docs/types.md", None, 0)
        self.assertGreater(len(test.examples), 15)
        said = []
        doctest.DocTestRunner(verbose=False).run(test, out=said.append)
        self.assertFalse(said, "".join(said))


class Making(unittest.TestCase):
    def test_the_predefined_types_are_attributes_that_say_their_name(self):
        names = [name for name, value in vars(Type).items() if isinstance(value, Type)]
        self.assertGreater(len(names), 350)
        for name in names:
            self.assertEqual(str(getattr(Type, name)), name)
            self.assertEqual(Type.parse(name), getattr(Type, name))
        self.assertEqual(Type.OptLong, Type.Long | Type.Nullptr)

    def test_the_stub_lists_them_all_and_every_method(self):
        stub = (harness.PACKAGE / "cladonia" / "_cladonia.pyi").read_text()
        self.assertEqual(re.findall(r"^    (\w+): ClassVar", stub, re.M), [n for n, v in vars(Type).items() if isinstance(v, Type)])
        body = stub.split("class Type:")[1]
        self.assertLessEqual({n for n, v in vars(Type).items() if callable(v) and not n.startswith("__")}, set(re.findall(r"def (\w+)", body)))

    def test_builtin_classes_are_predefined_types(self):
        for cls, name in [(object, "Object"), (int, "Long"), (bool, "Bool"), (str, "Unicode"), (list, "List"), (dict, "Dict"), (type, "Type"),
                          (set, "Set"), (frozenset, "FrozenSet"), (range, "Range"), (bytearray, "ByteArray"), (type(None), "NoneType"),
                          (type(lambda: 0), "Func"), (type(sys), "Module"), (BaseException, "BaseException"), (slice, "Slice")]:
            self.assertEqual(user(cls), getattr(Type, name), cls)
        self.assertEqual(exact(int), Type.LongExact)
        self.assertEqual(exact(bool), Type.Bool)
        self.assertEqual(str(user(complex)), "User[complex]")
        self.assertLess(user(KeyError), Type.BaseExceptionUser)

    def test_arguments(self):
        self.assertEqual(Type.of_class(MyClass, True), Type.of_class(cls=MyClass, exact=True))
        for bad in (lambda: Type.of_class(5), lambda: Type.of_class(), lambda: Type.of_class(int, exact=True, more=1), lambda: Type.of(),
                    lambda: Type.parse(b"Long"), lambda: Type(), lambda: Type.Long.could_be("Long"), lambda: Type.Long.join(5),
                    lambda: type("Sub", (Type,), {}), lambda: setattr(Type, "Long", 5), lambda: Type.Long | 5, lambda: 5 & Type.Long,
                    lambda: Type.Long <= 5):
            self.assertRaises(TypeError, bad)
        self.assertNotEqual(Type.Long, "Long")

    def test_instances_count_not_instance_checks(self):
        class Liar(type):
            def __instancecheck__(cls, obj): raise AssertionError("never asked")
            def __subclasscheck__(cls, sub): raise AssertionError("never asked")
            def mro(cls): return super().mro()
        class Lying(metaclass=Liar): pass
        self.assertFalse(user(MyClass) <= user(Lying))
        self.assertTrue(one(Lying()) <= user(Lying))

    def test_a_resolution_order_of_its_own_making_claims_nothing(self):
        class Base: pass
        class Strange(type):
            def mro(cls): return [cls, object, Base]
        class Odd(Base, metaclass=Strange): pass
        self.assertEqual(user(Odd), Type.Object)
        self.assertEqual(one(Odd()), Type.Object)

    def test_immortal_objects_are_known_as_such(self):
        self.assertLess(one(None), Type.ImmortalObject)
        self.assertLess(one(5), Type.ImmortalLongExact)
        self.assertFalse(one(10**30) <= Type.ImmortalLong)
        self.assertTrue(one(10**30).could_be(Type.MortalLong))


class Asking(unittest.TestCase):
    def test_classes(self):
        self.assertIs(user(MyClass).unique_class(), MyClass)
        self.assertIs(Type.Long.unique_class(), int)
        self.assertIsNone((Type.Long | Type.Unicode).unique_class())
        self.assertIsNone(one(my_obj).unique_class())
        self.assertIs(one(my_obj).runtime_class(), MyClass)
        self.assertIs(exact(MyClass).runtime_class(), MyClass)
        self.assertIs(Type.LongExact.runtime_class(), int)
        self.assertIsNone(user(MyClass).runtime_class())
        self.assertIsNone(Type.Long.runtime_class())

    def test_exactness_and_values(self):
        self.assertEqual([t.is_exact() for t in (Type.LongExact, Type.Long, exact(MyClass), user(MyClass), one(my_obj), Type.CInt32,
                                                 Type.Bottom)], [True, False, True, False, True, False, False])
        self.assertEqual([t.is_single_value() for t in (one(5), Type.NoneType, Type.Nullptr, Type.Bool, Type.parse("CInt8[-3]"))],
                         [True, True, True, False, True])
        self.assertEqual([t.has_value_spec() for t in (one(5), Type.NoneType, user(MyClass), Type.parse("CBool[true]"))],
                         [True, False, False, True])
        self.assertEqual([t.is_specialized() for t in (one(5), user(MyClass), Type.User)], [True, True, False])
        self.assertEqual([t.is_bottom() for t in (Type.Bottom, Type.Long & Type.Bytes, Type.Long)], [True, True, False])
        self.assertIs(one(my_obj).as_object(), my_obj)
        self.assertIs(one(MyClass).as_object(), MyClass)
        self.assertIsNone(user(MyClass).as_object())
        self.assertIsNone(Type.NoneType.as_object())

    def test_primitive_values(self):
        for text, value in [("CInt32[-7]", -7), ("CUInt64[18446744073709551615]", 2**64 - 1), ("CBool[true]", True), ("CPtr[0x10]", 16),
                            ("CDouble[0.5]", 0.5), ("CInt64[-9223372036854775808]", -(2**63)), ("CInt32", None), ("Long", None)]:
            found = Type.parse(text).as_primitive()
            self.assertEqual((found, type(found)), (value, type(value)), text)
        self.assertTrue(math.isnan(Type.parse("CDouble[nan]").as_primitive()))
        self.assertEqual(math.copysign(1, Type.parse("CDouble[-0.0]").as_primitive()), -1)

    def test_parts(self):
        self.assertEqual(one(my_obj).unspecialized(), Type.ObjectUser)
        self.assertEqual(Type.MortalLong.drop_mortality(), Type.Long)
        self.assertEqual(user(MyClass).mortal() | user(MyClass).immortal(), user(MyClass))
        self.assertEqual(str(user(MyClass).mortal()), "MortalUser[MyClass]")
        self.assertEqual(user(MyClass).opt(), Type.OptUser)

    def test_boxes_and_sizes(self):
        self.assertEqual([t.as_boxed() for t in (Type.CInt8, Type.CDouble, Type.CBool, Type.CPtr, Type.Long)],
                         [Type.LongExact, Type.FloatExact, Type.Bool, None, None])
        self.assertEqual([t.size_in_bytes() for t in (Type.CInt8, Type.CUInt16, Type.CDouble, Type.Object, Type.CInt, Type.Bottom)],
                         [1, 2, 8, 8, None, None])
        self.assertEqual([t.is_leaf_scalar() for t in (Type.LongExact, Type.UnicodeExact, Type.Long, Type.List, Type.CInt)],
                         [True, True, False, False, True])

    def test_could_be(self):
        self.assertTrue(user(MyClass).could_be(user(MyInt)))
        self.assertFalse(exact(MyClass).could_be(user(MyInt)))
        self.assertFalse(user(MyInt).could_be(user(MyBytes)))

    def test_order_and_hash(self):
        self.assertTrue(user(MySubclass) < user(MyClass) <= user(MyClass) and user(MyClass) > user(MySubclass) >= user(MySubclass))
        self.assertFalse(user(MyInt) <= user(MyBytes) or user(MyInt) >= user(MyBytes))
        self.assertEqual(len({user(MyClass), user(MyClass), exact(MyClass), one(my_obj), one(my_obj), Type.Long, user(int)}), 4)

    def test_copies_are_the_type_itself(self):
        ty = user(MyClass)
        self.assertIs(copy.copy(ty), ty)
        self.assertIs(copy.deepcopy([ty])[0], ty)


class Text(unittest.TestCase):
    def test_what_prints_reads_back(self):
        class Outer:
            class MyClass: pass
        kept = [user(MyClass), user(Outer.MyClass), exact(MyInt), one(my_obj), one("hello!"), one("a long text, which is cut where it is too long"),
                one(10**40), one(-17), one(2.5), one(b"bytes"), one(len), one(MyClass), one((1, 2)), user(MyClass).mortal(), one(True),
                user(MyClass) & Type.Long, Type.Top - Type.Long, one("\ud800"), one("new\nline `quoted` ]"), user(type("we]ird:", (), {}))]
        for ty in kept:
            self.assertEqual(repr(ty), str(ty))
            self.assertEqual(Type.parse(str(ty)), ty, str(ty))
        self.assertNotEqual(kept[0], kept[1])
        self.assertEqual(len({str(ty) for ty in kept}), len(set(kept)))

    def test_bad_text_is_a_value_error_that_names_the_column(self):
        for text, column in [("", 1), ("Lung", 1), ("Long |", 6), ("User[Nobody]", 6), ("{Long|", 7), ("CUInt8[256]", 8), ("CInt32[x]", 8),
                             ("Long]", 5), ("MortalCInt32", 1), ("é", 1), ("\0", 1), ("{" * 1000, 65)]:
            with self.subTest(text[:20]), self.assertRaisesRegex(ValueError, rf"^column {column}: "):
                Type.parse(text)
        self.assertRaises(ValueError, Type.parse, "\ud800")


def rounds(work, count=300):
    """The growth of memory blocks over `count` rounds of work, after the first few."""
    for _ in range(20):
        work()
    gc.collect()
    before = sys.getallocatedblocks()
    for _ in range(count):
        work()
    gc.collect()
    return sys.getallocatedblocks() - before


class Lifetimes(unittest.TestCase):
    def test_a_type_keeps_its_object_alive_and_no_longer(self):
        obj = MyClass()
        gone = weakref.ref(obj)
        ty, other = one(obj), one(obj)
        del obj
        gc.collect()
        self.assertIs(ty.as_object(), gone())
        self.assertIsNotNone(gone())
        del ty
        self.assertIsNotNone(gone())
        text = str(other)
        del other
        self.assertIsNone(gone())
        self.assertRaises(ValueError, Type.parse, text)

    def test_a_type_keeps_its_class_alive_and_no_longer(self):
        class Base: pass
        class Short(Base): pass
        base, short = weakref.ref(Base), weakref.ref(Short)
        ty = user(Short) & Type.ObjectUser
        del Base, Short
        gc.collect()
        self.assertIs(ty.unique_class(), short())
        self.assertEqual(str(ty), "ObjectUser[Short]")
        del ty
        gc.collect()
        self.assertIsNone(short())
        self.assertIsNone(base())

    def test_the_collector_sees_what_a_type_keeps(self):
        class Base: pass
        class Knot(Base):
            def method(self): pass
        obj = Knot()
        obj.kind, obj.base, Knot.me, Knot.kind = one(obj), user(Base), one(Knot), user(Knot) & Type.ObjectUser
        Base.knot = Knot
        gone = [weakref.ref(obj), weakref.ref(Knot), weakref.ref(Base)]
        del obj, Knot, Base
        gc.collect()
        self.assertEqual([ref() for ref in gone], [None, None, None])

    def test_types_alive_at_exit_keep_no_finaliser_from_running(self):
        code = """if 1:
            import os
            from cladonia import Type
            class A:
                def __init__(self, n): self.n = n
                def __del__(self, write=os.write): write(1, b"%d" % self.n)
            plain, pinned, cls = A(1), Type.of(A(2)), Type.of_class(A)"""
        self.assertEqual(sorted(child("-c", code).stdout), ["1", "2"])

    def test_a_class_made_again_is_another_class(self):
        def make():
            class Again: pass
            return Again
        first = user(make())
        second = user(make())
        self.assertNotEqual(first, second)
        self.assertFalse(first <= second or second <= first)
        self.assertNotEqual(str(first), str(second))

    def test_other_bases_make_another_type(self):
        class A: pass
        class B: pass
        class C(A): pass
        before = user(C)
        C.__bases__ = (B,)
        after = user(C)
        self.assertTrue(before <= user(A) and not before <= user(B))
        self.assertTrue(after <= user(B) and not after <= user(A))
        self.assertNotEqual(before, after)
        gone = weakref.ref(C)
        del C, before, after
        gc.collect()
        self.assertIsNone(gone())

    def test_an_object_of_another_class_is_another_type(self):
        obj = MyClass()
        before = one(obj)
        obj.__class__ = MySubclass
        self.assertFalse(before <= user(MySubclass))
        self.assertTrue(one(obj) <= user(MySubclass))

    def test_a_finaliser_may_ask_for_types(self):
        seen = []
        class Asking:
            def __del__(self): seen.append(str(one(self) | user(type(self))))
        ty = one(Asking())
        self.assertEqual(seen, [])
        del ty
        self.assertEqual(seen, ["User[Asking]"])

    def test_nothing_leaks(self):
        def of_an_object():
            one(MyClass())
        def of_a_class():
            class Short(MyClass): pass
            ty = user(Short) | exact(Short)
            ty & Type.ObjectUser
            [ty - Type.Long, ty.join(user(MyClass)), ty.could_be(Type.Long), Type.parse(str(ty)), hash(ty), ty.unique_class()]
        def wrong():
            for text in ("User[Nobody]", "CUInt8[256]"):
                try: Type.parse(text)
                except ValueError: pass
        for work in (of_an_object, of_a_class, wrong):
            self.assertLess(rounds(work), 30, work.__name__)

    @needs_jit
    def test_types_and_compiled_code_share_their_classes(self):
        code = """if 1:
            import cladonia, gc, weakref
            from cladonia import Type
            cladonia.enable(threshold=0)
            def use(x): return x.value + 1
            for _ in range(200):
                class C:
                    def __init__(self): self.value = 1
                ty = Type.of_class(C)
                obj = C()
                held = Type.of(obj)
                assert [use(obj) for _ in range(3)] == [2, 2, 2]
                assert held <= ty and ty.unique_class() is C and held.as_object() is obj
                del held, obj
                use(C())
                del ty
            gone = weakref.ref(C)
            del C
            cladonia.disable()
            gc.collect()
            print(gone())"""
        ended = child("-c", code)
        self.assertEqual((ended.stdout, ended.stderr), ("None\n", ""))

    def test_it_works_where_the_jit_is_off(self):
        code = "import cladonia; T = cladonia.Type; print(cladonia.available(), T.of_class(KeyError) | T.Long, T.of(7) <= T.Long)"
        self.assertEqual(child("-c", code, CLADONIA_OFF="1").stdout, "turned off by CLADONIA_OFF {BaseExceptionUser|Long} True\n")

    def test_another_python_says_why_there_are_none(self):
        for version in ("3.12", "3.11", "3.10"):
            try:
                out = subprocess.run([f"python{version}", "-c", "from cladonia import Type"], capture_output=True, text=True,
                                     env={**harness.environment(sys.executable), "PYTHONPATH": str(harness.PACKAGE)})
            except OSError:
                continue
            if "not found" not in out.stderr:
                self.assertIn("CPython 3.13", out.stderr.splitlines()[-1])


if __name__ == "__main__":
    unittest.main()
