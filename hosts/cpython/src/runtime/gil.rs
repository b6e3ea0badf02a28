//! Proof that a thread holds the interpreter's lock, and the way to the runtime, which only such a thread may go.

use super::Runtime;
use std::marker::PhantomData;
use std::sync::atomic::{AtomicPtr, Ordering};

/// The runtime; null before it is started.
static RUNTIME: AtomicPtr<Runtime> = AtomicPtr::new(std::ptr::null_mut());

/// Whether the runtime has been [started](super::start).
pub fn is_started() -> bool {
    !RUNTIME.load(Ordering::Acquire).is_null()
}

/// This thread holds the main interpreter's lock.
///
/// Whoever is called by the interpreter or by compiled code makes one where it is entered, and hands it down to whatever asks the runtime.
/// It stays on its thread: it is neither `Send` nor `Sync`. A call that may run Python code may give the lock to another thread, but has it
/// back when it returns; so a token outlives such calls, and a borrow of the runtime's tables must not.
#[derive(Clone, Copy, Debug)]
pub struct Gil(PhantomData<*mut ()>);

impl Gil {
    /// The token of a thread that holds the lock.
    ///
    /// # Safety
    /// The current thread holds the main interpreter's lock. It holds it whenever the token, or a copy, is used.
    #[inline(always)]
    pub unsafe fn held() -> Gil {
        Gil(PhantomData)
    }

    /// The runtime, if it has been started.
    #[inline(always)]
    pub fn started(self) -> Option<&'static Runtime> {
        // SAFETY: the pointer is null or what `publish` has got of a box, which is never freed. The runtime's cells are for one thread at a
        // time: this one, which holds the lock (`held`), as does any other that comes here.
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

    /// Let all threads find the runtime, from now on and for good.
    ///
    /// # Panics
    /// If there is one.
    pub(super) fn publish(self, runtime: Box<Runtime>) {
        assert!(self.started().is_none(), "the runtime is started once");
        RUNTIME.store(Box::into_raw(runtime), Ordering::Release);
    }
}
