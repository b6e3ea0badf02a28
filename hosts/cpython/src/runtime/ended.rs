//! Threads that the interpreter ends, and our frames on their stacks.
//!
//! # CPython's behaviour
//! Once CPython 3.13.0 has begun to finalise, a thread that requests the GIL (a daemon thread, or
//! one of an embedder) is ended by `pthread_exit`. (Later versions, 3.13.15 at least, let it wait
//! forever.) With glibc that is a *forced unwind*: from the innermost frame outwards, the
//! personality routine of each frame is called to clean up, until the unwind reaches the outermost
//! frame or one without unwind information, such as machine code. The stack is one thread's, the
//! GIL is another's by now, and Python's objects are being deallocated.
//!
//! Rust's personality routine must not run then:
//! - it aborts the process at a call that is declared never to unwind, as those of the whole C API
//!   are, in any function that has something to drop, and at a `catch_unwind`;
//! - else it drops the values that the frame owns: references, counts such as
//!   [`Busy`](super::units::Busy), borrows. All of these may be used only under the GIL.
//!
//! # The solution
//! Our frames are skipped: [`pass_over_our_frames`] puts a routine before Rust's, which reports for
//! each frame in a forced unwind that there is no cleanup. So the thread ends with nothing dropped,
//! as if it waited for the GIL forever, as it does in later versions. The rest of this page holds
//! for both cases.
//!
//! The hook is one word, the reference to the personality routine that the unwind information of
//! all Rust code in this library shares, and it costs nothing if no thread is ended. To declare the
//! calls that may unwind (`extern "C-unwind"`) is no alternative: nearly every call of the C API
//! may release the GIL, since it may free an object, and each of their callers, up to the
//! compiler's, would have to own nothing that is dropped. To stop the unwind before our frames, the
//! interpreter's `pthread_exit` would have to be replaced.
//!
//! Rust gives no guarantee for frames that vanish with something to drop in them. The danger is a
//! pointer into such a frame that is kept elsewhere and that the end of the frame would have
//! removed. So:
//!
//! # Invariants
//! - While the GIL may be released, nothing outside this thread's stack refers to it.
//!   [`Chain`](super::generators) keeps to this: a published chain is
//!   [announced](super::generators::announce), and thereby withdrawn, before a call that might
//!   release the GIL.
//! - At such a point no `Mutex` is locked, since the thread that finalises the interpreter would
//!   wait for it, and no table of the runtime is borrowed, since its next borrow would fail (see
//!   [`Gil`](super::Gil)).
//! - Machine code that such a thread would return into is not freed, since the unwinder reads it:
//!   the counts that [`reclaim`](super::units::reclaim) uses keep their values.
//! - A count that such a thread never lowers only keeps something alive or idle: units, entries,
//!   the compiler.
//! - No thread-local variable of ours has a destructor: it would run without the GIL.

/// For platforms where a forced unwind calls Rust's personality routine: Linux with glibc. (musl's
/// and macOS's `pthread_exit` do not unwind.)
#[cfg(all(
    target_os = "linux",
    target_env = "gnu",
    any(target_arch = "x86_64", target_arch = "aarch64")
))]
mod personality {
    use std::ffi::{c_int, c_void};
    use std::sync::atomic::{AtomicUsize, Ordering};

    /// `_Unwind_Personality_Fn` of the Itanium C++ ABI: version, actions, class, exception,
    /// context.
    type Personality = unsafe extern "C" fn(c_int, c_int, u64, *mut c_void, *mut c_void) -> c_int;

    /// `_UA_FORCE_UNWIND`.
    const FORCED: c_int = 8;
    /// `_URC_CONTINUE_UNWIND`.
    const CONTINUE: c_int = 8;

    unsafe extern "C" {
        /// The compiler's name for the word through which the unwind information of all its frames
        /// refers to their personality routine. It is this library's own (hidden and writable),
        /// even if the process has other Rust code.
        #[link_name = "DW.ref.rust_eh_personality"]
        static REFERENCE: AtomicUsize;
    }

    /// Rust's routine, which was there before.
    static RUSTS: AtomicUsize = AtomicUsize::new(0);

    /// The personality routine of our frames.
    unsafe extern "C" fn unless_forced(
        version: c_int,
        actions: c_int,
        class: u64,
        exception: *mut c_void,
        context: *mut c_void,
    ) -> c_int {
        if actions & FORCED != 0 {
            return CONTINUE;
        }
        // SAFETY: `install` stores Rust's routine, which is of this type, before this function can
        // be called; the arguments are the unwinder's.
        unsafe {
            let rusts: Personality = std::mem::transmute(RUSTS.load(Ordering::Acquire));
            rusts(version, actions, class, exception, context)
        }
    }

    /// Puts [`unless_forced`] before Rust's routine, once.
    pub fn install() {
        let ours = unless_forced as *const () as usize;
        // SAFETY: the word is aligned, lives as long as the library, and only read otherwise.
        let reference = unsafe { &REFERENCE };
        let was = reference.load(Ordering::Relaxed);
        if was != ours {
            RUSTS.store(was, Ordering::Release);
            reference.store(ours, Ordering::Release);
        }
    }
}

/// Makes forced unwinds skip our frames: see the head of this file.
pub fn pass_over_our_frames() {
    #[cfg(all(
        target_os = "linux",
        target_env = "gnu",
        any(target_arch = "x86_64", target_arch = "aarch64")
    ))]
    personality::install();
}

#[cfg(all(test, target_os = "linux", target_env = "gnu"))]
mod tests {
    use std::ffi::c_void;
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::ptr::null_mut;
    use std::sync::atomic::{AtomicU32, Ordering};

    /// The C library's functions, declared like the C API's: as if they did not unwind.
    mod declared {
        use std::ffi::c_void;
        unsafe extern "C" {
            pub fn pthread_exit(value: *mut c_void) -> !;
            pub fn pthread_self() -> usize;
        }
    }

    static DROPPED: AtomicU32 = AtomicU32::new(0);

    struct Guard;

    impl Drop for Guard {
        fn drop(&mut self) {
            DROPPED.fetch_add(1, Ordering::Relaxed);
        }
    }

    #[inline(never)]
    unsafe extern "C" fn helper() {
        let _guard = Guard;
        // SAFETY: any thread may read its id and end itself like this.
        unsafe {
            std::hint::black_box(declared::pthread_self());
            declared::pthread_exit(std::ptr::without_provenance_mut(7))
        }
    }

    extern "C" fn body(_: *mut c_void) -> *mut c_void {
        let _guard = Guard;
        let caught = catch_unwind(AssertUnwindSafe(|| {
            let _guard = Guard;
            // SAFETY: as above.
            unsafe { helper() }
        }));
        drop(caught);
        null_mut()
    }

    #[test]
    fn a_thread_that_is_ended_drops_nothing_and_can_be_joined() {
        super::pass_over_our_frames();
        super::pass_over_our_frames();
        let mut result = null_mut();
        // SAFETY: a thread is created and joined, once.
        unsafe {
            let mut thread = std::mem::zeroed();
            assert_eq!(
                libc::pthread_create(&mut thread, std::ptr::null(), body, null_mut()),
                0
            );
            assert_eq!(libc::pthread_join(thread, &mut result), 0);
        }
        assert_eq!(result.addr(), 7);
        assert_eq!(DROPPED.load(Ordering::Relaxed), 0);
    }

    #[test]
    fn a_panic_still_drops_and_is_caught() {
        super::pass_over_our_frames();
        struct Sets<'a>(&'a mut bool);
        impl Drop for Sets<'_> {
            fn drop(&mut self) {
                *self.0 = true;
            }
        }
        let mut dropped = false;
        let caught = catch_unwind(AssertUnwindSafe(|| {
            let _sets = Sets(&mut dropped);
            panic!("on purpose");
        }));
        assert!(caught.is_err() && dropped);
    }
}
