//! Pauses in counting: code that is not worth compiling yet is not listened to for a while.
//!
//! Each event costs an interpreted call or back edge more than half of what it takes itself. So what does not pay after some
//! hundred of them is left alone ([`Step::Pause`]: the event is disabled there) until it is likely to: at the rate that it was
//! executed at so far. Then all events are enabled again (`sys.monitoring.restart_events`), a few more are counted, and those that
//! went unheard are estimated by the lower of the two rates.
//!
//! A worker keeps the time, and asks the interpreter for a pending call. Other tools have their disabled events enabled as
//! well by that; so it is not done while there are others.

use super::Gil;
use super::abi::eval_breaker;
use super::{compiling, monitoring};
use pyo3_ffi::*;
use std::cell::Cell;
use std::ffi::c_void;
use std::ptr::null_mut;
use std::time::{Duration, Instant};

/// Events of one place that are counted before the first pause.
const EXACT: u64 = 100;
/// Calls or back edges until it pays, if all goes on as before, for which no pause is made: to count them costs less than to be late.
pub const FEW_CALLS: u64 = 4_000;
pub const FEW_TURNS: u64 = 12_000;
/// Events that are counted after a pause, to see how often there are any.
const AGAIN: u64 = 64;
/// A pause that would be longer than this lasts until another one ends.
const LONGEST: u64 = 60_000_000_000;
/// Time between two ends of pauses: at first, at last, and what it grows by, in percent.
const FIRST_GAP: u64 = 10_000_000;
const LAST_GAP: u64 = 1_000_000_000;
const GROWTH: u64 = 120;

/// What is counted of one kind of event at one place.
#[derive(Clone, Copy, Default)]
pub struct Counter {
    /// How many there were, as far as is known.
    pub count: u64,
    /// How many there are when it is next weighed whether compiling pays.
    look_at: u64,
    pause: Option<Pause>,
}

#[derive(Clone, Copy)]
struct Pause {
    /// When it began.
    since: u64,
    /// When it may end.
    until: u64,
    /// What was counted before.
    count: u64,
}

/// What an event asks for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Step {
    /// Nothing.
    Count,
    /// To weigh whether compiling pays.
    Look,
    /// To hear no more of it for now.
    Pause,
}

/// The pauses of the process.
pub struct Pauses {
    origin: Instant,
    /// When events were enabled last.
    resumed: Cell<u64>,
    /// When they are to be enabled next.
    next: Cell<Option<u64>>,
    gap: Cell<u64>,
}

impl Default for Pauses {
    fn default() -> Pauses {
        Pauses {
            origin: Instant::now(),
            resumed: Cell::new(0),
            next: Cell::new(None),
            gap: Cell::new(FIRST_GAP),
        }
    }
}

impl Pauses {
    /// Nanoseconds since the start; never 0.
    pub fn now(&self) -> u64 {
        self.origin.elapsed().as_nanos() as u64 + 1
    }

    /// Nobody keeps the time that was asked for any more: all pauses end.
    pub fn after_fork(&self) {
        self.next.set(None);
        // SAFETY: the lock is held, so the interpreter is there. Without room, the next pause ends this one as well.
        unsafe { eval_breaker::ask_for_call(resume) };
    }

    /// See to it that all pauses end as soon as they may.
    pub fn end_soon(&self, gil: Gil) {
        self.end_at(gil, self.now());
    }

    /// See to it that a pause ends.
    fn end_at(&self, gil: Gil, until: u64) {
        if until == u64::MAX {
            return;
        }
        let until = until.max(self.resumed.get() + self.gap.get());
        if self.next.get().is_none_or(|next| until < next) {
            self.next.set(Some(until));
            let at = self.origin + Duration::from_nanos(until);
            gil.runtime().workers.wake_at(at, resume);
        }
    }
}

impl Counter {
    /// Whether events go unheard, or did until a moment ago.
    pub fn is_paused(&self) -> bool {
        self.pause.is_some()
    }

    /// The number of the next event that is more than counted, the first time at `first`.
    pub fn next(&self, first: u64) -> u64 {
        match self.pause {
            None => self.look_at.max(first),
            Some(_) => 0,
        }
    }

    /// Count an event of what began at `began`. Gives what it was multiplied by as well, where events went unheard.
    pub fn step(&mut self, gil: Gil, began: u64, first: u64) -> (Step, Option<f64>) {
        self.count += 1;
        let Some(pause) = self.pause else {
            let is_due = self.count >= self.look_at.max(first);
            return (if is_due { Step::Look } else { Step::Count }, None);
        };
        let pauses = &gil.runtime().pauses;
        let resumed = pauses.resumed.get();
        if pause.since >= resumed {
            return (Step::Pause, None);
        }
        if pause.until > resumed {
            pauses.end_at(gil, pause.until);
            return (Step::Pause, None);
        }
        let again = self.count - pause.count;
        if again < AGAIN {
            return (Step::Count, None);
        }
        let rate = |count: u64, time: u64| count as f64 / time.max(1) as f64;
        let before = rate(pause.count, pause.since - began.min(pause.since));
        let after = rate(again, pauses.now() - resumed);
        let unheard = before.min(after) * (resumed - pause.since) as f64;
        let known = self.count;
        self.count += unheard as u64;
        self.pause = None;
        (Step::Look, Some(self.count as f64 / known as f64))
    }

    /// Take over what another count of the same code was multiplied by, if this one has gone unheard as well.
    pub fn grow(&mut self, gil: Gil, by: f64) {
        let resumed = gil.runtime().pauses.resumed.get();
        if let Some(pause) = &mut self.pause
            && pause.since < resumed
        {
            self.count = (self.count as f64 * by) as u64;
            pause.count = self.count;
            pause.since = resumed - 1;
        }
    }

    /// Say that a `share` (in percent) of what would pay was reached: go on counting, if there are `few` events to come, or pause.
    pub fn missed(&mut self, gil: Gil, began: u64, share: i64, few: u64) -> Step {
        let missing = 100 * 100 / share.max(1) as u64;
        self.look_at = self.count * missing.clamp(125, 400) / 100;
        let is_near = share > 0 && self.count.saturating_mul(missing) / 100 <= few;
        if self.count < EXACT || is_near || !compiling::keep_time(gil) {
            return Step::Count;
        }
        let pauses = &gil.runtime().pauses;
        let now = pauses.now();
        let needed = (now - began.min(now)).saturating_mul(missing - 100) / 100;
        let until = match needed {
            needed if share > 0 && needed < LONGEST => now + needed,
            _ => u64::MAX,
        };
        self.pause = Some(Pause {
            since: now,
            until,
            count: self.count,
        });
        pauses.end_at(gil, until);
        Step::Pause
    }
}

/// The pending call at the end of a pause.
extern "C" fn resume(_: *mut c_void) -> std::ffi::c_int {
    // SAFETY: the interpreter makes pending calls with its lock held.
    let gil = unsafe { Gil::held() };
    let Some(runtime) = gil.started() else {
        return 0;
    };
    let pauses = &runtime.pauses;
    pauses.next.set(None);
    if !runtime.on.get() || runtime.finished.get() {
        return 0;
    }
    let now = pauses.now();
    if monitoring::has_others(gil) {
        pauses.gap.set(LAST_GAP);
        pauses.end_at(gil, now + LAST_GAP);
        return 0;
    }
    pauses.resumed.set(now);
    pauses
        .gap
        .set((pauses.gap.get() * GROWTH / 100).min(LAST_GAP));
    // SAFETY: the lock is held, and no exception is pending between two instructions.
    unsafe {
        let sys = PyImport_ImportModule(c"sys".as_ptr());
        if !sys.is_null() {
            let monitoring = PyObject_GetAttrString(sys, c"monitoring".as_ptr());
            if !monitoring.is_null() {
                let name = c"restart_events".as_ptr();
                Py_XDECREF(PyObject_CallMethod(monitoring, name, null_mut()));
                Py_DECREF(monitoring);
            }
            Py_DECREF(sys);
        }
        PyErr_Clear();
    }
    0
}
