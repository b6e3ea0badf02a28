//! Pauses in counting: code that does not pay to compile yet is not monitored for a while.
//!
//! Code that does not pay after some hundred events is paused ([`Step::Pause`]: the event is
//! disabled there) until compiling is likely to pay, at the rate of execution so far. When the code
//! is [observed](super::listening) after that, its events are enabled again and a few more are
//! counted. The number of missed events is estimated from the lower of the two rates.

use super::Gil;
use super::function_state::CodeState;
use std::time::Instant;

/// Events of one place that are counted before the first pause.
const EXACT: u64 = 100;
/// If compiling would pay after this many more calls or back edges at the present rate, there is no
/// pause: counting them costs less than compiling late.
pub const FEW_CALLS: u64 = 4_000;
pub const FEW_ITERATIONS: u64 = 12_000;
/// Events that are counted after a pause, to measure the rate.
const AGAIN: u64 = 64;
/// The longest pause, in nanoseconds. Code that seems not to pay may later be called with larger
/// data or other classes.
const LONGEST: u64 = 60_000_000_000;
/// The count of one kind of event at one place.
#[derive(Clone, Copy, Default)]
pub struct Counter {
    /// Number of events, as far as known.
    pub count: u64,
    /// The count at which the cost model is next consulted.
    look_at: u64,
    pause: Option<Pause>,
}

#[derive(Clone, Copy)]
struct Pause {
    /// The time at which it began.
    since: u64,
    /// The earliest time at which it ends.
    until: u64,
    /// The count when it began.
    count: u64,
}

/// The reaction to an event.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Step {
    /// Only count it.
    Count,
    /// Consult the cost model.
    Look,
    /// Disable the event for now.
    Pause,
}

/// The clock of the process.
pub struct Pauses {
    origin: Instant,
}

impl Default for Pauses {
    fn default() -> Pauses {
        Pauses {
            origin: Instant::now(),
        }
    }
}

impl Pauses {
    /// Nanoseconds since the start; never 0.
    pub fn now(&self) -> u64 {
        self.origin.elapsed().as_nanos() as u64 + 1
    }
}

/// The times since which code is monitored.
#[derive(Clone, Copy)]
pub struct Since {
    /// For the first time.
    pub began: u64,
    /// After the last pause.
    pub monitored_since: u64,
}

impl Counter {
    /// True if events are missed, or were until now.
    pub fn is_paused(&self) -> bool {
        self.pause.is_some()
    }

    /// The number of the next event that is not only counted; at least `first`.
    pub fn next(&self, first: u64) -> u64 {
        match self.pause {
            None => self.look_at.max(first),
            Some(_) => 0,
        }
    }

    /// Counts an event. If events were missed, also returns the factor by which the count was
    /// corrected.
    pub fn step(&mut self, gil: Gil, state: &CodeState, first: u64) -> (Step, Option<f64>) {
        self.count += 1;
        let Some(pause) = self.pause else {
            let is_due = self.count >= self.look_at.max(first);
            return (if is_due { Step::Look } else { Step::Count }, None);
        };
        let pauses = &gil.runtime().pauses;
        let Since {
            began,
            monitored_since,
        } = state.since(gil);
        if pause.since >= monitored_since {
            return (Step::Pause, None);
        }
        if pause.until > monitored_since {
            state.monitor_again(pause.until);
            return (Step::Pause, None);
        }
        let again = self.count - pause.count;
        if again < AGAIN {
            return (Step::Count, None);
        }
        let rate = |count: u64, time: u64| count as f64 / time.max(1) as f64;
        let before = rate(pause.count, pause.since - began.min(pause.since));
        let after = rate(again, pauses.now() - monitored_since);
        let unheard = before.min(after) * (monitored_since - pause.since) as f64;
        let known = self.count;
        self.count += unheard as u64;
        self.pause = None;
        (Step::Look, Some(self.count as f64 / known as f64))
    }

    /// Applies the correction factor of another count of the same code, if this one has missed
    /// events too.
    pub fn grow(&mut self, monitored_since: u64, by: f64) {
        if let Some(pause) = &mut self.pause
            && pause.since < monitored_since
        {
            self.count = (self.count as f64 * by) as u64;
            pause.count = self.count;
            pause.since = monitored_since - 1;
        }
    }

    /// A `share` of the gain that compiling needs was reached: continues to count if there are
    /// `few` events to come, or pauses.
    pub fn missed(&mut self, gil: Gil, state: &CodeState, share: f64, few: u64) -> Step {
        // The factor by which the count has to grow; infinite if native code seems to save nothing.
        let missing = if share > 0.0 {
            1.0 / share
        } else {
            f64::INFINITY
        };
        self.look_at = (self.count as f64 * missing.clamp(1.25, 4.0)) as u64;
        let is_near = self.count as f64 * missing <= few as f64;
        if self.count < EXACT || is_near || !gil.runtime().listening.is_sampled() {
            return Step::Count;
        }
        let Since { began, .. } = state.since(gil);
        let now = gil.runtime().pauses.now();
        let needed = (now - began.min(now)) as f64 * (missing - 1.0);
        // The conversion from a float saturates.
        let until = now + (needed as u64).min(LONGEST);
        self.pause = Some(Pause {
            since: now,
            until,
            count: self.count,
        });
        state.monitor_again(until);
        Step::Pause
    }
}
