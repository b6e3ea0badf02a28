//! Random small graphs against the enumeration of all executions.

use crate::typegraph::Fault;
use crate::typegraph::exercise::{Tally, exercise};

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
    // Otherwise little was tested.
    assert!(tally.infeasible > 5_000, "{tally:?}");
    assert!(tally.feasible > 5_000, "{tally:?}");
    assert!(tally.second_pass > 100, "{tally:?}");
    assert!(tally.unknown > 1_000, "{tally:?}");
}

/// `cargo test --release --lib typegraph -- --ignored --nocapture`
#[test]
#[ignore = "takes minutes"]
fn answers_agree_with_all_executions_of_100_000_graphs() {
    let tally = run(0..100_000);
    eprintln!("{tally:?}");
}

#[test]
fn planted_faults_are_found() {
    for fault in [Fault::NoOnACycle, Fault::OneWayIsAll] {
        let finds = |&seed: &u64| exercise(&bytes(seed), Some(fault)).is_err();
        let found = (0..3_000).find(finds);
        eprintln!("{fault:?}: {found:?}");
        assert!(found.is_some(), "{fault:?}");
    }
}
