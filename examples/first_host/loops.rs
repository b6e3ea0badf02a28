//! The sixth chapter: a loop that runs for long in one call is compiled while it runs.

use super::host::Vm;
use super::runtime::{Chapter, Flow, Frame, Value};
use cladonia::bytecode::{Instr, Op, Pc};
use cladonia::types::Type;

pub const CHAPTER: Chapter = Chapter {
    classes: &[],
    declare: |_| {},
    binary: |_, _, _| None,
    less: |_, _| None,
    step,
};

fn step(vm: &Vm, frame: &Frame, instr: &Instr) -> Option<Result<Flow, Value>> {
    if instr.op != Op::JumpBackward {
        return None;
    }
    let (hot, header) = (&frame.function.hot, Pc(instr.arg));
    if hot.count_back_edge(header, vm.threshold.get()) {
        // The types of the locals, and of the stack above them.
        let slots = 0..frame.top.get();
        let types: Vec<Type> = slots.map(|k| vm.type_of(frame.get(k))).collect();
        let task = hot.loop_task(header, types, vm.parts());
        let made = vm.engine.borrow_mut().build(task, vm);
        hot.loop_installed(header, made);
    }
    let Some(unit) = hot.loop_unit(header) else {
        return Some(Ok(Flow::Jump(instr.arg)));
    };
    // The loop's result is that of the whole function.
    let result = vm.enter(&unit, std::ptr::from_ref(frame).cast(), &[]);
    Some(result.map(Flow::Return))
}
