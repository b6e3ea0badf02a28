//! What makes the runtime a host of the compiler: frames, calls, exits and the description.

use super::CHAPTERS;
use super::runtime::*;
use cladonia::bytecode::{Code, ConstValue, Document, Pc};
use cladonia::code::{CodeMemory, Config, NativeStack};
use cladonia::engine::{Engine, Entry, Exit, Hot, UnitHandle, UnitParts};
use cladonia::exits::Live;
use cladonia::host::{Host, HostBuilder, World};
use cladonia::ll::{Field, Width};
use cladonia::types::{ClassDesc, HostId, ObjectDesc, Predefined as Class, Type};
use std::cell::{Cell, RefCell};
use std::{collections::HashMap, error::Error, mem::offset_of, sync::Arc};

/// The runtime, which is the thread that compiled code is given.
pub struct Vm {
    pub engine: RefCell<Engine>,
    pub threshold: Cell<u64>,
    host: Arc<Host>,
    native: NativeStack,
    functions: HashMap<String, &'static Function>,
    /// None, false and true.
    singletons: [Value; 3],
}

/// Nothing is known of globals, attributes and callees.
impl World for Vm {}

thread_local! {
    /// The pending error: set where a helper gives null.
    pub static ERROR: Cell<Option<Value>> = const { Cell::new(None) };
}

pub fn give<T>(result: Result<T, Value>) -> Option<T> {
    result.map_err(|error| ERROR.set(Some(error))).ok()
}

impl Vm {
    pub fn type_of(&self, value: Option<Value>) -> Type {
        let class = |value: Value| self.host.id().builtin_class(value.class);
        value.map_or(Type::NULLPTR, |value| {
            Type::from_class_exact(class(value).expect("a class of a chapter"))
        })
    }

    pub fn none(&self) -> Value {
        self.singletons[0]
    }

    pub fn truth(&self, truth: bool) -> Value {
        self.singletons[1 + truth as usize]
    }

    pub fn parts(&self) -> UnitParts {
        self.host.frames_by("new_frame", "drop_frame")
    }

    /// Calls a function, in machine code if there is some.
    pub fn call(&self, name: &str, args: &[Value]) -> Result<Value, Value> {
        let function = self.functions[name];
        let hot = &function.hot;
        if hot.count(self.threshold.get()) {
            let made = self.engine.borrow_mut().build(hot.task(self.parts()), self);
            hot.installed(made);
        }
        match hot.unit() {
            Some(unit) => self.enter(&unit, std::ptr::from_ref(function).cast(), args),
            None => self.interpret_call(function, args),
        }
    }

    /// Calls machine code.
    pub fn enter(
        &self,
        unit: &UnitHandle,
        second: *const u8,
        args: &[Value],
    ) -> Result<Value, Value> {
        let word = |arg: &Value| std::ptr::from_ref(*arg).cast_mut().cast();
        let args: Vec<*mut u8> = args.iter().map(word).collect();
        let thread = std::ptr::from_ref(self).cast_mut().cast();
        // SAFETY: the unit is of the function or frame that is passed; a result is an object or null.
        let result = unsafe {
            let result = unit.call(thread, second.cast_mut(), &args);
            result.expect("a valid unit").cast::<Object>().as_ref()
        };
        result.ok_or_else(|| ERROR.take().expect("an error"))
    }

    fn interpret_call(&self, function: &'static Function, args: &[Value]) -> Result<Value, Value> {
        let frame = new_frame(self, function);
        args.iter()
            .enumerate()
            .for_each(|(k, arg)| frame.set(k, Some(arg)));
        let result = self.interpret(frame, Pc(0));
        drop_frame(self, frame);
        result
    }
}

extern "C" fn new_frame<'a>(_: &'a Vm, function: &'static Function) -> &'a Frame {
    Box::leak(Box::new(Frame {
        function,
        position: Cell::new(0),
        top: Cell::new(function.hot.code().locals.len()),
        slots: [const { Cell::new(std::ptr::null()) }; 64],
    }))
}

extern "C" fn drop_frame(_: &Vm, frame: &Frame) {
    // SAFETY: made by `new_frame`, and not used any more.
    drop(unsafe { Box::from_raw(std::ptr::from_ref(frame).cast_mut()) });
}

extern "C" fn call_interpreted(
    vm: &Vm,
    function: &'static Function,
    args: *const Value,
    count: i64,
) -> Option<Value> {
    // SAFETY: an array of this length.
    let args = unsafe { std::slice::from_raw_parts(args, count as usize) };
    give(vm.interpret_call(function, args))
}

/// Compiled code takes an exit: its values go into the frame, where the interpreter continues.
extern "C" fn exit(token: u64, number: u64, buffer: *const u64) -> Option<Value> {
    // SAFETY: called by compiled code only.
    let exit = unsafe { Exit::from_hook(token, number, buffer) };
    let (record, live) = (exit.record(), exit.frame());
    // SAFETY: the unit was given this thread, and runs in this frame.
    let (vm, frame) = unsafe { (&*(live.thread as *const Vm), &*(live.frame as *const Frame)) };
    let value = |live| match live {
        // SAFETY: the word of an object, or 0.
        Live::Owned(word) | Live::Borrowed(word) => unsafe { (word as *const Object).as_ref() },
        Live::Int(n) => Some(int(n)),
        Live::Float(x) => Some(object(Class::Float, x.to_bits(), Vec::new())),
        Live::Bool(truth) => Some(vm.truth(truth)),
        Live::Null | Live::Virtual(_) => None,
    };
    for (k, local) in live.locals {
        frame.set(k as usize, value(local));
    }
    frame.top.set(frame.function.hot.code().locals.len());
    for entry in live.stack {
        frame.push(value(entry));
    }
    frame.function.hot.left(&exit);
    let result = match record.kind.raises() {
        true => None,
        false => give(vm.interpret(frame, record.pc)),
    };
    if exit.entry() == Entry::Function {
        drop_frame(vm, frame);
    }
    result
}

fn declare(host: &mut HostBuilder) {
    type Call = extern "C" fn(&'static Vm, &'static Function, *const Value, i64) -> Option<Value>;
    type New = extern "C" fn(&'static Vm, &'static Function) -> &'static Frame;
    type Drop = extern "C" fn(&'static Vm, &'static Frame);
    host.define("call_interpreted", call_interpreted as Call);
    host.define("exit", exit as extern "C" fn(_, _, _) -> _);
    host.define("new_frame", new_frame as New);
    host.define("drop_frame", drop_frame as Drop);
    host.class(Field::new("token", offset_of!(Object, token), Width::Ptr));
    host.frame_slots(offset_of!(Frame, slots) as i32);
    host.frame_position(offset_of!(Frame, position));
    host.traced(offset_of!(Vm, native) as i32).uninterrupted();
}

impl Vm {
    /// A runtime with the functions of a document.
    pub fn new(document: &str) -> Result<Vm, Box<dyn Error>> {
        let id = HostId::new();
        for class in CHAPTERS.iter().flat_map(|chapter| chapter.classes) {
            let bases: &[Class] = match class {
                Class::Object => &[],
                Class::Bool => &[Class::Long, Class::Object],
                _ => &[Class::Object],
            };
            let bases = bases.iter().filter_map(|base| id.builtin_class(*base));
            let desc = ClassDesc::builtin(*class, bases.collect());
            id.register_class(desc.with_token(token(*class) as u64))?;
        }
        let singletons = [(Class::NoneType, 0), (Class::Bool, 0), (Class::Bool, 1)];
        let singletons = singletons.map(|(class, bits)| object(class, bits, Vec::new()));
        let [none, no, yes] = singletons.map(|value| std::ptr::from_ref(value) as u64);
        let mut host = HostBuilder::new("first", id);
        host.partial().singletons(none, yes, no);
        declare(&mut host);
        CHAPTERS
            .iter()
            .for_each(|chapter| (chapter.declare)(&mut host));
        let host = Arc::new(host.finish()?);
        let memory = CodeMemory::new(Config::new().limit(1 << 24))?;
        let mut functions = HashMap::new();
        for mut code in Document::parse(document)?.codes {
            code.verify()?;
            let name = code.name.clone();
            let constants = constants(&mut code, id)?;
            let hot = Hot::new(Arc::new(code), None);
            let function: &Function = Box::leak(Box::new(Function { hot, constants }));
            functions.insert(name, function);
        }
        Ok(Vm {
            engine: RefCell::new(Engine::new(host.clone(), memory)?),
            threshold: Cell::new(10),
            host,
            native: NativeStack::new(),
            functions,
            singletons,
        })
    }
}

/// The objects of a function's constants, which the compiler knows by their addresses.
fn constants(code: &mut Code, id: HostId) -> Result<Vec<Value>, Box<dyn Error>> {
    let mut values = Vec::new();
    for constant in &mut code.consts {
        let value = match constant.value {
            ConstValue::Int(n) => int(n),
            ConstValue::Float(x) => object(Class::Float, x.to_bits(), Vec::new()),
            _ => return Err("a constant that is no number".into()),
        };
        let class = id
            .builtin_class(value.class)
            .ok_or("a class of a later chapter")?;
        let desc = ObjectDesc::new(constant.value.to_string(), class);
        constant.object = id.register_object(desc.with_token(std::ptr::from_ref(value) as u64))?;
        values.push(value);
    }
    Ok(values)
}
