//! The engine is dropped while one of its units runs: the unit exits, and the program ends as if it
//! had been interpreted.

use cladonia::bytecode::ConstValue;
use cladonia_reference::runtime::{Options, Session};
use std::cell::Cell;
use std::rc::Rc;

/// `outer` runs as machine code and calls `inner`, which is interpreted: its loop is compiled only
/// then.
const PROGRAM: &str = r#"
; def inner(n):
;     total = 0
;     while 0 < n:
;         total = total + n
;         n = n - 1
;     return total
code "inner" {
  params 1
  local n
  local total
  stack 2
  const 0
  const 1
  load_const #0
  store_fast total
head:
  load_const #0
  load_fast n
  compare_op <, 1
  pop_jump_if_false out
  load_fast total
  load_fast n
  binary_op +
  store_fast total
  load_fast n
  load_const #1
  binary_op -
  store_fast n
  jump_backward head
out:
  load_fast total
  return_value
}

; def outer(n): return inner(n) * n + n
code "outer" {
  params 1
  local n
  stack 3
  name inner
  load_global inner, 1
  load_fast n
  call 1
  load_fast n
  binary_op *
  load_fast n
  binary_op +
  return_value
}
"#;

#[test]
fn an_engine_dropped_while_its_unit_runs_leaves_the_rest_to_the_interpreter() {
    let options = Options {
        loop_threshold: 10,
        // `inner` is never compiled as a whole: `outer` calls it through its cell.
        call_threshold: 2,
        ..Options::default()
    };
    let session = Rc::new(Session::new(options).unwrap());
    let program = session.load(PROGRAM).unwrap();
    let call = |n: i64| program.call("outer", &[ConstValue::Int(n)]);
    // The loop of `inner` stays cold so far.
    for _ in 0..4 {
        assert_eq!(call(1).as_deref(), Ok("2"));
    }
    assert!(program.is_native("outer"));
    let before = session.statistics();
    assert!(before.native_calls > 0);

    let dropped = Rc::new(Cell::new(false));
    let (weak, note) = (Rc::downgrade(&session), dropped.clone());
    session.on_compile(Box::new(move |name, _, _| {
        assert_eq!(name, "inner");
        weak.upgrade().expect("it runs").close_compiler();
        note.set(true);
    }));
    assert_eq!(call(20).as_deref(), Ok("4220"));
    assert!(dropped.get());
    let after = session.statistics();
    assert_eq!(
        after.native_calls,
        before.native_calls + 1,
        "`outer` was running when its engine went"
    );
    // `outer`, and the unit of the loop, which was not entered.
    assert_eq!((after.invalidated, after.loop_entries), (after.units, 0));
    assert_eq!(after.exits, before.exits + 1, "it left behind the call");

    assert!(!program.is_native("outer"));
    assert_eq!(call(20).as_deref(), Ok("4220"));
    assert_eq!(session.statistics().units, after.units);
}
