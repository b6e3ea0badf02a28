//! Values of low-level types, their bits, and conversions of primitives.

use super::fault::LlError;
use super::types::{Primitive, TypeId};

/// A pointer: an address and the type of its target. Null is address 0.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Pointer {
    /// The target's type.
    pub target: TypeId,
    /// The target's address.
    pub address: u64,
}

impl Pointer {
    /// The null pointer to a type.
    pub fn null(target: TypeId) -> Pointer {
        Pointer { target, address: 0 }
    }

    /// Returns true if it is null.
    pub fn is_null(self) -> bool {
        self.address == 0
    }
}

/// A value that a variable may hold.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Value {
    /// Of `Signed`.
    Signed(i64),
    /// Of `Unsigned`.
    Unsigned(u64),
    /// Of `Float`.
    Float(f64),
    /// Of `Char`.
    Char(u8),
    /// Of `Bool`.
    Bool(bool),
    /// Of `Void`.
    Void,
    /// Of a smaller integer type: its bits, extended as the type requires.
    Sized(Primitive, u64),
    /// Of a pointer type.
    Ptr(Pointer),
}

/// The bits of a value in a register.
pub(super) fn bits(value: Value) -> u64 {
    match value {
        Value::Signed(n) => n.cast_unsigned(),
        Value::Unsigned(n) | Value::Sized(_, n) => n,
        Value::Float(x) => x.to_bits(),
        Value::Char(c) => u64::from(c),
        Value::Bool(b) => u64::from(b),
        Value::Void => 0,
        Value::Ptr(pointer) => pointer.address,
    }
}

/// The value of a type with these bits; excess bits are cut off.
pub(super) fn value_of(primitive: Primitive, bits: u64) -> Value {
    match primitive {
        Primitive::Signed => Value::Signed(bits.cast_signed()),
        Primitive::Unsigned => Value::Unsigned(bits),
        Primitive::Float => Value::Float(f64::from_bits(bits)),
        Primitive::Char => Value::Char(bits as u8),
        Primitive::Bool => Value::Bool(bits & 1 != 0),
        Primitive::Void => Value::Void,
        Primitive::SignedBits(n) => {
            let unused = 64 - u32::from(n);
            let extended = bits.cast_signed() << unused >> unused;
            Value::Sized(primitive, extended.cast_unsigned())
        }
        Primitive::UnsignedBits(n) => Value::Sized(primitive, bits & (u64::MAX >> (64 - n))),
    }
}

/// Converts a primitive as C does: cut off, rounded towards zero, 0 or 1.
///
/// # Errors
/// If the value is a pointer.
pub(super) fn convert(to: Primitive, value: Value) -> Result<Value, LlError> {
    let as_int = match value {
        Value::Float(x) if to == Primitive::Unsigned => x as u64,
        Value::Float(x) => (x as i64).cast_unsigned(),
        Value::Ptr(_) => {
            return Err(LlError::WrongType {
                place: "a conversion".to_owned(),
                expected: "a primitive".to_owned(),
                found: "a pointer".to_owned(),
            });
        }
        value => bits(value),
    };
    let is_unsigned = matches!(
        value,
        Value::Unsigned(_) | Value::Sized(Primitive::UnsignedBits(_), _)
    );
    Ok(match (to, value) {
        (Primitive::Float, Value::Float(x)) => Value::Float(x),
        (Primitive::Float, _) if is_unsigned => Value::Float(as_int as f64),
        (Primitive::Float, _) => Value::Float(as_int.cast_signed() as f64),
        (Primitive::Bool, Value::Float(x)) => Value::Bool(x != 0.0),
        (Primitive::Bool, _) => Value::Bool(as_int != 0),
        (to, _) => value_of(to, as_int),
    })
}
