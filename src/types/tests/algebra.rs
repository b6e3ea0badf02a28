//! The laws, over all types and pairs of two worlds, against the model; and random expressions.

use std::sync::LazyLock;

use expect_test::expect_file;
use proptest::prelude::*;

use super::WORLD;
use crate::types::{Hierarchy, LawReport, Model, Type, check_laws, universe};

/// Single, multiple, metaclass and builtin inheritance, layouts and a final class.
const LAYOUTS: &str = "
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

#[track_caller]
fn report(world: &str) -> LawReport {
    let world = Hierarchy::parse(world).expect("well-formed");
    let report = check_laws(&world);
    assert!(report.types >= 400, "only {} types", report.types);
    assert!(report.holds(), "{report}");
    report
}

/// The reports are committed: they are the list of exceptions, each with its reason.
#[test]
fn the_laws_hold_in_the_world_of_the_specification() {
    expect_file!["laws_of_the_specification.txt"].assert_eq(&report(WORLD).to_string());
}

#[test]
fn the_laws_hold_in_a_world_of_layouts_and_final_classes() {
    expect_file!["laws_of_layouts.txt"].assert_eq(&report(LAYOUTS).to_string());
}

/// The world of random expressions, built once.
static RANDOM_WORLD: LazyLock<(Hierarchy, Vec<Type>, Model)> = LazyLock::new(|| {
    let world = Hierarchy::parse(LAYOUTS).expect("well-formed");
    let types = universe(&world);
    let model = Model::new(&world, &types);
    (world, types, model)
});

/// An expression as numbers: each step applies one operation to two of the types so far.
fn steps() -> impl Strategy<Value = Vec<(u8, usize, usize)>> {
    proptest::collection::vec((0..8_u8, 0..10_000_usize, 0..10_000_usize), 1..24)
}

fn step(op: u8, a: Type, b: Type) -> Type {
    match op {
        0 | 1 => a | b,
        2 | 3 => a & b,
        4 => a - b,
        5 => a.join(b),
        6 => a.mortal(),
        _ => a.immortal() | b,
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    /// However types come about: each operation covers what the model says, order and bounds hold, text reads back.
    #[test]
    fn random_expressions_keep_to_the_model(steps in steps()) {
        let (world, types, model) = &*RANDOM_WORLD;
        let (mut types, names) = (types.clone(), world.names());
        for (op, a, b) in steps {
            // Recent types are preferred, so that expressions grow deep.
            let (a, b) = (types[types.len() - 1 - a % types.len()], types[b % types.len()]);
            let (left, right) = (model.values(a), model.values(b));
            prop_assert!(left.or(&right).is_within(&model.values(a | b)), "{a} | {b}");
            prop_assert!(left.and(&right).is_within(&model.values(a & b)), "{a} & {b}");
            prop_assert!(left.without(&right).is_within(&model.values(a - b)), "{a} - {b}");
            prop_assert!(left.or(&right).is_within(&model.values(a.join(b))), "{a} join {b}");
            prop_assert_eq!(a <= b, left.is_within(&right), "{} <= {}", a, b);
            prop_assert_eq!(a == b, left == right, "{} == {}", a, b);
            prop_assert_eq!(a.could_be(b), left.meets(&right), "{} could_be {}", a, b);
            prop_assert_eq!((a | b, a & b, a.join(b)), (b | a, b & a, b.join(a)));
            prop_assert!(a <= a | b && a <= a.join(b) && a - b <= a);
            let answer = step(op, a, b);
            prop_assert_eq!(Type::parse(&answer.to_string(), &names), Ok(answer));
            types.push(answer);
        }
    }

    /// Whatever the text, reading it ends with a type or an error inside it.
    #[test]
    fn no_text_makes_the_parsers_panic(text in "[A-Za-z\\[\\]{}|&:#`\"'<>=!() .0-9-]{0,40}|\\PC{0,20}") {
        let world = Hierarchy::parse("class A\nobject a: A").expect("well-formed");
        let columns = text.chars().count() + 1;
        for error in [
            Type::parse(&text, &world.names()).err(),
            crate::types::evaluate(&text, &world.names()).err(),
        ].into_iter().flatten() {
            prop_assert!(error.column >= 1 && error.column <= columns, "{}: {}", text, error);
        }
        let _ = Hierarchy::parse(&format!("class {text}\nobject {text}"));
    }
}
