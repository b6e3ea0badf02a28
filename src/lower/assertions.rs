//! The function that compiled code calls if an asserted fact does not hold
//! ([`Function::asserted`]).

use crate::hir::{Function, Value};
use std::sync::{Mutex, PoisonError};

/// The text of each assertion, by its number. Never freed, since assertions exist only in tests.
static TEXTS: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// A new number for the assertion `v`.
pub(super) fn number(f: &Function, v: Value) -> i64 {
    let inst = f.inst(v);
    let line = f.code.instr(inst.pc).line;
    let mut text = format!(
        "a false fact in `{}`, line {line}, {}: {}",
        f.code.name,
        inst.pc,
        inst.op.name()
    );
    for arg in &inst.args {
        text += &format!(" {}", f.resolve(*arg));
    }
    if let Some(&arg) = inst.args.first() {
        text += &format!(" ({} became {})", f.ty(arg), inst.ty);
    }
    let mut texts = TEXTS.lock().unwrap_or_else(PoisonError::into_inner);
    texts.push(text);
    texts.len() as i64 - 1
}

/// The address of the function that ends the process.
pub(super) fn address() -> u64 {
    (false_fact as *const ()).expose_provenance() as u64
}

/// Prints the false fact and ends the process, because the code that follows would be wrong.
extern "C" fn false_fact(number: i64) -> i64 {
    let texts = TEXTS.lock().unwrap_or_else(PoisonError::into_inner);
    let text = texts
        .get(number as usize)
        .map_or("a false fact", String::as_str);
    eprintln!("cladonia: {text}");
    std::process::abort()
}
