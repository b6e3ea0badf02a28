//! The error of a host's description: an opaque value with methods that query the fault.

use crate::lir;
use crate::ll::LayoutError;

/// A fault in a host's description, found by [`HostBuilder::finish`](super::HostBuilder::finish).
///
/// ```
/// use cladonia::host::{HostBuilder, HostFault};
/// use cladonia::types::HostId;
///
/// let mut host = HostBuilder::new("empty", HostId::new());
/// host.partial();
/// let error = host.finish().expect_err("there is no exit hook");
/// assert_eq!((error.fault(), error.name()), (HostFault::MissingHelper, Some("exit")));
/// ```
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("the host `{host}`{fault}")]
pub struct HostError {
    host: &'static str,
    fault: Box<Fault>,
}

/// The kind of a [`HostError`], as data.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[non_exhaustive]
pub enum HostFault {
    /// A standard intrinsic is missing.
    MissingIntrinsic,
    /// A helper that the core calls is missing.
    MissingHelper,
    /// A helper or intrinsic has a signature that the core does not expect.
    WrongSignature,
    /// A helper's address is null.
    NullHelper,
    /// The text of intrinsics can't be read.
    Text,
    /// An intrinsic is not well-formed LIR.
    BadIntrinsic,
    /// An intrinsic calls a helper with effects that the intrinsic does not declare.
    UndeclaredEffect,
    /// An intrinsic of a host with traced objects keeps an address across a call that may collect,
    /// and does not list it as a reference.
    UnlistedReference,
    /// A layout is wrong.
    Layout,
    /// Two helpers, two intrinsics or two layouts have the same name.
    Duplicate,
}

/// The fault with its details. The text continues "the host `name`".
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub(super) enum Fault {
    #[error(" has no intrinsic `{name}`; define it with HostBuilder::intrinsic")]
    MissingIntrinsic { name: &'static str },
    #[error(" has no helper `{name}`; define it with HostBuilder::helper")]
    MissingHelper { name: &'static str },
    #[error(": `{name}` has the signature {found}, but {expected} is expected")]
    WrongSignature {
        name: &'static str,
        found: String,
        expected: String,
    },
    #[error(": the helper `{name}` has no address")]
    NullHelper { name: &'static str },
    #[error(": the text of intrinsics: {error}")]
    Text { error: lir::ParseError },
    #[error(": the intrinsic `{name}` is not well-formed: {errors}")]
    BadIntrinsic {
        name: &'static str,
        errors: lir::VerifierErrors,
    },
    #[error(": the intrinsic `{name}` is not declared to {what}, but calls `{helper}`, which may")]
    UndeclaredEffect {
        name: &'static str,
        helper: &'static str,
        what: &'static str,
    },
    #[error(
        ": the intrinsic `{name}` needs {value} after a call that may collect: list it under `refs`, or, \
         if it is a part of an object, compute it again"
    )]
    UnlistedReference {
        name: &'static str,
        /// The value, as the text form names it.
        value: String,
    },
    #[error(": {error}")]
    Layout { error: LayoutError },
    #[error(" defines `{name}` twice")]
    Duplicate { name: &'static str },
}

impl Fault {
    /// The error of the host of this name.
    pub(super) fn of(self, host: &'static str) -> HostError {
        HostError {
            host,
            fault: Box::new(self),
        }
    }
}

impl HostError {
    /// Returns the name of the host.
    pub fn host(&self) -> &'static str {
        self.host
    }

    /// Returns the kind of the fault.
    pub fn fault(&self) -> HostFault {
        match &*self.fault {
            Fault::MissingIntrinsic { .. } => HostFault::MissingIntrinsic,
            Fault::MissingHelper { .. } => HostFault::MissingHelper,
            Fault::WrongSignature { .. } => HostFault::WrongSignature,
            Fault::NullHelper { .. } => HostFault::NullHelper,
            Fault::Text { .. } => HostFault::Text,
            Fault::BadIntrinsic { .. } => HostFault::BadIntrinsic,
            Fault::UndeclaredEffect { .. } => HostFault::UndeclaredEffect,
            Fault::UnlistedReference { .. } => HostFault::UnlistedReference,
            Fault::Layout { .. } => HostFault::Layout,
            Fault::Duplicate { .. } => HostFault::Duplicate,
        }
    }

    /// Returns true if a helper or an intrinsic is missing. [`name`](Self::name) returns which.
    pub fn is_missing(&self) -> bool {
        matches!(
            self.fault(),
            HostFault::MissingHelper | HostFault::MissingIntrinsic
        )
    }

    /// Returns the name of the helper or intrinsic with the fault.
    pub fn name(&self) -> Option<&'static str> {
        match &*self.fault {
            Fault::MissingIntrinsic { name }
            | Fault::MissingHelper { name }
            | Fault::WrongSignature { name, .. }
            | Fault::NullHelper { name }
            | Fault::BadIntrinsic { name, .. }
            | Fault::UndeclaredEffect { name, .. }
            | Fault::UnlistedReference { name, .. }
            | Fault::Duplicate { name } => Some(name),
            Fault::Text { .. } | Fault::Layout { .. } => None,
        }
    }

    /// Returns the line of a fault in the text of intrinsics.
    pub fn line(&self) -> Option<u32> {
        match &*self.fault {
            Fault::Text { error } => Some(error.line),
            _ => None,
        }
    }

    /// Returns the found and the expected signature, if they differ.
    pub fn signatures(&self) -> Option<(&str, &str)> {
        match &*self.fault {
            Fault::WrongSignature {
                found, expected, ..
            } => Some((found, expected)),
            _ => None,
        }
    }

    /// Returns the called helper and its effect, if the calling intrinsic does not declare it.
    pub fn undeclared_effect(&self) -> Option<(&'static str, &'static str)> {
        match &*self.fault {
            Fault::UndeclaredEffect { helper, what, .. } => Some((helper, what)),
            _ => None,
        }
    }

    /// Returns the faults of an intrinsic that is not well-formed.
    pub fn verifier_errors(&self) -> Option<&lir::VerifierErrors> {
        match &*self.fault {
            Fault::BadIntrinsic { errors, .. } => Some(errors),
            _ => None,
        }
    }

    /// Returns the fault of a layout.
    pub fn layout(&self) -> Option<&LayoutError> {
        match &*self.fault {
            Fault::Layout { error } => Some(error),
            _ => None,
        }
    }
}
