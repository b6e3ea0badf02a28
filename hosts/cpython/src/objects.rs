//! CPython's classes and objects as handles of `cladonia::types`, and back.
//!
//! An address gets a handle once, and the object behind it is alive as long as the handle is: so no
//! other object can have an address that is in compiled code or in a [`Type`]. During a compile,
//! the table here owns a reference to each object that the compile looks at. [`release_unused`]
//! releases these, except for the objects that units rely on ([`hold`]). Other code that pins a
//! handle must keep alive all that the handle reaches ([`Reach::keeps`]), visibly for the
//! collector. The references of units are visible to the collector too ([`collector`]). Everything
//! here needs the GIL, so the mutex of the one table is never contended: nothing under the lock
//! runs Python code.

pub mod collector;
pub mod instances;
pub mod list_iterators;
mod release;
pub mod spares;
#[cfg(test)]
mod tests;
pub mod tracking;

use collector::{Held, Units};
pub use release::{
    Reach, disown, give_back, hold, lend, let_go, release_seen, release_unused, unhold,
};

use crate::abi::{self, type_};
use crate::owned::Owned;
use cladonia::bytecode::ConstValue;
use cladonia::types::{
    ClassDesc, ClassHandle, ClassPin, HostId, ObjectDesc, ObjectHandle, ObjectPin, Predefined,
};
use pyo3_ffi::{self as ffi, PyObject, PyTypeObject};
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};

unsafe extern "C" {
    static mut PyMethod_Type: PyTypeObject;
}

struct Class {
    handle: ClassHandle,
    /// The resolution order (MRO) that the handle was registered with: another one makes the class
    /// another type.
    mro: usize,
    /// True if it can be deallocated; a class of the interpreter itself can't.
    is_mortal: bool,
    /// Owned references that keep the class and that order alive, unless another owner does.
    held: Option<(Owned, Owned)>,
    /// As [`Object::pin`].
    pin: Option<ClassPin>,
    /// The units that rely on it.
    units: Units,
}

struct Object {
    handle: ObjectHandle,
    /// An owned reference that keeps the object alive, unless another owner does.
    held: Option<Owned>,
    /// Keeps the handle alive once it was forgotten and then requested again: another owner may
    /// drop its pin on another thread.
    pin: Option<ObjectPin>,
    /// Number of units that pin it without a reference; a watcher tells them before it is
    /// deallocated.
    lenders: u32,
    /// The units that rely on it.
    units: Units,
}

impl Class {
    /// Takes a reference to the class, which may have been forgotten. False if its handle has gone
    /// stale since it was looked at.
    ///
    /// # Safety
    /// The caller has the GIL; `class` is this one, alive, with the order that it was registered
    /// with.
    unsafe fn refer(&mut self, class: *mut PyObject) -> bool {
        if !self.is_mortal || self.held.is_some() {
            return true;
        }
        self.pin = self.handle.try_pin();
        if self.pin.is_some() {
            // SAFETY: as the caller says; the class keeps its order alive.
            self.held =
                unsafe { Owned::borrow(class).zip(Owned::borrow(self.mro as *mut PyObject)) };
        }
        self.pin.is_some()
    }

    fn forget(&mut self) {
        self.handle.forget();
        self.pin = None;
    }
}

impl Object {
    /// As [`Class::refer`].
    ///
    /// # Safety
    /// The caller has the GIL; `object` is this one, alive.
    unsafe fn refer(&mut self, object: *mut PyObject) -> bool {
        if self.held.is_some() {
            return true;
        }
        self.pin = self.handle.try_pin();
        if self.pin.is_some() {
            // SAFETY: as the caller says.
            self.held = unsafe { Owned::borrow(object) };
        }
        self.pin.is_some()
    }

    fn forget(&mut self) {
        self.handle.forget();
        self.pin = None;
    }
}

struct Registry {
    host: HostId,
    classes: FxHashMap<usize, Class>,
    objects: FxHashMap<usize, Object>,
    /// The references that only the units of one namespace's functions need, by namespace.
    holdings: FxHashMap<usize, FxHashSet<Held>>,
    /// Objects that were requested, or lost a unit, since they were last settled: only these may be
    /// released.
    touched: FxHashSet<usize>,
    /// The same for classes that can be deallocated.
    touched_classes: FxHashSet<usize>,
    /// Classes and objects that were replaced or forgotten while something still pinned them.
    retired_classes: Vec<(ClassHandle, (Owned, Owned))>,
    retired_objects: Vec<(ObjectHandle, Owned)>,
    stale_class: ClassHandle,
    stale_object: ObjectHandle,
}

static REGISTRY: LazyLock<Mutex<Registry>> = LazyLock::new(|| Mutex::new(Registry::new()));

fn lock() -> MutexGuard<'static, Registry> {
    REGISTRY.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The host under which CPython's classes and objects are registered.
pub fn host() -> HostId {
    lock().host
}

/// The handle of a class, registered with all its bases.
///
/// A class whose resolution order the core cannot represent (a metaclass has made an inconsistent
/// one, or the table is full) gets a stale handle, about which no facts are known.
///
/// # Safety
/// The caller has the GIL; `class` is a live, ready class.
pub unsafe fn class_handle(class: *mut PyTypeObject) -> ClassHandle {
    // SAFETY: as the caller says.
    unsafe { lock().class(class) }
}

/// Registers the interpreter's own class of every predefined type, so that each type has its class.
///
/// # Safety
/// The caller has the GIL.
pub unsafe fn register_builtins() {
    for &row in Predefined::ALL {
        // SAFETY: statics of the interpreter; the caller's promise.
        unsafe { class_handle(predefined(row)) };
    }
}

/// The handle of an object, which stays alive while the handle is.
///
/// # Safety
/// The caller has the GIL; `object` is a live object.
pub unsafe fn object_handle(object: *mut PyObject) -> ObjectHandle {
    // SAFETY: as the caller says.
    unsafe { lock().object(object) }
}

/// The class of a handle; null for a stale handle, or one that is not CPython's.
pub fn class_ptr(class: ClassHandle) -> *mut PyTypeObject {
    if class.host() == Some(host()) {
        class.token() as *mut PyTypeObject
    } else {
        std::ptr::null_mut()
    }
}

/// The object of a handle; null for a stale handle, one that is not CPython's, or one whose object
/// may have been deallocated since it was [disowned](disown).
pub fn object_ptr(object: ObjectHandle) -> *mut PyObject {
    let registry = lock();
    if object.host() != Some(registry.host) {
        return std::ptr::null_mut();
    }
    let address = object.token() as usize;
    let known = registry.objects.get(&address);
    let is_known = known.is_some_and(|known| known.handle == object)
        || (registry.retired_objects.iter()).any(|(retired, _)| *retired == object);
    if is_known {
        address as *mut PyObject
    } else {
        std::ptr::null_mut()
    }
}

/// The value of an object, for constant folding: only for objects of exactly these classes, since a
/// subclass may behave differently.
///
/// # Safety
/// The caller has the GIL; `object` is a live object.
pub unsafe fn const_value(object: *mut PyObject) -> ConstValue {
    // SAFETY: as the caller says; each function is called only for objects of its exact class.
    unsafe {
        if object == ffi::Py_None() {
            ConstValue::None
        } else if object == ffi::Py_True() || object == ffi::Py_False() {
            ConstValue::Bool(object == ffi::Py_True())
        } else if ffi::PyLong_CheckExact(object) != 0 {
            let mut overflow = 0;
            let value = ffi::PyLong_AsLongLongAndOverflow(object, &mut overflow);
            if overflow == 0 {
                ConstValue::Int(value)
            } else {
                ConstValue::Other
            }
        } else if ffi::PyFloat_CheckExact(object) != 0 {
            ConstValue::Float(ffi::PyFloat_AS_DOUBLE(object))
        } else if ffi::PyUnicode_CheckExact(object) != 0 {
            text(object).map_or(ConstValue::Other, ConstValue::Str)
        } else {
            ConstValue::Other
        }
    }
}

/// The code objects among a code's constants.
///
/// # Safety
/// The caller has the lock; a live code object.
pub unsafe fn constant_codes(code: *mut PyObject) -> impl Iterator<Item = *mut PyObject> {
    // SAFETY: the caller's; constants are a tuple.
    unsafe {
        let consts: *mut PyObject = abi::read(code.cast::<u8>(), abi::code::CONSTS);
        let consts = (0..ffi::PyTuple_Size(consts)).map(move |i| ffi::PyTuple_GetItem(consts, i));
        consts.filter(|object| ffi::PyCode_Check(*object) != 0)
    }
}

/// Handles of those, and of those among their constants, and so on.
///
/// # Safety
/// As for [`constant_codes`].
pub unsafe fn codes_within(code: *mut PyObject) -> Vec<ObjectHandle> {
    let mut all = Vec::new();
    // SAFETY: the caller's: the code object keeps these alive.
    unsafe {
        for within in constant_codes(code) {
            all.push(object_handle(within));
            all.extend(codes_within(within));
        }
    }
    all
}

/// The text of a string, unless it has a lone surrogate in it.
///
/// # Safety
/// The caller has the GIL; `object` is a live `str`.
pub unsafe fn text(object: *mut PyObject) -> Option<String> {
    let mut length = 0;
    // SAFETY: as the caller says; the string owns the buffer while it lives.
    unsafe {
        let data = ffi::PyUnicode_AsUTF8AndSize(object, &mut length);
        if data.is_null() {
            ffi::PyErr_Clear();
            return None;
        }
        let bytes = std::slice::from_raw_parts(data.cast::<u8>(), length as usize);
        std::str::from_utf8(bytes).ok().map(str::to_owned)
    }
}

/// The interpreter's own class of each predefined type.
///
/// # Safety
/// The interpreter is running.
unsafe fn predefined(row: Predefined) -> *mut PyTypeObject {
    use Predefined as P;
    // SAFETY: these are statics of the interpreter.
    unsafe {
        match row {
            P::Object => &raw mut ffi::PyBaseObject_Type,
            P::BaseException => ffi::PyExc_BaseException.cast(),
            P::BuiltinMethod => &raw mut ffi::PyCFunction_Type,
            P::ByteArray => &raw mut ffi::PyByteArray_Type,
            P::Bytes => &raw mut ffi::PyBytes_Type,
            P::Dict => &raw mut ffi::PyDict_Type,
            P::Float => &raw mut ffi::PyFloat_Type,
            P::FrozenSet => &raw mut ffi::PyFrozenSet_Type,
            P::List => &raw mut ffi::PyList_Type,
            P::Long => &raw mut ffi::PyLong_Type,
            P::Module => &raw mut ffi::PyModule_Type,
            P::Set => &raw mut ffi::PySet_Type,
            P::Tuple => &raw mut ffi::PyTuple_Type,
            P::Type => &raw mut ffi::PyType_Type,
            P::Unicode => &raw mut ffi::PyUnicode_Type,
            P::Bool => &raw mut ffi::PyBool_Type,
            P::Cell => &raw mut ffi::PyCell_Type,
            P::Code => &raw mut ffi::PyCode_Type,
            P::DictItemIter => &raw mut ffi::PyDictIterItem_Type,
            P::DictKeyIter => &raw mut ffi::PyDictIterKey_Type,
            P::Frame => &raw mut ffi::PyFrame_Type,
            P::Func => &raw mut ffi::PyFunction_Type,
            P::Gen => &raw mut ffi::PyGen_Type,
            P::ListIter => &raw mut ffi::PyListIter_Type,
            P::Method => &raw mut PyMethod_Type,
            P::MethodDescr => &raw mut ffi::PyMethodDescr_Type,
            P::NoneType => ffi::Py_TYPE(ffi::Py_None()),
            P::Range => &raw mut ffi::PyRange_Type,
            P::RangeIter => &raw mut ffi::PyRangeIter_Type,
            P::Slice => &raw mut ffi::PySlice_Type,
            P::TupleIter => &raw mut ffi::PyTupleIter_Type,
        }
    }
}

/// The predefined type that a class itself is.
///
/// # Safety
/// The interpreter is running.
unsafe fn predefined_row(class: *mut PyTypeObject) -> Option<Predefined> {
    // SAFETY: as the caller says.
    Predefined::ALL
        .iter()
        .copied()
        .find(|row| unsafe { predefined(*row) } == class)
}

impl Registry {
    fn new() -> Registry {
        let host = HostId::new();
        // A host of its own, closed at once, gives handles that are stale forever.
        let nobody = HostId::new();
        let stale = nobody
            .register_class(ClassDesc::builtin(Predefined::Object, Vec::new()))
            .and_then(|class| {
                Ok((
                    class,
                    nobody.register_object(ObjectDesc::new("nothing", class))?,
                ))
            });
        nobody.close();
        let (stale_class, stale_object) =
            stale.expect("a new host takes `object` and an instance of it");
        Registry {
            host,
            classes: FxHashMap::default(),
            objects: FxHashMap::default(),
            holdings: FxHashMap::default(),
            touched: FxHashSet::default(),
            touched_classes: FxHashSet::default(),
            retired_classes: Vec::new(),
            retired_objects: Vec::new(),
            stale_class,
            stale_object,
        }
    }

    /// # Safety
    /// The caller has the GIL; `class` is a live class.
    unsafe fn class(&mut self, class: *mut PyTypeObject) -> ClassHandle {
        // SAFETY: as the caller says.
        let mro = unsafe { abi::read::<*mut PyObject, _>(class, type_::MRO) };
        if let Some(known) = self.classes.get_mut(&(class as usize))
            && known.mro == mro as usize
            && known.handle.is_alive()
        {
            let is_held = !known.is_mortal || known.held.is_some();
            // SAFETY: as the caller says.
            if unsafe { known.refer(class.cast()) } {
                if !is_held {
                    self.touched_classes.insert(class as usize);
                }
                return known.handle;
            }
        }
        // Its bases were changed, or it was forgotten.
        if let Some(old) = self.classes.remove(&(class as usize)) {
            old.handle.forget();
            self.retired_classes
                .extend(old.held.map(|held| (old.handle, held)));
        }
        // SAFETY: as the caller says.
        unsafe { self.register_class(class, mro) }
    }

    /// # Safety
    /// The caller has the GIL; `class` is a live class with resolution order `mro`.
    unsafe fn register_class(
        &mut self,
        class: *mut PyTypeObject,
        mro: *mut PyObject,
    ) -> ClassHandle {
        // SAFETY: as the caller says; a resolution order is a tuple of classes, alive while the
        // class is.
        unsafe {
            let mut bases = Vec::new();
            let mut nearest = Predefined::Object;
            let own_row = predefined_row(class);
            if mro.is_null() {
                return self.stale_class;
            }
            for i in 0..ffi::PyTuple_GET_SIZE(mro) {
                let base = ffi::PyTuple_GET_ITEM(mro, i).cast::<PyTypeObject>();
                if base == class {
                    continue;
                }
                // A base comes after its derived classes, so its own order is shorter, unless a
                // metaclass has made the orders circular.
                if ffi::PyTuple_GET_SIZE(mro) <= order_length(base) {
                    return self.stale_class;
                }
                bases.push(self.class(base));
                if nearest == Predefined::Object
                    && let Some(row) = predefined_row(base)
                {
                    nearest = row;
                }
            }
            let flags = ffi::PyType_GetFlags(class);
            let is_heap = flags & ffi::Py_TPFLAGS_HEAPTYPE != 0;
            let desc = match own_row {
                Some(row) => ClassDesc::builtin(row, bases).with_name(class_name(class)),
                None => ClassDesc::new(class_name(class), bases, nearest),
            };
            let desc = desc
                .with_final(flags & ffi::Py_TPFLAGS_BASETYPE == 0)
                .with_token(class as u64);
            let Ok(handle) = self.host.register_class(desc) else {
                return self.stale_class;
            };
            let held = if is_heap {
                self.touched_classes.insert(class as usize);
                Owned::borrow(class.cast()).zip(Owned::borrow(mro))
            } else {
                None
            };
            self.classes.insert(
                class as usize,
                Class {
                    handle,
                    mro: mro as usize,
                    is_mortal: is_heap,
                    held,
                    pin: None,
                    units: Units::default(),
                },
            );
            handle
        }
    }

    /// # Safety
    /// The caller has the GIL; `object` is a live object.
    unsafe fn object(&mut self, object: *mut PyObject) -> ObjectHandle {
        // SAFETY: as the caller says.
        unsafe {
            let class = self.class(ffi::Py_TYPE(object));
            self.touched.insert(object as usize);
            if let Some(known) = self.objects.get_mut(&(object as usize))
                && known.handle.class() == Some(class)
                && known.refer(object)
            {
                return known.handle;
            }
            // It was forgotten, or its class has changed.
            if let Some(old) = self.objects.remove(&(object as usize)) {
                old.handle.forget();
                self.retired_objects
                    .extend(old.held.map(|held| (old.handle, held)));
            }
            let denotes = (ffi::PyType_Check(object) != 0).then(|| self.class(object.cast()));
            let desc = ObjectDesc::new(object_name(object), class)
                .with_immortal(abi::counts::is_immortal(object))
                .denoting(denotes.filter(|class| class.is_alive()))
                .with_token(object as u64);
            let Ok(handle) = self.host.register_object(desc) else {
                return self.stale_object;
            };
            let held = Owned::borrow(object);
            let units = Units::default();
            self.objects.insert(
                object as usize,
                Object {
                    handle,
                    held,
                    pin: None,
                    lenders: 0,
                    units,
                },
            );
            handle
        }
    }
}

/// Number of classes in the resolution order of a class.
///
/// # Safety
/// `class` is a live class.
unsafe fn order_length(class: *mut PyTypeObject) -> isize {
    // SAFETY: as the caller says; the order is a tuple or null.
    unsafe {
        let mro = abi::read::<*mut PyObject, _>(class, type_::MRO);
        if mro.is_null() {
            0
        } else {
            ffi::PyTuple_GET_SIZE(mro)
        }
    }
}

/// # Safety
/// `class` is a live class.
unsafe fn class_name(class: *mut PyTypeObject) -> String {
    // SAFETY: the name is a C string, alive while the class is.
    let name = unsafe { std::ffi::CStr::from_ptr((*class).tp_name) }.to_string_lossy();
    // Static classes have their module before the name.
    name.rsplit('.').next().unwrap_or_default().to_owned()
}

/// The text form of an object: a literal, a name, or else the name of its class. No Python code
/// runs.
///
/// # Safety
/// The caller has the GIL; `object` is a live object.
unsafe fn object_name(object: *mut PyObject) -> String {
    // SAFETY: as the caller says; the class determines the fields that are read.
    unsafe {
        match const_value(object) {
            ConstValue::None => return "None".to_owned(),
            ConstValue::Bool(value) => return if value { "True" } else { "False" }.to_owned(),
            ConstValue::Int(value) => return value.to_string(),
            ConstValue::Float(value) => return format!("{value:?}"),
            ConstValue::Str(value) => return format!("{value:?}"),
            ConstValue::Other => {}
        }
        if ffi::PyType_Check(object) != 0 {
            return class_name(object.cast());
        }
        let name = if ffi::Py_TYPE(object) == &raw mut ffi::PyFunction_Type {
            abi::read::<*mut PyObject, _>(object, abi::function::QUALNAME)
        } else if ffi::Py_TYPE(object) == &raw mut ffi::PyCode_Type {
            abi::read::<*mut PyObject, _>(object, abi::code::QUALNAME)
        } else {
            std::ptr::null_mut()
        };
        if !name.is_null()
            && ffi::PyUnicode_Check(name) != 0
            && let Some(name) = text(name)
        {
            return name;
        }
        let class = class_name(ffi::Py_TYPE(object));
        if ffi::PyCFunction_Check(object) != 0 {
            let def = abi::read::<*mut ffi::PyMethodDef, _>(object, abi::builtin::ML);
            return std::ffi::CStr::from_ptr((*def).ml_name)
                .to_string_lossy()
                .into_owned();
        }
        class
    }
}
