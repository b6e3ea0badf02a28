//! A small runtime with Python-like objects, an interpreter for typed bytecode, and the compiler.
//!
//! A [`Runtime`] belongs to the thread that created it. `heap`, `dict`, `class`, `number` are its
//! objects; `ops`, `iter`, `call`, `names`, `builtins` are their operations; `interp` and `frame`
//! run bytecode; `intrinsics`, `helpers`, `world`, `units`, `chaos` are its interface to the
//! compiler, and the part to read for an embedding. Deliberately absent: generators, modules,
//! descriptors other than functions, `__class__` assignment, weak references, collection of cycles.

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
use cladonia::engine::{Engine, Entry, Execution, OracleCounts, Planted, Unit, Verification};
use cladonia::host::{Host, HostBuilder};
use cladonia::types::{ClassHandle, HostId, ObjectDesc, ObjectHandle, Type};
use class::Class;
use error::Raised;
use frame::{FrameRef, Thread};
use heap::{Function, Kind, Obj, Ref, alloc};
use std::cell::{Cell, OnceCell, RefCell};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// The result of an operation, or the exception that it raised.
pub type Result<T> = std::result::Result<T, Raised>;

/// Options for running programs.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// True to compile hot code.
    pub jit: bool,
    /// Calls of a function in the interpreter before it is compiled.
    pub call_threshold: u64,
    /// Iterations of a loop before it is.
    pub loop_threshold: u64,
    /// Failures of one speculation before it is not repeated.
    pub patience: u64,
    /// Exits to force though their guards hold.
    pub force: Option<Force>,
    /// Compile, invalidate and disturb at random.
    pub chaos: bool,
    /// True to offer functions for inlining.
    pub inline: bool,
    /// The seed of random choices.
    pub seed: u64,
    /// The most frames.
    pub max_depth: u64,
    /// The most steps (instructions of the interpreter, objects that are compared or written).
    /// After that the runtime gives up: every operation raises.
    pub max_steps: u64,
    /// The most items of a sequence, or bits of an int, that an operator creates.
    pub max_size: usize,
    /// The most units.
    pub max_units: u64,
    /// Keep the text of every stage with each unit.
    pub keep_text: bool,
    /// The form of execution of units: machine code or the LIR interpreter.
    pub execution: Execution,
    /// A planted fault, which a comparison must find.
    pub planted: Option<Planted>,
}

/// The exits that are forced though their guards hold.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Force {
    /// Each exit of a unit once: at the first time that control reaches its guard.
    First,
    /// Each exit at random, once in at most this number of times.
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

/// Called for each unit: the code's name, the unit's entry, and the unit.
pub type Observer = Box<dyn FnMut(&str, Entry, &Unit)>;

/// A step of the interpreter in a frame.
pub enum Step<'a> {
    /// It is about to run an instruction.
    Before(Pc),
    /// It returned this value.
    Returned(&'a Ref),
    /// It raised this exception.
    Raised(&'a Ref),
}

/// Called for each step of the interpreter.
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
    /// Objects with handles, by address.
    objects: RefCell<HashMap<usize, ObjectHandle>>,
    /// Namespaces with tokens, by address.
    namespaces: RefCell<HashSet<u64>>,
    is_closing: Cell<bool>,
    steps: Cell<u64>,
    /// True after a program violated the rules of the bytecode.
    is_broken: Cell<bool>,
    max_steps: Cell<u64>,
    /// The printed text.
    output: RefCell<String>,
    /// The trace of the pending exception, the innermost place first.
    trace: RefCell<Vec<(String, u32)>>,
    on_compile: RefCell<Option<Observer>>,
    on_step: RefCell<Option<StepObserver>>,
    is_observed: Cell<bool>,
}

/// An object that is created when the runtime already exists.
#[derive(Default)]
struct Late(OnceCell<Ref>);

impl std::ops::Deref for Late {
    type Target = Ref;
    fn deref(&self) -> &Ref {
        self.0.get().expect("the runtime is complete")
    }
}

thread_local! {
    /// The number of mortal objects.
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

    /// Changes the options from now on.
    pub fn set_options(&self, options: Options) {
        self.rt().options.set(options);
        self.rt().max_steps.set(options.max_steps);
        self.rt().steps.set(0);
    }

    /// The description of the host for the compiler.
    pub fn host(&self) -> &Arc<Host> {
        &self.rt().host
    }

    /// Takes the printed text.
    pub fn take_output(&self) -> String {
        self.rt().output.take()
    }

    /// The compiler's statistics.
    pub fn statistics(&self) -> units::Statistics {
        self.rt().jit.statistics()
    }

    /// Statistics of the LIR interpreter in place of machine code.
    pub fn oracle_counts(&self) -> OracleCounts {
        self.rt().jit.oracle_counts()
    }

    /// Returns true if the runtime has made more steps than it may.
    pub fn gave_up(&self) -> bool {
        self.rt().steps.get() > self.rt().max_steps.get()
    }

    /// Returns true if an instruction violated the bytecode's rules (a local that should be bound
    /// is not, or there is a null instead of an object). The results of such a program are
    /// meaningless.
    pub fn is_broken(&self) -> bool {
        self.rt().is_broken.get()
    }

    /// Sets the observer of units.
    pub fn on_compile(&self, observer: Observer) {
        *self.rt().on_compile.borrow_mut() = Some(observer);
    }

    /// Sets the observer of the interpreter's steps.
    pub fn on_step(&self, observer: StepObserver) {
        *self.rt().on_step.borrow_mut() = Some(observer);
        self.rt().is_observed.set(true);
    }

    /// Compiles a code for its text forms (with objects of this runtime, or of a simulated host).
    ///
    /// # Errors
    /// The reason why it is not compiled.
    pub fn compile_text(
        &self,
        code: &Code,
        entry: Entry,
        live: &[Type],
    ) -> std::result::Result<Unit, String> {
        units::compile_text(code, entry, live)
    }

    /// The current number of mortal objects.
    pub fn live_objects(&self) -> i64 {
        LIVE.with(Cell::get)
    }

    /// Drops the compiler, also when called from native code: native code exits at its next check,
    /// and from then on everything is interpreted.
    pub fn close_compiler(&self) {
        self.rt().jit.close();
    }

    /// Invalidates all units, as if all their assumptions had changed.
    pub fn invalidate_all(&self) {
        self.rt().jit.invalidate_all();
    }

    /// An exception with its trace.
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
        // The classes and the objects that they keep alive are in cycles; their memory is not freed
        // until the process ends, and the handles are closed. The rest is freed. SAFETY: created by
        // `Box::into_raw`, and not used any more. Its references must not be dropped without it.
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

    /// Counts a step.
    fn step(&self) -> Result<()> {
        self.steps.set(self.steps.get() + 1);
        if self.steps.get() > self.max_steps.get() {
            return error::raise(error::SYSTEM, "too many steps");
        }
        Ok(())
    }

    /// Calls the observer of steps. It is not called for steps during that.
    fn tell_step(&self, frame: FrameRef, step: Step<'_>) {
        if self.is_observed.get()
            && let Ok(mut observer) = self.on_step.try_borrow_mut()
            && let Some(observer) = &mut *observer
        {
            observer(frame, step);
        }
    }

    /// Returns true if an operator may create an object of this size.
    fn may_make(&self, size: usize) -> bool {
        size <= self.options.get().max_size
    }

    fn small_int(&self, value: i64) -> Option<Ref> {
        let index = usize::try_from(value.checked_add(5)?).ok()?;
        self.small_ints.get()?.get(index).cloned()
    }

    /// The shared string of a character, if there is one.
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
        let desc = ObjectDesc::new(name, object.class().handle)
            .with_immortal(object.is_immortal())
            .denoting(object.get::<Class>().map(|class| class.handle))
            .with_token(address as u64);
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
        // SAFETY: objects in the table are alive: `forget` removes them.
        Some(unsafe { Ref::from_borrowed(address as Obj) })
    }

    fn class_object(&self, class: ClassHandle) -> Option<Ref> {
        let address = class.token();
        if address == 0 || self.host_id.class_by_token(address) != Some(class) {
            return None;
        }
        // SAFETY: a class forgets its handle when it is deallocated.
        Some(unsafe { Ref::from_borrowed(address as Obj) })
    }

    /// A namespace by its token in codes.
    fn namespace(&self, token: u64) -> Option<Ref> {
        let known = self.namespaces.borrow().contains(&token);
        // SAFETY: namespaces in the table are alive: `forget` removes them.
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
        let namespace = if token == self.builtins.as_ptr() as u64 {
            Some(self.builtins.clone())
        } else {
            self.namespace(token)
        };
        if let Some(dict) = namespace.as_ref().and_then(|n| n.get::<dict::Dict>()) {
            dict.is_watched.set(true);
        }
    }

    /// Called when an object is deallocated: its handle is forgotten too.
    fn forget(&self, object: Obj) {
        self.namespaces.borrow_mut().remove(&(object as u64));
        let handle = self.objects.borrow_mut().remove(&(object as usize));
        if let Some(handle) = handle {
            // SAFETY: the object's memory is still allocated.
            let is_function = unsafe { heap::borrow(object) }.get::<Function>().is_some();
            if is_function {
                units::function_dies(handle);
            }
            handle.forget();
        }
    }
}

/// Describes this runtime to the compiler.
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

/// The compiler's checks of its own work that the environment variable `CLADONIA_VERIFY` requests.
pub fn verification() -> Verification {
    Verification::named(std::env::var("CLADONIA_VERIFY").ok().as_deref())
}

fn engine(
    host: Arc<Host>,
    options: &Options,
) -> std::result::Result<Engine, Box<dyn std::error::Error>> {
    let memory = CodeMemory::new(Config::new().limit(64 << 20))?;
    let mut engine = Engine::new(host, memory)?;
    let compiling = cladonia::engine::CompileOptions::new()
        .keep_dumps(options.keep_text)
        .execution(options.execution)
        .plant(options.planted)
        .verify(verification());
    engine.set_options(compiling);
    Ok(engine)
}

/// A namespace for programs' globals.
fn new_namespace() -> Ref {
    let namespace = alloc::dict();
    rt().namespaces
        .borrow_mut()
        .insert(namespace.as_ptr() as u64);
    namespace
}
