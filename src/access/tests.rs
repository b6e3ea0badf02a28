//! Tests of the parts that need no program; programs are file tests (`jit-tests/files/access`).

use super::index::Types;
use super::instructions::Instruction;
use super::text_of_tuple;
use std::collections::BTreeSet;

#[test]
fn items_of_a_tuple_are_read_as_repr_writes_them() {
    assert_eq!(text_of_tuple("()"), [""; 0]);
    assert_eq!(text_of_tuple("('z',)"), ["'z'"]);
    assert_eq!(
        text_of_tuple("(1, (2, 3), 'a,b')"),
        ["1", "(2, 3)", "'a,b'"]
    );
    assert_eq!(text_of_tuple(r"('it\'s', 2)"), [r"'it\'s'", "2"]);
    assert_eq!(text_of_tuple("no tuple"), [""; 0]);
}

#[test]
fn instructions_have_names_of_their_own() {
    let names: BTreeSet<&str> = Instruction::ALL.iter().map(|i| i.name()).collect();
    assert_eq!(names.len(), Instruction::ALL.len());
}

#[test]
fn types_are_counted_over_all_kinds() {
    let mut types = Types::default();
    assert!(types.is_empty());
    types.extend(Types {
        class: ["C".into()].into(),
        instance: ["C".into()].into(),
        module: ["m".into()].into(),
    });
    assert_eq!(types.len(), 3);
}
