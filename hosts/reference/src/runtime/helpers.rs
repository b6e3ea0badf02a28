//! The helpers that compiled code calls, one for each general operation: thin wrappers of
//! operations that the interpreter uses too.
//!
//! # Safety contract
//! Compiled code passes arguments as the table of general operations requires: live objects (or
//! null where it allows that), live frames, arrays with the given number of words, memory for the
//! operation's outputs. References in arrays and outputs change their owner.

use super::class;
use super::error::{self, Raised};
use super::frame::{Frame, FrameRef, Thread, give, owned};
use super::heap::{self, List, Obj, Ref, alloc, borrow};
use super::names;
use super::number;
use super::{Result, call, chaos, iter, ops, rt, units};
use cladonia::bytecode::{CompareOp, GeneralOp};
use cladonia::host::{DEALLOC, EXIT_HOOK, FREE_LEAF, HelperRow, HostBuilder, helpers};
use std::mem::ManuallyDrop;

/// 0, or -1 with the exception pending.
fn status(result: Result<()>) -> i64 {
    truth(result.map(|()| false))
}

fn truth(result: Result<bool>) -> i64 {
    match result {
        Ok(value) => value.into(),
        Err(Raised(exception)) => {
            rt().thread.set_exception(Some(exception));
            -1
        }
    }
}

/// A borrowed object.
fn see(p: Obj) -> ManuallyDrop<Ref> {
    // SAFETY: the module's contract.
    unsafe { borrow(p) }
}

/// A borrowed object, or null.
fn see_or_null(p: Obj) -> Option<ManuallyDrop<Ref>> {
    (!p.is_null()).then(|| see(p))
}

/// The references of an array, taken over.
fn take(array: *const Obj, count: i64) -> Vec<Option<Ref>> {
    (0..count as usize)
        .map(|i| {
            // SAFETY: the module's contract.
            unsafe {
                let p = *array.add(i);
                (!p.is_null()).then(|| Ref::from_owned(p))
            }
        })
        .collect()
}

fn take_objects(array: *const Obj, count: i64) -> Vec<Ref> {
    take(array, count).into_iter().flatten().collect()
}

/// Fills outputs with new references.
fn put(outputs: *mut Obj, values: Result<Vec<Option<Ref>>>) -> i64 {
    status(values.map(|values| {
        for (i, value) in values.into_iter().enumerate() {
            // SAFETY: the module's contract: there is memory for the outputs.
            unsafe { *outputs.add(i) = value.map_or(std::ptr::null_mut(), Ref::into_raw) };
        }
    }))
}

fn frame_of(frame: *mut Frame) -> FrameRef {
    // SAFETY: the module's contract.
    unsafe { FrameRef::from_raw(frame) }
}

type T = *const Thread;
type F = *mut Frame;

/// A helper's address by its operation.
fn address(op: GeneralOp) -> usize {
    // A helper with the `quiet` flag runs no user code.
    macro_rules! f {
        (quiet |$($a:ident: $ty:ty),*| -> $r:ty $body:block) => {{
            extern "C" fn helper($($a: $ty),*) -> $r $body
            helper as *const () as usize
        }};
        (|$($a:ident: $ty:ty),*| -> $r:ty $body:block) => {
            f!(quiet |$($a: $ty),*| -> $r { chaos::change(); $body })
        };
    }
    use GeneralOp as G;
    match op {
        G::Binary | G::BinaryInts => {
            f!(|n: i64, a: Obj, b: Obj| -> Obj { give(ops::binary(n as u32, &see(a), &see(b))) })
        }
        G::Compare => f!(|n: i64, a: Obj, b: Obj| -> Obj { give(compare(n, a, b)) }),
        G::CompareBool => f!(|n: i64, a: Obj, b: Obj| -> i64 {
            truth(compare(n, a, b).and_then(|r| ops::truth(&r)))
        }),
        G::OperatorRest => f!(|_number: i64,
                               _swapped: i64,
                               _a: Obj,
                               _b: Obj,
                               _declined: Obj,
                               given: *const Obj,
                               count: i64|
         -> Obj {
            // This host's `World` never has a plan for an operator.
            give(Ok(take_objects(given, count).remove(0)))
        }),
        G::Contains => f!(|a: Obj, b: Obj| -> i64 { truth(ops::contains(&see(a), &see(b))) }),
        G::InitResult => f!(|a: Obj| -> i64 {
            status(if see(a).is(&rt().none) {
                Ok(())
            } else {
                error::raise(error::TYPE, "an `__init__` must return None")
            })
        }),
        G::Truth => f!(|a: Obj| -> i64 { truth(ops::truth(&see(a))) }),
        G::Negative => f!(|a: Obj| -> Obj { give(ops::negative(&see(a))) }),
        G::Invert => f!(|a: Obj| -> Obj { give(ops::invert(&see(a))) }),
        G::GetItem => f!(|a: Obj, b: Obj| -> Obj { give(ops::get_item(&see(a), &see(b))) }),
        G::FindItem => f!(|kind: i64, a: Obj, b: Obj| -> Obj {
            let (a, b) = (see(a), see(b));
            // Their comparisons and the subscript run no user code.
            let is_plain = matches!(b.kind(), heap::Kind::Int | heap::Kind::Str);
            let error = match a.kind() {
                heap::Kind::Dict if kind == 0 => Some(error::KEY),
                heap::Kind::List | heap::Kind::Tuple if kind == 1 => Some(error::INDEX),
                _ => None,
            };
            match (ops::get_item(&a, &b), error.filter(|_| is_plain)) {
                (Err(Raised(raised)), Some(error)) if error::is_a(&raised, error) => {
                    std::ptr::null_mut()
                }
                (result, _) => give(result),
            }
        }),
        G::SetItem => {
            f!(
                |a: Obj, b: Obj, c: Obj| -> i64 {
                    status(ops::set_item(&see(a), &see(b), &see(c)))
                }
            )
        }
        G::DelItem => f!(|a: Obj, b: Obj| -> i64 { status(ops::del_item(&see(a), &see(b))) }),
        G::GetSlice => f!(|a: Obj, b: Obj, c: Obj| -> Obj {
            give(ops::get_slice(
                &see(a),
                &[Ref::clone(&see(b)), Ref::clone(&see(c)), rt().none.clone()],
            ))
        }),
        G::SetSlice => f!(|a: Obj, b: Obj, c: Obj, d: Obj| -> i64 {
            status(ops::set_slice(&see(a), &see(b), &see(c), &see(d)))
        }),
        G::GetExtendedSlice => f!(|a: Obj, array: *const Obj, n: i64| -> Obj {
            let mut parts = take(array, n).into_iter();
            let mut part = || parts.next().flatten().unwrap_or_else(|| rt().none.clone());
            let parts = [part(), part(), part()];
            give(ops::get_slice(&see(a), &parts))
        }),
        G::BuildSlice => f!(|a: Obj, b: Obj, c: Obj| -> Obj {
            let part =
                |p: Obj| see_or_null(p).map_or_else(|| rt().none.clone(), |o| Ref::clone(&o));
            alloc::slice([part(a), part(b), part(c)]).into_raw()
        }),
        G::LoadAttr => {
            f!(|f: F, n: i64, a: Obj| -> Obj { give(class::get_attr(&see(a), name(f, n))) })
        }
        G::StoreAttr => f!(|f: F, n: i64, a: Obj, v: Obj| -> i64 {
            status(class::set_attr(&see(a), name(f, n), Ref::clone(&see(v))))
        }),
        G::DeleteAttr => {
            f!(|f: F, n: i64, a: Obj| -> i64 { status(class::delete_attr(&see(a), name(f, n))) })
        }
        G::LoadMethod => f!(|f: F, n: i64, a: Obj, out: *mut Obj| -> i64 {
            put(
                out,
                class::get_method(&see(a), name(f, n))
                    .map(|(callee, this)| vec![Some(callee), this]),
            )
        }),
        G::LoadSuperAttr => f!(|f: F,
                                n: i64,
                                flags: i64,
                                _super: Obj,
                                class: Obj,
                                this: Obj,
                                out: *mut Obj|
         -> i64 {
            put(out, load_super(name(f, n), flags, &see(class), &see(this)))
        }),
        G::LoadGlobal => {
            f!(|f: F, n: i64| -> Obj { give(names::load_global(frame_of(f), n as usize)) })
        }
        G::LoadName => {
            f!(|f: F, n: i64| -> Obj { give(names::load_name(frame_of(f), n as usize)) })
        }
        G::StoreName => f!(|f: F, n: i64, v: Obj| -> i64 {
            status(names::store_name(
                frame_of(f),
                n as usize,
                Ref::clone(&see(v)),
            ))
        }),
        G::DeleteName => {
            f!(|f: F, n: i64| -> i64 { status(names::delete_name(frame_of(f), n as usize)) })
        }
        G::StoreGlobal => f!(|f: F, n: i64, v: Obj| -> i64 {
            status(names::store_global(
                frame_of(f),
                n as usize,
                Ref::clone(&see(v)),
            ))
        }),
        G::DeleteGlobal => {
            f!(|f: F, n: i64| -> i64 { status(names::delete_global(frame_of(f), n as usize)) })
        }
        G::LoadLocals => f!(|f: F| -> Obj { give(names::load_locals(frame_of(f))) }),
        G::LoadFromDictOrGlobals => f!(|f: F, n: i64, m: Obj| -> Obj {
            give(names::load_from_dict_or_globals(
                frame_of(f),
                &see(m),
                n as usize,
            ))
        }),
        G::LoadFromDictOrDeref => f!(|f: F, n: i64, m: Obj| -> Obj {
            give(names::load_from_dict_or_deref(
                frame_of(f),
                &see(m),
                n as usize,
            ))
        }),
        G::CopyFreeVars => f!(|f: F, n: i64| -> i64 {
            names::copy_free_vars(frame_of(f), n as usize);
            0
        }),
        G::Call => f!(|_t: T, names: Obj, array: *const Obj, n: i64| -> Obj {
            give(call_array(see_or_null(names).as_deref(), take(array, n)))
        }),
        G::CallLent => f!(
            |_t: T, lent: i64, names: Obj, array: *const Obj, n: i64| -> Obj {
                for k in (0..n as usize).filter(|k| lent >> k & 1 != 0) {
                    // SAFETY: the module's contract: so many objects. The copy is a reference that
                    // the call takes over.
                    let _taken_over = see(unsafe { *array.add(k) }).clone();
                }
                give(call_array(see_or_null(names).as_deref(), take(array, n)))
            }
        ),
        G::CallEx => f!(|_t: T, array: *const Obj, n: i64| -> Obj {
            let owned = take_objects(array, n);
            give(names::call_ex(&owned[0], &owned[1], owned.get(2)))
        }),
        G::CallIntrinsic1 => {
            f!(|_t: T, n: i64, a: Obj| -> Obj { give(names::intrinsic_1(n as u32, &see(a))) })
        }
        G::CallIntrinsic2 => {
            f!(|_t: T, n: i64, _a: Obj, _b: Obj| -> Obj { give(names::intrinsic_2(n as u32)) })
        }
        G::GetIter => f!(|_t: T, a: Obj| -> Obj { give(iter::iter(&see(a))) }),
        G::IterNext => f!(|_t: T, a: Obj, out: *mut Obj| -> i64 {
            match iter::next(&see(a)) {
                Ok(item) => {
                    let more = item.is_some();
                    put(out, Ok(vec![item]));
                    more.into()
                }
                Err(raised) => status(Err(raised)),
            }
        }),
        // This runtime has no classes with a `__next__` of their own.
        // This host's `World` never has a plan for a function that computes an attribute.
        G::GetterRaised => f!(|_f: F, _name: i64, _a: Obj| -> i64 { -1 }),
        // This host's `World` never has a plan for an iterator.
        G::IterNextBy => f!(|_t: T, _fast: i64, _iter: Obj, _out: *mut Obj| -> i64 { -1 }),
        G::NextItems => {
            f!(|_t: T, _count: i64, _fast: i64, _iter: Obj, _out: *mut Obj| -> i64 { -1 })
        }
        G::EndIteration => f!(|_t: T| -> i64 { -1 }),
        G::BuildTuple => f!(|array: *const Obj, n: i64| -> Obj {
            alloc::tuple(take_objects(array, n)).into_raw()
        }),
        G::BuildList => f!(|array: *const Obj, n: i64| -> Obj {
            alloc::list(take_objects(array, n)).into_raw()
        }),
        G::BuildSet => f!(|array: *const Obj, n: i64| -> Obj {
            give(names::build_set(take_objects(array, n)))
        }),
        G::BuildMap | G::BuildKeywords => f!(|array: *const Obj, n: i64| -> Obj {
            give(names::build_map(take_objects(array, n)))
        }),
        G::BuildConstKeyMap => f!(|keys: Obj, array: *const Obj, n: i64| -> Obj {
            give(names::build_const_key_map(
                &see(keys),
                take_objects(array, n),
            ))
        }),
        G::BuildString | G::ConcatStrings => f!(|array: *const Obj, n: i64| -> Obj {
            give(names::build_string(&take_objects(array, n)))
        }),
        G::ListAppend => {
            f!(
                quiet |a: Obj, b: Obj| -> i64 {
                    status(names::list_append(&see(a), Ref::clone(&see(b))))
                }
            )
        }
        G::ListExtend => {
            f!(|_t: T, a: Obj, b: Obj| -> i64 { status(ops::extend(&see(a), &see(b))) })
        }
        G::SetAdd => {
            f!(|a: Obj, b: Obj| -> i64 { status(names::set_add(&see(a), Ref::clone(&see(b)))) })
        }
        G::SetUpdate => f!(|a: Obj, b: Obj| -> i64 { status(names::set_update(&see(a), &see(b))) }),
        G::MapAdd => f!(|a: Obj, b: Obj, c: Obj| -> i64 {
            status(names::map_add(
                &see(a),
                Ref::clone(&see(b)),
                Ref::clone(&see(c)),
            ))
        }),
        G::DictUpdate => f!(|_t: T, a: Obj, b: Obj| -> i64 {
            status(names::dict_update(&see(a), &see(b), false))
        }),
        G::DictMerge => f!(|_t: T, a: Obj, b: Obj, _c: Obj| -> i64 {
            status(names::dict_update(&see(a), &see(b), true))
        }),
        G::UnpackSequence => f!(|_t: T, n: i64, a: Obj, out: *mut Obj| -> i64 {
            put(out, iter::unpack(&see(a), n as usize).map(all))
        }),
        G::UnpackEx => f!(|_t: T, n: i64, a: Obj, out: *mut Obj| -> i64 {
            put(
                out,
                iter::unpack_ex(&see(a), n as usize & 0xff, n as usize >> 8).map(all),
            )
        }),
        G::FormatSimple => f!(|a: Obj| -> Obj { give(ops::str(&see(a)).map(alloc::str)) }),
        G::FormatWithSpec => f!(|a: Obj, b: Obj| -> Obj {
            give(ops::format(&see(a), see(b).as_str().unwrap_or_default()).map(alloc::str))
        }),
        G::ConvertValue => f!(|n: i64, a: Obj| -> Obj { give(names::convert(n as u32, &see(a))) }),
        G::MakeFunction => {
            f!(|f: F, a: Obj| -> Obj { give(names::make_function(frame_of(f), &see(a))) })
        }
        G::SetFunctionAttribute => f!(|n: i64, a: Obj, b: Obj| -> i64 {
            names::set_function_attribute(&see(a), n as u32, Ref::clone(&see(b)));
            0
        }),
        G::LoadBuildClass => f!(|_f: F| -> Obj { rt().build_class.clone().into_raw() }),
        G::LoadAssertionError => assertion_error as *const () as usize,
        G::Raise => f!(|_t: T, _n: i64, a: Obj, _b: Obj| -> i64 {
            status(Err(names::raise_varargs(see_or_null(a).as_deref())))
        }),
        G::ImportName => {
            f!(
                |_t: T, _f: F, _n: i64, _lazy: i64, _a: Obj, _b: Obj| -> Obj {
                    give(names::no_modules())
                }
            )
        }
        G::ImportFrom => f!(|_t: T, _f: F, _n: i64, _a: Obj| -> Obj { give(names::no_modules()) }),
        G::MatchMapping => f!(|a: Obj| -> i64 { (see(a).kind() == heap::Kind::Dict).into() }),
        G::MatchSequence => f!(|a: Obj| -> i64 {
            matches!(
                see(a).kind(),
                heap::Kind::List | heap::Kind::Tuple | heap::Kind::Range
            )
            .into()
        }),
        G::MatchKeys => {
            f!(|_t: T, a: Obj, b: Obj| -> Obj { give(names::match_keys(&see(a), &see(b))) })
        }
        G::MatchClass => f!(|_t: T, n: i64, a: Obj, b: Obj, c: Obj| -> Obj {
            give(names::match_class(&see(a), &see(b), &see(c), n as u32))
        }),
        G::RangeIter => f!(|a: Obj, b: Obj, c: Obj| -> Obj {
            give(iter::range_iter(
                [a, b, c].map(|bound| Ref::clone(&see(bound))),
            ))
        }),
        G::GetLen => f!(|a: Obj| -> Obj { give(ops::length(&see(a)).map(alloc::int)) }),
        G::SetupAnnotations => f!(|f: F| -> i64 { status(names::setup_annotations(frame_of(f))) }),
        G::BeforeWith => f!(|_t: T, a: Obj, out: *mut Obj| -> i64 {
            put(
                out,
                names::before_with(&see(a)).map(|(exit, entered)| vec![Some(exit), Some(entered)]),
            )
        }),
        G::LoadSpecial => {
            f!(|_t: T, n: i64, a: Obj| -> Obj { give(names::load_special(&see(a), n as u32)) })
        }
        G::BuildInterpolation => f!(|_n: i64, array: *const Obj, n: i64| -> Obj {
            drop(take_objects(array, n));
            give(names::no_templates())
        }),
        G::IsRaised => f!(quiet |_t: T| -> i64 { rt().thread.is_raised().into() }),
        G::PushExcInfo => f!(quiet |_t: T, exception: Obj| -> Obj {
            let handled = Some(Ref::clone(&see(exception)));
            let before = rt().thread.replace_handled(handled);
            before.unwrap_or_else(|| rt().none.clone()).into_raw()
        }),
        G::PopExcept => f!(|_t: T, _kept: i64, array: *const Obj, n: i64| -> i64 {
            let before = take_objects(array, n).pop();
            let before = before.filter(|before| !before.is(&rt().none));
            drop(rt().thread.replace_handled(before));
            0
        }),
        G::CheckExcMatch => {
            f!(quiet |_t: T, a: Obj, b: Obj| -> i64 { truth(names::matches(&see(a), &see(b))) })
        }
        G::CheckEgMatch => f!(|_t: T, _a: Obj, _b: Obj, _out: *mut Obj| -> i64 {
            status(super::error::raise(
                super::error::SYSTEM,
                "there are no groups of exceptions",
            ))
        }),
        G::SetHandled => f!(|exception: Obj| -> i64 {
            let exception = see(exception);
            if !exception.is(&rt().none) {
                drop(rt().thread.replace_handled(Some(Ref::clone(&exception))));
            }
            0
        }),
        G::WithExceptStart => f!(|exit: Obj, exception: Obj| -> Obj {
            let exception = Ref::clone(&see(exception));
            let args = vec![exception.class_ref(), exception, rt().none.clone()];
            give(call::call(&see(exit), args))
        }),
        G::RaiseAgain => raise_again as *const () as usize,
        G::Catch => f!(quiet |_t: T, add: i64| -> Obj {
            if add != 0 {
                super::interp::note_raise_here();
            }
            let exception = rt().thread.take_exception();
            exception.map_or(std::ptr::null_mut(), Ref::into_raw)
        }),
        // The entry was added when the exception was caught.
        G::CompleteTraceback => f!(quiet |_t: T| -> i64 { 0 }),
        G::ForgetTraceback => f!(quiet |_t: T, _exception: Obj| -> i64 { 0 }),
        G::Reraise => f!(quiet |_f: F, _n: i64, _position: Obj, exception: Obj| -> i64 {
            status(Err(Raised(Ref::clone(&see(exception)))))
        }),
        G::HandlePending => f!(|_t: T| -> i64 { status(names::handle_pending()) }),
        G::CallInterpreted => call_interpreted as *const () as usize,
        // This host calls no function with such code.
        G::MakeGenerator => {
            f!(quiet |_t: T, _f: F, _array: *const Obj, _n: i64| -> Obj { give(no_generators()) })
        }
        G::ResumeInterpreted => f!(
            |_t: T, _generator: Obj, args: *const Obj, count: i64| -> Obj {
                drop(take_objects(args, count));
                give(no_generators())
            }
        ),
        G::GetYieldFromIter => f!(|_f: F, _iterable: Obj| -> Obj { give(no_generators()) }),
        G::GetAwaitable => f!(|_t: T, _n: i64, _a: Obj| -> Obj { give(no_generators()) }),
        G::GetAiter => f!(|_t: T, _a: Obj| -> Obj { give(no_generators()) }),
        G::GetAnext => f!(|_t: T, _a: Obj| -> Obj { give(no_generators()) }),
        G::EndAsyncFor => f!(quiet |_a: Obj| -> i64 { status(no_generators().map(drop)) }),
        G::BeforeAsyncWith => {
            f!(|_t: T, _a: Obj, _out: *mut Obj| -> i64 { status(no_generators().map(drop)) })
        }
        G::Send => f!(
            |_t: T, _receiver: Obj, _value: Obj, _out: *mut Obj| -> i64 {
                status(no_generators().map(drop))
            }
        ),
    }
}

fn all(items: Vec<Ref>) -> Vec<Option<Ref>> {
    items.into_iter().map(Some).collect()
}

fn compare(number: i64, a: Obj, b: Obj) -> Result<Ref> {
    match CompareOp::from_arg(number as u32) {
        Some(op) => ops::compare(op, &see(a), &see(b)),
        None => super::error::raise(super::error::SYSTEM, "an unknown comparison"),
    }
}

fn name<'a>(frame: F, index: i64) -> &'a str {
    // SAFETY: the frame's code outlives the operation.
    unsafe { &(&(*std::ptr::from_ref(frame_of(frame).code())).names)[index as usize] }
}

fn load_super(name: &str, flags: i64, class: &Ref, this: &Ref) -> Result<Vec<Option<Ref>>> {
    let (callee, bound) = class::get_super(class, this, name)?;
    Ok(match bound {
        Some(bound) if flags & 1 == 0 => vec![Some(alloc::method(callee, bound)), None],
        bound => vec![Some(callee), bound],
    })
}

fn call_array(names: Option<&Ref>, mut values: Vec<Option<Ref>>) -> Result<Ref> {
    let args = values.split_off(2).into_iter().flatten().collect();
    let (this, callee) = (values.pop().flatten(), values.pop().flatten());
    match callee {
        Some(callee) => names::call_stack(callee, this, args, names),
        None => super::error::raise(super::error::SYSTEM, "a null where an object is needed"),
    }
}

fn no_generators() -> Result<Ref> {
    super::error::raise(super::error::NOT_IMPLEMENTED, "generators")
}

/// Runs a call of a function in the interpreter; the arguments are taken over.
pub(super) extern "C" fn call_interpreted(
    _thread: T,
    function: Obj,
    args: *const Obj,
    count: i64,
) -> Obj {
    give(call::call_interpreted(
        &see(function),
        take_objects(args, count),
    ))
}

extern "C" fn raise_again() -> i64 {
    let raised = names::raise_varargs(None);
    if rt().thread.handled().is_none() {
        super::interp::note_raise_here();
    }
    status(Err(raised))
}

extern "C" fn assertion_error() -> Obj {
    rt().exception_class(super::error::ASSERTION).into_raw()
}

extern "C" fn box_int(value: i64) -> Obj {
    alloc::int(value).into_raw()
}

extern "C" fn box_float(value: f64) -> Obj {
    alloc::float(value).into_raw()
}

/// Every deallocation may run user code here: objects have finalisers.
extern "C" fn free_leaf(_object: Obj) -> i64 {
    0
}

extern "C" fn dealloc(object: Obj) {
    // SAFETY: compiled code has dropped the last reference.
    unsafe { heap::destroy(object) }
}

/// A new list of a list's items.
extern "C" fn list_slice(list: Obj, start: i64, stop: i64, step: i64) -> Obj {
    let list = see(list);
    let list = list.get::<List>().expect("a list");
    alloc::list(ops::list_items(list, start, stop, step)).into_raw()
}

/// A cell with an object, or an empty one.
extern "C" fn new_cell(content: Obj) -> Obj {
    alloc::cell(owned(content)).into_raw()
}

/// A function bound to an object.
extern "C" fn bind_method(function: Obj, this: Obj) -> Obj {
    let this = owned(this).expect("an object");
    alloc::method(Ref::clone(&see(function)), this).into_raw()
}

/// Replaces items of a list by those of another; 0 if the interpreter must do it.
extern "C" fn list_copy_slice(
    into: Obj,
    low: i64,
    high: i64,
    from: Obj,
    start: i64,
    stop: i64,
    step: i64,
) -> i64 {
    let (into, from) = (see(into), see(from));
    let from = from.get::<List>().expect("a list");
    let into = into.get::<List>().expect("a list");
    let new = ops::list_items(from, start, stop, step);
    ops::copy_list_slice(into, [low, high], new).into()
}

/// The number of characters of a string.
extern "C" fn str_len(text: Obj) -> i64 {
    text_of(&see(text)).chars().count() as i64
}

/// 1 if two strings are equal.
extern "C" fn str_eq(a: Obj, b: Obj) -> i64 {
    (text_of(&see(a)) == text_of(&see(b))).into()
}

/// The string of a character, or null if it is not one of the shared ones.
extern "C" fn str_at(text: Obj, at: i64) -> Obj {
    let found = text_of(&see(text)).chars().nth(at as usize);
    let known = found.and_then(|c| rt().character(c));
    known.map_or(std::ptr::null_mut(), |c| c.as_ptr())
}

fn text_of(text: &Ref) -> &str {
    text.as_str().expect("a string")
}

/// Unlinks the frame of a unit, after its locals.
pub(super) extern "C" fn leave(frame: F) {
    super::frame::pop(frame_of(frame));
}

extern "C" fn float_pow(a: f64, b: f64) -> f64 {
    a.powf(b)
}

extern "C" fn float_mod(a: f64, b: f64) -> f64 {
    number::float_mod(a, b)
}

extern "C" fn float_floordiv(a: f64, b: f64) -> f64 {
    number::float_floordiv(a, b)
}

/// Defines every helper that the core needs, and those of the intrinsics.
pub(super) fn define(host: &mut HostBuilder) -> super::intrinsics::Called {
    let mut dealloc_id = None;
    for HelperRow {
        name,
        params,
        results,
        ..
    } in helpers()
    {
        let op = GeneralOp::ALL.iter().find(|op| op.info().name == name);
        let address = match (op, name) {
            (Some(op), _) => address(*op),
            (None, "float_pow") => float_pow as *const () as usize,
            (None, "float_mod") => float_mod as *const () as usize,
            (None, "float_floordiv") => float_floordiv as *const () as usize,
            (None, FREE_LEAF) => free_leaf as *const () as usize,
            (None, EXIT_HOOK) => units::exit as *const () as usize,
            (None, _) => dealloc as *const () as usize,
        };
        let id = host.helper(name, address, &params, &results);
        if name == DEALLOC {
            dealloc_id = Some(id);
        }
    }
    use cladonia::ll::Ty;
    super::intrinsics::Called {
        dealloc: dealloc_id.expect("the core asks for it"),
        box_int: host.helper(
            "box_int",
            box_int as *const () as usize,
            &[Ty::I64],
            &[Ty::Ptr],
        ),
        box_float: host.helper(
            "box_float",
            box_float as *const () as usize,
            &[Ty::F64],
            &[Ty::Ptr],
        ),
        str_len: host.define("count_characters", str_len as extern "C" fn(_) -> _),
        str_eq: host.define("same_text", str_eq as extern "C" fn(_, _) -> _),
        str_at: host.define("character", str_at as extern "C" fn(_, _) -> _),
        list_slice: host.define("cut_list", list_slice as extern "C" fn(_, _, _, _) -> _),
        new_cell: host.define("make_cell", new_cell as extern "C" fn(_) -> _),
        bind_method: host.define("make_method", bind_method as extern "C" fn(_, _) -> _),
        list_copy_slice: host.define(
            "copy_list_slice",
            list_copy_slice as extern "C" fn(_, _, _, _, _, _, _) -> _,
        ),
    }
}
