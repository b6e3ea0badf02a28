//! The release of references to classes and objects: of those that a compile looked at, after it;
//! of those that a unit relies on, with the unit; and of those that other code has pinned, as soon
//! as it keeps them alive itself.

use super::collector::{Held, Units};
use super::{Object, Registry, lock};
use crate::owned::Owned;
use cladonia::engine::Pins;
use cladonia::types::{ClassHandle, ObjectHandle, Type};
use pyo3_ffi::{self as ffi, PyObject};

/// Releases every class and object that no unit keeps alive, and forgets those that have no pin (of
/// `cladonia::types`). To be called when no compile is running, since objects that a compile has
/// not pinned yet are released too. Returns the number of released references.
///
/// # Safety
/// The caller has the GIL. Giving up a reference may run finalisers, thus any Python code.
pub unsafe fn release_unused() -> usize {
    // The lock is released before the references are: a finaliser may call this function again.
    let released = lock().release_unused();
    released.len()
}

/// Releases one object, also as a class, if no unit relies on it. To be called when its owner is
/// about to drop it, so that it is deallocated where it would be without a compiler.
///
/// # Safety
/// As for [`release_unused`]; another owner keeps `object` alive.
pub unsafe fn let_go(object: *mut PyObject) {
    let mut released = Vec::new();
    // The lock is released before the references are, as in [`release_unused`].
    {
        let mut registry = lock();
        registry.settle_object(object as usize, &mut released);
        registry.settle_class(object as usize, &mut released);
    }
    drop(released);
}

/// As [`release_unused`], for objects that were requested since, or that lost a unit: there are no
/// others to release, except handles of classes whose last derived class is released here.
///
/// # Safety
/// As for [`release_unused`].
pub unsafe fn release_seen() {
    // The lock is released before the references are, as in [`release_unused`].
    let released = lock().release_seen();
    drop(released);
}

/// Counts a pending unit that pins these objects' handles without a reference to the objects: a
/// watcher tells it before one of them is deallocated. Undone by [`give_back`] or [`disown`].
pub fn lend(objects: &[ObjectHandle]) {
    lock().for_each_lent(objects, |known| known.lenders += 1);
}

/// Undoes [`lend`] for a unit that does not rely on the objects any more, while all of them are
/// alive.
pub fn give_back(objects: &[ObjectHandle]) {
    lock().for_each_lent(objects, |known| known.lenders -= 1);
}

/// One of the objects may be deallocated. Forgets the addresses of those that are neither lent to
/// another unit nor kept alive by units: a new object at the same address must get a new handle,
/// though the old handle stays valid until its last pin is dropped.
pub fn disown(objects: &[ObjectHandle]) {
    let mut registry = lock();
    registry.for_each_lent(objects, |known| known.lenders -= 1);
    for object in objects {
        let address = object.token() as usize;
        let is_left = |known: &Object| known.handle == *object && known.lenders == 0;
        let known = registry.objects.get(&address);
        // An object that units keep alive is not deallocated.
        if known.is_some_and(|known| is_left(known) && !known.units.exist()) {
            object.forget();
            let known = registry.objects.remove(&address);
            let held = known.and_then(|known| known.held);
            registry
                .retired_objects
                .extend(held.map(|held| (*object, held)));
        }
    }
}

/// The objects that live as long as a handle: the object, its class, the object as a class, and
/// their bases.
pub struct Reach {
    /// With their addresses: a stale handle has no address any more.
    objects: Vec<(ObjectHandle, u64)>,
    classes: Vec<(ClassHandle, u64)>,
}

impl Reach {
    /// The reach of a type's class or object.
    pub fn of(ty: Type) -> Reach {
        Reach::of_handles(ty.unique_class(), ty.as_object())
    }

    pub(super) fn of_handles(class: Option<ClassHandle>, object: Option<ObjectHandle>) -> Reach {
        let classes = object
            .into_iter()
            .flat_map(|object| object.denotes().into_iter().chain(object.class()))
            .chain(class);
        let with_bases = |class: ClassHandle| {
            let bases = class.mro();
            std::iter::once(class).chain(bases.to_vec())
        };
        let classes = classes.flat_map(with_bases);
        Reach {
            objects: object
                .map(|object| (object, object.token()))
                .into_iter()
                .collect(),
            classes: classes.map(|class| (class, class.token())).collect(),
        }
    }

    /// References to all of these, and to the resolution orders, as a new tuple; null with an
    /// exception set if there is no memory.
    ///
    /// # Safety
    /// The caller has the GIL, and the handles are alive.
    pub unsafe fn keeps(&self) -> *mut PyObject {
        let mut kept = Vec::new();
        {
            let registry = lock();
            kept.extend(self.objects.iter().map(|(_, address)| *address as usize));
            for (handle, address) in &self.classes {
                let address = *address as usize;
                kept.push(address);
                let known = registry.classes.get(&address);
                kept.extend(
                    known
                        .filter(|known| known.handle == *handle)
                        .map(|known| known.mro),
                );
            }
        }
        kept.retain(|address| *address != 0);
        // SAFETY: the address of a live handle belongs to a live object, and so does a registered
        // order.
        unsafe {
            let tuple = ffi::PyTuple_New(kept.len() as ffi::Py_ssize_t);
            if !tuple.is_null() {
                for (place, address) in kept.into_iter().enumerate() {
                    let object = ffi::Py_NewRef(address as *mut PyObject);
                    ffi::PyTuple_SET_ITEM(tuple, place as ffi::Py_ssize_t, object);
                }
            }
            tuple
        }
    }

    /// Lets the next [`release_unused`] do the work of [`settle`](Self::settle).
    pub fn settle_later(&self) {
        let objects = self.objects.iter().map(|(_, address)| *address as usize);
        lock().touched.extend(objects);
    }

    /// Releases those on which no unit relies: for code that pinned them and keeps them alive, or
    /// has just dropped them.
    ///
    /// # Safety
    /// As for [`release_unused`].
    pub unsafe fn settle(&self) {
        // The lock is released before the references are: a finaliser may call this function again.
        let released = lock().settle(self);
        drop(released);
    }
}

/// Keeps the reach of a unit's pins alive, from the unit's creation to [`unhold`]. The unit is of
/// functions of this namespace.
///
/// # Safety
/// The caller has the GIL, and all of it is alive.
pub unsafe fn hold(pins: &Pins, namespace: *mut PyObject) {
    lock().for_each_reached(pins, |registry, reached| {
        registry.change_units(reached, |units| units.add(namespace as usize));
        // SAFETY: the caller's promise.
        unsafe { registry.refer(reached) };
    });
}

/// The unit with these pins is about to be freed.
pub fn unhold(pins: &Pins) {
    lock().for_each_reached(pins, |registry, reached| {
        registry.change_units(reached, Units::remove);
        match reached {
            Held::Object(address) => registry.touched.insert(address),
            Held::Class(address) => registry.touched_classes.insert(address),
        };
    });
}

impl Registry {
    /// Calls `act` for the reach of some pins, except objects that were registered again since:
    /// those are kept alive among the retired ones until their last pin is dropped.
    fn for_each_reached(&mut self, pins: &Pins, act: impl Fn(&mut Registry, Held)) {
        let classes = pins
            .classes
            .iter()
            .map(|pin| Reach::of_handles(pin.handle(), None));
        let objects = pins
            .objects
            .iter()
            .map(|pin| Reach::of_handles(None, pin.handle()));
        for reach in classes.chain(objects) {
            for (handle, address) in reach.objects {
                let address = address as usize;
                let known = self.objects.get(&address);
                if known.is_some_and(|known| known.handle == handle) {
                    act(self, Held::Object(address));
                }
            }
            for (handle, address) in reach.classes {
                let address = address as usize;
                let known = self.classes.get(&address);
                if known.is_some_and(|known| known.handle == handle) {
                    act(self, Held::Class(address));
                }
            }
        }
    }

    fn for_each_lent(&mut self, objects: &[ObjectHandle], act: impl Fn(&mut Object)) {
        for object in objects {
            let known = self.objects.get_mut(&(object.token() as usize));
            known.filter(|known| known.handle == *object).map(&act);
        }
    }

    /// Takes references to objects that were only pinned so far.
    ///
    /// # Safety
    /// The caller has the GIL; it is alive.
    unsafe fn refer(&mut self, to: Held) {
        // SAFETY: the caller's promise; a class keeps its resolution order alive.
        unsafe {
            match to {
                Held::Object(address) => {
                    let object = address as *mut PyObject;
                    let known = self.objects.get_mut(&address);
                    // The end of such a function has not been announced yet.
                    known.is_some_and(|known| {
                        !crate::abi::counts::is_put_off(object) && known.refer(object)
                    })
                }
                Held::Class(address) => {
                    let known = self.classes.get_mut(&address);
                    known.is_some_and(|known| known.refer(address as *mut PyObject))
                }
            };
        }
    }

    fn settle(&mut self, reach: &Reach) -> Vec<Owned> {
        let mut released = Vec::new();
        for (handle, address) in &reach.objects {
            let address = *address as usize;
            if self
                .objects
                .get(&address)
                .is_some_and(|known| known.handle == *handle)
            {
                self.settle_object(address, &mut released);
            }
        }
        for (handle, address) in &reach.classes {
            let address = *address as usize;
            if self
                .classes
                .get(&address)
                .is_some_and(|known| known.handle == *handle)
            {
                self.settle_class(address, &mut released);
            }
        }
        self.release_retired(&mut released);
        released
    }

    /// Unless units rely on the object: releases the reference to it, and forgets it if it has no
    /// pin.
    fn settle_object(&mut self, address: usize, released: &mut Vec<Owned>) {
        self.touched.remove(&address);
        let Some(known) = self.objects.get_mut(&address) else {
            return;
        };
        if known.units.exist() {
            return;
        }
        known.forget();
        released.extend(known.held.take());
        if !known.handle.is_alive() {
            self.objects.remove(&address);
        }
    }

    /// The same for a class; a class of the interpreter itself is never forgotten.
    fn settle_class(&mut self, address: usize, released: &mut Vec<Owned>) {
        let Some(known) = self.classes.get_mut(&address) else {
            return;
        };
        if known.units.exist() || !known.is_mortal {
            return;
        }
        known.forget();
        if let Some((class, mro)) = known.held.take() {
            released.extend([class, mro]);
        }
        if !known.handle.is_alive() {
            self.classes.remove(&address);
        }
    }

    /// Releases replaced classes and objects that have lost their last pin.
    fn release_retired(&mut self, released: &mut Vec<Owned>) {
        let objects = self
            .retired_objects
            .extract_if(.., |(handle, _)| !handle.is_alive());
        released.extend(objects.map(|(_, held)| held));
        let classes = self
            .retired_classes
            .extract_if(.., |(handle, _)| !handle.is_alive());
        released.extend(classes.flat_map(|(_, (class, mro))| [class, mro]));
    }

    fn release_seen(&mut self) -> Vec<Owned> {
        let mut released = Vec::new();
        for address in std::mem::take(&mut self.touched) {
            self.settle_object(address, &mut released);
        }
        for address in std::mem::take(&mut self.touched_classes) {
            self.settle_class(address, &mut released);
        }
        self.release_retired(&mut released);
        released
    }

    fn release_unused(&mut self) -> Vec<Owned> {
        let mut released = self.release_seen();
        // Derived classes pin their bases, so all are forgotten before the dead ones are collected.
        for class in self.classes.values_mut() {
            if class.is_mortal && !class.units.exist() {
                class.forget();
            }
        }
        let classes: Vec<usize> = self.classes.keys().copied().collect();
        for address in classes {
            self.settle_class(address, &mut released);
        }
        self.release_retired(&mut released);
        released
    }
}
