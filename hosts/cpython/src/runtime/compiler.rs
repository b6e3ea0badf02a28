//! The compiler: created for the first compile, and absent while it is at work, so that code which
//! it runs cannot request another compile.
//!
//! Describing the interpreter to it takes nearly half of the instructions of loading this module,
//! and memory that a process needs only if something is compiled. Checks that may reject this
//! interpreter run at the start all the same.

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

/// Translates the interpreter's objects into the compiler's input; set once, at the start.
#[derive(Clone, Copy)]
pub struct Front {
    /// A compiler with this code memory, or the reason why there can't be one.
    pub make: fn(memory: CodeMemory) -> Result<Engine, String>,
    /// A code object as typed bytecode, with the globals and builtins it runs with.
    pub translate:
        fn(code: Object, globals: Object, builtins: Object) -> Result<Code, CompileError>,
    /// The type of a live value (or of an empty slot).
    pub live_type: fn(value: Object) -> Type,
    /// The `World` of the program as it is now, for code with these globals and builtins.
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
    /// The description of the interpreter, and the answers that follow from it alone; empty before
    /// the first compile.
    host: OnceCell<(Arc<Host>, Arc<Anywhere>)>,
}

enum State {
    /// Nothing was compiled yet.
    Unmade(CodeMemory),
    Idle(Box<Engine>),
    AtWork,
    /// There can't be one, permanently.
    Failed(String),
}

impl Compiler {
    /// A compiler, not created yet, that will put its code into this memory.
    pub fn new(memory: CodeMemory) -> Compiler {
        Compiler {
            state: RefCell::new(State::Unmade(memory)),
            host: OnceCell::new(),
        }
    }

    /// The description of the interpreter, and the answers that follow from it alone, if there is a
    /// compiler.
    pub fn host(&self) -> Option<&(Arc<Host>, Arc<Anywhere>)> {
        self.host.get()
    }

    /// True while it is at work.
    pub fn is_at_work(&self) -> bool {
        matches!(*self.state.borrow(), State::AtWork)
    }

    /// Takes the engine out, creating it on first use. The caller returns it with
    /// [`Compiler::put_back`] after the compile; until then the compiler is at work for all others.
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

    /// Returns the engine after its work.
    pub fn put_back(&self, engine: Box<Engine>) {
        self.state.replace(State::Idle(engine));
    }

    /// Calls `act` with the engine, unless it is at work or there can't be one.
    pub fn with<R>(&self, gil: Gil, act: impl FnOnce(&mut Engine) -> R) -> Option<R> {
        let mut engine = self.take(gil).ok()?;
        let result = act(&mut engine);
        self.put_back(engine);
        Some(result)
    }

    /// Adjusts to a fork in the child: the code memory is its parent's.
    pub fn after_fork_in_child(&self) {
        match &*self.state.borrow() {
            State::Unmade(memory) => memory.after_fork_in_child(),
            State::Idle(engine) => engine.memory().after_fork_in_child(),
            State::AtWork | State::Failed(_) => {}
        }
    }

    /// Calls `act` with the engine if it was created and is not at work.
    pub fn if_made<R>(&self, act: impl FnOnce(&mut Engine) -> R) -> Option<R> {
        match &mut *self.state.borrow_mut() {
            State::Idle(engine) => Some(act(engine)),
            _ => None,
        }
    }
}
