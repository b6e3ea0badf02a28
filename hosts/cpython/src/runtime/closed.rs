//! Closed units at run time: their raw entries, and the frames that are rebuilt when they exit.
//!
//! A closed unit has no frame, and no user code runs during it. At a side exit, its exit hook notes
//! the contents that its frame would have ([`record_exit`]), and each native caller without a frame
//! notes its own. The first caller with a frame (or the adapter for objects) lets [`resume_exits`]
//! build the frames, outermost first, and run them in the interpreter to their ends, innermost
//! first, one after the other: their number takes no native stack.
//!
//! For example, `def power(b, n): return 1 if n == 0 else b * power(b, n - 1)` is a closed unit. If
//! the multiplication in a call nested four deep overflows, frames are built for that call and the
//! four around it, and the innermost continues in the interpreter at its `*`.
//!
//! # Invariants
//! - No user code runs between the first record of an exit and `resume_exits`, so one list serves
//!   all threads.
//! - Records own their objects and functions.

use super::capi::*;
use super::exits::Values;
use super::function_state::{self, Entry};
use super::rebuilt::{self, Rebuilt};
use super::units::{self, UnitRef, UnitState};
use super::{Gil, abi, entries, frames, healing, monitoring};
use abi::eval_breaker;
use cladonia::exits::{ExitKind, NOT_ENTERED};
use cladonia::facts::{RawEntry, RawSignature};
use cladonia::host::ClosedParts;
use cladonia::lir::{Builder, Func, Signature, Term};
use cladonia::ll::Ty;
use pyo3_ffi::*;
use std::cell::Cell;

/// A cell that native callers with raw values jump through, and its signature.
pub struct RawCell {
    /// The cell; its address is stable as long as its entry lives.
    pub cell: Box<Cell<u64>>,
    /// Its signature; `None` while the unit that it was created for is being compiled.
    pub signature: Option<RawSignature>,
}

/// The target of a raw cell without a unit. The second result register is undefined.
extern "C" fn not_entered() -> i64 {
    NOT_ENTERED
}

impl RawCell {
    /// A cell without a unit.
    pub fn new() -> RawCell {
        RawCell {
            cell: Box::new(Cell::new(not_entered as *const () as u64)),
            signature: None,
        }
    }

    /// Refuses all calls.
    pub fn close(&self) {
        self.cell.set(not_entered as *const () as u64);
    }
}

/// Routes raw calls of an entry's functions to a new unit; returns true if there are cells that it
/// does not serve.
pub fn install(entry: &Entry, unit: &UnitState) -> bool {
    let raw = unit.unit.as_ref().and_then(|u| u.raw.as_ref());
    let signature = raw.map(|raw| raw.1.clone());
    let mut cells = entry.raw_cells.borrow_mut();
    if let Some(fresh) = cells.iter_mut().find(|c| c.signature.is_none()) {
        fresh.signature = signature.clone();
    }
    cells.retain(|c| c.signature.is_some());
    let mut stale = false;
    for cell in &*cells {
        match raw {
            Some(raw) if cell.signature == signature => cell.cell.set(raw.0.entry() as u64),
            _ => {
                stale = true;
                cell.close();
            }
        }
    }
    stale
}

/// The raw entry of a function: the answer to `World::callee`.
///
/// # Safety
/// `func` is a Python function.
pub unsafe fn raw_entry(gil: Gil, func: Object) -> Option<RawEntry> {
    // SAFETY: the caller's promise; units in tables are alive.
    unsafe {
        let entry = function_state::entry_of(gil, func)?;
        let unit = entry.unit.get()?;
        let signature = &(*unit).unit.as_ref()?.raw.as_ref()?.1;
        let cells = entry.raw_cells.borrow();
        let cell = cells
            .iter()
            .find(|c| c.signature.as_ref() == Some(signature))?;
        Some(RawEntry {
            cell: cell.cell.as_ptr() as u64,
            boxed_cell: entry.cell.as_ptr() as u64,
            signature: signature.clone(),
        })
    }
}

/// The compiler's input for a closed unit of an entry's functions; creates the cell for it.
pub fn parts(entry: &Entry, unit: &UnitState) -> ClosedParts {
    let mut cells = entry.raw_cells.borrow_mut();
    if cells.iter().all(|c| c.signature.is_some()) {
        cells.push(RawCell::new());
    }
    let fresh = cells.iter().find(|c| c.signature.is_none());
    let raw_cell = fresh.expect("made above").cell.as_ptr() as u64;
    ClosedParts::new(entry.cell.as_ptr() as u64, raw_cell, enter(unit))
}

/// LIR that accounts for a call, `(thread) -> ()`; it fails if the call must not begin. Nested
/// calls are counted in a register: no code that runs during closed units reads the depth from the
/// thread.
fn enter(unit: &UnitState) -> Func {
    let mut func = Func::new("enter closed", Signature::new(&[Ty::Ptr], &[]));
    let ts = func.params()[0];
    let mut b = Builder::new(&mut func);
    let fail = b.cold_block();
    frames::check_quiet(&mut b, ts, unit, has_nothing_pending, fail);
    frames::check_stack(&mut b, ts, fail);
    frames::count_raw_entry(&mut b, unit);
    b.ret(&[]);
    b.switch_to(fail);
    b.terminate(Term::Fail);
    func
}

/// Returns 1 if nothing is pending, though the eval-breaker word is not the one that the unit
/// knows, else 0. Runs no host code.
unsafe extern "C" fn has_nothing_pending(ts: Thread, token: u64) -> i64 {
    // SAFETY: compiled code runs with the interpreter's lock held.
    let gil = unsafe { Gil::held() };
    // SAFETY: the unit is being entered.
    unsafe {
        let unit = &*(token as UnitRef);
        let word = eval_breaker::word(ts);
        if word & eval_breaker::EVENTS != 0
            || !unit.is_valid()
            || monitoring::is_unit_observed(gil, unit)
        {
            return 0;
        }
        unit.checked.pending.set(word);
        1
    }
}

/// The exit hook of closed units: see [`cladonia::host::RECORD_EXIT`].
///
/// # Safety
/// Called by a closed unit with its own token, one of its exits, and that exit's words.
pub unsafe extern "C" fn record_exit(token: u64, number: u64, buffer: *const u64) -> Object {
    // SAFETY: compiled code runs with the interpreter's lock held.
    let gil = unsafe { Gil::held() };
    // SAFETY: the caller's promise; nothing runs here that could free the unit.
    unsafe {
        let unit = token as UnitRef;
        let state = &*unit;
        let func = *buffer.add(1) as Object;
        let record = &state.unit.as_ref().expect("a running unit").exits[number as usize];
        let mut values = Values::new(record, buffer, &[]);
        let mut locals = vec![std::ptr::null_mut(); state.shape.nlocalsplus as usize];
        for &(slot, source) in &record.locals {
            locals[slot as usize] = values.of(source, std::ptr::null_mut());
        }
        let stack = record
            .stack
            .iter()
            .map(|&source| values.of(source, std::ptr::null_mut()))
            .collect();
        // A closed unit owns no objects; fields of an object for which there was no memory are
        // dropped without side effects.
        let mut drops = Vec::new();
        let lost = values.finish(&mut drops);
        drops.into_iter().for_each(|object| Py_XDECREF(object));
        let (pos, here) = state.positions[record.pc.0 as usize];
        let resume = match record.kind {
            ExitKind::Await => state.positions[record.pc.0 as usize + 1].1,
            _ => here,
        };
        let positions = (pos, resume, here);
        let frame = Rebuilt::new(state.shape, Py_NewRef(func), positions, locals, stack, lost);
        gil.runtime().recorded.borrow_mut().push(frame);
        gil.runtime().recording.exited(&*unit, record, &[]);
        healing::count_exit(gil, unit, number as usize, record);
        std::ptr::null_mut()
    }
}

/// Builds the recorded frames and runs them: see [`cladonia::host::RESUME_EXITS`].
///
/// # Safety
/// Called by native code on its thread, whose status was *exiting*; `token` is of a unit that is
/// running.
pub unsafe extern "C" fn resume_exits(ts: Thread, token: u64) -> Object {
    // SAFETY: compiled code runs with the interpreter's lock held.
    let gil = unsafe { Gil::held() };
    // SAFETY: the caller's promise.
    unsafe {
        units::keeping(token as UnitRef, || {
            // The innermost one was recorded first.
            let recorded = gil.runtime().recorded.take();
            rebuilt::run(gil, ts, recorded.into_iter().rev().collect()).into_result()
        })
    }
}

/// Makes a call that a closed unit's adapter could not: see [`cladonia::host::CALL_BOXED`]. Once as
/// many arguments were of another class as a guard may fail, the function gets another unit.
///
/// # Safety
/// Called by an adapter, with owned arguments.
pub unsafe extern "C" fn call_boxed(
    ts: Thread,
    func: Object,
    args: *mut Object,
    count: i64,
    token: u64,
    mismatch: i64,
) -> Object {
    // SAFETY: compiled code runs with the interpreter's lock held.
    let gil = unsafe { Gil::held() };
    // SAFETY: the adapter's unit is alive, and kept alive while the interpreter runs the call.
    unsafe {
        let unit = token as UnitRef;
        let state = &*unit;
        if mismatch != 0 && state.is_valid() {
            state.mismatches.set(state.mismatches.get() + 1);
            if state.mismatches.get() >= healing::max_failures(gil) {
                function_state::state_of(gil, state.shape.code)
                    .open
                    .set(true);
                let why = "its arguments were of other classes";
                let recording = &gil.runtime().recording;
                recording.because(why, || units::invalidate(gil, unit));
            }
        }
        units::keeping(unit, || entries::call_in_place(ts, func, args, count))
    }
}
