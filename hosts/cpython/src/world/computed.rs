//! Builtins whose results are computed without a call: one row for each way.
//!
//! For example, the row of `math.floor` for an exact float has a double as its operand and an
//! integer as its result. Callees are identified by the definitions of their modules and classes,
//! so that no program can create another one with the same name.

use super::callees::defined_in;
use super::{CPythonWorld, call, object_of};
use crate::abi;
use crate::capi::{Obj, field};
use crate::helpers::computed::{INSTANCE_TEST, Raw, TEXTS, maths};
use crate::intrinsics::computed as names;
use cladonia::host::{Computed, Host, IntrinsicId};
use cladonia::types::{ObjectHandle, Type};
use pyo3_ffi::*;
use rustc_hash::FxHashMap;
use std::ffi::CStr;

/// The intrinsics by their names.
#[derive(Clone, Debug)]
pub(super) struct ComputedIds(FxHashMap<&'static str, IntrinsicId>);

impl ComputedIds {
    pub(super) fn new(host: &Host) -> ComputedIds {
        let rows = names::ALL.iter().chain(&names::IS_INSTANCE);
        ComputedIds(rows.map(|name| (*name, host.intrinsic(name))).collect())
    }
}

/// An operand or a result of a row.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    /// A double: an exact float.
    Float,
    /// As an operand, a double: an exact float or int.
    Number,
    /// An integer: an exact int.
    Int,
    /// As a result, a truth value.
    Bool,
    /// An exact string.
    Text,
}

impl Kind {
    fn operand(self) -> Type {
        match self {
            Kind::Float => Type::FLOAT_EXACT,
            Kind::Number => Type::FLOAT_EXACT | Type::LONG_EXACT,
            Kind::Int => Type::LONG_EXACT,
            Kind::Bool => Type::BOOL,
            Kind::Text => Type::UNICODE_EXACT,
        }
    }

    fn result(self) -> Type {
        match self {
            Kind::Float | Kind::Number => Type::CDOUBLE,
            Kind::Int => Type::CINT64,
            Kind::Bool => Type::CBOOL,
            Kind::Text => Type::UNICODE_EXACT,
        }
    }
}

/// A way to compute a builtin: the operands, the intrinsic, its immediates, and the result.
struct Row {
    params: &'static [Kind],
    intrinsic: &'static str,
    imms: Vec<i64>,
    result: Kind,
}

/// Functions without a raw function: module, name, operands, intrinsic, result. The first row that
/// fits is taken.
const FUNCTIONS: &[(&CStr, &CStr, &[Kind], &str, Kind)] = &[
    (
        c"builtins",
        c"chr",
        &[Kind::Int],
        names::CHARACTER,
        Kind::Text,
    ),
    (c"builtins", c"ord", &[Kind::Text], names::CODE, Kind::Int),
    (
        c"builtins",
        c"round",
        &[Kind::Float],
        names::ROUND,
        Kind::Int,
    ),
    (
        c"builtins",
        c"round",
        &[Kind::Int],
        names::SAME_INT,
        Kind::Int,
    ),
    (c"math", c"ceil", &[Kind::Float], names::CEIL, Kind::Int),
    (c"math", c"ceil", &[Kind::Int], names::SAME_INT, Kind::Int),
    (
        c"math",
        c"fabs",
        &[Kind::Number],
        names::MAGNITUDE,
        Kind::Float,
    ),
    (c"math", c"floor", &[Kind::Float], names::FLOOR, Kind::Int),
    (c"math", c"floor", &[Kind::Int], names::SAME_INT, Kind::Int),
    (
        c"math",
        c"isfinite",
        &[Kind::Number],
        names::IS_FINITE,
        Kind::Bool,
    ),
    (
        c"math",
        c"isinf",
        &[Kind::Number],
        names::IS_INFINITE,
        Kind::Bool,
    ),
    (
        c"math",
        c"isnan",
        &[Kind::Number],
        names::IS_NAN,
        Kind::Bool,
    ),
];

/// Functions that multiply their operand.
const FACTORS: &[(&CStr, f64)] = &[
    (c"degrees", 180.0 / std::f64::consts::PI),
    (c"radians", std::f64::consts::PI / 180.0),
];

impl CPythonWorld<'_> {
    pub(super) fn ways_to_compute(
        &self,
        handle: ObjectHandle,
        operands: &[Type],
    ) -> Option<Vec<Computed>> {
        let object = object_of(handle)?;
        // SAFETY: a live object of the kind that is checked first.
        let rows = unsafe {
            let kind = Py_TYPE(object);
            if kind == &raw mut PyCFunction_Type {
                if defined_in(object, c"builtins", c"isinstance") {
                    return self.test_of_classes(operands).map(|way| vec![way]);
                }
                of_function(object)
            } else if kind == &raw mut PyMethodDescr_Type {
                of_method(object)
            } else {
                Vec::new()
            }
        };
        let rows = rows
            .into_iter()
            .filter(|row| row.params.len() == operands.len());
        Some(rows.map(|row| self.way(row)).collect())
    }

    fn way(&self, row: Row) -> Computed {
        Computed {
            params: row.params.iter().map(|kind| kind.operand()).collect(),
            call: call(self.computed_ids.0[row.intrinsic], &row.imms),
            result: row.result.result(),
            reads: false,
        }
    }

    /// `isinstance` of an object and known classes whose metaclass is `type`.
    fn test_of_classes(&self, operands: &[Type]) -> Option<Computed> {
        let (object, classes) = operands.split_first()?;
        let name = names::IS_INSTANCE.get(classes.len().checked_sub(1)?)?;
        let classes: Option<Vec<i64>> = classes
            .iter()
            .map(|class| {
                let class = object_of(class.as_object()?)?;
                // SAFETY: a live object.
                let is_plain = unsafe { Py_TYPE(class) == &raw mut PyType_Type };
                is_plain.then_some(class as i64)
            })
            .collect();
        let imms = [classes?, vec![INSTANCE_TEST.address()]].concat();
        Some(Computed {
            params: [&[Type::OBJECT], &operands[1..]].concat(),
            call: call(self.computed_ids.0[name], &imms),
            result: Type::CBOOL,
            reads: true,
        })
        .filter(|_| object.as_object().is_none())
    }
}

/// The rows of a C function of a module.
unsafe fn of_function(object: Obj) -> Vec<Row> {
    // SAFETY: the caller's: a live C function.
    let is = |module: &CStr, name: &CStr| unsafe { defined_in(object, module, name) };
    let factors = FACTORS.iter().filter(|row| is(c"math", row.0));
    let factors = factors.map(|(_, factor)| Row {
        params: &[Kind::Number],
        intrinsic: names::SCALED,
        imms: vec![factor.to_bits() as i64],
        result: Kind::Float,
    });
    let raw = maths().iter().filter(|row| is(c"math", row.0));
    let raw = raw.map(|row| of_raw(row.1));
    let plain = FUNCTIONS.iter().filter(|row| is(row.0, row.1));
    let plain = plain.map(|(_, _, params, intrinsic, result)| Row {
        params,
        intrinsic,
        imms: Vec::new(),
        result: *result,
    });
    factors.chain(raw).chain(plain).collect()
}

/// The rows of a method of a class.
unsafe fn of_method(object: Obj) -> Vec<Row> {
    // SAFETY: the caller's: a live method descriptor.
    unsafe {
        let owner: *mut PyTypeObject = field(object, abi::descr::TYPE);
        let method: *const PyMethodDef = field(object, abi::descr::METHOD);
        if owner != &raw mut PyUnicode_Type {
            return Vec::new();
        }
        let name = CStr::from_ptr((*method).ml_name);
        let raw = TEXTS.iter().filter(|row| row.0 == name);
        raw.map(|row| of_raw(row.1)).collect()
    }
}

/// The row of a raw function.
fn of_raw(raw: Raw) -> Row {
    const TEXTS: &[Kind] = &[Kind::Text; 2];
    let (params, intrinsic, result): (&[Kind], _, _) = match raw {
        Raw::Double(_) => (&[Kind::Number], names::OF_DOUBLE, Kind::Float),
        Raw::Doubles(_) => (&[Kind::Number; 2], names::OF_DOUBLES, Kind::Float),
        Raw::Int(_) => (&[Kind::Int], names::OF_INT, Kind::Int),
        Raw::Ints(_) => (&[Kind::Int; 2], names::OF_INTS, Kind::Int),
        Raw::NumberOfTwo(_) => (TEXTS, names::NUMBER_OF_TWO, Kind::Int),
        Raw::Test(_) => (&TEXTS[..1], names::TEST_OF_ONE, Kind::Bool),
        Raw::TestOfTwo(_) => (TEXTS, names::TEST_OF_TWO, Kind::Bool),
    };
    Row {
        params,
        intrinsic,
        imms: vec![raw.address()],
        result,
    }
}
