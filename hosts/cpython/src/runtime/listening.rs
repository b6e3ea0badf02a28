//! The code that is monitored: code that a clock finds running.
//!
//! Each event of `sys.monitoring` costs a call or a back edge more than half of its own time, and
//! most code of a program never pays off to compile. So at first no code is monitored. A worker
//! watches a clock: for every millisecond of processor time that the program has used, it requests
//! a pending call from the interpreter, which records the code of the innermost frame. Code that
//! was observed [twice](MONITORED_AT) gets its own events enabled; they count executions and lead to
//! compiles. Code that does not pay after some hundred events is not monitored until it is likely
//! to ([`Counter`](super::pauses::Counter)), and then again from the next time that it is observed.
//!
//! The sample is biased. The interpreter makes pending calls at the start of a function and at a
//! back edge, so a function is sampled there for the time since the last such place: in `def f():
//! text.split(); g()` the time of `split` is attributed to `g`. The exact counts of the events
//! correct that before anything is compiled.
//!
//! If no worker keeps the time, or the user has set a threshold of calls, all code is monitored.

use super::abi::eval_breaker;
use super::abi::monitoring::{JUMP, PY_START, STOP_ITERATION};
use super::capi::*;
use super::function_state::{CodeState, state_of};
use super::monitoring::Monitor;
use super::workers::AFTER_FORK;
use super::{Gil, abi, frames, local_events};
use abi::{frame as f, thread as t};
use pyo3_ffi::{
    Py_DECREF, Py_NewRef, Py_XDECREF, PyCode_Check, PyErr_WriteUnraisable, PyObject_CallNoArgs,
};
use std::cell::{Cell, RefCell};
use std::ffi::{c_int, c_void};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

/// Number of observations after which code is monitored.
const MONITORED_AT: u32 = 2;

/// Number of frames, from the innermost one, whose code is observed at a tick; the interpreter's
/// entry frames do not count.
const MAX_FRAMES: usize = 2;

/// The events of monitored code. The last one has no callback; it is there for [`Monitor`]'s second
/// tool.
pub const EVENTS: c_int = 1 << PY_START | 1 << JUMP | 1 << STOP_ITERATION;

/// The monitored code of this process.
#[derive(Default)]
pub struct Listening {
    /// True if the clock selects the code.
    is_sampled: Cell<bool>,
    /// Code whose events are to be enabled again without a further observation, by address.
    wanted: RefCell<Vec<usize>>,
    /// Functions to be called later, and the times.
    later: RefCell<Vec<(Instant, Object)>>,
    /// Number of ticks of the clock.
    ticks: Cell<u32>,
}

/// Ticks between two checks of the functions that the user asked to compile.
const TICKS_BETWEEN_LOOKS: u32 = 1024;

/// True while a requested call was not made yet.
static IS_REQUESTED: AtomicBool = AtomicBool::new(false);

impl Listening {
    /// True if code is monitored once it was observed; false if all code is.
    pub fn is_sampled(&self) -> bool {
        self.is_sampled.get()
    }

    /// True if the mode is the one that the options ask for.
    pub fn is_as_wanted(&self, gil: Gil) -> bool {
        self.is_sampled.get() == is_wanted(gil)
    }

    /// Lets the clock select from now on, if the options ask for that and a worker keeps the time.
    /// Returns true if it does.
    pub fn start(&self, gil: Gil) -> bool {
        let workers = &gil.runtime().workers;
        if is_wanted(gil) {
            workers.start(gil);
        }
        let is_sampled = is_wanted(gil) && workers.are_there();
        self.is_sampled.set(is_sampled);
        IS_REQUESTED.store(false, Ordering::Relaxed);
        if is_sampled {
            workers.tick(request_tick);
        }
        is_sampled
    }

    /// Stops monitoring.
    pub fn stop(&self, gil: Gil) {
        gil.runtime().workers.stop_ticking();
        self.is_sampled.set(false);
        if gil.runtime().finished.get() {
            // The interpreter drops all of it.
            return;
        }
        let codes: Vec<_> = gil.runtime().codes.borrow().values().cloned().collect();
        for state in codes {
            if state.is_monitored.replace(false) {
                local_events::set(gil, state.shape.code, 0);
            }
        }
    }

    /// A fork is over, and there is no worker. In the child one may be started at once; in the
    /// parent, the next start of any function leads to one, except functions that belong to the
    /// fork.
    pub fn after_fork(&self, gil: Gil, in_child: bool) {
        if !self.is_sampled.get() {
            return;
        }
        IS_REQUESTED.store(false, Ordering::Relaxed);
        if in_child {
            gil.runtime().workers.start(gil)
        } else {
            Monitor::listen_to_all(gil, true)
        }
    }

    /// Starts a worker that keeps the time, where all code is monitored until there is one.
    pub fn keep_time(&self, gil: Gil) {
        let workers = &gil.runtime().workers;
        workers.start(gil);
        if workers.are_there() {
            Monitor::listen_to_all(gil, false);
        }
    }

    /// Calls a Python function after the clock has ticked for a while: longer than a fork takes to
    /// finish. Calls it at once if the clock does not tick.
    ///
    /// # Safety
    /// The caller has the GIL; a live object.
    pub unsafe fn call_later(&self, func: Object) {
        // SAFETY: the caller's promise; the list owns a reference.
        unsafe {
            let func = Py_NewRef(func);
            if self.is_sampled.get() {
                self.later
                    .borrow_mut()
                    .push((Instant::now() + AFTER_FORK, func))
            } else {
                call(func)
            }
        }
    }

    /// Calls the functions that are due.
    fn call_what_is_due(&self) {
        if self.later.borrow().is_empty() {
            return;
        }
        let now = Instant::now();
        let (due, later) = self
            .later
            .take()
            .into_iter()
            .partition(|(at, _)| *at <= now);
        self.later.replace(later);
        let due: Vec<(Instant, Object)> = due;
        for (_, func) in due {
            // SAFETY: the list owned a reference, and this thread has the GIL in pending calls.
            unsafe { call(func) };
        }
    }

    /// Monitors interpreted starts of a generator's code that has a unit: each reveals a consumer
    /// that does not [find the unit](super::generators::lead_consumer).
    pub fn monitor_starts(&self, gil: Gil, code: Object) {
        if self.is_sampled.get()
            && let Some(state) = gil.runtime().state(code)
        {
            hear(gil, &state);
        }
    }

    /// Monitors code again soon that did not pay before.
    pub fn want(&self, state: &CodeState) {
        if self.is_sampled.get() {
            self.wanted.borrow_mut().push(state.shape.code as usize);
        }
    }
}

/// True if the options let the clock select the code.
fn is_wanted(gil: Gil) -> bool {
    let options = gil.runtime().options.get();
    options.weighs && options.works_beside()
}

/// Calls a function, and drops the reference to it. An exception of the function has no caller to
/// go to.
///
/// # Safety
/// The caller has the GIL, and the reference is the caller's.
unsafe fn call(func: Object) {
    // SAFETY: the caller's promise.
    unsafe {
        let result = PyObject_CallNoArgs(func);
        if result.is_null() {
            PyErr_WriteUnraisable(func);
        }
        Py_XDECREF(result);
        Py_DECREF(func);
    }
}

/// Requests [`tick`], unless it is requested already. Called by workers.
///
/// # Safety
/// The interpreter is not being taken down.
unsafe fn request_tick() {
    if !IS_REQUESTED.swap(true, Ordering::Relaxed) {
        // SAFETY: the caller's promise.
        let is_asked = unsafe { eval_breaker::ask_for_call(tick) };
        if !is_asked {
            // The queue is full: other pending calls come first.
            IS_REQUESTED.store(false, Ordering::Relaxed);
        }
    }
}

/// The pending call: records the code that is running.
extern "C" fn tick(_: *mut c_void) -> c_int {
    IS_REQUESTED.store(false, Ordering::Relaxed);
    // SAFETY: the interpreter makes pending calls with its lock held.
    let gil = unsafe { Gil::held() };
    let Some(runtime) = gil.started() else {
        return 0;
    };
    if !runtime.on.get() || runtime.finished.get() || runtime.quiet.get() != 0 {
        return 0;
    }
    if runtime
        .listening
        .ticks
        .get()
        .is_multiple_of(TICKS_BETWEEN_LOOKS)
    {
        runtime.advice.look(gil);
        runtime.advice.tell(gil);
    }
    runtime.recording.resume();
    runtime.listening.call_what_is_due();
    runtime
        .listening
        .ticks
        .update(|ticks| ticks.wrapping_add(1));
    for code in runtime.listening.wanted.take() {
        if let Some(state) = runtime.state(code as Object) {
            hear(gil, &state);
        }
    }
    // SAFETY: the frames of the running thread, and its code objects, are alive.
    unsafe {
        let mut frame: Frame = get(current_thread(), t::CURRENT_FRAME);
        let mut left = MAX_FRAMES;
        while !frame.is_null() && left > 0 {
            let code: Object = abi::slots::code(frame);
            if !abi::frames::is_entry(frame) && PyCode_Check(code) != 0 {
                if frames::native_token(frame).is_some() {
                    break;
                }
                left -= 1;
                observe(gil, code);
            }
            frame = get(frame, f::PREVIOUS);
        }
    }
    0
}

/// Records that code is running interpreted.
///
/// # Safety
/// It is a code object.
unsafe fn observe(gil: Gil, code: Object) {
    // SAFETY: the caller's promise.
    let state = unsafe { state_of(gil, code) };
    let times = state.met.get().saturating_add(1);
    state.met.set(times);
    let is_due = if state.is_monitored.get() {
        gil.runtime().pauses.now() >= state.monitor_at.get()
    } else {
        times >= MONITORED_AT
    };
    let is_refused = state.refused.get().is_some() && state.loops_refused.get().is_some();
    if is_due && !is_refused {
        hear(gil, &state);
    }
}

/// Enables the events of code, including those that were disabled because it did not pay.
fn hear(gil: Gil, state: &CodeState) {
    let code = state.shape.code;
    if state.is_monitored.replace(true) {
        local_events::set(gil, code, 0);
    }
    state.monitor_at.set(u64::MAX);
    state.monitored_since.set(gil.runtime().pauses.now());
    local_events::set(gil, code, EVENTS);
}
