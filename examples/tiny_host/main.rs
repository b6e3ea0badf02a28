//! A complete host of Cladonia: a toy runtime with objects of its own, an interpreter for typed bytecode, and machine
//! code for what is hot. `cargo run --example tiny_host` runs it and checks every answer; `docs/guide.md` goes through
//! it from top to bottom. A value is one word: an int of 63 bits in the word itself (`2n + 1`), or the address of an
//! object. Objects are counted and have one layout, whatever they are. Ints end at 64 bits: beyond is an error.

use cladonia::bytecode::{BinaryOp, Code, CompareOp, ConstValue, Document, INPLACE, Op, Pc};
use cladonia::code::{CodeMemory, Config};
use cladonia::engine::{Engine, Exit, Hot, UnitParts};
use cladonia::facts::{Assumption, Effects};
use cladonia::host::{
    AttrPlan, Callee, Counted, Global, Host, HostBuilder, LOCAL_WORDS, ObjectRef, World,
};
use cladonia::types::{ClassDesc, ClassHandle, HostId, ObjectDesc, ObjectHandle, Type};
use cladonia::{exits::Live, ll::Field, ll::Width, types::Predefined as Class};
use std::cell::{Cell, RefCell};
use std::mem::{ManuallyDrop, offset_of, size_of};
use std::{collections::HashMap, error::Error, num::NonZeroU64, sync::Arc};

/// A value of the language. If it is an object, this is one reference to it.
#[repr(transparent)]
pub struct Value(NonZeroU64);

/// An object: of its fields it uses those that its class needs.
#[repr(C)]
struct Object {
    class: &'static Class,
    count: Cell<u32>,
    /// An int for which the word has no room.
    wide: i64,
    /// The attributes of a pair.
    x: Option<Value>,
    y: Option<Value>,
    /// A function.
    hot: Option<Hot>,
}

/// The classes, which objects point to.
static OBJECT: Class = Class::Object;
static INT: Class = Class::Long;
static BOOL: Class = Class::Bool;
static NONE: Class = Class::NoneType;
static FUNCTION: Class = Class::Func;
static PAIR: Class = Class::Object;

impl Value {
    fn object(class: &'static Class, wide: i64, xy: [Option<Value>; 2], hot: Option<Hot>) -> Value {
        let (count, [x, y]) = (Cell::new(1), xy);
        let object = Box::new(Object {
            class,
            count,
            wide,
            x,
            y,
            hot,
        });
        Value::of(Box::into_raw(object) as u64).expect("an address")
    }
    pub fn int(n: i64) -> Value {
        match n << 1 >> 1 == n {
            true => Value::of((n << 1 | 1) as u64).expect("it is odd"),
            false => Value::object(&INT, n, [None, None], None),
        }
    }
    pub fn pair(x: Value, y: Value) -> Value {
        Value::object(&PAIR, 0, [Some(x), Some(y)], None)
    }

    /// The value of a word, with the reference that comes with it.
    fn of(word: u64) -> Option<Value> {
        NonZeroU64::new(word).map(Value)
    }
    fn as_object(&self) -> Option<&Object> {
        // SAFETY: a word that is not odd is the address of an object, which this reference keeps.
        (self.0.get() & 1 == 0).then(|| unsafe { &*(self.0.get() as *const Object) })
    }
    pub fn as_int(&self) -> Option<i64> {
        match self.as_object() {
            None => Some(self.0.get() as i64 >> 1),
            Some(object) => std::ptr::eq(object.class, &INT).then_some(object.wide),
        }
    }
    pub fn hot(&self) -> Option<&Hot> {
        self.as_object()?.hot.as_ref()
    }
    fn class(&self) -> &'static Class {
        self.as_object().map_or(&INT, |object| object.class)
    }
}

impl Clone for Value {
    fn clone(&self) -> Value {
        if let Some(object) = self.as_object() {
            object.count.set(object.count.get() + 1);
        }
        Value(self.0)
    }
}
impl Drop for Value {
    fn drop(&mut self) {
        if let Some(object) = self.as_object()
            && object.count.replace(object.count.get() - 1) == 1
        {
            free(self.0.get() as *mut Object);
        }
    }
}
/// End the life of an object without references.
extern "C" fn free(object: *mut Object) {
    // SAFETY: it was boxed, and no reference is left.
    drop(unsafe { Box::from_raw(object) });
}

fn ints(a: &Value, b: &Value) -> Result<(i64, i64), String> {
    let error = || format!("ints are needed, not {:?} and {:?}", a.class(), b.class());
    a.as_int().zip(b.as_int()).ok_or_else(error)
}
fn binary(op: i64, a: &Value, b: &Value) -> Result<Value, String> {
    let (a, b) = ints(a, b)?;
    let result = match BinaryOp::from_arg(op as u32 % INPLACE) {
        Some(BinaryOp::Add) => a.checked_add(b),
        Some(BinaryOp::Subtract) => a.checked_sub(b),
        Some(BinaryOp::Multiply) => a.checked_mul(b),
        op => return Err(format!("no operation {op:?}")),
    };
    result.map(Value::int).ok_or("too large".to_owned())
}
fn less(op: i64, a: &Value, b: &Value) -> Result<bool, String> {
    match (CompareOp::from_arg(op as u32), ints(a, b)?) {
        (Some(CompareOp::Lt), (a, b)) => Ok(a < b),
        (op, _) => Err(format!("no comparison {op:?}")),
    }
}
fn attribute(value: &Value, name: &str) -> Result<Value, String> {
    match (value.as_object(), name) {
        (Some(Object { x: Some(x), .. }), "x") => Ok(x.clone()),
        (Some(Object { y: Some(y), .. }), "y") => Ok(y.clone()),
        _ => Err(format!("{:?} has no attribute {name}", value.class())),
    }
}

/// A frame: this, then its locals, its operand stack, and `LOCAL_WORDS` words a local for compiled code.
#[repr(C)]
struct Frame {
    function: *const Object,
    position: Cell<u64>,
    /// The slot above the operand stack.
    top: Cell<usize>,
}

fn frame_words(code: &Code) -> usize {
    size_of::<Frame>() / 8 + (1 + LOCAL_WORDS) * code.locals.len() + code.stacksize as usize
}

impl Frame {
    fn hot(&self) -> &Hot {
        // SAFETY: who calls a function keeps it.
        unsafe { (*self.function).hot.as_ref() }.expect("a function")
    }
    fn slot(&self, k: usize) -> &Cell<Option<Value>> {
        let end = std::ptr::from_ref(self).wrapping_add(1);
        // SAFETY: the frame has as many words as its code needs; an empty one is 0.
        unsafe { &*end.cast::<Cell<Option<Value>>>().add(k) }
    }
    fn push(&self, value: Option<Value>) {
        let top = self.top.replace(self.top.get() + 1);
        self.slot(top).set(value);
    }
    fn pop(&self) -> Option<Value> {
        self.top.set(self.top.get() - 1);
        self.slot(self.top.get()).take()
    }
}

/// The runtime: the thread that compiled code is given.
pub struct Vm {
    pub engine: RefCell<Engine>,
    /// Calls after which a function is compiled.
    pub threshold: Cell<u64>,
    /// Where the next frame begins, in `stack`.
    top: Cell<usize>,
    stack: Box<[Cell<u64>]>,
    host: Arc<Host>,
    pair: ClassHandle,
    /// None, false and true.
    singletons: [Value; 3],
    globals: RefCell<HashMap<String, Value>>,
    /// What the compiler has a name for is kept, by its word.
    known: RefCell<HashMap<u64, Value>>,
}

impl Vm {
    fn interpret(&self, frame: &Frame, mut pc: Pc) -> Result<Value, String> {
        let (hot, code) = (frame.hot(), frame.hot().code());
        let pop = || frame.pop().expect("a value");
        let ty = |value: &Value| Type::from_class_exact(self.class_of(value));
        loop {
            let instr = code.instr(pc);
            let (here, arg) = (pc, instr.arg as usize);
            pc = Pc(pc.0 + 1);
            match instr.op {
                Op::LoadConst => frame.push(self.known(code.consts[arg].object)),
                Op::LoadFast => {
                    let value = frame.slot(arg).take();
                    frame.slot(arg).set(value.clone());
                    frame.push(value);
                }
                Op::StoreFast => frame.slot(arg).set(frame.pop()),
                Op::LoadGlobal => {
                    frame.push(Some(self.global(&code.names[arg]).ok_or("no such global")?));
                    frame.push(None);
                }
                Op::LoadAttr => {
                    let object = pop();
                    hot.observe(here, [ty(&object)]);
                    frame.push(Some(attribute(&object, &code.names[arg])?));
                }
                Op::BinaryOp | Op::CompareOp => {
                    let (b, a) = (pop(), pop());
                    hot.observe(here, [ty(&a), ty(&b)]);
                    frame.push(Some(match instr.op {
                        Op::BinaryOp => binary(arg as i64, &a, &b)?,
                        _ => self.singletons[1 + less(arg as i64, &a, &b)? as usize].clone(),
                    }));
                }
                Op::PopJumpIfFalse if pop().0 == self.singletons[1].0 => pc = Pc(instr.arg),
                Op::PopJumpIfFalse => {}
                Op::JumpBackward => pc = Pc(instr.arg),
                Op::Call => {
                    let mut args: Vec<Value> = (0..arg).map(|_| pop()).collect();
                    args.reverse();
                    let (_receiver, callee) = (frame.pop(), pop());
                    frame.push(Some(self.call(&callee, args)?));
                }
                Op::ReturnValue => return Ok(pop()),
                op => return Err(format!("no instruction {}", op.info().name)),
            }
        }
    }
    fn interpret_call(&self, function: &Object, args: Vec<Value>) -> Result<Value, String> {
        let frame = new_frame(self, function).ok_or("the stack is full")?;
        for (k, arg) in args.into_iter().enumerate() {
            frame.slot(k).set(Some(arg));
        }
        let result = self.interpret(frame, Pc(0));
        drop_frame(self, frame);
        result
    }

    /// Call a function, in machine code if there is some.
    pub fn call(&self, callee: &Value, args: Vec<Value>) -> Result<Value, String> {
        let function = callee.as_object().zip(callee.hot());
        let (function, hot) = function.ok_or("not a function")?;
        if args.len() != hot.code().argcount as usize {
            return Err("another number of arguments".to_owned());
        }
        self.warm_up(hot);
        let Some(unit) = hot.unit() else {
            return self.interpret_call(function, args);
        };
        // SAFETY: the unit of this function, which takes a thread of this type, and so many arguments.
        let result = unsafe { unit.call_with(self, callee, args) }.expect("a valid unit");
        result.ok_or_else(|| ERROR.take().unwrap_or_default())
    }

    /// A function is called: compile it if it is hot.
    fn warm_up(&self, hot: &Hot) {
        if hot.count(self.threshold.get()) {
            let made = self.engine.borrow_mut().build(hot.task(self.parts()), self);
            hot.installed(made);
        }
    }

    /// How native code makes and drops frames.
    pub fn parts(&self) -> UnitParts {
        self.host.frames_by("new_frame", "drop_frame")
    }
}
extern "C" fn new_frame<'a>(vm: &'a Vm, function: &'a Object) -> Option<&'a Frame> {
    let code = function.hot.as_ref()?.code();
    let end = vm.top.get() + frame_words(code);
    let words = vm.stack.get(vm.top.get()..end)?;
    vm.top.set(end);
    words.iter().for_each(|word| word.set(0));
    words[0].set(std::ptr::from_ref(function) as u64);
    words[2].set(code.locals.len() as u64);
    // SAFETY: these words are a frame without values.
    Some(unsafe { &*words.as_ptr().cast::<Frame>() })
}
extern "C" fn drop_frame(vm: &Vm, frame: &Frame) {
    let code = frame.hot().code();
    let values = code.locals.len() + code.stacksize as usize;
    (0..values).for_each(|k| frame.slot(k).set(None));
    vm.top.set(vm.top.get() - frame_words(code));
}

// SAFETY: a value is one word, and never 0.
unsafe impl ObjectRef for Value {}
// Why the program is left; set where a helper gives nothing.
thread_local!(static ERROR: Cell<Option<String>> = const { Cell::new(None) });

fn give<T>(result: Result<T, String>) -> Option<T> {
    result.map_err(|error| ERROR.set(Some(error))).ok()
}
extern "C" fn binary_op(op: i64, a: ManuallyDrop<Value>, b: ManuallyDrop<Value>) -> Option<Value> {
    give(binary(op, &a, &b))
}
extern "C" fn compare_bool(op: i64, a: ManuallyDrop<Value>, b: ManuallyDrop<Value>) -> i64 {
    give(less(op, &a, &b)).map_or(-1, i64::from)
}
extern "C" fn box_int(n: i64) -> Option<Value> {
    Some(Value::int(n))
}
/// Run a call in the interpreter: `args` are as many arguments as the function takes, owned.
extern "C" fn call_interpreted(vm: &Vm, f: &Object, args: *const Value, n: i64) -> Option<Value> {
    f.hot.iter().for_each(|hot| vm.warm_up(hot));
    // SAFETY: see above.
    let args = (0..n as usize).map(|k| unsafe { args.add(k).read() });
    give(vm.interpret_call(f, args.collect()))
}

/// Compiled code leaves: the frame is written as its record says, and the interpreter goes on.
extern "C" fn exit(token: u64, number: u64, buffer: *const u64) -> Option<Value> {
    // SAFETY: called by compiled code only.
    let exit = unsafe { Exit::from_hook(token, number, buffer) };
    let (record, live) = (exit.record(), exit.frame());
    // SAFETY: the unit was given this thread, and runs in this frame.
    let (vm, frame) = unsafe { (&*(live.thread as *const Vm), &*(live.frame as *const Frame)) };
    let value = |live| match live {
        Live::Owned(word) => Value::of(word),
        Live::Borrowed(word) => Value::of(word).map(|v| Value::clone(&ManuallyDrop::new(v))),
        Live::Int(n) => Some(Value::int(n)),
        Live::Bool(truth) => Some(vm.singletons[1 + truth as usize].clone()),
        // There are neither floats nor tuples here.
        Live::Null | Live::Float(_) | Live::Virtual(_) => None,
    };
    for (k, local) in live.locals {
        frame.slot(k as usize).set(value(local));
    }
    frame.top.set(frame.hot().code().locals.len());
    for entry in live.stack {
        frame.push(value(entry));
    }
    frame.hot().left(&exit);
    let result = match record.kind.raises() {
        true => None,
        false => give(vm.interpret(frame, record.pc)),
    };
    drop_frame(vm, frame);
    result
}

fn describe(id: HostId, singletons: &[Value; 3]) -> Result<Host, Box<dyn Error>> {
    type Call = extern "C" fn(&'static Vm, &'static Object, *const Value, i64) -> Option<Value>;
    type Enter = extern "C" fn(&'static Vm, &'static Object) -> Option<&'static Frame>;
    let [none, no, yes] = singletons.each_ref().map(|value| value.0.get());
    let mut host = HostBuilder::new("tiny", id);
    host.partial().singletons(none, yes, no).bools();
    host.define("binary_op", binary_op as extern "C" fn(_, _, _) -> _);
    host.define("compare_bool", compare_bool as extern "C" fn(_, _, _) -> _);
    host.define("call_interpreted", call_interpreted as Call);
    host.define("exit", exit as extern "C" fn(_, _, _) -> _);
    host.define("new_frame", new_frame as Enter);
    let leave: extern "C" fn(&'static _, &'static _) = drop_frame;
    host.define("drop_frame", leave);
    let class = Field::new("class", offset_of!(Object, class), Width::Ptr);
    let count = Field::new("count", offset_of!(Object, count), Width::U32);
    let int = Field::new("wide", offset_of!(Object, wide), Width::I64);
    let dealloc = host.define("dealloc", free as extern "C" fn(_));
    let box_int = host.define("box_int", box_int as extern "C" fn(_) -> _);
    let objects = Counted::new(class, count, dealloc).ints(int, box_int);
    host.counted(objects.tagged_ints(&raw const INT as u64));
    host.frame_slots(size_of::<Frame>() as i32).uninterrupted();
    host.frame_position(offset_of!(Frame, position));
    host.intrinsics(Effects::READS, include_str!("intrinsics.lir"));
    Ok(host.finish()?)
}

impl World for Vm {
    fn global(&self, namespace: u64, name: &str) -> Option<Global> {
        let value = Vm::global(self, name)?;
        Some(Global::named(namespace, name, self.handle(&value)))
    }
    fn load_attr(&self, receiver: Type, name: &str) -> AttrPlan {
        let offset = match (name, receiver.runtime_class() == Some(self.pair)) {
            ("x", true) => offset_of!(Object, x),
            ("y", true) => offset_of!(Object, y),
            _ => return AttrPlan::General,
        };
        AttrPlan::field(self.host.plan("field", &[offset as i64]))
    }
    fn callee(&self, callee: ObjectHandle) -> Callee {
        let value = self.known(callee);
        let hot = value.as_ref().and_then(Value::hot);
        hot.map_or(Callee::Unknown, Hot::callee)
    }
}

impl Vm {
    fn class_of(&self, value: &Value) -> ClassHandle {
        match value.class() {
            Class::Object => self.pair,
            class => self.host.id().builtin_class(*class).expect("one of ours"),
        }
    }

    /// What the compiler calls a value.
    fn handle(&self, value: &Value) -> ObjectHandle {
        let desc = ObjectDesc::new(format!("{:?}", value.class()), self.class_of(value));
        let is_word = value.as_object().is_none();
        let desc = desc.with_token(value.0.get()).with_immortal(is_word);
        self.known.borrow_mut().insert(value.0.get(), value.clone());
        self.host.id().register_object(desc).expect("ours")
    }
    fn known(&self, handle: ObjectHandle) -> Option<Value> {
        self.known.borrow().get(&handle.token()).cloned()
    }
    pub fn global(&self, name: &str) -> Option<Value> {
        self.globals.borrow().get(name).cloned()
    }

    /// Give a global another value; what relies on the old one is not run any more.
    pub fn set_global(&self, name: &str, value: Value) {
        self.globals.borrow_mut().insert(name.to_owned(), value);
        self.engine.borrow().changed(&Assumption::name(0, name));
    }

    /// A runtime with a document's functions.
    pub fn new(document: &str) -> Result<Vm, Box<dyn Error>> {
        let id = HostId::new();
        let class = |class: &'static Class, bases: &[ClassHandle]| {
            let desc = match std::ptr::eq(class, &PAIR) {
                true => ClassDesc::new("pair", bases.to_vec(), *class),
                false => ClassDesc::builtin(*class, bases.to_vec()),
            };
            id.register_class(desc.with_token(&raw const *class as u64))
        };
        let object = class(&OBJECT, &[])?;
        class(&BOOL, &[class(&INT, &[object])?, object])?;
        class(&NONE, &[object])?;
        class(&FUNCTION, &[object])?;
        let singletons = [&NONE, &BOOL, &BOOL].map(|c| Value::object(c, 0, [None, None], None));
        let host = Arc::new(describe(id, &singletons)?);
        let memory = CodeMemory::new(Config::new().limit(1 << 24))?;
        let vm = Vm {
            engine: RefCell::new(Engine::new(host.clone(), memory)?),
            threshold: Cell::new(10),
            top: Cell::new(0),
            stack: (0..1 << 14).map(|_| Cell::new(0)).collect(),
            host,
            pair: class(&PAIR, &[object])?,
            singletons,
            globals: RefCell::default(),
            known: RefCell::default(),
        };
        for mut code in Document::parse(document)?.codes {
            code.verify()?;
            for constant in &mut code.consts {
                if let ConstValue::Int(n) = constant.value {
                    constant.object = vm.handle(&Value::int(n));
                }
            }
            let name = code.name.clone();
            let cell = vm.engine.borrow_mut().entry_cell(code.argcount as usize)?;
            let hot = Some(Hot::new(Arc::new(code), Some(cell)));
            vm.set_global(&name, Value::object(&FUNCTION, 0, [None, None], hot));
        }
        Ok(vm)
    }
}

pub fn main() -> Result<(), Box<dyn Error>> {
    let vm = Vm::new(include_str!("program.tbc"))?;
    let run = |name: &str, args: &[Value]| {
        let result = vm.call(&vm.global(name).expect("a function"), args.to_vec());
        result.map(|value| value.as_int().expect("an int"))
    };
    let (int, large) = (Value::int, Err("too large".to_owned()));
    let fib = |n: i64| (0..n).fold((0, 1), |(a, b), _| (b, a + b)).0;
    let (p, q) = (Value::pair(int(3), int(4)), Value::pair(int(5), int(6)));
    for n in 0..25 {
        assert_eq!(run("fib", &[int(n)])?, fib(n));
        assert_eq!(run("power", &[int(-2), int(63)])?, i64::MIN);
        assert_eq!(run("power", &[int(2), int(63)]), large);
        assert_eq!(run("dot", &[p.clone(), q.clone()])?, 39);
    }
    println!("{:#?}", vm.engine.borrow().units());
    Ok(())
}
