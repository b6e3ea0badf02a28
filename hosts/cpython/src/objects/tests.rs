//! Handles of live classes and objects.

use super::*;
use crate::testing::{get, run, with_python};
use cladonia::engine::Pins;
use cladonia::types::Type;

fn class_of(scope: *mut PyObject, name: &str) -> ClassHandle {
    // SAFETY: a class of the script, inside `with_python`.
    unsafe { class_handle(get(scope, name).cast()) }
}

fn object_of(scope: *mut PyObject, name: &str) -> ObjectHandle {
    // SAFETY: an object of the script, inside `with_python`.
    unsafe { object_handle(get(scope, name)) }
}

#[test]
fn classes_keep_their_handle_and_their_place_in_the_hierarchy() {
    with_python(|| {
        let scope = run(
            "class A(int): pass\nclass B(A): pass\nclass C: pass\nInt, Bool, C1 = int, bool, complex",
            &[],
        );
        let (a, b, c) = (
            class_of(scope, "A"),
            class_of(scope, "B"),
            class_of(scope, "C"),
        );
        assert_eq!(a, class_of(scope, "A"));
        assert!(b.is_subclass_of(a) && !a.is_subclass_of(b) && !c.is_subclass_of(a));
        assert_eq!(a.predefined(), Some(Predefined::Long));
        assert_eq!(c.predefined(), Some(Predefined::Object));
        assert_eq!(
            Type::from_class_exact(class_of(scope, "Int")),
            Type::LONG_EXACT
        );
        assert_eq!(Type::from_class(class_of(scope, "Bool")), Type::BOOL);
        assert!(!class_of(scope, "C1").is_builtin_itself());
        assert_eq!(class_ptr(b), get(scope, "B").cast());
    });
}

#[test]
fn another_resolution_order_is_another_class() {
    with_python(|| {
        let scope = run("class A: pass\nclass B: pass\nclass C(A): pass", &[]);
        let (a, b, before) = (
            class_of(scope, "A"),
            class_of(scope, "B"),
            class_of(scope, "C"),
        );
        run(
            "C.__bases__ = (B,)",
            &[("B", get(scope, "B")), ("C", get(scope, "C"))],
        );
        let after = class_of(scope, "C");
        assert_ne!(before, after);
        assert!(after.is_subclass_of(b) && !after.is_subclass_of(a));
        assert!(!before.is_alive() && class_ptr(before).is_null());
    });
}

#[test]
fn an_inconsistent_resolution_order_gives_a_stale_handle() {
    with_python(|| {
        let script = "
class Base: pass
class Meta(type):
    def mro(cls): return [cls, object, Base]
class Strange(Base, metaclass=Meta): pass
strange = Strange()";
        let scope = run(script, &[]);
        assert!(!class_of(scope, "Strange").is_alive());
        assert_eq!(
            Type::from_class_exact(class_of(scope, "Strange")),
            Type::OBJECT
        );
        assert!(!object_of(scope, "strange").is_alive());
        assert!(object_ptr(object_of(scope, "strange")).is_null());
    });
}

#[test]
fn objects_live_while_their_handle_does() {
    with_python(|| {
        let script = "
import weakref
class Held: pass
held = Held()
dead = []
weakref.finalize(held, dead.append, 1)";
        let scope = run(script, &[]);
        let handle = object_of(scope, "held");
        let pins = Pins {
            objects: vec![handle.pin()],
            ..Pins::default()
        };
        // SAFETY: this thread has the lock; the scope has the object.
        unsafe { hold(&pins, scope) };
        run("del scope['held']", &[("scope", scope)]);
        assert!(!object_ptr(handle).is_null());
        // SAFETY: this thread has the lock.
        unsafe { release_unused() };
        run("assert not dead", &[("dead", get(scope, "dead"))]);
        assert!(handle.is_alive(), "a unit holds it");
        // SAFETY: the object is alive.
        assert_eq!(unsafe { object_handle(object_ptr(handle)) }, handle);
        unhold(&pins);
        drop(pins);
        // SAFETY: this thread has the lock.
        unsafe { release_unused() };
        assert!(!handle.is_alive());
        run("assert dead", &[("dead", get(scope, "dead"))]);
    });
}

#[test]
fn the_reach_of_a_pin_is_released_with_it() {
    with_python(|| {
        let scope = run(
            "class Base: pass\nclass A(Base): pass\nclass B(Base): pass\na = A()",
            &[],
        );
        let (a, b, base) = (
            class_of(scope, "A"),
            class_of(scope, "B"),
            class_of(scope, "Base"),
        );
        let object = object_of(scope, "a");
        let (pin_a, pin_b, pin_object) = (a.pin(), b.pin(), object.pin());
        let of = |class| Reach::of_handles(Some(class), None);
        let (of_a, of_b, of_object) = (of(a), of(b), Reach::of_handles(None, Some(object)));
        drop(pin_a);
        // SAFETY: this thread has the lock, and no compile is running; the script keeps all of it
        // alive.
        unsafe { of_a.settle() };
        assert!(a.is_alive(), "the object needs its class");
        drop(pin_object);
        // SAFETY: as above.
        unsafe { of_object.settle() };
        assert!(!object.is_alive() && !a.is_alive());
        assert!(b.is_alive() && base.is_alive(), "B and its base are pinned");
        assert_eq!(class_of(scope, "Base"), base);
        drop(pin_b);
        // SAFETY: as above.
        unsafe { of_b.settle() };
        assert!(!b.is_alive() && !base.is_alive());
        assert_ne!(class_of(scope, "A"), a, "registered anew");
    });
}

#[test]
fn a_class_of_the_interpreter_is_never_released() {
    with_python(|| {
        let scope = run("Complex, number = complex, 2j", &[]);
        let class = class_of(scope, "Complex");
        let object = object_of(scope, "number");
        let reach = Reach::of_handles(Some(class), Some(object));
        // SAFETY: this thread has the lock, and no compile is running.
        unsafe { reach.settle() };
        assert!(class.is_alive() && !object.is_alive());
    });
}

#[test]
fn a_replaced_class_is_released_with_its_last_pin() {
    with_python(|| {
        let script =
            "import weakref\nclass A: pass\nclass B: pass\nclass C(A): pass\nold = weakref.ref(A)";
        let scope = run(script, &[]);
        let before = class_of(scope, "C");
        let pin = before.pin();
        run(
            "C.__bases__ = (B,)",
            &[("B", get(scope, "B")), ("C", get(scope, "C"))],
        );
        assert_ne!(class_of(scope, "C"), before);
        assert!(before.is_alive(), "it is pinned");
        let reach = Reach::of_handles(Some(before), None);
        drop(pin);
        // SAFETY: this thread has the lock, and no compile is running.
        unsafe { reach.settle() };
        assert!(!before.is_alive());
        run(
            "import gc\ndel scope['A']\ngc.collect()\nassert old() is None",
            &[("scope", scope), ("old", get(scope, "old"))],
        );
    });
}

#[test]
fn constants_have_values_only_if_they_are_exactly_of_a_known_class() {
    with_python(|| {
        let script = "
class Sub(int): pass
big, small, sub, text, broken, yes = 1 << 63, -(1 << 63), Sub(3), 'a\\0é', '\\ud800', True";
        let scope = run(script, &[]);
        // SAFETY: objects of the script.
        let value = |name: &str| unsafe { const_value(get(scope, name)) };
        assert_eq!(value("big"), ConstValue::Other);
        assert_eq!(value("small"), ConstValue::Int(i64::MIN));
        assert_eq!(value("sub"), ConstValue::Other);
        assert_eq!(value("text"), ConstValue::Str("a\0é".to_owned()));
        assert_eq!(value("broken"), ConstValue::Other);
        assert_eq!(value("yes"), ConstValue::Bool(true));
    });
}

#[test]
fn handles_of_other_hosts_have_no_address_here() {
    let other = HostId::new();
    let class = other
        .register_class(ClassDesc::builtin(Predefined::Object, Vec::new()).with_token(0x1000))
        .unwrap();
    assert!(class_ptr(class).is_null());
    other.close();
}
