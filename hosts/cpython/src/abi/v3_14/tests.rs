//! Instructions and tables that no compiler makes, or that are hard to have it make.

use super::opcodes as oc;
use crate::decode::{DecodeError, decode_handlers, decode_units};
use crate::testing::{run, with_python};
use cladonia::bytecode::{Handler, Op, Pc};

#[test]
fn the_opcodes_are_those_of_the_opcode_module() {
    let rows: Vec<String> = oc::ALL
        .iter()
        .map(|(name, number, caches, general)| {
            format!("({name:?}, {number}, {caches}, {general}),")
        })
        .collect();
    let source = format!(
        "
import opcode, _opcode_metadata as metadata
ours = [{}]
numbers = {{**metadata._specialized_opmap, **{{k: v for k, v in opcode.opmap.items() if v < 256}}}}
assert {{name: number for name, number, _, _ in ours}} == numbers
family = {{form: base for base, forms in metadata._specializations.items() for form in forms}}
for name, number, caches, general in ours:
    base = family.get(name, name).removeprefix('INSTRUMENTED_')
    if base in ('LINE', 'INSTRUCTION'):
        base = 'CACHE'
    assert general == numbers[base], name
    assert caches == opcode._inline_cache_entries.get(base, 0), name
",
        rows.concat()
    );
    with_python(|| run(&source, &[]));
}

/// Op, arguments, position, where to resume, whether one can.
type Row = (Op, u32, u32, u32, u32, bool);

/// Bytes of instructions, decoded without hints.
fn decoded(units: &[(u8, u8)]) -> Result<Vec<Row>, DecodeError> {
    let bytes: Vec<u8> = units
        .iter()
        .flat_map(|(opcode, arg)| [*opcode, *arg])
        .collect();
    let decoded = decode_units(&bytes, |_, _| Vec::new())?;
    Ok(decoded
        .instrs
        .iter()
        .map(|i| (i.op, i.arg, i.arg2, i.pos, i.resume, i.resumable))
        .collect())
}

#[test]
fn prefixes_fold_and_superinstructions_come_apart() {
    let found = decoded(&[
        (oc::EXTENDED_ARG, 1),
        (oc::EXTENDED_ARG, 2),
        (oc::LOAD_CONST, 3),
        (oc::STORE_FAST_STORE_FAST, 0x52),
        (oc::EXTENDED_ARG, 1),
        (oc::LOAD_ATTR, 7),
    ]);
    assert_eq!(
        found,
        Ok(vec![
            (Op::LoadConst, 0x010203, 0, 2, 0, true),
            (Op::StoreFast, 5, 0, 3, 3, true),
            (Op::StoreFast, 2, 0, 3, 3, false),
            (Op::LoadAttr, 0x83, 1, 5, 4, true),
        ])
    );
}

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
fn what_no_compiler_makes_is_refused() {
    assert_eq!(
        decoded(&[(oc::NOP, 0), (oc::ENTER_EXECUTOR, 0)]),
        Err(DecodeError::Opcode {
            opcode: oc::ENTER_EXECUTOR,
            name: "ENTER_EXECUTOR",
            position: 1
        })
    );
    assert_eq!(
        decoded(&[(oc::INSTRUMENTED_CALL, 0)])
            .unwrap_err()
            .to_string(),
        format!("opcode INSTRUMENTED_CALL ({}) at 0", oc::INSTRUMENTED_CALL)
    );
    assert_eq!(
        decoded(&[(oc::JUMP_FORWARD, 9)]),
        Err(DecodeError::Target { position: 0 })
    );
    assert!(matches!(
        decoded(&[(oc::JUMP_BACKWARD, 9), (oc::CACHE, 0)]),
        Err(DecodeError::Opcode { .. })
    ));
    assert!(matches!(
        decoded(&[(oc::EXTENDED_ARG, 9)]),
        Err(DecodeError::Opcode { .. })
    ));
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
    assert_eq!(
        decode_handlers(&[0x80, 9, 0, 0], &code),
        Err(DecodeError::ExceptionTable)
    );
}

#[test]
fn a_slot_gives_back_what_it_was_given() {
    use super::slots;
    use pyo3_ffi::*;
    with_python(|| {
        // SAFETY: inside the interpreter; what is put into slots is owned.
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
            // Borrowed: it is not the slot's to drop.
            slots::close(mortal as u64 | 1);
            slots::close(1);
            slots::close(slots::position(0));
            assert_eq!(Py_REFCNT(mortal), 1);
            slots::close(slots::word(mortal));
        }
    });
}
