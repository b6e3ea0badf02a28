//! The second chapter: floats.

use super::runtime::{Chapter, Object, Value, object};
use cladonia::bytecode::BinaryOp;
use cladonia::host::HostBuilder;
use cladonia::ll::{Field, Width};
use cladonia::types::Predefined as Class;
use std::mem::offset_of;

pub const CHAPTER: Chapter = Chapter {
    classes: &[Class::Float],
    declare,
    binary,
    less,
    step: |_, _, _| None,
};

pub fn float(x: f64) -> Value {
    object(Class::Float, x.to_bits(), Vec::new())
}

/// The value of a float, or of an int as a float.
fn value(object: Value) -> Option<f64> {
    match object.class {
        Class::Float => Some(f64::from_bits(object.bits.get())),
        Class::Long => Some(object.bits.get() as i64 as f64),
        _ => None,
    }
}

fn binary(op: BinaryOp, a: Value, b: Value) -> Option<Result<Value, Value>> {
    let (a, b) = (value(a)?, value(b)?);
    let result = match op {
        BinaryOp::Add => a + b,
        BinaryOp::Subtract => a - b,
        BinaryOp::Multiply => a * b,
        _ => return None,
    };
    Some(Ok(float(result)))
}

fn less(a: Value, b: Value) -> Option<bool> {
    Some(value(a)? < value(b)?)
}

extern "C" fn new_float(x: f64) -> Value {
    float(x)
}

fn declare(host: &mut HostBuilder) {
    let new_float = host.define("new_float", new_float as extern "C" fn(_) -> _);
    let value = Field::new("bits", offset_of!(Object, bits), Width::F64);
    host.floats(value, new_float);
}
