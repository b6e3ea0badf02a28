//! Frames, and the thread they are on. Compiled code creates and reads them: the layouts are
//! `repr(C)`.
//!
//! A frame's words are its locals, its operand stack, then for each local the words
//! ([`LOCAL_WORDS`]) in which compiled code stores raw values during call-outs. Each local and
//! stack word is an owned reference or null.

use super::code::CodeData;
use super::error::{self, Raised, raise};
use super::heap::{Obj, Ref};
use super::{Result, rt};
use cladonia::bytecode::Pc;
use cladonia::host::LOCAL_WORDS;
use std::cell::Cell;
use std::mem::{offset_of, size_of};
use std::ptr::{NonNull, null_mut};
use std::rc::Rc;

/// A frame.
#[repr(C)]
pub struct Frame {
    /// The caller's frame.
    previous: Cell<*mut Frame>,
    /// The running function, which the caller keeps alive.
    function: Cell<Obj>,
    /// Its code, which the function keeps alive.
    code: Cell<*const CodeData>,
    /// The running instruction (its position).
    position: Cell<u64>,
    /// The namespace, in module and class bodies; owned, or null.
    namespace: Cell<Obj>,
    /// Entries on the operand stack.
    depth: Cell<u64>,
}

/// The state of a thread.
#[repr(C)]
pub struct Thread {
    /// The innermost frame.
    frame: Cell<*mut Frame>,
    /// The start of the next frame.
    top: Cell<*mut u64>,
    /// The end of the memory for frames.
    limit: Cell<*mut u64>,
    /// The number of frames.
    depth: Cell<u64>,
    /// The most frames.
    max_depth: Cell<u64>,
    /// Not 0 if compiled code must test for pending work.
    pub pending: Cell<u64>,
    /// The exception that was raised; owned, or null.
    exception: Cell<Obj>,
    /// The exception that is being handled; owned, or null.
    handled: Cell<Obj>,
    nesting: Cell<u32>,
    /// The memory for frames, used through the pointers above only.
    stack: Vec<u64>,
    begin: *mut u64,
}

/// Offsets that the intrinsics use.
pub mod layout {
    use super::*;

    macro_rules! offsets {
        ($($name:ident = $ty:ident . $field:ident;)*) => {
            $(#[doc = concat!("`", stringify!($ty), ".", stringify!($field), "`")] pub const $name: i32 = offset_of!($ty, $field) as i32;)*
        };
    }
    offsets! {
        PREVIOUS = Frame.previous;
        FUNCTION = Frame.function;
        CODE = Frame.code;
        POSITION = Frame.position;
        NAMESPACE = Frame.namespace;
        DEPTH = Frame.depth;
        THREAD_FRAME = Thread.frame;
        THREAD_TOP = Thread.top;
        THREAD_LIMIT = Thread.limit;
        THREAD_DEPTH = Thread.depth;
        THREAD_MAX_DEPTH = Thread.max_depth;
        THREAD_PENDING = Thread.pending;
    }
    /// The offset of the locals.
    pub const SLOTS: i32 = size_of::<Frame>() as i32;
}

/// The size of a code's frame in bytes.
pub fn size(code: &cladonia::bytecode::Code) -> usize {
    size_of::<Frame>() + 8 * ((1 + LOCAL_WORDS) * code.locals.len() + code.stacksize as usize)
}

/// A frame that is on the stack.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct FrameRef(NonNull<Frame>);

impl Thread {
    /// A thread without frames.
    pub fn new(max_depth: u64) -> Thread {
        let mut stack = vec![0; 1 << 18];
        let begin = stack.as_mut_ptr();
        Thread {
            frame: Cell::new(null_mut()),
            top: Cell::new(begin),
            limit: Cell::new(begin.wrapping_add(stack.len())),
            depth: Cell::new(0),
            max_depth: Cell::new(max_depth),
            pending: Cell::new(0),
            exception: Cell::new(null_mut()),
            handled: Cell::new(null_mut()),
            nesting: Cell::new(0),
            stack,
            begin,
        }
    }

    /// The innermost frame.
    ///
    /// # Panics
    /// If there is none.
    pub fn frame(&self) -> FrameRef {
        FrameRef(NonNull::new(self.frame.get()).expect("a frame"))
    }

    /// Returns true if the thread has no frame.
    pub fn is_idle(&self) -> bool {
        self.frame.get().is_null()
    }

    /// Takes the pending exception.
    pub fn take_exception(&self) -> Option<Ref> {
        owned(self.exception.replace(null_mut()))
    }

    /// Returns true if an exception is pending.
    pub fn is_raised(&self) -> bool {
        !self.exception.get().is_null()
    }

    /// Sets the pending exception (or none).
    pub fn set_exception(&self, exception: Option<Ref>) {
        drop(owned(self.exception.replace(raw(exception))));
    }

    /// Replaces the exception that is being handled.
    pub fn replace_handled(&self, exception: Option<Ref>) -> Option<Ref> {
        owned(self.handled.replace(raw(exception)))
    }

    /// The exception that is being handled.
    pub fn handled(&self) -> Option<Ref> {
        let handled = self.handled.get();
        // SAFETY: an owned reference or null.
        (!handled.is_null()).then(|| unsafe { Ref::from_borrowed(handled) })
    }

    /// Runs `run`, unless the native stack may be too deep.
    pub fn nested<T>(&self, run: impl FnOnce() -> Result<T>) -> Result<T> {
        if self.nesting.get() > 200 {
            return raise(error::RECURSION, "maximum recursion depth exceeded");
        }
        self.nesting.set(self.nesting.get() + 1);
        let result = run();
        self.nesting.set(self.nesting.get() - 1);
        result
    }

    /// Words of the stack in use, for messages.
    pub fn used(&self) -> usize {
        debug_assert!(!self.stack.is_empty());
        (self.top.get() as usize - self.begin as usize) / 8
    }
}

pub(super) fn owned(p: Obj) -> Option<Ref> {
    // SAFETY: all callers pass an owned reference or null.
    (!p.is_null()).then(|| unsafe { Ref::from_owned(p) })
}

fn raw(object: Option<Ref>) -> Obj {
    object.map_or(null_mut(), Ref::into_raw)
}

/// Creates a frame.
///
/// # Errors
/// `RecursionError` if there are too many.
pub fn push(function: &Ref, code: &Rc<CodeData>, namespace: Option<Ref>) -> Result<FrameRef> {
    let thread = &rt().thread;
    let words = size(&code.code) / 8;
    let top = thread.top.get();
    let end = top.wrapping_add(words);
    if thread.depth.get() >= thread.max_depth.get() || end >= thread.limit.get() {
        return raise(error::RECURSION, "maximum recursion depth exceeded");
    }
    thread.top.set(end);
    thread.depth.set(thread.depth.get() + 1);
    let frame = top.cast::<Frame>();
    // SAFETY: the words are inside the thread's stack and not in use.
    unsafe {
        top.write_bytes(0, words);
        frame.write(Frame {
            previous: Cell::new(thread.frame.get()),
            function: Cell::new(function.as_ptr()),
            code: Cell::new(Rc::as_ptr(code)),
            position: Cell::new(0),
            namespace: Cell::new(raw(namespace)),
            depth: Cell::new(0),
        });
    }
    thread.frame.set(frame);
    Ok(thread.frame())
}

/// Drops the content of the innermost frame, in order, and unlinks it.
pub fn pop(frame: FrameRef) {
    let thread = &rt().thread;
    debug_assert!(frame == thread.frame(), "the innermost frame");
    while frame.depth() > 0 {
        drop(frame.pop());
    }
    for k in 0..frame.code().code.locals.len() {
        frame.set_local(k, None);
    }
    // SAFETY: the frame is alive.
    let content = unsafe { frame.0.as_ref() };
    drop(owned(content.namespace.replace(null_mut())));
    thread.frame.set(content.previous.get());
    thread.top.set(frame.0.as_ptr().cast());
    thread.depth.set(thread.depth.get() - 1);
}

impl FrameRef {
    /// A frame by its address.
    ///
    /// # Safety
    /// It is a live frame of this thread while the result is used.
    pub unsafe fn from_raw(frame: *mut Frame) -> FrameRef {
        // SAFETY: the caller promises a live frame.
        FrameRef(unsafe { NonNull::new_unchecked(frame) })
    }

    /// Its address.
    pub fn as_ptr(self) -> *mut Frame {
        self.0.as_ptr()
    }

    fn content(&self) -> &Frame {
        // SAFETY: frames in use are alive; see `from_raw`.
        unsafe { self.0.as_ref() }
    }

    /// The code.
    pub fn code(&self) -> &CodeData {
        // SAFETY: the function keeps its code alive while it runs.
        unsafe { &*self.content().code.get() }
    }

    /// The function.
    pub fn function(&self) -> Ref {
        // SAFETY: the caller keeps the function alive while it runs.
        unsafe { Ref::from_borrowed(self.content().function.get()) }
    }

    /// The namespace of a module or class body.
    pub fn namespace(&self) -> Option<Ref> {
        let namespace = self.content().namespace.get();
        // SAFETY: owned by the frame.
        (!namespace.is_null()).then(|| unsafe { Ref::from_borrowed(namespace) })
    }

    /// Sets the running instruction.
    pub fn set_pc(&self, pc: Pc) {
        let position = self.code().code.instr(pc).pos;
        self.content().position.set(position.into());
    }

    /// The position of the running instruction.
    pub fn position(&self) -> u64 {
        self.content().position.get()
    }

    fn word(&self, index: usize) -> &Cell<Obj> {
        let code = &self.code().code;
        assert!(
            index < code.locals.len() + code.stacksize as usize,
            "a word of the frame"
        );
        // SAFETY: the words follow the frame, and the index is checked above.
        unsafe { &*self.0.as_ptr().add(1).cast::<Cell<Obj>>().add(index) }
    }

    /// A new reference to the content of a local.
    pub fn local(&self, k: usize) -> Option<Ref> {
        let p = self.word(k).get();
        // SAFETY: an owned reference or null.
        (!p.is_null()).then(|| unsafe { Ref::from_borrowed(p) })
    }

    /// Replaces the content of a local; the old value is dropped afterwards.
    pub fn set_local(&self, k: usize, value: Option<Ref>) {
        drop(self.replace_local(k, value));
    }

    /// Replaces the content of a local.
    pub fn replace_local(&self, k: usize, value: Option<Ref>) -> Option<Ref> {
        owned(self.word(k).replace(raw(value)))
    }

    /// The depth of the operand stack.
    pub fn depth(&self) -> usize {
        self.content().depth.get() as usize
    }

    /// Pushes an entry; none is a null.
    pub fn push(&self, value: Option<Ref>) {
        let depth = self.depth();
        self.word(self.code().code.locals.len() + depth)
            .set(raw(value));
        self.content().depth.set(depth as u64 + 1);
    }

    /// Pops an entry.
    ///
    /// # Panics
    /// If the stack is empty, which verified bytecode excludes.
    pub fn pop(&self) -> Option<Ref> {
        let depth = self.depth() - 1;
        self.content().depth.set(depth as u64);
        owned(
            self.word(self.code().code.locals.len() + depth)
                .replace(null_mut()),
        )
    }

    /// A new reference to the entry at a depth from the top, 0 being the top.
    pub fn peek(&self, from_top: usize) -> Option<Ref> {
        let p = self.stack_word(from_top).get();
        // SAFETY: an owned reference or null.
        (!p.is_null()).then(|| unsafe { Ref::from_borrowed(p) })
    }

    /// Takes the entry at a depth from the top, and leaves a null there.
    pub fn take(&self, from_top: usize) -> Option<Ref> {
        owned(self.stack_word(from_top).replace(null_mut()))
    }

    /// The word of the entry at a depth from the top.
    pub fn stack_word(&self, from_top: usize) -> &Cell<Obj> {
        self.word(self.code().code.locals.len() + self.depth() - 1 - from_top)
    }

    /// Sets the depth of the stack; the words above were moved away.
    pub fn set_depth(&self, depth: usize) {
        self.content().depth.set(depth as u64);
    }
}

/// Makes the exception pending, and returns null for it.
pub fn give(result: Result<Ref>) -> Obj {
    match result {
        Ok(object) => object.into_raw(),
        Err(Raised(exception)) => {
            rt().thread.set_exception(Some(exception));
            null_mut()
        }
    }
}

/// The result of native code: null means that an exception is pending.
///
/// # Safety
/// `result` is an owned reference, or null.
pub unsafe fn take(result: Obj) -> Result<Ref> {
    match owned(result) {
        Some(object) => Ok(object),
        None => match rt().thread.take_exception() {
            Some(exception) => Err(Raised(exception)),
            None => raise(error::SYSTEM, "an error without an exception"),
        },
    }
}
