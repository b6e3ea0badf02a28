//! Decoding of instructions and tables that differ in this version and that the compiler does not
//! produce, or only with effort.

use super::opcodes as oc;
use super::shared_tests::decoded;
use crate::decode::{decode_handlers, decode_units};
use cladonia::bytecode::{Handler, Op, Pc};

#[test]
fn a_loop_ends_behind_the_interpreters_own_clean_up() {
    let found = decoded(&[
        (oc::FOR_ITER, 3),
        (oc::CACHE, 0),
        (oc::POP_TOP, 0),
        (oc::JUMP_BACKWARD, 5),
        (oc::CACHE, 0),
        (oc::END_FOR, 0),
        (oc::POP_TOP, 0),
        (oc::RETURN_CONST, 0),
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
            (Op::ReturnConst, 0)
        ]
    );
}

#[test]
fn a_handler_may_get_the_position() {
    let code = decode_units(&[oc::NOP, 0, oc::NOP, 0], |_, _| Vec::new()).unwrap();
    let handler = Handler {
        start: Pc(1),
        end: Pc(2),
        target: Pc(0),
        depth: 1,
        lasti: true,
    };
    assert_eq!(
        decode_handlers(&[0x80 | 1, 1, 0, 3], &code),
        Ok(vec![handler])
    );
}
