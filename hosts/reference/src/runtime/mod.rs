//! A small runtime with Python-like objects, an interpreter for typed bytecode, and the compiler.
//!
//! [`Runtime`] is one such world: it belongs to the thread that made it. `heap`, `dict`, `class`, `number` are its
//! objects; `ops`, `iter`, `call`, `names`, `builtins` what can be done with them; `interp` and `frame` run bytecode;
//! `intrinsics`, `helpers`, `world`, `units`, `chaos` are what the compiler is told and asked, which is the part to read for an
//! embedding of one's own. Deliberately absent: generators, modules, descriptors other than functions, `__class__`
//! assignment, weak references, cycles' collection.

mod belongs;
pub mod builtins;
pub mod call;
mod chaos;
pub mod class;
pub mod code;
pub mod dict;
pub mod error;
pub mod frame;
pub mod heap;
mod helpers;
mod inlined;
pub mod interp;
mod intrinsics;
pub mod iter;
pub mod load;
mod names;
pub mod number;
pub mod ops;
pub mod units;
pub mod world;

pub use belongs::belongs;
use builtins::Classes;
use cladonia::bytecode::{Code, Pc};
use cladonia::code::{CodeMemory, Config};
use cladonia::engine::{Engine, Entry, Execution, OracleCounts, Planted, Unit};
use cladonia::host::{Host, HostBuilder};
use cladonia::types::{ClassHandle, HostId, ObjectDesc, ObjectHandle, Type};
use class::Class;
use error::Raised;
use frame::{FrameRef, Thread};
use heap::{Function, Kind, Obj, Ref, alloc};
use std::cell::{Cell, OnceCell, RefCell};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// What an operation gives, or the exception it raised.
pub type Result<T> = std::result::Result<T, Raised>;

/// How a runtime runs programs.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Whether hot code is compiled.
    pub jit: bool,
    /// Calls of a function in the interpreter before it is compiled.
    pub call_threshold: u64,
    /// Rounds of a loop before it is.
    pub loop_threshold: u64,
    /// Failures of one bet before it is not made again.
    pub patience: u64,
    /// Take exits of guards that hold.
    pub force: Option<Force>,
    /// Compile, invalidate and disturb at random.
    pub chaos: bool,
    /// Whether functions are offered to be inlined.
    pub inline: bool,
    /// What random choices follow from.
    pub seed: u64,
    /// How many frames there may be.
    pub max_depth: u64,
    /// How many steps (instructions of the interpreter, objects that are compared or written) are made before the
    /// runtime gives up: from then on everything raises.
    pub max_steps: u64,
    /// How many items a sequence, or bits an int, may have that an operator makes.
    pub max_size: usize,
    /// How many units are made at most.
    pub max_units: u64,
    /// Keep the text of every stage with each unit.
    pub keep_text: bool,
    /// Whether units are machine code or run in the LIR interpreter.
    pub execution: Execution,
    /// A fault put into the units, to show that it is found.
    pub planted: Option<Planted>,
}

/// Which exits are taken though their guards hold.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Force {
    /// Each exit of a unit once: when it is first come to.
    First,
    /// Each exit at random, once in at most so many times.
    Random(u64),
}

impl std::str::FromStr for Force {
    type Err = String;

    /// `first`, or a number.
    fn from_str(text: &str) -> std::result::Result<Force, String> {
        match text.parse() {
            _ if text == "first" => Ok(Force::First),
            Ok(period) if period > 0 => Ok(Force::Random(period)),
            _ => Err("`first`, or a number that is not 0".into()),
        }
    }
}

impl Default for Options {
    fn default() -> Options {
        Options {
            jit: true,
            call_threshold: 2,
            loop_threshold: 10,
            patience: 4,
            force: None,
            chaos: false,
            inline: true,
            seed: 1,
            max_depth: 400,
            max_steps: u64::MAX,
            max_size: 1 << 20,
            max_units: u64::MAX,
            keep_text: false,
            execution: Execution::Machine,
            planted: None,
        }
    }
}

/// What is told of each unit: the code's name, where the unit begins, and the unit.
pub type Observer = Box<dyn FnMut(&str, Entry, &Unit)>;

/// What the interpreter is about to do, or did, in a frame.
pub enum Step<'a> {
    /// An instruction.
    Before(Pc),
    /// It returned this.
    Returned(&'a Ref),
    /// It raised this.
    Raised(&'a Ref),
}

/// What is told of each step of the interpreter.
pub type StepObserver = Box<dyn FnMut(FrameRef, Step<'_>)>;

/// A runtime.
pub struct Runtime {
    thread: Thread,
    host_id: HostId,
    host: Arc<Host>,
    jit: units::Jit,
    options: Cell<Options>,
    classes: Classes,
    none: Ref,
    true_: Ref,
    false_: Ref,
    not_implemented: Ref,
    builtins: Late,
    build_class: Late,
    exceptions: RefCell<HashMap<&'static str, Ref>>,
    small_ints: OnceCell<Vec<Ref>>,
    /// The strings of one ASCII character.
    characters: OnceCell<Vec<Ref>>,
    /// Objects that the compiler knows, by address.
    objects: RefCell<HashMap<usize, ObjectHandle>>,
    /// Namespaces that the compiler knows, by address.
    namespaces: RefCell<HashSet<u64>>,
    is_closing: Cell<bool>,
    steps: Cell<u64>,
    /// Whether a program broke the rules of the bytecode.
    is_broken: Cell<bool>,
    max_steps: Cell<u64>,
    /// What was printed.
    output: RefCell<String>,
    /// Where the pending exception came through, the innermost first.
    trace: RefCell<Vec<(String, u32)>>,
    on_compile: RefCell<Option<Observer>>,
    on_step: RefCell<Option<StepObserver>>,
    is_observed: Cell<bool>,
}

/// An object that is made when the runtime is already there.
#[derive(Default)]
struct Late(OnceCell<Ref>);

impl std::ops::Deref for Late {
    type Target = Ref;
    fn deref(&self) -> &Ref {
        self.0.get().expect("the runtime is complete")
    }
}

thread_local! {
    /// Mortal objects there are.
    static LIVE: Cell<i64> = const { Cell::new(0) };
    static CURRENT: Cell<*const Runtime> = const { Cell::new(std::ptr::null()) };
}

fn count_objects(more: i64) {
    LIVE.with(|live| live.set(live.get() + more));
}

/// The runtime of this thread.
fn rt() -> &'static Runtime {
    let current = CURRENT.with(Cell::get);
    assert!(!current.is_null(), "no runtime on this thread");
    // SAFETY: set while a `Session` lives, which borrows the runtime.
    unsafe { &*current }
}

/// A runtime on its thread. One thread has one at a time.
pub struct Session {
    runtime: *const Runtime,
}

impl Session {
    /// A new runtime, which becomes this thread's until it is dropped.
    ///
    /// # Errors
    /// If there is no code memory, or the machine is not supported.
    ///
    /// # Panics
    /// If this thread has a runtime already.
    pub fn new(options: Options) -> std::result::Result<Session, Box<dyn std::error::Error>> {
        assert!(CURRENT.with(Cell::get).is_null(), "one runtime a thread");
        let runtime = builtins::bootstrap(options)?;
        Ok(Session { runtime })
    }

    fn rt(&self) -> &Runtime {
        // SAFETY: freed by `drop` only.
        unsafe { &*self.runtime }
    }

    /// Change how programs run from now on.
    pub fn set_options(&self, options: Options) {
        self.rt().options.set(options);
        self.rt().max_steps.set(options.max_steps);
        self.rt().steps.set(0);
    }

    /// The host as the compiler knows it.
    pub fn host(&self) -> &Arc<Host> {
        &self.rt().host
    }

    /// What was printed since the last time.
    pub fn take_output(&self) -> String {
        self.rt().output.take()
    }

    /// What the compiler did.
    pub fn statistics(&self) -> units::Statistics {
        self.rt().jit.statistics()
    }

    /// What the LIR interpreter has run in place of machine code.
    pub fn oracle_counts(&self) -> OracleCounts {
        self.rt().jit.oracle_counts()
    }

    /// Whether the runtime has made more steps than it may.
    pub fn gave_up(&self) -> bool {
        self.rt().steps.get() > self.rt().max_steps.get()
    }

    /// Whether an instruction found what the bytecode's rules forbid (a local that it says is bound and is not, a null
    /// where an object is needed); what such a program does means nothing.
    pub fn is_broken(&self) -> bool {
        self.rt().is_broken.get()
    }

    /// Be told of each unit.
    pub fn on_compile(&self, observer: Observer) {
        *self.rt().on_compile.borrow_mut() = Some(observer);
    }

    /// Be told of each step of the interpreter.
    pub fn on_step(&self, observer: StepObserver) {
        *self.rt().on_step.borrow_mut() = Some(observer);
        self.rt().is_observed.set(true);
    }

    /// Compile a code for its text forms (of this runtime's objects, or of a host on paper).
    ///
    /// # Errors
    /// Why it is not compiled.
    pub fn compile_text(
        &self,
        code: &Code,
        entry: Entry,
        live: &[Type],
    ) -> std::result::Result<Unit, String> {
        units::compile_text(code, entry, live)
    }

    /// Mortal objects there are now.
    pub fn live_objects(&self) -> i64 {
        LIVE.with(Cell::get)
    }

    /// Give the compiler up, also from within what it runs: native code leaves at its next check, and from then on
    /// everything is interpreted.
    pub fn close_compiler(&self) {
        self.rt().jit.close();
    }

    /// Invalidate all units, as if everything they rely on had changed.
    pub fn invalidate_all(&self) {
        self.rt().jit.invalidate_all();
    }

    /// An exception with the places it came through.
    pub fn report(&self, raised: &Raised) -> String {
        let mut text = String::new();
        for (name, line) in self.rt().trace.borrow().iter().rev() {
            text += &format!("  in {name}, line {line}\n");
        }
        text + &error::describe(&raised.0)
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        let rt = self.rt();
        rt.is_closing.set(true);
        *rt.on_compile.borrow_mut() = None;
        rt.is_observed.set(false);
        *rt.on_step.borrow_mut() = None;
        if let Some(builtins) = rt.builtins.get::<dict::Dict>() {
            builtins.clear();
        }
        rt.jit.invalidate_all();
        rt.jit.close();
        rt.host_id.close();
        CURRENT.with(|current| current.set(std::ptr::null()));
        // The classes and what they hold live in cycles; their memory is the process's until it ends, and the handles
        // are gone. The rest is freed.
        // SAFETY: made by `Box::into_raw`; nobody uses it any more. Its references must not be dropped without it.
        unsafe { builtins::dismantle(self.runtime.cast_mut()) };
    }
}

impl Runtime {
    fn bool(&self, value: bool) -> Ref {
        if value {
            self.true_.clone()
        } else {
            self.false_.clone()
        }
    }

    /// One step more.
    fn step(&self) -> Result<()> {
        self.steps.set(self.steps.get() + 1);
        if self.steps.get() > self.max_steps.get() {
            return error::raise(error::SYSTEM, "too many steps");
        }
        Ok(())
    }

    /// Tell who wants to know of a step. Nothing is told of what happens meanwhile.
    fn tell_step(&self, frame: FrameRef, step: Step<'_>) {
        if self.is_observed.get()
            && let Ok(mut observer) = self.on_step.try_borrow_mut()
            && let Some(observer) = &mut *observer
        {
            observer(frame, step);
        }
    }

    /// Whether an operator may make something of this size.
    fn may_make(&self, size: usize) -> bool {
        size <= self.options.get().max_size
    }

    fn small_int(&self, value: i64) -> Option<Ref> {
        let index = usize::try_from(value.checked_add(5)?).ok()?;
        self.small_ints.get()?.get(index).cloned()
    }

    /// The string of a character, if that is one that there is once.
    fn character(&self, c: char) -> Option<Ref> {
        self.characters.get()?.get(c as usize).cloned()
    }

    fn exception_class(&self, name: &str) -> Ref {
        self.exceptions.borrow()[name].clone()
    }

    /// The exact class of an object, as a type.
    fn type_of(&self, object: &Ref) -> Type {
        object.class().exact()
    }

    /// The type of one object.
    fn type_of_object(&self, object: &Ref) -> Type {
        Type::from_object(self.handle_of(object))
    }

    /// The handle of an object.
    fn handle_of(&self, object: &Ref) -> ObjectHandle {
        let address = object.as_ptr() as usize;
        if let Some(known) = self.objects.borrow().get(&address) {
            return *known;
        }
        let name = match object.kind() {
            Kind::Instance => format!("{} object", object.class().name),
            _ => ops::repr(object).unwrap_or_default(),
        };
        let desc = ObjectDesc {
            immortal: object.is_immortal(),
            denotes: object.get::<Class>().map(|class| class.handle),
            token: address as u64,
            ..ObjectDesc::new(name, object.class().handle)
        };
        let handle = self
            .host_id
            .register_object(desc)
            .expect("a live object of this host");
        self.objects.borrow_mut().insert(address, handle);
        handle
    }

    /// The object of a handle, if it is alive.
    fn object_of(&self, handle: ObjectHandle) -> Option<Ref> {
        let address = handle.token() as usize;
        if self.objects.borrow().get(&address) != Some(&handle) {
            return None;
        }
        // SAFETY: objects in the table are alive: `forget` takes them out.
        Some(unsafe { Ref::from_borrowed(address as Obj) })
    }

    fn class_object(&self, class: ClassHandle) -> Option<Ref> {
        let address = class.token();
        if address == 0 || self.host_id.class_by_token(address) != Some(class) {
            return None;
        }
        // SAFETY: a class forgets its handle when it dies.
        Some(unsafe { Ref::from_borrowed(address as Obj) })
    }

    /// A namespace by the token that codes carry.
    fn namespace(&self, token: u64) -> Option<Ref> {
        let known = self.namespaces.borrow().contains(&token);
        // SAFETY: namespaces in the table are alive: `forget` takes them out.
        known.then(|| unsafe { Ref::from_borrowed(token as Obj) })
    }

    fn watch_class(&self, class: ClassHandle) {
        if let Some(object) = self.class_object(class)
            && let Some(content) = object.get::<Class>()
        {
            content.is_watched.set(true);
        }
    }

    fn watch_namespace(&self, token: u64) {
        let namespace = match token == self.builtins.as_ptr() as u64 {
            true => Some(self.builtins.clone()),
            false => self.namespace(token),
        };
        if let Some(dict) = namespace.as_ref().and_then(|n| n.get::<dict::Dict>()) {
            dict.is_watched.set(true);
        }
    }

    /// An object dies: the compiler's name for it does too.
    fn forget(&self, object: Obj) {
        self.namespaces.borrow_mut().remove(&(object as u64));
        let handle = self.objects.borrow_mut().remove(&(object as usize));
        if let Some(handle) = handle {
            // SAFETY: the object's memory is still there.
            let is_function = unsafe { heap::borrow(object) }.get::<Function>().is_some();
            if is_function {
                units::function_dies(handle);
            }
            handle.forget();
        }
    }
}

/// Describe this runtime to the compiler.
fn describe(
    id: HostId,
    none: &Ref,
    true_: &Ref,
    false_: &Ref,
) -> std::result::Result<Host, cladonia::host::HostError> {
    let mut host = HostBuilder::new("reference", id);
    let address = |object: &Ref| object.as_ptr() as u64;
    host.singletons(address(none), address(true_), address(false_));
    host.frame_slots(frame::layout::SLOTS);
    heap::declare(&mut host);
    let called = helpers::define(&mut host);
    intrinsics::define(&mut host, called, (address(true_), address(false_)));
    host.finish()
}

fn engine(
    host: Arc<Host>,
    options: &Options,
) -> std::result::Result<Engine, Box<dyn std::error::Error>> {
    let memory = CodeMemory::new(Config::new().limit(64 << 20))?;
    let mut engine = Engine::new(host, memory)?;
    engine.keep_dumps = options.keep_text;
    engine.execution = options.execution;
    engine.planted = options.planted;
    Ok(engine)
}

/// A namespace that programs' globals are in.
fn new_namespace() -> Ref {
    let namespace = alloc::dict();
    rt().namespaces
        .borrow_mut()
        .insert(namespace.as_ptr() as u64);
    namespace
}
