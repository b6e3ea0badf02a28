//! Operations on CPython's objects as LIR, and the description of the host they belong to.
//!
//! An intrinsic is copied into compiled code: its hot path is inline, rare cases are in cold blocks
//! that call a helper, and if it does not apply it fails, so that the unit exits. The standard
//! names are the core's ([`cladonia::host::names`]); [`attributes`] has those that this host's
//! access plans use.
//!
//! For example, `int_box` takes a 64-bit integer: small ints come from the interpreter's table,
//! ints of one digit from a free list if it has any, and the rest from a helper.

pub mod attributes;
pub mod calls;
pub mod computed;
mod containers;
pub mod dictionaries;
pub(crate) mod iterators;
mod namespace;
mod numbers;
pub mod raw_items;
mod references;
mod strings;
#[cfg(test)]
pub(crate) mod tests;
pub(crate) mod thread;

use crate::abi;
use crate::capi::{self, Obj, field, set_field};
use crate::helpers;
use crate::objects;
use crate::runtime::generators;
use cladonia::facts::Effects;
use cladonia::host::{FREE_LEAF, Host, HostBuilder, HostError};
use cladonia::lir::{Builder, Func, HelperId, Signature, Value};
use cladonia::ll::Ty;
use pyo3_ffi::*;
use std::cell::UnsafeCell;
use std::ffi::c_void;
use std::ptr;
use std::sync::OnceLock;

/// A helper of the runtime: name, address, parameters, results.
pub type ExtraHelper<'a> = (&'static str, usize, &'a [Ty], &'a [Ty]);

/// Freed ints that compiled code reuses, as the interpreter does with floats: each is linked to the
/// next by its type field. Ints of two digits are kept apart: the others have no room for the
/// second digit.
#[repr(C)]
struct FreeInts {
    head: UnsafeCell<Obj>,
    count: UnsafeCell<i64>,
    long_head: UnsafeCell<Obj>,
    long_count: UnsafeCell<i64>,
}

// SAFETY: used with the main interpreter's lock only.
unsafe impl Sync for FreeInts {}

static FREE_INTS: FreeInts = FreeInts {
    head: UnsafeCell::new(ptr::null_mut()),
    count: UnsafeCell::new(0),
    long_head: UnsafeCell::new(ptr::null_mut()),
    long_count: UnsafeCell::new(0),
};

impl FreeInts {
    /// Offset of the head.
    const HEAD: i32 = std::mem::offset_of!(FreeInts, head) as i32;
    /// Offset of the count.
    const COUNT: i32 = std::mem::offset_of!(FreeInts, count) as i32;
    /// Maximum ints of each kind that are kept.
    const MOST: i64 = 500;

    fn address() -> u64 {
        &raw const FREE_INTS as u64
    }

    /// Keeps a freed int; false if it is too long, or the list is full.
    ///
    /// # Safety
    /// The caller has the main interpreter's lock; the int is exact, one of that interpreter, and
    /// has no reference any more.
    unsafe fn keep(&self, object: Obj) -> bool {
        // SAFETY: the caller's promise; compiled code uses the same links.
        unsafe {
            let Some((head, count)) = self.list_of(object) else {
                return false;
            };
            if *count == FreeInts::MOST {
                return false;
            }
            *count += 1;
            (*object).ob_type = (*head).cast();
            *head = object;
            true
        }
    }

    /// True if the int is short enough to be kept, and its list is not full.
    ///
    /// # Safety
    /// The object is an exact int; the caller has its interpreter's lock.
    unsafe fn has_room_for(&self, object: Obj) -> bool {
        // SAFETY: the caller's promise. For another interpreter the count is a guess.
        unsafe {
            let list = self.list_of(object);
            list.is_some_and(|(_, count)| *count != FreeInts::MOST)
        }
    }

    /// The head and the count of the list for ints as long as this one.
    ///
    /// # Safety
    /// The object is an exact int.
    unsafe fn list_of(&self, object: Obj) -> Option<(*mut Obj, *mut i64)> {
        // SAFETY: the caller's promise.
        let tag: u64 = unsafe { field(object, abi::long::TAG) };
        match tag >> abi::long::NON_SIZE_BITS {
            0 | 1 => Some((self.head.get(), self.count.get())),
            2 => Some((self.long_head.get(), self.long_count.get())),
            _ => None,
        }
    }

    /// A kept int of two digits, of which only the size is valid.
    ///
    /// # Safety
    /// The caller has the lock.
    unsafe fn take_long(&self) -> Option<Obj> {
        // SAFETY: the caller's promise.
        unsafe {
            let object = *self.long_head.get();
            if object.is_null() {
                return None;
            }
            *self.long_head.get() = (*object).ob_type.cast();
            *self.long_count.get() -= 1;
            Some(object)
        }
    }
}

/// A new reference to an int; aborts the process if there is no memory.
///
/// # Safety
/// The caller has the lock.
pub(crate) unsafe extern "C" fn box_int(value: i64) -> Obj {
    const DIGIT: u64 = (1 << abi::long::DIGIT_BITS) - 1;
    let magnitude = value.unsigned_abs();
    // SAFETY: the caller's promise; the object has two digits, and there is no other reference to
    // it.
    unsafe {
        if magnitude > DIGIT
            && magnitude >> (2 * abi::long::DIGIT_BITS) == 0
            && let Some(object) = FREE_INTS.take_long()
        {
            let sign = if value < 0 {
                abi::long::SIGN_NEGATIVE
            } else {
                0
            };
            abi::counts::set_first(object);
            set_field(object, abi::object::TYPE, &raw mut PyLong_Type);
            let tag = 2 << abi::long::NON_SIZE_BITS | sign as u64;
            set_field(object, abi::long::TAG, tag);
            let digits = [magnitude & DIGIT, magnitude >> abi::long::DIGIT_BITS];
            set_field(object, abi::long::DIGITS, digits.map(|digit| digit as u32));
            return object;
        }
        helpers::box_int(value)
    }
}

/// Deallocates an exact int.
///
/// # Safety
/// The caller has the lock; the int has no reference any more.
unsafe extern "C" fn free_int(object: Obj) {
    // SAFETY: the caller's promise.
    unsafe {
        if !FREE_INTS.keep(object) {
            // All that `int`'s own deallocation does with an object that is not immortal.
            PyObject_Free(object.cast());
        }
    }
}

/// The `tp_free` of `int` while the JIT is on: the interpreter's functions deallocate ints of
/// containers and dicts, too. Other interpreters share the slot, but neither the lock nor the
/// memory, which goes back to their own allocators.
unsafe extern "C" fn keep_or_free(object: *mut c_void) {
    // SAFETY: a slot's promises: this thread has its interpreter's lock, and the object has no
    // reference any more. A subclass has a slot of its own.
    unsafe {
        let int: Obj = object.cast();
        let is_kept = Py_TYPE(int) == &raw mut PyLong_Type
            && FREE_INTS.has_room_for(int)
            && capi::in_main_interpreter()
            && FREE_INTS.keep(int);
        if !is_kept {
            PyObject_Free(object);
        }
    }
}

/// Enables or disables that compiled code reuses the memory of ints which the interpreter's
/// functions have deallocated.
///
/// # Safety
/// The caller has the lock.
pub unsafe fn keep_deallocated_ints(on: bool) {
    // SAFETY: a static class; the interpreter frees its instances by this slot only.
    unsafe {
        let own: freefunc = if on { keep_or_free } else { PyObject_Free };
        let other: freefunc = if on { PyObject_Free } else { keep_or_free };
        let is_other = |free: freefunc| ptr::fn_addr_eq(free, other);
        if PyLong_Type.tp_free.is_some_and(is_other) {
            PyLong_Type.tp_free = Some(own);
        }
    }
}

/// Deallocates an object if that runs no user code and does not use the frame; returns 1 if it did.
///
/// # Safety
/// The caller has the lock; the object has no reference any more.
pub(crate) unsafe extern "C" fn free_leaf(object: Obj) -> i64 {
    // SAFETY: the caller's promise; a kept int is linked by its type field, as compiled code does
    // it.
    unsafe {
        let class = Py_TYPE(object);
        if class == &raw mut PyLong_Type {
            free_int(object);
            return 1;
        }
        if class == &raw mut PyGen_Type {
            return generators::free_ended(object) as i64;
        }
        if !is_leaf(object) {
            return 0;
        }
        capi::_Py_Dealloc(object);
        1
    }
}

/// True if deallocating an object runs no user code and does not use the frame: the objects of
/// [`free_leaf`].
///
/// # Safety
/// The caller has the lock.
pub(crate) unsafe fn is_leaf(object: Obj) -> bool {
    // SAFETY: the caller's promise.
    let class = unsafe { Py_TYPE(object) };
    class == &raw mut PyLong_Type
        || class == &raw mut PyFloat_Type
        || class == &raw mut PyUnicode_Type
        || class == &raw mut PyBytes_Type
}

/// The addresses and helpers of the running interpreter that the intrinsics use.
struct Context {
    /// `_Py_Dealloc(object)`.
    dealloc: HelperId,
    /// Deallocates an exact int.
    free_int: HelperId,
    /// `(f64) -> object`, never null.
    box_float: HelperId,
    /// `(i64) -> object`, never null.
    box_int: HelperId,
    /// `(class) -> object`, or null (and no exception) if there is no memory.
    new_instance: HelperId,
    /// `(class, count) -> object`, or null (and no exception) if there is no memory.
    new_tuple: HelperId,
    /// `(namespace, name, cell) -> object`, borrowed, or null.
    find_name: HelperId,
    /// `(namespace, name, cell, value) -> object`: the old one, null, or the failure value.
    replace_name: HelperId,
    /// `(dict, name) -> i64`: 0 if the dict certainly has no such key.
    dict_may_have: HelperId,
    /// `(dict, name, cell, value) -> object`: the old one, or null without side effects.
    replace_value: HelperId,
    /// `(string, string) -> i64`: 1 if they have the same characters.
    same_text: HelperId,
    /// The table of the immortal strings of one Latin-1 character, by their codes.
    characters: u64,
    /// `(list, start, stop, step) -> object`, or null (and no exception) if there is no memory.
    list_slice: HelperId,
    /// `(object) -> object`, or null (and no exception) if there is no memory.
    new_cell: HelperId,
    /// `(function, object) -> object`, or null (and no exception) if there is no memory.
    bind_method: HelperId,
    /// `(list, low, high, list, start, stop, step) -> i64`: 1 if it was done.
    list_copy_slice: HelperId,
    /// `(callable, operands, count) -> object`, or null with an exception: a call of any callable.
    call_unknown: HelperId,
    /// `(thread, callable, result) -> object`: null, with the exception for a missing or extra
    /// result.
    unfit_result: HelperId,
    /// `(thread, result) -> object`: handles pending work after a call; drops the result if that
    /// raises.
    after_call: HelperId,
    /// The counter of dicts' versions, if it is at the address that the layout gives.
    dict_version: Option<u64>,
    /// The interpreter, if its float free list is at the address that the layout gives.
    float_freelist: Option<u64>,
    /// The lowest small int, if they are contiguous.
    small_ints: Option<u64>,
}

/// The intrinsics under construction.
struct Set<'a> {
    host: &'a mut HostBuilder,
    context: Context,
}

impl Set<'_> {
    /// Defines an intrinsic: its body is built from its parameters.
    fn add(
        &mut self,
        name: &'static str,
        params: &[Ty],
        results: &[Ty],
        effects: Effects,
        body: impl FnOnce(&mut Builder<'_>, &[Value], &Context),
    ) {
        let mut func = Func::new(name, Signature::new(params, results));
        let args = func.params().to_vec();
        body(&mut Builder::new(&mut func), &args, &self.context);
        self.host.intrinsic(name, effects, func);
    }
}

/// Addresses found by probing the interpreter.
struct Found {
    characters: u64,
    dict_version: Option<u64>,
    float_freelist: Option<u64>,
    small_ints: Option<u64>,
}

fn found() -> &'static Found {
    static FOUND: OnceLock<Found> = OnceLock::new();
    FOUND.get_or_init(|| {
        // SAFETY: this thread has the interpreter's lock.
        unsafe {
            helpers::find_frame_readers();
            objects::instances::find();
            helpers::abstract_classes::find();
            Found {
                characters: characters(),
                dict_version: helpers::dictionaries::versions(),
                float_freelist: abi::free_floats::find(),
                small_ints: small_ints(),
            }
        }
    })
}

/// Finds the addresses that the intrinsics use besides the layouts. Runs at the start, before the
/// program can have changed them.
///
/// # Panics
/// If called without the interpreter's lock.
pub fn look_around() {
    found();
}

/// Describes this interpreter to the compiler; `extra` are the runtime's helpers, including the
/// exit hook.
///
/// # Errors
/// A [`HostError`] names a helper or intrinsic that does not match the core's tables.
///
/// # Panics
/// If called without the interpreter's lock.
pub fn describe(extra: &[ExtraHelper<'_>]) -> Result<Host, HostError> {
    let mut host = HostBuilder::new(abi::NAME, objects::host());
    let found = found();
    // SAFETY: the singletons are immortal.
    unsafe {
        host.singletons(Py_None() as u64, Py_True() as u64, Py_False() as u64);
    }
    host.frame_slots(abi::frame::LOCALSPLUS);
    // Two digits.
    host.unboxed_bits(2 * abi::long::DIGIT_BITS as u32);
    abi::declare(&mut host);
    for (name, entry) in helpers::all() {
        host.helper(name, entry.address, &entry.params, &entry.results);
    }
    for &(name, address, params, results) in extra {
        host.helper(name, address, params, results);
    }
    let mut own = |name, entry: helpers::Entry| {
        host.helper(name, entry.address, &entry.params, &entry.results)
    };
    own(FREE_LEAF, helpers::entry!(free_leaf, 1));
    let context = Context {
        dealloc: own("dealloc", helpers::entry!(objects::instances::dealloc, 1)),
        free_int: own("free_int", helpers::entry!(free_int, 1)),
        box_float: own("box_float", helpers::entry!(helpers::box_float, 1)),
        box_int: own("box_int", helpers::entry!(box_int, 1)),
        new_instance: own("new_instance", helpers::entry!(helpers::new_instance, 1)),
        new_tuple: own("new_tuple", helpers::entry!(helpers::new_tuple, 2)),
        find_name: own("find_name", helpers::entry!(crate::namespace::find, 3)),
        replace_name: own(
            "replace_name",
            helpers::entry!(crate::namespace::replace, 4),
        ),
        dict_may_have: own(
            "dict_may_have",
            helpers::entry!(crate::namespace::may_have, 2),
        ),
        replace_value: own(
            "replace_value",
            helpers::entry!(crate::namespace::replace_value, 4),
        ),
        same_text: own("same_text", helpers::entry!(helpers::same_text, 2)),
        characters: found.characters,
        list_slice: own("cut_list", helpers::entry!(helpers::list_slice, 4)),
        new_cell: own("make_cell", helpers::entry!(helpers::new_cell, 1)),
        bind_method: own("make_method", helpers::entry!(helpers::bind_method, 2)),
        list_copy_slice: own(
            "copy_list_slice",
            helpers::entry!(helpers::list_copy_slice, 7),
        ),
        call_unknown: own("call_unknown", helpers::entry!(helpers::call_unknown, 3)),
        unfit_result: own("unfit_result", helpers::entry!(helpers::unfit_result, 3)),
        after_call: own("after_call", helpers::entry!(helpers::after_call, 2)),
        dict_version: found.dict_version,
        float_freelist: found.float_freelist,
        small_ints: found.small_ints,
    };
    let mut set = Set {
        host: &mut host,
        context,
    };
    references::define(&mut set);
    numbers::define(&mut set);
    calls::define(&mut set);
    computed::define(&mut set);
    containers::define(&mut set);
    strings::define(&mut set);
    raw_items::define(&mut set);
    iterators::define(&mut set);
    namespace::define(&mut set);
    thread::define(&mut set);
    attributes::define(&mut set);
    dictionaries::define(&mut set);
    host.finish()
}

/// The addresses of the strings of one Latin-1 character, of which the interpreter has one each;
/// null for a string that it allocates again each time.
unsafe fn characters() -> u64 {
    static CHARACTERS: OnceLock<[usize; 256]> = OnceLock::new();
    let table = CHARACTERS.get_or_init(|| {
        std::array::from_fn(|code| {
            // SAFETY: the caller's promise.
            let [a, b] = [(); 2].map(|()| unsafe { PyUnicode_FromOrdinal(code as i32) });
            // SAFETY: new references, or null.
            let is_one = a == b && !a.is_null() && unsafe { abi::counts::is_immortal(a) };
            // SAFETY: as above.
            unsafe {
                Py_XDECREF(a);
                Py_XDECREF(b);
            }
            if is_one { a as usize } else { 0 }
        })
    });
    table.as_ptr() as u64
}

/// The address of the lowest small int, if they are an array.
unsafe fn small_ints() -> Option<u64> {
    let (lowest, end) = (-abi::long::SMALL_NEGATIVE, abi::long::SMALL_INTS);
    // SAFETY: this thread has the lock; small ints are immortal.
    unsafe {
        let first = PyLong_FromLong(lowest.into()) as u64;
        let place = |int: i32| first + (int - lowest) as u64 * abi::long::SIZE as u64;
        let in_row = (lowest..end).all(|int| PyLong_FromLong(int.into()) as u64 == place(int));
        in_row.then_some(first)
    }
}
