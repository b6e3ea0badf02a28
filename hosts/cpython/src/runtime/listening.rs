//! Which code is listened to: what a clock finds running.
//!
//! Each event of `sys.monitoring` costs a call or a back edge more than half of what it takes itself, and most code of a program is never
//! worth compiling. So nothing is listened to at first. A worker looks at a clock: every millisecond in which the program has used a processor,
//! it asks the interpreter for a pending call, which notes what code the innermost frame is of. Code that was met [twice](HEARD_AT) has its own
//! events enabled; they count what is done and lead to compiles. What does not pay after some hundred events is not listened to until it is
//! likely to ([`Counter`](super::pauses::Counter)), and then from the next time that it is met.
//!
//! The sample is biased. The interpreter makes pending calls at the start of a function and at a back edge, so a function is sampled there
//! for the time since the last such place: in `def f(): text.split(); g()` it is `g` that is sampled for the time of `split`. The
//! exact counts of the events correct that before anything is compiled.
//!
//! Where no worker keeps the time, or there is a threshold to be counted to, all code is listened to.

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

/// How often code is met before it is listened to.
const HEARD_AT: u32 = 2;

/// Frames from the innermost one whose code is met at one time, entry frames of the interpreter aside.
const MOST_FRAMES: usize = 2;

/// The events of code that is listened to: the last one is never heard, and there for [`Monitor`]'s second tool.
pub const EVENTS: c_int = 1 << PY_START | 1 << JUMP | 1 << STOP_ITERATION;

/// What is listened to in this process.
#[derive(Default)]
pub struct Listening {
    /// Whether it is chosen by the clock.
    is_sampled: Cell<bool>,
    /// Code whose events are to be enabled again without waiting until it is met, by address.
    wanted: RefCell<Vec<usize>>,
    /// Functions that are to be called, and when.
    later: RefCell<Vec<(Instant, Object)>>,
    /// How often the clock has ticked.
    ticks: Cell<u32>,
}

/// Ticks between two looks at the functions that the user asked for.
const TICKS_BETWEEN_LOOKS: u32 = 1024;

/// Whether the call that was asked for was not made yet.
static IS_ASKED: AtomicBool = AtomicBool::new(false);

impl Listening {
    /// Whether code is listened to once it was met, and not all of it.
    pub fn is_sampled(&self) -> bool {
        self.is_sampled.get()
    }

    /// Whether the options want what is done.
    pub fn is_as_wanted(&self, gil: Gil) -> bool {
        self.is_sampled.get() == is_wanted(gil)
    }

    /// Choose by the clock from now on, if the options want that and a worker keeps the time. Gives whether it is so.
    pub fn start(&self, gil: Gil) -> bool {
        let workers = &gil.runtime().workers;
        if is_wanted(gil) {
            workers.start(gil);
        }
        let is_sampled = is_wanted(gil) && workers.are_there();
        self.is_sampled.set(is_sampled);
        IS_ASKED.store(false, Ordering::Relaxed);
        if is_sampled {
            workers.tick(ask);
        }
        is_sampled
    }

    /// Listen to nothing any more.
    pub fn stop(&self, gil: Gil) {
        gil.runtime().workers.tick_no_more();
        self.is_sampled.set(false);
        if gil.runtime().finished.get() {
            // The interpreter drops all of it.
            return;
        }
        let codes: Vec<_> = gil.runtime().codes.borrow().values().cloned().collect();
        for state in codes {
            if state.is_heard.replace(false) {
                local_events::set(gil, state.shape.code, 0);
            }
        }
    }

    /// A fork is over, and there is no worker. In the child one may be started at once; in the parent, the next start of any function leads to
    /// one, but for those that belong to the fork.
    pub fn after_fork(&self, gil: Gil, in_child: bool) {
        if !self.is_sampled.get() {
            return;
        }
        IS_ASKED.store(false, Ordering::Relaxed);
        match in_child {
            true => gil.runtime().workers.start(gil),
            false => Monitor::listen_to_all(gil, true),
        }
    }

    /// See to it that a worker keeps the time, where all code is listened to until one does.
    pub fn keep_time(&self, gil: Gil) {
        let workers = &gil.runtime().workers;
        workers.start(gil);
        if workers.are_there() {
            Monitor::listen_to_all(gil, false);
        }
    }

    /// Call a function of Python's when the clock has ticked for a while: longer than a fork takes to end. At once if it does not tick.
    ///
    /// # Safety
    /// The GIL is held; a live object.
    pub unsafe fn call_later(&self, func: Object) {
        // SAFETY: the caller's promise; the list has a reference.
        unsafe {
            let func = Py_NewRef(func);
            match self.is_sampled.get() {
                true => self
                    .later
                    .borrow_mut()
                    .push((Instant::now() + AFTER_FORK, func)),
                false => call(func),
            }
        }
    }

    /// Call what is due.
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
            // SAFETY: the list had a reference, and the GIL is held in pending calls.
            unsafe { call(func) };
        }
    }

    /// Hear of interpreted starts of a generator's code that has a unit: each shows a consumer that does not
    /// [find the unit](super::generators::lead_consumer).
    pub fn hear_starts(&self, gil: Gil, code: Object) {
        if self.is_sampled.get()
            && let Some(state) = gil.runtime().state(code)
        {
            hear(gil, &state);
        }
    }

    /// Listen to code again soon, which was not worth it.
    pub fn want(&self, state: &CodeState) {
        if self.is_sampled.get() {
            self.wanted.borrow_mut().push(state.shape.code as usize);
        }
    }
}

/// Whether the options want code to be chosen by the clock.
fn is_wanted(gil: Gil) -> bool {
    let options = gil.runtime().options.get();
    options.weighs && options.works_beside()
}

/// Call a function, and give up the reference to it. What it raises has no caller to go to.
///
/// # Safety
/// The GIL is held, and the reference is the caller's.
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

/// Ask for [`tick`], unless it is asked for already. Called by workers.
///
/// # Safety
/// The interpreter is not being taken down.
unsafe fn ask() {
    if !IS_ASKED.swap(true, Ordering::Relaxed) {
        // SAFETY: the caller's promise.
        let is_asked = unsafe { eval_breaker::ask_for_call(tick) };
        if !is_asked {
            // There are others to be made before.
            IS_ASKED.store(false, Ordering::Relaxed);
        }
    }
}

/// The pending call: notes what is running.
extern "C" fn tick(_: *mut c_void) -> c_int {
    IS_ASKED.store(false, Ordering::Relaxed);
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
        let mut left = MOST_FRAMES;
        while !frame.is_null() && left > 0 {
            let code: Object = abi::slots::code(frame);
            if !abi::frames::is_entry(frame) && PyCode_Check(code) != 0 {
                if frames::native_token(frame).is_some() {
                    break;
                }
                left -= 1;
                met(gil, code);
            }
            frame = get(frame, f::PREVIOUS);
        }
    }
    0
}

/// Code is running interpreted.
///
/// # Safety
/// It is a code object.
unsafe fn met(gil: Gil, code: Object) {
    // SAFETY: the caller's promise.
    let state = unsafe { state_of(gil, code) };
    let times = state.met.get().saturating_add(1);
    state.met.set(times);
    let is_due = match state.is_heard.get() {
        false => times >= HEARD_AT,
        true => gil.runtime().pauses.now() >= state.hear_at.get(),
    };
    let is_refused = state.refused.get().is_some() && state.loops_refused.get().is_some();
    if is_due && !is_refused {
        hear(gil, &state);
    }
}

/// Enable the events of code, those as well that were disabled where it did not pay.
fn hear(gil: Gil, state: &CodeState) {
    let code = state.shape.code;
    if state.is_heard.replace(true) {
        local_events::set(gil, code, 0);
    }
    state.hear_at.set(u64::MAX);
    state.heard.set(gil.runtime().pauses.now());
    local_events::set(gil, code, EVENTS);
}
