//! Compares the typegraph's solver with the enumeration of all executions, and reads and prints
//! scripts: `cargo +nightly fuzz run typegraph`.
//!
//! With `CLADONIA_PLANT` set in the environment to `cycle` or `way`, a fault is planted in the
//! solver, which must be found.
#![no_main]

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;

// The module imports no other, so it is compiled here without the back end: seconds instead of
// minutes.
#[allow(dead_code, unused_imports)]
#[path = "../../src/typegraph/mod.rs"]
mod typegraph;

static FAULT: LazyLock<Option<typegraph::Fault>> = LazyLock::new(|| {
    let name = std::env::var("CLADONIA_PLANT").ok()?;
    Some(match name.as_str() {
        "cycle" => typegraph::Fault::NoOnACycle,
        "way" => typegraph::Fault::OneWayIsAll,
        _ => panic!("CLADONIA_PLANT is `cycle` or `way`"),
    })
});

fuzz_target!(|data: &[u8]| {
    if let Err(what) = typegraph::exercise_input(data, *FAULT) {
        panic!("{what}");
    }
});
