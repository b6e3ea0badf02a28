//! CompileOptions of an engine's compiles.

use super::oracle::{Execution, Planted};
use crate::opt::Pass;

/// CompileOptions of an engine's compiles: see [`Engine::set_options`](super::Engine::set_options).
///
/// ```
/// use cladonia::engine::{CompileOptions, Verification, optional_passes};
///
/// let options = CompileOptions::new()
///     .keep_dumps(true)
///     .verify(Verification::Passes)
///     .without(optional_passes("inline").expect("a pass of this name"));
/// assert!(options.keeps_dumps());
/// ```
#[derive(Clone, Debug, Default)]
pub struct CompileOptions {
    pub(super) keep_dumps: bool,
    pub(super) execution: Execution,
    pub(super) planted: Option<Planted>,
    pub(super) check_facts: bool,
    pub(super) verification: Verification,
    pub(super) without: Vec<Pass>,
}

impl CompileOptions {
    /// The default options: machine code by all passes, without dumps.
    pub fn new() -> CompileOptions {
        CompileOptions::default()
    }

    /// Keeps the text of every stage with each unit, for
    /// [`UnitHandle::dump`](super::UnitHandle::dump).
    pub fn keep_dumps(mut self, keep: bool) -> CompileOptions {
        self.keep_dumps = keep;
        self
    }

    /// Sets the form of execution.
    pub fn execution(mut self, execution: Execution) -> CompileOptions {
        self.execution = execution;
        self
    }

    /// Emits checks for facts about memory. If a check fails, the process ends with a message. For
    /// tests.
    pub fn check_facts(mut self, check: bool) -> CompileOptions {
        self.check_facts = check;
        self
    }

    /// Sets the checks of the compiler's own work.
    pub fn verify(mut self, verification: Verification) -> CompileOptions {
        self.verification = verification;
        self
    }

    /// Leaves out these passes: see [`optional_passes`](super::optional_passes).
    pub fn without(mut self, passes: impl Into<Vec<Pass>>) -> CompileOptions {
        self.without = passes.into();
        self
    }

    /// Plants a fault.
    #[doc(hidden)]
    pub fn plant(mut self, fault: Option<Planted>) -> CompileOptions {
        self.planted = fault;
        self
    }

    /// Returns true if units keep the text of every stage.
    pub fn keeps_dumps(&self) -> bool {
        self.keep_dumps
    }
}

/// The checks that the compiler makes of its own work. A fault is an internal
/// [`CompileError`](super::CompileError).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Verification {
    /// None.
    Off,
    /// HIR is verified after each pass, and exit records when they are created.
    Passes,
    /// Besides, the balance of references is audited on selected HIR.
    References,
}

impl Default for Verification {
    /// `Passes` in debug builds of this crate, `Off` in release builds.
    fn default() -> Verification {
        if cfg!(debug_assertions) {
            Verification::Passes
        } else {
            Verification::Off
        }
    }
}

impl Verification {
    /// The checks that a user asks for by a word, as the hosts in the repository take it from the
    /// environment variable `CLADONIA_VERIFY`: `references`, or any other word for `Passes`.
    /// Without a word it is the default.
    pub fn named(word: Option<&str>) -> Verification {
        match word {
            Some("references") => Verification::References,
            Some(_) => Verification::Passes,
            None => Verification::default(),
        }
    }
}
