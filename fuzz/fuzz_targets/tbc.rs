//! Typed bytecode as text, truncated and with flipped bits: reading, verifying and compiling it
//! gives a result or an error, and a text that was read prints and reads back. (It is not run: the
//! verifier checks the depth of the stack, but not its contents.)
#![no_main]

use cladonia::bytecode::Document;
use cladonia::engine::Entry;
use cladonia_reference::generate::generate;
use cladonia_reference::runtime::{Options, Session};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    // The first bytes select the changes, the rest the program.
    let (changes, program) = bytes.split_at(bytes.len().min(24));
    let mut text = generate(program).0.into_bytes();
    for change in changes.chunks_exact(4) {
        let at = u32::from_le_bytes([change[0], change[1], change[2], 0]) as usize % text.len();
        match change[3] {
            0..=15 => text.truncate(at.max(1)),
            bit => text[at] ^= 1 << (bit % 7),
        }
    }
    let text = String::from_utf8_lossy(&text);
    let Ok(document) = Document::parse(&text) else {
        return;
    };
    let printed = Document::print(&document.codes);
    let again = Document::parse(&printed).expect("what is printed reads back");
    assert_eq!(Document::print(&again.codes), printed);
    let options = Options {
        jit: false,
        ..Options::default()
    };
    let session = Session::new(options).expect("a runtime");
    for code in document.codes.iter().filter(|code| code.verify().is_ok()) {
        if let Err(why) = session.compile_text(code, Entry::Function, &[]) {
            assert!(!why.starts_with("internal"), "{why}\n{code}");
        }
    }
});
