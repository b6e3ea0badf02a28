//! The helpers that a host must have: one for each general operation, with the signature that
//! follows from its row, and a few others.

use super::{CALL_BOXED, RECORD_EXIT, RESUME_EXITS};
use crate::bytecode::{GeneralOp, Gives};
use crate::facts::Effects;
use crate::ll::Ty;

/// A helper that the core calls, with the signature it must have.
#[derive(Clone, Debug)]
pub struct HelperRow {
    /// The name.
    pub name: &'static str,
    /// Parameters.
    pub params: Vec<Ty>,
    /// Results.
    pub results: Vec<Ty>,
    /// Its effects.
    pub effects: Effects,
}

/// Helpers over raw values.
pub const MATH: &[(&str, &[Ty], &[Ty])] = &[
    ("float_pow", &[Ty::F64, Ty::F64], &[Ty::F64]),
    ("float_mod", &[Ty::F64, Ty::F64], &[Ty::F64]),
    ("float_floordiv", &[Ty::F64, Ty::F64], &[Ty::F64]),
];

/// The helper that exits call: `(unit, exit, buffer) -> object`.
pub const EXIT_HOOK: &str = "exit";

/// The helper that deallocates an object without references if that runs no host code:
/// `(object) -> i64`, 1 if it did, otherwise 0.
pub const FREE_LEAF: &str = "free_leaf";

/// The helper that deallocates an object without references: `(object) -> ()`. It may run host
/// code.
pub const DEALLOC: &str = "dealloc";

/// Every helper that a host must have. `docs/helpers.md` lists them with their operations,
/// ownership and effects, and says which of them a small host needs.
pub fn helpers() -> Vec<HelperRow> {
    let mut rows: Vec<HelperRow> = GeneralOp::ALL
        .iter()
        .map(|op| {
            let info = op.info();
            let mut params = Vec::new();
            params.extend(info.thread.then_some(Ty::Ptr));
            params.extend(info.frame.then_some(Ty::Ptr));
            params.extend((0..info.imms).map(|_| Ty::I64));
            params.extend((0..info.operands).map(|_| Ty::Ptr));
            if info.variadic {
                params.extend([Ty::Ptr, Ty::I64]);
            }
            params.extend(info.outputs.then_some(Ty::Ptr));
            let result = if info.gives == Gives::Object {
                Ty::Ptr
            } else {
                Ty::I64
            };
            HelperRow {
                name: info.name,
                params,
                results: vec![result],
                effects: Effects {
                    raises: info.raises,
                    runs_host_code: !info.quiet,
                    ..Effects::ANY
                },
            }
        })
        .collect();
    rows.extend(MATH.iter().map(|&(name, params, results)| HelperRow {
        name,
        params: params.to_vec(),
        results: results.to_vec(),
        effects: Effects::NONE,
    }));
    rows.push(HelperRow {
        name: FREE_LEAF,
        params: vec![Ty::Ptr],
        results: vec![Ty::I64],
        effects: Effects {
            releases: true,
            ..Effects::WRITES
        },
    });
    rows.push(HelperRow {
        name: DEALLOC,
        params: vec![Ty::Ptr],
        results: vec![],
        // The effects depend on the object: the caller for a leaf knows that no host code runs.
        effects: Effects {
            releases: true,
            ..Effects::WRITES
        },
    });
    rows.push(HelperRow {
        name: EXIT_HOOK,
        params: vec![Ty::I64, Ty::I64, Ty::Ptr],
        results: vec![Ty::Ptr],
        effects: Effects::ANY,
    });
    rows
}

/// The helpers of a host that has closed units: all or none of them.
pub fn closed_helpers() -> Vec<HelperRow> {
    let six = [Ty::Ptr, Ty::Ptr, Ty::Ptr, Ty::I64, Ty::I64, Ty::I64];
    [
        (RECORD_EXIT, &[Ty::I64, Ty::I64, Ty::Ptr][..]),
        (RESUME_EXITS, &[Ty::Ptr, Ty::I64]),
        (CALL_BOXED, &six),
    ]
    .map(|(name, params)| HelperRow {
        name,
        params: params.to_vec(),
        results: vec![Ty::Ptr],
        effects: Effects::ANY,
    })
    .to_vec()
}
