//! Tests of the verifier: each writes a faulty function, and the complete list of faults.

use super::super::{Builder, parse, random};
use super::*;
use crate::ll::Width;
use cranelift_entity::EntityRef;
use expect_test::{Expect, expect};

fn check_func(func: &Func, mode: Mode, expect: Expect) {
    let found = match verify(func, mode, &random::helpers()) {
        Ok(()) => "well formed".to_owned(),
        Err(errors) => errors.to_string(),
    };
    expect.assert_eq(&found);
}

/// Checks a function given as `(params) -> results { ... }`.
fn check(text: &str, expect: Expect) {
    let text = format!("function test{text}");
    let func = parse(&text, &random::helpers()).unwrap_or_else(|e| panic!("{e}"));
    check_func(&func, Mode::Unit, expect);
}

#[test]
fn all_faults_are_reported_at_once_in_the_order_of_the_text() {
    check(
        "(i64, f64) -> ptr {\n  slot0 8\nblock0(v0: i64, v1: f64):\n  v2 = iadd v0, v1\n  v3 = fneg v0\n  \
         v4 = stack_addr 1\n  v5 = bconst 2\n  br v0, block1(v0), block0\nblock1:\n  return v0, v1\n}",
        expect![[r#"
            LIR function `test` is not well formed:
              block0, instruction 0: operands are (i64, f64), not (i64, i64)
              block0, instruction 1: operands are (i64), not (f64)
              block0, instruction 2: there is no stack slot 1
              block0, instruction 3: 2 is no truth value
              block0, end: the condition v0 is no bool
              block0, end: block1 takes () but is given (i64)
              block0, end: the entry block may not be jumped to
              block0, end: block0 takes (i64, f64) but is given ()
              block1, end: 2 results, expected 1"#]],
    );
}

#[test]
fn operands_that_the_table_does_not_fix() {
    check(
        "(i64, f64, ptr, bool) {\nblock0(v0: i64, v1: f64, v2: ptr, v3: bool):\n  v4 = icmp slt v2, v2\n  \
         v5 = icmp eq v2, v0\n  v6 = icmp eq v3, v3\n  v7 = select.i64 v3, v0, v1\n  v8 = select.f64 v3, v0, v0\n  \
         v9 = select.i64 v0, v0, v0\n  v10 = load.i64 v0\n  store.f64 v2, v0\n  store.i64 v0, v0\n  return\n}",
        expect![[r#"
            LIR function `test` is not well formed:
              block0, instruction 0: addresses have no order `slt`
              block0, instruction 1: operands are (ptr, i64), not two integers or two addresses
              block0, instruction 2: operands are (bool, bool), not two integers or two addresses
              block0, instruction 3: operands are (bool, i64, f64), not (bool, a, a)
              block0, instruction 4: results are (f64), not (i64)
              block0, instruction 5: operands are (i64, i64, i64), not (bool, a, a)
              block0, instruction 6: operands are (i64), not (ptr)
              block0, instruction 7: operands are (ptr, i64), not (ptr, f64)
              block0, instruction 8: operands are (i64, i64), not (ptr, i64)"#]],
    );
}

#[test]
fn calls_follow_their_signature() {
    check(
        "(i64, ptr) {\n  sig0 (i64) -> i64\nblock0(v0: i64, v1: ptr):\n  call nothing(v0)\n  v2 = call list.new()\n  \
         v3 = call_indirect sig0 v1(v1)\n  v4 = call_indirect sig0 v0(v0)\n  v5 = call_indirect sig0 v1(v0)\n  return\n}",
        expect![[r#"
            LIR function `test` is not well formed:
              block0, instruction 0: `nothing` is () but is called as (i64)
              block0, instruction 1: `list.new` is (i64) -> ptr but is called as () -> ptr
              block0, instruction 2: `sig0` is (i64) -> i64 but is called as (ptr) -> i64
              block0, instruction 3: the callee is no address"#]],
    );
}

#[test]
fn definitions_dominate_uses() {
    check(
        "(bool) -> i64 {\nblock0(v0: bool):\n  v1 = iadd v2, v2\n  v2 = iconst 1\n  br v0, block1, block2\n\
         block1:\n  v3 = iconst 2\n  jump block3\nblock2:\n  jump block3\nblock3:\n  v4 = iadd v3, v2\n  \
         v5 = iadd v6, v6\n  return v4\nblock4:\n  v6 = iconst 3\n  v7 = iadd v3, v6\n  return v7\n}",
        expect![[r#"
            LIR function `test` is not well formed:
              block0, instruction 0: v2 is used before its definition
              block0, instruction 0: v2 is used before its definition
              block3, instruction 0: the definition of v3 in block1 does not dominate this use
              block3, instruction 1: the definition of v6 in block4 does not dominate this use
              block3, instruction 1: the definition of v6 in block4 does not dominate this use"#]],
    );
}

#[test]
fn a_loop_may_use_values_from_before_it() {
    check(
        "(bool) -> i64 {\nblock0(v0: bool):\n  v1 = iconst 1\n  jump block2(v1)\nblock1:\n  v2 = iadd v3, v1\n  \
         jump block2(v2)\nblock2(v3: i64):\n  br v0, block1, block3\nblock3:\n  return v3\n}",
        expect!["well formed"],
    );
}

#[test]
fn exits_are_for_units_and_failing_for_intrinsics() {
    let text = "function test() -> i64 {\nblock0:\n  v0 = bconst 1\n  br v0, block1, block2\nblock1:\n  exit exit0()\nblock2:\n  fail\n}";
    let func = parse(text, &random::helpers()).unwrap();
    check_func(
        &func,
        Mode::Unit,
        expect![[r#"
        LIR function `test` is not well formed:
          block1, end: a unit that exits must give one ptr, or a status and a value
          block2, end: only an intrinsic may fail"#]],
    );
    check_func(
        &func,
        Mode::Intrinsic,
        expect![[r#"
        LIR function `test` is not well formed:
          block1, end: an intrinsic may not exit"#]],
    );
}

#[test]
fn entry_parameters_are_the_signatures() {
    check(
        "(i64, f64) {\nblock0(v0: f64):\n  return\n}",
        expect![[r#"
        LIR function `test` is not well formed:
          block0: parameters (f64) are not the signature's (i64, f64)"#]],
    );
    check(
        "() -> (i64, i64, i64) {\nblock0:\n  unreachable\n}",
        expect![[r#"
        LIR function `test` is not well formed:
          function: more than two results"#]],
    );
}

#[test]
fn an_intrinsic_may_have_more_than_two_results() {
    let text = "function test() -> (i64, i64, i64) {\nblock0:\n  unreachable\n}";
    let func = parse(text, &random::helpers()).unwrap_or_else(|e| panic!("{e}"));
    check_func(&func, Mode::Intrinsic, expect!["well formed"]);
}

#[test]
fn a_block_must_end() {
    check(
        "() {\nblock0:\n}",
        expect![[r#"
        LIR function `test` is not well formed:
          block0, end: there is no terminator"#]],
    );
}

#[test]
fn faults_without_a_text_form_are_found_too() {
    let mut func = Func::new("test", Signature::new(&[Ty::I64], &[]));
    let arg = func.params()[0];
    let entry = func.entry();
    let mut b = Builder::new(&mut func);
    b.push(Opcode::Iconst, &[], Imm::None, &[Ty::I64]);
    b.push(Opcode::Iadd, &[arg, Value::new(99)], Imm::None, &[Ty::I64]);
    b.push(Opcode::Iadd, &[arg, arg], Imm::None, &[Ty::I64, Ty::Bool]);
    b.push(
        Opcode::Load,
        &[],
        Imm::Mem {
            width: Width::I64,
            offset: 0,
        },
        &[Ty::F64],
    );
    b.push(Opcode::Call, &[], Imm::Helper(HelperId::new(70)), &[]);
    b.push(
        Opcode::CallIndirect,
        &[],
        Imm::Sig(super::super::SigId::new(3)),
        &[],
    );
    b.push(
        Opcode::CallRoutine,
        &[],
        Imm::Routine(super::super::RoutineId::new(5)),
        &[],
    );
    let lost = b.block();
    b.jump(lost, &[]);
    let again = func.blocks[entry].insts[1].clone();
    func.blocks[entry].insts.push(again);
    check_func(
        &func,
        Mode::Unit,
        expect![[r#"
            LIR function `test` is not well formed:
              block0, instruction 0: `iconst` with immediate None
              block0, instruction 1: v99 is not defined
              block0, instruction 1: 1 operand, expected 2
              block0, instruction 2: 2 results, expected 1
              block0, instruction 3: 0 operands, expected 1
              block0, instruction 3: results are (f64), not (i64)
              block0, instruction 4: there is no helper70
              block0, instruction 5: there is no sig3
              block0, instruction 6: there is no routine5
              block0, instruction 7: v2 is defined twice
              block0, instruction 7: v99 is not defined
              block0, instruction 7: 1 operand, expected 2
              block0, end: block1 is not in the layout"#]],
    );

    func.order.push(entry);
    func.order.push(Block::new(40));
    check_func(
        &func,
        Mode::Unit,
        expect![[r#"
        LIR function `test` is not well formed:
          function: block0 is twice in the layout
          function: block40 is in the layout but does not exist"#]],
    );
    func.order.clear();
    check_func(
        &func,
        Mode::Unit,
        expect![[r#"
        LIR function `test` is not well formed:
          function: there is no entry block"#]],
    );
}

#[test]
fn references_are_addresses_and_their_slots_are_words() {
    check(
        "(i64, ptr) -> ptr {\n  slot0 12\n  refs v0, v1, slot0, slot3\nblock0(v0: i64, v1: ptr):\n  return v1\n}",
        expect![[r#"
            LIR function `test` is not well formed:
              function: v0 holds a reference, but is no ptr
              function: slot0 holds references, but no whole words
              function: there is no stack slot 3"#]],
    );
}
