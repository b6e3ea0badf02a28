//! The errors of the engine. Each is an opaque value: its methods query the reason, so that reasons
//! can be added without a change of the interface, and `reason` gives it as data, for counts.

use crate::bytecode::VerifierErrors;
use crate::facts::Assumption;

/// The reason why nothing was compiled. The function then stays in the host's interpreter.
///
/// ```
/// use cladonia::engine::{CompileError, CompileReason};
///
/// /// Returns true if trying again later cannot help.
/// fn is_final(error: &CompileError) -> bool {
///     error.is_unsupported() || error.reason() == CompileReason::LimitExceeded
/// }
/// assert!(!is_final(&CompileError::engine_dropped()));
/// ```
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error(transparent)]
pub struct CompileError(Box<CompileFault>);

/// The kind of a [`CompileError`], as data.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[non_exhaustive]
pub enum CompileReason {
    /// The function has a construct that is not supported.
    Unsupported,
    /// The function is larger than the limits.
    LimitExceeded,
    /// The bytecode is not well-formed.
    BadBytecode,
    /// The function needs a helper or an intrinsic that the host, which is
    /// [partial](crate::host::HostBuilder::partial), lacks.
    Missing,
    /// The engine was dropped during the compile.
    EngineDropped,
    /// The request contradicts itself: a bug of the host.
    InvalidRequest,
    /// A bug of Cladonia.
    Internal,
}

#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub(super) enum CompileFault {
    #[error("{what} is not compiled (line {line})")]
    Unsupported { what: String, line: u32 },
    #[error("{what} exceeds the limit of {limit}")]
    LimitExceeded { what: String, limit: u64 },
    #[error("the bytecode of `{name}` is not well-formed: {errors}")]
    BadBytecode {
        name: String,
        errors: VerifierErrors,
    },
    #[error("`{function}` needs the {what} `{name}`, which the host `{host}` lacks")]
    Missing {
        function: String,
        host: &'static str,
        /// `helper` or `intrinsic`.
        what: &'static str,
        name: &'static str,
    },
    #[error("the engine was dropped")]
    EngineDropped,
    #[error("the request is wrong: {0}")]
    InvalidRequest(String),
    #[error("internal: {0}")]
    Internal(String),
}

impl From<CompileFault> for CompileError {
    fn from(fault: CompileFault) -> CompileError {
        CompileError(Box::new(fault))
    }
}

impl CompileError {
    /// An error for a bug, found where the host catches a panic or breaks off a compile.
    pub fn internal(what: impl Into<String>) -> CompileError {
        CompileFault::Internal(what.into()).into()
    }

    /// An error for a request that cannot be satisfied.
    pub fn invalid_request(what: impl Into<String>) -> CompileError {
        CompileFault::InvalidRequest(what.into()).into()
    }

    /// The error of a compile whose engine is gone.
    pub fn engine_dropped() -> CompileError {
        CompileFault::EngineDropped.into()
    }

    /// Returns the kind of the error.
    pub fn reason(&self) -> CompileReason {
        match &*self.0 {
            CompileFault::Unsupported { .. } => CompileReason::Unsupported,
            CompileFault::LimitExceeded { .. } => CompileReason::LimitExceeded,
            CompileFault::BadBytecode { .. } => CompileReason::BadBytecode,
            CompileFault::Missing { .. } => CompileReason::Missing,
            CompileFault::EngineDropped => CompileReason::EngineDropped,
            CompileFault::InvalidRequest(_) => CompileReason::InvalidRequest,
            CompileFault::Internal(_) => CompileReason::Internal,
        }
    }

    /// Returns true if the function has a construct that is not supported.
    pub fn is_unsupported(&self) -> bool {
        self.reason() == CompileReason::Unsupported
    }

    /// Returns true if the host lacks a helper or an intrinsic: see [`missing`](Self::missing).
    pub fn is_missing(&self) -> bool {
        self.reason() == CompileReason::Missing
    }

    /// Returns true for a bug of the host: wrong bytecode, or a request that contradicts itself.
    pub fn is_host_bug(&self) -> bool {
        matches!(
            self.reason(),
            CompileReason::BadBytecode | CompileReason::InvalidRequest
        )
    }

    /// Returns true for a bug of Cladonia.
    pub fn is_internal(&self) -> bool {
        self.reason() == CompileReason::Internal
    }

    /// Returns the line of the construct that is not supported.
    pub fn line(&self) -> Option<u32> {
        match &*self.0 {
            CompileFault::Unsupported { line, .. } => Some(*line),
            _ => None,
        }
    }

    /// Returns the exceeded limit.
    pub fn limit(&self) -> Option<u64> {
        match &*self.0 {
            CompileFault::LimitExceeded { limit, .. } => Some(*limit),
            _ => None,
        }
    }

    /// Returns the kind (`helper` or `intrinsic`) and the name of what the host lacks.
    pub fn missing(&self) -> Option<(&'static str, &'static str)> {
        match &*self.0 {
            CompileFault::Missing { what, name, .. } => Some((what, name)),
            _ => None,
        }
    }

    /// Returns the faults of bytecode that is not well-formed.
    pub fn verifier_errors(&self) -> Option<&VerifierErrors> {
        match &*self.0 {
            CompileFault::BadBytecode { errors, .. } => Some(errors),
            _ => None,
        }
    }
}

/// The reason why a unit was not installed.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error(transparent)]
pub struct InstallError(Box<InstallFault>);

/// The kind of an [`InstallError`], as data.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[non_exhaustive]
pub enum InstallReason {
    /// It was not compiled, for this reason.
    NotCompiled(CompileReason),
    /// An assumption of the compile changed while it was running. It may be tried again.
    Stale,
    /// The host can't watch an assumption of the unit.
    Unwatched,
    /// The job belongs to another engine.
    OtherEngine,
}

#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub(super) enum InstallFault {
    #[error(transparent)]
    NotCompiled(CompileError),
    #[error("`{name}` is stale, since an assumption changed during its compile: {assumption:?}")]
    Stale {
        name: String,
        assumption: Assumption,
    },
    #[error("`{name}` relies on an assumption that the host can't watch: {assumption:?}")]
    Unwatched {
        name: String,
        assumption: Assumption,
    },
    #[error("the job belongs to another engine")]
    OtherEngine,
}

impl From<InstallFault> for InstallError {
    fn from(fault: InstallFault) -> InstallError {
        InstallError(Box::new(fault))
    }
}

impl From<CompileError> for InstallError {
    fn from(error: CompileError) -> InstallError {
        InstallFault::NotCompiled(error).into()
    }
}

impl InstallError {
    /// Returns the kind of the error.
    pub fn reason(&self) -> InstallReason {
        match &*self.0 {
            InstallFault::NotCompiled(error) => InstallReason::NotCompiled(error.reason()),
            InstallFault::Stale { .. } => InstallReason::Stale,
            InstallFault::Unwatched { .. } => InstallReason::Unwatched,
            InstallFault::OtherEngine => InstallReason::OtherEngine,
        }
    }

    /// Returns the error of the compile, if nothing was compiled.
    pub fn compile_error(&self) -> Option<&CompileError> {
        match &*self.0 {
            InstallFault::NotCompiled(error) => Some(error),
            _ => None,
        }
    }

    /// Returns true if an [assumption](Self::assumption) of the compile changed while it was
    /// running. The same task may be tried again.
    pub fn is_stale(&self) -> bool {
        self.reason() == InstallReason::Stale
    }

    /// Returns true if the host can't watch an [assumption](Self::assumption) of the unit.
    pub fn is_unwatched(&self) -> bool {
        self.reason() == InstallReason::Unwatched
    }

    /// Returns the assumption that has changed, or that can't be watched.
    pub fn assumption(&self) -> Option<&Assumption> {
        match &*self.0 {
            InstallFault::Stale { assumption, .. } | InstallFault::Unwatched { assumption, .. } => {
                Some(assumption)
            }
            InstallFault::NotCompiled(_) | InstallFault::OtherEngine => None,
        }
    }
}

/// The reason why native code was not entered.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error(transparent)]
pub struct CallError(CallFault);

#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub(super) enum CallFault {
    #[error("the unit is invalid")]
    Invalid,
    #[error("the unit takes {expected} arguments, not {given}")]
    Arity { expected: usize, given: usize },
}

impl From<CallFault> for CallError {
    fn from(fault: CallFault) -> CallError {
        CallError(fault)
    }
}

impl CallError {
    /// Returns true if the unit is invalid: an assumption has changed, or its engine is gone.
    pub fn is_invalid(&self) -> bool {
        self.0 == CallFault::Invalid
    }

    /// Returns the number of parameters and of given arguments, if they differ.
    pub fn arity(&self) -> Option<(usize, usize)> {
        match self.0 {
            CallFault::Invalid => None,
            CallFault::Arity { expected, given } => Some((expected, given)),
        }
    }
}
