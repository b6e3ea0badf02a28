//! Iteration and unpacking.
//!
//! Safety: the contract of [`super`].

use super::calls;
use crate::abi;
use crate::capi::{Obj, Thread, field, interned};
use crate::objects::list_iterators;
use crate::runtime::{Gil, generators, sampling};
use pyo3_ffi::*;
use std::ptr;

pub unsafe extern "C" fn get_iter(thread: Thread, a: Obj) -> Obj {
    // SAFETY: the running thread and a live operand.
    unsafe {
        if PyList_CheckExact(a) != 0 {
            return list_iterators::make(a);
        }
        if Py_TYPE(a) == &raw mut PyGen_Type {
            return Py_NewRef(a);
        }
        let Some(iterator) = special(thread, a, interned!("__iter__")) else {
            generators::announce();
            return PyObject_GetIter(a);
        };
        if !iterator.is_null() && PyIter_Check(iterator) == 0 {
            abi::changed::not_iterator(a, iterator);
            Py_DECREF(iterator);
            return ptr::null_mut();
        }
        iterator
    }
}

/// The result of a special method without arguments, if the object's class is a user class and has
/// a Python function by this name.
#[inline]
unsafe fn special(thread: Thread, object: Obj, name: Obj) -> Option<Obj> {
    // SAFETY: the caller's: the running thread, a live object, and a name or null.
    unsafe {
        let flags: u64 = field(Py_TYPE(object), abi::type_::FLAGS);
        if flags & (Py_TPFLAGS_HEAPTYPE | Py_TPFLAGS_IMMUTABLETYPE) != Py_TPFLAGS_HEAPTYPE {
            return None;
        }
        if name.is_null() {
            return Some(ptr::null_mut());
        }
        calls::call_special(thread, object, name)
    }
}

pub unsafe extern "C" fn end_iteration(_thread: Thread) -> i64 {
    // SAFETY: the running thread, with the lock held; an exception is pending.
    unsafe {
        if PyErr_ExceptionMatches(PyExc_StopIteration) == 0 {
            return -1;
        }
        PyErr_Clear();
        0
    }
}

/// The items of the next item of an iterator, which is a tuple of `count` items: that is checked
/// before.
pub unsafe extern "C" fn next_items(
    _thread: Thread,
    count: i64,
    _fast: i64,
    iter: Obj,
    out: *mut Obj,
) -> i64 {
    // SAFETY: the running thread, with the lock held, and a live iterator; there is room for so
    // many results.
    unsafe {
        generators::announce();
        let next = (*Py_TYPE(iter)).tp_iternext;
        let item = next.map_or(ptr::null_mut(), |next| next(iter));
        if item.is_null() {
            return match PyErr_Occurred().is_null() {
                true => 0,
                false => end_iteration(_thread),
            };
        }
        debug_assert_eq!(Py_SIZE(item) as i64, count);
        for k in 0..count {
            *out.add(k as usize) = Py_NewRef(PyTuple_GET_ITEM(item, k as Py_ssize_t));
        }
        // Mostly the iterator keeps the tuple for its next item.
        Py_DECREF(item);
        1
    }
}

/// [`iter_next`] where an intrinsic could not give the item.
pub unsafe extern "C" fn iter_next_by(thread: Thread, _fast: i64, iter: Obj, out: *mut Obj) -> i64 {
    // SAFETY: as for `iter_next`.
    unsafe { iter_next(thread, iter, out) }
}

pub unsafe extern "C" fn iter_next(thread: Thread, iter: Obj, out: *mut Obj) -> i64 {
    // SAFETY: the running thread, with the lock held, and a live operand; there is room for a
    // result.
    unsafe {
        if Py_TYPE(iter) == &raw mut PyListIter_Type {
            return list_iterators::next(iter, out);
        }
        let is_generator = Py_TYPE(iter) == &raw mut PyGen_Type;
        if is_generator && generators::has_ended(iter) {
            return 0;
        }
        if is_generator && let Some(item) = generators::resume(Gil::held(), thread, iter, Py_None())
        {
            if item.is_null() {
                return -1;
            }
            if generators::is_suspended(iter) {
                *out = item;
                return 1;
            }
            Py_DECREF(item);
            return 0;
        }
        generators::announce();
        // Others have no plan for a class.
        let class = Py_TYPE(iter);
        let has_plan = class == &raw mut PyEnum_Type
            || class == &raw mut PyZip_Type
            || class == &raw mut PyDictIterItem_Type
            || class == &raw mut PyDictIterKey_Type
            || class == &raw mut PyDictIterValue_Type
            || class == &raw mut PyListRevIter_Type;
        if has_plan || PyType_HasFeature(class, Py_TPFLAGS_HEAPTYPE) != 0 {
            sampling::count([iter]);
        }
        let Some(next) = (*Py_TYPE(iter)).tp_iternext else {
            // The program can call the code of a generator expression with any object as its hidden
            // argument.
            PyErr_Format(
                PyExc_TypeError,
                c"'%.200s' object is not an iterator".as_ptr(),
                (*Py_TYPE(iter)).tp_name,
            );
            return -1;
        };
        let item = match special(thread, iter, interned!("__next__")) {
            Some(item) => item,
            None => next(iter),
        };
        if !item.is_null() {
            *out = item;
            return 1;
        }
        let raised: Obj = field(thread, abi::thread::CURRENT_EXCEPTION);
        if !raised.is_null() {
            if PyErr_ExceptionMatches(PyExc_StopIteration) == 0 {
                return -1;
            }
            PyErr_Clear();
        }
        0
    }
}

/// An iterator of a list or tuple whose next item is the one at this index.
///
/// # Safety
/// A live list or tuple of exactly that class, and a live exact int; the lock is held.
pub unsafe fn seq_iter_at(seq: Obj, next: Obj) -> Obj {
    // SAFETY: the caller's: a live list or tuple of exactly that class, whose iterator no other
    // code has yet, and a live exact int.
    unsafe {
        let made = PyObject_GetIter(seq);
        if !made.is_null() {
            let index = match PyTuple_CheckExact(seq) != 0 {
                true => abi::tuple_iter::INDEX,
                false => abi::list_iter::INDEX,
            };
            let place = made.cast::<u8>().add(index as usize);
            place.cast::<Py_ssize_t>().write(PyLong_AsSsize_t(next));
        }
        made
    }
}

/// The address of the items of an exact tuple or list.
pub(super) unsafe fn items_of(a: Obj) -> Option<*const Obj> {
    // SAFETY: the caller's: a live object.
    unsafe {
        if PyTuple_CheckExact(a) != 0 {
            Some(a.cast::<u8>().add(abi::tuple::ITEMS as usize).cast())
        } else if PyList_CheckExact(a) != 0 {
            Some(field(a, abi::list::ITEMS))
        } else {
            None
        }
    }
}

pub unsafe extern "C" fn unpack_sequence(thread: Thread, count: i64, a: Obj, out: *mut Obj) -> i64 {
    // SAFETY: the running thread and a live operand; there is room for so many results.
    unsafe {
        sampling::count([a]);
        if let Some(items) = items_of(a)
            && Py_SIZE(a) as i64 == count
        {
            for i in 0..count as usize {
                *out.add(i) = Py_NewRef(*items.add(i));
            }
            return 0;
        }
        unpack(thread, a, count as usize, -1, out)
    }
}

/// The immediate: items before the star in the low byte, items after it above.
pub unsafe extern "C" fn unpack_ex(thread: Thread, counts: i64, a: Obj, out: *mut Obj) -> i64 {
    // SAFETY: the running thread and a live operand; there is room for as many results as the
    // counts give.
    unsafe {
        unpack(
            thread,
            a,
            (counts & 0xff) as usize,
            (counts >> 8) as i32,
            out,
        )
    }
}

/// The interpreter fills its stack downwards, so that the first item comes out last.
unsafe fn unpack(thread: Thread, a: Obj, before: usize, after: i32, out: *mut Obj) -> i64 {
    // SAFETY: the caller's: there is room for the results, all of which are written if the call
    // succeeds.
    unsafe {
        let total = if after < 0 {
            before
        } else {
            before + 1 + after as usize
        };
        if abi::exports::unpack_iterable(thread, a, before as i32, after, out.add(total)) == 0 {
            return -1;
        }
        std::slice::from_raw_parts_mut(out, total).reverse();
        0
    }
}
