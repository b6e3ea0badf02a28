//! Compares operations, parser and printer of the type lattice with the model:
//! `cargo +nightly fuzz run types`.
//!
//! With `CLADONIA_PLANT` set in the environment, a fault is planted in the intersection, which must
//! be found.
#![no_main]

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;

// The module imports no other, so it is compiled here without the back end: seconds instead of
// minutes.
#[allow(dead_code, unused_imports)]
#[path = "../../src/types/mod.rs"]
mod types;

static OPERATIONS: LazyLock<types::Operations> =
    LazyLock::new(|| match std::env::var_os("CLADONIA_PLANT") {
        Some(_) => types::Operations::with_a_fault(),
        None => types::Operations::real(),
    });

fuzz_target!(|data: &[u8]| {
    if let Err(fault) = types::exercise(*OPERATIONS, data) {
        panic!("{fault}");
    }
});
