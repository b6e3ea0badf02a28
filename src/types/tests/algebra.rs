//! The laws, over all types and pairs of two worlds, against the model; and random expressions.

use super::{WORLD, eval};
use crate::types::{Answer, Claim, Exception, Hierarchy, LawReport, Type, check_laws, universe};

/// Single, multiple, metaclass and builtin inheritance, layouts and a final class.
const SMALL: &str = "
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

#[test]
fn the_laws_hold_in_the_world_of_the_specification() {
    println!("{}", report(WORLD));
}

#[test]
fn the_laws_hold_in_a_world_of_layouts_and_final_classes() {
    println!("{}", report(SMALL));
}
