//! Compares random small graphs with the enumeration of all executions.

use crate::typegraph::exercise::{Tally, exercise, exercise_input};
use crate::typegraph::{Fault, ScriptOptions, run as run_script};

/// Bytes that follow from a seed (SplitMix64, Steele and others 2014).
fn bytes(seed: u64) -> Vec<u8> {
    let mut state = seed;
    let mut next = || {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = state;
        z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    };
    (0..40).flat_map(|_| next().to_le_bytes()).collect()
}

fn run(seeds: std::ops::Range<u64>) -> Tally {
    let mut tally = Tally::default();
    for seed in seeds {
        match exercise(&bytes(seed), None) {
            Ok(more) => tally += more,
            Err(what) => panic!("seed {seed}: {what}"),
        }
    }
    tally
}

#[test]
fn answers_agree_with_all_executions() {
    let tally = run(0..3_000);
    // Assert that the test had enough cases.
    assert!(tally.infeasible > 5_000, "{tally:?}");
    assert!(tally.feasible > 5_000, "{tally:?}");
    assert!(tally.second_pass > 100, "{tally:?}");
    assert!(tally.unknown > 1_000, "{tally:?}");
}

/// `cargo test --release --lib typegraph -- --ignored --nocapture`
#[test]
#[ignore = "takes minutes"]
fn answers_agree_with_all_executions_of_100_000_graphs() {
    println!("{:?}", run(0..100_000));
}

#[test]
fn planted_faults_are_found() {
    for fault in [Fault::NoOnACycle, Fault::OneWayIsAll] {
        let finds = |&seed: &u64| exercise(&bytes(seed), Some(fault)).is_err();
        assert!((0..3_000).any(|seed| finds(&seed)), "{fault:?}");
    }
}

/// Runs the fuzzer's corpus again, and the faults that it must find.
#[test]
fn the_fuzzers_corpus_passes_and_finds_planted_faults() {
    let corpus = concat!(env!("CARGO_MANIFEST_DIR"), "/fuzz/corpus/typegraph");
    let (mut ran, mut found) = (0, [0; 2]);
    for entry in std::fs::read_dir(corpus).expect("the corpus is committed") {
        let path = entry.expect("readable").path();
        let data = std::fs::read(&path).expect("readable");
        assert_eq!(exercise_input(&data, None), Ok(()), "{}", path.display());
        for (found, fault) in found
            .iter_mut()
            .zip([Fault::NoOnACycle, Fault::OneWayIsAll])
        {
            *found += usize::from(exercise_input(&data, Some(fault)).is_err());
        }
        ran += 1;
    }
    assert!(ran >= 30 && found.iter().all(|&n| n > 0), "{ran} {found:?}");
}

/// Hash tables have different seeds each time, which must not affect results.
#[test]
fn the_same_graph_gives_the_same_answers_reasons_and_costs() {
    let chapter = include_str!("../../../docs/typegraph.md");
    let blocks = chapter.split("```tg\n").skip(1);
    for block in blocks.filter_map(|block| Some(block.split_once("```")?.0)) {
        let done = || {
            let outcome = run_script(block, ScriptOptions { why: true });
            let outcome = outcome.unwrap_or_else(|error| panic!("{error}"));
            (outcome.replies, outcome.program.metrics())
        };
        let first = done();
        for _ in 0..5 {
            assert_eq!(done(), first);
        }
    }
    for seed in 0..50 {
        let first = exercise(&bytes(seed), None);
        for _ in 0..3 {
            assert_eq!(exercise(&bytes(seed), None), first);
        }
    }
}
