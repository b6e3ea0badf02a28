//! Exceptions raised by the runtime.

use super::class::Class;
use super::heap::{Instance, Ref, alloc};
use super::{Result, class, ops, rt};

/// A raised exception.
#[derive(Debug)]
pub struct Raised(pub Ref);

macro_rules! exceptions {
    ($($id:ident $name:literal ($base:literal);)*) => {
        $(#[doc = concat!("`", $name, "`")] pub const $id: &str = $name;)*
        /// Every class below `BaseException`, with its base.
        pub(super) const ALL: &[(&str, &str)] = &[$(($name, $base)),*];
    };
}

exceptions! {
    EXCEPTION "Exception" ("BaseException");
    ARITHMETIC "ArithmeticError" ("Exception");
    ZERO_DIVISION "ZeroDivisionError" ("ArithmeticError");
    OVERFLOW "OverflowError" ("ArithmeticError");
    ASSERTION "AssertionError" ("Exception");
    ATTRIBUTE "AttributeError" ("Exception");
    IMPORT "ImportError" ("Exception");
    LOOKUP "LookupError" ("Exception");
    INDEX "IndexError" ("LookupError");
    KEY "KeyError" ("LookupError");
    NAME "NameError" ("Exception");
    UNBOUND_LOCAL "UnboundLocalError" ("NameError");
    RUNTIME "RuntimeError" ("Exception");
    NOT_IMPLEMENTED "NotImplementedError" ("RuntimeError");
    RECURSION "RecursionError" ("RuntimeError");
    STOP_ITERATION "StopIteration" ("Exception");
    TYPE "TypeError" ("Exception");
    VALUE "ValueError" ("Exception");
    SYSTEM "SystemError" ("Exception");
}

/// The class of a name from the list above.
pub fn class_named(name: &str) -> Ref {
    rt().exceptions
        .borrow()
        .get(name)
        .cloned()
        .expect("an exception of the list")
}

/// A new exception with one argument.
pub fn new(name: &str, argument: Ref) -> Raised {
    let class = class_named(name);
    let root = class.get::<Class>().expect("a class").root();
    let object = alloc::instance(&class, root);
    let _ = class::set_attr(&object, "args", alloc::tuple(vec![argument]));
    rt().trace.borrow_mut().clear();
    if name == SYSTEM {
        rt().is_broken.set(true);
    }
    Raised(object)
}

/// Raises an exception with a message.
pub fn raise<T>(name: &str, message: impl Into<Box<str>>) -> Result<T> {
    Err(new(name, alloc::str(message)))
}

/// Returns true if an exception is an instance of the class of this name.
pub fn is_a(exception: &Ref, name: &str) -> bool {
    exception.class().is_subclass(&class_named(name))
}

/// The arguments of an exception.
pub fn arguments(exception: &Ref) -> Vec<Ref> {
    let instance = exception.get::<Instance>();
    let args = instance.and_then(|i| Some(i.slot(i.shape().index("args")?)));
    args.and_then(|args| args.as_tuple().map(<[Ref]>::to_vec))
        .unwrap_or_default()
}

/// An exception as its class and message.
pub fn describe(exception: &Ref) -> String {
    let name = &exception.class().name;
    let args = arguments(exception);
    let text = |object: &Ref| ops::repr(object).unwrap_or_else(|_| "?".into());
    match &args[..] {
        [] => name.to_string(),
        [only] => match only.as_str() {
            Some(message) if &**name != KEY => format!("{name}: {message}"),
            _ => format!("{name}: {}", text(only)),
        },
        several => {
            let all: Vec<String> = several.iter().map(text).collect();
            format!("{name}: ({})", all.join(", "))
        }
    }
}
