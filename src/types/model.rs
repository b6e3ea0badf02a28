//! The meaning of types, by enumeration: a small set of values, and a membership test for each
//! type.
//!
//! The operations work on words and handles; the model does not. It tests for one value at a time
//! that its leaf, its lifetime and its class are in the type, so it shares no rule with the
//! operations. Besides the objects and instances of a hierarchy, the model has instances of classes
//! *that are not written yet*: one for every few classes that could be inherited from together.
//! Without them `User[A] & User[B]` would look empty just because no class of the text inherits
//! from both.

use super::handles::{ClassHandle, ObjectHandle};
use super::hierarchy::Hierarchy;
use super::repr::{IMMORTAL, LIFE_MASK, MORTAL, Spec, Type};
use super::table::{OBJECT_BITS, PRIMITIVES, Predefined};

/// One value.
#[derive(Clone, Debug)]
struct Value {
    leaf: u64,
    /// [`MORTAL`], [`IMMORTAL`], or 0 for a value that is no object.
    life: u64,
    /// The user classes it is an instance of.
    classes: Vec<ClassHandle>,
    /// The user class of which it is a direct instance; none if that class is not written yet.
    exact: Option<ClassHandle>,
    object: Option<ObjectHandle>,
    /// A primitive's value: an integer, or a double's bits. None represents all values without a
    /// literal.
    integer: Option<u64>,
    double: Option<u64>,
}

/// A set of the model's values.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Values(Vec<u64>);

impl Values {
    /// Returns true if all of these are in `other`.
    pub fn is_within(&self, other: &Values) -> bool {
        self.0.iter().zip(&other.0).all(|(a, b)| a & !b == 0)
    }

    /// Returns true if some value is in both.
    pub fn meets(&self, other: &Values) -> bool {
        self.0.iter().zip(&other.0).any(|(a, b)| a & b != 0)
    }

    /// The values of either.
    pub fn or(&self, other: &Values) -> Values {
        self.combine(other, |a, b| a | b)
    }

    /// The values of both.
    pub fn and(&self, other: &Values) -> Values {
        self.combine(other, |a, b| a & b)
    }

    /// The values of the first that are not in the other.
    pub fn without(&self, other: &Values) -> Values {
        self.combine(other, |a, b| a & !b)
    }

    fn combine(&self, other: &Values, apply: impl Fn(u64, u64) -> u64) -> Values {
        Values(
            self.0
                .iter()
                .zip(&other.0)
                .map(|(a, b)| apply(*a, *b))
                .collect(),
        )
    }
}

/// The values of a hierarchy.
#[derive(Debug)]
pub struct Model {
    values: Vec<Value>,
}

/// The most written classes from which an unwritten one inherits, besides their bases. Operations
/// involve two classes at once.
const JOINT_BASES: usize = 3;

impl Model {
    /// The model of the hierarchy, with the primitive literals of these types.
    pub fn new(hierarchy: &Hierarchy, literals: &[Type]) -> Model {
        let mut model = Model { values: Vec::new() };
        for row in Predefined::ALL {
            model.object(row.exact_bit(), Vec::new(), None);
        }
        for class in hierarchy.classes() {
            let row = class.predefined().unwrap_or(Predefined::Object);
            model.object(row.user_bit(), family(*class), Some(*class));
        }
        for classes in unwritten(hierarchy.classes()) {
            let rows = classes.iter().filter_map(|class| class.predefined());
            let row = rows
                .reduce(|a, b| if a == Predefined::Object { b } else { a })
                .unwrap_or(Predefined::Object);
            let open = Predefined::ALL.iter().filter(|candidate| match row {
                Predefined::Object => !candidate.is_closed(),
                row => **candidate == row,
            });
            for row in open {
                model.object(row.user_bit(), classes.clone(), None);
            }
        }
        hierarchy
            .objects()
            .iter()
            .for_each(|object| model.named_object(*object));
        for class in hierarchy.classes() {
            class
                .as_object()
                .into_iter()
                .for_each(|object| model.named_object(object));
        }
        model.primitives(literals);
        model
    }

    /// The number of values.
    pub fn len(&self) -> usize {
        self.values.len()
    }

    /// Returns true if there are none.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// The values of the type.
    pub fn values(&self, ty: Type) -> Values {
        let mut set = vec![0; self.values.len().div_ceil(64)];
        for (index, value) in self.values.iter().enumerate() {
            if value.is_of(ty) {
                set[index / 64] |= 1 << (index % 64);
            }
        }
        Values(set)
    }

    fn object(&mut self, leaf: u64, classes: Vec<ClassHandle>, exact: Option<ClassHandle>) {
        for life in [MORTAL, IMMORTAL] {
            let classes = classes.clone();
            self.values.push(Value {
                leaf,
                life,
                classes,
                exact,
                object: None,
                integer: None,
                double: None,
            });
        }
    }

    /// An object known to be immortal has that lifetime only; another one may have either.
    fn named_object(&mut self, object: ObjectHandle) {
        let Some(class) = object.class() else { return };
        let row = class.predefined().unwrap_or(Predefined::Object);
        let builtin = class.is_builtin_itself();
        let leaf = if builtin {
            row.exact_bit()
        } else {
            row.user_bit()
        };
        let lives = if object.is_immortal() {
            &[IMMORTAL][..]
        } else {
            &[MORTAL, IMMORTAL]
        };
        for &life in lives {
            let (classes, exact) = if builtin {
                (Vec::new(), None)
            } else {
                (family(class), Some(class))
            };
            self.values.push(Value {
                leaf,
                life,
                classes,
                exact,
                object: Some(object),
                integer: None,
                double: None,
            });
        }
    }

    fn primitives(&mut self, literals: &[Type]) {
        let plain = Value {
            leaf: 0,
            life: 0,
            classes: Vec::new(),
            exact: None,
            object: None,
            integer: None,
            double: None,
        };
        for (leaf, _) in PRIMITIVES {
            let mut named: Vec<Spec> = literals
                .iter()
                .filter(|ty| ty.leaves() == *leaf)
                .map(|ty| ty.spec())
                .collect();
            if *leaf == Type::CBOOL.leaves() {
                named.extend([Spec::Int(0), Spec::Int(1)]);
            } else {
                self.values.push(Value {
                    leaf: *leaf,
                    ..plain.clone()
                });
            }
            for (index, spec) in named.iter().enumerate() {
                let first = !named[..index].contains(spec);
                match spec {
                    Spec::Int(value) if first => self.values.push(Value {
                        leaf: *leaf,
                        integer: Some(*value),
                        ..plain.clone()
                    }),
                    Spec::Double(bits) if first => self.values.push(Value {
                        leaf: *leaf,
                        double: Some(*bits),
                        ..plain.clone()
                    }),
                    _ => {}
                }
            }
        }
    }
}

impl Value {
    fn is_of(&self, ty: Type) -> bool {
        let lives = self.leaf & OBJECT_BITS == 0 || self.life & ty.word() & LIFE_MASK != 0;
        let special = match ty.spec() {
            Spec::None => true,
            Spec::Class(class) => self.classes.contains(&class),
            Spec::Exact(class) => self.exact == Some(class),
            Spec::Object(object) => self.object == Some(object),
            Spec::Int(value) => self.integer == Some(value),
            Spec::Double(bits) => self.double == Some(bits),
        };
        self.leaf & ty.word() != 0 && lives && special
    }
}

/// The class and its user bases.
fn family(class: ClassHandle) -> Vec<ClassHandle> {
    let bases = class.mro();
    std::iter::once(class)
        .chain(
            bases
                .iter()
                .copied()
                .filter(|base| !base.is_builtin_itself()),
        )
        .collect()
}

/// For each class that could still be written, the user classes of which its instances would be
/// instances.
fn unwritten(classes: &[ClassHandle]) -> Vec<Vec<ClassHandle>> {
    let mut found: Vec<Vec<ClassHandle>> = vec![Vec::new()];
    let mut last = found.clone();
    for _ in 0..JOINT_BASES {
        let mut next = Vec::new();
        for set in &last {
            for class in classes
                .iter()
                .filter(|class| !class.is_final() && !set.contains(class))
            {
                let mut wider = set.clone();
                wider.extend(
                    family(*class)
                        .into_iter()
                        .filter(|base| !set.contains(base)),
                );
                wider.sort_unstable();
                if agree(&wider) && !found.contains(&wider) {
                    found.push(wider.clone());
                    next.push(wider);
                }
            }
        }
        last = next;
    }
    found
}

/// Returns true if one class can inherit from all of these: one predefined base and one line of
/// layouts.
fn agree(classes: &[ClassHandle]) -> bool {
    let rows: Vec<_> = classes
        .iter()
        .filter_map(|class| class.predefined())
        .filter(|row| *row != Predefined::Object)
        .collect();
    let layouts: Vec<_> = classes.iter().filter(|class| class.owns_layout()).collect();
    let line =
        |a: &ClassHandle, b: &ClassHandle| a.mro().contains(b) || b.mro().contains(a) || a == b;
    rows.windows(2).all(|pair| pair[0] == pair[1])
        && layouts.iter().all(|a| layouts.iter().all(|b| line(a, b)))
}
