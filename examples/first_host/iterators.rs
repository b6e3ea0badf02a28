//! The fourth chapter: `for` loops over lists.

use super::host::{Vm, give};
use super::lists;
use super::runtime::{Chapter, Flow, Frame, Object, Value, WRONG_TYPE, error, object};
use cladonia::bytecode::{Instr, Op};
use cladonia::host::HostBuilder;
use cladonia::ll::{Field, Width};
use cladonia::types::Predefined as Class;
use std::mem::offset_of;

pub const CHAPTER: Chapter = Chapter {
    classes: &[Class::ListIter],
    declare,
    binary: |_, _, _| None,
    less: |_, _| None,
    step,
};

/// An iterator: `of` is the list, and `bits` the next index.
fn iter(list: Value) -> Result<Value, Value> {
    if list.class != Class::List {
        return Err(error(WRONG_TYPE));
    }
    let iterator = object(Class::ListIter, 0, Vec::new());
    iterator.of.set(Some(list));
    Ok(iterator)
}

fn next(iterator: Value) -> Result<Option<Value>, Value> {
    let list = iterator.of.get().ok_or_else(|| error(WRONG_TYPE))?;
    let index = iterator.bits.get() as usize;
    if index >= list.len {
        return Ok(None);
    }
    iterator.bits.set(index as u64 + 1);
    Ok(Some(lists::items(list)[index].get()))
}

fn step(_: &Vm, frame: &Frame, instr: &Instr) -> Option<Result<Flow, Value>> {
    match instr.op {
        Op::GetIter => match iter(frame.pop()) {
            Ok(iterator) => frame.push(Some(iterator)),
            Err(error) => return Some(Err(error)),
        },
        Op::ForIter => {
            let iterator = frame.pop();
            match next(iterator) {
                Ok(None) => return Some(Ok(Flow::Jump(instr.arg))),
                Ok(item) => {
                    frame.push(Some(iterator));
                    frame.push(item);
                }
                Err(error) => return Some(Err(error)),
            }
        }
        _ => return None,
    }
    Some(Ok(Flow::Next))
}

extern "C" fn get_iter(_: &Vm, list: Value) -> Option<Value> {
    give(iter(list))
}

extern "C" fn iter_next(_: &Vm, iterator: Value, output: *mut Option<Value>) -> i64 {
    match give(next(iterator)) {
        None => -1,
        Some(None) => 0,
        Some(item) => {
            // SAFETY: the place for the item.
            unsafe { output.write(item) };
            1
        }
    }
}

fn declare(host: &mut HostBuilder) {
    type GetIter = extern "C" fn(&'static Vm, Value) -> Option<Value>;
    type IterNext = extern "C" fn(&'static Vm, Value, *mut Option<Value>) -> i64;
    host.define("get_iter", get_iter as GetIter);
    host.define("iter_next", iter_next as IterNext);
    let list = Field::new("of", offset_of!(Object, of), Width::Ptr);
    let index = Field::new("bits", offset_of!(Object, bits), Width::I64);
    host.list_iterators(lists::layout(), list, index);
}
