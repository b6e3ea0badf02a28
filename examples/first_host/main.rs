//! The host of [A host in six steps](../../docs/steps.md), which grows by a file a step. Run it with
//! `cargo run --example first_host`: every function has the same result in the interpreter and in
//! machine code.

mod exceptions;
mod floats;
mod host;
mod ints;
mod iterators;
mod lists;
mod loops;
mod runtime;

use cladonia::engine::Entry;
use floats::float;
use host::Vm;
use lists::list;
use runtime::{Chapter, Value, int};
use std::error::Error;

/// The chapters so far. The first one that knows an instruction executes it.
pub const CHAPTERS: &[Chapter] = &[
    loops::CHAPTER,
    ints::CHAPTER,
    floats::CHAPTER,
    lists::CHAPTER,
    iterators::CHAPTER,
    exceptions::CHAPTER,
];

/// The result of a function as text.
fn run(vm: &Vm, name: &str, args: &[Value]) -> String {
    match vm.call(name, args) {
        Ok(value) => format!("{value:?}"),
        Err(error) => format!("error {}", error.bits.get()),
    }
}

pub fn main() -> Result<(), Box<dyn Error>> {
    let vm = Vm::new(include_str!("program.tbc"))?;
    let ints = |items: &[i64]| list(items.iter().copied().map(int).collect());
    let cases: [(&str, Vec<Value>, &str); 7] = [
        ("sum_to", vec![int(1000)], "500500"),
        ("power", vec![int(3), int(9)], "19683"),
        ("power", vec![int(2), int(63)], "error 2"),
        ("squares", vec![float(0.5), int(100)], "25.0"),
        ("scale", vec![ints(&[1, 2, 3]), int(1), int(3)], "1"),
        ("total", vec![list(vec![float(0.5); 9]), float(1.0)], "5.5"),
        ("item_or", vec![ints(&[7, 8, 9]), int(3)], "-1"),
    ];
    for (name, args, expected) in &cases {
        vm.threshold.set(u64::MAX);
        assert_eq!(run(&vm, name, args), *expected, "{name}, interpreted");
    }
    for (name, args, expected) in cases.iter().cycle().take(10 * cases.len()) {
        vm.threshold.set(2);
        assert_eq!(run(&vm, name, args), *expected, "{name}");
    }
    let engine = vm.engine.borrow();
    let units = engine.units();
    for (name, _, _) in cases {
        let of_function = |entry| {
            let mut found = units.iter().filter(|unit| unit.name == name);
            found.any(|unit| unit.entry == entry && unit.entered > 0)
        };
        assert!(
            of_function(Entry::Function),
            "`{name}` did not run natively"
        );
    }
    assert!(
        units
            .iter()
            .any(|unit| matches!(unit.entry, Entry::Loop(_)))
    );
    println!("{units:#?}");
    drop(engine);

    // An int among floats is not what the unit speculates on. Its exit rebuilds the unboxed total.
    let mixed = [list(vec![float(0.5), int(7)]), float(1.0)];
    assert_eq!(run(&vm, "total", &mixed), "8.5");
    let units = vm.engine.borrow().units();
    let mut totals = units.iter().filter(|unit| unit.name == "total");
    assert!(totals.any(|unit| unit.exits.len() == 1));
    Ok(())
}
