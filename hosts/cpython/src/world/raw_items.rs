//! Containers whose items are numbers in memory: `bytes`, `bytearray` and `array.array`.
//!
//! Their layout is identified by an address: of the class, or of an array's descriptor, which is
//! static memory of the module `array`. That module is not part of the interpreter, so a descriptor
//! is recorded only after the first array of its kind was found to match the layout, according to
//! its exported buffer.

use super::{CPythonWorld, call, class_of};
use crate::abi::{array, object};
use crate::capi::{Obj, field};
use crate::intrinsics::raw_items::{self as raw, ARRAYS, ArrayKind};
use crate::objects;
use cladonia::facts::{RawItems, RawKind};
use cladonia::host::{Host, IntrinsicId};
use cladonia::types::Type;
use pyo3_ffi::*;
use std::ffi::CStr;
use std::mem::MaybeUninit;
use std::sync::{Mutex, PoisonError};

/// The intrinsics for raw items.
#[derive(Clone, Debug)]
pub(super) struct RawIds {
    count: IntrinsicId,
    check_kind: IntrinsicId,
    bytes: IntrinsicId,
    bytearray: [IntrinsicId; 2],
    /// To get and to set, in the order of [`ARRAYS`].
    arrays: Vec<[IntrinsicId; 2]>,
}

impl RawIds {
    pub(super) fn new(host: &Host) -> RawIds {
        let both = |names: [&str; 2]| names.map(|name| host.intrinsic(name));
        RawIds {
            count: host.intrinsic(raw::ITEM_COUNT),
            check_kind: host.intrinsic(raw::CHECK_ARRAY_KIND),
            bytes: host.intrinsic(raw::BYTES_GET),
            bytearray: both([raw::BYTEARRAY_GET, raw::BYTEARRAY_SET]),
            arrays: ARRAYS.iter().map(|a| both([a.get, a.set])).collect(),
        }
    }
}

/// A descriptor of arrays, and the index of their kind in [`ARRAYS`].
type Noted = (u64, usize);

static NOTED: Mutex<Vec<Noted>> = Mutex::new(Vec::new());

/// The address that identifies the layout of the container's raw items, if it has any.
///
/// # Safety
/// The caller has the GIL; a live object.
pub(crate) unsafe fn items_of(container: Obj) -> Option<u64> {
    // SAFETY: the caller's.
    unsafe {
        let class = Py_TYPE(container);
        if class == &raw mut PyBytes_Type || class == &raw mut PyByteArray_Type {
            return Some(class as u64);
        }
        if !is_array(class) {
            return None;
        }
        let descr: u64 = field(container, array::DESCR);
        let mut noted = NOTED.lock().unwrap_or_else(PoisonError::into_inner);
        if !noted.iter().any(|(known, _)| *known == descr) {
            noted.push((descr, kind_of(container)?));
        }
        Some(descr)
    }
}

/// True if a class appears to be the module `array`'s: its objects have the fields that are read of
/// arrays.
unsafe fn is_array(class: *mut PyTypeObject) -> bool {
    const SIZE: Py_ssize_t = array::SIZE as Py_ssize_t;
    // SAFETY: the caller's: a live class. Its name is a C string.
    unsafe {
        PyType_HasFeature(class, Py_TPFLAGS_HEAPTYPE) != 0
            && PyType_HasFeature(class, Py_TPFLAGS_IMMUTABLETYPE) != 0
            && (*class).tp_basicsize == SIZE
            && (*class).tp_itemsize == 0
            && (*class).tp_base == &raw mut PyBaseObject_Type
            && CStr::from_ptr((*class).tp_name) == c"array.array"
    }
}

/// The index in [`ARRAYS`] of the kind of an array, if its buffer matches the layout.
unsafe fn kind_of(container: Obj) -> Option<usize> {
    // SAFETY: the caller's: an array. The descriptor is read only after the fields beside it were
    // found equal to the buffer's.
    unsafe {
        let mut view = MaybeUninit::<Py_buffer>::zeroed();
        if PyObject_GetBuffer(container, view.as_mut_ptr(), PyBUF_FORMAT | PyBUF_ND) != 0 {
            PyErr_Clear();
            return None;
        }
        let view = view.assume_init_mut();
        let count: isize = field(container, object::VAR_SIZE);
        let items: *mut std::ffi::c_void = field(container, array::ITEMS);
        let lies_so = !items.is_null()
            && items == view.buf
            && view.len == count * view.itemsize
            && !view.format.is_null();
        let code = lies_so.then(|| view.format.cast::<u8>().read());
        let size = view.itemsize;
        PyBuffer_Release(view);
        let code = code?;
        let descr: *const u8 = field(container, array::DESCR);
        let says_so = !descr.is_null() && *descr == code;
        let fits = |kind: &ArrayKind| kind.code == code && kind.number.size() == size as usize;
        says_so.then(|| ARRAYS.iter().position(fits))?
    }
}

impl CPythonWorld<'_> {
    pub(super) fn plan_raw_items(&self, receiver: Type, way: u64) -> Option<RawItems> {
        let handle = receiver.runtime_class_in(objects::host());
        let class = match handle {
            Some(handle) => class_of(handle)?,
            None if receiver <= Type::BYTES_EXACT => &raw mut PyBytes_Type,
            None => return None,
        };
        let ids = &self.raw_ids;
        let items = |kind, get, set: Option<IntrinsicId>| RawItems {
            kind,
            guards: Vec::new(),
            len: call(ids.count, &[]),
            get: call(get, &[]),
            set: set.map(|set| call(set, &[])),
        };
        if class == &raw mut PyBytes_Type {
            return Some(items(RawKind::Int, ids.bytes, None));
        }
        if class == &raw mut PyByteArray_Type {
            let [get, set] = ids.bytearray;
            return Some(items(RawKind::Int, get, Some(set)));
        }
        // SAFETY: a live class.
        if !unsafe { is_array(class) } {
            return None;
        }
        let noted = NOTED.lock().unwrap_or_else(PoisonError::into_inner);
        let (_, kind) = *noted.iter().find(|(descr, _)| *descr == way)?;
        let [get, set] = ids.arrays[kind];
        let number = if ARRAYS[kind].number.is_float() {
            RawKind::Float
        } else {
            RawKind::Int
        };
        Some(RawItems {
            guards: vec![call(ids.check_kind, &[way as i64])],
            ..items(number, get, Some(set))
        })
    }
}
