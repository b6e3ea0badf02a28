//! The effects of plans on instances that compiled code has allocated and that have no other
//! reference, so that the instances need not be materialised.
//!
//! For example, in `Point(1, 2).x` the stores of `__init__` go to virtual fields, and the load
//! reads one of them; no `Point` is allocated.

use super::classes::{Storage, storage};
use super::{CPythonWorld, PlanIds, class_of};
use crate::abi;
use crate::capi::{Obj, interned};
use crate::objects;
use cladonia::host::{FieldAccess, InstanceAccess, IntrinsicCall};
use cladonia::types::Type;
use pyo3_ffi::*;
use std::sync::OnceLock;

impl CPythonWorld<'_> {
    pub(super) fn find_instance_access(
        &self,
        instance: Type,
        call: &IntrinsicCall,
    ) -> Option<InstanceAccess> {
        let class = class_of(instance.runtime_class_in(objects::host())?)?;
        let place = |offset: i64| u32::try_from(offset).ok();
        // SAFETY: a live class; see the module's contract.
        let values = match unsafe { storage(class) } {
            Storage::Inline(values) => Some(values),
            _ => None,
        };
        let ids = &self.ids;
        Some(match (call.id, &call.imms[..]) {
            // SAFETY: the same.
            (id, _) if id == ids.new_instance && unsafe { has_plain_dealloc(class) } => {
                InstanceAccess::New(class as u64)
            }
            // SAFETY: the same.
            (id, _) if id == ids.new_tuple && unsafe { has_plain_items(class) } => {
                InstanceAccess::New(class as u64)
            }
            (id, [index]) if id == ids.load_item => InstanceAccess::Load(item_place(*index)?),
            (id, [index]) if id == ids.store_item => InstanceAccess::Store(item_place(*index)?),
            // If it has the last one, which is loaded next, and none more.
            (id, [count]) if id == ids.check_size => InstanceAccess::Lacks(item_place(*count)?),
            (id, _) if id == ids.check_inline_values => InstanceAccess::Holds,
            (id, [_, count]) if id == ids.check_shared_keys[0] => {
                InstanceAccess::LacksFrom(place(values?.place(*count))?)
            }
            // It has no dictionary.
            (id, [offset]) if id == ids.check_null && *offset < 0 => InstanceAccess::Holds,
            (id, [offset]) if id == ids.check_null => InstanceAccess::Lacks(place(*offset)?),
            (id, [offset]) if id == ids.check_quiet_slot => InstanceAccess::Quiet(place(*offset)?),
            (id, [offset]) if id == ids.load_field => InstanceAccess::Load(place(*offset)?),
            (id, [offset]) if id == ids.store_slot => InstanceAccess::Store(place(*offset)?),
            (id, [_, index] | [_, index, _])
                if id == ids.store_inline_value || id == ids.store_first_value =>
            {
                InstanceAccess::Store(place(values?.place(*index))?)
            }
            _ => return None,
        })
    }

    pub(super) fn find_first_store(
        &self,
        instance: Type,
        store: &IntrinsicCall,
        stored: &[u32],
    ) -> Option<IntrinsicCall> {
        let &[values, index] = &store.imms[..] else {
            return (store.id == self.ids.store_slot).then(|| store.clone());
        };
        let class = class_of(instance.runtime_class_in(objects::host())?)?;
        // SAFETY: a live class; see the module's contract.
        let Storage::Inline(of_class) = (unsafe { storage(class) }) else {
            return None;
        };
        if store.id != self.ids.store_inline_value || of_class.offset != values {
            return None;
        }
        // Slots are before the values.
        let first = of_class.place(0);
        let used = stored.iter().filter(|place| i64::from(**place) >= first);
        let position = used.count() as i64;
        Some(IntrinsicCall {
            id: self.ids.store_first_value,
            imms: vec![values, index, position],
        })
    }
}

impl PlanIds {
    /// Places are offsets. A store of a slot or value changes neither the keys nor the storage of
    /// the values.
    pub(super) fn find_field_access(&self, call: &IntrinsicCall) -> Option<FieldAccess> {
        let ids = self;
        let place = |offset: i64| u32::try_from(offset).ok();
        let writes = |offset: i64| {
            let load = IntrinsicCall {
                id: ids.load_field,
                imms: vec![offset],
            };
            place(offset).map(|place| FieldAccess::Writes { place, load })
        };
        match (call.id, &call.imms[..]) {
            (id, _)
                if id == ids.check_inline_values
                    || id == ids.check_size
                    || ids.check_shared_keys.contains(&id) =>
            {
                Some(FieldAccess::Apart)
            }
            // A dictionary's pointer is before the object.
            (id, [offset]) if id == ids.check_null && *offset < 0 => Some(FieldAccess::Apart),
            (id, [offset]) if id == ids.check_null || id == ids.load_field => {
                place(*offset).map(FieldAccess::Reads)
            }
            (id, [offset]) if id == ids.store_slot => writes(*offset),
            (id, [values, index] | [values, index, _])
                if id == ids.store_inline_value || id == ids.store_first_value =>
            {
                writes(values + i64::from(abi::dict_values::VALUES) + 8 * index)
            }
            _ => None,
        }
    }
}

/// The place of the first item of an instance of a class derived from `tuple`. Items have places in
/// the opposite order: such an instance drops the last item first.
const ITEM_PLACES: u32 = 1 << 30;

/// The place of an item.
fn item_place(index: i64) -> Option<u32> {
    let index = u32::try_from(index).ok().filter(|i| *i < ITEM_PLACES);
    index.map(|index| ITEM_PLACES - index)
}

/// True if the instances of a class have nothing but the items of a tuple, and their deallocation
/// only drops these, from the last to the first.
pub(super) unsafe fn has_plain_items(class: *mut PyTypeObject) -> bool {
    let tuple = &raw mut PyTuple_Type;
    // SAFETY: the caller's: a live class.
    unsafe {
        (*class).tp_basicsize == (*tuple).tp_basicsize
            && matches!(storage(class), Storage::None)
            && plain_classes_with_slots(class, tuple).is_some()
    }
}

/// True if the deallocation of an instance only drops its attributes, in the order of their
/// offsets, and runs no finaliser. A derived class's slots are cleared before those of its base,
/// which have smaller offsets.
unsafe fn has_plain_dealloc(class: *mut PyTypeObject) -> bool {
    // SAFETY: the caller's: a live class.
    let with_slots = unsafe { plain_classes_with_slots(class, &raw mut PyBaseObject_Type) };
    with_slots.is_some_and(|count| count <= 1)
}

/// The number of classes with slots from a class to `root`, without that; `None` if one of them
/// does not deallocate as classes created by a `class` statement do, if `root` is no base, or if
/// instances have a finaliser.
unsafe fn plain_classes_with_slots(
    class: *mut PyTypeObject,
    root: *mut PyTypeObject,
) -> Option<usize> {
    // SAFETY: the caller's: a live class, whose bases live.
    unsafe {
        let usual = usual_dealloc()?;
        if (*class).tp_finalize.is_some() || (*class).tp_del.is_some() {
            return None;
        }
        let (mut base, mut with_slots) = (class, 0);
        while base != root {
            if base.is_null() || (*base).tp_dealloc.map(|f| f as usize) != Some(usual) {
                return None;
            }
            with_slots += usize::from(Py_SIZE(base.cast()) > 0);
            base = (*base).tp_base;
        }
        Some(with_slots)
    }
}

/// The `tp_dealloc` of classes created by a `class` statement: the address of a function that is
/// not exported.
fn usual_dealloc() -> Option<usize> {
    static FOUND: OnceLock<Option<usize>> = OnceLock::new();
    *FOUND.get_or_init(|| {
        // SAFETY: this thread has the lock while a world is queried; the module's class is such a
        // class. An import could call the program's own `__import__`, so the module, which exists
        // since the interpreter's start, is looked up instead.
        unsafe {
            let module = PyImport_GetModule(interned!("_frozen_importlib"));
            let class = if module.is_null() {
                module
            } else {
                PyObject_GetAttrString(module, c"ModuleSpec".as_ptr())
            };
            Py_XDECREF(module);
            if class.is_null() {
                PyErr_Clear();
                return None;
            }
            let dealloc = match PyType_Check(class) {
                0 => None,
                _ => (*class.cast::<PyTypeObject>()).tp_dealloc,
            };
            Py_DECREF(class);
            dealloc.map(|f| f as usize)
        }
    })
}

/// An instance in the state after an `__init__` that assigned these values in this order, each at
/// its place; it takes them over. Null with an exception, and nothing taken over, if there is no
/// memory.
///
/// # Safety
/// [`World::instance_access`](cladonia::host::World::instance_access) has approved `class`, with
/// these places.
pub(crate) unsafe fn make_instance(class: Obj, places: &[u32], values: &[Obj]) -> Obj {
    // SAFETY: the caller's promise: a new instance has these places, and they are empty.
    unsafe {
        if PyType_IsSubtype(class.cast(), &raw mut PyTuple_Type) != 0 {
            return make_tuple(class, places, values);
        }
        let made = crate::helpers::new_instance(class);
        if made.is_null() {
            PyErr_NoMemory();
            return made;
        }
        let inline = match storage(class.cast()) {
            Storage::Inline(values) => Some(values),
            _ => None,
        };
        for (&place, &value) in places.iter().zip(values) {
            let object = made.cast::<u8>();
            object.add(place as usize).cast::<Obj>().write(value);
            if let Some(inline) = inline
                && let Ok(bytes) = usize::try_from(i64::from(place) - inline.place(0))
            {
                // Its index is appended to the order of insertion, an array of bytes behind the
                // values.
                let header = object.add(inline.offset as usize);
                let capacity = header.add(abi::dict_values::CAPACITY as usize).read();
                let used = header.add(abi::dict_values::USED as usize);
                let order = header.add(abi::dict_values::VALUES as usize + 8 * capacity as usize);
                order.add(used.read() as usize).write((bytes / 8) as u8);
                used.write(used.read() + 1);
            }
        }
        made
    }
}

/// The same for an instance of a class derived from `tuple`, all of whose items have values.
unsafe fn make_tuple(class: Obj, places: &[u32], values: &[Obj]) -> Obj {
    // SAFETY: the caller's promise.
    unsafe {
        let made = crate::helpers::new_tuple(class, values.len() as i64);
        if made.is_null() {
            PyErr_NoMemory();
            return made;
        }
        for (&place, &value) in places.iter().zip(values) {
            let index = ITEM_PLACES - place;
            let at = abi::tuple::ITEMS as usize + 8 * index as usize;
            made.cast::<u8>().add(at).cast::<Obj>().write(value);
        }
        made
    }
}
