//! Tests of the laws, over all types and pairs of two hierarchies, against the model; and of random
//! expressions.

use std::sync::LazyLock;

use expect_test::expect_file;
use proptest::prelude::*;

use super::WORLD;
use crate::types::exercise::{WORLD as LAYOUTS, exercise};
use crate::types::{Hierarchy, LawReport, Operations, Type, World, check_laws};

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

/// The hierarchy of random expressions, built once.
static RANDOM: LazyLock<World> = LazyLock::new(|| World::new(LAYOUTS).expect("well-formed"));

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    /// For types from random expressions, each operation covers the model's values, order and
    /// bounds hold, and the text reads back.
    #[test]
    fn random_expressions_keep_to_the_model(program in proptest::collection::vec(any::<u8>(), 5..160)) {
        prop_assert_eq!(RANDOM.run(Operations::real(), &program), Ok(()));
    }

    /// Reading any text ends with a type or an error inside it.
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

/// Runs the fuzzer's corpus again, and the fault that it must find.
#[test]
fn the_fuzzers_corpus_passes_and_finds_a_planted_fault() {
    let corpus = concat!(env!("CARGO_MANIFEST_DIR"), "/fuzz/corpus/types");
    let mut found = 0;
    let mut ran = 0;
    for entry in std::fs::read_dir(corpus).expect("the corpus is committed") {
        let path = entry.expect("readable").path();
        let data = std::fs::read(&path).expect("readable");
        assert_eq!(
            exercise(Operations::real(), &data),
            Ok(()),
            "{}",
            path.display()
        );
        found += usize::from(exercise(Operations::with_a_fault(), &data).is_err());
        ran += 1;
    }
    assert!(
        ran > 0 && found > 0,
        "of {ran} inputs, {found} see the planted fault"
    );
}
