//! The parts of CPython's C interface that `pyo3-ffi` lacks: declared by hand, in one place.
//!
//! All of these are exported by every library of the supported versions; most are private by name
//! and stable inside a minor version.

use super::abi;
use cladonia::host::LOCAL_WORDS;
use pyo3_ffi::*;
use std::ffi::{c_char, c_int, c_void};

/// A thread state; its fields are reached through [`abi::thread`].
pub type Thread = *mut u8;
/// An interpreter frame; its fields are reached through [`abi::frame`].
pub type Frame = *mut u8;
/// A borrowed or owned object, depending on the context.
pub type Object = *mut PyObject;

/// `PyCF_SOURCE_IS_UTF8`: source text is UTF-8 unless it declares another encoding.
pub const SOURCE_IS_UTF8: c_int = 0x0100;
/// `PyCF_IGNORE_COOKIE`: an encoding declared in the source text is ignored.
pub const IGNORE_COOKIE: c_int = 0x0800;

unsafe extern "C" {
    /// Runs a frame until it returns. The frame is the top of the data stack and not yet linked.
    pub fn _PyEval_EvalFrameDefault(ts: Thread, frame: Frame, throwflag: c_int) -> Object;
    /// Clears a frame that has been unlinked, drops its references, and pops it off the data stack.
    pub fn _PyEval_FrameClearAndPop(ts: Thread, frame: Frame);
    /// Reports an exception to monitoring tools.
    pub fn _PyEval_MonitorRaise(ts: Thread, frame: Frame, instr: *const u8);
    /// Handles the pending work that the eval breaker signals.
    pub fn _Py_HandlePending(ts: Thread) -> c_int;
    /// Replaces a function's vectorcall; sets its version to 0.
    pub fn PyFunction_SetVectorcall(func: Object, entry: *const c_void);
    /// Gives a function a version.
    pub fn _PyFunction_SetVersion(func: Object, version: u32);
    /// Deallocates an object whose count is zero.
    pub fn _Py_Dealloc(object: Object);
    /// Registers a callback for function events.
    pub fn PyFunction_AddWatcher(callback: FunctionWatcher) -> c_int;
    /// Unregisters it.
    pub fn PyFunction_ClearWatcher(id: c_int) -> c_int;
    /// Registers a callback for changes of watched dicts.
    pub fn PyDict_AddWatcher(callback: DictWatcher) -> c_int;
    /// Registers a callback for changes of watched classes.
    pub fn PyType_AddWatcher(callback: TypeWatcher) -> c_int;
    /// Unregisters it.
    pub fn PyType_ClearWatcher(id: c_int) -> c_int;
    /// Watches a class.
    pub fn PyType_Watch(id: c_int, class: Object) -> c_int;
    /// Gives a class a version, without which its changes are not reported.
    pub fn PyUnstable_Type_AssignVersionTag(class: *mut PyTypeObject) -> c_int;
    /// Registers a callback for the creation and deallocation of code objects.
    pub fn PyCode_AddWatcher(callback: CodeWatcher) -> c_int;
    /// Unregisters it.
    pub fn PyCode_ClearWatcher(id: c_int) -> c_int;
    /// Sets the count of a new object in reused memory to one.
    pub fn _Py_NewReference(object: Object);
    /// Creates the generator or coroutine of a function that is being called.
    pub fn _Py_MakeCoro(func: Object) -> Object;
    /// The iterator that `await` uses.
    pub fn _PyCoro_GetAwaitableIter(object: Object) -> Object;
    /// Raises the error that an object cannot be awaited, unless an exception is pending.
    pub fn _PyEval_FormatAwaitableError(ts: Thread, class: *mut PyTypeObject, place: c_int);
    /// Raises an exception whose cause is the pending one; returns null.
    pub fn _PyErr_FormatFromCause(exception: Object, format: *const c_char, ...) -> Object;
    /// Raises `StopIteration` with a value.
    pub fn _PyGen_SetStopIterationValue(value: Object) -> c_int;
    /// The value of the pending `StopIteration`, which is cleared, or None if nothing is pending;
    /// negative if another exception is.
    pub fn _PyGen_FetchStopIterationValue(value: *mut Object) -> c_int;
    /// The line of an instruction (its offset in bytes).
    pub fn PyCode_Addr2Line(code: Object, offset: c_int) -> c_int;
}

/// The current thread.
#[inline(always)]
pub fn current_thread() -> Thread {
    // SAFETY: always allowed; this thread has the GIL, so there is one.
    unsafe { PyThreadState_GetUnchecked().cast() }
}

/// `PyFunction_WatchCallback`: event, function, new value.
pub type FunctionWatcher = unsafe extern "C" fn(c_int, Object, Object) -> c_int;
/// `PyDict_WatchCallback`: event, dict, key, new value.
pub type DictWatcher = unsafe extern "C" fn(c_int, Object, Object, Object) -> c_int;
/// `PyType_WatchCallback`.
pub type TypeWatcher = unsafe extern "C" fn(Object) -> c_int;
/// `PyCode_WatchCallback`: event, code.
pub type CodeWatcher = unsafe extern "C" fn(c_int, Object) -> c_int;
/// A vectorcall entry.
pub type Vectorcall = unsafe extern "C" fn(Object, *const Object, usize, Object) -> Object;

/// `PyFunction_EVENT_DESTROY` and the other events in use.
pub mod function_event {
    /// The function is being freed.
    pub const DESTROY: i32 = 1;
    /// `__code__` is being replaced.
    pub const MODIFY_CODE: i32 = 2;
    /// `__defaults__` is being replaced.
    pub const MODIFY_DEFAULTS: i32 = 3;
    /// `__kwdefaults__` is being replaced.
    pub const MODIFY_KWDEFAULTS: i32 = 4;
}

/// `PyDict_EVENT_*`.
pub mod dict_event {
    /// A key was added.
    pub const ADDED: i32 = 0;
    /// A key's value was replaced.
    pub const MODIFIED: i32 = 1;
    /// A key was deleted.
    pub const DELETED: i32 = 2;
}

/// `PY_CODE_EVENT_DESTROY`.
pub const CODE_DESTROY: i32 = 1;

/// Bit of `nargsf`: the word before the arguments may be used.
pub const ARGUMENTS_OFFSET: usize = 1 << 63;

/// Reads a field.
///
/// # Safety
/// `base + offset` holds a `T`.
#[inline(always)]
pub unsafe fn get<T: Copy>(base: *const u8, offset: i32) -> T {
    // SAFETY: the caller's promise; fields are naturally aligned.
    unsafe { base.offset(offset as isize).cast::<T>().read() }
}

/// Writes a field.
///
/// # Safety
/// `base + offset` holds a `T` that may be overwritten.
#[inline(always)]
pub unsafe fn put<T: Copy>(base: *mut u8, offset: i32, value: T) {
    // SAFETY: the caller's promise.
    unsafe { base.offset(offset as isize).cast::<T>().write(value) }
}

/// The flags of code whose calls make a generator of some kind.
pub const GENERATORS: i32 = CO_GENERATOR | CO_COROUTINE | CO_ASYNC_GENERATOR;

/// Constants of a code object, read once.
#[derive(Clone, Copy, Debug)]
pub struct CodeShape {
    /// The code object.
    pub code: Object,
    /// Local slots.
    pub nlocalsplus: i32,
    /// Words of a frame.
    pub framesize: i32,
    /// Positional parameters.
    pub argcount: i32,
    /// Keyword-only parameters.
    pub kwonly: i32,
    /// `co_flags`.
    pub flags: i32,
    /// Index of the first traceable unit.
    pub first_traceable: i32,
}

impl CodeShape {
    /// Reads them.
    ///
    /// # Safety
    /// `code` is a code object.
    pub unsafe fn of(code: Object) -> CodeShape {
        let base = code.cast::<u8>();
        // SAFETY: a code object has these fields.
        unsafe {
            CodeShape {
                code,
                nlocalsplus: get(base, abi::code::NLOCALSPLUS),
                framesize: get(base, abi::code::FRAMESIZE),
                argcount: get(base, abi::code::ARGCOUNT),
                kwonly: get(base, abi::code::KWONLYARGCOUNT),
                flags: get(base, abi::code::FLAGS),
                first_traceable: get(base, abi::code::FIRST_TRACEABLE),
            }
        }
    }

    /// True if there is a `*args`.
    pub fn varargs(&self) -> bool {
        self.flags & CO_VARARGS != 0
    }

    /// True if there is a `**kwargs`.
    pub fn varkeywords(&self) -> bool {
        self.flags & CO_VARKEYWORDS != 0
    }

    /// True if locals are slots.
    pub fn optimized(&self) -> bool {
        self.flags & CO_OPTIMIZED != 0
    }

    /// Parameters of a native entry: positional and keyword-only ones, `*args`, `**kwargs`.
    pub fn arity(&self) -> usize {
        self.argcount as usize
            + self.kwonly as usize
            + self.varargs() as usize
            + self.varkeywords() as usize
    }

    /// A new tuple of the names of the keyword-only parameters; null with an exception if there is
    /// no memory.
    ///
    /// # Safety
    /// The code object is alive, and this thread has the interpreter's lock.
    pub unsafe fn keyword_names(&self) -> Object {
        let (first, last) = (self.argcount, self.argcount + self.kwonly);
        // SAFETY: the caller's promise; parameters are the first of the local variables.
        unsafe {
            let all = crate::capi::PyCode_GetVarnames(self.code);
            if all.is_null() {
                return all;
            }
            let names = PyTuple_GetSlice(all, first as Py_ssize_t, last as Py_ssize_t);
            Py_DECREF(all);
            names
        }
    }

    /// True if all parameters are positional.
    pub fn is_plain(&self) -> bool {
        self.kwonly == 0 && !self.varargs() && !self.varkeywords()
    }

    /// Address of the first code unit.
    pub fn units(&self) -> *mut u8 {
        self.code
            .cast::<u8>()
            .wrapping_offset(abi::code::ADAPTIVE as isize)
    }

    /// Words that a native frame has behind the interpreter's: for each local the words of compiled
    /// code ([`LOCAL_WORDS`]), the number of the running copy of an instruction, and the unit's
    /// token.
    pub fn extra_words(&self) -> i32 {
        LOCAL_WORDS as i32 * self.nlocalsplus + 2
    }

    /// Byte offset in those words of the number of the running copy of an instruction.
    pub fn copy(&self) -> i32 {
        8 * LOCAL_WORDS as i32 * self.nlocalsplus
    }

    /// Byte offset in the frame of the words behind it.
    pub fn behind(&self) -> i32 {
        8 * self.framesize
    }

    /// Byte offset of the unit's token in those words.
    pub fn token(&self) -> i32 {
        8 * (LOCAL_WORDS as i32 * self.nlocalsplus + 1)
    }

    /// Byte offset in the frame of the last slot of its operand stack.
    pub fn last_slot(&self) -> i32 {
        8 * (self.framesize - 1)
    }

    /// True for the code of a generator, a coroutine or an asynchronous generator.
    pub fn is_generator(&self) -> bool {
        self.flags & GENERATORS != 0
    }

    /// The qualified name, for messages.
    pub fn name(&self) -> String {
        // SAFETY: the field is a str.
        unsafe { text(get(self.code.cast(), abi::code::QUALNAME)) }
    }

    /// The file it comes from.
    pub fn filename(&self) -> String {
        // SAFETY: the field is a str.
        unsafe { text(get(self.code.cast(), abi::code::FILENAME)) }
    }

    /// The line of the instruction at `pos` (code units).
    pub fn line(&self, pos: u32) -> i32 {
        // SAFETY: the code object is alive; any offset is allowed.
        unsafe { PyCode_Addr2Line(self.code, 2 * pos as c_int) }
    }
}

const CO_OPTIMIZED: i32 = 1;
const CO_VARARGS: i32 = 4;
const CO_VARKEYWORDS: i32 = 8;

/// The text of a str object, lossily; the empty text of anything else.
///
/// # Safety
/// `object` is null or an object.
pub unsafe fn text(object: Object) -> String {
    // SAFETY: the type is checked; the UTF-8 form lives as long as the object.
    unsafe {
        if object.is_null() || PyUnicode_Check(object) == 0 {
            return String::new();
        }
        let mut size: Py_ssize_t = 0;
        let data: *const c_char = PyUnicode_AsUTF8AndSize(object, &mut size);
        if data.is_null() {
            PyErr_Clear();
            return String::new();
        }
        let bytes = std::slice::from_raw_parts(data.cast::<u8>(), size as usize);
        String::from_utf8_lossy(bytes).into_owned()
    }
}

/// A table by address, with a cheap hash: it is read at events and calls.
pub type AddressMap<T> = rustc_hash::FxHashMap<usize, T>;
