//! Native frames: real interpreter frames that compiled code runs in.
//!
//! # Layout
//! ```text
//! interpreter's frame                    | the unit's own words
//! specials | localsplus | operand stack  | one shadow per local | copy | token
//! ```
//! A boxed local is an owned reference in its slot; a raw one leaves the slot null and its bits in
//! the shadow. The frame's references to code and function are borrowed: the unit keeps the code
//! alive, the caller the function. The frame has [a mark](abi::frames::mark). (A generator's frame
//! owns its references and has no words behind it: see [`super::generators`].)
//!
//! # Invariants
//! - A marked frame is linked in its thread, and its token is of a unit that is not freed.
//! - Before anything can outlive the unit's activation (a frame object, a resumed interpreter), the
//!   frame loses its mark and gets references of its own.

use super::abi;
use super::capi::*;
use super::chunks;
use super::units::UnitState;
use crate::helpers::{bound, range_iter, seq_iter_at};
use crate::world::instances::make_instance;
use abi::{frame as f, frames as state, slots, thread as t};
use cladonia::engine::RawMap;
use cladonia::exits::{Source, VirtualKind};
use cladonia::lir::{Block, Builder, Func, IntCond, Opcode, Results, Signature, Term, Value};
use cladonia::ll::{Ty, Width};
use pyo3_ffi::*;
use std::cell::Cell;

/// The mark of a native frame.
pub const NATIVE: u16 = 0xC1AD;
/// The mark of a native frame whose raw locals were stored into their slots: while it is marked so,
/// the slots are authoritative.
pub const MATERIALISED: u16 = 0xC1AE;
/// The byte in which a materialised frame counts the readers and writers of its slots; it has no
/// other use.
const READERS: i32 = f::SPARE;
/// The reader count of a frame that stays materialised after the last reader.
const FOR_GOOD: u8 = u8::MAX;
/// Up to this many locals are cleared and dropped by unrolled code.
const UNROLLED: i32 = 16;

/// The token in a native frame.
///
/// # Safety
/// `frame` is linked in a thread whose state cannot change now.
pub unsafe fn native_token(frame: Frame) -> Option<u64> {
    // SAFETY: a linked frame has these fields; a unit has pushed or borrowed a marked one.
    unsafe {
        if !is_native(frame) {
            return None;
        }
        let shape = CodeShape::of(slots::code(frame));
        Some(get(words(frame, &shape), shape.token()))
    }
}

/// True if a unit runs in a frame, materialised or not.
///
/// # Safety
/// `frame` is a frame.
pub unsafe fn is_native(frame: Frame) -> bool {
    // SAFETY: a frame has these fields.
    unsafe {
        let mark: u16 = state::mark(frame);
        state::is_activation(get(frame, f::OWNER)) && (mark == NATIVE || mark == MATERIALISED)
    }
}

/// The words that a unit keeps for a native frame.
///
/// # Safety
/// `frame` is a native frame of the code of `shape`.
pub unsafe fn words(frame: Frame, shape: &CodeShape) -> *mut u8 {
    // SAFETY: the caller's frame is native: it has words behind it, or the address of its words in
    // its last slot.
    unsafe {
        if get::<u8>(frame, f::OWNER) == f::OWNED_BY_GENERATOR as u8 {
            get(frame, shape.last_slot())
        } else {
            frame.add(shape.behind() as usize)
        }
    }
}

/// True if only the frame itself refers to its frame object, and nothing is stored there that the
/// frame does not have.
///
/// # Safety
/// `object` is the frame object of a frame.
pub unsafe fn is_unshared(object: Object) -> bool {
    // SAFETY: the caller's promise.
    unsafe {
        let is_empty = |field: &i32| get::<Object>(object.cast(), *field).is_null();
        Py_REFCNT(object) == 1 && state::OWN_FIELDS_OF_OBJECT.iter().all(is_empty)
    }
}

/// True if a frame's raw locals are in their slots.
///
/// # Safety
/// `frame` is a frame.
pub unsafe fn is_materialised(frame: Frame) -> bool {
    // SAFETY: the caller's promise.
    unsafe { is_native(frame) && state::mark(frame) == MATERIALISED }
}

pub fn call_host(
    b: &mut Builder<'_>,
    address: usize,
    args: &[Value],
    params: &[Ty],
    results: &[Ty],
) -> Results {
    let callee = b.pconst(address as u64);
    b.call_indirect(Signature::new(params, results), callee, args)
}

/// LIR that pushes and links a frame: `(thread, function) -> frame`. It fails if the slow path must
/// be taken.
pub fn enter(unit: &UnitState) -> Func {
    let shape = unit.shape;
    let mut func = Func::new("enter", Signature::new(&[Ty::Ptr, Ty::Ptr], &[Ty::Ptr]));
    let (ts, callee) = (func.params()[0], func.params()[1]);
    let mut b = Builder::new(&mut func);
    let fail = b.cold_block();

    check_quiet(&mut b, ts, unit, super::entries::entry_check, fail);
    let left = abi::recursion::check(&mut b, ts, fail);
    check_stack(&mut b, ts, fail);
    let words = shape.framesize + shape.extra_words();
    let frame = push_words(&mut b, ts, words, fail);
    let null = b.pconst(0);
    let code = b.pconst(shape.code as u64);
    let previous = b.load(Width::Ptr, ts, t::CURRENT_FRAME);
    let globals = b.pconst(unit.globals as u64);
    let builtins = b.pconst(unit.builtins as u64);
    let start = b.pconst(shape.units() as u64 + 2 * shape.first_traceable as u64);
    for (offset, value) in [
        (f::EXECUTABLE, code),
        (f::PREVIOUS, previous),
        (f::FUNCOBJ, callee),
        (f::GLOBALS, globals),
        (f::BUILTINS, builtins),
        (f::LOCALS, null),
        (f::FRAME_OBJ, null),
        (f::INSTR_PTR, start),
    ] {
        b.store(Width::Ptr, frame, offset, value);
    }
    state::store_state(
        &mut b,
        frame,
        shape.nlocalsplus,
        None,
        f::OWNED_BY_THREAD,
        NATIVE,
    );
    if shape.nlocalsplus <= UNROLLED {
        for slot in 0..shape.nlocalsplus {
            b.store(Width::Ptr, frame, f::LOCALSPLUS + 8 * slot, null);
        }
    } else {
        let (head, done) = (b.block(), b.block());
        let index = b.param(head, Ty::I64);
        let zero = b.iconst(0);
        b.jump(head, &[zero]);
        b.switch_to(head);
        let eight = b.iconst(8);
        let bytes = b.op(Opcode::Imul, &[index, eight]);
        let slot = b.op(Opcode::Padd, &[frame, bytes]);
        b.store(Width::Ptr, slot, f::LOCALSPLUS, null);
        let one = b.iconst(1);
        let next = b.op(Opcode::Iadd, &[index, one]);
        let more = b.icmp_imm(IntCond::Slt, next, shape.nlocalsplus as i64);
        b.br(more, head, &[next], done, &[]);
        b.switch_to(done);
    }
    let token = b.address(unit.token());
    b.store(Width::I64, frame, shape.behind() + shape.token(), token);
    b.store(Width::Ptr, ts, t::CURRENT_FRAME, frame);
    abi::recursion::take(&mut b, ts, &left);
    count_entry(&mut b, unit);
    b.ret(&[frame]);

    b.switch_to(fail);
    b.terminate(Term::Fail);
    func
}

/// LIR that calls `helper`, `(thread, token) -> continue?`, if work is pending or the monitoring
/// version is not the unit's. It fails if the helper returns 0, and continues in a new block.
pub fn check_quiet(
    b: &mut Builder<'_>,
    ts: Value,
    unit: &UnitState,
    helper: unsafe extern "C" fn(Thread, u64) -> i64,
    fail: Block,
) {
    let word = b.load(Width::I64, ts, t::EVAL_BREAKER);
    let cell = b.pconst(unit.checked.pending.as_ptr() as u64);
    let expected = b.load(Width::I64, cell, 0);
    let quiet = b.icmp(IntCond::Eq, word, expected);
    unless(b, quiet, fail, helper, ts, |b| b.address(unit.token()));
}

/// LIR that calls `helper`, `(thread, word) -> continue?`, unless a condition holds. It fails if
/// the helper returns 0, and continues in a new block.
fn unless(
    b: &mut Builder<'_>,
    condition: Value,
    fail: Block,
    helper: unsafe extern "C" fn(Thread, u64) -> i64,
    ts: Value,
    word: impl FnOnce(&mut Builder<'_>) -> Value,
) {
    let (ask, room) = (b.cold_block(), b.block());
    b.br(condition, room, &[], ask, &[]);
    b.switch_to(ask);
    let word = word(b);
    let helper = helper as *const () as usize;
    let ok = call_host(b, helper, &[ts, word], &[Ty::Ptr, Ty::I64], &[Ty::I64])[0];
    let ok = b.icmp_imm(IntCond::Ne, ok, 0);
    b.br(ok, room, &[], fail, &[]);
    b.switch_to(room);
}

/// LIR that counts an entry into the unit with a frame; [`count_end`] is its counterpart.
pub fn count_entry(b: &mut Builder<'_>, unit: &UnitState) {
    let counter = b.pconst(unit.entries.as_ptr() as u64);
    b.add_at(Width::I64, counter, 0, 1);
}

/// LIR that counts that an activation is over: see [`super::units`].
pub fn count_end(b: &mut Builder<'_>, unit: &UnitState) {
    let counter = b.pconst(unit.left.as_ptr() as u64);
    b.add_at(Width::I64, counter, 0, 1);
}

/// LIR that counts an entry without a frame.
pub fn count_raw_entry(b: &mut Builder<'_>, unit: &UnitState) {
    let counter = b.pconst(unit.raw_entries.as_ptr() as u64);
    b.add_at(Width::I64, counter, 0, 1);
}

/// LIR that fails if the native stack is low, and continues in a new block.
pub fn check_stack(b: &mut Builder<'_>, ts: Value, fail: Block) {
    // Distance of the stack pointer from the limit of native code: see `stack_check`.
    let sp = b.op(Opcode::Sp, &[]);
    let base = b.load(Width::I64, ts, STACK_WORD);
    let left = b.op(Opcode::Iadd, &[sp, base]);
    let span = b.iconst(STACK_SPAN);
    let deep_enough = b.icmp(IntCond::Ult, left, span);
    unless(b, deep_enough, fail, stack_check, ts, |_| sp);
}

/// The offset of a word of the thread state that nothing else uses. It holds the negated lowest
/// address that native code may use on the thread's stack.
pub const STACK_WORD: i32 = t::SPARE;
/// Larger than any stack, smaller than any stack address: it distinguishes a word that is not set
/// yet from one that is.
const STACK_SPAN: i64 = 1 << 40;

/// Returns 1 if there is stack left for native code, else 0. The first call on a thread finds its
/// stack.
unsafe extern "C" fn stack_check(ts: Thread, sp: u64) -> i64 {
    // SAFETY: the thread state is the current thread's.
    unsafe {
        if get::<i64>(ts, STACK_WORD) == 0 {
            let Some((low, size)) = stack_bounds() else {
                return 0;
            };
            // Native frames may be large, and C code relies on the rest of the stack for its own
            // recursion.
            put::<i64>(ts, STACK_WORD, -((low + size / 5 * 2) as i64));
        }
        let left = sp.wrapping_add_signed(get::<i64>(ts, STACK_WORD));
        (left <= STACK_SPAN as u64) as i64
    }
}

/// True if `call_interpreted` was called because the stack is exhausted.
///
/// # Safety
/// `ts` is the current thread's.
pub unsafe fn is_stack_low(ts: Thread) -> bool {
    let here = 0u8;
    // SAFETY: the caller's promise.
    unsafe { get::<i64>(ts, STACK_WORD) != 0 && stack_check(ts, (&raw const here) as u64) == 0 }
}

/// True if the current thread's stack has `bytes` bytes left, or if its bounds are unknown.
pub fn has_stack(bytes: usize) -> bool {
    thread_local! {
        /// The lowest address of the thread's stack, cached because it takes a system call.
        static LOWEST: Cell<Option<usize>> = const { Cell::new(None) };
    }
    let lowest = LOWEST.get().unwrap_or_else(|| {
        let lowest = stack_bounds().map_or(0, |(low, _)| low);
        LOWEST.set(Some(lowest));
        lowest
    });
    let here = 0u8;
    (&raw const here as usize).saturating_sub(lowest) >= bytes
}

/// Lowest address and size of the current thread's stack.
fn stack_bounds() -> Option<(usize, usize)> {
    // SAFETY: plain calls of the thread library.
    unsafe {
        let mut attr: libc::pthread_attr_t = std::mem::zeroed();
        if libc::pthread_getattr_np(libc::pthread_self(), &mut attr) != 0 {
            return None;
        }
        let (mut low, mut size) = (std::ptr::null_mut(), 0);
        let found = libc::pthread_attr_getstack(&attr, &mut low, &mut size) == 0;
        libc::pthread_attr_destroy(&mut attr);
        // An unlimited stack is mapped as it grows, above the mapping below it.
        found.then(|| {
            let cut = size.saturating_sub(MAX_STACK);
            (low as usize + cut, size - cut)
        })
    }
}

/// The first `count` slots of a frame, in the order in which the interpreter clears the slots of a
/// finished frame.
pub fn in_order_of_clearing(count: i32) -> impl Iterator<Item = i32> {
    let last = count - 1;
    (0..count).map(move |slot| {
        if state::CLEARED_FROM_TOP {
            last - slot
        } else {
            slot
        }
    })
}

/// Maximum stack size that is assumed.
const MAX_STACK: usize = 64 << 20;

/// LIR that unlinks a frame, drops the contents of its slots, and pops it: `(thread, frame) -> ()`.
pub fn leave(unit: &UnitState) -> Func {
    let shape = unit.shape;
    let mut func = Func::new("leave", Signature::new(&[Ty::Ptr, Ty::Ptr], &[]));
    let (ts, frame) = (func.params()[0], func.params()[1]);
    let mut b = Builder::new(&mut func);
    let previous = b.load(Width::Ptr, frame, f::PREVIOUS);
    b.store(Width::Ptr, ts, t::CURRENT_FRAME, previous);
    abi::recursion::give(&mut b, ts);
    let (drop, seen, done) = (b.block(), b.cold_block(), b.block());
    let object = b.load(Width::Ptr, frame, f::FRAME_OBJ);
    let private = b.is_null(object);
    b.br(private, drop, &[], seen, &[]);

    b.switch_to(seen);
    call_host(
        &mut b,
        clear_seen as *const () as usize,
        &[ts, frame],
        &[Ty::Ptr, Ty::Ptr],
        &[],
    );
    b.jump(done, &[]);

    b.switch_to(drop);
    if shape.nlocalsplus <= UNROLLED {
        for slot in in_order_of_clearing(shape.nlocalsplus) {
            drop_slot(&mut b, frame, f::LOCALSPLUS + 8 * slot);
        }
    } else {
        let count = b.iconst(shape.nlocalsplus as i64);
        call_host(
            &mut b,
            drop_locals as *const () as usize,
            &[frame, count],
            &[Ty::Ptr, Ty::I64],
            &[],
        );
    }
    pop_words(&mut b, ts, frame);
    b.jump(done, &[]);
    b.switch_to(done);
    count_end(&mut b, unit);
    b.ret(&[]);
    func
}

/// LIR for the address of `words` words on top of the thread's data stack. It fails if there is
/// no memory, and continues in a new block.
pub fn push_words(b: &mut Builder<'_>, ts: Value, words: i32, fail: Block) -> Value {
    let top = b.load(Width::Ptr, ts, t::DATASTACK_TOP);
    let limit = b.load(Width::Ptr, ts, t::DATASTACK_LIMIT);
    let words = i64::from(words);
    let new_top = b.padd_imm(top, 8 * words);
    let fits = b.icmp(IntCond::Ult, new_top, limit);
    let (bump, grow, done) = (b.block(), b.cold_block(), b.block());
    let place = b.param(done, Ty::Ptr);
    b.br(fits, bump, &[], grow, &[]);

    b.switch_to(grow);
    let words = b.iconst(words);
    let pushed = call_host(
        b,
        chunks::push as *const () as usize,
        &[ts, words],
        &[Ty::Ptr, Ty::I64],
        &[Ty::Ptr],
    )[0];
    let none = b.is_null(pushed);
    b.br(none, fail, &[], done, &[pushed]);

    b.switch_to(bump);
    b.store(Width::Ptr, ts, t::DATASTACK_TOP, new_top);
    b.jump(done, &[top]);
    b.switch_to(done);
    place
}

/// LIR that pops the words of [`push_words`], and everything pushed after them; it continues in a
/// new block.
pub fn pop_words(b: &mut Builder<'_>, ts: Value, place: Value) {
    // The first allocation in a chunk frees the chunk with it.
    let chunk = b.load(Width::Ptr, ts, t::DATASTACK_CHUNK);
    let first = b.padd_imm(chunk, abi::chunk::DATA.into());
    let is_first = b.icmp(IntCond::Eq, place, first);
    let (pop_chunk, pop, done) = (b.cold_block(), b.block(), b.block());
    b.br(is_first, pop_chunk, &[], pop, &[]);
    b.switch_to(pop_chunk);
    call_host(b, chunks::pop as *const () as usize, &[ts], &[Ty::Ptr], &[]);
    b.jump(done, &[]);
    b.switch_to(pop);
    b.store(Width::Ptr, ts, t::DATASTACK_TOP, place);
    b.jump(done, &[]);
    b.switch_to(done);
}

/// [`pop_words`] for Rust code.
///
/// # Safety
/// `place` comes from [`push_words`] on this thread, and nothing that was pushed after it is in
/// use.
pub unsafe fn give_up_words(ts: Thread, place: *mut u8) {
    // SAFETY: the caller's promise.
    unsafe {
        let chunk: *mut u8 = get(ts, t::DATASTACK_CHUNK);
        if place == chunk.add(abi::chunk::DATA as usize) {
            chunks::pop(ts);
        } else {
            put(ts, t::DATASTACK_TOP, place);
        }
    }
}

/// Drops the reference in a slot, if there is one.
fn drop_slot(b: &mut Builder<'_>, frame: Value, offset: i32) {
    let object = b.load(Width::Ptr, frame, offset);
    let null = b.is_null(object);
    let (some, dead, next) = (b.block(), b.cold_block(), b.block());
    b.br(null, next, &[], some, &[]);
    b.switch_to(some);
    abi::counts::drop(b, object, dead, next);
    b.switch_to(dead);
    call_host(
        b,
        free_local as *const () as usize,
        &[object],
        &[Ty::Ptr],
        &[],
    );
    b.jump(next, &[]);
    b.switch_to(next);
}

/// Frees an object that a local of an unlinked frame owned.
unsafe extern "C" fn free_local(object: Object) {
    // SAFETY: the count has just become zero.
    unsafe { _Py_Dealloc(object) };
}

/// [`free_local`] for many locals.
unsafe extern "C" fn drop_locals(frame: Frame, count: i64) {
    for slot in in_order_of_clearing(count as i32) {
        // SAFETY: the frame is unlinked but not popped; each slot is null or owned.
        unsafe {
            let object: Object = get(frame, f::LOCALSPLUS + 8 * slot);
            if !object.is_null() {
                put::<Object>(frame, f::LOCALSPLUS + 8 * slot, std::ptr::null_mut());
                Py_DECREF(object);
            }
        }
    }
}

/// Stores the raw locals of a native frame that is about to end into their slots if its frame
/// object has other owners, which may read them later.
///
/// # Safety
/// `frame` is a native frame; its shadows and position are those at its return.
pub unsafe fn keep_locals(frame: Frame) {
    // SAFETY: the caller's promise. The result of the call must survive a failure, so no exception
    // is left.
    unsafe {
        let object: Object = get(frame, f::FRAME_OBJ);
        if !object.is_null() && Py_REFCNT(object) > 1 && materialise(frame) < 0 {
            PyErr_Clear();
        }
    }
}

/// Clears and pops an unlinked frame that has a frame object.
unsafe extern "C" fn clear_seen(ts: Thread, frame: Frame) {
    // SAFETY: the frame is the top of the data stack; it gets the references that the interpreter
    // drops.
    unsafe {
        keep_locals(frame);
        own(frame);
        slots::show(frame, state::depth(frame));
        _PyEval_FrameClearAndPop(ts, frame);
    }
}

/// Makes a native frame the interpreter's: it gets references of its own and loses its mark.
///
/// # Safety
/// `frame` is a native frame that a function unit pushed.
pub unsafe fn own(frame: Frame) {
    // SAFETY: code and function are alive: the unit and its caller own references.
    unsafe {
        Py_INCREF(slots::code(frame));
        Py_INCREF(slots::function(frame));
        state::set_mark(frame, 0);
    }
}

/// Removes the mark of a native frame whose slots are about to be the interpreter's, so that
/// readers of the frame look for no raw locals.
///
/// # Safety
/// `frame` is a native frame; the caller keeps its unit.
pub unsafe fn unmark(frame: Frame) {
    // SAFETY: the caller's promise.
    unsafe { state::set_mark(frame, 0) };
}

/// Stores the raw locals of a native frame into their slots for a caller that reads or sets them
/// until it calls [`close`]. If there is no memory, returns a negative status with an exception,
/// and nothing is to be closed.
///
/// # Safety
/// `frame` is linked in a thread.
pub unsafe fn open(frame: Frame) -> i32 {
    // SAFETY: the caller's promise.
    unsafe {
        let status = materialise(frame);
        if status >= 0 && is_materialised(frame) {
            let readers: u8 = get(frame, READERS);
            put(frame, READERS, readers.saturating_add(1));
        }
        status
    }
}

/// A reader for which a frame was [`open`]ed is done. After the last one the unit continues with
/// its raw locals, if it is still active and the slots are unchanged.
///
/// # Safety
/// `frame` is a frame.
pub unsafe fn close(frame: Frame) {
    // SAFETY: the caller's promise.
    unsafe {
        if !is_materialised(frame) {
            return;
        }
        match get::<u8>(frame, READERS) {
            0 | FOR_GOOD => {}
            1 => restore(frame),
            readers => put(frame, READERS, readers - 1),
        }
    }
}

/// The slots of an [`open`]ed frame were changed, so the unit has to deoptimise.
///
/// # Safety
/// `frame` is a frame.
pub unsafe fn keep_open(frame: Frame) {
    // SAFETY: the caller's promise.
    unsafe {
        if is_materialised(frame) {
            put(frame, READERS, FOR_GOOD);
        }
    }
}

/// Undoes [`materialise`]; the slots still have its values.
unsafe fn restore(frame: Frame) {
    // SAFETY: the caller's frame is native and materialised. Its unit is alive and has made sure
    // that this can be undone. Only numbers are dropped.
    unsafe {
        let shape = CodeShape::of(slots::code(frame));
        // A change of a slot by other code was noted and prevents this, so all slots are objects.
        slots::hide(frame, shape.nlocalsplus);
        let words = words(frame, &shape);
        let map: *const RawMap = get(words, shape.copy());
        if !map.is_null() {
            for &(slot, _) in &(*map).locals {
                let place = f::LOCALSPLUS + 8 * slot as i32;
                let object: Object = get(frame, place);
                put::<Object>(frame, place, std::ptr::null_mut());
                Py_XDECREF(object);
            }
            put(words, shape.copy(), (*map).copy);
        }
        state::set_mark(frame, NATIVE);
    }
}

/// Marks a frame whose raw locals, all null before, were stored into their slots as `undo` says;
/// without `undo` the frame stays materialised.
unsafe fn mark_materialised(frame: Frame, unit: &UnitState, undo: Option<*const RawMap>) {
    // SAFETY: the caller's frame is native, and the unit its own.
    unsafe {
        // Code that has read a local may change the object in it.
        let undo = undo.filter(|_| !unit.has_private_objects());
        if let Some(map) = undo {
            // The number of the running copy of the instruction is not needed before this is
            // undone.
            put(words(frame, &unit.shape), unit.shape.copy(), map);
        }
        put::<u8>(frame, READERS, if undo.is_some() { 0 } else { FOR_GOOD });
        slots::show(frame, unit.shape.nlocalsplus);
        state::set_mark(frame, MATERIALISED);
    }
}

/// Stores the raw locals of a native frame into their slots, so that other code can read and set
/// them. Returns a negative status with an exception if there is no memory.
unsafe fn materialise(frame: Frame) -> i32 {
    // SAFETY: a linked frame; shadows of the locals in the raw map were stored before the call-out
    // that led here.
    unsafe {
        if is_materialised(frame) {
            return 0;
        }
        let Some(token) = native_token(frame) else {
            return 0;
        };
        let unit = UnitState::of_token(token);
        let Some(map) = raw_locals(unit, frame) else {
            mark_materialised(frame, unit, Some(std::ptr::null()));
            return 0;
        };
        // An object that was visible once must keep its identity.
        let mut is_undone = map.virtuals.is_empty();
        // Materialised before any slot changes, each once, even if several locals refer to it.
        let mut virtuals: Vec<Object> = Vec::new();
        for object in &map.virtuals {
            if let Some((flag, other)) = object.instead
                && get::<u64>(words(frame, &unit.shape), 8 * flag as i32) == 0
            {
                // Null, or an object that exists: nothing has to be allocated.
                let other = shadowed(frame, &unit.shape, other, &virtuals);
                virtuals.push(other.unwrap_or(std::ptr::null_mut()));
                continue;
            }
            let mut fields = Vec::with_capacity(object.fields.len());
            for &field in &object.fields {
                match shadowed(frame, &unit.shape, field, &virtuals) {
                    Ok(field) => fields.push(field),
                    Err(()) => break,
                }
            }
            let made = if fields.len() == object.fields.len() {
                virtual_of(&object.kind, &fields)
            } else {
                std::ptr::null_mut()
            };
            if made.is_null() {
                let error = PyErr_GetRaisedException();
                fields
                    .into_iter()
                    .chain(virtuals)
                    .for_each(|o| Py_XDECREF(o));
                PyErr_SetRaisedException(error);
                return -1;
            }
            virtuals.push(made);
        }
        for &(slot, source) in &map.locals {
            let Ok(object) = shadowed(frame, &unit.shape, source, &virtuals) else {
                let error = PyErr_GetRaisedException();
                virtuals.into_iter().for_each(|o| Py_XDECREF(o));
                PyErr_SetRaisedException(error);
                return -1;
            };
            if object.is_null() {
                continue;
            }
            let place = f::LOCALSPLUS + 8 * slot as i32;
            let old: Object = get(frame, place);
            is_undone &= old.is_null() && !matches!(source, Source::Borrowed(_));
            put(frame, place, object);
            Py_XDECREF(old);
        }
        virtuals.into_iter().for_each(|o| Py_XDECREF(o));
        mark_materialised(frame, unit, is_undone.then_some(map));
        0
    }
}

/// A new reference to the object that a raw map describes; its numbers are shadows. Null for a
/// local without a value; an error with an exception if there is no memory.
unsafe fn shadowed(
    frame: Frame,
    shape: &CodeShape,
    source: Source,
    virtuals: &[Object],
) -> Result<Object, ()> {
    // SAFETY: the caller is `materialise`, whose map describes the shadows.
    let object = unsafe {
        let words = words(frame, shape);
        let word = |n: u32| get::<u64>(words, 8 * n as i32);
        match source {
            Source::IntIf(_, bound) | Source::FloatIf(_, bound) if word(bound) == 0 => {
                return Ok(std::ptr::null_mut());
            }
            Source::Int(n) | Source::IntIf(n, _) => PyLong_FromLongLong(word(n) as i64),
            Source::IntPlus(n, more) => {
                PyLong_FromLongLong((word(n) as i64).wrapping_add(more.into()))
            }
            Source::ConstInt(n) => PyLong_FromLongLong(n),
            Source::Const(object) => Py_NewRef(object as Object),
            Source::Float(n) | Source::FloatIf(n, _) => PyFloat_FromDouble(f64::from_bits(word(n))),
            Source::Bool(n) => PyBool_FromLong((word(n) != 0) as _),
            Source::Borrowed(n) => Py_NewRef(word(n) as Object),
            // None if a virtual object represents an unbound local.
            Source::Virtual(n) => {
                Py_XINCREF(virtuals[n as usize]);
                return Ok(virtuals[n as usize]);
            }
            Source::Keep | Source::Null | Source::Owned(_) => return Ok(std::ptr::null_mut()),
        }
    };
    if object.is_null() {
        Err(())
    } else {
        Ok(object)
    }
}

/// A tuple that takes over the references of its items. If there is no memory, null with an
/// exception, and nothing is taken over.
///
/// # Safety
/// The items are objects.
unsafe fn tuple_of(items: &[Object]) -> Object {
    // SAFETY: a new tuple has room for as many items.
    unsafe {
        let tuple = PyTuple_New(items.len() as Py_ssize_t);
        if !tuple.is_null() {
            for (i, &item) in items.iter().enumerate() {
                PyTuple_SetItem(tuple, i as Py_ssize_t, item);
            }
        }
        tuple
    }
}

/// A dict of alternating keys, which are strings, and values; null if it cannot be allocated.
///
/// # Safety
/// The items are objects.
unsafe fn dict_of(items: &[Object]) -> Object {
    // SAFETY: a new dict.
    unsafe {
        let dict = PyDict_New();
        for pair in items.chunks(2) {
            if !dict.is_null() && PyDict_SetItem(dict, pair[0], pair[1]) < 0 {
                Py_DECREF(dict);
                return std::ptr::null_mut();
            }
        }
        dict
    }
}

/// A virtual object of this kind, which takes over its fields; null if it cannot be allocated.
///
/// # Safety
/// The fields are objects of the types that the kind has.
pub unsafe fn virtual_of(kind: &VirtualKind, fields: &[Object]) -> Object {
    // SAFETY: the caller's promise.
    unsafe {
        let made = match (kind, fields) {
            (VirtualKind::RangeIter, &[next, end, step]) => range_iter(next, end, step),
            (VirtualKind::SeqIter, &[seq, next]) => seq_iter_at(seq, next),
            (VirtualKind::Cell, _) => {
                PyCell_New(fields.first().copied().unwrap_or(std::ptr::null_mut()))
            }
            (VirtualKind::Dict, _) => dict_of(fields),
            (VirtualKind::Chain, &[list, generator]) => super::rebuilt::chained(list, generator),
            (VirtualKind::Method, &[function, this]) => bound(function, this),
            (VirtualKind::Instance { class, places }, _) => {
                return make_instance(*class as Object, places, fields);
            }
            // Only operand stacks name them, and those are not shown.
            (VirtualKind::Generator { .. }, _) => {
                PyErr_SetString(PyExc_SystemError, c"a generator in a local".as_ptr());
                std::ptr::null_mut()
            }
            _ => return tuple_of(fields),
        };
        if !made.is_null() {
            fields.iter().for_each(|field| Py_DECREF(*field));
        }
        made
    }
}

/// The raw locals of a native frame during a call-out.
///
/// # Safety
/// `frame` is a native frame of the unit, in such a call.
unsafe fn raw_locals(unit: &UnitState, frame: Frame) -> Option<&RawMap> {
    // SAFETY: the caller's promise.
    let at: *mut u8 = unsafe { get(frame, f::INSTR_PTR) };
    let pos = ((at as isize - unit.shape.units() as isize) / 2) as u32;
    let maps = &unit.unit.as_ref()?.raw_maps;
    let pos_of = |map: &RawMap| unit.positions[map.pc.0 as usize].0;
    let first = maps.partition_point(|map| pos_of(map) < pos);
    let mut here = maps[first..].iter().take_while(|map| pos_of(map) == pos);
    if here.clone().nth(1).is_none() {
        return here.next();
    }
    // SAFETY: if there are several, the code has stored the number of the running one.
    let copy: u64 = unsafe { get(words(frame, &unit.shape), unit.shape.copy()) };
    let map = here.find(|map| map.copy == copy);
    debug_assert!(map.is_some(), "no copy {copy} at position {pos}");
    map
}

/// True if a function may have native frames: the words behind a frame must fit a chunk. Those of
/// any function that is small enough for the compiler do.
pub fn fits(shape: &CodeShape) -> bool {
    shape.extra_words() < 1700
}
