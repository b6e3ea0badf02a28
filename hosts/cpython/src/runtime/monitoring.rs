//! Hotness and on-stack replacement, through `sys.monitoring`.
//!
//! A tool of our own gets each start of a function and each jump, counts them, and switches its
//! events off once it has decided. A jump's callback may also run the rest of the activation
//! natively: the interpreter has stored its stack pointer before the call and reads it, with
//! `instr_ptr`, after it, so the callback may have moved the frame to any instruction.
//!
//! For example, a script that is one long `while` loop is never called again. Its `JUMP` events
//! lead to a loop unit, and the callback of one of them runs the rest of the loop.

use super::capi::*;
use super::compiling::{self, Refusal};
use super::frames;
use super::function_state::state_of;
use super::generators;
use super::sampling::Locals;
use super::units::{Kind, UnitRef, UnitState};
use super::worth::{self, Verdict};
use super::{Gil, abi, exits};
use abi::code_units::{self, Returns};
use abi::monitoring::{JUMP, NO_EVENT, PY_START, PY_YIELD, STOP_ITERATION};
use abi::{frame as f, frames as state, slots, thread as t};
use cladonia::types::Type;
use pyo3_ffi::*;
use std::cell::Cell;
use std::ffi::{CStr, c_int, c_void};
use std::panic::catch_unwind;

/// The monitoring tool.
#[derive(Default)]
pub struct Monitor {
    /// Its id, while it is in use.
    pub tool: Cell<Option<u8>>,
    /// The id of a second tool, which is never called. It is used if the interpreter
    /// [forgets](abi::monitoring::FORGETS_TRACED_INSTRUCTIONS) state when the first event gets a
    /// second tool: then `STOP_ITERATION`, the rarest of the affected events, has two tools from
    /// the beginning.
    pub second: Cell<Option<u8>>,
    /// `sys.monitoring.DISABLE`, an owned reference.
    disable: Cell<usize>,
}

/// Number of interpreted starts of compiled code after which they are not examined any more.
const MAX_BYPASSED: u64 = 200;
/// Number of unfit frames after which a loop is not compiled any more.
const MAX_MISFITS: u32 = 1000;

impl Monitor {
    /// Takes a tool id and requests the events, with these functions as callbacks. This may run
    /// Python code: no table is borrowed meanwhile.
    pub fn start(gil: Gil, functions: &'static [PyMethodDef; 3]) -> Result<(), ()> {
        // SAFETY: objects are created and dropped here.
        unsafe {
            let monitor = &gil.runtime().monitor;
            if monitor.tool.get().is_some() {
                if gil.runtime().listening.is_as_wanted(gil) {
                    return Ok(());
                }
                Monitor::stop(gil);
            }
            let monitoring = module()?;
            if monitor.disable.get() == 0 {
                let disable = Holder(PyObject_GetAttrString(monitoring.0, c"DISABLE".as_ptr()));
                monitor.disable.set(disable.check()?.leak() as usize);
            }
            let Some(id) = take_id(monitoring.0, c"cladonia")? else {
                PyErr_SetString(
                    PyExc_RuntimeError,
                    c"no monitoring tool id is free".as_ptr(),
                );
                return Err(());
            };
            monitor.tool.set(Some(id));
            for (event, function) in [(PY_START, &functions[0]), (JUMP, &functions[1])] {
                let callback = Holder(PyCFunction_NewEx(
                    (&raw const *function).cast_mut(),
                    std::ptr::null_mut(),
                    std::ptr::null_mut(),
                ))
                .check()?;
                let done = PyObject_CallMethod(
                    monitoring.0,
                    c"register_callback".as_ptr(),
                    c"iiO".as_ptr(),
                    id as c_int,
                    1 << event,
                    callback.0,
                );
                Holder(done).check()?;
            }
            super::local_events::interpose(gil, monitoring.0);
            set_events(
                monitoring.0,
                id,
                1 << PY_START | 1 << JUMP | 1 << STOP_ITERATION,
            )?;
            let interpreter = PyInterpreterState_Main();
            let hears = |event| abi::monitoring::hears(interpreter, event, id);
            if ![PY_START, JUMP, STOP_ITERATION].into_iter().all(hears) || hears(PY_YIELD) {
                PyErr_SetString(
                    PyExc_RuntimeError,
                    c"the layout of this CPython differs: `PyInterpreterState.monitors` is elsewhere"
                        .as_ptr(),
                );
                return Err(());
            }
            let is_sampled = gil.runtime().listening.start(gil);
            if is_sampled {
                set_events(monitoring.0, id, 0)?;
            }
            if !abi::monitoring::FORGETS_TRACED_INSTRUCTIONS {
                return Ok(());
            }
            // Everything else works without a second id.
            let second = take_id(monitoring.0, c"cladonia, for f_trace_opcodes")?;
            monitor.second.set(second);
            match second {
                Some(second) if !is_sampled => {
                    set_events(monitoring.0, second, 1 << STOP_ITERATION)
                }
                Some(_) | None => Ok(()),
            }
        }
    }

    /// Gives the events and the tool id back that [`Monitor::start`] has taken.
    pub fn stop(gil: Gil) {
        // SAFETY: as there; errors have no handler.
        unsafe {
            let Some(id) = gil.runtime().monitor.tool.get() else {
                return;
            };
            let second = gil.runtime().monitor.second.get();
            let _ = (|| -> Result<(), ()> {
                let monitoring = module()?;
                gil.runtime().listening.stop(gil);
                super::local_events::restore(gil);
                gil.runtime().monitor.tool.set(None);
                gil.runtime().monitor.second.set(None);
                set_events(monitoring.0, id, 0)?;
                // At the end of the process the interpreter drops them itself, without calling the
                // program's audit hooks.
                let events = if gil.runtime().finished.get() {
                    &[][..]
                } else {
                    &[PY_START, JUMP]
                };
                for event in events {
                    let done = PyObject_CallMethod(
                        monitoring.0,
                        c"register_callback".as_ptr(),
                        c"iiO".as_ptr(),
                        id as c_int,
                        1 << event,
                        Py_None(),
                    );
                    Holder(done).check()?;
                }
                if let Some(second) = second {
                    set_events(monitoring.0, second, 0)?;
                    free_id(monitoring.0, second)?;
                }
                free_id(monitoring.0, id)
            })();
            gil.runtime().monitor.tool.set(None);
            gil.runtime().monitor.second.set(None);
            PyErr_Clear();
        }
    }

    /// Monitors all code, or only the code that the [clock](super::listening) selects.
    pub fn listen_to_all(gil: Gil, all: bool) {
        let starts = if all { 1 << PY_START } else { 0 };
        // SAFETY: objects are created and dropped here; errors have no handler.
        unsafe {
            let Some(id) = gil.runtime().monitor.tool.get() else {
                return;
            };
            let _ = (|| -> Result<(), ()> {
                let monitoring = module()?;
                set_events(monitoring.0, id, starts)
            })();
            PyErr_Clear();
        }
    }

    fn disable(&self) -> Object {
        // SAFETY: the monitor owns a reference to the object.
        unsafe { Py_NewRef(self.disable.get() as Object) }
    }
}

/// `sys.monitoring`.
unsafe fn module() -> Result<Holder, ()> {
    // SAFETY: objects are created and dropped here.
    unsafe {
        let sys = Holder(PyImport_ImportModule(c"sys".as_ptr())).check()?;
        Holder(PyObject_GetAttrString(sys.0, c"monitoring".as_ptr())).check()
    }
}

/// Takes a free id, if there is one.
unsafe fn take_id(monitoring: Object, name: &CStr) -> Result<Option<u8>, ()> {
    // SAFETY: the caller's objects are alive.
    unsafe {
        for id in abi::monitoring::TOOL_IDS {
            let owner =
                PyObject_CallMethod(monitoring, c"get_tool".as_ptr(), c"i".as_ptr(), id as c_int);
            if Holder(owner).check()?.0 != Py_None() {
                continue;
            }
            let done = PyObject_CallMethod(
                monitoring,
                c"use_tool_id".as_ptr(),
                c"is".as_ptr(),
                id as c_int,
                name.as_ptr(),
            );
            Holder(done).check()?;
            return Ok(Some(id));
        }
        Ok(None)
    }
}

unsafe fn free_id(monitoring: Object, id: u8) -> Result<(), ()> {
    // SAFETY: the caller's objects are alive.
    let done = unsafe {
        PyObject_CallMethod(
            monitoring,
            c"free_tool_id".as_ptr(),
            c"i".as_ptr(),
            id as c_int,
        )
    };
    Holder(done).check().map(|_| ())
}

unsafe fn set_events(monitoring: Object, id: u8, events: c_int) -> Result<(), ()> {
    // SAFETY: the caller's objects are alive.
    unsafe {
        let done = PyObject_CallMethod(
            monitoring,
            c"set_events".as_ptr(),
            c"ii".as_ptr(),
            id as c_int,
            events,
        );
        Holder(done).check().map(|_| ())
    }
}

struct Holder(Object);

impl Holder {
    fn check(self) -> Result<Holder, ()> {
        if self.0.is_null() { Err(()) } else { Ok(self) }
    }

    fn leak(self) -> Object {
        let object = self.0;
        std::mem::forget(self);
        object
    }
}

impl Drop for Holder {
    fn drop(&mut self) {
        // SAFETY: the reference is ours.
        unsafe { Py_XDECREF(self.0) };
    }
}

/// True if the events of this code also go to other tools, to `sys.settrace` or to
/// `sys.setprofile`.
pub fn is_observed(gil: Gil, shape: &CodeShape) -> bool {
    let bit = |id: Option<u8>| id.map_or(0, |id| 1u8 << id);
    let ours = bit(gil.runtime().monitor.tool.get()) | bit(gil.runtime().monitor.second.get());
    // SAFETY: the tables of the main interpreter, and of a code object that is alive, are byte
    // arrays.
    unsafe {
        abi::monitoring::tools_of(PyInterpreterState_Main()) & !ours != 0
            || abi::monitoring::tools_of_code(shape.code) & !ours != 0
    }
}

/// True if the events of a unit's code, or of code inlined into it, also go to others.
pub fn is_unit_observed(gil: Gil, unit: &UnitState) -> bool {
    let inlined = unit.inlined.iter().map(|inlined| &inlined.shape);
    std::iter::once(&unit.shape)
        .chain(inlined)
        .any(|shape| is_observed(gil, shape))
}

/// Callback of `PY_START`: `(code, offset)`.
///
/// # Safety
/// Called by the interpreter for an event of the tool, with `count` arguments.
pub unsafe extern "C" fn on_start(_: Object, args: *mut Object, count: Py_ssize_t) -> Object {
    // SAFETY: the interpreter calls with its lock held.
    let gil = unsafe { Gil::held() };
    // SAFETY: the interpreter calls with the code object and the offset.
    catch_unwind(|| unsafe {
        if count == 2 {
            start_event(gil, *args)
        } else {
            none()
        }
    })
    .unwrap_or_else(|_| none())
}

/// Callback of `JUMP`: `(code, offset, destination)`.
///
/// # Safety
/// As for [`on_start`].
pub unsafe extern "C" fn on_jump(_: Object, args: *mut Object, count: Py_ssize_t) -> Object {
    // SAFETY: the interpreter calls with its lock held.
    let gil = unsafe { Gil::held() };
    // SAFETY: the interpreter calls with the code object and two offsets in bytes.
    let event = || unsafe {
        if count != 3 {
            return none();
        }
        let (from, to) = (PyLong_AsLong(*args.add(1)), PyLong_AsLong(*args.add(2)));
        jump_event(gil, *args, from, to)
    };
    catch_unwind(event).unwrap_or_else(|_| none())
}

fn none() -> Object {
    // SAFETY: None is immortal.
    unsafe { Py_NewRef(Py_None()) }
}

unsafe fn start_event(gil: Gil, code: Object) -> Object {
    // SAFETY: the callback's promises: the innermost frame has just started.
    unsafe {
        let runtime = gil.runtime();
        if !runtime.on.get() || runtime.finished.get() {
            return runtime.monitor.disable();
        }
        if runtime.quiet.get() != 0 {
            return none();
        }
        compiling::collect(gil);
        let ts = current_thread();
        let frame: Frame = get(ts, t::CURRENT_FRAME);
        if slots::code(frame) != code {
            return none();
        }
        let state = state_of(gil, code);
        if runtime.listening.is_sampled() && !state.is_monitored.get() {
            runtime.listening.keep_time(gil);
            return none();
        }
        if state.shape.is_generator() && generators::lead_consumer(gil, &state, frame) {
            return none();
        }
        let caller: Frame = get(frame, f::PREVIOUS);
        let is_from_c = caller.is_null() || !abi::frames::is_activation(get(caller, f::OWNER));
        state.starts.update(|starts| starts + 1);
        let from_c = &state.starts_from_c;
        from_c.update(|starts| starts + u64::from(is_from_c));
        let verdict = worth::of_call(gil, &state);
        let weighs = runtime.options.get().weighs;
        if weighs && Locals::are_due_at_call(state.calls.get()) {
            let mut locals = state.locals.borrow_mut();
            locals.note_arguments(frame, state.shape.argcount);
            state.sites.borrow_mut().note(&state.shape);
        }
        let calls = &runtime.totals.interpreted_calls;
        calls.update(|calls| calls + 1);
        let threshold = runtime.options.get().threshold;
        match verdict {
            Verdict::Compile if !is_observed(gil, &state.shape) => {}
            Verdict::Pause => return runtime.monitor.disable(),
            _ => return none(),
        }
        let shape = state.shape;
        let func: Object = slots::function(frame);
        let has_generators = || state.generator.unit.get().is_some();
        if shape.is_generator() && !has_generators() && state.refused.get().is_none() {
            if compiling::is_waiting(gil, &state) {
                return none();
            }
            let live = live_types(gil, frame, &shape, 0);
            if let Err(Refusal::Busy) = compiling::compile_function(gil, func, &live) {
                return none();
            }
        }
        let state = state_of(gil, code);
        if shape.optimized() && state.refused.get().is_none() {
            if runtime.is_installed(func) {
                // It was reached without its vectorcall: by a specialised call of its class, for
                // example.
                state.bypassed.update(|bypassed| bypassed + 1);
                if state.bypassed.get() > MAX_BYPASSED && threshold > 0 {
                    return runtime.monitor.disable();
                }
            } else {
                if compiling::is_waiting(gil, &state) {
                    return none();
                }
                let live = live_types(gil, frame, &shape, 0);
                if let Err(Refusal::Busy) = compiling::compile_function(gil, func, &live) {
                    return none();
                }
            }
        }
        let state = state_of(gil, code);
        if threshold == 0
            && !shape.is_generator()
            && state.loops_refused.get().is_none()
            && (state.refused.get().is_none() || !shape.optimized())
        {
            let at: *mut u8 = get(frame, f::INSTR_PTR);
            let pos = ((at as isize - shape.units() as isize) / 2) as u32;
            return enter_loop(gil, ts, frame, shape, pos);
        }
        // Back edges are still counted: only the starts are disabled.
        if state.refused.get().is_some() {
            runtime.monitor.disable()
        } else {
            none()
        }
    }
}

unsafe fn jump_event(gil: Gil, code: Object, from: i64, to: i64) -> Object {
    // SAFETY: the callback's promises.
    unsafe {
        let runtime = gil.runtime();
        if to > from || !runtime.on.get() || runtime.finished.get() {
            return runtime.monitor.disable();
        }
        compiling::collect(gil);
        let ts = current_thread();
        let frame: Frame = get(ts, t::CURRENT_FRAME);
        if slots::code(frame) != code {
            return none();
        }
        let iterations = &runtime.totals.interpreted_iterations;
        iterations.update(|iterations| iterations + 1);
        let state = state_of(gil, code);
        if state.loops_refused.get().is_some() {
            return runtime.monitor.disable();
        }
        let pos = (to / 2) as u32;
        let (is_closed, count) = state.with_loop(pos, |slot| (slot.closed, slot.turns.count));
        if is_closed {
            return runtime.monitor.disable();
        }
        if runtime.options.get().weighs && Locals::are_due_at_back_edge(count) {
            let mut locals = state.locals.borrow_mut();
            locals.note(frame, state.shape.nlocalsplus);
            state.sites.borrow_mut().note(&state.shape);
        }
        match worth::of_back_edge(gil, &state, pos) {
            Verdict::Compile => {}
            Verdict::Pause => return runtime.monitor.disable(),
            Verdict::Count => return none(),
        }
        let shape = state.shape;
        if shape.is_generator() {
            if compiling::is_waiting(gil, &state) {
                return none();
            }
            // The loop continues natively when its generator is next resumed.
            let live = live_types(gil, frame, &shape, 0);
            let func: Object = slots::function(frame);
            return match compiling::compile_function(gil, func, &live) {
                Err(Refusal::Busy) => none(),
                _ => {
                    state_of(gil, code).with_loop(pos, |slot| slot.closed = true);
                    runtime.monitor.disable()
                }
            };
        }
        // A function with a hot loop is hot: it is compiled when it starts again, because the code
        // after the loop has not been observed yet.
        state.set_pays(gil);
        enter_loop(gil, ts, frame, shape, pos)
    }
}

/// The type of the iterator that takes the place of a container with an index on the stack when
/// compiled code takes over the frame.
fn iterator_of(container: Type) -> Type {
    if container <= Type::LIST_EXACT {
        Type::LIST_ITER
    } else if container <= Type::TUPLE_EXACT {
        Type::TUPLE_ITER
    } else {
        Type::OBJECT
    }
}

/// Types of a frame's locals, and of `depth` entries of its stack.
unsafe fn live_types(gil: Gil, frame: Frame, shape: &CodeShape, depth: u32) -> Vec<Type> {
    let live_type = gil.runtime().front.live_type;
    (0..shape.nlocalsplus + depth as i32)
        // SAFETY: these slots hold objects or null, or an index above a container.
        .map(|slot| unsafe {
            let place = f::LOCALSPLUS + 8 * slot;
            let ty = live_type(slots::get(frame, place));
            let is_last = slot + 1 == shape.nlocalsplus + depth as i32;
            if slot < shape.nlocalsplus || is_last || !slots::is_iterated(frame, place) {
                ty
            } else {
                iterator_of(ty)
            }
        })
        .collect()
}

/// Continues natively in the interpreter's frame at `pos`, if possible. Returns the result of the
/// callback.
unsafe fn enter_loop(gil: Gil, ts: Thread, frame: Frame, shape: CodeShape, pos: u32) -> Object {
    // SAFETY: the frame is the innermost one, and the interpreter is in a monitoring callback for
    // it.
    unsafe {
        let stacktop: i32 = state::depth(frame);
        let kind = Kind::Loop {
            pos,
            depth: (stacktop - shape.nlocalsplus) as u32,
        };
        if is_observed(gil, &shape) {
            return none();
        }
        if !is_fit(ts, frame, &shape) {
            state_of(gil, shape.code).with_loop(pos, |slot| {
                slot.misfits += 1;
                slot.closed |= slot.misfits > MAX_MISFITS;
            });
            return none();
        }
        let (globals, builtins): (Object, Object) =
            (get(frame, f::GLOBALS), get(frame, f::BUILTINS));
        // If the frame's names are in the globals, it is at the top of a module.
        let at_top = !shape.optimized()
            && get::<Object>(frame, f::LOCALS) == globals
            && PyDict_CheckExact(globals) != 0;
        let state = state_of(gil, shape.code);
        let unit = match state.loop_unit(kind, globals, builtins, at_top) {
            Some(unit) => unit,
            None if compiling::is_waiting(gil, &state) => return none(),
            None => {
                let Kind::Loop { depth, .. } = kind else {
                    return none();
                };
                let live = live_types(gil, frame, &shape, depth);
                let function: Object = slots::function(frame);
                let compiled = compiling::compile_loop(
                    gil, shape, globals, builtins, kind, at_top, &live, function,
                );
                match compiled {
                    Ok(unit) => unit,
                    Err(Refusal::Lasting(_)) => return gil.runtime().monitor.disable(),
                    Err(Refusal::Busy) => return none(),
                }
            }
        };
        // An inlined function may be observed by now.
        if !is_unit_observed(gil, &*unit) && slots::hide(frame, stacktop) {
            run_loop(gil, ts, frame, &shape, unit);
        }
        none()
    }
}

/// True if a unit can borrow a frame: it must be the thread's newest, with room behind it, and
/// without other users.
unsafe fn is_fit(ts: Thread, frame: Frame, shape: &CodeShape) -> bool {
    // SAFETY: the frame is the innermost one of the thread.
    unsafe {
        if get::<u8>(frame, f::OWNER) != f::OWNED_BY_THREAD as u8
            || frames::native_token(frame).is_some()
        {
            return false;
        }
        if get::<i32>(ts, t::TRACING) != 1 || abi::recursion::is_native_low(ts) {
            return false;
        }
        let end = frame.add(8 * shape.framesize as usize);
        let limit: *mut u8 = get(ts, t::DATASTACK_LIMIT);
        // A frame that a unit pushed has the room already.
        let top: *mut u8 = get(ts, t::DATASTACK_TOP);
        let room = end.add(8 * shape.extra_words() as usize);
        if top != end && top != room || room >= limit {
            return false;
        }
        // A frame object to which only the frame refers (an exception passed through here once)
        // does not matter.
        let object: Object = get(frame, f::FRAME_OBJ);
        if object.is_null() {
            return true;
        }
        if !frames::is_unshared(object) {
            return false;
        }
        put::<Object>(frame, f::FRAME_OBJ, std::ptr::null_mut());
        Py_DECREF(object);
        true
    }
}

/// Runs a loop unit on a fit frame, and leaves the frame in the state in which the interpreter is
/// to continue.
unsafe fn run_loop(gil: Gil, ts: Thread, frame: Frame, shape: &CodeShape, unit: UnitRef) {
    // SAFETY: the unit is valid, and kept alive while it runs; it borrows the frame until the call
    // returns.
    unsafe {
        (*unit).entries.set((*unit).entries.get() + 1);
        let entries = &gil.runtime().totals.loop_entries;
        entries.update(|entries| entries + 1);
        (*unit).checked.pending.set(abi::eval_breaker::version(ts));
        let end = frame.add(8 * shape.framesize as usize);
        let top: *mut u8 = get(ts, t::DATASTACK_TOP);
        put(
            ts,
            t::DATASTACK_TOP,
            end.add(8 * shape.extra_words() as usize),
        );
        let token = shape.behind() + shape.token();
        put::<u64>(frame, token, (*unit).token());
        let return_offset: u16 = state::mark(frame);
        state::set_mark(frame, frames::NATIVE);
        // The unit moves the stack entries out; the frame must not show them meanwhile.
        state::set_depth(frame, shape.nlocalsplus);
        // The program must not observe that the interpreter is in a callback.
        let (tracing, what): (i32, i32) = (get(ts, t::TRACING), get(ts, t::WHAT_EVENT));
        put::<i32>(ts, t::TRACING, tracing - 1);
        put::<i32>(ts, t::WHAT_EVENT, NO_EVENT);

        let entry: unsafe extern "C" fn(Thread, Frame) -> Object =
            std::mem::transmute((*unit).entry());
        let result = entry(ts, frame);
        if result as usize != exits::GO_ON && !result.is_null() {
            frames::keep_locals(frame);
        }
        (*unit).leave();
        put::<i32>(ts, t::TRACING, tracing);
        put::<i32>(ts, t::WHAT_EVENT, what);
        state::set_mark(frame, return_offset);
        put(ts, t::DATASTACK_TOP, top);
        if result as usize == exits::GO_ON {
            return;
        }
        slots::show(frame, shape.nlocalsplus);
        if result.is_null() {
            exits::raise_from(frame, shape);
            return;
        }
        return_from(frame, shape, result);
    }
}

/// Lets the interpreter return `result`. If the frame is at an instruction that returns, that one
/// is used: tracebacks that refer to the frame show its last position.
unsafe fn return_from(frame: Frame, shape: &CodeShape, result: Object) {
    // SAFETY: the frame is borrowed from the interpreter, its stack empty, its position in its
    // code.
    unsafe {
        let at: *const u8 = get(frame, f::INSTR_PTR);
        let returns = code_units::returns(at);
        if returns == Returns::Constant {
            state::set_depth(frame, shape.nlocalsplus);
            Py_DECREF(result);
            return;
        }
        slots::put(frame, f::LOCALSPLUS + 8 * shape.nlocalsplus, result);
        state::set_depth(frame, shape.nlocalsplus + 1);
        if returns != Returns::Top {
            put::<*const c_void>(frame, f::INSTR_PTR, code_units::return_unit().cast());
        }
    }
}
