//! The first chapter: ints.

use super::host::{Vm, give};
use super::runtime::*;
use cladonia::bytecode::{BinaryOp, Instr, Op};
use cladonia::host::HostBuilder;
use cladonia::ll::{Field, Width};
use cladonia::types::Predefined as Class;
use std::mem::offset_of;

pub const CHAPTER: Chapter = Chapter {
    classes: &[
        Class::Object,
        Class::Long,
        Class::Bool,
        Class::NoneType,
        Class::BaseException,
    ],
    declare,
    binary,
    less,
    step,
};

fn ints(a: Value, b: Value) -> Option<(i64, i64)> {
    let both = a.class == Class::Long && b.class == Class::Long;
    both.then(|| (a.bits.get() as i64, b.bits.get() as i64))
}

fn binary(op: BinaryOp, a: Value, b: Value) -> Option<Result<Value, Value>> {
    let (a, b) = ints(a, b)?;
    let result = match op {
        BinaryOp::Add => a.checked_add(b),
        BinaryOp::Subtract => a.checked_sub(b),
        BinaryOp::Multiply => a.checked_mul(b),
        _ => return None,
    };
    Some(result.map(int).ok_or_else(|| error(TOO_LARGE)))
}

fn less(a: Value, b: Value) -> Option<bool> {
    ints(a, b).map(|(a, b)| a < b)
}

fn step(vm: &Vm, frame: &Frame, instr: &Instr) -> Option<Result<Flow, Value>> {
    let arg = instr.arg as usize;
    match instr.op {
        Op::LoadConst => frame.push(Some(frame.function.constants[arg])),
        Op::LoadFast => frame.push(frame.get(arg)),
        Op::StoreFast => {
            let value = frame.pop();
            frame.set(arg, Some(value));
        }
        Op::BinaryOp | Op::CompareOp => {
            let (b, a) = (frame.pop(), frame.pop());
            let result = match instr.op {
                Op::BinaryOp => any_binary(instr.arg.into(), a, b),
                _ => any_less(instr.arg.into(), a, b).map(|truth| vm.truth(truth)),
            };
            match result {
                Ok(value) => frame.push(Some(value)),
                Err(error) => return Some(Err(error)),
            }
        }
        Op::PopJumpIfFalse if frame.pop().bits.get() == 0 => {
            return Some(Ok(Flow::Jump(instr.arg)));
        }
        Op::PopJumpIfFalse => {}
        Op::JumpBackward => return Some(Ok(Flow::Jump(instr.arg))),
        Op::ReturnValue => return Some(Ok(Flow::Return(frame.pop()))),
        _ => return None,
    }
    Some(Ok(Flow::Next))
}

extern "C" fn binary_op(op: i64, a: Value, b: Value) -> Option<Value> {
    give(any_binary(op, a, b))
}

extern "C" fn compare_bool(op: i64, a: Value, b: Value) -> i64 {
    give(any_less(op, a, b)).map_or(-1, i64::from)
}

extern "C" fn new_int(n: i64) -> Value {
    int(n)
}

fn declare(host: &mut HostBuilder) {
    host.define("binary_op", binary_op as extern "C" fn(_, _, _) -> _);
    host.define("compare_bool", compare_bool as extern "C" fn(_, _, _) -> _);
    let new_int = host.define("new_int", new_int as extern "C" fn(_) -> _);
    let value = Field::new("bits", offset_of!(Object, bits), Width::I64);
    host.ints(value, new_int).bools();
}
