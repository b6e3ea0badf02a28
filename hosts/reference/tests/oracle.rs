//! Tests of the LIR interpreter in place of machine code: it runs, and planted faults show where
//! they should.

mod tool;

use cladonia::bytecode::Document;
use cladonia::engine::{Execution, Planted};
use cladonia_reference::check::run_in;
use cladonia_reference::runtime::{Options, Session};
use cladonia_reference::text::parse_call;

const PROGRAM: &str = r#"
code "less" {
  params 2
  local a
  local b
  stack 2
  load_fast a
  load_fast b
  binary_op -  hint [LongExact, LongExact]
  return_value
}
"#;

/// The result of the last of many calls, and the number of entries into the LIR interpreter.
fn run(jit: bool, execution: Execution, planted: Option<Planted>) -> (String, u64) {
    let options = Options {
        jit,
        execution,
        planted,
        ..Options::default()
    };
    let session = Session::new(options).unwrap();
    let document = Document::parse(PROGRAM).unwrap();
    let calls = [parse_call("less(7, 2)").unwrap()];
    let outcome = run_in(&session, &document.codes, &calls, 20).unwrap();
    let last = outcome.results.last().unwrap().clone().unwrap();
    (last, session.oracle_counts().entries)
}

#[test]
fn units_run_in_the_interpreter_of_lir_and_in_it_alone() {
    let (result, entries) = run(true, Execution::Oracle, None);
    assert_eq!(result, "5");
    // The first calls are made in the host's interpreter, before the function is hot.
    assert!((15..20).contains(&entries), "{entries}");
    assert_eq!(run(true, Execution::Machine, None), ("5".to_owned(), 0));
    assert_eq!(run(false, Execution::Oracle, None), ("5".to_owned(), 0));
}

#[test]
fn a_fault_in_a_lowering_shows_in_both_executions() {
    let planted = Some(Planted::Lowering);
    assert_eq!(run(true, Execution::Oracle, planted).0, "-5");
    assert_eq!(run(true, Execution::Machine, planted).0, "-5");
    assert_eq!(run(false, Execution::Machine, planted).0, "5");
}

#[test]
fn a_fault_in_code_generation_shows_as_a_difference() {
    let planted = Some(Planted::Codegen);
    assert_eq!(run(true, Execution::Oracle, planted).0, "5");
    assert_eq!(run(true, Execution::Machine, planted).0, "-5");
}

#[test]
fn the_tool_lists_the_units_that_ran_in_the_interpreter_of_lir() {
    let arguments = [
        "run",
        "-",
        "--oracle",
        "--times",
        "5",
        "--call",
        "less(7, 2)",
    ];
    let output = tool::run(&arguments, PROGRAM);
    assert_eq!((output.status, output.err.as_str()), (0, ""));
    assert_eq!(
        output.out,
        "5\nin the LIR interpreter: units 1, entries 3; left out: entry stubs, which are the host's\n"
    );
}
