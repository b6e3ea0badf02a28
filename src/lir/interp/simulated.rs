//! A simulated machine: checked memory, and helpers that are Rust closures.
//!
//! Low-level code is tested on it: each access is checked, exceptions are names, and allocations
//! that the code did not free are found at the end.

use super::{CallError, Callee, Fault, Machine, Outcome, Trap, execute};
use crate::exits::ExitId;
use crate::lir::graph::{Func, Helper, HelperId, Signature};
use crate::lir::ops::OpEffects;
use crate::ll::{CheckedMemory, Memory, MemoryError, Shape, Width};
use cranelift_entity::PrimaryMap;
use std::collections::HashMap;
use std::rc::Rc;

/// The body of a helper: it may allocate, and [raise](Simulated::raise).
pub type HelperBody = Rc<dyn Fn(&mut Simulated, &[u64]) -> Result<[u64; 2], Trap>>;

/// The simulated machine.
#[derive(Default)]
pub struct Simulated {
    /// Its memory.
    pub memory: CheckedMemory,
    helpers: HashMap<&'static str, (HelperBody, OpEffects)>,
    functions: HashMap<u64, Rc<Func>>,
    /// Declarations of the helpers, which functions that are called by address use too.
    declared: PrimaryMap<HelperId, Helper>,
    raised: Option<String>,
    blocks: u64,
}

/// The most blocks of an execution.
const MAX_BLOCKS: u64 = 10_000_000;

/// The reason why an interpretation returned no values.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Failure {
    /// It raised an exception.
    #[error("raised {0}")]
    Raised(String),
    /// It took an exit, without an exception.
    #[error("took {exit} with {words:x?}")]
    Exit {
        /// The record's number.
        exit: ExitId,
        /// Its words.
        words: Vec<u64>,
    },
    /// An intrinsic does not apply.
    #[error("the operation does not apply")]
    Fail,
    /// It violated a rule.
    #[error("{0}")]
    Fault(#[from] Box<Fault>),
    /// It allocated objects that it neither freed nor passed to an owner.
    #[error("not freed: {}", .0.join(", "))]
    Leaks(Vec<String>),
    /// It raised another exception than the expected one, or none.
    #[error("expected {expected}, found {found}")]
    NotRaised {
        /// The exception that was expected.
        expected: String,
        /// The actual outcome.
        found: String,
    },
}

impl Simulated {
    /// A machine without helpers.
    pub fn new() -> Simulated {
        Simulated::default()
    }

    /// Adds a helper, and declares it to LIR. Its effects must be within `effects`.
    pub fn helper(
        &mut self,
        name: &'static str,
        signature: Signature,
        effects: OpEffects,
        body: impl Fn(&mut Simulated, &[u64]) -> Result<[u64; 2], Trap> + 'static,
    ) -> HelperId {
        self.helpers.insert(name, (Rc::new(body), effects));
        self.declared.push(Helper {
            name,
            address: 0,
            signature,
            effects: None,
        })
    }

    /// The declarations of its helpers.
    pub fn helpers(&self) -> &PrimaryMap<HelperId, Helper> {
        &self.declared
    }

    /// Gives a function an address, through which it can be called.
    ///
    /// # Errors
    /// If there is not enough memory.
    pub fn function(&mut self, func: Func) -> Result<u64, MemoryError> {
        // It has an address but no cells: no data may be read there.
        let shape = Shape {
            bytes: 8,
            ..Shape::default()
        };
        let address = self.memory.allocate(&func.name, &shape, 0)?;
        self.functions.insert(address, Rc::new(func));
        Ok(address)
    }

    /// Makes an exception of this name pending.
    pub fn raise(&mut self, exception: &str) {
        self.raised = Some(exception.to_owned());
    }

    /// Takes the pending exception.
    pub fn take_raised(&mut self) -> Option<String> {
        self.raised.take()
    }
}

impl Memory for Simulated {
    fn load(&mut self, width: Width, address: u64) -> Result<u64, MemoryError> {
        self.memory.load(width, address)
    }

    fn store(&mut self, width: Width, address: u64, bits: u64) -> Result<(), MemoryError> {
        self.memory.store(width, address, bits)
    }

    fn allocate(&mut self, name: &str, shape: &Shape, items: u64) -> Result<u64, MemoryError> {
        self.memory.allocate(name, shape, items)
    }

    fn release(&mut self, address: u64) -> Result<(), MemoryError> {
        self.memory.release(address)
    }
}

impl Machine for Simulated {
    fn call(
        &mut self,
        callee: Callee<'_>,
        sig: &Signature,
        args: &[u64],
    ) -> Result<[u64; 2], Trap> {
        let address = match callee {
            Callee::Helper(helper) => {
                let body = self.helpers.get(helper.name).cloned();
                let (body, effects) =
                    body.ok_or_else(|| CallError::Unknown(helper.name.to_owned()))?;
                let (before, raised) = (self.memory.counts(), self.raised.is_some());
                let results = body(self, args)?;
                let (after, raises) = (self.memory.counts(), self.raised.is_some());
                let OpEffects {
                    allocates,
                    releases,
                    raises: may_raise,
                    ..
                } = effects;
                let found = [
                    (raises && !raised && !may_raise, "raises"),
                    (after.0 > before.0 && !allocates, "allocates"),
                    (after.1 > before.1 && !releases, "releases"),
                ];
                return match found.iter().find(|(is_wrong, _)| *is_wrong) {
                    Some((_, what)) => Err(Trap::Helper(format!(
                        "`{}` {what}, which its effects do not declare",
                        helper.name
                    ))),
                    None => Ok(results),
                };
            }
            Callee::Address(0) => return Err(CallError::Null.into()),
            Callee::Address(address) => address,
        };
        let func = self.functions.get(&address).cloned();
        let func = func.ok_or_else(|| CallError::Unknown(format!("{address:#x}")))?;
        if func.signature != *sig {
            return Err(Trap::Helper(format!(
                "`{}` is {} but is called as {sig}",
                func.name, func.signature
            )));
        }
        let helpers = self.declared.clone();
        match execute(&func, &helpers, args, self) {
            Ok(Outcome::Return(words)) => {
                let word = |n| words.get(n).copied().unwrap_or(0);
                Ok([word(0), word(1)])
            }
            Ok(_) => Err(Trap::Malformed("a called function takes an exit")),
            Err(fault) => Err(Trap::Helper(fault.to_string())),
        }
    }

    fn stack_pointer(&self) -> u64 {
        1 << 30
    }

    fn step(&mut self) -> Result<(), Trap> {
        self.blocks += 1;
        if self.blocks > MAX_BLOCKS {
            return Err(Trap::TooLong { limit: MAX_BLOCKS });
        }
        Ok(())
    }
}

/// Interprets a function. Returns its results. Everything that it allocates must be freed when it
/// ends.
///
/// # Errors
/// A [`Failure`] if it ended in another way.
pub fn interpret(func: &Func, args: &[u64], machine: &mut Simulated) -> Result<Vec<u64>, Failure> {
    let before = machine.memory.alive();
    let helpers = machine.declared.clone();
    machine.blocks = 0;
    let outcome = execute(func, &helpers, args, machine)?;
    if let Some(exception) = machine.take_raised() {
        return Err(Failure::Raised(exception));
    }
    let words = match outcome {
        Outcome::Return(words) => words,
        Outcome::Fail => return Err(Failure::Fail),
        Outcome::Exit { exit, words } => return Err(Failure::Exit { exit, words }),
    };
    let mut leaks = machine.memory.alive();
    leaks.retain(|name| !before.contains(name));
    if leaks.is_empty() {
        Ok(words)
    } else {
        Err(Failure::Leaks(leaks))
    }
}

/// Interprets a function that must raise this exception.
///
/// # Errors
/// [`Failure::NotRaised`] if it ends in another way.
pub fn interpret_raises(
    exception: &str,
    func: &Func,
    args: &[u64],
    machine: &mut Simulated,
) -> Result<(), Failure> {
    let found = match interpret(func, args, machine) {
        Err(Failure::Raised(found)) if found == exception => return Ok(()),
        Err(failure) => failure.to_string(),
        Ok(words) => format!("the result {words:x?}"),
    };
    Err(Failure::NotRaised {
        expected: exception.to_owned(),
        found,
    })
}
