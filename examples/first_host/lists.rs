//! The third chapter: lists.

use super::host::{Vm, give};
use super::runtime::{Chapter, Flow, Frame, Object, Value, WRONG_TYPE, error, object};
use cladonia::bytecode::{Instr, Op};
use cladonia::host::{HostBuilder, Lists};
use cladonia::ll::{Field, Width};
use cladonia::types::Predefined as Class;
use std::cell::Cell;
use std::mem::offset_of;

pub const CHAPTER: Chapter = Chapter {
    classes: &[Class::List],
    declare,
    binary: |_, _, _| None,
    less: |_, _| None,
    step,
};

pub const OUT_OF_RANGE: u64 = 3;

pub fn list(items: Vec<Value>) -> Value {
    object(Class::List, 0, items)
}

pub fn items(list: Value) -> &'static [Cell<Value>] {
    // SAFETY: an array of this length, which lives forever.
    unsafe { std::slice::from_raw_parts(list.items, list.len) }
}

/// The place of an item.
fn item(list: Value, index: Value) -> Result<&'static Cell<Value>, Value> {
    if list.class != Class::List || index.class != Class::Long {
        return Err(error(WRONG_TYPE));
    }
    let (index, len) = (index.bits.get() as i64, list.len as i64);
    let index = if index < 0 { index + len } else { index };
    let item = items(list).get(index as usize);
    item.ok_or_else(|| error(OUT_OF_RANGE))
}

fn step(_: &Vm, frame: &Frame, instr: &Instr) -> Option<Result<Flow, Value>> {
    match instr.op {
        Op::BinarySubscr => {
            let (index, list) = (frame.pop(), frame.pop());
            match item(list, index) {
                Ok(item) => frame.push(Some(item.get())),
                Err(error) => return Some(Err(error)),
            }
        }
        Op::StoreSubscr => {
            let (index, list, value) = (frame.pop(), frame.pop(), frame.pop());
            match item(list, index) {
                Ok(item) => item.set(value),
                Err(error) => return Some(Err(error)),
            }
        }
        Op::BuildList => {
            let mut items: Vec<Value> = (0..instr.arg).map(|_| frame.pop()).collect();
            items.reverse();
            frame.push(Some(list(items)));
        }
        _ => return None,
    }
    Some(Ok(Flow::Next))
}

extern "C" fn get_item(list: Value, index: Value) -> Option<Value> {
    give(item(list, index)).map(Cell::get)
}

extern "C" fn set_item(list: Value, index: Value, value: Value) -> i64 {
    let item = give(item(list, index));
    item.map_or(-1, |item| {
        item.set(value);
        0
    })
}

extern "C" fn build_list(items: *const Value, count: i64) -> Value {
    // SAFETY: an array of this length.
    list(unsafe { std::slice::from_raw_parts(items, count as usize) }.to_vec())
}

/// The layout of lists.
pub fn layout() -> Lists {
    let len = Field::new("len", offset_of!(Object, len), Width::I64);
    let items = Field::new("items", offset_of!(Object, items), Width::Ptr);
    Lists::new(len, items)
}

fn declare(host: &mut HostBuilder) {
    host.define("get_item", get_item as extern "C" fn(_, _) -> _);
    host.define("set_item", set_item as extern "C" fn(_, _, _) -> _);
    host.define("build_list", build_list as extern "C" fn(_, _) -> _);
    host.lists(layout());
}
