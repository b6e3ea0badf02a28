//! A disagreement, found and reduced as the fuzzer does it. Each check forks, and the child has
//! only the forking thread: a lock that another thread has at that moment (such as that of the
//! registry of types) is never released there. So this is the only test of its process.

use cladonia::bytecode::{ConstValue, Document};
use cladonia_reference::check::{Difference, Plan, Program};
use cladonia_reference::reduce::{difference, reduce};

/// Its result differs from runtime to runtime, as with a bug of an executor.
const DIFFERS: &str = include_str!("tool/differs.tbc");

#[test]
fn a_disagreement_stays_the_one_it_was() {
    let call = |name: &str| (name.to_owned(), vec![ConstValue::Int(3)]);
    let program = Program {
        text: DIFFERS.into(),
        calls: vec![call("g"), call("f"), call("f")],
    };
    let plan = Plan {
        times: 1,
        seeds: 1,
        ..Plan::default()
    };
    let kind = |program: &Program| difference(program, &plan).map(|(kind, _)| kind);
    assert_eq!(kind(&program), Some(Difference::Results));
    let small = reduce(&program, &plan);
    let document = Document::parse(&small.text).expect("a document");
    let ops: Vec<&str> = document.codes[0]
        .instrs
        .iter()
        .map(|i| i.op.info().name)
        .collect();
    assert_eq!(
        ops,
        ["load_global", "load_global", "call", "return_value"],
        "{}",
        small.text
    );
    assert_eq!((document.codes.len(), small.calls), (1, vec![call("f")]));
    let agreeing = Program {
        calls: vec![call("g")],
        ..program
    };
    assert_eq!(difference(&agreeing, &plan), None);
    assert_eq!(reduce(&agreeing, &plan).text, agreeing.text);
}
