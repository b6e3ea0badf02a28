//! Generators (and coroutines) in compiled code: their units, and the entries into them.
//!
//! # How a generator is resumed
//! A suspended generator's frame is the interpreter's in every respect, so both interpreted and
//! native code may resume it. Native code does so through [`resume`]: the address of the code's
//! unit is among the code object's extras, so only a load separates a generator from its unit. C
//! code that iterates or sends comes here too, through the slots of the generators' classes
//! ([`slots`]). Cases that these functions cannot handle go to the slots' own functions; so does
//! the unit's entry when it must not continue (tracing, a generator that is running, a frame whose
//! locals are in use). The generator's own state records if it has yielded or returned.
//!
//! | file | owns |
//! | --- | --- |
//! | here | units: compiled, published, withdrawn |
//! | `expressions` | functions of generator expressions |
//! | `chain` | generators that wait for each other |
//! | `consumers` | interpreted code that resumes generators |
//! | `forward` | loops that forward the values of another generator |
//! | `frames` | LIR to resume, suspend and end a frame |
//! | `make` | generators allocated and freed |
//! | `slots` | the slots of the classes |
//!
//! # The frame of a running generator
//! It is marked like any native frame. There are no words behind it: the unit keeps them on the
//! thread's data stack while it runs, and the last slot of the frame's operand stack, which is
//! empty meanwhile, has their address. On the native stack they could not be read while the frame's
//! greenlet is suspended: its part of that stack is elsewhere then.

mod chain;
mod consumers;
mod expressions;
mod forward;
mod frames;
mod make;
pub mod slots;

pub use chain::{announce, announcement};
pub use consumers::lead_consumer;
pub use expressions::make_functions;
pub use forward::Forward;
pub use frames::{enter, leave, suspend};
pub use make::{fill, free_ended, make, maker, running, suspended};

use super::Gil;
use super::abi;
use super::capi::*;
use super::compiling::{self, Refusal};
use super::function_state;
use super::units::{Busy, Kind, UnitRef};
use crate::objects::spares::Spares;
use abi::{generator as g, generators as states, slots as frame_slots};
use cladonia::types::Type;
use pyo3_ffi::*;
use std::cell::{Cell, RefCell};
use std::ffi::c_void;
use std::sync::atomic::{AtomicIsize, Ordering};

/// A unit that resumes frames: thread, generator, the value sent (taken over).
type Resume = unsafe extern "C" fn(Thread, Object, Object) -> Object;

/// The state of a generator's code besides its function's entry.
pub struct GeneratorState {
    /// The unit.
    pub unit: Cell<Option<UnitRef>>,
    /// Number of units compiled.
    pub versions: Cell<u32>,
    cell: Box<ResumeCell>,
    forwards: RefCell<Option<Box<[Forward]>>>,
}

/// The entry of a table of resume points where there is none.
const NO_POINT: u8 = u8::MAX;

/// The index of units among the extras of a code object; negative if there are none.
static EXTRA: AtomicIsize = AtomicIsize::new(-1);
/// Finds the interpreter's own functions, and reserves an index among the extras of code objects.
///
/// # Safety
/// Called once, with the GIL, before anything is compiled.
pub unsafe fn start() -> Result<(), String> {
    // SAFETY: the class is static; its tables are complete.
    unsafe {
        slots::find()?;
        let index = PyUnstable_Eval_RequestCodeExtraIndex(no_free);
        EXTRA.store(index, Ordering::Relaxed);
        Ok(())
    }
}

/// The extras are addresses of units, which the runtime frees itself.
unsafe extern "C" fn no_free(_: *mut c_void) {}

/// True for a generator or a coroutine.
///
/// # Safety
/// The object is alive.
#[inline(always)]
pub unsafe fn is_resumable(object: Object) -> bool {
    // SAFETY: the caller's promise.
    let class = unsafe { Py_TYPE(object) };
    class == &raw mut PyGen_Type || class == &raw mut PyCoro_Type
}

/// The extra of a code object whose generators may be resumed natively.
pub struct ResumeCell {
    /// The unit's entry, or [`recompile`].
    entry: Cell<usize>,
    /// The unit's cell with its eval-breaker word, for which no handling of pending work is needed;
    /// a cell with a word that never matches if there is no unit.
    pending: Cell<*const u64>,
    /// For each code unit the [`Forward`] that waits there; null if none does.
    forwards: Cell<*const Forward>,
    spares: Spares,
}

static NO_UNIT: u64 = abi::eval_breaker::NEVER;

/// The cell of a generator's code.
///
/// # Safety
/// The object is a generator, a coroutine or an asynchronous generator.
#[inline(always)]
unsafe fn cell_of<'a>(generator: Object) -> Option<&'a ResumeCell> {
    // SAFETY: the code object lives as long as the generator.
    unsafe { cell_of_code(frame_slots::code(frame_of(generator))) }
}

/// The cell of a code object.
///
/// # Safety
/// The object is one.
#[inline(always)]
unsafe fn cell_of_code<'a>(code: Object) -> Option<&'a ResumeCell> {
    // SAFETY: a code object's extras are a length and as many words; a cell lives as long as it
    // is there.
    unsafe {
        let extra: *const u8 = get(code.cast(), abi::code::EXTRA);
        let index = EXTRA.load(Ordering::Relaxed);
        if extra.is_null() || get::<isize>(extra, abi::code_extra::LENGTH) <= index {
            return None;
        }
        get::<*const ResumeCell>(extra, abi::code_extra::ITEMS + 8 * index as i32).as_ref()
    }
}

/// The frame of a generator.
#[inline(always)]
unsafe fn frame_of(generator: Object) -> Frame {
    // SAFETY: the caller's: a generator, with its frame inside.
    unsafe { generator.cast::<u8>().offset(g::FRAME as isize) }
}

/// True if a generator waits at a `yield`.
///
/// # Safety
/// As for [`unit_of`].
#[inline(always)]
pub unsafe fn is_suspended(generator: Object) -> bool {
    // SAFETY: the caller's promise.
    unsafe { states::is_suspended(states::state(generator.cast())) }
}

/// Resumes a generator natively, if there is a unit for it. Returns the value that it yielded (it
/// [is suspended](is_suspended) then) or returned, or null with an exception, which is no
/// `StopIteration`. `value` is borrowed; without a unit nothing happens.
///
/// # Safety
/// `ts` is the current thread, `generator` is one and lives as long as the call.
#[inline(always)]
pub unsafe fn resume(gil: Gil, ts: Thread, generator: Object, value: Object) -> Option<Object> {
    // SAFETY: the caller's promise.
    unsafe {
        let cell = cell_of(generator)?;
        match states::state(generator.cast()) as i32 {
            g::STATE_CREATED if value != Py_None() => None,
            g::STATE_DELEGATING => Some(chain::resume(gil, ts, generator, cell, value)),
            g::STATE_SUSPENDED if chain::forwards(generator, cell).is_some() => {
                Some(chain::resume(gil, ts, generator, cell, value))
            }
            _ => Some(enter_unit(ts, generator, cell, Py_NewRef(value))),
        }
    }
}

/// Resumes a generator in its unit; the value is taken over.
#[inline(always)]
unsafe fn enter_unit(ts: Thread, generator: Object, cell: &ResumeCell, value: Object) -> Object {
    // SAFETY: the entry is one that may be entered now.
    unsafe {
        let entry = std::mem::transmute::<usize, Resume>(cell.entry.get());
        entry(ts, generator, value)
    }
}

/// The helper that lets the interpreter resume a generator for a unit that could not: no frame
/// shows that unit.
///
/// # Safety
/// Called by a unit on its thread: `generator` is one, the array has the one owned value to send.
pub unsafe extern "C" fn resume_interpreted(
    _ts: Thread,
    generator: Object,
    args: *mut Object,
    _count: i64,
) -> Object {
    // SAFETY: compiled code runs with the interpreter's lock held.
    let gil = unsafe { Gil::held() };
    let _busy = Busy::new();
    // SAFETY: a helper's promises: the array has the one value to send.
    unsafe { resume_in_place(gil, generator, *args) }
}

/// Lets the interpreter resume a generator; the value is taken over.
///
/// # Safety
/// As for [`resume`].
unsafe fn resume_in_place(gil: Gil, generator: Object, value: Object) -> Object {
    // SAFETY: the caller's promise.
    unsafe {
        if let Some(runtime) = gil.started() {
            runtime.totals.interpreted_calls.update(|calls| calls + 1);
        }
        let mut result = std::ptr::null_mut();
        slots::original_send()(generator, value, &mut result);
        Py_DECREF(value);
        result
    }
}

/// In place of a unit that was lost: compiles another, and resumes the generator.
unsafe extern "C" fn recompile(ts: Thread, generator: Object, value: Object) -> Object {
    // SAFETY: a caller that resumes a generator holds the GIL.
    let gil = unsafe { Gil::held() };
    announce();
    // SAFETY: as for a unit.
    unsafe {
        let own: Object = frame_slots::code(frame_of(generator));
        let state = states::state(generator.cast());
        if !gil.runtime().on.get() {
            publish(own, None);
        } else if state < g::STATE_EXECUTING as i8 && !gil.runtime().compiler.is_at_work() {
            // The frame of a generator that has ended has no function any more.
            let func: Object = frame_slots::function(frame_of(generator));
            let (code, ..) = function_state::parts_of(func);
            let made = if own == code {
                compiling::unless_busy(gil, code, || compile(gil, func, &[]))
            } else {
                Ok(())
            };
            match made {
                // The next one that is resumed requests it again.
                Err(Refusal::Busy) => return resume_in_place(gil, generator, value),
                Err(Refusal::Lasting(reason)) => {
                    publish(own, None);
                    function_state::give_up(gil, code, &reason);
                }
                Ok(()) if own != code => publish(own, None),
                Ok(()) => {}
            }
            if let Some(cell) = cell_of(generator) {
                return enter_unit(ts, generator, cell, value);
            }
        }
        resume_in_place(gil, generator, value)
    }
}

/// Publishes the cell through which the generators of a code object are resumed, or none.
unsafe fn publish(code: Object, cell: Option<&ResumeCell>) {
    let index = EXTRA.load(Ordering::Relaxed);
    if index >= 0 {
        let cell = cell.map_or(std::ptr::null_mut(), |cell| {
            std::ptr::from_ref(cell).cast_mut().cast::<c_void>()
        });
        // SAFETY: the code object is alive. Without memory the extra stays empty: if it existed
        // already, no memory would be needed.
        unsafe {
            if PyUnstable_Code_SetExtra(code, index, cell) < 0 {
                PyErr_Clear();
            }
        }
    }
}

impl GeneratorState {
    /// The unit was invalidated: the generators of its code are resumed elsewhere. `again` is true
    /// if another unit may be compiled.
    ///
    /// # Safety
    /// The code object is alive.
    pub unsafe fn withdraw(&self, code: Object, again: bool) {
        self.unit.set(None);
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
            unit: Cell::new(None),
            versions: Cell::new(0),
            forwards: RefCell::new(None),
            cell: Box::new(ResumeCell {
                entry: Cell::new(recompile as *const () as usize),
                pending: Cell::new(&raw const NO_UNIT),
                forwards: Cell::new(std::ptr::null()),
                spares: Spares::new(),
            }),
        }
    }
}

/// Compiles the body of a generator function, if there is no unit for it, and publishes it.
///
/// # Errors
/// A [`Refusal`], which is not recorded yet.
///
/// # Safety
/// `func` is a Python function whose code is a generator's; `live` are types of its locals at the
/// start, or empty.
pub unsafe fn compile(gil: Gil, func: Object, live: &[Type]) -> Result<(), Refusal> {
    // SAFETY: the caller's promise.
    unsafe {
        let (code, globals, builtins) = function_state::parts_of(func);
        let state = function_state::state_of(gil, code);
        if state.generator.unit.get().is_some() {
            return Ok(());
        }
        let most = state.max_versions();
        if state.generator.versions.get() >= most {
            return Err(Refusal::Lasting(format!(
                "its speculation failed in {most} versions"
            )));
        }
        if EXTRA.load(Ordering::Relaxed) < 0 {
            return Err(Refusal::Lasting(
                "code objects have no room for extras".into(),
            ));
        }
        let shape = state.shape;
        let unit = compiling::compile_unit(
            gil,
            shape,
            globals,
            builtins,
            Kind::Generator,
            false,
            live,
            None,
            func,
        )?;
        let state = function_state::state_of(gil, code);
        let state = &state.generator;
        let forwards = (*unit).forwards.take();
        let table = forwards
            .as_ref()
            .map_or(std::ptr::null(), |all| all.as_ptr());
        state.cell.forwards.set(table);
        state.forwards.replace(forwards);
        state.unit.set(Some(unit));
        state.versions.update(|made| made + 1);
        state.cell.entry.set((*unit).entry() as usize);
        state.cell.pending.set((*unit).checked.pending.as_ptr());
        publish(code, Some(&state.cell));
        gil.runtime().listening.monitor_starts(gil, code);
        Ok(())
    }
}

/// True if a generator has ended.
///
/// # Safety
/// The object is a generator or a coroutine.
#[inline(always)]
pub unsafe fn has_ended(generator: Object) -> bool {
    // SAFETY: the caller's promise.
    states::has_ended(unsafe { states::state(generator.cast()) })
}

/// For each code unit, the number of the resume point there, or [`NO_POINT`].
///
/// # Errors
/// There are too many of them.
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
