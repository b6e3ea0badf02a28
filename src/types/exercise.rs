//! Decodes bytes as expressions of types, and checks each step against the [`Model`]. Shared by the
//! fuzzer and the random tests.
//!
//! The operations under test come as a table, so that a fault can be planted without a second build
//! of the module: a checker that does not find [`Operations::with_a_fault`] checks nothing.

use std::sync::LazyLock;

use super::hierarchy::Hierarchy;
use super::model::Model;
use super::parse::{Answer, Names, evaluate};
use super::repr::{Spec, Type};
use super::universe::universe;

/// The operations under test.
#[derive(Clone, Copy, Debug)]
pub struct Operations {
    union: fn(Type, Type) -> Type,
    intersection: fn(Type, Type) -> Type,
    difference: fn(Type, Type) -> Type,
    join: fn(Type, Type) -> Type,
}

impl Operations {
    /// The real operations.
    pub fn real() -> Operations {
        Operations {
            union: |a, b| a | b,
            intersection: |a, b| a & b,
            difference: |a, b| a - b,
            join: Type::join,
        }
    }

    /// Operations with an intersection that ignores multiple inheritance, a mistake that other
    /// implementations shipped.
    pub fn with_a_fault() -> Operations {
        let intersection = |a: Type, b: Type| match (a.spec(), b.spec()) {
            (Spec::Class(c), Spec::Class(d)) if !c.is_subclass_of(d) && !d.is_subclass_of(c) => {
                Type::BOTTOM
            }
            _ => a & b,
        };
        Operations {
            intersection,
            ..Operations::real()
        }
    }
}

/// Initial types, with their model.
#[derive(Debug)]
pub struct World {
    hierarchy: Hierarchy,
    names: Names,
    types: Vec<Type>,
    model: Model,
}

/// The exercised hierarchy: single, multiple, metaclass and builtin inheritance, layouts, a final
/// class, objects.
pub(super) const WORLD: &str = "
class Base
class Left(Base)
class Right(Base)
class Both(Left, Right)
class Mixin
class Number(int)
class Mixed(Mixin, Number)
class Slotted(Base, layout=own)
class Packed(Mixin, layout=own)
class Sealed(Base, final=yes)
class Meta(type)
class Made(metaclass=Meta)
object left: Left
object left2: Left
object sealed: Sealed
object both: Both immortal
object mixed: Mixed
object five: int = 5
object text: str = \"hi\" immortal
";

static SHARED: LazyLock<Option<World>> = LazyLock::new(|| World::new(WORLD).ok());

impl World {
    /// The types and the model of a hierarchy.
    pub fn new(text: &str) -> Result<World, super::HierarchyError> {
        let hierarchy = Hierarchy::parse(text)?;
        let types = universe(&hierarchy);
        let model = Model::new(&hierarchy, &types);
        Ok(World {
            names: hierarchy.names(),
            hierarchy,
            types,
            model,
        })
    }

    /// The initial types.
    pub fn types(&self) -> &[Type] {
        &self.types
    }

    /// The hierarchy.
    pub fn hierarchy(&self) -> &Hierarchy {
        &self.hierarchy
    }

    /// Checks all properties of two types.
    pub fn check(&self, operations: Operations, a: Type, b: Type) -> Result<(), String> {
        let (left, right) = (self.model.values(a), self.model.values(b));
        let (union, intersection) = ((operations.union)(a, b), (operations.intersection)(a, b));
        let (difference, join) = ((operations.difference)(a, b), (operations.join)(a, b));
        let values = |ty| self.model.values(ty);
        let claims = [
            (
                "a | b holds the values of both",
                left.or(&right).is_within(&values(union)),
            ),
            (
                "a & b holds the common values",
                left.and(&right).is_within(&values(intersection)),
            ),
            (
                "a - b holds the values left",
                left.without(&right).is_within(&values(difference)),
            ),
            (
                "join holds the values of both",
                left.or(&right).is_within(&values(join)),
            ),
            ("a <= b is inclusion", (a <= b) == left.is_within(&right)),
            ("a == b is equality", (a == b) == (left == right)),
            (
                "a could_be b is meeting",
                a.could_be(b) == left.meets(&right),
            ),
            ("a | b commutes", union == (operations.union)(b, a)),
            (
                "a & b commutes",
                intersection == (operations.intersection)(b, a),
            ),
            ("join commutes", join == (operations.join)(b, a)),
            ("a <= a | b", a <= union && b <= union),
            ("a <= join", a <= join && b <= join),
            ("a - b <= a", difference <= a),
            (
                "a join that moves loses height",
                join == a || join.join_height() < a.join_height(),
            ),
        ];
        match claims.iter().find(|(_, holds)| !holds) {
            Some((claim, _)) => Err(format!("{claim}: fails for {a} and {b}")),
            None => [union, intersection, difference, join]
                .into_iter()
                .try_for_each(|ty| self.reads_back(ty)),
        }
    }

    fn reads_back(&self, ty: Type) -> Result<(), String> {
        match Type::parse(&ty.to_string(), &self.names) {
            Ok(read) if read == ty => Ok(()),
            Ok(read) => Err(format!("{ty} reads back as {read}")),
            Err(error) => Err(format!("{ty} does not read back: {error}")),
        }
    }

    /// Runs a program: each step has five bytes, an operation and the two earlier types to which it
    /// is applied.
    pub fn run(&self, operations: Operations, program: &[u8]) -> Result<(), String> {
        let mut types = self.types.clone();
        for step in program.chunks_exact(5).take(64) {
            let place =
                |high: u8, low: u8| usize::from(u16::from_be_bytes([high, low])) % types.len();
            // The first counts from the latest, so that expressions become deep.
            let a = types[types.len() - 1 - place(step[1], step[2])];
            let b = types[place(step[3], step[4])];
            self.check(operations, a, b)?;
            types.push(match step[0] % 7 {
                0 => (operations.union)(a, b),
                1 | 2 => (operations.intersection)(a, b),
                3 => (operations.difference)(a, b),
                4 => (operations.join)(a, b),
                5 => a.mortal(),
                _ => a.immortal(),
            });
        }
        Ok(())
    }

    /// Reads a text as a type, an expression and a hierarchy. Each gives a value that reads back,
    /// or an error with a place in the text.
    pub fn read(&self, text: &str) -> Result<(), String> {
        match evaluate(text, &self.names) {
            Ok(Answer::Type(ty)) => self.reads_back(ty)?,
            Ok(Answer::Truth(_)) => {}
            Err(error) if error.column == 0 || error.column > text.chars().count() + 1 => {
                return Err(format!("{error}: outside of {text:?}"));
            }
            Err(_) => {}
        }
        if let Ok(hierarchy) = Hierarchy::parse(text) {
            let classes = hierarchy
                .classes()
                .iter()
                .map(|class| Type::from_class(*class));
            let objects = hierarchy
                .objects()
                .iter()
                .map(|object| Type::from_object(*object));
            for ty in classes.chain(objects) {
                if Type::parse(&ty.to_string(), &hierarchy.names()) != Ok(ty) {
                    return Err(format!("{ty} of {text:?} does not read back"));
                }
            }
        }
        Ok(())
    }
}

/// Exercises the module with arbitrary bytes: a `t` and a text, or any other byte and a program.
pub fn exercise(operations: Operations, data: &[u8]) -> Result<(), String> {
    let Some(world) = SHARED.as_ref() else {
        return Err("the world is not well-formed".to_owned());
    };
    match data {
        [b't', text @ ..] => world.read(&String::from_utf8_lossy(text)),
        [_, program @ ..] => world.run(operations, program),
        [] => Ok(()),
    }
}
