use super::*;
use crate::bytecode::{Document, GeneralOp as G, Met};
use crate::facts::{Operator, OperatorPlan, World};
use crate::types::Type;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// A `World` that knows nothing.
pub(crate) struct Nothing;

impl World for Nothing {}

/// The function of a code in text form, verified.
fn built(text: &str) -> Function {
    let document = Document::parse(text).expect("a document");
    let code = Arc::new(document.codes[0].clone());
    let start = Start::Function(&[]);
    let (avoid, met) = (HashSet::new(), HashMap::new());
    let f = build(&code, start, &Nothing, &avoid, &met, None).expect("compiled");
    verify(&f).unwrap_or_else(|faults| panic!("{faults}\n{f}"));
    f
}

/// `try: return x + y` / `except: return y`, with or without the position for the handler.
fn guarded_sum(lasti: &str) -> String {
    let extra = if lasti.is_empty() {
        ""
    } else {
        "@9 pop_top at 11"
    };
    format!(
        r#"
code "f" {{
  params 2
  stack 5
  local x
  local y
  @0 resume 0 at 0
  @1 load_fast #1 at 1
  @2 load_fast #0 at 2
  @3 load_fast #1 at 3
  @4 binary_op + at 4
  @5 swap 2 at 6
  @6 pop_top at 7
  @7 return_value at 8
  @8 pop_top at 10
  {extra}
  @{last} return_value at 12
  handler @2..@5 -> @8 depth 1 {lasti}
}}
"#,
        last = 9 + usize::from(!lasti.is_empty())
    )
}

fn ops(f: &Function, block: Block) -> Vec<&'static str> {
    f.blocks[block]
        .insts
        .iter()
        .map(|v| f.op(*v).name())
        .collect()
}

#[test]
fn an_op_in_a_handler_range_ends_its_block_with_two_successors() {
    let f = built(&guarded_sum(""));
    let (v, landing) = f.order.iter().find_map(|&b| f.landing(b)).expect("a raise");
    assert!(matches!(f.op(v), Op::General(G::Binary, _)));
    // The operands are dropped, the exception is taken, and the handler gets the entry below its
    // depth and the exception.
    assert_eq!(ops(&f, landing)[..3], ["decref", "decref", "catch"]);
    let Term::Jump(to_handler) = &f.blocks[landing].term else {
        panic!("no way to the handler\n{f}")
    };
    let stack = &f.blocks[to_handler.block].entry_state.stack;
    assert_eq!(stack.len(), 2);
    assert!(stack.iter().all(|e| e.owned));
    assert_eq!(f.blocks[to_handler.block].entry_state.pc, Pc(8));
}

#[test]
fn the_state_of_a_raise_is_the_stack_before_the_instruction() {
    let f = built(&guarded_sum(""));
    let (v, _) = f.order.iter().find_map(|&b| f.landing(b)).expect("a raise");
    let state = &f.states[f.inst(v).state.expect("a state")];
    assert_eq!((state.pc, state.stack.len()), (Pc(4), 3));
}

#[test]
fn a_handler_that_asks_for_it_gets_the_position_below_the_exception() {
    let f = built(&guarded_sum("lasti"));
    let (_, landing) = f.order.iter().find_map(|&b| f.landing(b)).expect("a raise");
    let Term::Jump(edge) = &f.blocks[landing].term else {
        panic!("no way to the handler\n{f}")
    };
    let stack = &f.blocks[edge.block].entry_state.stack;
    assert_eq!(stack.len(), 3);
    // There is only one edge to the handler, so its value is known.
    assert!(matches!(f.op(stack[1].value), Op::BoxInt));
    assert_eq!(f.op(f.arg(stack[1].value, 0)), &Op::ConstInt(4));
}

#[test]
fn what_has_raised_has_no_value_on_the_exceptional_edge() {
    let mut f = built(&guarded_sum(""));
    let (v, landing) = f.order.iter().find_map(|&b| f.landing(b)).expect("a raise");
    let first = f.blocks[landing].insts[0];
    f.insts[first].args[0] = v;
    let faults = verify(&f)
        .expect_err("a value that is not there")
        .to_string();
    assert!(faults.contains("does not dominate"), "{faults}");
}

#[test]
fn an_instruction_that_is_replaced_raises_no_more() {
    let mut f = built(&guarded_sum(""));
    let (v, landing) = f.order.iter().find_map(|&b| f.landing(b)).expect("a raise");
    let operand = f.arg(v, 0);
    f.replace(v, operand);
    f.apply_aliases();
    assert!(!f.order.contains(&landing));
    verify(&f).unwrap_or_else(|faults| panic!("{faults}\n{f}"));
}

/// A loop over a range, whose own step cannot raise, in the range of a handler that continues
/// behind the loop; another operation in the range of the same handler does raise.
const LATE_HANDLER: &str = r#"
code "f" {
  params 1
  stack 2
  local x
  @0 resume 0 at 0
  @1 load_fast #0 at 1
  @2 get_iter at 2
  @3 for_iter @6 at 3
  @4 pop_top at 5
  @5 jump_backward @3 at 6
  @6 load_fast #0 at 8
  @7 unary_negative at 9
  @8 return_value at 10
  @9 pop_top at 11
  @10 jump @6 at 12
  handler @3..@4 -> @9 depth 0
  handler @7..@8 -> @9 depth 0
}
"#;

#[test]
fn a_handler_is_built_even_if_what_leads_to_it_comes_behind_it() {
    let document = Document::parse(LATE_HANDLER).expect("a document");
    let code = Arc::new(document.codes[0].clone());
    let types = [Type::OBJECT, Type::RANGE_ITER];
    let start = Start::Loop(Pc(3), &types);
    let (avoid, met) = (HashSet::new(), HashMap::new());
    let f = build(&code, start, &Nothing, &avoid, &met, None).expect("compiled");
    verify(&f).unwrap_or_else(|faults| panic!("{faults}\n{f}"));
    let dead_end = f
        .order
        .iter()
        .find(|&&b| f.blocks[b].term == Term::Unreachable);
    assert!(dead_end.is_none(), "{f}");
}

/// The unit that resumes the frames of a generator in text form, verified.
fn resuming(text: &str) -> Function {
    let document = Document::parse(text).expect("a document");
    let code = Arc::new(document.codes[0].clone());
    assert_eq!(code.verify(), Ok(()));
    let (avoid, met) = (HashSet::new(), HashMap::new());
    let start = Start::Resume(&[]);
    let f = build(&code, start, &Nothing, &avoid, &met, None).expect("compiled");
    verify(&f).unwrap_or_else(|faults| panic!("{faults}\n{f}"));
    f
}

/// `def g(n): i = n + n; yield i; return n`, which begins at @3 and resumes at @9.
const GENERATOR: &str = r#"
code "g" {
  params 1
  stack 2
  generator
  local n
  local i
  @0 return_generator at 0
  @1 pop_top at 1
  @2 resume 0 at 2
  @3 load_fast n at 3
  @4 load_fast n at 4
  @5 binary_op + hint [LongExact, LongExact] at 5
  @6 store_fast i at 7
  @7 load_fast i at 8
  @8 yield_value 0 at 9
  @9 resume 1 at 10
  @10 pop_top at 11
  @11 load_fast n at 12
  @12 return_value at 13
}
"#;

#[test]
fn a_generator_has_an_entry_for_each_place_where_it_waits() {
    let f = resuming(GENERATOR);
    assert_eq!(f.code.resume_points(), [Pc(1), Pc(9)]);
    assert!(
        matches!(f.blocks[f.entry()].term, Term::Branch { .. }),
        "{f}"
    );
    let yields = |b: &Block| ops(&f, *b).last() == Some(&"yield");
    let suspended = f.order.iter().copied().find(yields).expect("a yield");
    assert_eq!(f.blocks[suspended].term, Term::Unreachable);
    let v = f.blocks[suspended].insts.last().expect("a yield");
    let state = &f.states[f.insts[*v].state.expect("a state")];
    assert_eq!((state.pc, state.stack.len()), (Pc(9), 0));
}

#[test]
fn what_a_local_was_at_a_yield_is_bet_on_where_the_frame_goes_on() {
    let text = resuming(GENERATOR).to_string();
    let entry = text.split("load_slot 1").nth(2).expect("two entries");
    assert!(entry.contains("guard_type LongExact"), "{text}");
}

#[test]
fn a_generator_reads_back_as_itself() {
    let text = resuming(GENERATOR).to_string();
    let document = Document::parse(&format!("{GENERATOR}{text}")).expect("a document");
    let again = parse_section(&document, &document.sections[0]).expect("a function");
    assert_eq!(again.to_string(), text);
}

#[test]
fn nothing_comes_after_a_yield() {
    let mut f = resuming(GENERATOR);
    let yields = |b: &Block| ops(&f, *b).last() == Some(&"yield");
    let block = f.order.iter().copied().find(yields).expect("a yield");
    f.blocks[block].insts.rotate_right(1);
    let faults = verify(&f).expect_err("a yield at the start").to_string();
    assert!(faults.contains("something comes after it"), "{faults}");
}

#[test]
fn the_start_of_a_generator_function_makes_the_generator() {
    let f = built(GENERATOR);
    let last = *f.order.last().expect("a block");
    assert_eq!(ops(&f, last), ["make_generator"]);
    assert!(matches!(f.blocks[last].term, Term::Return(_)), "{f}");
}

#[test]
fn a_yield_that_control_never_comes_to_is_no_resume_point() {
    let text = GENERATOR.replace("@3 load_fast n at 3", "@3 jump @11 at 3");
    let document = Document::parse(&text).expect("a document");
    assert_eq!(document.codes[0].resume_points(), [Pc(1)]);
}

#[test]
fn only_a_generators_frames_are_resumed() {
    let document = Document::parse(&guarded_sum("")).expect("a document");
    let code = Arc::new(document.codes[0].clone());
    let (avoid, met) = (HashSet::new(), HashMap::new());
    let start = Start::Resume(&[]);
    let refused = build(&code, start, &Nothing, &avoid, &met, None).expect_err("no generator");
    assert_eq!(refused.what, "a generator");
}

/// A `World` in which floats are always true, as objects of a user class may be.
struct TrueFloats;

impl World for TrueFloats {
    fn operator(&self, operator: Operator, operands: &[Type]) -> OperatorPlan {
        match (operator, operands) {
            (Operator::Truth, [ty]) if *ty <= Type::FLOAT_EXACT => OperatorPlan::True {
                assumptions: Vec::new(),
            },
            _ => OperatorPlan::General,
        }
    }
}

/// The operations of `return not not x`, whose first half has observed objects of these classes, in
/// blocks.
fn truth_of(seen: &[Type]) -> Vec<&'static str> {
    let text = r#"
code "f" {
  params 1
  stack 1
  local x
  @0 resume 0 at 0
  @1 load_fast x at 1
  @2 to_bool at 2
  @3 unary_not at 3
  @4 return_value at 4
}
"#;
    let document = Document::parse(text).expect("a document");
    let code = Arc::new(document.codes[0].clone());
    let met = Met {
        seen: seen.to_vec(),
        ..Met::default()
    };
    let met = HashMap::from([(Pc(2), met)]);
    let start = Start::Function(&[]);
    let f = build(&code, start, &TrueFloats, &HashSet::new(), &met, None).expect("compiled");
    verify(&f).unwrap_or_else(|faults| panic!("{faults}\n{f}"));
    let all = f.order.iter().flat_map(|&block| ops(&f, block));
    all.filter(|op| {
        [
            "is_class",
            "check_classes",
            "guard_type",
            "const_bool",
            "truth",
        ]
        .contains(op)
    })
    .collect()
}

#[test]
fn none_is_told_from_what_is_always_true_without_a_question() {
    let told = ["is_class", "const_bool", "is_class", "const_bool", "truth"];
    assert_eq!(truth_of(&[Type::FLOAT_EXACT, Type::NONE_TYPE]), told);
}

#[test]
fn what_says_nothing_of_its_truth_is_asked_if_it_is_not_none() {
    let told = ["is_class", "const_bool", "truth"];
    assert_eq!(truth_of(&[Type::DICT_EXACT, Type::NONE_TYPE]), told);
    assert_eq!(truth_of(&[Type::DICT_EXACT, Type::SET_EXACT]), ["truth"]);
}

#[test]
fn a_class_that_was_met_alone_is_no_bet_for_a_test_of_truth() {
    let or_none = ["is_class", "const_bool", "is_class", "const_bool", "truth"];
    assert_eq!(truth_of(&[Type::FLOAT_EXACT]), or_none);
    let is_counted = ["is_class", "const_bool", "is_class", "truth", "truth"];
    assert_eq!(truth_of(&[Type::UNICODE_EXACT]), is_counted);
    assert_eq!(
        truth_of(&[Type::NONE_TYPE]),
        ["is_class", "const_bool", "truth"]
    );
    // An int is likely an operand of arithmetic next: a guard on its class serves that too.
    assert_eq!(truth_of(&[Type::LONG_EXACT]), ["truth"]);
}
