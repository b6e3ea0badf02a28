//! Decoding of instructions and tables that the compiler does not produce, or only with effort.

use super::opcodes as oc;
use crate::decode::{DecodeError, decode_handlers, decode_units};
use crate::testing::{run, with_python};
use cladonia::bytecode::Op;

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

/// Op, arguments, position, the position to resume at, and true if the interpreter can resume
/// there.
pub type Row = (Op, u32, u32, u32, u32, bool);

/// Bytes of instructions, decoded without hints.
pub fn decoded(units: &[(u8, u8)]) -> Result<Vec<Row>, DecodeError> {
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
fn malformed_exception_tables_are_refused() {
    let code = decode_units(&[oc::NOP, 0, oc::NOP, 0], |_, _| Vec::new()).unwrap();
    for table in [&[0x80 | 1, 1, 0][..], &[0x80, 9, 0, 0]] {
        assert_eq!(
            decode_handlers(table, &code),
            Err(DecodeError::ExceptionTable)
        );
    }
}
