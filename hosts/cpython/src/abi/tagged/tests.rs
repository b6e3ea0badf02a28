//! Instructions, handlers and slots of the versions whose slots are tagged words.

use super::opcodes as oc;
use super::shared_tests::decoded;
use crate::decode::{decode_handlers, decode_units};
use crate::testing::{run, with_python};
use cladonia::bytecode::{Handler, Op, Pc};

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
