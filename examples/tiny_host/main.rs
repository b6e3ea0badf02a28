//! A complete host of Cladonia: a toy runtime with objects of its own, an interpreter for typed bytecode, and machine
//! code for what is hot. `cargo run --example tiny_host` runs it and checks every answer; `docs/guide.md` goes through
//! it from top to bottom.
//!
//! A value is one word: an int of 63 bits in the word itself (`2n + 1`), or the address of an object. Objects are
//! counted and have one layout, whatever they are. Ints end at 64 bits: beyond is an error of the program.

use cladonia::bytecode::{BinaryOp, Code, CompareOp, Const, ConstValue, Document, INPLACE, Op, Pc};
use cladonia::engine::{Engine, Exit, Hot, UnitParts};
use cladonia::host::{AttrPlan, Callee, Global, Host, HostBuilder, HostError, IntrinsicCall, ObjectRef, World};
use cladonia::types::{ClassDesc, ClassHandle, HostId, ObjectDesc, ObjectHandle, Predefined as Class, Type};
use cladonia::{code::CodeMemory, code::Config, exits::Live, facts::Assumption, facts::Effects, ll::Field, ll::Width};
use std::mem::{ManuallyDrop, offset_of, size_of};
use std::{cell::Cell, cell::RefCell, collections::HashMap, error::Error, num::NonZeroU64, sync::Arc};

// ---- Objects ---------------------------------------------------------------------------------

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

/// The classes, which objects point to. The last is that of pairs, and derives from the first.
static CLASSES: [Class; 6] = [Class::Object, Class::Long, Class::Bool, Class::NoneType, Class::Func, Class::Object];

impl Value {
    fn object(class: Class, wide: i64, [x, y]: [Option<Value>; 2], hot: Option<Hot>) -> Value {
        let class = CLASSES.iter().rfind(|known| **known == class).expect("one of ours");
        let object = Box::new(Object { class, count: Cell::new(1), wide, x, y, hot });
        Value(NonZeroU64::new(Box::into_raw(object) as u64).expect("an address"))
    }
    pub fn int(value: i64) -> Value {
        match value << 1 >> 1 == value {
            true => Value(NonZeroU64::new((value << 1 | 1) as u64).expect("it is odd")),
            false => Value::object(Class::Long, value, [None, None], None),
        }
    }
    pub fn pair(x: Value, y: Value) -> Value {
        Value::object(Class::Object, 0, [Some(x), Some(y)], None)
    }
    fn as_object(&self) -> Option<&Object> {
        // SAFETY: a word that is not odd is the address of an object, which this reference keeps.
        (self.0.get() & 1 == 0).then(|| unsafe { &*(self.0.get() as *const Object) })
    }
    pub fn hot(&self) -> Option<&Hot> {
        self.as_object()?.hot.as_ref()
    }
    fn class(&self) -> Class {
        self.as_object().map_or(Class::Long, |object| *object.class)
    }
    pub fn as_int(&self) -> Option<i64> {
        match self.as_object() {
            None => Some(self.0.get() as i64 >> 1),
            Some(object) => (*object.class == Class::Long).then_some(object.wide),
        }
    }
}

impl Clone for Value {
    fn clone(&self) -> Value {
        self.as_object().iter().for_each(|object| object.count.set(object.count.get() + 1));
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

fn binary(op: i64, a: &Value, b: &Value) -> Result<Value, String> {
    let op = BinaryOp::from_arg(op as u32 % INPLACE);
    let result = match (op, a.as_int(), b.as_int()) {
        (Some(BinaryOp::Add), Some(a), Some(b)) => a.checked_add(b),
        (Some(BinaryOp::Subtract), Some(a), Some(b)) => a.checked_sub(b),
        (Some(BinaryOp::Multiply), Some(a), Some(b)) => a.checked_mul(b),
        _ => return Err(format!("no {op:?} of {:?} and {:?}", a.class(), b.class())),
    };
    result.map(Value::int).ok_or("too large".to_owned())
}

fn less(op: i64, a: &Value, b: &Value) -> Result<bool, String> {
    match (CompareOp::from_arg(op as u32), a.as_int(), b.as_int()) {
        (Some(CompareOp::Lt), Some(a), Some(b)) => Ok(a < b),
        (op, ..) => Err(format!("no {op:?} of {:?} and {:?}", a.class(), b.class())),
    }
}

fn attribute(object: &Value, name: &str) -> Result<Value, String> {
    match (object.as_object(), name) {
        (Some(Object { x: Some(value), .. }), "x") | (Some(Object { y: Some(value), .. }), "y") => Ok(value.clone()),
        _ => Err(format!("{:?} has no attribute {name}", object.class())),
    }
}

// ---- Frames and the interpreter --------------------------------------------------------------

/// A frame: this, then its locals, its operand stack, and two words a local for compiled code.
#[repr(C)]
struct Frame {
    function: *const Object,
    position: Cell<u64>,
    depth: Cell<usize>,
}

fn frame_words(code: &Code) -> usize {
    size_of::<Frame>() / 8 + 3 * code.locals.len() + code.stacksize as usize
}

impl Frame {
    fn hot(&self) -> &Hot {
        // SAFETY: who calls a function keeps it.
        unsafe { (*self.function).hot.as_ref() }.expect("a function")
    }
    fn slot(&self, k: usize) -> &Cell<Option<Value>> {
        let slots = std::ptr::from_ref(self).wrapping_add(1).cast::<Cell<Option<Value>>>();
        // SAFETY: the frame has as many words as its code needs; an empty one is 0.
        unsafe { &*slots.add(k) }
    }
    fn push(&self, value: Option<Value>) {
        let depth = self.depth.replace(self.depth.get() + 1);
        self.slot(self.hot().code().locals.len() + depth).set(value);
    }
    fn pop(&self) -> Option<Value> {
        self.depth.set(self.depth.get() - 1);
        self.slot(self.hot().code().locals.len() + self.depth.get()).take()
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
    error: RefCell<Option<String>>,
    /// What the compiler has a name for is kept.
    known: RefCell<HashMap<u64, (ObjectHandle, Value)>>,
}

thread_local!(static CURRENT: Cell<*const Vm> = const { Cell::new(std::ptr::null()) });

/// The runtime that runs on this thread.
fn vm() -> &'static Vm {
    // SAFETY: set by `Vm::call` for as long as its borrow lasts.
    unsafe { CURRENT.get().as_ref().expect("a runtime") }
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
                Op::LoadConst => frame.push(self.object(code.consts[arg].object)),
                Op::LoadFast => {
                    let value = frame.slot(arg).take();
                    frame.slot(arg).set(value.clone());
                    frame.push(value);
                }
                Op::StoreFast => drop(frame.slot(arg).replace(frame.pop())),
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
    fn interpret_call(&self, function: &Object, args: impl IntoIterator<Item = Value>) -> Result<Value, String> {
        let frame = new_frame(self, function).ok_or("the stack is full")?;
        args.into_iter().enumerate().for_each(|(k, arg)| frame.slot(k).set(Some(arg)));
        let result = self.interpret(frame, Pc(0));
        drop_frame(frame);
        result
    }

    /// Call a function, in machine code if there is some.
    pub fn call(&self, callee: &Value, args: Vec<Value>) -> Result<Value, String> {
        let (function, hot) = callee.as_object().zip(callee.hot()).ok_or("not a function")?;
        if args.len() != hot.code().argcount as usize {
            return Err("another number of arguments".to_owned());
        }
        let before = CURRENT.replace(self);
        self.warm_up(hot);
        let result = match hot.unit() {
            None => self.interpret_call(function, args),
            Some(unit) => {
                let word = |value: Value| ManuallyDrop::new(value).0.get() as *mut u8;
                let words: Vec<*mut u8> = args.into_iter().map(word).collect();
                let this = std::ptr::from_ref(self).cast_mut().cast();
                // SAFETY: the unit of this function, and arguments that it takes over.
                let result = unsafe { unit.call(this, callee.0.get() as *mut u8, &words) };
                let result = NonZeroU64::new(result.expect("a valid unit") as u64).map(Value);
                result.ok_or_else(|| self.error.take().unwrap_or_default())
            }
        };
        CURRENT.set(before);
        result
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
        let part = |name| self.host.intrinsics[self.host.intrinsic(name)].func.clone();
        UnitParts::new(part("enter"), part("leave"))
    }
}
extern "C" fn new_frame<'a>(vm: &'a Vm, function: &'a Object) -> Option<&'a Frame> {
    let words = frame_words(function.hot.as_ref()?.code());
    let words = vm.stack.get(vm.top.get()..vm.top.get() + words)?;
    words.iter().for_each(|word| word.set(0));
    words[0].set(std::ptr::from_ref(function) as u64);
    vm.top.set(vm.top.get() + words.len());
    // SAFETY: these words are a frame without values.
    Some(unsafe { &*words.as_ptr().cast::<Frame>() })
}
extern "C" fn drop_frame(frame: &Frame) {
    let code = frame.hot().code();
    let values = code.locals.len() + code.stacksize as usize;
    (0..values).for_each(|k| drop(frame.slot(k).take()));
    vm().top.set(vm().top.get() - frame_words(code));
}

// ---- What the compiler is told ---------------------------------------------------------------

// SAFETY: a value is one word, and never 0.
unsafe impl ObjectRef for Value {}

/// The result of a helper; none with the error set.
fn give(result: Result<Value, String>) -> Option<Value> {
    result.map_err(|error| vm().error.replace(Some(error))).ok()
}
extern "C" fn binary_op(op: i64, a: ManuallyDrop<Value>, b: ManuallyDrop<Value>) -> Option<Value> {
    give(binary(op, &a, &b))
}
extern "C" fn compare_bool(op: i64, a: ManuallyDrop<Value>, b: ManuallyDrop<Value>) -> i64 {
    give(less(op, &a, &b).map(|truth| Value::int(truth.into()))).map_or(-1, |truth| truth.as_int().unwrap_or(0))
}

/// Run a call in the interpreter: `args` are as many arguments as the function takes, owned.
extern "C" fn call_interpreted(vm: &Vm, function: &Object, args: *const Value, n: i64) -> Option<Value> {
    function.hot.iter().for_each(|hot| vm.warm_up(hot));
    // SAFETY: see above.
    give(vm.interpret_call(function, (0..n as usize).map(|i| unsafe { args.add(i).read() })))
}
/// Nobody interrupts this runtime.
extern "C" fn handle_pending(_: &Vm) -> i64 {
    0
}
/// No object has a finaliser, so that all die unseen.
extern "C" fn free_leaf(object: *mut Object) -> i64 {
    free(object);
    1
}
extern "C" fn release(object: Option<Value>) {
    drop(object);
}
extern "C" fn box_wide(value: i64) -> Option<Value> {
    Some(Value::int(value))
}

/// Compiled code leaves: the frame is written as its record says, and the interpreter goes on.
extern "C" fn exit(token: u64, number: u64, buffer: *const u64) -> Option<Value> {
    // SAFETY: called by compiled code only.
    let exit = unsafe { Exit::from_hook(token, number, buffer) };
    let (record, live) = (exit.record(), exit.frame());
    // SAFETY: the unit runs in this frame.
    let frame = unsafe { &*(live.frame as *const Frame) };
    let object = |word| NonZeroU64::new(word).map(Value);
    let value = |live| match live {
        Live::Owned(word) => object(word),
        Live::Borrowed(word) => object(word).map(|value| Value::clone(&ManuallyDrop::new(value))),
        Live::Int(n) => Some(Value::int(n)),
        Live::Bool(truth) => Some(vm().singletons[1 + truth as usize].clone()),
        // There are neither floats nor tuples here.
        Live::Null | Live::Float(_) | Live::Virtual(_) => None,
    };
    live.locals.into_iter().for_each(|(k, local)| drop(frame.slot(k as usize).replace(value(local))));
    frame.depth.set(0);
    live.stack.into_iter().for_each(|entry| frame.push(value(entry)));
    frame.hot().left(&exit);
    let result = match record.kind.raises() {
        true => Err(vm().error.take().unwrap_or_default()),
        false => vm().interpret(frame, record.pc),
    };
    drop_frame(frame);
    give(result)
}

fn describe(id: HostId, singletons: &[Value; 3]) -> Result<Host, HostError> {
    type Call = extern "C" fn(&'static Vm, &'static Object, *const Value, i64) -> Option<Value>;
    type Enter = extern "C" fn(&'static Vm, &'static Object) -> Option<&'static Frame>;
    let [none, no, yes] = singletons.each_ref().map(|value| value.0.get());
    let mut host = HostBuilder::new("tiny", id);
    host.partial().frame_slots(size_of::<Frame>() as i32).singletons(none, yes, no);
    host.define("binary_op", binary_op as extern "C" fn(_, _, _) -> _);
    host.define("compare_bool", compare_bool as extern "C" fn(_, _, _) -> _);
    host.define("call_interpreted", call_interpreted as Call);
    host.define("handle_pending", handle_pending as extern "C" fn(&'static _) -> _);
    host.define("free_leaf", free_leaf as extern "C" fn(_) -> _);
    host.define("dealloc", free as extern "C" fn(_));
    host.define("exit", exit as extern "C" fn(_, _, _) -> _);
    host.define("release", release as extern "C" fn(_));
    host.define("box_wide", box_wide as extern "C" fn(_) -> _);
    host.define("new_frame", new_frame as Enter);
    host.define("drop_frame", drop_frame as extern "C" fn(&'static _));
    let class = Field::new("class", offset_of!(Object, class), Width::Ptr);
    let count = Field::new("count", offset_of!(Object, count), Width::U32);
    let wide = Field::new("wide", offset_of!(Object, wide), Width::I64);
    host.layout("Object", None, &[class, count, wide]);
    let mut text = include_str!("intrinsics.lir").to_owned();
    let int = &raw const CLASSES[1] as u64;
    for (name, address) in [("TRUE", yes), ("FALSE", no), ("INT", int)] {
        text = text.replace(name, &format!("{address:#x}"));
    }
    host.intrinsics(Effects::WRITES, &text);
    host.finish()
}

impl World for Vm {
    fn global(&self, namespace: u64, name: &str) -> Option<Global> {
        let value = self.handle(self.globals.borrow().get(name)?);
        let assumption = Assumption::NameUnchanged { namespace, name: name.to_owned() };
        Some(Global { value, assumptions: vec![assumption] })
    }
    fn load_attr(&self, receiver: Type, name: &str) -> AttrPlan {
        let is_pair = receiver.runtime_class() == Some(self.pair);
        let offset = match name {
            "x" if is_pair => offset_of!(Object, x),
            "y" if is_pair => offset_of!(Object, y),
            _ => return AttrPlan::General,
        };
        AttrPlan::field(IntrinsicCall { id: self.host.intrinsic("field"), imms: vec![offset as i64] })
    }
    fn callee(&self, callee: ObjectHandle) -> Callee {
        let object = self.object(callee);
        match object.as_ref().and_then(Value::hot).and_then(|hot| Some((hot.code().argcount, hot.cell()?))) {
            Some((argcount, cell)) => Callee::function(argcount, cell.address()),
            None => Callee::Unknown,
        }
    }
}

impl Vm {
    fn class_of(&self, value: &Value) -> ClassHandle {
        match value.class() {
            Class::Object => self.pair,
            class => self.host.id.builtin_class(class).expect("one of ours"),
        }
    }

    /// What the compiler calls a value.
    fn handle(&self, value: &Value) -> ObjectHandle {
        let token = value.0.get();
        if let Some((handle, _)) = self.known.borrow().get(&token) {
            return *handle;
        }
        let mut desc = ObjectDesc::new(format!("{:?} {token:#x}", value.class()), self.class_of(value));
        (desc.token, desc.immortal) = (token, value.as_object().is_none());
        let handle = self.host.id.register_object(desc).expect("an object of ours");
        self.known.borrow_mut().insert(token, (handle, value.clone()));
        handle
    }
    fn object(&self, handle: ObjectHandle) -> Option<Value> {
        self.known.borrow().get(&handle.token()).map(|(_, value)| value.clone())
    }
    pub fn global(&self, name: &str) -> Option<Value> {
        self.globals.borrow().get(name).cloned()
    }

    /// Give a global another value; what relies on the old one is not run any more.
    pub fn set_global(&self, name: &str, value: Value) {
        self.globals.borrow_mut().insert(name.to_owned(), value);
        let changed = Assumption::NameUnchanged { namespace: 0, name: name.to_owned() };
        self.engine.borrow().changed(&changed);
    }

    /// A runtime with a document's functions.
    pub fn new(document: &str) -> Result<Vm, Box<dyn Error>> {
        let (id, mut classes) = (HostId::new(), Vec::new());
        for (i, class) in CLASSES.iter().enumerate() {
            // The bases: `Object`, and before it `Long` for `Bool`.
            let bases = classes.iter().copied().take(if *class == Class::Bool { 2 } else { 1 });
            let mut desc = ClassDesc::builtin(*class, bases.rev().collect());
            (desc.is_builtin_itself, desc.token) = (i < 5, &raw const *class as u64);
            classes.push(id.register_class(desc)?);
        }
        let singletons = [Class::NoneType, Class::Bool, Class::Bool];
        let singletons = singletons.map(|class| Value::object(class, 0, [None, None], None));
        let host = Arc::new(describe(id, &singletons)?);
        let engine = Engine::new(host.clone(), CodeMemory::new(Config::new().limit(1 << 24))?)?;
        let vm = Vm {
            engine: RefCell::new(engine),
            threshold: Cell::new(10),
            top: Cell::new(0),
            stack: (0..1 << 14).map(|_| Cell::new(0)).collect(),
            host,
            pair: classes[5],
            singletons,
            globals: RefCell::default(),
            error: RefCell::default(),
            known: RefCell::default(),
        };
        for mut code in Document::parse(document)?.codes {
            code.verify()?;
            for Const { object, value } in &mut code.consts {
                if let ConstValue::Int(n) = value {
                    *object = vm.handle(&Value::int(*n));
                }
            }
            let name = code.name.clone();
            let cell = vm.engine.borrow_mut().entry_cell(code.argcount as usize)?;
            let hot = Hot::new(Arc::new(code), Some(cell));
            vm.set_global(&name, Value::object(Class::Func, 0, [None, None], Some(hot)));
        }
        Ok(vm)
    }
}

pub fn main() -> Result<(), Box<dyn Error>> {
    let vm = Vm::new(include_str!("program.tbc"))?;
    let run = |name: &str, args: &[Value]| vm.call(&vm.global(name).expect("a function"), args.to_vec());
    let fib = |n: i64| (0..n).fold((0, 1), |(a, b), _| (b, a + b)).0;
    let (p, q) = (Value::pair(Value::int(3), Value::int(4)), Value::pair(Value::int(5), Value::int(6)));
    for n in 0..25 {
        assert_eq!(run("fib", &[Value::int(n)])?.as_int(), Some(fib(n)));
        assert_eq!(run("power", &[Value::int(-2), Value::int(63)])?.as_int(), Some(i64::MIN));
        assert_eq!(run("power", &[Value::int(2), Value::int(63)]).err().as_deref(), Some("too large"));
        assert_eq!(run("dot", &[p.clone(), q.clone()])?.as_int(), Some(39));
    }
    for unit in vm.engine.borrow().units() {
        println!("{}: {} bytes, entered {} times, left at {:?}", unit.name, unit.code_size, unit.entered, unit.exits);
    }
    Ok(())
}
