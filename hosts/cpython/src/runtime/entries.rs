//! The paths into native code: vectorcall stubs, fallbacks for native callers, and binding of
//! arguments.
//!
//! An **entry stub** has the signature of a vectorcall and calls through the entry cell; it is
//! shared by all functions of one code object and namespace. A **fallback** has the signature of a
//! native entry and runs the call in the interpreter; the cell holds it while there is no unit.
//!
//! For example, `sorted(xs, key=f)` calls `f` through its entry stub; a compiled loop with `f(x)`
//! jumps through the entry cell without one.

use super::capi::*;
use super::function_state::{self, Entry, Installed};
use super::units::{self, Busy, HandedOver, UnitRef, UnitState};
use super::{Gil, abi, compiling, frames, generators, monitoring};
use crate::helpers;
use abi::eval_breaker::{self, EVENTS, HARMLESS};
use cladonia::host::interpreted_call_at;
use cladonia::lir::{Builder, Func, IntCond, Opcode, Signature};
use cladonia::ll::{Ty, Width};
use pyo3_ffi::*;
use std::cell::Cell;
use std::ffi::c_void;

/// Called by `enter` if the eval-breaker word is not the one that the unit knows. Returns 1 to
/// continue natively, 0 to run this call in the interpreter.
///
/// # Safety
/// Called by a unit that is being entered, with its token, on its thread.
pub unsafe extern "C" fn entry_check(ts: Thread, token: u64) -> i64 {
    // SAFETY: compiled code runs with the GIL held. The unit is being entered, so it is alive, and
    // it is kept alive while other code runs.
    unsafe {
        let (gil, unit) = (Gil::held(), token as UnitRef);
        units::keeping(unit, || may_enter(gil, ts, &*unit)) as i64
    }
}

/// True if a unit may be entered. Handles pending work first, if that cannot raise.
///
/// # Safety
/// `ts` is the current thread's; the unit is kept.
unsafe fn may_enter(gil: Gil, ts: Thread, unit: &UnitState) -> bool {
    for _ in 0..4 {
        if !unit.is_valid() {
            return false;
        }
        // SAFETY: the caller's promise.
        unsafe {
            let word = eval_breaker::word(ts);
            if word & !EVENTS != unit.checked.pending.get() {
                if monitoring::is_unit_observed(gil, unit) {
                    return false;
                }
                unit.checked.pending.set(word & !EVENTS);
            }
            if word & EVENTS == 0 {
                return true;
            }
            if word & EVENTS & !HARMLESS != 0 || _Py_HandlePending(ts) != 0 {
                return false;
            }
        }
    }
    false
}

fn none_address() -> u64 {
    // SAFETY: the address of a static.
    unsafe { Py_None() as u64 }
}

/// Maximum arguments whose references a stub takes one by one: each adds a branch to every
/// function's stub.
const MAX_IN_A_ROW: usize = 3;

/// LIR of the stub `(function, arguments, nargsf, kwnames) -> object`.
pub fn stub(entry: &Entry) -> Func {
    let shape = entry.shape;
    let arity = shape.arity();
    let mut func = Func::new(
        format!("entry of {}", shape.name()),
        Signature::new(&[Ty::Ptr, Ty::Ptr, Ty::I64, Ty::Ptr], &[Ty::Ptr]),
    );
    let (callee, args, nargsf, kwnames) = {
        let p = func.params();
        (p[0], p[1], p[2], p[3])
    };
    let mut b = Builder::new(&mut func);
    let go = b.block();
    let params: Vec<_> = (0..arity).map(|_| b.param(go, Ty::Ptr)).collect();
    let slow = b.cold_block();
    if shape.is_plain() {
        let (count_ok, fast) = (b.block(), b.block());
        let no_names = b.is_null(kwnames);
        b.br(no_names, count_ok, &[], slow, &[]);
        b.switch_to(count_ok);
        let one = b.iconst(1);
        let shifted = b.op(Opcode::Ishl, &[nargsf, one]);
        let exact = b.icmp_imm(IntCond::Eq, shifted, 2 * arity as i64);
        b.br(exact, fast, &[], slow, &[]);
        b.switch_to(fast);
        // The interpreter's own call gives its references up. They are moved out of its stack, and
        // an immortal object replaces each, so that an argument is deallocated where the callee
        // drops it.
        let (copy, take) = (b.block(), b.block());
        let mut thread = None;
        if arity == 0 {
            b.jump(copy, &[]);
        } else {
            let helper = b.pconst(PyThreadState_GetUnchecked as *const () as u64);
            let ts = b.call_indirect(Signature::new(&[], &[Ty::Ptr]), helper, &[])[0];
            thread = Some(ts);
            abi::calls::branch_on_owner(&mut b, ts, callee, args, arity, take, copy);
        }
        b.switch_to(take);
        let none = b.pconst(none_address());
        let mut values = Vec::with_capacity(arity);
        for index in 0..arity {
            values.push(b.load(Width::Ptr, args, 8 * index as i32));
            b.store(Width::Ptr, args, 8 * index as i32, none);
        }
        b.jump(go, &values);
        b.switch_to(copy);
        if arity <= MAX_IN_A_ROW {
            for index in 0..arity {
                let value = b.load(Width::Ptr, args, 8 * index as i32);
                abi::counts::take(&mut b, value);
            }
        } else {
            let eight = b.iconst(8);
            let size = b.iconst(8 * arity as i64);
            let end = b.op(Opcode::Padd, &[args, size]);
            let (turn, done) = (b.block(), b.block());
            let at = b.param(turn, Ty::Ptr);
            b.jump(turn, &[args]);
            b.switch_to(turn);
            let value = b.load(Width::Ptr, at, 0);
            abi::counts::take(&mut b, value);
            let next = b.op(Opcode::Padd, &[at, eight]);
            let more = b.icmp(IntCond::Ult, next, end);
            b.br(more, turn, &[next], done, &[]);
            b.switch_to(done);
        }
        let values: Vec<_> = (0..arity)
            .map(|index| b.load(Width::Ptr, args, 8 * index as i32))
            .collect();
        if let Some(ts) = thread {
            abi::calls::give_up(&mut b, ts, callee, args, arity);
        }
        b.jump(go, &values);
    } else {
        b.jump(slow, &[]);
    }

    b.switch_to(slow);
    let slot = b.slot(8 * arity.max(1) as u32);
    let bound = b.stack_addr(slot);
    let helper = b.pconst(bind as *const () as u64);
    let five = [Ty::Ptr, Ty::Ptr, Ty::I64, Ty::Ptr, Ty::Ptr];
    let status = b.call_indirect(
        Signature::new(&five, &[Ty::I64]),
        helper,
        &[callee, args, nargsf, kwnames, bound],
    )[0];
    let (native, other) = (b.block(), b.block());
    let ok = b.icmp_imm(IntCond::Eq, status, 1);
    b.br(ok, native, &[], other, &[]);
    b.switch_to(native);
    let values: Vec<_> = (0..arity)
        .map(|i| b.load(Width::Ptr, bound, 8 * i as i32))
        .collect();
    b.jump(go, &values);
    b.switch_to(other);
    let helper = b.pconst(call_original as *const () as u64);
    let four = [Ty::Ptr, Ty::Ptr, Ty::I64, Ty::Ptr];
    let result = b.call_indirect(
        Signature::new(&four, &[Ty::Ptr]),
        helper,
        &[callee, args, nargsf, kwnames],
    )[0];
    b.ret(&[result]);

    b.switch_to(go);
    let helper = b.pconst(PyThreadState_GetUnchecked as *const () as u64);
    let ts = b.call_indirect(Signature::new(&[], &[Ty::Ptr]), helper, &[])[0];
    let cell = b.pconst(entry.cell.as_ptr() as u64);
    let target = b.load(Width::Ptr, cell, 0);
    let mut all = vec![ts, callee];
    all.extend(params);
    let result = b.call_indirect(
        Signature::new(&vec![Ty::Ptr; arity + 2], &[Ty::Ptr]),
        target,
        &all,
    )[0];
    b.ret(&[result]);
    func
}

macro_rules! fallbacks {
    ($($name:ident $maker:ident($($arg:ident),*);)*) => {
        $(
            unsafe extern "C" fn $name(ts: Thread, func: Object $(, $arg: Object)*) -> Object {
                let mut args: [Object; 0 $(+ { let _ = stringify!($arg); 1 })*] = [$($arg),*];
                // SAFETY: a native call's promises.
                unsafe { call_in_place(ts, func, args.as_mut_ptr(), args.len() as i64) }
            }

            unsafe extern "C" fn $maker(ts: Thread, func: Object $(, $arg: Object)*) -> Object {
                let mut args: [Object; 0 $(+ { let _ = stringify!($arg); 1 })*] = [$($arg),*];
                // SAFETY: a native call's promises.
                unsafe {
                    generators::make(ts, func, &args).unwrap_or_else(|| {
                        generators::announce();
                        call_in_place(ts, func, args.as_mut_ptr(), args.len() as i64)
                    })
                }
            }
        )*
        /// The fallback of a small arity. It needs no compiler, so it is available while the
        /// compiler is at work.
        pub fn small_fallback(arity: usize) -> Option<u64> {
            const ALL: &[fn() -> u64] = &[$(|| $name as *const () as u64),*];
            ALL.get(arity).map(|address| address())
        }

        /// The native entry of functions of a small arity whose calls only [make a
        /// generator](generators::make).
        pub fn maker(arity: usize) -> Option<u64> {
            const ALL: &[fn() -> u64] = &[$(|| $maker as *const () as u64),*];
            ALL.get(arity).map(|address| address())
        }

        /// True for an address of one of those.
        pub fn is_maker(address: u64) -> bool {
            [$($maker as *const () as u64),*].contains(&address)
        }
    };
}

fallbacks! {
    fallback_0 maker_0();
    fallback_1 maker_1(a);
    fallback_2 maker_2(a, b);
    fallback_3 maker_3(a, b, c);
    fallback_4 maker_4(a, b, c, d);
    fallback_5 maker_5(a, b, c, d, e);
    fallback_6 maker_6(a, b, c, d, e, f);
    fallback_7 maker_7(a, b, c, d, e, f, g);
    fallback_8 maker_8(a, b, c, d, e, f, g, h);
    fallback_9 maker_9(a, b, c, d, e, f, g, h, i);
    fallback_10 maker_10(a, b, c, d, e, f, g, h, i, j);
    fallback_11 maker_11(a, b, c, d, e, f, g, h, i, j, k);
    fallback_12 maker_12(a, b, c, d, e, f, g, h, i, j, k, l);
}

/// LIR of the fallback for native callers of functions with more parameters.
pub fn fallback(arity: usize) -> Func {
    interpreted_call_at(arity, call_in_place as *const () as usize)
}

/// The vectorcall that CPython gives to new functions.
///
/// # Safety
/// As for a vectorcall of a function whose entry is ours.
pub unsafe extern "C" fn call_original(
    func: Object,
    args: *const Object,
    nargsf: usize,
    kwnames: Object,
) -> Object {
    // SAFETY: a stub runs with the interpreter's lock held.
    let gil = unsafe { Gil::held() };
    let _kept = HandedOver::new();
    let original = gil.runtime().original_vectorcall;
    // SAFETY: as in `bind`.
    unsafe {
        let (ts, positional) = (current_thread(), nargsf & !ARGUMENTS_OFFSET);
        let count = positional + keyword_count(kwnames);
        if abi::calls::are_owned(ts, func, args, count) {
            // For a wrong call, the interpreter drops the arguments of its own calls in another
            // order than those of a vectorcall.
            let taken = abi::calls::take(ts, func, args, count);
            let func = Py_NewRef(func);
            return helpers::interpret(ts, func, taken.as_ptr(), positional, kwnames);
        }
    }
    // SAFETY: the arguments are those of a vectorcall.
    unsafe {
        std::mem::transmute::<*const c_void, Vectorcall>(original)(func, args, nargsf, kwnames)
    }
}

/// Called by a unit whose frame could not be pushed: see [`call_in_place`]. No frame shows that
/// unit.
///
/// # Safety
/// Called by a unit on its thread: `func` is a live Python function, the array has `count` owned
/// arguments, bound.
pub unsafe extern "C" fn call_interpreted(
    ts: Thread,
    func: Object,
    args: *mut Object,
    count: i64,
) -> Object {
    let _busy = Busy::new();
    // SAFETY: a helper's promises are those of a fallback.
    unsafe { call_in_place(ts, func, args, count) }
}

/// Runs a call with bound arguments in the interpreter; `args` are taken over. Native callers and
/// stubs come here through the fallback.
pub(super) unsafe extern "C" fn call_in_place(
    ts: Thread,
    func: Object,
    args: *mut Object,
    count: i64,
) -> Object {
    // SAFETY: compiled code runs with the interpreter's lock held.
    let gil = unsafe { Gil::held() };
    let _kept = HandedOver::new();
    // SAFETY: a native call's promises: `func` is alive, the array has owned references.
    unsafe {
        let code: Object = get(func.cast(), abi::function::CODE);
        let shape = CodeShape::of(code);
        if gil.started().is_some() {
            note_interpreted(gil, ts, func, code);
        }
        let bound = std::slice::from_raw_parts_mut(args, count as usize);
        if shape.is_plain() {
            return helpers::interpret(
                ts,
                Py_NewRef(func),
                args,
                bound.len(),
                std::ptr::null_mut(),
            );
        }
        spread(ts, func, &shape, bound)
    }
}

/// A call from native code could not run natively: counts it, and decides if its function should be
/// compiled again, or no more.
unsafe fn note_interpreted(gil: Gil, ts: Thread, func: Object, code: Object) {
    // SAFETY: the caller's: a live function with its code, on its thread.
    unsafe {
        gil.runtime()
            .totals
            .interpreted_calls
            .update(|calls| calls + 1);
        if abi::recursion::is_native_low(ts) || frames::is_stack_low(ts) {
            function_state::give_up(gil, code, "deep recursion");
        } else {
            compiling::called_by_native(gil, func, code);
        }
    }
}

/// The entries that native callers have called, by their stub, which all functions of one entry
/// have as their vectorcall. An entry lives as long as a function has its stub.
pub struct Stubs([Cell<KnownStub>; STUBS]);

/// Number of stubs that are cached.
const STUBS: usize = 256;

#[derive(Clone, Copy)]
struct KnownStub {
    stub: usize,
    cell: *const Cell<u64>,
    arity: usize,
}

impl KnownStub {
    const NONE: KnownStub = KnownStub {
        stub: 0,
        cell: std::ptr::null(),
        arity: 0,
    };
}

impl Stubs {
    /// An empty cache.
    pub const fn new() -> Stubs {
        Stubs([const { Cell::new(KnownStub::NONE) }; STUBS])
    }

    /// To be called before stubs are freed: others may be allocated at their addresses.
    pub fn clear(&self) {
        self.0.iter().for_each(|place| place.set(KnownStub::NONE));
    }

    #[inline(always)]
    fn place(stub: usize) -> usize {
        (stub >> 6 ^ stub >> 14) % STUBS
    }
}

impl Default for Stubs {
    fn default() -> Stubs {
        Stubs::new()
    }
}

/// Calls a Python function with positional arguments, and defaults for the other parameters, if its
/// entry is cached; the arguments are taken over then. Otherwise does nothing.
///
/// # Safety
/// As for [`call_native`]; `stub` is the function's vectorcall.
#[inline(always)]
pub unsafe fn call_known(
    gil: Gil,
    ts: Thread,
    func: Object,
    stub: usize,
    args: *const Object,
    given: usize,
) -> Option<Object> {
    let known = gil.started()?.stubs.0[Stubs::place(stub)].get();
    if known.stub != stub || known.arity < given {
        return None;
    }
    // SAFETY: the entry takes as many arguments.
    unsafe {
        if known.arity == given {
            enter(ts, func, known.cell, args, given)
        } else {
            enter_with_defaults(ts, func, known.cell, args, given, known.arity)
        }
    }
}

/// [`enter`] with the function's defaults for the missing arguments. Does nothing if there are too
/// few.
///
/// # Safety
/// As for [`enter`], but there are only `given` arguments; the function's parameters are
/// positional.
#[inline(never)]
unsafe fn enter_with_defaults(
    ts: Thread,
    func: Object,
    cell: *const Cell<u64>,
    args: *const Object,
    given: usize,
    arity: usize,
) -> Option<Object> {
    let mut bound = [std::ptr::null_mut(); MAX_SPREAD];
    // SAFETY: the caller's promises; bound arguments are owned.
    unsafe {
        if !take_defaults(func, args, given, bound.get_mut(..arity)?) {
            return None;
        }
        enter(ts, func, cell, bound.as_ptr(), arity)
    }
}

/// Calls a Python function from native code, if it has a native entry that these arguments can be
/// bound for; they are taken over then. Otherwise does nothing.
///
/// # Safety
/// `func` is a Python function that lives as long as the call; the arguments are owned.
pub unsafe fn call_native(
    gil: Gil,
    ts: Thread,
    func: Object,
    args: *const Object,
    given: usize,
    kwnames: Object,
) -> Option<Object> {
    let runtime = gil.started()?;
    let Installed {
        cell, shape, stub, ..
    } = runtime.functions.borrow().get(&(func as usize)).copied()?;
    let arity = shape.arity();
    if arity > MAX_SPREAD {
        return None;
    }
    // SAFETY: a live function.
    if shape.is_plain()
        && unsafe { get::<*const c_void>(func.cast(), abi::function::VECTORCALL) } == stub
    {
        let stub = stub as usize;
        runtime.stubs.0[Stubs::place(stub)].set(KnownStub { stub, cell, arity });
    }
    let mut bound = [std::ptr::null_mut(); MAX_SPREAD];
    let mut args = args;
    let only_positional = kwnames.is_null() && shape.is_plain();
    // SAFETY: the caller's promises; there is room for `arity` arguments, and the defaults are
    // exactly the missing ones.
    if only_positional
        && given < arity
        && unsafe { take_defaults(func, args, given, &mut bound[..arity]) }
    {
        args = bound.as_ptr();
    } else if !only_positional || given != arity {
        // SAFETY: the caller's promises; bound arguments own their references.
        unsafe {
            if bind_all(func, &shape, args, given, kwnames, &mut bound[..arity]).is_none() {
                bound.iter().for_each(|&object| Py_XDECREF(object));
                PyErr_Clear();
                // The interpreter raises the error, and drops the arguments in its own order.
                return Some(helpers::interpret(
                    ts,
                    Py_NewRef(func),
                    args,
                    given,
                    kwnames,
                ));
            }
            let named = keyword_count(kwnames);
            (0..given + named).for_each(|index| Py_DECREF(*args.add(index)));
        }
        args = bound.as_ptr();
    }
    // SAFETY: the cell is of this arity; there are as many arguments, which are owned.
    unsafe { enter(ts, func, cell, args, arity) }
}

/// Calls through the cell of an entry. Returns `None`, without side effects, if there are too many
/// arguments.
///
/// # Safety
/// As for [`call_native`]; the cell has a native entry of this arity, and there are as many
/// arguments.
#[inline(always)]
unsafe fn enter(
    ts: Thread,
    func: Object,
    cell: *const Cell<u64>,
    args: *const Object,
    arity: usize,
) -> Option<Object> {
    macro_rules! call {
        ($($arg:ident $index:literal),*) => {{
            type Native = unsafe extern "C" fn(Thread, Object $(, call!(@ $arg))*) -> Object;
            // SAFETY: the caller's promise.
            unsafe {
                let entry = std::mem::transmute::<*const u8, Native>((*cell).get() as *const u8);
                Some(entry(ts, func $(, *args.add($index))*))
            }
        }};
        (@ $arg:ident) => { Object };
    }
    match arity {
        0 => call!(),
        1 => call!(a 0),
        2 => call!(a 0, b 1),
        3 => call!(a 0, b 1, c 2),
        4 => call!(a 0, b 1, c 2, d 3),
        5 => call!(a 0, b 1, c 2, d 3, e 4),
        6 => call!(a 0, b 1, c 2, d 3, e 4, f 5),
        7 => call!(a 0, b 1, c 2, d 3, e 4, f 5, g 6),
        8 => call!(a 0, b 1, c 2, d 3, e 4, f 5, g 6, h 7),
        _ => None,
    }
}

/// Takes over the arguments of a call that leaves the rest to the function's defaults. Does nothing
/// if there are too few.
///
/// # Safety
/// `func` is a Python function of positional parameters only, as many as `bound` has places.
unsafe fn take_defaults(
    func: Object,
    args: *const Object,
    given: usize,
    bound: &mut [Object],
) -> bool {
    // SAFETY: the caller's promise; a function's defaults are a tuple or null.
    unsafe {
        let defaults: Object = get(func.cast(), abi::function::DEFAULTS);
        let missing = bound.len() - given;
        if defaults.is_null() || (Py_SIZE(defaults) as usize) < missing {
            return false;
        }
        let first = Py_SIZE(defaults) - missing as Py_ssize_t;
        std::ptr::copy_nonoverlapping(args, bound.as_mut_ptr(), given);
        for (index, place) in (first..).zip(&mut bound[given..]) {
            *place = Py_NewRef(PyTuple_GET_ITEM(defaults, index));
        }
        true
    }
}

/// The largest arity that [`call_native`] supports.
const MAX_SPREAD: usize = 8;

/// Calls with keyword-only, star and double-star parameters in bound form.
unsafe fn spread(ts: Thread, func: Object, shape: &CodeShape, bound: &mut [Object]) -> Object {
    // SAFETY: bound arguments are in the order of the code's parameters: see `bind`.
    unsafe {
        let (argcount, kwonly) = (shape.argcount as usize, shape.kwonly as usize);
        let mut flat: Vec<Object> = bound[..argcount].iter().map(|&o| Py_NewRef(o)).collect();
        let mut names: Vec<Object> = Vec::new();
        let mut named: Vec<Object> = Vec::new();
        for index in argcount..argcount + kwonly {
            names.push(Py_NewRef(parameter_name(shape, index)));
            named.push(Py_NewRef(bound[index]));
        }
        let mut next = argcount + kwonly;
        if shape.varargs() {
            for index in 0..PyTuple_Size(bound[next]) {
                flat.push(Py_NewRef(PyTuple_GetItem(bound[next], index)));
            }
            next += 1;
        }
        if shape.varkeywords() {
            let (mut at, mut key, mut value) = (0, std::ptr::null_mut(), std::ptr::null_mut());
            while PyDict_Next(bound[next], &mut at, &mut key, &mut value) != 0 {
                names.push(Py_NewRef(key));
                named.push(Py_NewRef(value));
            }
        }
        for &mut object in bound {
            Py_DECREF(object);
        }
        let positional = flat.len();
        flat.append(&mut named);
        let kwnames = if names.is_empty() {
            std::ptr::null_mut()
        } else {
            PyTuple_New(names.len() as Py_ssize_t)
        };
        if kwnames.is_null() && !names.is_empty() {
            flat.iter().chain(&names).for_each(|&o| Py_DECREF(o));
            return std::ptr::null_mut();
        }
        for (index, name) in names.into_iter().enumerate() {
            PyTuple_SetItem(kwnames, index as Py_ssize_t, name);
        }
        let result = helpers::interpret(ts, Py_NewRef(func), flat.as_ptr(), positional, kwnames);
        Py_XDECREF(kwnames);
        result
    }
}

/// The name of a parameter, borrowed.
unsafe fn parameter_name(shape: &CodeShape, index: usize) -> Object {
    // SAFETY: parameters are the first locals.
    unsafe {
        PyTuple_GetItem(
            get(shape.code.cast(), abi::code::LOCALSPLUS_NAMES),
            index as Py_ssize_t,
        )
    }
}

/// The number of arguments passed by keyword.
///
/// # Safety
/// `kwnames` is a tuple, or null.
unsafe fn keyword_count(kwnames: Object) -> usize {
    if kwnames.is_null() {
        0
    } else {
        // SAFETY: promised by the caller.
        unsafe { PyTuple_Size(kwnames) as usize }
    }
}

/// Binds the arguments of a vectorcall as the interpreter would: owned references for each
/// parameter to `out`, in the order of the code's locals. Returns 1; or 0, with nothing owned, if
/// the call is wrong or unusual and the interpreter must bind it.
unsafe extern "C" fn bind(
    func: Object,
    args: *const Object,
    nargsf: usize,
    kwnames: Object,
    out: *mut Object,
) -> i64 {
    // SAFETY: a vectorcall's promises; `out` has room for the code's arity.
    unsafe {
        let code: Object = get(func.cast(), abi::function::CODE);
        let shape = CodeShape::of(code);
        let arity = shape.arity();
        let out = std::slice::from_raw_parts_mut(out, arity);
        out.fill(std::ptr::null_mut());
        let given = nargsf & !ARGUMENTS_OFFSET;
        if bind_all(func, &shape, args, given, kwnames, out).is_some() {
            let count = given + keyword_count(kwnames);
            let ts = current_thread();
            if abi::calls::are_owned(ts, func, args, count) {
                // As in the stub: the caller's references are dropped now.
                let taken = abi::calls::take(ts, func, args, count);
                taken.into_iter().for_each(|object| Py_DECREF(object));
            }
            return 1;
        }
        for &mut object in out {
            Py_XDECREF(object);
        }
        // The interpreter repeats the call and raises the error in its own words.
        PyErr_Clear();
        0
    }
}

unsafe fn bind_all(
    func: Object,
    shape: &CodeShape,
    args: *const Object,
    given: usize,
    kwnames: Object,
    out: &mut [Object],
) -> Option<()> {
    // SAFETY: as for `bind`.
    unsafe {
        let (argcount, kwonly) = (shape.argcount as usize, shape.kwonly as usize);
        let named = argcount + kwonly;
        for (index, place) in out.iter_mut().enumerate().take(given.min(argcount)) {
            *place = Py_NewRef(*args.add(index));
        }
        let mut next = named;
        if shape.varargs() {
            let extra = given.saturating_sub(argcount);
            let tuple = PyTuple_New(extra as Py_ssize_t);
            if tuple.is_null() {
                return None;
            }
            for index in 0..extra {
                PyTuple_SetItem(
                    tuple,
                    index as Py_ssize_t,
                    Py_NewRef(*args.add(argcount + index)),
                );
            }
            out[next] = tuple;
            next += 1;
        } else if given > argcount {
            return None;
        }
        if shape.varkeywords() {
            out[next] = PyDict_New();
            if out[next].is_null() {
                return None;
            }
        }
        let keywords = keyword_count(kwnames);
        let positional_only: i32 = get(shape.code.cast(), abi::code::POSONLYARGCOUNT);
        for index in 0..keywords {
            let name = PyTuple_GetItem(kwnames, index as Py_ssize_t);
            let value = *args.add(given + index);
            match find_parameter(shape, name, positional_only as usize, named)? {
                Some(place) if out[place].is_null() => out[place] = Py_NewRef(value),
                Some(_) => return None,
                None if shape.varkeywords() => {
                    if PyDict_SetItem(out[next], name, value) < 0 {
                        return None;
                    }
                }
                None => return None,
            }
        }
        let defaults: Object = get(func.cast(), abi::function::DEFAULTS);
        let count = if defaults.is_null() {
            0
        } else {
            PyTuple_Size(defaults) as usize
        };
        for (index, place) in out.iter_mut().enumerate().take(argcount) {
            if place.is_null() {
                let from_end = argcount - index;
                if from_end > count {
                    return None;
                }
                *place = Py_NewRef(PyTuple_GetItem(defaults, (count - from_end) as Py_ssize_t));
            }
        }
        let kwdefaults: Object = get(func.cast(), abi::function::KWDEFAULTS);
        for index in argcount..named {
            if out[index].is_null() {
                if kwdefaults.is_null() {
                    return None;
                }
                let value = PyDict_GetItemWithError(kwdefaults, parameter_name(shape, index));
                if value.is_null() {
                    return None;
                }
                out[index] = Py_NewRef(value);
            }
        }
        Some(())
    }
}

/// The parameter of this name, if it may be passed by name; `None` if the comparison raised.
unsafe fn find_parameter(
    shape: &CodeShape,
    name: Object,
    first: usize,
    named: usize,
) -> Option<Option<usize>> {
    // SAFETY: names are strings.
    unsafe {
        if PyUnicode_Check(name) == 0 {
            return None;
        }
        for pass in 0..2 {
            for index in first..named {
                let parameter = parameter_name(shape, index);
                if parameter == name || pass == 1 && PyUnicode_Compare(parameter, name) == 0 {
                    return Some(Some(index));
                }
            }
        }
        Some(None)
    }
}
