//! The layout of the interpreter's internals, and the check that the running interpreter agrees
//! with it.
//!
//! One module for each minor version (`v3_13`) contains all that is peculiar to that version. The
//! other modules of the crate reach it by the names that are re-exported here, so a wheel for
//! another version is this crate with another module; a test (`tests/versions.rs`) searches the
//! other modules for items of one version. A version's module is used only after [`validate`]: the
//! running interpreter must have the right version and build, its own `_Py_DebugOffsets` must
//! agree, and live objects must have their values where the table has the fields.
//!
//! # Contents of a version module
//! | item | content |
//! | --- | --- |
//! | [`NAME`], [`MINOR`], [`NEWEST_TESTED`] | its name, minor version, newest tested patch |
//! | `audit::hooks` | the hooks of audited events |
//! | [`object`], [`frame`], ... and [`TABLE`] | offsets of fields, and values, a module a struct |
//! | [`declare`] | the structs that the intrinsics read, as they are declared to the core |
//! | [`instructions`] | the encoding of instructions, and the ops for them |
//! | [`feedback`] | specialised instructions, caches and counters, and the types they record |
//! | [`code_units`] | units that the runtime has executed, and distances between units |
//! | [`changed`] | functions of the interpreter that 3.15 changes |
//! | [`calls`] | arguments of a vectorcall on the calling frame's operand stack; taking them over |
//! | [`frames`] | the used part of a frame's stack, the frame's owner, and marks in a frame |
//! | [`generators`] | the states of generators |
//! | [`recursion`] | the limits of a thread's recursion |
//! | [`slots`] | the contents of a frame's slots, and their owner |
//! | [`exports`] | functions of the interpreter whose signatures change |
//! | [`counts`] | reference counts and immortality |
//! | [`COLLECTOR_COUNTS`] | whether linking an object suffices to make the collector track it |
//! | [`dict_versions`] | the record that a dict keeps of a replaced value |
//! | [`ANNOTATE`] | the field of a function with the callable that computes its annotations |
//! | [`free_floats`] | the free list of floats |
//! | [`eval_breaker`] | the word for pending events, and the version of monitoring in it |
//! | [`monitoring`] | numbers of events and tools, and the tools that are registered |
//! | [`tables`] | the encoding of exception and line tables |
//! | [`tier2`] | whether the interpreter's own experimental compiler is on |
//!
//! No trait is involved: the version is decided when the crate is compiled, and a module that lacks
//! an item, or has one of another type, does not compile.

#[macro_use]
#[path = "shared/macros.rs"]
mod macros;
mod selftest;
#[cfg(test)]
mod tests;
#[cfg(not(Py_3_14))]
mod v3_13;
#[cfg(all(Py_3_14, not(Py_3_15)))]
mod v3_14;
#[cfg(Py_3_15)]
mod v3_15;

// The version for which this crate is compiled, as `build.rs` decides. Only this place names it.
#[cfg(not(Py_3_14))]
use v3_13 as version;
#[cfg(all(Py_3_14, not(Py_3_15)))]
use v3_14 as version;
#[cfg(Py_3_15)]
use v3_15 as version;

pub use version::layouts::*;
pub use version::{
    ANNOTATE, COLLECTOR_COUNTS, MINOR, NAME, NEWEST_TESTED, calls, changed, code_units, counts,
    declare, dict_versions, eval_breaker, exports, feedback, frames, free_floats, generators,
    instructions, monitoring, recursion, slots, tables, tier2,
};

use pyo3_ffi as ffi;

/// A reason why Cladonia cannot work in this interpreter.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AbiError {
    /// Another version.
    #[error("this build of Cladonia is for {NAME}, this is {major}.{minor}")]
    Version {
        /// Its major version.
        major: u32,
        /// Its minor version.
        minor: u32,
    },
    /// Another platform.
    #[error("Cladonia needs a 64-bit little-endian platform")]
    Platform,
    /// No GIL.
    #[error("Cladonia does not support the free-threaded build of CPython")]
    FreeThreaded,
    /// `Py_DEBUG`.
    #[error("Cladonia does not support debug builds of CPython")]
    Debug,
    /// A subinterpreter.
    #[error("Cladonia works in the main interpreter only")]
    NotMainInterpreter,
    /// The interpreter's own description of itself disagrees with the table.
    #[error(
        "the layout of this CPython differs from that of {NAME}: `{what}` is {found}, expected {expected}"
    )]
    Layout {
        /// The field.
        what: &'static str,
        /// The value in this interpreter.
        found: u64,
        /// The value in the table.
        expected: u64,
    },
    /// A live object has another value than it should.
    #[error("the self-test of CPython's layout failed: {what}")]
    SelfTest {
        /// The disagreement.
        what: &'static str,
    },
    /// The self-test itself raised.
    #[error("the self-test of CPython's layout could not run: {what}")]
    Raised {
        /// The object that was being made.
        what: &'static str,
    },
}

#[allow(non_upper_case_globals)]
unsafe extern "C" {
    static _PyRuntime: u8;
    static Py_Version: std::ffi::c_ulong;
}

/// The value at `offset` bytes from `base`.
///
/// # Safety
/// A `T` is there.
#[inline]
pub unsafe fn read<T: Copy, P>(base: *const P, offset: i32) -> T {
    // SAFETY: the caller's promise; fields of the interpreter's structs are aligned.
    unsafe { base.byte_offset(offset as isize).cast::<T>().read() }
}

/// Puts `value` at `offset` bytes from `base`.
///
/// # Safety
/// A `T` is there and may be replaced.
#[inline]
pub unsafe fn write<T: Copy, P>(base: *mut P, offset: i32, value: T) {
    // SAFETY: the caller's promise; fields of the interpreter's structs are aligned.
    unsafe { base.byte_offset(offset as isize).cast::<T>().write(value) }
}

/// The addresses of the two words that are null while no hook for audited events is set; `None` if
/// they were not found for certain.
///
/// # Safety
/// The thread has the GIL; the interpreter has been [validated](validate).
pub unsafe fn audit_hooks() -> Option<[i64; 2]> {
    // SAFETY: the caller's promise.
    unsafe { version::audit::hooks(&raw const _PyRuntime) }
}

/// The interpreter that runs, in words: its version, and whether that is newer than any that was
/// tested.
pub fn describe() -> String {
    // SAFETY: `Py_Version` is a constant of every interpreter from 3.11.
    in_words(unsafe { Py_Version })
}

fn in_words(version: std::ffi::c_ulong) -> String {
    let [major, minor, patch] = [24, 16, 8].map(|bits| (version >> bits) as u32 & 0xff);
    let name = format!("CPython {major}.{minor}.{patch}");
    if (major, minor) == (3, MINOR) && patch > NEWEST_TESTED {
        format!("{name} (newer than any this build was tested with; its self-test passed)")
    } else {
        name
    }
}

/// Checks that the running interpreter is one that the tables describe.
///
/// It compiles and runs a few lines of Python. Three fields are checked elsewhere, before their
/// first use, and are not used if they disagree: the counter of versions by
/// [`dict_versions::find`], `interp::MONITORS` by [`monitoring::hears`], and the words of
/// [`audit_hooks`] by a search for them.
///
/// # Errors
/// An [`AbiError`] names the first field that disagrees.
///
/// # Safety
/// The thread has the GIL and no exception is pending.
pub unsafe fn validate() -> Result<(), AbiError> {
    if !cfg!(all(target_pointer_width = "64", target_endian = "little")) {
        return Err(AbiError::Platform);
    }
    // SAFETY: `Py_Version` is a constant of every interpreter from 3.11.
    let version = unsafe { Py_Version };
    let (major, minor) = ((version >> 24) as u32 & 0xff, (version >> 16) as u32 & 0xff);
    if (major, minor) != (3, MINOR) {
        return Err(AbiError::Version { major, minor });
    }
    // SAFETY: the version is right, so `_PyRuntime` begins with its `_Py_DebugOffsets`; the thread
    // has the GIL.
    unsafe {
        check_debug_offsets((&raw const _PyRuntime).cast())?;
        if !ffi::PySys_GetObject(c"gettotalrefcount".as_ptr()).is_null() {
            return Err(AbiError::Debug);
        }
        if ffi::PyInterpreterState_Get() != ffi::PyInterpreterState_Main() {
            return Err(AbiError::NotMainInterpreter);
        }
        selftest::run()
    }
}

/// The contents of `_Py_DebugOffsets`, as (field, group, place in the group, value in our table).
const DEBUG_OFFSETS: &[(&str, i32, i32, i32)] = &[
    ("PyThreadState.interp", debug::THREAD, 3, thread::INTERP),
    (
        "PyThreadState.current_frame",
        debug::THREAD,
        4,
        thread::CURRENT_FRAME,
    ),
    (
        "PyThreadState.datastack_chunk",
        debug::THREAD,
        debug::THREAD_CHUNK,
        thread::DATASTACK_CHUNK,
    ),
    ("sizeof(_PyInterpreterFrame)", debug::FRAME, 0, frame::SIZE),
    (
        "_PyInterpreterFrame.previous",
        debug::FRAME,
        1,
        frame::PREVIOUS,
    ),
    (
        "_PyInterpreterFrame.f_executable",
        debug::FRAME,
        2,
        frame::EXECUTABLE,
    ),
    (
        "_PyInterpreterFrame.instr_ptr",
        debug::FRAME,
        3,
        frame::INSTR_PTR,
    ),
    (
        "_PyInterpreterFrame.localsplus",
        debug::FRAME,
        4,
        frame::LOCALSPLUS,
    ),
    ("_PyInterpreterFrame.owner", debug::FRAME, 5, frame::OWNER),
    ("PyCodeObject.co_filename", debug::CODE, 1, code::FILENAME),
    ("PyCodeObject.co_name", debug::CODE, 2, code::NAME),
    ("PyCodeObject.co_qualname", debug::CODE, 3, code::QUALNAME),
    ("PyCodeObject.co_linetable", debug::CODE, 4, code::LINETABLE),
    (
        "PyCodeObject.co_firstlineno",
        debug::CODE,
        5,
        code::FIRSTLINENO,
    ),
    ("PyCodeObject.co_argcount", debug::CODE, 6, code::ARGCOUNT),
    (
        "PyCodeObject.co_localsplusnames",
        debug::CODE,
        7,
        code::LOCALSPLUS_NAMES,
    ),
    (
        "PyCodeObject.co_localspluskinds",
        debug::CODE,
        8,
        code::LOCALSPLUS_KINDS,
    ),
    (
        "PyCodeObject.co_code_adaptive",
        debug::CODE,
        9,
        code::ADAPTIVE,
    ),
    ("PyObject.ob_type", debug::OBJECT, 1, object::TYPE),
    ("sizeof(PyTypeObject)", debug::TYPE, 0, type_::SIZE),
    ("PyTypeObject.tp_name", debug::TYPE, 1, type_::NAME),
    ("PyTypeObject.tp_flags", debug::TYPE, 3, type_::FLAGS),
    ("PyTupleObject.ob_item", debug::TUPLE, 1, tuple::ITEMS),
    ("PyTupleObject.ob_size", debug::TUPLE, 2, object::VAR_SIZE),
    ("sizeof(PyListObject)", debug::LIST, 0, list::SIZE),
    ("PyListObject.ob_item", debug::LIST, 1, list::ITEMS),
    ("PyListObject.ob_size", debug::LIST, 2, object::VAR_SIZE),
    ("sizeof(PyDictObject)", debug::DICT, 0, dict::SIZE),
    ("PyDictObject.ma_keys", debug::DICT, 1, dict::KEYS),
    ("PyDictObject.ma_values", debug::DICT, 2, dict::VALUES),
    ("sizeof(PyFloatObject)", debug::FLOAT, 0, float::SIZE),
    ("PyFloatObject.ob_fval", debug::FLOAT, 1, float::VALUE),
    ("sizeof(PyLongObject)", debug::LONG, 0, long::SIZE),
    ("PyLongObject.lv_tag", debug::LONG, 1, long::TAG),
    ("PyLongObject.ob_digit", debug::LONG, 2, long::DIGITS),
    ("PyBytesObject.ob_sval", debug::BYTES, 2, bytes::DATA),
    ("PyASCIIObject.state", debug::UNICODE, 1, unicode::STATE),
    ("PyASCIIObject.length", debug::UNICODE, 2, unicode::LENGTH),
    (
        "sizeof(PyASCIIObject)",
        debug::UNICODE,
        3,
        unicode::ASCII_DATA,
    ),
];

/// # Safety
/// `runtime` points to the runtime state of a CPython of this version.
unsafe fn check_debug_offsets(runtime: *const u8) -> Result<(), AbiError> {
    // SAFETY: the runtime state begins with a cookie and then the offsets, groups of `u64`.
    unsafe {
        if read::<[u8; 8], _>(runtime, 0) != *b"xdebugpy" {
            return Err(AbiError::SelfTest {
                what: "_PyRuntime does not begin with _Py_DebugOffsets",
            });
        }
        // This table also has the version: that of another minor version may have another layout.
        let version = read::<u64, _>(runtime, debug::VERSION) >> 16;
        if version != (3 << 8 | u64::from(MINOR)) {
            return Err(AbiError::Version {
                major: (version >> 8) as u32,
                minor: version as u32 & 0xff,
            });
        }
        if read::<u64, _>(runtime, debug::FREE_THREADED) != 0 {
            return Err(AbiError::FreeThreaded);
        }
        for &(what, group, place, expected) in DEBUG_OFFSETS {
            let (found, expected) = (read::<u64, _>(runtime, group + 8 * place), expected as u64);
            if found != expected {
                return Err(AbiError::Layout {
                    what,
                    found,
                    expected,
                });
            }
        }
        // These structs grow at their ends in patch versions.
        for (what, group, expected) in [
            ("sizeof(PyThreadState)", debug::THREAD, thread::SIZE),
            (
                "sizeof(PyInterpreterState)",
                debug::INTERPRETER,
                interp::MONITORS + 1,
            ),
        ] {
            let (found, expected) = (read::<u64, _>(runtime, group), expected as u64);
            if found < expected {
                return Err(AbiError::Layout {
                    what,
                    found,
                    expected,
                });
            }
        }
        Ok(())
    }
}
