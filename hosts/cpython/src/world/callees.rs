//! The effect of calling a known object.
//!
//! For example, `len` is a builtin with a known meaning, a Python function has parameters and an
//! entry cell, and a class creates an instance and calls `__init__`.

use super::classes::{is_versioned, wrapped_callable};
use super::instances::has_plain_items;
use super::{CPythonWorld, Name, call, dictionaries, handle_of, object_of};
use crate::abi;
use crate::capi::{_PyType_Lookup, Obj, field};
use crate::objects;
use cladonia::bytecode::{Code, Instr, Op};
use cladonia::facts::{Assumption, Missing};
use cladonia::host::{Builtin, Callee, Inlinee, Kin, MOST_INLINED, Parameters};
use cladonia::types::ObjectHandle;
use pyo3_ffi::*;
use std::ffi::{CStr, c_char};
use std::ptr;
use std::sync::Arc;

/// Functions of C modules with a known meaning.
const FUNCTIONS: &[(&CStr, &CStr, Builtin)] = &[
    (c"builtins", c"len", Builtin::Len),
    (c"builtins", c"abs", Builtin::Abs),
    (c"builtins", c"min", Builtin::Min),
    (c"builtins", c"max", Builtin::Max),
    (c"builtins", c"isinstance", Builtin::IsInstance),
    (c"builtins", c"hasattr", Builtin::HasAttr),
    (c"builtins", c"getattr", Builtin::GetAttr),
    (c"builtins", c"chr", Builtin::Chr),
    (c"builtins", c"ord", Builtin::Ord),
    (c"builtins", c"any", Builtin::Any),
    (c"builtins", c"all", Builtin::All),
    (c"builtins", c"sum", Builtin::Sum),
    (c"builtins", c"sorted", Builtin::Sorted),
    (c"math", c"sqrt", Builtin::Sqrt),
];

impl CPythonWorld<'_> {
    pub(super) fn find_callee(&self, handle: ObjectHandle) -> Option<Callee> {
        let object = object_of(handle)?;
        // SAFETY: a live object of the kind that is checked first.
        unsafe {
            let kind = Py_TYPE(object);
            if kind == &raw mut PyFunction_Type {
                self.function(handle, object)
            } else if kind == &raw mut PyCode_Type {
                self.functions_of(object)
            } else if kind == &raw mut PyCFunction_Type {
                c_function(object).map(Callee::Builtin)
            } else if kind == &raw mut PyType_Type {
                match class(object) {
                    Some(builtin) => Some(Callee::Builtin(builtin)),
                    None => self
                        .class_of_program(object.cast())
                        .or_else(|| self.class_of_items(object.cast()))
                        .or_else(|| exception_class(object.cast())),
                }
            } else if kind == &raw mut PyMethodDescr_Type {
                method_descriptor(object).map(Callee::Builtin)
            } else {
                None
            }
        }
    }

    pub(super) fn find_inlinee(&self, handle: ObjectHandle) -> Option<Inlinee> {
        let object = object_of(handle)?;
        // SAFETY: a live object, whose type is checked before it is read as a code object or a
        // function.
        unsafe {
            if PyCode_Check(object) != 0 {
                let parts = [object, self.globals, self.builtins];
                return Some(Inlinee {
                    code: Arc::new((self.known.inlinee)(ptr::null_mut(), parts)?),
                    checks: vec![call(self.ids.frame_room, &[MOST_INLINED as i64])],
                    cells: Vec::new(),
                    closure: Some(call(self.ids.closure_cell, &[])),
                });
            }
            if Py_TYPE(object) != &raw mut PyFunction_Type {
                return None;
            }
            let parts @ [_, globals, builtins] = parts_of(object);
            let mut code = (self.known.inlinee)(object, parts)?;
            if (globals, builtins) != (self.globals, self.builtins) {
                code.globals = globals as u64;
                let mut others = self.known.others.borrow_mut();
                let pair = *others.entry(code.globals).or_insert((globals, builtins));
                if pair != (globals, builtins) {
                    return None;
                }
            }
            Some(Inlinee {
                code: Arc::new(code),
                checks: vec![call(self.ids.frame_room, &[MOST_INLINED as i64])],
                cells: cells_of(object)?,
                closure: None,
            })
        }
    }

    /// A user-defined class whose instances are allocated as by `object` and passed to its
    /// `__init__`, if it has one.
    unsafe fn class_of_program(&self, class: *mut PyTypeObject) -> Option<Callee> {
        // SAFETY: the caller's: a live class whose own class is `type`.
        unsafe {
            let object = &raw const PyBaseObject_Type;
            let new = (*class).tp_new.map(|f| f as usize);
            if new != (*object).tp_new.map(|f| f as usize) || !is_plain(class) {
                return None;
            }
            let own_init = (*class).tp_init.map(|f| f as usize);
            let init = if own_init == (*object).tp_init.map(|f| f as usize) {
                None
            } else {
                let name = Name::new("__init__")?;
                let found = _PyType_Lookup(class, name.0);
                if found.is_null() || Py_TYPE(found) != &raw mut PyFunction_Type {
                    PyErr_Clear();
                    return None;
                }
                Some(handle_of(found)?)
            };
            let handle = objects::class_handle(class);
            Some(Callee::Class {
                class: handle,
                make: call(self.ids.new_instance, &[class as i64]),
                init,
                assumptions: vec![Assumption::ClassUnchanged(handle)],
            })
        }
    }

    /// A class derived from `tuple` whose `__new__` is a function such as
    /// `lambda _cls, x, y: _tuple_new(_cls, (x, y))`, with `tuple.__new__` as `_tuple_new`:
    /// `collections.namedtuple` makes such classes.
    unsafe fn class_of_items(&self, class: *mut PyTypeObject) -> Option<Callee> {
        // SAFETY: the caller's: a live class whose own class is `type`.
        unsafe {
            let object = &raw const PyBaseObject_Type;
            let init = (*class).tp_init.map(|f| f as usize);
            let is_of_items = PyType_IsSubtype(class, &raw mut PyTuple_Type) != 0
                && init == (*object).tp_init.map(|f| f as usize)
                && is_plain(class)
                && has_plain_items(class);
            if !is_of_items {
                return None;
            }
            let name = Name::new("__new__")?;
            let found = _PyType_Lookup(class, name.0);
            if found.is_null() || Py_TYPE(found) != &raw mut PyStaticMethod_Type {
                PyErr_Clear();
                return None;
            }
            let function = wrapped_callable(found);
            if Py_TYPE(function) != &raw mut PyFunction_Type {
                return None;
            }
            let parts @ [code, globals, _] = parts_of(function);
            let (mut params, mut assumptions) = self.parameters(function, code)?;
            if !params.are_plain() || params.positional == 0 {
                return None;
            }
            let translated = (self.known.inlinee)(function, parts)?;
            let maker = name_of_maker(&translated)?;
            let (value, unchanged) = self.look_up(globals, maker).ok()?;
            if object_of(value?)? != tuple_new() {
                return None;
            }
            // The class itself is no argument of the call.
            params.positional -= 1;
            params.positional_only = params.positional_only.saturating_sub(1);
            params.names.remove(0);
            if params.defaults.len() > params.positional as usize {
                return None;
            }
            let handle = objects::class_handle(class);
            assumptions.push(Assumption::ClassUnchanged(handle));
            assumptions.push(Assumption::FunctionUnchanged(handle_of(function)?));
            assumptions.push(unchanged);
            let count = i64::from(params.positional);
            let stores = (0..count).map(|index| call(self.ids.store_item, &[index]));
            Some(Callee::Tuple {
                class: handle,
                params,
                make: call(self.ids.new_tuple, &[class as i64, count]),
                stores: stores.collect(),
                assumptions,
            })
        }
    }

    unsafe fn function(&self, handle: ObjectHandle, object: Obj) -> Option<Callee> {
        // SAFETY: the caller's: a live function.
        unsafe {
            let parts @ [code, globals, builtins] = parts_of(object);
            let (params, mut assumptions) = self.parameters(object, code)?;
            assumptions.insert(0, Assumption::FunctionUnchanged(handle));
            let is_own = (globals, builtins) == (self.globals, self.builtins);
            let kin = (is_own && keeps(self.code, code)).then(|| self.kin(code, &params));
            let entry_cell = (self.known.entry_cell)(parts);
            (entry_cell != 0).then_some(Callee::Function {
                params,
                entry_cell,
                raw: (self.known.raw_entry)(object),
                kin,
                assumptions,
            })
        }
    }

    /// The effect of calling any function of a code object that this one keeps alive, created in
    /// its namespace.
    unsafe fn functions_of(&self, code: Obj) -> Option<Callee> {
        // SAFETY: the caller's: a live code object.
        unsafe {
            if !keeps(self.code, code) {
                return None;
            }
            let (params, assumptions) = self.parameters(ptr::null_mut(), code)?;
            let entry_cell = (self.known.entry_cell)([code, self.globals, self.builtins]);
            let kin = self.kin(code, &params);
            (entry_cell != 0).then_some(Callee::Function {
                params,
                entry_cell,
                raw: None,
                kin: Some(kin),
                assumptions,
            })
        }
    }

    /// The guard for functions of a code object, and the loads of their defaults.
    unsafe fn kin(&self, code: Obj, params: &Parameters) -> Kin {
        let parts = [code, self.globals, self.builtins];
        let keyword = |(name, _): &(String, _)| {
            let name = Name::new(name)?;
            // SAFETY: the caller has the lock, and the code is live; the cell keeps the name alive.
            let cell = unsafe { dictionaries::cell(code.cast(), name.0) };
            let dict = i64::from(abi::function::KWDEFAULTS);
            Some(call(self.ids.load_dict_value, &[dict, name.0 as i64, cell]))
        };
        let keywords = params.keywords.iter().map(keyword);
        Kin {
            check: call(self.ids.check_function, &parts.map(|part| part as i64)),
            test: Some(call(self.ids.is_function, &parts.map(|part| part as i64))),
            // SAFETY: the caller's: a live object.
            code: unsafe { (code != self.code).then(|| handle_of(code)).flatten() },
            default: Some(call(self.ids.function_default, &[])),
            keywords: keywords.collect::<Option<_>>().unwrap_or_default(),
        }
    }

    /// The parameters of a function, and the assumptions behind their defaults, besides that the
    /// function is unchanged. Without a function, those common to all functions of the code.
    unsafe fn parameters(&self, function: Obj, code: Obj) -> Option<(Parameters, Vec<Assumption>)> {
        // SAFETY: the caller's: a live function with its code, whose names are a tuple of strings.
        unsafe {
            let count = |offset| field::<i32>(code, offset) as usize;
            let positional = count(abi::code::ARGCOUNT);
            let keyword_only = count(abi::code::KWONLYARGCOUNT);
            let flags: i32 = field(code, abi::code::FLAGS);
            if flags & CO_OPTIMIZED == 0 {
                return None;
            }
            let of_function = |offset| {
                if function.is_null() {
                    ptr::null_mut()
                } else {
                    field::<Obj>(function, offset)
                }
            };
            let names: Obj = field(code, abi::code::LOCALSPLUS_NAMES);
            let name = |index| objects::text(PyTuple_GetItem(names, index as Py_ssize_t));
            let tuple = of_function(abi::function::DEFAULTS);
            let mut defaults = Vec::new();
            if !tuple.is_null() {
                if PyTuple_CheckExact(tuple) == 0 || Py_SIZE(tuple) > positional as Py_ssize_t {
                    return None;
                }
                for i in 0..Py_SIZE(tuple) {
                    defaults.push(handle_of(field(tuple, abi::tuple::ITEMS + 8 * i as i32))?);
                }
            }
            let dict = of_function(abi::function::KWDEFAULTS);
            let (mut keywords, mut assumptions) = (Vec::new(), Vec::new());
            for index in positional..positional + keyword_only {
                let name = name(index)?;
                let mut value = None;
                if !dict.is_null() {
                    // The program may change the dict, like a namespace.
                    let (known, unchanged) = self.look_up(dict, &name).ok()?;
                    value = known;
                    assumptions.push(unchanged);
                }
                keywords.push((name, value));
            }
            let rest = match flags & CO_VARARGS {
                0 => None,
                _ => Some(empty_tuple()?),
            };
            let params = Parameters {
                positional: positional as u32,
                positional_only: count(abi::code::POSONLYARGCOUNT) as u32,
                names: (0..positional).map(name).collect::<Option<_>>()?,
                defaults,
                keywords,
                rest,
                has_named_rest: flags & CO_VARKEYWORDS != 0,
            };
            Some((params, assumptions))
        }
    }
}

/// The facts about a class whose metaclass is `type`, if it derives from `BaseException`.
///
/// # Safety
/// The lock is held; a live class.
unsafe fn exception_class(class: *mut PyTypeObject) -> Option<Callee> {
    // SAFETY: the caller's; the classes of builtin exceptions live as long as the process, and the
    // `__mro__` of a class is a tuple.
    unsafe {
        if PyExceptionClass_Check(class.cast()) == 0 {
            return None;
        }
        let is_of_program = PyType_HasFeature(class, Py_TPFLAGS_HEAPTYPE) != 0;
        if is_of_program && !is_versioned(class) {
            return None;
        }
        let mro = (*class).tp_mro;
        let bases = (0..PyTuple_Size(mro)).map(|i| PyTuple_GetItem(mro, i));
        let base = PyExc_BaseException.cast::<PyTypeObject>();
        let inits = [
            PyExc_BaseException,
            PyExc_StopIteration,
            PyExc_AttributeError,
            PyExc_NameError,
        ];
        let init = (*class).tp_init.map(|f| f as usize);
        let mut inits = inits
            .map(|of| (*of.cast::<PyTypeObject>()).tp_init.map(|f| f as usize))
            .into_iter();
        let is_plain = (*class).tp_new.map(|f| f as usize) == (*base).tp_new.map(|f| f as usize)
            && inits.any(|known| known == init)
            && (*class).tp_finalize.is_none()
            && (*class).tp_del.is_none();
        let catches = |error: Obj| PyType_IsSubtype(error.cast(), class) != 0;
        let missing = [
            (PyExc_KeyError, Missing::Key),
            (PyExc_IndexError, Missing::Index),
        ];
        let missing = missing.into_iter().filter(|(error, _)| catches(*error));
        let handle = objects::class_handle(class);
        Some(Callee::Exception {
            bases: bases.map(|base| objects::object_handle(base)).collect(),
            is_plain,
            missing: missing.map(|(_, missing)| missing).collect(),
            assumptions: is_of_program
                .then_some(Assumption::ClassUnchanged(handle))
                .into_iter()
                .collect(),
        })
    }
}

/// True if a class was created by a `class` statement or a call of `type`, is not abstract,
/// allocates as `object` does, and its changes are reported.
unsafe fn is_plain(class: *mut PyTypeObject) -> bool {
    // SAFETY: the caller's: a live class.
    unsafe {
        let object = &raw const PyBaseObject_Type;
        PyType_HasFeature(class, Py_TPFLAGS_HEAPTYPE) != 0
            && PyType_HasFeature(class, Py_TPFLAGS_IMMUTABLETYPE) == 0
            && PyType_HasFeature(class, Py_TPFLAGS_IS_ABSTRACT) == 0
            && (*class).tp_alloc.map(|f| f as usize) == (*object).tp_alloc.map(|f| f as usize)
            && is_versioned(class)
    }
}

/// The name of the global `_tuple_new`, if code is `return _tuple_new(_cls, (x, y))` with all its
/// parameters in order.
fn name_of_maker(code: &Code) -> Option<&str> {
    let params = code.argcount;
    let is_param = |instr: &Instr, k: u32| {
        matches!(instr.op, Op::LoadFast | Op::LoadFastBorrow) && instr.arg == k
    };
    let mut instrs = code.instrs.iter().filter(|instr| instr.op != Op::Resume);
    let global = instrs
        .next()
        .filter(|i| i.op == Op::LoadGlobal && i.arg2 != 0)?;
    let loads = (0..params).all(|k| instrs.next().is_some_and(|instr| is_param(instr, k)));
    let rest = [
        (Op::BuildTuple, Some(params.checked_sub(1)?)),
        (Op::Call, Some(2)),
        (Op::ReturnValue, None),
    ];
    let follows = rest.into_iter().all(|(op, arg)| {
        let next = instrs.next();
        next.is_some_and(|instr| instr.op == op && arg.is_none_or(|arg| instr.arg == arg))
    });
    let is_it = loads && follows && instrs.next().is_none();
    is_it.then(|| code.names[global.arg as usize].as_str())
}

/// `tuple.__new__`, borrowed: `tuple` never changes. Null if it cannot be looked up.
unsafe fn tuple_new() -> Obj {
    // SAFETY: the caller's: this thread has the lock.
    unsafe {
        let Some(name) = Name::new("__new__") else {
            return ptr::null_mut();
        };
        let found = _PyType_Lookup(&raw mut PyTuple_Type, name.0);
        if found.is_null() {
            PyErr_Clear();
        }
        found
    }
}

/// The empty tuple, of which there is only one.
fn empty_tuple() -> Option<ObjectHandle> {
    // SAFETY: this thread has the lock; the tuple is immortal.
    unsafe {
        let tuple = PyTuple_New(0);
        let handle = handle_of(tuple);
        Py_DECREF(tuple);
        handle
    }
}

/// A function's code, globals and builtins.
unsafe fn parts_of(function: Obj) -> [Obj; 3] {
    let parts = [
        abi::function::CODE,
        abi::function::GLOBALS,
        abi::function::BUILTINS,
    ];
    // SAFETY: the caller's: a live function.
    parts.map(|part| unsafe { field(function, part) })
}

/// True if a code object keeps another alive: it is the same, or one of its constants, recursively.
///
/// # Safety
/// The caller has the lock; both are live code objects.
pub unsafe fn keeps(code: Obj, other: Obj) -> bool {
    // SAFETY: the caller's.
    code == other || unsafe { objects::constant_codes(code).any(|within| keeps(within, other)) }
}

/// The cells of a function's closure, which never change.
unsafe fn cells_of(function: Obj) -> Option<Vec<ObjectHandle>> {
    // SAFETY: the caller's: a live function, whose closure is a tuple of cells, if there is one.
    unsafe {
        let closure: Obj = field(function, abi::function::CLOSURE);
        if closure.is_null() {
            return Some(Vec::new());
        }
        let cells = (0..PyTuple_Size(closure)).map(|i| handle_of(PyTuple_GetItem(closure, i)));
        cells.collect()
    }
}

/// The builtin that a C function implements, if its meaning is known.
unsafe fn c_function(object: Obj) -> Option<Builtin> {
    // SAFETY: the caller's: a live C function.
    let is = |module, name| unsafe { defined_in(object, module, name) };
    let row = FUNCTIONS.iter().find(|row| is(row.0, row.1));
    row.map(|row| row.2)
}

/// True if a C function is the one of this name in this module: it is identified by the definitions
/// of both, and no program can create another such function.
///
/// # Safety
/// The caller has the lock; a live C function.
pub(super) unsafe fn defined_in(object: Obj, module: &CStr, name: &CStr) -> bool {
    // SAFETY: the caller's.
    unsafe {
        let owner: Obj = field(object, abi::builtin::SELF);
        if owner.is_null() || Py_TYPE(owner) != &raw mut PyModule_Type {
            return false;
        }
        let definition = PyModule_GetDef(owner);
        if definition.is_null() {
            return false;
        }
        let method: *const PyMethodDef = field(object, abi::builtin::ML);
        let same = |a: *const c_char, b: &CStr| !a.is_null() && CStr::from_ptr(a) == b;
        same((*definition).m_name, module) && same((*method).ml_name, name)
    }
}

unsafe fn class(object: Obj) -> Option<Builtin> {
    // SAFETY: the interpreter runs, so the exceptions exist.
    if object == unsafe { PyExc_StopIteration } {
        return Some(Builtin::StopIteration);
    }
    let known = [
        (&raw mut PyRange_Type, Builtin::Range),
        (&raw mut PyLong_Type, Builtin::Int),
        (&raw mut PyFloat_Type, Builtin::Float),
        (&raw mut PyBool_Type, Builtin::Bool),
        (&raw mut PyList_Type, Builtin::List),
        (&raw mut PyTuple_Type, Builtin::Tuple),
        (&raw mut PySet_Type, Builtin::Set),
        (&raw mut PyFrozenSet_Type, Builtin::FrozenSet),
        (&raw mut PySuper_Type, Builtin::Super),
        (&raw mut PyType_Type, Builtin::Type),
    ];
    known
        .iter()
        .find(|row| row.0.cast() == object)
        .map(|row| row.1)
}

unsafe fn method_descriptor(object: Obj) -> Option<Builtin> {
    // SAFETY: the caller's: a live method descriptor.
    unsafe {
        let owner: *mut PyTypeObject = field(object, abi::descr::TYPE);
        let method: *const PyMethodDef = field(object, abi::descr::METHOD);
        let known = [
            (&raw mut PyList_Type, c"append", Builtin::ListAppend),
            (&raw mut PyUnicode_Type, c"join", Builtin::StrJoin),
            (&raw mut PyDict_Type, c"get", Builtin::DictGet),
        ];
        let is_it =
            |row: &&(_, &CStr, _)| row.0 == owner && row.1 == CStr::from_ptr((*method).ml_name);
        known.iter().find(is_it).map(|row| row.2)
    }
}
