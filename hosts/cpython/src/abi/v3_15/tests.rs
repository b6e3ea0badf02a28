//! Decoding of instructions and tables that differ in this version and that the compiler does not
//! produce, or only with effort.

use super::opcodes as oc;
use super::shared_tests::decoded;
use crate::decode::{decode_handlers, decode_units};
use crate::testing::{run, with_python};
use cladonia::bytecode::{Handler, Op, Pc};

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

#[test]
fn taking_an_item_is_an_operator() {
    use super::forms::SUBSCRIPT;
    let script = format!("import opcode\nassert opcode._nb_ops[{SUBSCRIPT}][1] == '[]'");
    with_python(|| run(&script, &[]));
    let mut units = vec![(oc::BINARY_OP, SUBSCRIPT as u8)];
    units.extend([(oc::CACHE, 0); oc::CACHES[oc::BINARY_OP as usize] as usize]);
    let ops: Vec<Op> = decoded(&units).unwrap().iter().map(|row| row.0).collect();
    assert_eq!(ops, [Op::BinarySubscr]);
}

#[test]
fn handlers_that_get_a_position_are_left_to_the_interpreter() {
    let code = decode_units(&[oc::NOP, 0, oc::NOP, 0], |_, _| Vec::new()).unwrap();
    let handler = Handler {
        start: Pc(1),
        end: Pc(2),
        target: Pc(0),
        depth: 1,
        lasti: false,
    };
    assert_eq!(
        decode_handlers(&[0x80 | 1, 1, 0, 2], &code),
        Ok(vec![handler])
    );
    assert_eq!(decode_handlers(&[0x80 | 1, 1, 0, 3], &code), Ok(vec![]));
}

#[test]
fn a_slot_gives_back_what_it_was_given() {
    use super::slots;
    use pyo3_ffi::*;
    with_python(|| {
        // SAFETY: inside the interpreter; objects that are put into slots are owned.
        unsafe {
            let mortal = PyFloat_FromDouble(1.5);
            let immortal = Py_NewRef(Py_None());
            assert_eq!(slots::word(mortal), mortal as u64);
            assert_eq!(slots::word(immortal), immortal as u64 | 1);
            assert_eq!(slots::word(std::ptr::null_mut()), 1);
            for object in [mortal, immortal, std::ptr::null_mut()] {
                assert_eq!(slots::object(slots::word(object)), object);
                assert_eq!(slots::object(object as u64), object);
            }
            assert!(slots::object(slots::position(7)).is_null());
            // Borrowed: the slot must not drop it.
            slots::close(mortal as u64 | 1);
            slots::close(1);
            slots::close(slots::position(0));
            assert_eq!(Py_REFCNT(mortal), 1);
            slots::close(slots::word(mortal));
        }
    });
}
