//! Proof that a thread holds the GIL, and access to the runtime, which only such a thread may use.

use super::Runtime;
use std::marker::PhantomData;
use std::sync::atomic::{AtomicPtr, Ordering};

/// The runtime; null before it is started.
static RUNTIME: AtomicPtr<Runtime> = AtomicPtr::new(std::ptr::null_mut());

/// True if the runtime has been [started](super::start).
pub fn is_started() -> bool {
    !RUNTIME.load(Ordering::Acquire).is_null()
}

/// This thread holds the main interpreter's lock.
///
/// A function that the interpreter or compiled code calls creates one on entry, and passes it to
/// its callees that use the runtime. It stays on its thread: it is neither `Send` nor `Sync`. A
/// call that may run Python code may give the lock to another thread, but has it back when it
/// returns. So a token outlives such calls, and a borrow of the runtime's tables must not.
#[derive(Clone, Copy, Debug)]
pub struct Gil(PhantomData<*mut ()>);

impl Gil {
    /// The token of a thread that holds the lock.
    ///
    /// # Safety
    /// The current thread holds the main interpreter's lock. It holds it whenever the token, or a
    /// copy, is used.
    #[inline(always)]
    pub unsafe fn held() -> Gil {
        Gil(PhantomData)
    }

    /// The runtime, if it has been started.
    #[inline(always)]
    pub fn started(self) -> Option<&'static Runtime> {
        // SAFETY: the pointer is null or comes from a box that `publish` has leaked. The runtime's
        // cells may be used by one thread at a time: the one that holds the lock (`held`), which is
        // this one.
        unsafe { RUNTIME.load(Ordering::Acquire).as_ref() }
    }

    /// The runtime.
    ///
    /// # Panics
    /// Before it is [started](super::start).
    #[inline(always)]
    pub fn runtime(self) -> &'static Runtime {
        self.started().expect("the runtime has been started")
    }

    /// Publishes the runtime to all threads, for good.
    ///
    /// # Panics
    /// If there is one.
    pub(super) fn publish(self, runtime: Box<Runtime>) {
        assert!(self.started().is_none(), "the runtime is started once");
        RUNTIME.store(Box::into_raw(runtime), Ordering::Release);
    }
}
