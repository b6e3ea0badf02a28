//! Makes the references of units visible to the garbage collector.
//!
//! A unit can be entered only through a function, which refers to its namespace. So the units of a
//! namespace's functions belong to the namespace, and their references count as the namespace's.
//! While the JIT is on, a watched dict reports them to the collector. Otherwise a namespace whose
//! functions refer to each other would never be collected.
//!
//! For example, `exec` creates a namespace with a class `A` and a function `f` that uses it. A unit
//! of `f` owns a reference to `A`, and `A` refers to the namespace through its methods.

use super::{Registry, lock};
use crate::abi::{self, dict_versions};
use crate::capi::in_main_interpreter;
use crate::owned::Owned;
use pyo3_ffi::{PyDict_Type, PyObject, traverseproc, visitproc};
use std::ffi::{c_int, c_void};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// The units that rely on a class or an object.
#[derive(Clone, Copy, Default)]
pub(super) struct Units {
    count: u32,
    /// The namespace of the functions of all of them; `None` if they have several.
    namespace: Option<usize>,
}

impl Units {
    /// True if there are any.
    pub(super) fn exist(self) -> bool {
        self.count != 0
    }

    /// The namespace to which the references of these units belong.
    fn holder(self) -> Option<usize> {
        self.namespace.filter(|_| self.exist())
    }

    /// Adds a unit of a function of this namespace.
    pub(super) fn add(&mut self, namespace: usize) {
        self.namespace = if self.exist() {
            self.namespace.filter(|own| *own == namespace)
        } else {
            Some(namespace)
        };
        self.count += 1;
    }

    /// Removes a unit.
    pub(super) fn remove(&mut self) {
        self.count = self.count.saturating_sub(1);
    }
}

/// A class or an object of the registry, by address: one object may be both.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum Held {
    Object(usize),
    Class(usize),
}

impl Registry {
    fn units_of(&mut self, held: Held) -> Option<&mut Units> {
        match held {
            Held::Object(address) => self.objects.get_mut(&address).map(|known| &mut known.units),
            Held::Class(address) => self.classes.get_mut(&address).map(|known| &mut known.units),
        }
    }

    /// Changes the units that rely on an object, and updates the namespace that it belongs to.
    pub(super) fn change_units(&mut self, held: Held, change: impl FnOnce(&mut Units)) {
        let Some(units) = self.units_of(held) else {
            return;
        };
        let before = units.holder();
        change(units);
        let after = units.holder();
        if before == after {
            return;
        }
        if let Some(namespace) = before
            && let Some(all) = self.holdings.get_mut(&namespace)
        {
            all.remove(&held);
            if all.is_empty() {
                self.holdings.remove(&namespace);
            }
        }
        if let Some(namespace) = after {
            self.holdings.entry(namespace).or_default().insert(held);
        }
    }

    /// The references that only the units of a namespace's functions own.
    fn held_by(&self, namespace: usize) -> Vec<*mut PyObject> {
        let mut found = Vec::new();
        for held in self.holdings.get(&namespace).into_iter().flatten() {
            // An object that was registered again since is referred to by its old handle, and
            // belongs to no namespace.
            let is_own = |units: Units| units.holder() == Some(namespace);
            match held {
                Held::Object(address) => {
                    let known = self.objects.get(address).filter(|o| is_own(o.units));
                    found.extend(known.and_then(|o| o.held.as_ref()).map(Owned::as_ptr));
                }
                Held::Class(address) => {
                    let known = self.classes.get(address).filter(|c| is_own(c.units));
                    if let Some((class, mro)) = known.and_then(|c| c.held.as_ref()) {
                        found.extend([class.as_ptr(), mro.as_ptr()]);
                    }
                }
            }
        }
        found
    }
}

static ORIGINAL: AtomicUsize = AtomicUsize::new(0);

/// Makes watched dicts report the references of their functions' units.
///
/// # Safety
/// The caller has the GIL.
pub unsafe fn interpose() {
    // SAFETY: the class is static and complete, and nothing compares this slot.
    unsafe {
        if let Some(own) = PyDict_Type.tp_traverse
            && own as usize != traverse as *const () as usize
        {
            ORIGINAL.store(own as usize, Relaxed);
            PyDict_Type.tp_traverse = Some(traverse);
        }
    }
}

/// Restores the class's own function. (Classes derived from it meanwhile keep ours.)
///
/// # Safety
/// The caller has the GIL.
pub unsafe fn restore() {
    let original = ORIGINAL.load(Relaxed);
    if original != 0 {
        // SAFETY: as for [`interpose`]; it was the slot's.
        unsafe {
            PyDict_Type.tp_traverse = Some(std::mem::transmute::<usize, traverseproc>(original));
        }
    }
}

/// Visits the dict's own references, and then each reference of the units, once. The order matters:
/// the collector finalises objects in the order in which it has reached them, and it reaches nearly
/// all of these through the dict. Another interpreter's watched dict is not a namespace of units.
unsafe extern "C" fn traverse(dict: *mut PyObject, visit: visitproc, arg: *mut c_void) -> c_int {
    // SAFETY: the slot's promises: a live dict. The units' references are owned, and remain so
    // during the traversal.
    unsafe {
        let original = std::mem::transmute::<usize, traverseproc>(ORIGINAL.load(Relaxed));
        let stop = original(dict, visit, arg);
        if stop != 0
            || abi::read::<u64, _>(dict, dict_versions::WATCHERS_AT)
                & dict_versions::WATCHERS as u64
                == 0
            || !in_main_interpreter()
        {
            return stop;
        }
        let held = lock().held_by(dict as usize);
        for object in held {
            let stop = visit(object, arg);
            if stop != 0 {
                return stop;
            }
        }
        0
    }
}
