//! The compiler: made when something is first to be compiled, and absent while it is at work, so that nothing it runs can ask it again.
//!
//! Describing the interpreter to it is nearly half of the instructions of loading this module, and takes memory that a process needs
//! only if something in it is compiled. What may turn out not to fit this interpreter is looked at at the start all the same.

use super::Gil;
use super::capi::Object;
use super::compiling::Refusal;
use crate::world::{Anywhere, Known};
use cladonia::bytecode::Code;
use cladonia::code::CodeMemory;
use cladonia::engine::{CompileError, Engine};
use cladonia::host::{Host, World};
use cladonia::types::Type;
use std::cell::{OnceCell, RefCell};
use std::sync::Arc;

/// What turns the interpreter's things into the compiler's: given once, at the start.
#[derive(Clone, Copy)]
pub struct Front {
    /// A compiler with this code memory, or why there can't be one.
    pub make: fn(memory: CodeMemory) -> Result<Engine, String>,
    /// A code object as typed bytecode, with the globals and builtins it runs with.
    pub translate:
        fn(code: Object, globals: Object, builtins: Object) -> Result<Code, CompileError>,
    /// The type of a live value (or of an empty slot).
    pub live_type: fn(value: Object) -> Type,
    /// The program as it is now, for code with these globals and builtins.
    pub world: for<'a> fn(
        host: &Host,
        code: Object,
        globals: Object,
        builtins: Object,
        known: Known<'a>,
    ) -> Box<dyn World + 'a>,
}

/// See the head of this file.
pub struct Compiler {
    state: RefCell<State>,
    /// What the interpreter is described by, once it was, and what follows from that alone.
    host: OnceCell<(Arc<Host>, Arc<Anywhere>)>,
}

enum State {
    /// Nothing was compiled yet.
    Unmade(CodeMemory),
    Idle(Box<Engine>),
    AtWork,
    /// There can't be one, which is lasting.
    Failed(String),
}

impl Compiler {
    /// One that will put its code into this memory.
    pub fn new(memory: CodeMemory) -> Compiler {
        Compiler {
            state: RefCell::new(State::Unmade(memory)),
            host: OnceCell::new(),
        }
    }

    /// The description of the interpreter, if there is a compiler, and what follows from that alone.
    pub fn host(&self) -> Option<&(Arc<Host>, Arc<Anywhere>)> {
        self.host.get()
    }

    /// Whether it is at work.
    pub fn is_at_work(&self) -> bool {
        matches!(*self.state.borrow(), State::AtWork)
    }

    /// Take the engine out, made if there was none. The caller returns it with [`Compiler::put_back`] when it has compiled; until then
    /// others find the compiler at work.
    ///
    /// # Errors
    /// [`Refusal::Busy`] if it is at work, [`Refusal::Lasting`] if there can't be one.
    pub fn take(&self, gil: Gil) -> Result<Box<Engine>, Refusal> {
        match self.state.replace(State::AtWork) {
            State::Idle(engine) => Ok(engine),
            State::AtWork => Err(Refusal::Busy),
            State::Failed(reason) => {
                self.state.replace(State::Failed(reason.clone()));
                Err(Refusal::Lasting(reason))
            }
            State::Unmade(memory) => match (gil.runtime().front.make)(memory) {
                Ok(mut engine) => {
                    engine.set_cache(gil.runtime().code_cache());
                    self.host.get_or_init(|| {
                        let host = engine.host().clone();
                        let anywhere = Anywhere::new(&host);
                        (host, Arc::new(anywhere))
                    });
                    Ok(Box::new(engine))
                }
                Err(reason) => {
                    self.state.replace(State::Failed(reason.clone()));
                    Err(Refusal::Lasting(reason))
                }
            },
        }
    }

    /// It has done its work.
    pub fn put_back(&self, engine: Box<Engine>) {
        self.state.replace(State::Idle(engine));
    }

    /// Do something with it, unless it is at work or there can't be one.
    pub fn with<R>(&self, gil: Gil, act: impl FnOnce(&mut Engine) -> R) -> Option<R> {
        let mut engine = self.take(gil).ok()?;
        let result = act(&mut engine);
        self.put_back(engine);
        Some(result)
    }

    /// This is a forked child: the code memory is its parent's.
    pub fn after_fork_in_child(&self) {
        match &*self.state.borrow() {
            State::Unmade(memory) => memory.after_fork_in_child(),
            State::Idle(engine) => engine.memory().after_fork_in_child(),
            State::AtWork | State::Failed(_) => {}
        }
    }

    /// Do something with it if it was made and is not at work.
    pub fn if_made<R>(&self, act: impl FnOnce(&mut Engine) -> R) -> Option<R> {
        match &mut *self.state.borrow_mut() {
            State::Idle(engine) => Some(act(engine)),
            _ => None,
        }
    }
}
