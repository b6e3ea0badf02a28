//! Detects accesses to a native frame through `f_locals`.
//!
//! The proxy `frame.f_locals` of a function's frame (PEP 667) reads and sets the frame's slots at
//! any time. So the frame is [opened](frames::open) when such a proxy is created, and its unit
//! exits at its next check if the proxy is still alive then. Mostly it is not
//! (`sys._getframe(1).f_locals["name"]`): the deallocation of the last proxy closes the frame, and
//! its unit continues as if there had been none. If a local was set, the new value stays, and the
//! unit exits. For this the functions of the two classes are replaced while the JIT is on, and as
//! long as a unit exists that was running when it was switched off: in the caller of `disable()`,
//! or in a daemon thread at exit.

use super::capi::*;
use super::{Gil, abi, frames, units};
use crate::capi::in_main_interpreter;
use pyo3_ffi::*;
use std::cell::{Cell, RefCell};
use std::ffi::{CStr, c_int, c_void};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

/// Functions of the classes of frame objects and of proxies.
#[derive(Clone, Copy)]
struct Functions {
    f_locals: getter,
    set_item: objobjargproc,
    merge: binaryfunc,
    update: PyCFunction,
    set_default: PyCFunctionFast,
    dealloc: destructor,
}

const OURS: Functions = Functions {
    f_locals,
    set_item,
    merge,
    update,
    set_default,
    dealloc,
};

/// The classes' own functions, once they were replaced.
static ORIGINALS: OnceLock<Functions> = OnceLock::new();

/// True if ours are to stay even without a unit.
static IS_ON: AtomicBool = AtomicBool::new(false);

impl Functions {
    /// Their addresses.
    fn words(&self) -> [usize; 6] {
        [
            self.f_locals as usize,
            self.set_item as usize,
            self.merge as usize,
            self.update as usize,
            self.set_default as usize,
            self.dealloc as usize,
        ]
    }
}

fn originals() -> &'static Functions {
    ORIGINALS.get().expect("they were replaced")
}

/// The frame of a frame object, if a unit may run in it.
unsafe fn frame_of(object: Object) -> Option<Frame> {
    // SAFETY: a frame object has its frame, which is null once the frame is cleared; a proxy may
    // have lost its frame object.
    unsafe {
        if object.is_null() {
            return None;
        }
        let frame: Frame = get(object.cast(), abi::frame_object::FRAME);
        (!frame.is_null() && frames::is_native(frame)).then_some(frame)
    }
}

/// The getter of `f_locals`.
unsafe extern "C" fn f_locals(object: Object, closure: *mut c_void) -> Object {
    // SAFETY: a descriptor is called with the lock held, and native frames are the main
    // interpreter's.
    let gil = unsafe { Gil::held() };
    // SAFETY: a descriptor's promises: a frame object.
    unsafe {
        let Some(frame) = frame_of(object) else {
            return (originals().f_locals)(object, closure);
        };
        if frames::open(frame) < 0 {
            return std::ptr::null_mut();
        }
        let result = (originals().f_locals)(object, closure);
        let is_proxy = !result.is_null() && PyFrameLocalsProxy_Check(result) != 0;
        if is_proxy && get::<Object>(result.cast(), abi::locals_proxy::FRAME) == object {
            gil.runtime().proxies.add(result);
        } else {
            // A namespace, which is not in a frame's slots.
            frames::close(frame);
        }
        result
    }
}

/// To be called before a proxy sets a local: false with an exception if there is no memory for the
/// raw locals.
unsafe fn before_setting(proxy: Object) -> bool {
    // SAFETY: the caller's: a proxy.
    unsafe {
        if let Some(frame) = frame_of(get(proxy.cast(), abi::locals_proxy::FRAME)) {
            // Not all proxies come from the getter.
            if frames::open(frame) < 0 {
                return false;
            }
            frames::keep_open(frame);
        }
        true
    }
}

/// `proxy[name] = value`, and `del` without a value.
unsafe extern "C" fn set_item(proxy: Object, name: Object, value: Object) -> c_int {
    // SAFETY: a slot's promises.
    unsafe {
        if before_setting(proxy) {
            (originals().set_item)(proxy, name, value)
        } else {
            -1
        }
    }
}

/// `proxy |= values`.
unsafe extern "C" fn merge(proxy: Object, values: Object) -> Object {
    // SAFETY: a slot's promises.
    unsafe {
        if before_setting(proxy) {
            (originals().merge)(proxy, values)
        } else {
            std::ptr::null_mut()
        }
    }
}

/// `proxy.update(values)`.
unsafe extern "C" fn update(proxy: Object, values: Object) -> Object {
    // SAFETY: a method's promises.
    unsafe {
        if before_setting(proxy) {
            (originals().update)(proxy, values)
        } else {
            std::ptr::null_mut()
        }
    }
}

/// `proxy.setdefault(name, value)`.
unsafe extern "C" fn set_default(proxy: Object, args: *mut Object, count: Py_ssize_t) -> Object {
    // SAFETY: a method's promises.
    unsafe {
        if before_setting(proxy) {
            (originals().set_default)(proxy, args, count)
        } else {
            std::ptr::null_mut()
        }
    }
}

unsafe extern "C" fn dealloc(proxy: Object) {
    // SAFETY: a slot's promises. Other interpreters, which share the class, have locks of their own
    // and no native frames: the token is created only if this is the main one.
    unsafe {
        // A proxy that the collector has cleared has lost its frame, which stays open.
        if let Some(frame) = frame_of(get(proxy.cast(), abi::locals_proxy::FRAME)) {
            if Gil::held().runtime().proxies.remove(proxy) {
                frames::close(frame);
            }
        } else if in_main_interpreter() {
            Gil::held().runtime().proxies.remove(proxy);
        }
        (originals().dealloc)(proxy);
    }
}

/// The live proxies for which native frames were opened, by address.
#[derive(Default)]
pub struct Proxies {
    /// The newest one, which is mostly deallocated first; or null.
    newest: Cell<usize>,
    others: RefCell<AddressMap<()>>,
}

impl Proxies {
    fn add(&self, proxy: Object) {
        let before = self.newest.replace(proxy as usize);
        if before != 0 {
            self.others.borrow_mut().insert(before, ());
        }
    }

    /// Forgets a proxy; true if it was known.
    fn remove(&self, proxy: Object) -> bool {
        if self.newest.get() == proxy as usize {
            self.newest.set(0);
            return true;
        }
        let mut others = self.others.borrow_mut();
        !others.is_empty() && others.remove(&(proxy as usize)).is_some()
    }

    /// Forgets all.
    fn clear(&self) {
        self.newest.set(0);
        self.others.take();
    }
}

/// Replaces the classes' functions; undone by [`restore`].
pub fn interpose() {
    IS_ON.store(true, Ordering::Relaxed);
    // SAFETY: this thread has the GIL.
    unsafe {
        if ORIGINALS.get().is_none()
            && let Some(own) = functions()
        {
            let _ = ORIGINALS.set(own);
        }
        if let Some(own) = ORIGINALS.get() {
            exchange(own, &OURS);
        }
    }
}

/// Restores the classes' own functions once the last unit is gone, unless other code has replaced
/// ours since.
pub fn restore(gil: Gil) {
    IS_ON.store(false, Ordering::Relaxed);
    restore_if_last(gil);
}

/// The rest of [`restore`], to be called after units were freed.
pub fn restore_if_last(gil: Gil) {
    if IS_ON.load(Ordering::Relaxed) || units::are_retired(gil) {
        return;
    }
    if let Some(own) = ORIGINALS.get() {
        // SAFETY: this thread has the GIL.
        unsafe { exchange(&OURS, own) };
    }
    // The deallocation of these is not observed any more.
    gil.runtime().proxies.clear();
}

/// The classes' own functions, before any replacement.
unsafe fn functions() -> Option<Functions> {
    // SAFETY: the caller's: this thread has the GIL, the classes are static and complete.
    unsafe {
        let class = &raw mut PyFrameLocalsProxy_Type;
        let (mapping, number) = ((*class).tp_as_mapping, (*class).tp_as_number);
        let (update, set_default) = (
            method(c"update", METH_O)?,
            method(c"setdefault", METH_FASTCALL)?,
        );
        Some(Functions {
            f_locals: (*getter_row()?).get?,
            set_item: mapping.as_ref()?.mp_ass_subscript?,
            merge: number.as_ref()?.nb_inplace_or?,
            update: (*update).ml_meth.PyCFunction,
            set_default: (*set_default).ml_meth.PyCFunctionFast,
            dealloc: (*class).tp_dealloc?,
        })
    }
}

/// Replaces some functions by others. A slot's descriptors have its function too.
unsafe fn exchange(from: &Functions, to: &Functions) {
    // SAFETY: the caller's: this thread has the GIL; the classes are static and complete, and
    // nothing compares these slots.
    unsafe {
        let class = &raw mut PyFrameLocalsProxy_Type;
        let (mapping, number) = ((*class).tp_as_mapping, (*class).tp_as_number);
        let mut places: Vec<*mut usize> = vec![
            (&raw mut (*mapping).mp_ass_subscript).cast(),
            (&raw mut (*number).nb_inplace_or).cast(),
            (&raw mut (*class).tp_dealloc).cast(),
        ];
        places.extend(getter_row().map(|row| (&raw mut (*row).get).cast::<usize>()));
        for (name, flags) in [(c"update", METH_O), (c"setdefault", METH_FASTCALL)] {
            let row = method(name, flags);
            places.extend(row.map(|row| (&raw mut (*row).ml_meth).cast::<usize>()));
        }
        let names = PyType_GetDict(class);
        for name in [c"__setitem__", c"__delitem__", c"__ior__"] {
            let descriptor = PyDict_GetItemString(names, name.as_ptr());
            if !descriptor.is_null() && Py_TYPE(descriptor) == &raw mut PyWrapperDescr_Type {
                let descriptor: *mut PyWrapperDescrObject = descriptor.cast();
                places.push((&raw mut (*descriptor).d_wrapped).cast());
            }
        }
        Py_DECREF(names);
        for place in places {
            if let Some(which) = from.words().iter().position(|word| *word == *place) {
                *place = to.words()[which];
            }
        }
    }
}

/// The row of the proxies' method of this name.
unsafe fn method(name: &CStr, flags: c_int) -> Option<*mut PyMethodDef> {
    // SAFETY: the table of a static class ends with a row without a name.
    unsafe {
        let mut row = PyFrameLocalsProxy_Type.tp_methods;
        while !row.is_null() && !(*row).ml_name.is_null() {
            if CStr::from_ptr((*row).ml_name) == name && (*row).ml_flags == flags {
                return Some(row);
            }
            row = row.add(1);
        }
        None
    }
}

/// The row of `f_locals` among the getters of frame objects.
unsafe fn getter_row() -> Option<*mut PyGetSetDef> {
    // SAFETY: the table of a static class ends with a row without a name.
    unsafe {
        let mut row = PyFrame_Type.tp_getset;
        while !row.is_null() && !(*row).name.is_null() {
            if CStr::from_ptr((*row).name) == c"f_locals" {
                return Some(row);
            }
            row = row.add(1);
        }
        None
    }
}
