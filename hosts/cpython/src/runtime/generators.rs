//! Generators (and coroutines) in compiled code: their units, and the ways into them.
//!
//! # How a generator is resumed
//! A suspended generator's frame is the interpreter's in every respect, so that whoever comes first may resume it. Native
//! code does through [`resume`]: the address of the code's unit is among the code object's extras, where nothing but a load
//! stands between a generator and its unit. C code that iterates or sends comes here too, by the slots of the generators'
//! classes ([`interpose_slots`]); what they cannot do themselves they leave to the slots' own functions, and so does the
//! unit's entry where it must not go on (tracing, a generator that is running, a frame that somebody has looked into).
//! Whether a generator has yielded or returned is in its own state afterwards.
//!
//! # The frame of a running generator
//! It is marked as any native frame is. There are no words behind it: the unit keeps them on the native stack, and the
//! last slot of the frame's operand stack, which is empty meanwhile, says where.

use super::abi;
use super::capi::*;
use super::compiling::{self, Refusal};
use super::entries::entry_check;
use super::frames::{self, C_RECURSION_RESERVE, NATIVE};
use super::function_state;
use super::rt;
use super::units::{Busy, Kind, UnitRef, UnitState};
use abi::{frame as f, generator as g, thread as t};
use cladonia::lir::{Builder, Func, IntCond, Opcode, Signature, Term, Value};
use cladonia::ll::{Ty, Width};
use cladonia::types::Type;
use pyo3_ffi::*;
use std::cell::Cell;
use std::ffi::{CStr, c_void};
use std::sync::atomic::{AtomicIsize, AtomicUsize, Ordering};

/// A unit that resumes frames: thread, generator, what is sent (taken over).
type Resume = unsafe extern "C" fn(Thread, Object, Object) -> Object;

/// What is known of a generator's code besides its function's entry.
pub struct GeneratorState {
    /// The unit.
    pub unit: Option<UnitRef>,
    /// Units made.
    pub versions: u32,
    cell: Box<ResumeCell>,
}

/// A table of resume points has this where there is none.
const NO_POINT: u8 = u8::MAX;

/// Where units are among the extras of a code object; negative if there are none.
static EXTRA: AtomicIsize = AtomicIsize::new(-1);
static ORIGINAL_SEND: AtomicUsize = AtomicUsize::new(0);
static ORIGINAL_NEXT: AtomicUsize = AtomicUsize::new(0);
/// `send`, or 0 if it is left alone.
static ORIGINAL_METHOD: AtomicUsize = AtomicUsize::new(0);

/// Find the interpreter's own functions, and a place among the extras of code objects.
///
/// # Safety
/// Called once, with the GIL, before anything is compiled.
pub unsafe fn start() -> Result<(), String> {
    // SAFETY: the class is static; its tables are complete.
    unsafe {
        let methods = PyGen_Type.tp_as_async;
        let send = (!methods.is_null()).then(|| (*methods).am_send).flatten();
        let (Some(send), Some(next)) = (send, PyGen_Type.tp_iternext) else {
            return Err("generators have no slots".to_owned());
        };
        ORIGINAL_SEND.store(send as usize, Ordering::Relaxed);
        ORIGINAL_NEXT.store(next as usize, Ordering::Relaxed);
        // The same function serves both classes, or none is replaced.
        if let [Some(one), Some(other)] = send_rows() {
            let (one, other) = (one.ml_meth.PyCFunction, other.ml_meth.PyCFunction);
            if one as usize == other as usize {
                ORIGINAL_METHOD.store(one as usize, Ordering::Relaxed);
            }
        }
        let index = PyUnstable_Eval_RequestCodeExtraIndex(no_free);
        EXTRA.store(index, Ordering::Relaxed);
        Ok(())
    }
}

/// The slots' own function for sending.
#[inline(always)]
unsafe fn original_send() -> sendfunc {
    // SAFETY: set at the start, before anything is compiled.
    unsafe { std::mem::transmute::<usize, sendfunc>(ORIGINAL_SEND.load(Ordering::Relaxed)) }
}

/// The extras are addresses of units, which the runtime frees itself.
unsafe extern "C" fn no_free(_: *mut c_void) {}

/// Whether an object is a generator or a coroutine.
///
/// # Safety
/// The object is alive.
#[inline(always)]
pub unsafe fn is_resumable(object: Object) -> bool {
    // SAFETY: the caller's promise.
    let class = unsafe { Py_TYPE(object) };
    class == &raw mut PyGen_Type || class == &raw mut PyCoro_Type
}

/// What stands with a code object whose generators may be resumed natively.
pub struct ResumeCell {
    /// The unit's entry, or [`recompile`].
    entry: Cell<usize>,
    /// The unit's cell with the eval-breaker word that it need not ask about; that of another word if there is no unit.
    pending: Cell<*const u64>,
}

/// No eval breaker is ever this: the place of events is full, that of the version not.
const NEVER_QUIET: u64 = u64::MAX;
static NO_UNIT: u64 = NEVER_QUIET;

/// The cell of a generator's code.
///
/// # Safety
/// The object is a generator, a coroutine or an asynchronous generator.
#[inline(always)]
unsafe fn cell_of<'a>(generator: Object) -> Option<&'a ResumeCell> {
    // SAFETY: the code object lives as long as the generator; its extras are a length and so many words; a cell lives as
    // long as it is there.
    unsafe {
        let code: Object = get(generator.cast(), g::FRAME + f::EXECUTABLE);
        let extra: *const u8 = get(code.cast(), abi::code::EXTRA);
        let index = EXTRA.load(Ordering::Relaxed);
        if extra.is_null() || get::<isize>(extra, 0) <= index {
            return None;
        }
        get::<*const ResumeCell>(extra, 8 + 8 * index as i32).as_ref()
    }
}

/// Whether a generator waits at a `yield`.
///
/// # Safety
/// As for [`unit_of`].
#[inline(always)]
pub unsafe fn is_suspended(generator: Object) -> bool {
    // SAFETY: the caller's promise.
    unsafe {
        let state: i8 = get(generator.cast(), g::FRAME_STATE);
        state == g::STATE_SUSPENDED as i8 || state == g::STATE_DELEGATING as i8
    }
}

/// Resume a generator natively, if there is a unit for it: gives what it yielded (it [is suspended](is_suspended) then) or
/// returned, or null with an exception, which is no `StopIteration`. `value` is borrowed; nothing happens without a unit.
///
/// # Safety
/// `ts` is the current thread, `generator` is one and lives as long as the call.
#[inline(always)]
pub unsafe fn resume(ts: Thread, generator: Object, value: Object) -> Option<Object> {
    // SAFETY: the caller's promise.
    unsafe {
        let cell = cell_of(generator)?;
        match get::<i8>(generator.cast(), g::FRAME_STATE) as i32 {
            g::STATE_CREATED if value != Py_None() => None,
            g::STATE_DELEGATING => Some(resume_chain(ts, generator, cell, value)),
            _ => Some(enter_unit(ts, generator, cell, Py_NewRef(value))),
        }
    }
}

/// Resume a generator in its unit; the value is taken over.
#[inline(always)]
unsafe fn enter_unit(ts: Thread, generator: Object, cell: &ResumeCell, value: Object) -> Object {
    // SAFETY: the entry is one that may be entered now.
    unsafe {
        let entry = std::mem::transmute::<usize, Resume>(cell.entry.get());
        entry(ts, generator, value)
    }
}

/// Resume a generator that waits for another one: the frames in between are only linked, and unlinked when the innermost
/// has yielded, because that is all that happens in them. Where it has returned or raised, the frame that waited for it
/// goes on, in its unit if it has one still.
unsafe fn resume_chain(ts: Thread, outermost: Object, cell: &ResumeCell, value: Object) -> Object {
    // SAFETY: the caller's promises; each generator is held by the frame of the one before.
    unsafe {
        let (generator, cell) = link_chain(ts, outermost, cell, value);
        let mut result = enter_unit(ts, generator, cell, Py_NewRef(value));
        let mut last = generator;
        while last != outermost {
            if !result.is_null() && is_suspended(last) {
                unlink_chain(ts, outermost);
                return result;
            }
            let frame: Frame = get(ts, t::CURRENT_FRAME);
            last = frame.sub(g::FRAME as usize).cast();
            if result.is_null() {
                result = raise_at_send(ts, frame);
                continue;
            }
            let send: *const u8 = get(frame, f::INSTR_PTR);
            unlink_chain(ts, last);
            // Where the interpreter goes on if the unit does not.
            let after = send.add(2 * (2 + send.add(1).read() as usize));
            put(frame, f::INSTR_PTR, after);
            result = match cell_of(last) {
                Some(cell) => enter_unit(ts, last, cell, result),
                None => resume_interpreted(ts, last, &mut result, 1),
            };
        }
        result
    }
}

/// Bytes from a `SEND`, with its cache and the `YIELD_VALUE` after it, to the `RESUME` at which a frame waits.
const SEND_TO_RESUME: usize = 6;

/// Let the frames of generators that wait for each other run, each at its `SEND`, as far as the next can be resumed in
/// place of it; gives the first that is not linked.
unsafe fn link_chain<'a>(
    ts: Thread,
    outermost: Object,
    cell: &'a ResumeCell,
    value: Object,
) -> (Object, &'a ResumeCell) {
    // SAFETY: the caller's promises; the top of the stack of a frame that waits is what it waits for. Nothing of the
    // program runs meanwhile.
    unsafe {
        let quiet: u64 = get(ts, t::EVAL_BREAKER);
        let mut frame_above: Frame = get(ts, t::CURRENT_FRAME);
        let mut handled: *mut u8 = get(ts, t::EXC_INFO);
        let mut left: i32 = get(ts, t::PY_RECURSION_REMAINING);
        let sends_none = value == Py_None();
        let (mut generator, mut cell) = (outermost, cell);
        let mut code: Object = get(generator.cast(), g::FRAME + f::EXECUTABLE);
        let mut may_run = *cell.pending.get() == quiet;
        while may_run && left > 1 {
            let base = generator.cast::<u8>();
            let frame = base.add(g::FRAME as usize);
            if get::<i8>(base, g::FRAME_STATE) != g::STATE_DELEGATING as i8
                || !get::<Object>(frame, f::FRAME_OBJ).is_null()
            {
                break;
            }
            let top: i32 = get(frame, f::STACKTOP);
            let inner: Object = get(frame, f::LOCALSPLUS + 8 * (top - 1));
            if !is_resumable(inner) {
                break;
            }
            let state: i8 = get(inner.cast(), g::FRAME_STATE);
            if state >= g::STATE_EXECUTING as i8 || state == g::STATE_CREATED as i8 && !sends_none {
                break;
            }
            let its_code: Object = get(inner.cast(), g::FRAME + f::EXECUTABLE);
            if its_code != code {
                let Some(its) = cell_of(inner) else { break };
                (code, cell) = (its_code, its);
                may_run = *cell.pending.get() == quiet;
            }
            put(base, g::EXC_PREVIOUS, handled);
            handled = base.add(g::EXC_STATE as usize);
            put(frame, f::PREVIOUS, frame_above);
            frame_above = frame;
            put::<i8>(base, g::FRAME_STATE, g::STATE_EXECUTING as i8);
            let at: *const u8 = get(frame, f::INSTR_PTR);
            put(frame, f::INSTR_PTR, at.sub(SEND_TO_RESUME));
            left -= 1;
            generator = inner;
        }
        put(ts, t::CURRENT_FRAME, frame_above);
        put(ts, t::EXC_INFO, handled);
        put(ts, t::PY_RECURSION_REMAINING, left);
        (generator, cell)
    }
}

/// Undo [`link_chain`] from the innermost frame that is linked to that of a generator.
unsafe fn unlink_chain(ts: Thread, outermost: Object) {
    // SAFETY: the frames from there inwards are those of generators that were linked.
    unsafe {
        let mut frame: Frame = get(ts, t::CURRENT_FRAME);
        let mut left: i32 = get(ts, t::PY_RECURSION_REMAINING);
        loop {
            let base = frame.sub(g::FRAME as usize);
            let above: Frame = get(frame, f::PREVIOUS);
            let handled: *mut u8 = get(base, g::EXC_PREVIOUS);
            put(base, g::EXC_PREVIOUS, std::ptr::null_mut::<u8>());
            put(frame, f::PREVIOUS, std::ptr::null_mut::<u8>());
            put::<i8>(base, g::FRAME_STATE, g::STATE_DELEGATING as i8);
            let send: *const u8 = get(frame, f::INSTR_PTR);
            put(frame, f::INSTR_PTR, send.add(SEND_TO_RESUME));
            left += 1;
            if base == outermost.cast::<u8>() {
                put(ts, t::CURRENT_FRAME, above);
                put(ts, t::EXC_INFO, handled);
                put(ts, t::PY_RECURSION_REMAINING, left);
                return;
            }
            frame = above;
        }
    }
}

/// Let the pending exception be raised by the `SEND` at which a linked frame stands; gives what the frame comes to.
#[cold]
unsafe fn raise_at_send(ts: Thread, frame: Frame) -> Object {
    let _busy = Busy::new();
    // SAFETY: the frame is the innermost one, and complete but for what was sent, which is dropped with the stack.
    unsafe {
        let shape = CodeShape::of(get(frame, f::EXECUTABLE));
        let at: *const u8 = get(frame, f::INSTR_PTR);
        let pos = (at as usize - shape.units() as usize) / 2;
        super::exits::raise_in_generator(ts, frame, &shape, pos as u32)
    }
}

/// The helper that lets the interpreter resume a generator.
pub unsafe extern "C" fn resume_interpreted(
    _ts: Thread,
    generator: Object,
    args: *mut Object,
    _count: i64,
) -> Object {
    let _busy = Busy::new();
    // SAFETY: a helper's promises: the array has the one value that is sent.
    unsafe {
        if super::is_started() {
            rt().totals.interpreted_calls += 1;
        }
        let mut result = std::ptr::null_mut();
        original_send()(generator, *args, &mut result);
        Py_DECREF(*args);
        result
    }
}

/// In place of a unit that was lost: make another, and let the generator go on.
unsafe extern "C" fn recompile(ts: Thread, generator: Object, value: Object) -> Object {
    // SAFETY: as for a unit.
    unsafe {
        let own: Object = get(generator.cast(), g::FRAME + f::EXECUTABLE);
        let state: i8 = get(generator.cast(), g::FRAME_STATE);
        if !rt().on {
            publish(own, None);
        } else if state < g::STATE_EXECUTING as i8 && rt().engine.is_some() {
            // The frame of a generator that has ended has no function any more.
            let func: Object = get(generator.cast(), g::FRAME + f::FUNCOBJ);
            let (code, ..) = function_state::parts_of(func);
            publish(own, None);
            if own == code
                && let Err(Refusal::Lasting(reason)) = compile(func, &[])
            {
                function_state::give_up(code, &reason);
            }
            if let Some(cell) = cell_of(generator) {
                return enter_unit(ts, generator, cell, value);
            }
        }
        let mut args = [value];
        resume_interpreted(ts, generator, args.as_mut_ptr(), 1)
    }
}

/// Let the generators of a code object be resumed through a cell, or not natively.
unsafe fn publish(code: Object, cell: Option<&ResumeCell>) {
    let index = EXTRA.load(Ordering::Relaxed);
    if index >= 0 {
        let cell = cell.map_or(std::ptr::null_mut(), |cell| {
            std::ptr::from_ref(cell).cast_mut().cast::<c_void>()
        });
        // SAFETY: the code object is alive. Without memory the place stays as it was: empty, or it would be there.
        unsafe {
            if PyUnstable_Code_SetExtra(code, index, cell) < 0 {
                PyErr_Clear();
            }
        }
    }
}

impl GeneratorState {
    /// The unit was invalidated: the generators of its code go on elsewhere; `again` says that another may be made.
    ///
    /// # Safety
    /// The code object is alive.
    pub unsafe fn withdraw(&mut self, code: Object, again: bool) {
        self.unit = None;
        self.cell.entry.set(recompile as *const () as usize);
        self.cell.pending.set(&raw const NO_UNIT);
        if !again {
            // SAFETY: the caller's promise.
            unsafe { publish(code, None) };
        }
    }

    /// The state is given up: no code may find the cell any more.
    ///
    /// # Safety
    /// The code object is alive.
    pub unsafe fn forget(&self, code: Object) {
        // SAFETY: the caller's promise.
        unsafe { publish(code, None) };
    }
}

impl Default for GeneratorState {
    fn default() -> GeneratorState {
        GeneratorState {
            unit: None,
            versions: 0,
            cell: Box::new(ResumeCell {
                entry: Cell::new(recompile as *const () as usize),
                pending: Cell::new(&raw const NO_UNIT),
            }),
        }
    }
}

/// Compile the body of a generator function, if there is no unit for it, and let generators be resumed in it.
///
/// # Errors
/// A [`Refusal`], which nobody has recorded.
///
/// # Safety
/// `func` is a Python function whose code is a generator's; `live` are types of its locals at the start, or nothing.
pub unsafe fn compile(func: Object, live: &[Type]) -> Result<(), Refusal> {
    // SAFETY: the caller's promise.
    unsafe {
        let (code, globals, builtins) = function_state::parts_of(func);
        let state = function_state::state_of(code);
        if state.generator.unit.is_some() {
            return Ok(());
        }
        let most = state.most_versions();
        if state.generator.versions >= most {
            return Err(Refusal::Lasting(format!(
                "its bets failed in {most} versions"
            )));
        }
        if EXTRA.load(Ordering::Relaxed) < 0 {
            return Err(Refusal::Lasting("code objects have no room".into()));
        }
        let shape = state.shape;
        let unit =
            compiling::compile_unit(shape, globals, builtins, Kind::Generator, false, live, None)?;
        let state = &mut function_state::state_of(code).generator;
        state.unit = Some(unit);
        state.versions += 1;
        state.cell.entry.set((*unit).entry() as usize);
        state.cell.pending.set((*unit).pending.as_ptr());
        publish(code, Some(&state.cell));
        Ok(())
    }
}

/// For each code unit, the number of the resume point there, or [`NO_POINT`].
///
/// # Errors
/// If there are too many of them.
pub fn resume_table(code: &cladonia::bytecode::Code, units: usize) -> Result<Box<[u8]>, String> {
    let points = code.resume_points();
    if points.len() > NO_POINT as usize {
        return Err(format!("{} yields exceed the limit", points.len()));
    }
    let mut table = vec![NO_POINT; units];
    for (number, pc) in (0u8..).zip(points) {
        let resume = code.instrs.get(pc.0 as usize).map(|i| i.resume as usize);
        if let Some(place) = resume.and_then(|at| table.get_mut(at)) {
            *place = number;
        }
    }
    Ok(table.into_boxed_slice())
}

/// LIR that resumes a frame: see [`UnitParts::suspend`](cladonia::engine::UnitParts::suspend).
pub fn enter(unit: &UnitState) -> Func {
    let shape = unit.shape;
    let mut func = Func::new(
        "enter",
        Signature::new(&[Ty::Ptr, Ty::Ptr, Ty::Ptr], &[Ty::Ptr, Ty::I64]),
    );
    let (ts, generator, words) = (func.params()[0], func.params()[1], func.params()[2]);
    let mut b = Builder::new(&mut func);
    let fail = b.cold_block();

    frames::check_quiet(&mut b, ts, unit, entry_check, fail);
    let state = b.load(Width::U8, generator, g::FRAME_STATE);
    let waits = b.icmp_imm(IntCond::Uge, state, (g::STATE_CREATED as u8).into());
    b.guard(waits, fail);
    let frame = b.padd_imm(generator, g::FRAME.into());
    for (offset, known) in [(f::GLOBALS, unit.globals), (f::BUILTINS, unit.builtins)] {
        let found = b.load(Width::Ptr, frame, offset);
        let known = b.pconst(known as u64);
        let same = b.icmp(IntCond::Eq, found, known);
        b.guard(same, fail);
    }
    // Somebody who holds the frame object may look into the frame at any time.
    let object = b.load(Width::Ptr, frame, f::FRAME_OBJ);
    let private = b.is_null(object);
    let (seen, unseen) = (b.cold_block(), b.block());
    b.br(private, unseen, &[], seen, &[]);
    b.switch_to(seen);
    let alone = frames::call_host(
        &mut b,
        is_alone as *const () as usize,
        &[object],
        &[Ty::Ptr],
        &[Ty::I64],
    )[0];
    let alone = b.icmp_imm(IntCond::Ne, alone, 0);
    b.br(alone, unseen, &[], fail, &[]);
    b.switch_to(unseen);
    let py = b.load(Width::I32, ts, t::PY_RECURSION_REMAINING);
    let enough = b.icmp_imm(IntCond::Sgt, py, 0);
    b.guard(enough, fail);
    let c = b.load(Width::I32, ts, t::C_RECURSION_REMAINING);
    let enough = b.icmp_imm(IntCond::Sgt, c, C_RECURSION_RESERVE.into());
    b.guard(enough, fail);
    frames::check_stack(&mut b, ts, fail);

    let point = resume_point(&mut b, unit, frame, fail);

    let token = b.iconst(unit.token() as i64);
    b.store(Width::I64, words, 8 * 2 * shape.nlocalsplus, token);
    b.store(Width::Ptr, frame, shape.last_slot(), words);
    let running = b.iconst(g::STATE_EXECUTING.into());
    b.store(Width::U8, generator, g::FRAME_STATE, running);
    let status =
        shape.nlocalsplus as i64 | (NATIVE as i64) << 32 | i64::from(f::OWNED_BY_GENERATOR) << 48;
    let status = b.iconst(status);
    b.store(Width::I64, frame, f::STACKTOP, status);
    let handled = b.load(Width::Ptr, ts, t::EXC_INFO);
    b.store(Width::Ptr, generator, g::EXC_PREVIOUS, handled);
    let own = b.padd_imm(generator, g::EXC_STATE.into());
    b.store(Width::Ptr, ts, t::EXC_INFO, own);
    let previous = b.load(Width::Ptr, ts, t::CURRENT_FRAME);
    b.store(Width::Ptr, frame, f::PREVIOUS, previous);
    b.store(Width::Ptr, ts, t::CURRENT_FRAME, frame);
    let minus = b.iconst(-1);
    for (offset, left) in [
        (t::PY_RECURSION_REMAINING, py),
        (t::C_RECURSION_REMAINING, c),
    ] {
        let left = b.op(Opcode::Iadd, &[left, minus]);
        b.store(Width::I32, ts, offset, left);
    }
    frames::count_entry(&mut b, unit);
    b.ret(&[frame, point]);

    b.switch_to(fail);
    b.terminate(Term::Fail);
    func
}

/// LIR for the number of the resume point at which a frame waits; fails where it waits elsewhere.
fn resume_point(
    b: &mut Builder<'_>,
    unit: &UnitState,
    frame: Value,
    fail: cladonia::lir::Block,
) -> Value {
    let table = unit.points.as_deref().unwrap_or_default();
    let at = b.load(Width::I64, frame, f::INSTR_PTR);
    let first = b.iconst(unit.shape.units() as i64);
    let bytes = b.op(Opcode::Isub, &[at, first]);
    let inside = b.icmp_imm(IntCond::Ult, bytes, 2 * table.len() as i64);
    b.guard(inside, fail);
    let one = b.iconst(1);
    let index = b.op(Opcode::Iushr, &[bytes, one]);
    let table = b.pconst(table.as_ptr() as u64);
    let place = b.op(Opcode::Padd, &[table, index]);
    let point = b.load(Width::U8, place, 0);
    let known = b.icmp_imm(IntCond::Ne, point, NO_POINT.into());
    b.guard(known, fail);
    point
}

/// Whether nobody but the frame itself holds its frame object, and nothing is noted there: 1 or 0.
unsafe extern "C" fn is_alone(object: Object) -> i64 {
    // SAFETY: a frame's own frame object.
    unsafe { frames::is_unheld(object) as i64 }
}

/// LIR that suspends a frame whose slots are filled: see [`UnitParts::suspend`](cladonia::engine::UnitParts::suspend).
pub fn suspend(unit: &UnitState) -> Func {
    let mut func = Func::new(
        "suspend",
        Signature::new(&[Ty::Ptr, Ty::Ptr, Ty::I64, Ty::I64], &[]),
    );
    let (ts, frame, depth, delegates) = {
        let p = func.params();
        (p[0], p[1], p[2], p[3])
    };
    let mut b = Builder::new(&mut func);
    let generator = b.padd_imm(frame, (-g::FRAME).into());
    // The mark goes with it.
    let status = i64::from(unit.shape.nlocalsplus) | i64::from(f::OWNED_BY_GENERATOR) << 48;
    let status = b.iconst(status);
    let status = b.op(Opcode::Iadd, &[status, depth]);
    b.store(Width::I64, frame, f::STACKTOP, status);
    let waits = b.iconst((g::STATE_SUSPENDED as u8).into());
    let waits = b.op(Opcode::Iadd, &[waits, delegates]);
    b.store(Width::U8, generator, g::FRAME_STATE, waits);
    let null = b.pconst(0);
    let handled = b.load(Width::Ptr, generator, g::EXC_PREVIOUS);
    b.store(Width::Ptr, ts, t::EXC_INFO, handled);
    b.store(Width::Ptr, generator, g::EXC_PREVIOUS, null);
    let previous = b.load(Width::Ptr, frame, f::PREVIOUS);
    b.store(Width::Ptr, ts, t::CURRENT_FRAME, previous);
    b.store(Width::Ptr, frame, f::PREVIOUS, null);
    for offset in [t::PY_RECURSION_REMAINING, t::C_RECURSION_REMAINING] {
        b.add_at(Width::I32, ts, offset, 1);
    }
    b.ret(&[]);
    func
}

/// LIR that ends a generator: `(thread, frame) -> ()`.
pub fn leave() -> Func {
    let mut func = Func::new("leave", Signature::new(&[Ty::Ptr, Ty::Ptr], &[]));
    let (ts, frame) = (func.params()[0], func.params()[1]);
    let mut b = Builder::new(&mut func);
    frames::call_host(
        &mut b,
        end as *const () as usize,
        &[ts, frame],
        &[Ty::Ptr, Ty::Ptr],
        &[],
    );
    b.ret(&[]);
    func
}

/// Unlink and clear the frame of a generator that has returned.
unsafe extern "C" fn end(ts: Thread, frame: Frame) {
    let _busy = Busy::new();
    // SAFETY: the frame is the innermost one, its stack empty. Its generator lives: who resumed it holds it.
    unsafe {
        frames::keep_locals(frame);
        put::<u16>(frame, f::RETURN_OFFSET, 0);
        put::<Frame>(ts, t::CURRENT_FRAME, get(frame, f::PREVIOUS));
        for offset in [t::PY_RECURSION_REMAINING, t::C_RECURSION_REMAINING] {
            put::<i32>(ts, offset, get::<i32>(ts, offset) + 1);
        }
        _PyEval_FrameClearAndPop(ts, frame);
        put::<Frame>(frame, f::PREVIOUS, std::ptr::null_mut());
    }
}

unsafe extern "C" fn next_slot(generator: Object) -> Object {
    // SAFETY: a slot's promises.
    unsafe {
        match resume(current_thread(), generator, Py_None()) {
            Some(result) => {
                if result.is_null() || is_suspended(generator) {
                    return result;
                }
                if result != Py_None() {
                    _PyGen_SetStopIterationValue(result);
                }
                Py_DECREF(result);
                std::ptr::null_mut()
            }
            None => {
                let next = ORIGINAL_NEXT.load(Ordering::Relaxed);
                std::mem::transmute::<usize, iternextfunc>(next)(generator)
            }
        }
    }
}

unsafe extern "C" fn send_slot(
    generator: Object,
    value: Object,
    result: *mut Object,
) -> PySendResult {
    // SAFETY: a slot's promises.
    unsafe {
        match resume(current_thread(), generator, value) {
            Some(object) => {
                *result = object;
                if object.is_null() {
                    PySendResult::PYGEN_ERROR
                } else if is_suspended(generator) {
                    PySendResult::PYGEN_NEXT
                } else {
                    PySendResult::PYGEN_RETURN
                }
            }
            None => original_send()(generator, value, result),
        }
    }
}

/// `send` of generators and coroutines.
unsafe extern "C" fn send_method(generator: Object, value: Object) -> Object {
    // SAFETY: a method's promises.
    unsafe {
        match resume(current_thread(), generator, value) {
            Some(result) => {
                if result.is_null() || is_suspended(generator) {
                    return result;
                }
                if result == Py_None() {
                    PyErr_SetNone(PyExc_StopIteration);
                } else {
                    _PyGen_SetStopIterationValue(result);
                }
                Py_DECREF(result);
                std::ptr::null_mut()
            }
            None => {
                let send = ORIGINAL_METHOD.load(Ordering::Relaxed);
                std::mem::transmute::<usize, PyCFunction>(send)(generator, value)
            }
        }
    }
}

/// The rows of the methods `send`.
fn send_rows() -> [Option<&'static mut PyMethodDef>; 2] {
    // SAFETY: the GIL is held; the table of a static class ends with a row without a name.
    [&raw mut PyGen_Type, &raw mut PyCoro_Type].map(|class| unsafe {
        let mut row = (*class).tp_methods;
        while !row.is_null() && !(*row).ml_name.is_null() {
            if CStr::from_ptr((*row).ml_name) == c"send" && (*row).ml_flags == METH_O {
                return Some(&mut *row);
            }
            row = row.add(1);
        }
        None
    })
}

/// Let C code that iterates over generators or sends into them resume them natively; undone by [`restore_slots`].
pub fn interpose_slots() {
    set_slots(
        next_slot as *const () as usize,
        send_slot as *const () as usize,
        match ORIGINAL_METHOD.load(Ordering::Relaxed) {
            0 => 0,
            _ => send_method as *const () as usize,
        },
    );
}

/// Give the classes their own functions back.
pub fn restore_slots() {
    let next = ORIGINAL_NEXT.load(Ordering::Relaxed);
    let send = ORIGINAL_SEND.load(Ordering::Relaxed);
    set_slots(next, send, ORIGINAL_METHOD.load(Ordering::Relaxed));
}

fn set_slots(next: usize, send: usize, method: usize) {
    // SAFETY: the GIL is held; the classes are static and complete, and nothing compares these slots.
    unsafe {
        if ORIGINAL_NEXT.load(Ordering::Relaxed) == 0 {
            return;
        }
        PyGen_Type.tp_iternext = Some(std::mem::transmute::<usize, iternextfunc>(next));
        for methods in [PyGen_Type.tp_as_async, PyCoro_Type.tp_as_async] {
            if !methods.is_null() {
                (*methods).am_send = Some(std::mem::transmute::<usize, sendfunc>(send));
            }
        }
        if method != 0 {
            for row in send_rows().into_iter().flatten() {
                row.ml_meth.PyCFunction = std::mem::transmute::<usize, PyCFunction>(method);
            }
        }
    }
}
