//! When references to classes and objects are given up: what a compile looked at after it, what a unit relies on after the
//! unit, and what somebody else pinned as soon as he keeps it alive himself.

use super::collector::{Held, Units};
use super::{Object, Registry, lock};
use crate::owned::Owned;
use cladonia::engine::Pins;
use cladonia::types::{ClassHandle, ObjectHandle, Type};
use pyo3_ffi::{self as ffi, PyObject};

/// Gives up every class and object that no unit holds, and forgets those that nobody pins (pins are those of `cladonia::types`). To be
/// called when no compile is under way, since what a compile has not pinned yet is given up too. Says how many were given up.
///
/// # Safety
/// The GIL is held. Giving up a reference may run finalisers, thus any Python code.
pub unsafe fn release_unused() -> usize {
    // The lock is let go before the references are: a finaliser may come back here.
    let released = lock().release_unused();
    released.len()
}

/// Gives up one object, and the class that it is, if no unit relies on it: for whoever is told that its holder is about to
/// let go of it, so that it dies where it would without a compiler.
///
/// # Safety
/// As for [`release_unused`]; somebody else holds `object`.
pub unsafe fn let_go(object: *mut PyObject) {
    let mut released = Vec::new();
    // The lock is let go before the references are, as in [`release_unused`].
    {
        let mut registry = lock();
        registry.settle_object(object as usize, &mut released);
        registry.settle_class(object as usize, &mut released);
    }
    drop(released);
}

/// As [`release_unused`], of what was asked for since, or has lost a unit that relied on it: that is all there is to give up, but for handles
/// of classes whose last derived class goes with this.
///
/// # Safety
/// As for [`release_unused`].
pub unsafe fn release_seen() {
    // The lock is let go before the references are, as in [`release_unused`].
    let released = lock().release_seen();
    drop(released);
}

/// Counts a pending unit that pins these objects' handles without a reference to the objects: a watcher tells it before one of them is
/// deallocated. Undone by [`give_back`] or [`disown`].
pub fn lend(objects: &[ObjectHandle]) {
    lock().for_each_lent(objects, |known| known.lenders += 1);
}

/// Undoes [`lend`] for a unit that does not rely on the objects any more, while all of them are alive.
pub fn give_back(objects: &[ObjectHandle]) {
    lock().for_each_lent(objects, |known| known.lenders -= 1);
}

/// One of them may be deallocated. Forgets the addresses of those that neither anybody else was lent nor units hold: a new object at the
/// same address must get a new handle, though the old handle stays valid until its last pin goes.
pub fn disown(objects: &[ObjectHandle]) {
    let mut registry = lock();
    registry.for_each_lent(objects, |known| known.lenders -= 1);
    for object in objects {
        let address = object.token() as usize;
        let is_left = |known: &Object| known.handle == *object && known.lenders == 0;
        let known = registry.objects.get(&address);
        // What units hold does not end.
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

/// What is alive as long as a handle is: the object, its class, the class it is, and what these derive from.
pub struct Reach {
    /// With their addresses: a handle that has gone stale no longer tells.
    objects: Vec<(ObjectHandle, u64)>,
    classes: Vec<(ClassHandle, u64)>,
}

impl Reach {
    /// What a type's class or object reaches.
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

    /// References to all of it, and to the resolution orders, as a new tuple; null with an exception set if there is no memory.
    ///
    /// # Safety
    /// The GIL is held, and the handles are alive.
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
        // SAFETY: a live handle's address is of a live object, and so is an order that is registered.
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

    /// Leaves it to the next [`release_unused`] to do what [`settle`](Self::settle) does.
    pub fn settle_later(&self) {
        let objects = self.objects.iter().map(|(_, address)| *address as usize);
        lock().touched.extend(objects);
    }

    /// Gives up what of this no unit relies on: for whoever pinned it and keeps it alive, or has just let go of it.
    ///
    /// # Safety
    /// As for [`release_unused`].
    pub unsafe fn settle(&self) {
        // The lock is let go before the references are: a finaliser may come back here.
        let released = lock().settle(self);
        drop(released);
    }
}

/// Holds what a unit's pins reach, from the unit's making to [`unhold`]. The unit is of functions of this namespace.
///
/// # Safety
/// The GIL is held, and all of it is alive.
pub unsafe fn hold(pins: &Pins, namespace: *mut PyObject) {
    lock().for_each_reached(pins, |registry, reached| {
        registry.change_units(reached, |units| units.add(namespace as usize));
        // SAFETY: the caller's promise.
        unsafe { registry.refer(reached) };
    });
}

/// The unit with these pins is about to go.
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
    /// Everything that pins reach, but what was registered anew since: that is held among the retired until its last pin goes.
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

    /// Refer to what was only pinned so far.
    ///
    /// # Safety
    /// The GIL is held; it is alive.
    unsafe fn refer(&mut self, to: Held) {
        // SAFETY: the caller's promise; a class holds its resolution order.
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

    /// Unless units rely on the object: gives up the reference to it, and forgets it if nobody pins it.
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

    /// As for an object; a class of the interpreter itself is never forgotten.
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

    /// What was replaced, and has lost its last pin since.
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
        // What derives from a class pins it, so all are forgotten before it is seen which are dead.
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
