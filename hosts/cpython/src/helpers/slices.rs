//! Slices with a start and a stop.
//!
//! Lists, tuples and strings are cut directly where the bounds are `None` or ints. A slice object
//! is allocated only where other code gets it, such as a `__getitem__` written in Python.
//!
//! Safety: the contract of [`super`].

use super::numbers::small_int;
use crate::abi;
use crate::capi::{Obj, field, set_field};
use crate::intrinsics::{free_leaf, is_leaf};
use crate::runtime::sampling;
use pyo3_ffi::*;
use smallvec::SmallVec;
use std::ptr;

pub unsafe extern "C" fn get_slice(a: Obj, start: Obj, stop: Obj) -> Obj {
    // SAFETY: live operands; an object of exactly one of these classes is cut inside its length.
    unsafe {
        sampling::count([a, start, stop]);
        let cut: Option<unsafe extern "C" fn(Obj, Py_ssize_t, Py_ssize_t) -> Obj> =
            if PyList_CheckExact(a) != 0 {
                Some(PyList_GetSlice)
            } else if PyTuple_CheckExact(a) != 0 {
                Some(PyTuple_GetSlice)
            } else if PyUnicode_CheckExact(a) != 0 {
                Some(PyUnicode_Substring)
            } else {
                None
            };
        if let Some(cut) = cut
            && let Some((low, high)) = bounds(start, stop, length(a))
        {
            return cut(a, low, high);
        }
        let slice = PySlice_New(start, stop, ptr::null_mut());
        if slice.is_null() {
            return slice;
        }
        let result = PyObject_GetItem(a, slice);
        Py_DECREF(slice);
        result
    }
}

pub unsafe extern "C" fn set_slice(a: Obj, start: Obj, stop: Obj, value: Obj) -> i64 {
    // SAFETY: live operands; the bounds are inside of the list.
    unsafe {
        sampling::count([a, start, stop]);
        // All other operands go to the interpreter, which raises the right errors.
        if PyList_CheckExact(a) != 0
            && (PyList_CheckExact(value) != 0 || PyTuple_CheckExact(value) != 0)
            && let Some((low, high)) = bounds(start, stop, length(a))
        {
            let same_length = PyList_CheckExact(value) != 0
                && value != a
                && Py_SIZE(value) == high - low
                && high - low <= MOST_REPLACED as isize;
            if same_length {
                replace(a, low, value);
                return 0;
            }
            return i64::from(PyList_SetSlice(a, low, high, value));
        }
        let slice = PySlice_New(start, stop, ptr::null_mut());
        if slice.is_null() {
            return -1;
        }
        let status = PyObject_SetItem(a, slice, value);
        Py_DECREF(slice);
        i64::from(status)
    }
}

pub unsafe extern "C" fn build_slice(start: Obj, stop: Obj, step: Obj) -> Obj {
    // SAFETY: live operands, the last one perhaps null.
    unsafe { PySlice_New(start, stop, step) }
}

/// `a[start:stop:step]`; the step is null if there is none.
pub unsafe extern "C" fn get_extended_slice(a: Obj, bounds: *mut Obj, count: i64) -> Obj {
    // SAFETY: a live operand; the array has three references, of which the last may be null, and
    // which are dropped once.
    unsafe {
        let [start, stop, step] = [0, 1, 2].map(|i| *bounds.add(i));
        let mut result = if PyList_CheckExact(a) != 0 {
            cut_list(
                a,
                start,
                stop,
                if step.is_null() { Py_None() } else { step },
            )
        } else {
            ptr::null_mut()
        };
        if result.is_null() {
            let slice = PySlice_New(start, stop, step);
            if !slice.is_null() {
                result = PyObject_GetItem(a, slice);
                Py_DECREF(slice);
            }
        }
        for i in 0..count as usize {
            Py_XDECREF(*bounds.add(i));
        }
        result
    }
}

/// `a[slice]` of an exact list by a slice of ints; null, and no exception, if the caller must take
/// the general path.
pub unsafe fn get_extended(a: Obj, slice: Obj) -> Obj {
    // SAFETY: the caller's: a live list of exactly that class, and a live slice.
    unsafe {
        let slice = slice.cast::<PySliceObject>();
        cut_list(a, (*slice).start, (*slice).stop, (*slice).step)
    }
}

unsafe fn cut_list(a: Obj, start: Obj, stop: Obj, step: Obj) -> Obj {
    // SAFETY: the caller's: a live list of exactly that class, and live bounds.
    unsafe {
        let step = match word(step) {
            Some(Some(step)) if step != 0 && step != Py_ssize_t::MIN => step,
            Some(None) => 1,
            _ => return ptr::null_mut(),
        };
        let (Some(start), Some(stop)) = (word(start), word(stop)) else {
            return ptr::null_mut();
        };
        let (first, last) = match step > 0 {
            true => (Py_ssize_t::MIN, Py_ssize_t::MAX),
            false => (Py_ssize_t::MAX, Py_ssize_t::MIN),
        };
        let (start, stop) = (start.unwrap_or(first), stop.unwrap_or(last));
        cut(a, Extent::of(Py_SIZE(a), start, stop, step))
    }
}

/// `a[start:stop:step]` of an exact list; null, and no exception, if there is no memory. The step
/// is not 0. A missing bound is passed as the least or the greatest integer.
///
/// # Safety
/// A live list of exactly that class; the lock is held.
pub unsafe extern "C" fn list_slice(a: Obj, start: i64, stop: i64, step: i64) -> Obj {
    // SAFETY: a live list of exactly that class.
    unsafe {
        let [start, stop, step] = [start, stop, step].map(|n| n as Py_ssize_t);
        cut(a, Extent::of(Py_SIZE(a), start, stop, step))
    }
}

/// A new list of items of a list; null, and no exception, if there is no memory.
unsafe fn cut(a: Obj, extent: Extent) -> Obj {
    // SAFETY: the caller's: a live list, which has these items. No other code has the new list yet,
    // and it gets as many items as its size gives.
    unsafe {
        let result = PyList_New(0);
        if result.is_null() {
            PyErr_Clear();
            return result;
        }
        if extent.count > 0 {
            // Not zeroed: every item is stored at once.
            let items = PyMem_Malloc(8 * extent.count as usize).cast::<Obj>();
            if items.is_null() {
                Py_DECREF(result);
                return ptr::null_mut();
            }
            for (i, item) in extent.items(a).enumerate() {
                *items.add(i) = Py_NewRef(item);
            }
            set_field(result, abi::list::ITEMS, items);
            set_field(result, abi::list::ALLOCATED, extent.count);
            set_field(result, abi::object::VAR_SIZE, extent.count);
        }
        result
    }
}

/// `into[low:high] = from[start:stop:step]` of exact lists without the list in between; the bounds
/// are those of [`list_slice`]. Returns 1 if it was done; it runs no arbitrary user code. Returns
/// 0, and nothing has happened, if there is no memory, or if a replaced object has a destructor
/// that the program could observe, such as a `__del__`.
///
/// # Safety
/// Live lists of exactly that class; the lock is held.
pub unsafe extern "C" fn list_copy_slice(
    into: Obj,
    low: i64,
    high: i64,
    from: Obj,
    start: i64,
    stop: i64,
    step: i64,
) -> i64 {
    // SAFETY: live lists of exactly that class, perhaps the same one; each extent is inside its
    // list, and no code runs that may change them.
    unsafe {
        let [low, high, start, stop, step] =
            [low, high, start, stop, step].map(|n| n as Py_ssize_t);
        let replaced = Extent::of(Py_SIZE(into), low, high, 1);
        let copied = Extent::of(Py_SIZE(from), start, stop, step);
        let done = match replaced.count == copied.count {
            true if copied.count == 0 => true,
            // The same items in the opposite order: no reference count changes.
            true if into == from && copied.is_reverse_of(&replaced) => {
                replaced.of_list(into).reverse();
                true
            }
            true => replace_items(into, &replaced, from, &copied),
            false => replace_slice(into, replaced, from, copied),
        };
        i64::from(done)
    }
}

/// The items of a sequence that a slice has.
struct Extent {
    first: Py_ssize_t,
    step: Py_ssize_t,
    count: Py_ssize_t,
}

impl Extent {
    /// The extent in a sequence of the given length. With a negative step, a stop below the
    /// sequence is one before the first item.
    fn of(length: Py_ssize_t, start: Py_ssize_t, stop: Py_ssize_t, step: Py_ssize_t) -> Extent {
        let (least, most) = match step > 0 {
            true => (0, length),
            false => (-1, length - 1),
        };
        let limit = |bound: Py_ssize_t| match bound < 0 {
            true => bound.saturating_add(length).max(least),
            false => bound.min(most),
        };
        let (first, end) = (limit(start), limit(stop));
        let span = if step > 0 { end - first } else { first - end };
        let count = match span > 0 {
            true if step.unsigned_abs() == 1 => span,
            true => (span - 1) / step.abs() + 1,
            false => 0,
        };
        Extent { first, step, count }
    }

    /// Returns true if it has the same items, the last one first. It has at least one.
    fn is_reverse_of(&self, other: &Extent) -> bool {
        self.step == -1 && other.step == 1 && self.first == other.first + other.count - 1
    }

    /// The items in a list, borrowed from it.
    unsafe fn items(&self, list: Obj) -> impl ExactSizeIterator<Item = Obj> {
        // SAFETY: the caller's: a live list, which has these items as long as the iterator is used.
        unsafe {
            let (first, step) = (self.first, self.step);
            let items: *const Obj = field(list, abi::list::ITEMS);
            (0..self.count as usize).map(move |i| *items.offset(first + i as isize * step))
        }
    }

    /// The items in a list as a Rust slice. There is at least one, and the step is 1.
    unsafe fn of_list<'a>(&self, list: Obj) -> &'a mut [Obj] {
        // SAFETY: the caller's: a live list, which has these items; no other code accesses them as
        // long as the slice is used.
        unsafe {
            let items: *mut Obj = field(list, abi::list::ITEMS);
            std::slice::from_raw_parts_mut(items.offset(self.first), self.count as usize)
        }
    }
}

/// Replace items of a list by as many others, perhaps its own. Returns false, and nothing has
/// happened, if the program could observe the deallocation of one of the old items.
unsafe fn replace_items(into: Obj, replaced: &Extent, from: Obj, copied: &Extent) -> bool {
    // SAFETY: the caller's: live lists with these items. The slice is made after the new items,
    // which may be the same, are read.
    unsafe {
        let new: Objects = copied.items(from).map(|item| Py_NewRef(item)).collect();
        let items = replaced.of_list(into);
        let Some(ended) = drop_quietly(items) else {
            new.into_iter().for_each(|item| Py_DECREF(item));
            return false;
        };
        items.copy_from_slice(&new);
        for object in ended {
            free_leaf(object);
        }
        true
    }
}

/// [`replace_items`] with more or fewer new items than old ones.
unsafe fn replace_slice(into: Obj, replaced: Extent, from: Obj, copied: Extent) -> bool {
    // SAFETY: the caller's: live lists with these items. A reference that was dropped as a test is
    // taken again before the object could be deallocated.
    unsafe {
        let list = cut(from, copied);
        if list.is_null() {
            return false;
        }
        let old: Objects = replaced.items(into).collect();
        let is_quiet = drop_quietly(&old).is_some();
        if is_quiet {
            old.into_iter()
                .for_each(|object| abi::counts::take_again(object));
        }
        let end = replaced.first + replaced.count;
        let done = is_quiet && PyList_SetSlice(into, replaced.first, end, list) == 0;
        if is_quiet && !done {
            PyErr_Clear();
        }
        Py_DECREF(list);
        done
    }
}

/// Objects, on the native stack if they are few.
type Objects = SmallVec<[Obj; 32]>;

/// Drop a reference to each object. Returns those of which it was the last reference; the caller
/// deallocates them. `None`, and nothing is dropped, if the program could observe the deallocation
/// of one.
unsafe fn drop_quietly(objects: &[Obj]) -> Option<Objects> {
    // SAFETY: the caller's: live objects, of each of which one reference is its own to drop.
    unsafe {
        let mut ended = Objects::new();
        for (i, &object) in objects.iter().enumerate() {
            if Py_REFCNT(object) == 1 {
                if !is_leaf(object) {
                    let dropped = objects[..i].iter();
                    dropped.for_each(|&object| abi::counts::take_again(object));
                    return None;
                }
                ended.push(object);
            }
            abi::counts::drop_only(object);
        }
        Some(ended)
    }
}

/// Items that are replaced one by one, on the native stack.
const MOST_REPLACED: usize = 64;

/// Replace as many items of a list from `low` as another list has. The old ones die after all are
/// replaced, the last first.
unsafe fn replace(list: Obj, low: Py_ssize_t, with: Obj) {
    // SAFETY: the caller's: two lists; the first has, from `low`, at least the items of the second,
    // which are at most `MOST_REPLACED`.
    unsafe {
        let count = Py_SIZE(with) as usize;
        let from: *const Obj = field(with, abi::list::ITEMS);
        let into: *mut Obj = field::<*mut Obj>(list, abi::list::ITEMS).offset(low);
        let mut old = [ptr::null_mut(); MOST_REPLACED];
        for (i, place) in old.iter_mut().enumerate().take(count) {
            *place = into.add(i).replace(Py_NewRef(*from.add(i)));
        }
        for &object in old[..count].iter().rev() {
            Py_DECREF(object);
        }
    }
}

unsafe fn length(a: Obj) -> Py_ssize_t {
    // SAFETY: the caller's: a live object with a size: an exact list, tuple or string.
    unsafe {
        if PyUnicode_CheckExact(a) != 0 {
            PyUnicode_GetLength(a)
        } else {
            Py_SIZE(a)
        }
    }
}

/// The offsets of two bounds, in order and in range. `None` unless each bound is `None` or an int
/// that fits in a machine word.
unsafe fn bounds(start: Obj, stop: Obj, length: Py_ssize_t) -> Option<(Py_ssize_t, Py_ssize_t)> {
    // SAFETY: the caller's: live bounds.
    unsafe {
        let low = offset(start, 0, length)?;
        let high = offset(stop, length, length)?;
        Some((low, high.max(low)))
    }
}

unsafe fn offset(bound: Obj, none: Py_ssize_t, length: Py_ssize_t) -> Option<Py_ssize_t> {
    // SAFETY: the caller's: a live bound.
    unsafe {
        let Some(value) = word(bound)? else {
            return Some(none);
        };
        let value = if value < 0 {
            value.saturating_add(length)
        } else {
            value
        };
        Some(value.clamp(0, length))
    }
}

/// The value of an int of a machine word, `Some(None)` for `None`.
unsafe fn word(bound: Obj) -> Option<Option<Py_ssize_t>> {
    // SAFETY: the caller's: a live object; an exact int has its first digit.
    unsafe {
        if bound == Py_None() {
            return Some(None);
        }
        if let Some(value) = small_int(bound) {
            return Some(Some(value));
        }
        if PyLong_CheckExact(bound) == 0 {
            return None;
        }
        let mut overflow = 0;
        let value = PyLong_AsLongLongAndOverflow(bound, &mut overflow) as Py_ssize_t;
        (overflow == 0).then_some(Some(value))
    }
}
