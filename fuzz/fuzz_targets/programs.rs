//! Random programs of typed bytecode: interpreter, machine code, forced exits and chaos must give
//! the same results. A finding is printed as a reduced file test:
//! `cargo +nightly fuzz run programs`.
#![no_main]

use cladonia_reference::check::{Failure, Plan, Program, check};
use cladonia_reference::generate::generate;
use cladonia_reference::reduce::finding;
use cladonia_reference::text::parse_call;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let bytes = bytes.to_vec();
    // Programs recurse deeper than the fuzzer's own stack allows.
    let thread = std::thread::Builder::new()
        .stack_size(256 << 20)
        .spawn(move || {
            let (text, calls) = generate(&bytes);
            let calls = calls.iter().filter_map(|call| parse_call(call)).collect();
            let program = Program { text, calls };
            let plan = Plan::of_bytes(&bytes);
            if let Err(Failure::Differs(what)) = check(&program, &plan) {
                eprintln!("{}", finding(&program, &plan, &what.to_string()));
                std::process::abort();
            }
        });
    thread.unwrap().join().unwrap();
});
