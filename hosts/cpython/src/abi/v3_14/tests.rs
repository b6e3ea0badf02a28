//! Decoding of instructions and tables that differ in this version and that the compiler does not
//! produce, or only with effort.

use super::opcodes as oc;
use super::shared_tests::decoded;
use cladonia::bytecode::Op;

#[test]
fn a_loop_ends_behind_what_pops_its_iterator() {
    let found = decoded(&[
        (oc::FOR_ITER, 3),
        (oc::CACHE, 0),
        (oc::POP_TOP, 0),
        (oc::JUMP_BACKWARD, 5),
        (oc::CACHE, 0),
        (oc::END_FOR, 0),
        (oc::POP_ITER, 0),
        (oc::RETURN_VALUE, 0),
    ]);
    let ops: Vec<(Op, u32)> = found.unwrap().iter().map(|i| (i.0, i.1)).collect();
    assert_eq!(
        ops,
        [
            (Op::ForIter, 5),
            (Op::PopTop, 0),
            (Op::JumpBackward, 0),
            (Op::PopTop, 0),
            (Op::PopTop, 0),
            (Op::ReturnValue, 0)
        ]
    );
}

#[test]
fn the_null_of_a_call_is_read_with_it() {
    let found = decoded(&[
        (oc::PUSH_NULL, 0),
        (oc::CALL_FUNCTION_EX, 0),
        (oc::NOP, 0),
        (oc::CALL_FUNCTION_EX, 0),
        (oc::PUSH_NULL, 0),
        (oc::NOP, 0),
    ]);
    assert_eq!(
        found,
        Ok(vec![
            (Op::CallFunctionEx, 0, 0, 1, 0, true),
            (Op::Nop, 0, 0, 2, 2, true),
            (Op::CallFunctionEx, 1, 0, 3, 3, true),
            (Op::PushNull, 0, 0, 4, 4, true),
            (Op::Nop, 0, 0, 5, 5, true),
        ])
    );
}
