//! Values of objects that compiled code computes with.

use std::fmt;

/// The value of a constant or known object.
#[derive(Clone, PartialEq, Debug)]
pub enum ConstValue {
    /// `None`.
    None,
    /// A truth value.
    Bool(bool),
    /// An int that fits 64 bits.
    Int(i64),
    /// A float.
    Float(f64),
    /// A string.
    Str(String),
    /// Any other object.
    Other,
}

impl fmt::Display for ConstValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ConstValue::None => f.write_str("None"),
            ConstValue::Bool(true) => f.write_str("True"),
            ConstValue::Bool(false) => f.write_str("False"),
            ConstValue::Int(value) => write!(f, "{value}"),
            ConstValue::Float(value) if value.is_nan() => write!(f, "nan:{:#x}", value.to_bits()),
            ConstValue::Float(value) => write!(f, "{value:?}"),
            ConstValue::Str(value) => write!(f, "{}", Quoted(value)),
            ConstValue::Other => f.write_str("?"),
        }
    }
}

/// Text between quotes, on one line.
pub(crate) struct Quoted<'a>(pub &'a str);

impl fmt::Display for Quoted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.0)
    }
}
