//! Calls: of any object, with unpacked arguments, of the bytecode's intrinsics, and of functions in
//! the interpreter.
//!
//! Safety: the contract of [`super`].

use super::{c_functions, cache, exceptions};
use crate::abi;
use crate::capi::{_PyEval_EvalFrameDefault, Frame, Obj, PyMethod_Type, Thread, VectorCall, field};
use crate::objects::instances;
use crate::runtime::capi::GENERATORS;
use crate::runtime::{Gil, entries, frames, generators, sampling};
use pyo3_ffi::*;
use smallvec::SmallVec;
use std::ffi::CStr;
use std::ptr;
use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};

/// The interpreter's `_PyFunction_Vectorcall`, which is not exported: the runtime reads it from a
/// new function.
pub static ORIGINAL_VECTORCALL: AtomicUsize = AtomicUsize::new(0);

/// The builtins that may read their caller's frame.
const FRAME_READER_NAMES: [&CStr; 5] = [c"locals", c"vars", c"dir", c"eval", c"exec"];
/// The number of those that read the frame if they get no argument. The others do if they get no
/// namespace.
const WITHOUT_ARGUMENTS: usize = 3;
/// The function objects, borrowed from `builtins` for ever.
static FRAME_READERS: [AtomicPtr<PyObject>; 5] = [const { AtomicPtr::new(ptr::null_mut()) }; 5];

/// Find the builtins that read their caller's frame.
///
/// # Safety
/// The interpreter's lock is held.
pub unsafe fn find_frame_readers() {
    // SAFETY: the caller's promise; the builtins of the thread are a dict.
    unsafe {
        let builtins = PyEval_GetBuiltins();
        for (place, name) in FRAME_READERS.iter().zip(FRAME_READER_NAMES) {
            let found = PyDict_GetItemString(builtins, name.as_ptr());
            if !found.is_null()
                && PyCFunction_CheckExact(found) != 0
                && place.load(Ordering::Relaxed).is_null()
            {
                // Kept for ever, so that no other object can take its address.
                place.store(Py_NewRef(found), Ordering::Relaxed);
            }
        }
    }
}

/// Returns true for a C function that may read its caller's locals.
pub fn is_frame_reader(function: Obj) -> bool {
    reader_index(function).is_some()
}

fn reader_index(function: Obj) -> Option<usize> {
    let is_it = |reader: &AtomicPtr<PyObject>| reader.load(Ordering::Relaxed) == function;
    FRAME_READERS.iter().position(is_it)
}

/// The arguments of a call.
#[derive(Clone, Copy)]
pub(super) struct Given {
    /// The positional arguments.
    pub args: *const Obj,
    /// The number of positional arguments.
    pub positional: usize,
    /// True if there are keyword arguments.
    pub keywords: bool,
}

/// Returns true if a callable reads its caller's locals when it gets these arguments. `vars()`
/// does, `vars(x)` does not.
#[inline]
unsafe fn reads_frame(callable: Obj, given: Given) -> bool {
    // SAFETY: the caller's: a live callable and so many live arguments.
    unsafe {
        if Py_TYPE(callable) != &raw mut PyCFunction_Type {
            return false;
        }
        match reader_index(callable) {
            None => false,
            Some(_) if given.keywords => true,
            Some(index) if index < WITHOUT_ARGUMENTS => given.positional == 0,
            Some(_) => given.positional < 2 || *given.args.add(1) == Py_None(),
        }
    }
}

/// Make a call. If the callable reads its caller's locals, the raw locals are boxed into their
/// slots during the call. Null with an exception if they cannot be boxed.
#[inline]
pub(super) unsafe fn with_locals_read(
    thread: Thread,
    callable: Obj,
    given: Given,
    call: impl FnOnce() -> Obj,
) -> Obj {
    // SAFETY: the caller's: the running thread, whose frame is that of the calling code; the call
    // does not pop it.
    unsafe {
        let opened = reads_frame(callable, given)
            .then(|| field::<Frame>(thread, abi::thread::CURRENT_FRAME));
        if opened.is_some_and(|frame| frames::open(frame) < 0) {
            return ptr::null_mut();
        }
        let result = call();
        if let Some(frame) = opened {
            frames::close(frame);
        }
        result
    }
}

/// The interpreter's generic `CALL` and `CALL_KW`: array of callable, self or null, arguments.
pub unsafe extern "C" fn call(thread: Thread, kwnames: Obj, array: *mut Obj, length: i64) -> Obj {
    // SAFETY: the running thread; the array has an owned callable, an owned `self` or null, and
    // owned arguments. Each is dropped once: here, or by the callee that takes it over.
    unsafe {
        let mut callable = *array;
        let (mut args, mut count) = (array.add(2), length as usize - 2);
        if !(*array.add(1)).is_null() {
            (args, count) = (array.add(1), count + 1);
        } else if Py_TYPE(callable) == &raw mut PyFunction_Type {
            sampling::count_callee(callable);
        } else if Py_TYPE(callable) == &raw mut PyMethod_Type {
            let method = callable;
            (args, count) = (array.add(1), count + 1);
            *args = Py_NewRef(field(method, abi::method::SELF));
            callable = Py_NewRef(field(method, abi::method::FUNC));
            *array = callable;
            Py_DECREF(method);
        } else {
            count_instance(callable);
        }
        let mut positional = count;
        if !kwnames.is_null() {
            positional -= Py_SIZE(kwnames) as usize;
        }
        if Py_TYPE(callable) == &raw mut PyFunction_Type
            && let Some(result) = call_function(thread, callable, args, positional, kwnames)
        {
            return result;
        }
        let result = match c_functions::call(thread, callable, args, positional, kwnames) {
            Some(result) => result,
            None => call_object(thread, callable, args, positional, kwnames),
        };
        if abi::instructions::LAST_FIRST {
            (0..count).rev().for_each(|i| Py_DECREF(*args.add(i)));
            Py_DECREF(callable);
        } else {
            Py_DECREF(callable);
            (0..count).for_each(|i| Py_DECREF(*args.add(i)));
        }
        after_call(thread, result)
    }
}

/// Samples the class of a callable that is no function.
#[inline]
unsafe fn count_instance(callable: Obj) {
    // SAFETY: the caller's: a live object; the calling unit's frame is the current one.
    unsafe {
        let class = Py_TYPE(callable);
        // Classes and C functions are known in other ways, and theirs are the most frequent calls.
        if PyType_HasFeature(class, Py_TPFLAGS_HEAPTYPE) != 0 && PyType_Check(callable) == 0 {
            sampling::count_callee(callable);
        }
    }
}

/// [`call`] where the entries of the array whose bits are set are borrowed. A callee that takes its
/// arguments over gets references of its own.
pub unsafe extern "C" fn call_lent(
    thread: Thread,
    lent: i64,
    kwnames: Obj,
    array: *mut Obj,
    length: i64,
) -> Obj {
    // SAFETY: as of `call`: each entry that is not lent is dropped once.
    unsafe {
        let callable = *array;
        let is_lent = |k: usize| lent >> k & 1 != 0;
        let has_self = !(*array.add(1)).is_null();
        let takes_over = Py_TYPE(callable) == &raw mut PyFunction_Type
            || Py_TYPE(callable) == &raw mut PyMethod_Type;
        if takes_over {
            for k in (0..length as usize).filter(|k| is_lent(*k)) {
                Py_INCREF(*array.add(k));
            }
            return call(thread, kwnames, array, length);
        }
        if !has_self {
            count_instance(callable);
        }
        let first = if has_self { 1 } else { 2 };
        let (args, count) = (array.add(first), length as usize - first);
        let named = if kwnames.is_null() {
            0
        } else {
            Py_SIZE(kwnames) as usize
        };
        let positional = count - named;
        let result = match c_functions::call(thread, callable, args, positional, kwnames) {
            Some(result) => result,
            None => call_object(thread, callable, args, positional, kwnames),
        };
        for k in (first..length as usize).rev().chain([0]) {
            if !is_lent(k) {
                Py_DECREF(*array.add(k));
            }
        }
        after_call(thread, result)
    }
}

/// Call a callable that has no special path here; all is borrowed.
#[inline(never)]
unsafe fn call_object(
    thread: Thread,
    callable: Obj,
    args: *const Obj,
    positional: usize,
    kwnames: Obj,
) -> Obj {
    // SAFETY: the caller's: the running thread and this number of live arguments, with a place
    // before them that the callee may use.
    unsafe {
        let may_call = abi::recursion::may_call_c(thread);
        if kwnames.is_null() && may_call && exceptions::makes_plainly(callable) {
            return exceptions::new_plainly(callable, args, positional);
        }
        let given = Given {
            args,
            positional,
            keywords: !kwnames.is_null(),
        };
        let nargsf = positional | PY_VECTORCALL_ARGUMENTS_OFFSET;
        with_locals_read(thread, callable, given, || {
            PyObject_Vectorcall(callable, args, nargsf, kwnames)
        })
    }
}

/// A call without keywords of a callable that may not be called by its flavour here and now.
///
/// # Safety
/// All is borrowed and alive.
pub unsafe extern "C" fn call_unknown(callable: Obj, args: *mut Obj, count: i64) -> Obj {
    // SAFETY: the caller's promise.
    unsafe { PyObject_Vectorcall(callable, args, count as usize, ptr::null_mut()) }
}

/// Call a Python function in the interpreter, or natively if it can be entered so. Its reference
/// and those of the arguments (keywords come last) are taken over. Nothing happens
/// otherwise.
#[inline(always)]
unsafe fn call_function(
    thread: Thread,
    callable: Obj,
    args: *const Obj,
    positional: usize,
    kwnames: Obj,
) -> Option<Obj> {
    // SAFETY: the caller's: the running thread, with the lock held, and a Python function with its
    // arguments, all owned.
    unsafe {
        let gil = Gil::held();
        let entry: usize = field(callable, abi::function::VECTORCALL);
        if kwnames.is_null()
            && let Some(result) =
                entries::call_known(gil, thread, callable, entry, args, positional)
        {
            Py_DECREF(callable);
            return Some(result);
        }
        call_other_function(gil, thread, callable, args, positional, kwnames)
    }
}

/// Call the special method `name` of an object's class without arguments, if that is a Python
/// function: the slot of the class would look it up and go through the interpreter. `None`, and
/// nothing happens, for any other method.
#[inline]
pub(super) unsafe fn call_special(thread: Thread, object: Obj, name: Obj) -> Option<Obj> {
    // SAFETY: the caller's: the running thread and live objects. The callee gets references of its
    // own.
    unsafe {
        let function = cache::class_method(object, name);
        if function.is_null() || Py_TYPE(function) != &raw mut PyFunction_Type {
            return None;
        }
        let receiver = Py_NewRef(object);
        let made = make_generator(thread, function, &receiver, 1, ptr::null_mut());
        if made.is_some() {
            return made;
        }
        generators::announce();
        let result = call_function(thread, Py_NewRef(function), &receiver, 1, ptr::null_mut());
        if result.is_none() {
            Py_DECREF(function);
            Py_DECREF(receiver);
        }
        result
    }
}

/// [`call_function`] where the entry is not known.
#[inline(never)]
unsafe fn call_other_function(
    gil: Gil,
    thread: Thread,
    callable: Obj,
    args: *const Obj,
    positional: usize,
    kwnames: Obj,
) -> Option<Obj> {
    // SAFETY: the caller's: as of `call_function`.
    unsafe {
        let entry: usize = field(callable, abi::function::VECTORCALL);
        if entry == ORIGINAL_VECTORCALL.load(Ordering::Relaxed) {
            let made = make_generator(thread, callable, args, positional, kwnames);
            if made.is_some() {
                Py_DECREF(callable);
                return made;
            }
            return Some(interpret(thread, callable, args, positional, kwnames));
        }
        let result = entries::call_native(gil, thread, callable, args, positional, kwnames)?;
        Py_DECREF(callable);
        Some(result)
    }
}

/// Call a generator function that has no compiled entry, such as that of a generator expression,
/// which is called once. The arguments are taken over. `None`, and nothing happens, if the call
/// must do more than make the generator.
#[inline]
unsafe fn make_generator(
    thread: Thread,
    func: Obj,
    args: *const Obj,
    positional: usize,
    kwnames: Obj,
) -> Option<Obj> {
    // SAFETY: the caller's: the running thread, a Python function, and so many owned arguments.
    unsafe {
        let code: Obj = field(func, abi::function::CODE);
        let flags: i32 = field(code, abi::code::FLAGS);
        let expected: i32 = field(code, abi::code::ARGCOUNT);
        let kwonly: i32 = field(code, abi::code::KWONLYARGCOUNT);
        let is_plain = kwonly == 0 && flags & (CO_VARARGS | CO_VARKEYWORDS) == 0;
        if flags & GENERATORS == 0
            || !is_plain
            || expected as usize != positional
            || !kwnames.is_null()
        {
            return None;
        }
        generators::make(thread, func, std::slice::from_raw_parts(args, positional))
    }
}

/// Handles pending events after a call, as the interpreter does after each call that is not one of
/// a Python function. The callee may have raised a signal, for example, and its handler may raise.
///
/// # Safety
/// The thread is the running one; the result is owned, or null with an exception.
#[inline]
pub unsafe extern "C" fn after_call(thread: Thread, result: Obj) -> Obj {
    // SAFETY: the caller's promise.
    unsafe {
        if abi::eval_breaker::is_pending(thread)
            && !result.is_null()
            && crate::capi::_Py_HandlePending(thread) != 0
        {
            Py_DECREF(result);
            return ptr::null_mut();
        }
        result
    }
}

/// Run a function in the interpreter as an inlined call does: the reference of the function and
/// those of all arguments move to the new frame, so that they die where the callee drops them.
///
/// # Safety
/// `func` and the arguments are owned; the positional ones come first.
pub unsafe fn interpret(
    thread: Thread,
    func: Obj,
    args: *const Obj,
    positional: usize,
    kwnames: Obj,
) -> Obj {
    // SAFETY: the caller's promise: the new frame takes the references over, also where it cannot
    // be made.
    unsafe {
        let code: Obj = field(func, abi::function::CODE);
        let flags: i32 = field(code, abi::code::FLAGS);
        let locals = if flags & CO_OPTIMIZED != 0 {
            ptr::null_mut()
        } else {
            Py_NewRef(field(func, abi::function::GLOBALS))
        };
        let frame = abi::exports::push_call(thread, func, locals, args, positional, kwnames);
        if frame.is_null() {
            return ptr::null_mut();
        }
        let interp: *mut u8 = field(thread, abi::thread::INTERP);
        let hook: Option<unsafe extern "C" fn(Thread, Frame, i32) -> Obj> =
            field(interp, abi::interp::EVAL_FRAME);
        match hook {
            Some(hook) => hook(thread, frame, 0),
            None => _PyEval_EvalFrameDefault(thread, frame, 0),
        }
    }
}

/// Call a function by its original vectorcall entry, with borrowed arguments.
///
/// # Safety
/// As of a vectorcall; the runtime has set [`ORIGINAL_VECTORCALL`].
pub unsafe fn call_original(func: Obj, args: *const Obj, count: usize, kwnames: Obj) -> Obj {
    // SAFETY: the caller's promise: the word is the interpreter's function.
    unsafe {
        let original = ORIGINAL_VECTORCALL.load(Ordering::Relaxed);
        std::mem::transmute::<usize, VectorCall>(original)(func, args, count, kwnames)
    }
}

/// The interpreter's `CALL_FUNCTION_EX`: array of callable, iterable of arguments, and keywords if
/// there are any.
pub unsafe extern "C" fn call_ex(thread: Thread, array: *mut Obj, length: i64) -> Obj {
    // SAFETY: the running thread; the array has an owned callable, an owned iterable and, if it has
    // three entries, an owned mapping or null. Each is dropped once.
    unsafe {
        let [callable, iterable] = [*array, *array.add(1)];
        let kwargs = if length > 2 {
            *array.add(2)
        } else {
            ptr::null_mut()
        };
        let mut tuple = iterable;
        if PyTuple_CheckExact(iterable) == 0 {
            tuple = if (*Py_TYPE(iterable)).tp_iter.is_none() && PySequence_Check(iterable) == 0 {
                abi::changed::not_iterable(callable, iterable);
                ptr::null_mut()
            } else {
                PySequence_Tuple(iterable)
            };
            if tuple.is_null() {
                for object in [callable, iterable, kwargs] {
                    Py_XDECREF(object);
                }
                return tuple;
            }
            Py_DECREF(iterable);
        }
        let mut receiver: Obj = ptr::null_mut();
        if Py_TYPE(callable) == &raw mut PyMethod_Type
            && Py_TYPE(field(callable, abi::method::FUNC)) == &raw mut PyFunction_Type
        {
            receiver = field(callable, abi::method::SELF);
        } else if Py_TYPE(callable) == &raw mut PyFunction_Type {
            sampling::count_callee(callable);
        }
        if receiver.is_null()
            && let Some(result) = call_spread(thread, callable, receiver, tuple, kwargs)
        {
            return result;
        }
        let Some(kwargs) = own_dict(kwargs) else {
            Py_DECREF(callable);
            Py_DECREF(tuple);
            return ptr::null_mut();
        };
        if !receiver.is_null()
            && let Some(result) = call_spread(thread, callable, receiver, tuple, kwargs)
        {
            return result;
        }
        let given = Given {
            args: (*tuple.cast::<PyTupleObject>()).ob_item.as_ptr(),
            positional: Py_SIZE(tuple) as usize,
            keywords: !kwargs.is_null(),
        };
        let result = with_locals_read(thread, callable, given, || {
            PyObject_Call(callable, tuple, kwargs)
        });
        for object in [callable, tuple, kwargs] {
            Py_XDECREF(object);
        }
        after_call(thread, result)
    }
}

/// A dict of named arguments, or null, for a callable that could change or keep it, or that leaves
/// it alive until the call is over: a copy if the dict has other owners too. Takes the dict over;
/// `None` with an exception if there is no memory.
unsafe fn own_dict(kwargs: Obj) -> Option<Obj> {
    // SAFETY: the caller's: null or an owned object.
    unsafe {
        let is_shared =
            !kwargs.is_null() && PyDict_CheckExact(kwargs) != 0 && Py_REFCNT(kwargs) > 1;
        if !is_shared {
            return Some(kwargs);
        }
        let copy = PyDict_Copy(kwargs);
        Py_DECREF(kwargs);
        (!copy.is_null()).then_some(copy)
    }
}

/// Call a Python function, or the bound method of one, with the arguments in a tuple and in a dict.
/// All are taken over. As in the interpreter, a function's tuple and dict die before it runs, so
/// that an argument lives only as long as the callee keeps it; those of a method live until the
/// call is over. Nothing happens for any other callable, or if a keyword is not a string.
unsafe fn call_spread(
    thread: Thread,
    callable: Obj,
    receiver: Obj,
    tuple: Obj,
    kwargs: Obj,
) -> Option<Obj> {
    // SAFETY: the caller's: the running thread and owned objects, the last two a tuple and a dict
    // or null. The collected arguments get references of their own before these two are dropped.
    unsafe {
        let function = match receiver.is_null() {
            true => callable,
            false => field(callable, abi::method::FUNC),
        };
        if Py_TYPE(function) != &raw mut PyFunction_Type {
            return None;
        }
        let mut args: SmallVec<[Obj; 8]> = SmallVec::new();
        args.extend((!receiver.is_null()).then_some(receiver));
        args.extend((0..Py_SIZE(tuple)).map(|k| PyTuple_GET_ITEM(tuple, k)));
        let positional = args.len();
        let mut kwnames = ptr::null_mut();
        if !kwargs.is_null() && PyDict_Size(kwargs) > 0 {
            kwnames = PyTuple_New(PyDict_Size(kwargs));
            if kwnames.is_null() {
                PyErr_Clear();
                return None;
            }
            let (mut at, mut key, mut value) = (0, ptr::null_mut(), ptr::null_mut());
            let mut count = 0;
            while PyDict_Next(kwargs, &mut at, &mut key, &mut value) != 0 {
                if PyUnicode_Check(key) == 0 {
                    Py_DECREF(kwnames);
                    return None;
                }
                PyTuple_SetItem(kwnames, count, Py_NewRef(key));
                count += 1;
                args.push(value);
            }
        }
        for &object in &args {
            Py_INCREF(object);
        }
        if receiver.is_null() {
            Py_DECREF(tuple);
            Py_XDECREF(kwargs);
        } else {
            Py_INCREF(function);
        }
        // To call a method by names, the interpreter copies its arguments for the time of the call.
        let copied = match receiver.is_null() || kwnames.is_null() {
            true => &[],
            false => &args[1..],
        };
        copied.iter().for_each(|object| Py_INCREF(*object));
        let array = args.as_ptr();
        let result =
            call_function(thread, function, array, positional, kwnames).unwrap_or_else(|| {
                let result = PyObject_Vectorcall(function, array, positional, kwnames);
                Py_DECREF(function);
                for &object in &args {
                    Py_DECREF(object);
                }
                after_call(thread, result)
            });
        copied.iter().for_each(|object| Py_DECREF(*object));
        Py_XDECREF(kwnames);
        if receiver.is_null() {
            return Some(result);
        }
        for object in [callable, tuple, kwargs] {
            Py_XDECREF(object);
        }
        Some(after_call(thread, result))
    }
}

pub unsafe extern "C" fn call_intrinsic_1(thread: Thread, number: i64, a: Obj) -> Obj {
    // SAFETY: the running thread and a live operand; the functions are the interpreter's own table.
    unsafe {
        match abi::instructions::unary_intrinsic(number as usize) {
            Some(func) => func(thread, a),
            None => unknown_intrinsic(),
        }
    }
}

pub unsafe extern "C" fn call_intrinsic_2(thread: Thread, number: i64, a: Obj, b: Obj) -> Obj {
    // SAFETY: the running thread and live operands; the functions are the interpreter's own table.
    unsafe {
        match abi::instructions::binary_intrinsic(number as usize) {
            Some(func) => func(thread, a, b),
            None => unknown_intrinsic(),
        }
    }
}

#[cold]
unsafe fn unknown_intrinsic() -> Obj {
    // SAFETY: the caller's: the lock is held.
    unsafe {
        PyErr_SetString(PyExc_SystemError, c"invalid intrinsic function".as_ptr());
        ptr::null_mut()
    }
}

/// Raises unless the result of an `__init__` is None, as the interpreter does.
///
/// # Safety
/// A live object; the lock is held.
pub unsafe extern "C" fn init_result(result: Obj) -> i64 {
    // SAFETY: a live object, whose class has a name.
    unsafe {
        if result == Py_None() {
            return 0;
        }
        PyErr_Format(
            PyExc_TypeError,
            c"__init__() should return None, not '%.200s'".as_ptr(),
            (*Py_TYPE(result)).tp_name,
        );
        -1
    }
}

/// A new instance of a class whose `__new__` is that of `object`, for its `__init__` to fill; null,
/// and no exception, if there is no memory.
///
/// # Safety
/// A live class whose `__new__` is that of `object`; the lock is held.
pub unsafe extern "C" fn new_instance(class: Obj) -> Obj {
    // SAFETY: a live class whose `__new__` is that of `object`.
    unsafe {
        if let Some(made) = instances::allocate(class.cast()) {
            if made.is_null() {
                PyErr_Clear();
            }
            return made;
        }
        let empty = PyTuple_New(0);
        if empty.is_null() {
            PyErr_Clear();
            return ptr::null_mut();
        }
        let made = match PyBaseObject_Type.tp_new {
            Some(new) => new(class.cast(), empty, ptr::null_mut()),
            None => ptr::null_mut(),
        };
        Py_DECREF(empty);
        if made.is_null() {
            PyErr_Clear();
        }
        made
    }
}

/// A new instance of a class derived from `tuple`, with room for `count` items that are not set
/// yet; null, and no exception, if there is no memory.
///
/// # Safety
/// A live class derived from `tuple` that allocates as `object` does; the lock is held. The items
/// are set before other code can run.
pub unsafe extern "C" fn new_tuple(class: Obj, count: i64) -> Obj {
    // SAFETY: the caller's promise.
    unsafe {
        let made = abi::exports::new_tuple(class.cast(), count as Py_ssize_t);
        if made.is_null() {
            PyErr_Clear();
        }
        made
    }
}
