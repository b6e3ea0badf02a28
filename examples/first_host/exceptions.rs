//! The fifth chapter: functions that handle errors.

use super::host::{ERROR, Vm};
use super::runtime::{Chapter, Flow, Frame, Value};
use cladonia::bytecode::{Instr, Op};
use cladonia::host::HostBuilder;

pub const CHAPTER: Chapter = Chapter {
    classes: &[],
    declare,
    binary: |_, _, _| None,
    less: |_, _| None,
    step,
};

fn step(vm: &Vm, frame: &Frame, instr: &Instr) -> Option<Result<Flow, Value>> {
    match instr.op {
        // Handlers do not nest here, so no error was handled before this one.
        Op::PushExcInfo => {
            let error = frame.pop();
            frame.push(Some(vm.none()));
            frame.push(Some(error));
        }
        Op::PopTop | Op::PopExcept => {
            frame.pop();
        }
        _ => return None,
    }
    Some(Ok(Flow::Next))
}

/// Takes the pending error as an object.
extern "C" fn catch(_: &Vm, _traceback: i64) -> Option<Value> {
    ERROR.take()
}

/// Makes an error the handled one. Returns the one before, or None.
extern "C" fn push_exc_info(vm: &Vm, _error: Value) -> Value {
    vm.none()
}

/// Restores the error that was handled before.
extern "C" fn pop_except(_: &Vm, _: i64, _before: *const Value, _: i64) -> i64 {
    0
}

fn declare(host: &mut HostBuilder) {
    type Catch = extern "C" fn(&'static Vm, i64) -> Option<Value>;
    type Push = extern "C" fn(&'static Vm, Value) -> Value;
    type Pop = extern "C" fn(&'static Vm, i64, *const Value, i64) -> i64;
    host.define("catch", catch as Catch);
    host.define("push_exc_info", push_exc_info as Push);
    host.define("pop_except", pop_except as Pop);
}
