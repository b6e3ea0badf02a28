//! A runtime whose objects are traced and move: an interpreter for typed bytecode, and machine code for what is hot. It
//! collects at every allocation, and wherever else it is allowed to.

use super::heap::{CLASSES, Heap, class_word};
use cladonia::bytecode::{BinaryOp, Code, CompareOp, ConstValue, Document, INPLACE, Op, Pc};
use cladonia::code::{CodeMemory, Config, NativeStack, VisitError};
use cladonia::engine::{Engine, Exit, Hot, UnitParts};
use cladonia::exits::Live;
use cladonia::facts::{Assumption, Effects};
use cladonia::host::{AttrPlan, Callee, Global, Host, HostBuilder, World};
use cladonia::ll::Ty::{F64, I64, Ptr};
use cladonia::types::{ClassDesc, ClassHandle, HostId, ObjectDesc, ObjectHandle, Predefined as Class, Type};
use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::mem::offset_of;
use std::sync::Arc;

/// The word of an int.
fn word(n: i64) -> u64 {
    (n << 1 | 1) as u64
}

/// Words of a frame before its slots: the function's number, the position, the depth of the stack.
const HEAD: usize = 3;

/// A frame: a place in the stack of frames, which does not move.
#[derive(Clone, Copy)]
struct Frame<'a>(&'a [Cell<u64>]);

impl<'a> Frame<'a> {
    fn slot(self, k: usize) -> &'a Cell<u64> {
        &self.0[HEAD + k]
    }
    fn locals(self, vm: &Vm) -> usize {
        vm.hot(self.0[0].get()).code().locals.len()
    }
    fn push(self, vm: &Vm, value: u64) {
        let depth = self.0[2].replace(self.0[2].get() + 1);
        self.slot(self.locals(vm) + depth as usize).set(value);
    }
    fn pop(self, vm: &Vm) -> u64 {
        self.0[2].set(self.0[2].get() - 1);
        self.slot(self.locals(vm) + self.0[2].get() as usize).replace(0)
    }
    /// The address of the entry `n` below the top.
    fn entries(self, vm: &Vm, n: usize) -> *const u64 {
        let depth = self.0[2].get() as usize;
        self.slot(self.locals(vm) + depth - n).as_ptr()
    }
    fn pop_many(self, vm: &Vm, n: usize) {
        (0..n).for_each(|_| {
            self.pop(vm);
        });
    }
}

/// The runtime: the thread that compiled code is given.
pub struct Vm {
    pub engine: RefCell<Engine>,
    pub heap: Heap,
    native: NativeStack,
    memory: CodeMemory,
    /// Calls after which a function is compiled.
    pub threshold: Cell<u64>,
    /// References in native frames that are forgotten, to see what comes of it: by number since this was set.
    pub forget: RefCell<Box<dyn Fn(u64) -> bool>>,
    /// References in native frames that were shown and did move.
    pub shown: Cell<u64>,
    /// Why native frames could not be visited.
    pub fault: RefCell<Option<VisitError>>,
    functions: Vec<Hot>,
    names: HashMap<String, u64>,
    stack: Box<[Cell<u64>]>,
    /// Where frames begin, in `stack`; the last number is where the next one does.
    frames: RefCell<Vec<usize>>,
    host: Arc<Host>,
    /// None, false and true.
    singletons: [u64; 3],
    error: RefCell<Option<String>>,
    known: RefCell<HashMap<u64, ObjectHandle>>,
}

thread_local!(static CURRENT: Cell<*const Vm> = const { Cell::new(std::ptr::null()) });

fn vm() -> &'static Vm {
    // SAFETY: set by `Vm::run` for as long as its borrow lasts.
    unsafe { CURRENT.get().as_ref().expect("a runtime") }
}

impl Vm {
    fn hot(&self, number: u64) -> &Hot {
        &self.functions[number as usize]
    }

    /// Collect, whether there is need or not.
    fn collect(&self) {
        self.heap.collect(|visit| {
            let frames = self.frames.borrow();
            for &start in &frames[..frames.len() - 1] {
                let code = self.hot(self.stack[start].get()).code();
                let values = code.locals.len() + code.stacksize as usize;
                for slot in &self.stack[start + HEAD..][..values] {
                    let mut value = slot.get();
                    visit(&mut value);
                    slot.set(value);
                }
            }
            let visited = self.native.visit(&self.memory, |word| {
                if !self.heap.moves(*word) {
                    return;
                }
                let number = self.shown.replace(self.shown.get() + 1);
                if !self.forget.borrow()(number) {
                    visit(word);
                }
            });
            if let Err(error) = visited {
                self.fault.replace(Some(error));
            }
        });
    }

    fn new_object(&self, class: Class, payload: &[u64]) -> Result<u64, String> {
        self.collect();
        self.heap.allocate(class, payload)
    }

    /// A tuple or list of values in an array that the collector knows.
    fn sequence(&self, class: Class, values: *const u64, n: usize) -> Result<u64, String> {
        self.collect();
        // SAFETY: the array is as long as the bytecode says, and has been updated.
        let payload: Vec<u64> = (0..n).map(|i| unsafe { values.add(i).read() }).collect();
        self.heap.allocate(class, &payload)
    }

    fn float(&self, value: u64) -> Option<f64> {
        match self.heap.look(value) {
            Ok((Class::Float, words)) => Some(f64::from_bits(words[0].get())),
            _ => None,
        }
    }

    fn int(&self, value: u64) -> Option<i64> {
        (value & 1 == 1).then_some(value as i64 >> 1)
    }

    fn binary(&self, op: u32, a: u64, b: u64) -> Result<u64, String> {
        let op = BinaryOp::from_arg(op % INPLACE).ok_or("no such operator")?;
        let (classes, _) = (self.heap.look(a)?, self.heap.look(b)?);
        if let (Some(a), Some(b)) = (self.int(a), self.int(b)) {
            let result = match op {
                BinaryOp::Add => a.checked_add(b),
                BinaryOp::Subtract => a.checked_sub(b),
                BinaryOp::Multiply => a.checked_mul(b),
                BinaryOp::Remainder if b != 0 => Some(a.rem_euclid(b)),
                _ => None,
            };
            return Ok(word(result.ok_or("too large")?));
        }
        let (Some(a), Some(b)) = (self.float(a), self.float(b)) else {
            return Err(format!("no {op:?} of {:?} and others", classes.0));
        };
        let result = match op {
            BinaryOp::Add => a + b,
            BinaryOp::Subtract => a - b,
            BinaryOp::Multiply => a * b,
            _ => return Err("no such operator".to_owned()),
        };
        self.new_object(Class::Float, &[result.to_bits()])
    }

    fn less(&self, op: u32, a: u64, b: u64) -> Result<bool, String> {
        self.heap.look(a)?;
        self.heap.look(b)?;
        match (CompareOp::from_arg(op), self.int(a), self.int(b)) {
            (Some(CompareOp::Lt), Some(a), Some(b)) => Ok(a < b),
            _ => Err("no such comparison".to_owned()),
        }
    }

    /// The word of an item.
    fn item(&self, sequence: u64, index: u64) -> Result<&Cell<u64>, String> {
        let (class, words) = self.heap.look(sequence)?;
        let index = self.int(index).ok_or("an index must be an int")?;
        match class {
            Class::Tuple | Class::List => {
                let index = if index < 0 { index + words.len() as i64 } else { index };
                words.get(index as usize).ok_or("index out of range".to_owned())
            }
            _ => Err(format!("no items in {class:?}")),
        }
    }

    fn interpret(&self, frame: Frame<'_>, mut pc: Pc) -> Result<u64, String> {
        let hot = self.hot(frame.0[0].get());
        let code = hot.code().clone();
        loop {
            let instr = code.instr(pc);
            let (here, arg) = (pc, instr.arg as usize);
            pc = Pc(pc.0 + 1);
            let ty = |value: u64| {
                let class = self.heap.look(value).map_or(Class::Object, |(class, _)| class);
                Type::from_class_exact(self.class(class))
            };
            match instr.op {
                Op::LoadConst => frame.push(self, code.consts[arg].object.token()),
                Op::LoadFast => frame.push(self, frame.slot(arg).get()),
                Op::StoreFast => frame.slot(arg).set(frame.pop(self)),
                Op::PopTop => {
                    frame.pop(self);
                }
                Op::LoadGlobal => {
                    frame.push(self, self.global(&code.names[arg]).ok_or("no such global")?);
                    frame.push(self, 0);
                }
                Op::BinaryOp | Op::CompareOp => {
                    let (b, a) = (frame.pop(self), frame.pop(self));
                    hot.observe(here, [ty(a), ty(b)]);
                    frame.push(
                        self,
                        match instr.op {
                            Op::BinaryOp => self.binary(instr.arg, a, b)?,
                            _ => self.singletons[1 + self.less(instr.arg, a, b)? as usize],
                        },
                    );
                }
                Op::BinarySubscr => {
                    let (index, sequence) = (frame.pop(self), frame.pop(self));
                    hot.observe(here, [ty(sequence), ty(index)]);
                    frame.push(self, self.item(sequence, index)?.get());
                }
                Op::StoreSubscr => {
                    let (index, sequence) = (frame.pop(self), frame.pop(self));
                    let value = frame.pop(self);
                    hot.observe(here, [ty(value), ty(sequence), ty(index)]);
                    self.item(sequence, index)?.set(value);
                }
                Op::BuildTuple | Op::BuildList => {
                    let class = match instr.op {
                        Op::BuildTuple => Class::Tuple,
                        _ => Class::List,
                    };
                    let made = self.sequence(class, frame.entries(self, arg), arg)?;
                    frame.pop_many(self, arg);
                    frame.push(self, made);
                }
                Op::UnpackSequence => {
                    let sequence = frame.pop(self);
                    for i in (0..arg as u64).rev() {
                        frame.push(self, self.item(sequence, word(i as i64))?.get());
                    }
                }
                Op::PopJumpIfFalse if frame.pop(self) == self.singletons[1] => pc = Pc(instr.arg),
                Op::PopJumpIfFalse => {}
                Op::JumpBackward => pc = Pc(instr.arg),
                Op::Call => {
                    let args = frame.entries(self, arg);
                    // SAFETY: the callable lies below a null and the arguments.
                    let callee = unsafe { args.sub(2).read() };
                    let result = self.call(callee, args, arg)?;
                    frame.pop_many(self, arg + 2);
                    frame.push(self, result);
                }
                Op::ReturnValue => return Ok(frame.pop(self)),
                op => return Err(format!("no instruction {}", op.info().name)),
            }
        }
    }

    fn number(&self, function: u64) -> Result<u64, String> {
        match self.heap.look(function)? {
            (Class::Func, words) => Ok(words[0].get()),
            (class, _) => Err(format!("{class:?} can't be called")),
        }
    }

    /// Run a call in the interpreter; the collector knows the array of arguments.
    fn interpret_call(&self, function: u64, args: *const u64, n: usize) -> Result<u64, String> {
        let number = self.number(function)?;
        let frame = self.new_frame(number).ok_or("the stack is full")?;
        // SAFETY: as many as the function takes.
        (0..n).for_each(|k| frame.slot(k).set(unsafe { args.add(k).read() }));
        let result = self.interpret(frame, Pc(0));
        self.drop_frame();
        result
    }

    /// Call a function, in machine code if there is some; the collector knows the array of arguments.
    fn call(&self, function: u64, args: *const u64, n: usize) -> Result<u64, String> {
        let hot = self.hot(self.number(function)?);
        if n != hot.code().argcount as usize {
            return Err("another number of arguments".to_owned());
        }
        self.warm_up(hot);
        let Some(unit) = hot.unit() else {
            return self.interpret_call(function, args, n);
        };
        // SAFETY: as long as it is said to be.
        let words: Vec<*mut u8> = (0..n).map(|i| unsafe { args.add(i).read() as *mut u8 }).collect();
        let this = std::ptr::from_ref(self).cast_mut().cast();
        // SAFETY: the unit of this function, and its arguments.
        let result = unsafe { unit.call(this, function as *mut u8, &words) };
        match result.expect("a valid unit") as u64 {
            0 => Err(self.error.take().unwrap_or_default()),
            word => Ok(word),
        }
    }

    /// Call a function with ints from outside; gives the result as text.
    pub fn run(&self, name: &str, args: &[i64]) -> Result<String, String> {
        let before = CURRENT.replace(self);
        let words: Vec<u64> = args.iter().map(|n| word(*n)).collect();
        let function = self.global(name).ok_or("no such function");
        let result = function
            .map_err(str::to_owned)
            .and_then(|function| self.call(function, words.as_ptr(), words.len()))
            .and_then(|value| self.show(value));
        CURRENT.set(before);
        assert!(self.native.is_empty(), "native code was left");
        self.frames.borrow_mut().truncate(1);
        result
    }

    fn show(&self, value: u64) -> Result<String, String> {
        let (class, words) = self.heap.look(value)?;
        let items = || words.iter().map(|word| self.show(word.get())).collect::<Result<Vec<_>, _>>();
        Ok(match class {
            Class::Long => self.int(value).expect("an int").to_string(),
            Class::Float => format!("{:?}", f64::from_bits(words[0].get())),
            Class::Tuple => format!("({})", items()?.join(", ")),
            Class::List => format!("[{}]", items()?.join(", ")),
            class => format!("{class:?}"),
        })
    }

    fn warm_up(&self, hot: &Hot) {
        if hot.count(self.threshold.get()) {
            let made = self.engine.borrow_mut().build(hot.task(self.parts()), self);
            hot.installed(made);
        }
    }

    pub fn parts(&self) -> UnitParts {
        let part = |name| self.host.intrinsic_func(name).clone();
        UnitParts::new(part("enter"), part("leave"))
    }

    fn new_frame(&self, number: u64) -> Option<Frame<'_>> {
        self.collect();
        let code = self.hot(number).code();
        let len = HEAD + 3 * code.locals.len() + code.stacksize as usize;
        let mut frames = self.frames.borrow_mut();
        let start = *frames.last()?;
        let words = self.stack.get(start..start + len)?;
        words.iter().for_each(|word| word.set(0));
        words[0].set(number);
        frames.push(start + len);
        Some(Frame(words))
    }

    fn drop_frame(&self) {
        self.frames.borrow_mut().pop();
    }

    /// Write a frame as an exit's record says, and go on in the interpreter.
    fn resume(&self, exit: &Exit<'_>) -> Result<u64, String> {
        let start = exit.frame().frame;
        let frame = {
            let frames = self.frames.borrow();
            let mut frames = frames.windows(2).map(|pair| &self.stack[pair[0]..pair[1]]);
            let words = frames.find(|words| words.as_ptr() as u64 == start);
            Frame(words.ok_or("no such frame")?)
        };
        let locals = frame.locals(self);
        let places = || {
            let live = exit.frame();
            let stack = live.stack.into_iter().enumerate();
            let stack = stack.map(|(k, value)| (locals + k, value));
            let named = live.locals.into_iter().map(|(k, value)| (k as usize, value));
            named.chain(stack).collect::<Vec<_>>()
        };
        // What must be made first: that collects, and what the buffer holds is asked for again afterwards.
        for (k, value) in places() {
            frame.slot(k).set(match value {
                Live::Float(x) => self.new_object(Class::Float, &[x.to_bits()])?,
                Live::Int(n) => word(n),
                Live::Bool(truth) => self.singletons[1 + truth as usize],
                _ => 0,
            });
        }
        self.collect();
        for (k, value) in places() {
            match value {
                Live::Borrowed(word) => frame.slot(k).set(word),
                Live::Owned(_) => return Err("no reference is owned".to_owned()),
                _ => {}
            }
        }
        frame.0[2].set(exit.frame().stack.len() as u64);
        self.hot(frame.0[0].get()).left(exit);
        match exit.record().kind.raises() {
            true => Err(self.error.take().unwrap_or_default()),
            false => self.interpret(frame, exit.record().pc),
        }
    }
}

/// The result of a helper; none with the error set.
fn give(result: Result<u64, String>) -> u64 {
    result.unwrap_or_else(|error| {
        vm().error.replace(Some(error));
        0
    })
}

fn status(result: Result<u64, String>) -> i64 {
    result.map_or_else(|error| -1 - give(Err(error)) as i64, |word| word as i64)
}

extern "C" fn binary_op(op: i64, a: u64, b: u64) -> u64 {
    give(vm().binary(op as u32, a, b))
}
extern "C" fn compare_bool(op: i64, a: u64, b: u64) -> i64 {
    status(vm().less(op as u32, a, b).map(u64::from))
}
extern "C" fn get_item(sequence: u64, index: u64) -> u64 {
    give(vm().item(sequence, index).map(Cell::get))
}
extern "C" fn set_item(sequence: u64, index: u64, value: u64) -> i64 {
    let item = vm().item(sequence, index);
    status(item.map(|item| item.set(value)).map(|()| 0))
}
extern "C" fn build_tuple(values: *const u64, n: i64) -> u64 {
    give(vm().sequence(Class::Tuple, values, n as usize))
}
extern "C" fn build_list(values: *const u64, n: i64) -> u64 {
    give(vm().sequence(Class::List, values, n as usize))
}
extern "C" fn unpack_sequence(vm: &Vm, n: i64, sequence: u64, outputs: *mut u64) -> i64 {
    let items = (0..n as u64).map(|i| vm.item(sequence, word(i as i64)).map(Cell::get));
    let items = items.collect::<Result<Vec<u64>, _>>();
    let store = |items: Vec<u64>| {
        // SAFETY: there is room for as many.
        (0..).zip(items).for_each(|(i, item)| unsafe { outputs.add(i).write(item) });
        0
    };
    status(items.map(store))
}
extern "C" fn call_interpreted(vm: &Vm, function: u64, args: *const u64, n: i64) -> u64 {
    let hot = vm.number(function).map(|number| vm.hot(number));
    hot.iter().for_each(|hot| vm.warm_up(hot));
    give(vm.interpret_call(function, args, n as usize))
}
extern "C" fn call(vm: &Vm, _keywords: u64, values: *const u64, n: i64) -> u64 {
    // SAFETY: the callable, null, and the arguments.
    let callee = unsafe { values.read() };
    give(vm.call(callee, values.wrapping_add(2), n as usize - 2))
}
extern "C" fn handle_pending(_: &Vm) -> i64 {
    0
}
extern "C" fn new_float(value: f64) -> u64 {
    give(vm().new_object(Class::Float, &[value.to_bits()]))
}
extern "C" fn barrier() {
    vm().collect();
}
extern "C" fn new_frame(vm: &Vm, function: u64) -> u64 {
    let frame = vm.number(function).ok().and_then(|number| vm.new_frame(number));
    frame.map_or(0, |frame| frame.0.as_ptr() as u64)
}
extern "C" fn drop_frame(vm: &Vm) {
    vm.drop_frame();
    vm.collect();
}
extern "C" fn exit(token: u64, number: u64, buffer: *const u64) -> u64 {
    // SAFETY: called by compiled code only.
    let exit = unsafe { Exit::from_hook(token, number, buffer) };
    let result = vm().resume(&exit);
    vm().drop_frame();
    give(result)
}

/// The host's description; unless it is `honest`, it says of the barrier that it does not collect.
fn describe(id: HostId, [none, no, yes]: [u64; 3], honest: bool) -> Host {
    let mut host = HostBuilder::new("tracing", id);
    host.partial().frame_slots(8 * HEAD as i32).singletons(none, yes, no).traced(offset_of!(Vm, native) as i32);
    let mut add = |name, address: *const (), params: &[_], results: &[_]| {
        host.helper(name, address as usize, params, results);
    };
    add("binary_op", binary_op as *const (), &[I64, Ptr, Ptr], &[Ptr]);
    add("compare_bool", compare_bool as *const (), &[I64, Ptr, Ptr], &[I64]);
    add("get_item", get_item as *const (), &[Ptr, Ptr], &[Ptr]);
    add("set_item", set_item as *const (), &[Ptr, Ptr, Ptr], &[I64]);
    add("build_tuple", build_tuple as *const (), &[Ptr, I64], &[Ptr]);
    add("build_list", build_list as *const (), &[Ptr, I64], &[Ptr]);
    add("unpack_sequence", unpack_sequence as *const (), &[Ptr, I64, Ptr, Ptr], &[I64]);
    add("call_interpreted", call_interpreted as *const (), &[Ptr, Ptr, Ptr, I64], &[Ptr]);
    add("call", call as *const (), &[Ptr, Ptr, Ptr, I64], &[Ptr]);
    add("handle_pending", handle_pending as *const (), &[Ptr], &[I64]);
    add("exit", exit as *const (), &[I64, I64, Ptr], &[Ptr]);
    add("new_float", new_float as *const (), &[F64], &[Ptr]);
    add("new_frame", new_frame as *const (), &[Ptr, Ptr], &[Ptr]);
    add("drop_frame", drop_frame as *const (), &[Ptr], &[]);
    let barrier = host.define("barrier", barrier as extern "C" fn());
    if !honest {
        host.effects(barrier, Effects::WRITES);
    }
    let mut text = include_str!("intrinsics.lir").to_owned();
    for (name, address) in [("TRUE", yes), ("FALSE", no), ("INT", class_word(Class::Long))] {
        text = text.replace(name, &format!("{address:#x}"));
    }
    host.intrinsics(Effects::ANY, &text);
    host.finish().expect("a host")
}

impl World for Vm {
    fn global(&self, namespace: u64, name: &str) -> Option<Global> {
        let value = self.handle(Vm::global(self, name)?, Class::Func);
        let name = name.to_owned();
        let assumptions = vec![Assumption::NameUnchanged { namespace, name }];
        Some(Global { value, assumptions })
    }
    fn load_attr(&self, _: Type, _: &str) -> AttrPlan {
        AttrPlan::General
    }
    fn callee(&self, callee: ObjectHandle) -> Callee {
        let hot = self.number(callee.token()).map(|number| self.hot(number));
        match hot.map(|hot| (hot.code().argcount, hot.cell())) {
            Ok((argcount, Some(cell))) => Callee::function(argcount, cell.address()),
            _ => Callee::Unknown,
        }
    }
}

impl Vm {
    fn class(&self, class: Class) -> ClassHandle {
        self.host.id().builtin_class(class).expect("one of ours")
    }

    /// What the compiler calls a value that does not move.
    fn handle(&self, value: u64, class: Class) -> ObjectHandle {
        *self.known.borrow_mut().entry(value).or_insert_with(|| {
            let desc = ObjectDesc::new(format!("{class:?} {value:#x}"), self.class(class));
            self.host.id().register_object(desc.with_token(value)).expect("an object of ours")
        })
    }

    pub fn global(&self, name: &str) -> Option<u64> {
        self.names.get(name).copied()
    }

    /// The function of this name.
    pub fn function(&self, name: &str) -> &Hot {
        let function = self.global(name).expect("a function");
        self.hot(self.number(function).expect("a function"))
    }

    /// A runtime with a document's functions.
    pub fn new(document: &str) -> Vm {
        Vm::described(document, true)
    }

    /// The same; see `describe`.
    pub fn described(document: &str, honest: bool) -> Vm {
        let (id, heap) = (HostId::new(), Heap::new());
        let mut classes: Vec<ClassHandle> = Vec::new();
        for (i, class) in CLASSES.iter().enumerate() {
            // `Object`, and before it `Long` for `Bool`.
            let bases = classes.iter().copied().take(if i == 2 { 2 } else { 1 });
            let desc = ClassDesc::builtin(*class, bases.rev().collect());
            let desc = desc.with_token(class_word(*class));
            classes.push(id.register_class(desc).expect("a class of ours"));
        }
        let singletons = [Class::NoneType, Class::Bool, Class::Bool];
        let singletons = singletons.map(|class| heap.pin(class, &[]));
        let host = Arc::new(describe(id, singletons, honest));
        let memory = CodeMemory::new(Config::new().limit(1 << 24)).expect("memory");
        let engine = Engine::new(host.clone(), memory.clone()).expect("an engine");
        let mut vm = Vm {
            engine: RefCell::new(engine),
            heap,
            native: NativeStack::new(),
            memory,
            threshold: Cell::new(u64::MAX),
            forget: RefCell::new(Box::new(|_| false)),
            shown: Cell::new(0),
            fault: RefCell::default(),
            functions: Vec::new(),
            names: HashMap::new(),
            stack: (0..1 << 14).map(|_| Cell::new(0)).collect(),
            frames: RefCell::new(vec![0]),
            host,
            singletons,
            error: RefCell::default(),
            known: RefCell::default(),
        };
        for code in Document::parse(document).expect("a document").codes {
            vm.add(code);
        }
        vm
    }

    fn add(&mut self, mut code: Code) {
        code.verify().expect("bytecode");
        for constant in &mut code.consts {
            constant.object = match constant.value {
                ConstValue::Int(n) => self.handle(word(n), Class::Long),
                ConstValue::Float(x) => {
                    let float = self.heap.pin(Class::Float, &[x.to_bits()]);
                    self.handle(float, Class::Float)
                }
                _ => panic!("no such constant"),
            };
        }
        let cell = self.engine.borrow_mut().entry_cell(code.argcount as usize);
        let (name, number) = (code.name.clone(), self.functions.len() as u64);
        self.functions.push(Hot::new(Arc::new(code), Some(cell.expect("a cell"))));
        self.names.insert(name, self.heap.pin(Class::Func, &[number]));
    }
}
