//! Assumptions, and CPython's watchers, which report when one is broken.
//!
//! One watcher of each kind serves all units: its callback finds the units that a change affects. A
//! dict watcher is called for every store into a watched dict, so stores that no unit relies on
//! must be filtered fast: keys are compared by address, which is enough because the names of
//! globals are interned.
//!
//! For example, a unit of `def f(x): return SCALE * x` has the value of the global `SCALE` as a
//! constant, and assumes that the name is unchanged. `SCALE = 3` at a later time calls the dict
//! watcher, which invalidates the unit.

use super::capi::*;
use super::function_state;
use super::units::{self, Pending, UnitRef};
use super::{Gil, abi};
use cladonia::facts::Assumption;
use pyo3_ffi::*;
use std::cell::{Cell, RefCell};
use std::collections::HashSet;
use std::collections::hash_map::Entry;
use std::ffi::{c_int, c_void};

/// The interned string of a name that is in a table; any other address otherwise.
///
/// # Safety
/// The caller has the lock.
unsafe fn interned_or_null(name: &str) -> Object {
    // SAFETY: the caller's promise. A table that has the name owns its string.
    unsafe {
        let mut key = PyUnicode_FromStringAndSize(name.as_ptr().cast(), name.len() as Py_ssize_t);
        if key.is_null() {
            PyErr_Clear();
            return key;
        }
        PyUnicode_InternInPlace(&mut key);
        Py_DECREF(key);
        key
    }
}

/// The units that rely on each watched object.
#[derive(Default)]
pub struct Watches {
    ids: Ids,
    /// By dict, then by name (an owned reference to the interned string).
    names: RefCell<AddressMap<AddressMap<Units>>>,
    classes: RefCell<AddressMap<Units>>,
    functions: RefCell<AddressMap<Units>>,
    /// Units that assume that their objects are not visible to introspection.
    private: RefCell<Units>,
    /// Units that store names of a dict.
    writers: RefCell<AddressMap<Units>>,
    /// Names that changed after a unit had relied on them, or that compiled code stores.
    unstable: RefCell<HashSet<(usize, String)>>,
}

type Units = HashSet<UnitRef>;

#[derive(Default)]
struct Ids {
    function: Cell<Option<c_int>>,
    dict: Cell<Option<c_int>>,
    class: Cell<Option<c_int>>,
    code: Cell<Option<c_int>>,
}

impl Watches {
    /// Registers the callbacks.
    ///
    /// # Errors
    /// The kind of watcher for which the interpreter has no room.
    pub fn start(&self, _: Gil) -> Result<(), &'static str> {
        // SAFETY: this thread has the GIL; callbacks live as long as the process.
        unsafe {
            let take = |place: &Cell<Option<c_int>>, id: c_int, kind| {
                if id < 0 {
                    PyErr_Clear();
                    return Err(kind);
                }
                place.set(Some(id));
                Ok(())
            };
            let ids = &self.ids;
            if ids.function.get().is_none() {
                let id = PyFunction_AddWatcher(function_changed);
                take(&ids.function, id, "function")?;
            }
            if ids.dict.get().is_none() {
                take(&ids.dict, PyDict_AddWatcher(dict_changed), "dict")?;
            }
            if ids.class.get().is_none() {
                take(&ids.class, PyType_AddWatcher(class_changed), "type")?;
            }
            if ids.code.get().is_none() {
                take(&ids.code, PyCode_AddWatcher(code_changed), "code")?;
            }
        }
        Ok(())
    }

    /// Watches the assumptions of a unit. Returns false if that is impossible.
    ///
    /// # Safety
    /// The unit is alive, and its assumptions hold.
    pub unsafe fn register(&self, gil: Gil, unit: UnitRef) -> bool {
        // SAFETY: the caller's promise.
        unsafe {
            if !self.watch(gil, unit, (*unit).assumptions()) {
                return false;
            }
            if (*unit).cells.is_some() {
                // To be told when the dict is deallocated: another dict may get its address.
                let dict = (*unit).globals;
                let watched = self.ids.dict.get();
                let watched = watched.is_some_and(|id| PyDict_Watch(id, dict) == 0);
                if !watched {
                    PyErr_Clear();
                    self.forget(unit);
                    return false;
                }
                let mut writers = self.writers.borrow_mut();
                writers.entry(dict as usize).or_default().insert(unit);
            }
            true
        }
    }

    /// Watches some assumptions of a unit. Returns false if that is impossible: then nothing is
    /// watched for the unit any more.
    ///
    /// # Safety
    /// The unit is alive, and the assumptions hold.
    pub unsafe fn watch(&self, gil: Gil, unit: UnitRef, assumptions: &[Assumption]) -> bool {
        // SAFETY: the caller's promise: tokens of live handles are addresses of objects.
        unsafe {
            for assumption in assumptions {
                let ok = match assumption {
                    Assumption::NameUnchanged { namespace, name } => {
                        self.watch_name(*namespace as usize, name, unit)
                    }
                    Assumption::ClassUnchanged(class) => {
                        self.watch_class(class.token() as usize, unit)
                    }
                    Assumption::FunctionUnchanged(func) => {
                        let mut functions = self.functions.borrow_mut();
                        let units = functions.entry(func.token() as usize).or_default();
                        units.insert(unit);
                        func.token() != 0 && self.ids.function.get().is_some()
                    }
                    Assumption::ObjectsPrivate => {
                        self.private.borrow_mut().insert(unit);
                        gil.runtime().listing.is_unlikely()
                    }
                };
                if !ok {
                    self.forget(unit);
                    return false;
                }
            }
            true
        }
    }

    unsafe fn watch_name(&self, dict: usize, name: &str, unit: UnitRef) -> bool {
        let Some(id) = self.ids.dict.get() else {
            return false;
        };
        // SAFETY: the namespace is alive: the functions that are compiled own references to it.
        unsafe {
            let mut key =
                PyUnicode_FromStringAndSize(name.as_ptr().cast(), name.len() as Py_ssize_t);
            if key.is_null() {
                PyErr_Clear();
                return false;
            }
            PyUnicode_InternInPlace(&mut key);
            let mut names = self.names.borrow_mut();
            if !names.contains_key(&dict) && PyDict_Watch(id, dict as Object) < 0 {
                PyErr_Clear();
                Py_DECREF(key);
                return false;
            }
            let units = names.entry(dict).or_default();
            if units.contains_key(&(key as usize)) {
                Py_DECREF(key);
            }
            units.entry(key as usize).or_default().insert(unit);
            true
        }
    }

    unsafe fn watch_class(&self, class: usize, unit: UnitRef) -> bool {
        let Some(id) = self.ids.class.get() else {
            return false;
        };
        if class == 0 {
            return false;
        }
        // SAFETY: the class is alive. Without a version its changes would not be reported; a change
        // of a base is also reported for each subclass that has a version.
        unsafe {
            if PyType_Watch(id, class as Object) < 0 {
                PyErr_Clear();
                return false;
            }
            if PyUnstable_Type_AssignVersionTag(class as *mut PyTypeObject) == 0 {
                return false;
            }
        }
        let mut classes = self.classes.borrow_mut();
        classes.entry(class).or_default().insert(unit);
        true
    }

    /// A unit does not rely on this any more. An object that the assumption names was pinned when
    /// it was watched, or it is deallocated and no longer in the tables.
    pub fn unwatch(&self, unit: UnitRef, assumption: &Assumption) {
        let remove = |table: &RefCell<AddressMap<Units>>, address: u64| {
            let mut table = table.borrow_mut();
            if let Entry::Occupied(mut units) = table.entry(address as usize) {
                units.get_mut().remove(&unit);
                if units.get().is_empty() {
                    units.remove();
                }
            }
        };
        match assumption {
            Assumption::NameUnchanged { namespace, name } => {
                let mut names = self.names.borrow_mut();
                // SAFETY: this thread has the lock.
                let key = unsafe { interned_or_null(name) };
                if let Some(units) = names
                    .get_mut(&(*namespace as usize))
                    .and_then(|names| names.get_mut(&(key as usize)))
                {
                    units.remove(&unit);
                }
            }
            Assumption::ClassUnchanged(class) => remove(&self.classes, class.token()),
            Assumption::FunctionUnchanged(func) => remove(&self.functions, func.token()),
            Assumption::ObjectsPrivate => {
                self.private.borrow_mut().remove(&unit);
            }
        }
    }

    /// A unit does not rely on anything any more.
    ///
    /// # Safety
    /// The unit is alive.
    pub unsafe fn forget(&self, unit: UnitRef) {
        // Dicts and classes stay watched: watching one again is no cheaper than getting its
        // changes.
        // SAFETY: the caller's promise.
        let state = unsafe { &*unit };
        let pending = state.pending.as_ref().map_or(&[][..], Pending::assumptions);
        let made = state
            .unit
            .as_ref()
            .map_or(&[][..], |made| &made.assumptions);
        for assumption in pending.iter().chain(made) {
            self.unwatch(unit, assumption);
        }
        if state.cells.is_some()
            && let Some(units) = self.writers.borrow_mut().get_mut(&(state.globals as usize))
        {
            units.remove(&unit);
        }
    }

    /// Code calls a function of `gc` that lists objects.
    pub fn gc_lists_objects(&self, gil: Gil) {
        let units = list(&self.private.borrow());
        invalidate_all(gil, units);
    }

    /// The units that rely on a name of a dict.
    fn relying_on_name(&self, dict: usize, name: usize) -> Vec<UnitRef> {
        let names = self.names.borrow();
        let units = names.get(&dict).and_then(|names| names.get(&name));
        units.map_or(Vec::new(), list)
    }

    /// The units that rely on any name of a dict.
    fn relying_on_names(&self, dict: usize) -> Vec<UnitRef> {
        let names = self.names.borrow();
        let units = names.get(&dict).into_iter().flat_map(AddressMap::values);
        list(&units.flatten().copied().collect())
    }

    /// Our bit among the watchers of a dict; 0 if there is none.
    pub fn own_bit(&self) -> i64 {
        self.ids.dict.get().map_or(0, |id| 1 << id)
    }

    /// True if a name changed after a unit had relied on it.
    pub fn is_unstable(&self, namespace: u64, name: &str) -> bool {
        let unstable = self.unstable.borrow();
        !unstable.is_empty() && unstable.contains(&(namespace as usize, name.to_owned()))
    }

    /// Unregisters the callbacks, except that of code objects: their tables remain, so their
    /// deallocation must be reported. The deallocation of a dict or class would not be, so their
    /// tables are emptied.
    pub fn stop(&self, _: Gil) {
        // SAFETY: the ids are ours; this thread has the GIL. A watched object that is deallocated
        // leaves the tables, so these dicts are alive, and each key is a reference that
        // `watch_name` took.
        unsafe {
            let id = self.ids.dict.get();
            for (dict, keys) in self.names.take() {
                if let Some(id) = id {
                    PyDict_Unwatch(id, dict as Object);
                }
                for key in keys.into_keys() {
                    Py_DECREF(key as Object);
                }
            }
            for dict in self.writers.take().into_keys() {
                if let Some(id) = id {
                    PyDict_Unwatch(id, dict as Object);
                }
            }
            self.classes.take();
            self.functions.take();
            self.unstable.take();
            if let Some(id) = self.ids.function.take() {
                PyFunction_ClearWatcher(id);
            }
            if let Some(id) = self.ids.dict.take() {
                PyDict_ClearWatcher(id);
            }
            if let Some(id) = self.ids.class.take() {
                PyType_ClearWatcher(id);
            }
            PyErr_Clear();
        }
    }
}

/// A function's entry has a new unit that cannot serve all raw calls of it: invalidates the units
/// that make them. `unit` is the new one, which may call itself.
///
/// # Safety
/// `code` is the function's code object.
pub unsafe fn raw_entry_changed(gil: Gil, code: Object, unit: UnitRef) {
    let functions = gil.runtime().watches.functions.borrow();
    let callers = functions.iter().filter(|(func, _)| {
        // SAFETY: functions that are watched are alive.
        unsafe { get::<Object>(**func as *mut u8, super::abi::function::CODE) == code }
    });
    let callers: Vec<(Object, Vec<UnitRef>)> = callers
        .map(|(func, units)| (*func as Object, list(units)))
        .collect();
    drop(functions);
    for (func, mut units) in callers {
        units.retain(|other| *other != unit);
        // SAFETY: units in the tables are alive, and invalidating one frees none.
        gil.runtime()
            .recording
            .because("the raw signature of a callee has changed", || unsafe {
                units::break_units(gil, units, &is_function(func));
            });
    }
}

/// Invalidates units. No Python code runs here, so a callback may do this at any point; but no
/// table may be borrowed, since the units leave the tables.
fn invalidate_all(gil: Gil, units: Vec<UnitRef>) {
    for unit in units {
        // SAFETY: units in the tables are alive, and invalidating one frees none.
        unsafe { units::invalidate(gil, unit) };
    }
}

fn list(units: &Units) -> Vec<UnitRef> {
    units.iter().copied().collect()
}

/// The units that rely on the object at this address.
fn relying_on(table: &RefCell<AddressMap<Units>>, address: Object) -> Vec<UnitRef> {
    let table = table.borrow();
    table.get(&(address as usize)).map_or(Vec::new(), list)
}

/// The same; the address leaves the table.
fn take_relying_on(table: &RefCell<AddressMap<Units>>, address: Object) -> Vec<UnitRef> {
    let taken = table.borrow_mut().remove(&(address as usize));
    taken.as_ref().map_or(Vec::new(), list)
}

/// Matches the assumptions about a function.
fn is_function(function: Object) -> impl Fn(&Assumption) -> bool {
    move |assumption| match assumption {
        Assumption::FunctionUnchanged(other) => other.token() == function as u64,
        _ => false,
    }
}

/// Matches the assumptions about a name of a dict.
fn is_name(dict: usize, text: String) -> impl Fn(&Assumption) -> bool {
    move |assumption| match assumption {
        Assumption::NameUnchanged { namespace, name } => *namespace == dict as u64 && *name == text,
        _ => false,
    }
}

unsafe extern "C" fn function_changed(event: c_int, func: Object, _new: Object) -> c_int {
    // SAFETY: the interpreter calls with its lock held.
    let gil = unsafe { Gil::held() };
    let runtime = gil.runtime();
    if event < function_event::DESTROY {
        return 0;
    }
    if event == function_event::DESTROY {
        // Most functions have neither an entry of ours nor a unit that relies on them.
        let units = take_relying_on(&runtime.watches.functions, func);
        // SAFETY: the function is alive, even while it is being destroyed; units in the tables are
        // alive.
        unsafe {
            note_deallocated(gil, &units, func);
            runtime.recording.because("a function was deallocated", || {
                units::break_units(gil, units, &is_function(func));
            });
            let entry: *const c_void = get(func.cast(), abi::function::VECTORCALL);
            if entry != runtime.original_vectorcall {
                let installed = runtime.functions.borrow_mut().remove(&(func as usize));
                if let Some(installed) = installed {
                    release_code(gil, installed.code);
                }
            }
        }
        return 0;
    }
    let units = relying_on(&runtime.watches.functions, func);
    // SAFETY: units in the tables are alive.
    runtime
        .recording
        .because("a function's code or defaults have changed", || unsafe {
            units::break_units(gil, units, &is_function(func));
        });
    // The stub binds the current defaults at each call, but another code object is another
    // function.
    if event == function_event::MODIFY_CODE {
        // SAFETY: the function is alive.
        unsafe { function_state::uninstall(gil, func) };
    }
    0
}

/// Records with the code of these units that a function which they rely on is being deallocated:
/// units that are compiled from now on do not speculate on one function of its code.
unsafe fn note_deallocated(gil: Gil, units: &[UnitRef], func: Object) {
    if units.is_empty() {
        return;
    }
    // SAFETY: the function is alive, even while it is being deallocated; units in the tables are
    // alive.
    unsafe {
        let (code, ..) = function_state::parts_of(func);
        for &unit in units {
            let Some(state) = gil.runtime().state((*unit).shape.code) else {
                continue;
            };
            if let Ok(mut profile) = state.profile.try_borrow_mut() {
                profile.deallocated.insert(code as usize);
            }
        }
    }
}

/// Drops a code object's units if only they, and the function that is being destroyed, keep it
/// alive.
unsafe fn release_code(gil: Gil, code: Object) {
    let runtime = gil.runtime();
    let Some(state) = runtime.state(code) else {
        return;
    };
    // SAFETY: units in tables are alive, and each owns a reference to its code object.
    unsafe {
        let is_its = |unit: &&UnitRef| (***unit).shape.code == code;
        let retired = runtime.retired.borrow().iter().filter(is_its).count();
        let ours = state.units().len() + retired;
        // Most are also a constant of the code that created the function.
        let is_last = Py_REFCNT(code) as usize <= ours + 1;
        if is_last && !runtime.is_code_installed(code) {
            function_state::forget(gil, code as usize);
        }
    }
}

/// Makes other units stop relying on the names that a unit stores: its stores trigger no watcher.
///
/// # Safety
/// The unit is alive, and so are those in the tables.
pub unsafe fn announce_stores(gil: Gil, unit: UnitRef) {
    // SAFETY: the caller's promise; the code object keeps the names alive.
    unsafe {
        let dict = (*unit).globals as usize;
        let names: Object = get((*unit).shape.code.cast(), abi::code::NAMES);
        let stored = (*unit).unit.as_ref().map_or(&[][..], |u| &u.stored_names);
        for &index in stored {
            let name = PyTuple_GetItem(names, index as Py_ssize_t);
            let watches = &gil.runtime().watches;
            watches.unstable.borrow_mut().insert((dict, text(name)));
            let units = watches.relying_on_name(dict, name as usize);
            units::break_units(gil, units, &is_name(dict, text(name)));
        }
    }
}

unsafe extern "C" fn dict_changed(event: c_int, dict: Object, key: Object, new: Object) -> c_int {
    // SAFETY: the interpreter calls with its lock held.
    let gil = unsafe { Gil::held() };
    let runtime = gil.runtime();
    let watches = &runtime.watches;
    if event == DEALLOCATED {
        invalidate_all(gil, take_relying_on(&watches.writers, dict));
    }
    let dict_address = dict as usize;
    if !watches.names.borrow().contains_key(&dict_address) {
        return 0;
    }
    if !(0..=dict_event::DELETED).contains(&event) {
        // Cleared, cloned into or freed: none of its names can be relied on.
        runtime.recording.because("a namespace was cleared", || {
            invalidate_all(gil, watches.relying_on_names(dict_address));
        });
        if event == DEALLOCATED {
            let names = watches.names.borrow_mut().remove(&dict_address);
            let mut unstable = watches.unstable.borrow_mut();
            unstable.retain(|(namespace, _)| *namespace != dict_address);
            for key in names.unwrap_or_default().into_keys() {
                // SAFETY: the reference that `watch_name` took; the deallocation of a string runs
                // no user code.
                unsafe { Py_DECREF(key as Object) };
            }
        }
        return 0;
    }
    let Some(name) = interned(key) else { return 0 };
    if watches.relying_on_name(dict_address, name).is_empty() {
        return 0;
    }
    // SAFETY: the dict is being changed, so it and the key are alive.
    unsafe {
        // If the dict has keys that are no strings, this may run arbitrary user code, so the units
        // that rely on the name are looked up again.
        let old = PyDict_GetItemWithError(dict, key);
        if event == dict_event::MODIFIED && old == new {
            return 0;
        }
        let unstable = (dict_address, text(name as Object));
        let is_broken = is_name(dict_address, unstable.1.clone());
        watches.unstable.borrow_mut().insert(unstable);
        let units = watches.relying_on_name(dict_address, name);
        runtime
            .recording
            .because("a global name got another value", || {
                units::break_units(gil, units, &is_broken);
            });
        // The dict still has the value that it is about to drop. Units without activations are
        // freed first, so that the dict drops the last reference.
        if !runtime.compiler.is_at_work() && !old.is_null() {
            units::reclaim(gil);
            crate::objects::let_go(old);
        }
    }
    0
}

/// `PyDict_EVENT_DEALLOCATED`.
const DEALLOCATED: c_int = 5;

/// The address of the interned string equal to a key.
fn interned(key: Object) -> Option<usize> {
    // SAFETY: the key is alive; its class is checked.
    unsafe {
        if key.is_null() || PyUnicode_CheckExact(key) == 0 {
            return None;
        }
        let state: u32 = get(key.cast(), abi::unicode::STATE);
        if state & 3 != 0 {
            return Some(key as usize);
        }
        let mut copy = key;
        Py_INCREF(copy);
        PyUnicode_InternInPlace(&mut copy);
        let address = copy as usize;
        Py_DECREF(copy);
        Some(address)
    }
}

unsafe extern "C" fn class_changed(class: Object) -> c_int {
    // SAFETY: the interpreter calls with its lock held.
    let gil = unsafe { Gil::held() };
    let units = relying_on(&gil.runtime().watches.classes, class);
    let is_broken = |assumption: &Assumption| match assumption {
        Assumption::ClassUnchanged(other) => other.token() == class as u64,
        _ => false,
    };
    // SAFETY: units in the tables are alive.
    gil.runtime()
        .recording
        .because("a class has changed", || unsafe {
            units::break_units(gil, units, &is_broken);
        });
    0
}

unsafe extern "C" fn code_changed(event: c_int, code: Object) -> c_int {
    // SAFETY: the interpreter calls with its lock held.
    let gil = unsafe { Gil::held() };
    if event == CODE_DESTROY {
        gil.runtime().recording.code_ends(code);
        gil.runtime().advice.forget(code);
    }
    if event == CODE_DESTROY && gil.runtime().state(code).is_some() {
        // SAFETY: the code object is being destroyed, so no function of it is installed.
        unsafe { function_state::forget(gil, code as usize) };
    }
    0
}
