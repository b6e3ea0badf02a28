//! Operators on instances of user-defined classes: the Python function that the interpreter would
//! call, if there is one.
//!
//! The order is the interpreter's: the left operand's method, then the right one's. But a right
//! operand of a derived class comes first (then the answer is "unknown"). The C slots that
//! represent Python methods all call them, so a class that has a function under an operator's name
//! has such a slot.
//!
//! For example, for `a + b` with an instance `a` of a class with `__add__`, and a float `b`, the
//! answer is that function. If it returns `NotImplemented`, the compiled code continues as the
//! interpreter does.

use super::attributes::class_assumption;
use super::classes::{is_immutable, is_versioned};
use super::{CPythonWorld, Name, call, class_of, handle_of};
use crate::abi;
use crate::capi::{_PyType_Lookup, Obj};
use crate::objects;
use cladonia::bytecode::{BinaryOp, CompareOp, INPLACE, Op};
use cladonia::facts::Assumption;
use cladonia::host::{Operator, OperatorPlan, Parts, code_of};
use cladonia::types::{ObjectHandle, Type};
use pyo3_ffi::*;
use std::ffi::CStr;
use std::ptr;

/// A C slot for a binary operator.
type Slot = fn(&PyNumberMethods) -> Option<binaryfunc>;

/// A binary operator: the methods of the left and of the right operand, and the slots of its two
/// forms.
pub(crate) struct Binary {
    method: &'static CStr,
    /// The right operand's method.
    pub(crate) reflected: &'static CStr,
    slot: Slot,
    in_place: Slot,
}

macro_rules! binary {
    ($method:literal $reflected:literal $slot:ident $in_place:ident) => {
        &Binary {
            method: $method,
            reflected: $reflected,
            slot: |methods| methods.$slot,
            in_place: |methods| methods.$in_place,
        }
    };
}

/// The operator of a number in the bytecode; powers, which have three operands, are missing.
pub(crate) fn binary(number: u32) -> Option<&'static Binary> {
    use BinaryOp as B;
    Some(match BinaryOp::from_arg(number % INPLACE)? {
        B::Add => binary!(c"__add__" c"__radd__" nb_add nb_inplace_add),
        B::And => binary!(c"__and__" c"__rand__" nb_and nb_inplace_and),
        B::FloorDivide => {
            binary!(c"__floordiv__" c"__rfloordiv__" nb_floor_divide nb_inplace_floor_divide)
        }
        B::LeftShift => binary!(c"__lshift__" c"__rlshift__" nb_lshift nb_inplace_lshift),
        B::MatrixMultiply => {
            binary!(c"__matmul__" c"__rmatmul__" nb_matrix_multiply nb_inplace_matrix_multiply)
        }
        B::Multiply => binary!(c"__mul__" c"__rmul__" nb_multiply nb_inplace_multiply),
        B::Remainder => binary!(c"__mod__" c"__rmod__" nb_remainder nb_inplace_remainder),
        B::Or => binary!(c"__or__" c"__ror__" nb_or nb_inplace_or),
        B::RightShift => binary!(c"__rshift__" c"__rrshift__" nb_rshift nb_inplace_rshift),
        B::Subtract => binary!(c"__sub__" c"__rsub__" nb_subtract nb_inplace_subtract),
        B::TrueDivide => {
            binary!(c"__truediv__" c"__rtruediv__" nb_true_divide nb_inplace_true_divide)
        }
        B::Xor => binary!(c"__xor__" c"__rxor__" nb_xor nb_inplace_xor),
        B::Power => return None,
    })
}

impl Binary {
    /// The class's C function for the plain form.
    ///
    /// # Safety
    /// A live class.
    pub(crate) unsafe fn of(&self, class: *mut PyTypeObject) -> Option<binaryfunc> {
        // SAFETY: the caller's: a class's methods live as long as it.
        unsafe { (*class).tp_as_number.as_ref().and_then(self.slot) }
    }

    unsafe fn in_place_of(&self, class: *mut PyTypeObject) -> Option<binaryfunc> {
        // SAFETY: the caller's, as above.
        unsafe { (*class).tp_as_number.as_ref().and_then(self.in_place) }
    }
}

/// A comparison's method, and the mirrored comparison for the right operand.
fn comparison(op: CompareOp) -> (&'static CStr, CompareOp) {
    match op {
        CompareOp::Lt => (c"__lt__", CompareOp::Gt),
        CompareOp::Le => (c"__le__", CompareOp::Ge),
        CompareOp::Eq => (c"__eq__", CompareOp::Eq),
        CompareOp::Ne => (c"__ne__", CompareOp::Ne),
        CompareOp::Gt => (c"__gt__", CompareOp::Lt),
        CompareOp::Ge => (c"__ge__", CompareOp::Le),
    }
}

/// The mirrored comparison for the right operand.
pub(crate) fn mirrored(op: CompareOp) -> CompareOp {
    comparison(op).1
}

impl CPythonWorld<'_> {
    pub(super) fn plan_operator(
        &self,
        operator: Operator,
        operands: &[Type],
    ) -> Option<OperatorPlan> {
        let mut classes = Vec::new();
        let mut assumptions: Vec<Assumption> = Vec::new();
        for ty in operands {
            let handle = ty.runtime_class_in(objects::host())?;
            let class = class_of(handle)?;
            // SAFETY: a live class.
            if !unsafe { is_versioned(class) } {
                return None;
            }
            for assumption in class_assumption(handle, class) {
                if !assumptions.contains(&assumption) {
                    assumptions.push(assumption);
                }
            }
            classes.push(class);
        }
        // SAFETY: live classes; this thread has the lock while a world is queried.
        unsafe {
            let (function, swapped, declines) = match (operator, &classes[..]) {
                (Operator::Binary(number), &[a, b]) => {
                    let (function, swapped) = binary_method(number, a, b)?;
                    (function, swapped, true)
                }
                (Operator::Compare(number), &[a, b]) => {
                    let op = CompareOp::from_arg(number)?;
                    let same = |class| is_compared_by_identity(class);
                    if matches!(op, CompareOp::Eq | CompareOp::Ne) && same(a) && same(b) {
                        return Some(OperatorPlan::Identity { assumptions });
                    }
                    let (function, swapped) = comparing_method(op, a, b)?;
                    (function, swapped, true)
                }
                (Operator::Item, &[a]) => (method(a, c"__getitem__")?, false, false),
                (Operator::StoreItem, &[a]) => (method(a, c"__setitem__")?, false, false),
                (Operator::Negative, &[a]) => (method(a, c"__neg__")?, false, false),
                (Operator::Invert, &[a]) => (method(a, c"__invert__")?, false, false),
                (Operator::Next, &[a]) if is_immutable(a) => return self.plan_next(a),
                (Operator::Next, &[a]) => (method(a, c"__next__")?, false, false),
                (Operator::Call, &[a]) => {
                    if let Some(plan) = self.plan_partial(a) {
                        return Some(plan);
                    }
                    (method(a, c"__call__")?, false, false)
                }
                (Operator::Unpack(count), &[a]) => {
                    return self.plan_items(a, count, assumptions);
                }
                (Operator::UnpackNext(count), &[a]) => {
                    return self.plan_next_items(a, count);
                }
                (Operator::Iter, &[a]) if is_immutable(a) => return plan_iterator(a),
                (Operator::Iter, &[a]) => {
                    let function = method(a, c"__iter__")?;
                    if method(a, c"__next__").is_none() || !self.returns_first(function) {
                        return None;
                    }
                    assumptions.push(Assumption::FunctionUnchanged(function));
                    return Some(OperatorPlan::Operand { assumptions });
                }
                (Operator::Truth, &[a]) => {
                    return (is_user_class(a) && is_always_true(a))
                        .then_some(OperatorPlan::True { assumptions });
                }
                _ => return None,
            };
            Some(OperatorPlan::Method {
                function,
                swapped,
                declined: if declines {
                    Some(handle_of(Py_NotImplemented())?)
                } else {
                    None
                },
                assumptions,
            })
        }
    }
}

impl CPythonWorld<'_> {
    /// The items of an instance of a class derived from `tuple` that iterates as `tuple` does.
    ///
    /// # Safety
    /// A live class.
    unsafe fn plan_items(
        &self,
        class: *mut PyTypeObject,
        count: u32,
        assumptions: Vec<Assumption>,
    ) -> Option<OperatorPlan> {
        // SAFETY: the caller's.
        if !unsafe { iterates_as_tuple(class) } {
            return None;
        }
        let ids = &self.ids;
        Some(OperatorPlan::Items {
            guards: vec![call(ids.check_size, &[count.into()])],
            items: (0..count)
                .map(|index| call(ids.load_item, &[index.into()]))
                .collect(),
            assumptions,
        })
    }
}

/// The iterator of an object of a builtin class.
///
/// # Safety
/// A live class.
unsafe fn plan_iterator(class: *mut PyTypeObject) -> Option<OperatorPlan> {
    let assumptions = Vec::new();
    let classes = [
        (&raw mut PyDict_Type, &raw mut PyDictIterKey_Type),
        (&raw mut PyDictKeys_Type, &raw mut PyDictIterKey_Type),
        (&raw mut PyDictValues_Type, &raw mut PyDictIterValue_Type),
        (&raw mut PyDictItems_Type, &raw mut PyDictIterItem_Type),
    ];
    if let Some((_, iterator)) = classes.iter().find(|(of, _)| *of == class) {
        // SAFETY: a static class.
        let ty = Type::from_class_exact(unsafe { objects::class_handle(*iterator) });
        return Some(OperatorPlan::Iterator { ty, assumptions });
    }
    let itself: getiterfunc = PyObject_SelfIter;
    // SAFETY: the caller's.
    let is_itself = unsafe { (*class).tp_iter }.is_some_and(|f| ptr::fn_addr_eq(f, itself));
    is_itself.then_some(OperatorPlan::Operand { assumptions })
}

impl CPythonWorld<'_> {
    /// The next item of an iterator of a builtin class.
    fn plan_next(&self, class: *mut PyTypeObject) -> Option<OperatorPlan> {
        let ids = &self.ids;
        let known = [
            (&raw mut PyDictIterKey_Type, ids.dict_next_key),
            (&raw mut PyDictIterValue_Type, ids.dict_next_value),
            (&raw mut PyListRevIter_Type, ids.list_reverse_next),
        ];
        let (_, id) = known.into_iter().find(|(of, _)| *of == class)?;
        Some(OperatorPlan::NextBy {
            fast: call(id, &[]),
            assumptions: Vec::new(),
        })
    }

    /// The next item of an iterator of a class whose items are tuples.
    ///
    /// # Safety
    /// A live class.
    unsafe fn plan_next_items(&self, class: *mut PyTypeObject, count: u32) -> Option<OperatorPlan> {
        let are_pairs = [&raw mut PyEnum_Type, &raw mut PyDictIterItem_Type].contains(&class);
        let guards = if are_pairs && count == 2 {
            Vec::new()
        } else if class == &raw mut PyZip_Type {
            // A `zip` has the number of its iterators where a tuple has that of its items.
            vec![call(self.ids.check_size, &[count.into()])]
        } else {
            return None;
        };
        let ids = &self.ids;
        let load = |place: i32| call(ids.load_field, &[place.into()]);
        let parts = if class == &raw mut PyEnum_Type {
            let index = [i64::from(abi::enumerate::INDEX)];
            Some(Parts {
                guards: vec![call(ids.check_number, &index)],
                index: Some(call(ids.count_on, &index)),
                iterators: vec![vec![load(abi::enumerate::ITERATOR)]],
            })
        } else if class == &raw mut PyZip_Type {
            let loads = |k: u32| {
                let iterators = load(abi::zip::ITERATORS);
                vec![iterators, call(ids.load_item, &[k.into()])]
            };
            Some(Parts {
                guards: vec![call(ids.check_no_flag, &[abi::zip::STRICT.into()])],
                index: None,
                iterators: (0..count).map(loads).collect(),
            })
        } else {
            None
        };
        let is_of_dict = class == &raw mut PyDictIterItem_Type;
        Some(OperatorPlan::NextItems {
            guards,
            fast: is_of_dict.then(|| call(ids.dict_next_item, &[])),
            parts: parts.filter(|_| count > 0),
            assumptions: Vec::new(),
        })
    }
}

/// True for a class derived from `tuple` whose instances are iterated as tuples are.
///
/// # Safety
/// A live class.
pub(crate) unsafe fn iterates_as_tuple(class: *mut PyTypeObject) -> bool {
    let tuple = &raw mut PyTuple_Type;
    // SAFETY: the caller's.
    unsafe {
        match ((*class).tp_iter, (*tuple).tp_iter) {
            (Some(own), Some(usual)) => {
                PyType_IsSubtype(class, tuple) != 0 && ptr::fn_addr_eq(own, usual)
            }
            _ => false,
        }
    }
}

/// The Python function of a class for an operator.
unsafe fn method(class: *mut PyTypeObject, name: &CStr) -> Option<ObjectHandle> {
    // SAFETY: the caller's: a live class; its attribute is borrowed from it.
    unsafe {
        let name = Name::new(name.to_str().ok()?)?;
        let found: Obj = _PyType_Lookup(class, name.0);
        if found.is_null() {
            PyErr_Clear();
            return None;
        }
        (is_user_class(class) && Py_TYPE(found) == &raw mut PyFunction_Type)
            .then(|| handle_of(found))?
    }
}

/// True if a class has a Python function for an operator.
///
/// # Safety
/// A live class; the caller has the lock.
pub unsafe fn has_method(class: *mut PyTypeObject, name: &CStr) -> bool {
    // SAFETY: the caller's promise.
    unsafe { method(class, name).is_some() }
}

unsafe fn is_user_class(class: *mut PyTypeObject) -> bool {
    // SAFETY: the caller's: a live class.
    unsafe { PyType_HasFeature(class, Py_TPFLAGS_HEAPTYPE) != 0 }
}

/// True if the class alone determines the truth of its objects.
///
/// # Safety
/// A live class; the caller has the lock.
pub unsafe fn says_truth(class: *mut PyTypeObject) -> bool {
    // SAFETY: the caller's promise; None's class is static.
    unsafe { class == Py_TYPE(Py_None()) || is_user_class(class) && is_always_true(class) }
}

/// True if C code of the class declines any operand of a user-defined class.
unsafe fn is_number(class: *mut PyTypeObject) -> bool {
    class == &raw mut PyLong_Type || class == &raw mut PyFloat_Type
}

/// True if a right operand of class `b` takes precedence over a left one of class `a`.
unsafe fn goes_first(b: *mut PyTypeObject, a: *mut PyTypeObject) -> bool {
    // SAFETY: the caller's: live classes.
    unsafe { a != b && PyType_IsSubtype(b, a) != 0 }
}

/// The function that a binary operator calls first; true if it is the right operand's.
unsafe fn binary_method(
    number: u32,
    a: *mut PyTypeObject,
    b: *mut PyTypeObject,
) -> Option<(ObjectHandle, bool)> {
    let operator = binary(number)?;
    // SAFETY: the caller's: live classes.
    unsafe {
        // Sequences are concatenated and repeated after all numbers have declined.
        let is_sequence = |class: *mut PyTypeObject| {
            (*class).tp_as_sequence.as_ref().is_some_and(|methods| {
                methods.sq_concat.is_some()
                    || methods.sq_repeat.is_some()
                    || methods.sq_inplace_concat.is_some()
                    || methods.sq_inplace_repeat.is_some()
            })
        };
        let in_place = number >= INPLACE && operator.in_place_of(a).is_some();
        if in_place || is_sequence(a) || is_sequence(b) || goes_first(b, a) {
            return None;
        }
        if let Some(function) = method(a, operator.method) {
            return Some((function, false));
        }
        if !is_number(a) && operator.of(a).is_some() {
            return None;
        }
        Some((method(b, operator.reflected)?, true))
    }
}

impl CPythonWorld<'_> {
    /// True if a function does nothing but return its only parameter: `return self`.
    fn returns_first(&self, function: ObjectHandle) -> bool {
        let code = self.find_inlinee(function);
        let Some(code) = code.as_ref().and_then(code_of) else {
            return false;
        };
        let instrs = code.instrs.iter().filter(|instr| instr.op != Op::Resume);
        let ops: Vec<(Op, u32)> = instrs.map(|instr| (instr.op, instr.arg)).collect();
        let is_load = |op| matches!(op, Op::LoadFast | Op::LoadFastBorrow);
        code.arity() == 1 && matches!(ops[..], [(load, 0), (Op::ReturnValue, _)] if is_load(load))
    }
}

/// The function that a comparison calls first; true if it is the right operand's.
unsafe fn comparing_method(
    op: CompareOp,
    a: *mut PyTypeObject,
    b: *mut PyTypeObject,
) -> Option<(ObjectHandle, bool)> {
    let (own, mirrored) = comparison(op);
    // SAFETY: the caller's: live classes.
    unsafe {
        if goes_first(b, a) {
            return None;
        }
        if is_number(a) {
            return Some((method(b, comparison(mirrored).0)?, true));
        }
        Some((method(a, own)?, false))
    }
}

/// True if the class compares its instances by identity only.
unsafe fn is_compared_by_identity(class: *mut PyTypeObject) -> bool {
    // SAFETY: the caller's: a live class.
    unsafe {
        let of = |class: *mut PyTypeObject| (*class).tp_richcompare.map(|f| f as usize);
        of(class) == of(&raw mut PyBaseObject_Type)
    }
}

/// True if the class defines neither truth nor length of its instances.
unsafe fn is_always_true(class: *mut PyTypeObject) -> bool {
    // SAFETY: the caller's: a live class, whose methods live as long as it.
    unsafe {
        let number = (*class).tp_as_number.as_ref();
        let mapping = (*class).tp_as_mapping.as_ref();
        let sequence = (*class).tp_as_sequence.as_ref();
        number.is_none_or(|m| m.nb_bool.is_none())
            && mapping.is_none_or(|m| m.mp_length.is_none())
            && sequence.is_none_or(|m| m.sq_length.is_none())
    }
}
