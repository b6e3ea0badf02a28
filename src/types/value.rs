//! Values of objects that compiled code computes with.

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
    /// Anything else.
    Other,
}
