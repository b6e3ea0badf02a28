//! A runtime without a compiler: objects, frames, and an interpreter for typed bytecode.

use super::CHAPTERS;
use super::host::Vm;
use cladonia::bytecode::{BinaryOp, CompareOp, INPLACE, Instr, Op, Pc};
use cladonia::engine::Hot;
use cladonia::host::HostBuilder;
use cladonia::types::Predefined as Class;
use std::cell::Cell;

/// An object. Each class uses the fields that it needs.
#[repr(C)]
pub struct Object {
    pub token: usize,
    pub class: Class,
    pub bits: Cell<u64>,
    pub items: *const Cell<Value>,
    pub len: usize,
    pub of: Cell<Option<Value>>,
}

/// A value is an object that lives forever.
pub type Value = &'static Object;

pub fn object(class: Class, bits: u64, items: Vec<Value>) -> Value {
    let (token, len) = (token(class), items.len());
    let items: Vec<_> = items.into_iter().map(Cell::new).collect();
    Box::leak(Box::new(Object {
        token,
        class,
        bits: Cell::new(bits),
        items: items.leak().as_ptr(),
        len,
        of: Cell::new(None),
    }))
}

/// The word in an object by which compiled code recognises its class.
pub fn token(class: Class) -> usize {
    16 + 16 * class as usize
}

impl std::fmt::Debug for Object {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.class {
            Class::Long => write!(f, "{}", self.bits.get() as i64),
            Class::Float => write!(f, "{:?}", f64::from_bits(self.bits.get())),
            class => write!(f, "{class:?}"),
        }
    }
}

pub fn int(n: i64) -> Value {
    object(Class::Long, n as u64, Vec::new())
}

/// An error is an object too; its number says which.
pub fn error(number: u64) -> Value {
    object(Class::BaseException, number, Vec::new())
}

pub const WRONG_TYPE: u64 = 1;
pub const TOO_LARGE: u64 = 2;

/// What a chapter adds to the host.
pub struct Chapter {
    /// Its classes. All but the first derive from `Object`.
    pub classes: &'static [Class],
    /// Its helpers and layouts.
    pub declare: fn(&mut HostBuilder),
    /// `a op b`, if it knows the operands.
    pub binary: fn(BinaryOp, Value, Value) -> Option<Result<Value, Value>>,
    /// `a < b`, if it knows the operands.
    pub less: fn(Value, Value) -> Option<bool>,
    /// Executes an instruction, if it knows it.
    pub step: fn(&Vm, &Frame, &Instr) -> Option<Result<Flow, Value>>,
}

/// What follows an instruction.
pub enum Flow {
    Next,
    Jump(u32),
    Return(Value),
}

/// A binary operator of any chapter.
pub fn any_binary(op: i64, a: Value, b: Value) -> Result<Value, Value> {
    let op = BinaryOp::from_arg(op as u32 % INPLACE).ok_or_else(|| error(WRONG_TYPE))?;
    let result = CHAPTERS.iter().find_map(|c| (c.binary)(op, a, b));
    result.unwrap_or_else(|| Err(error(WRONG_TYPE)))
}

pub fn any_less(op: i64, a: Value, b: Value) -> Result<bool, Value> {
    let is_less = CompareOp::from_arg(op as u32) == Some(CompareOp::Lt);
    let result = CHAPTERS.iter().find_map(|c| (c.less)(a, b));
    result.filter(|_| is_less).ok_or_else(|| error(WRONG_TYPE))
}

/// A frame: its locals and its operand stack, and words for compiled code.
#[repr(C)]
pub struct Frame {
    pub function: &'static Function,
    /// The running instruction, as compiled code records it.
    pub position: Cell<usize>,
    pub top: Cell<usize>,
    pub slots: [Cell<*const Object>; 64],
}

impl Frame {
    /// A local, or an entry of the stack, which is above the locals.
    pub fn get(&self, k: usize) -> Option<Value> {
        // SAFETY: a slot is an object or null.
        unsafe { self.slots[k].get().as_ref() }
    }

    pub fn set(&self, k: usize, value: Option<Value>) {
        self.slots[k].set(value.map_or(std::ptr::null(), std::ptr::from_ref));
    }

    pub fn push(&self, value: Option<Value>) {
        self.set(self.top.replace(self.top.get() + 1), value);
    }

    pub fn pop(&self) -> Value {
        self.top.set(self.top.get() - 1);
        self.get(self.top.get()).expect("a value")
    }
}

pub struct Function {
    pub hot: Hot,
    pub constants: Vec<Value>,
}

impl Vm {
    /// Runs a frame from an instruction on.
    pub fn interpret(&self, frame: &Frame, mut pc: Pc) -> Result<Value, Value> {
        let hot = &frame.function.hot;
        loop {
            let instr = hot.code().instr(pc);
            // What the operands are, the compiler takes for likely from now on.
            let operands = match instr.op {
                Op::ForIter => 1,
                Op::BinaryOp | Op::CompareOp | Op::BinarySubscr => 2,
                Op::StoreSubscr => 3,
                _ => 0,
            };
            let operands = frame.top.get() - operands..frame.top.get();
            hot.observe(pc, operands.map(|k| self.type_of(frame.get(k))));
            let flow = CHAPTERS.iter().find_map(|c| (c.step)(self, frame, instr));
            match flow.unwrap_or_else(|| panic!("no instruction {}", instr.op.info().name)) {
                Ok(Flow::Next) => pc = Pc(pc.0 + 1),
                Ok(Flow::Jump(target)) => pc = Pc(target),
                Ok(Flow::Return(value)) => return Ok(value),
                Err(error) => match hot.code().handler_at(pc) {
                    Some(handler) => {
                        let locals = hot.code().locals.len();
                        frame.top.set(locals + handler.depth as usize);
                        frame.push(Some(error));
                        pc = handler.target;
                    }
                    None => return Err(error),
                },
            }
        }
    }
}
