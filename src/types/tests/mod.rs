//! Tests of the module as a whole; those of one file are in that file.

mod algebra;
mod docs;
mod handles;
mod questions;
mod seed;
mod text;

use super::{Hierarchy, Type, evaluate};

/// The classes and objects of the specification's examples, one or two of them immortal, and some
/// others.
pub(super) const WORLD: &str = "
class MyClass
class MySubclass(MyClass)
class MyInt(int)
class MyClassInt(MyInt, MyClass)
class MyBytes(bytes)
object my_obj: MyClass
object my_obj2: MyClass
object my_subobj: MySubclass
object an_int: int = 5
object my_int: MyInt
object my_class_int: MyClassInt
object a_bytes: bytes = b'hello'
object my_bytes: MyBytes

class Metaclass(type)
class MyClassWithMeta(metaclass=Metaclass)
object meta_obj: MyClassWithMeta

class Vehicle
class Car(Vehicle)
class Motorcycle(Vehicle)

object forever: MyClass immortal
object always: MySubclass immortal
object none: NoneType immortal
object some_list: list
";

/// The value of `text` with the classes of the examples, printed.
#[track_caller]
pub(super) fn eval(text: &str) -> String {
    let world = Hierarchy::parse(WORLD).expect("the world is well-formed");
    evaluate(text, &world.names())
        .unwrap_or_else(|error| panic!("{text}: {error}"))
        .to_string()
}

/// Checks that `text`, a comparison, holds with the classes of the examples.
#[track_caller]
pub(super) fn check(text: &str) {
    match (eval(text).as_str(), text.split_once("==")) {
        ("true", _) => {}
        ("false", Some((left, right))) => panic!(
            "does not hold: {text} ({} against {})",
            eval(left),
            eval(right)
        ),
        ("false", None) => panic!("does not hold: {text}"),
        (ty, _) => panic!("{text} is no comparison but the type {ty}"),
    }
}

/// A type of the hierarchy, which also keeps its names.
#[track_caller]
pub(super) fn ty(world: &Hierarchy, text: &str) -> Type {
    Type::parse(text, &world.names()).unwrap_or_else(|error| panic!("{text}: {error}"))
}
