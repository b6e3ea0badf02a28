//! Pauses in counting: code that is not worth compiling yet is not listened to for a while.
//!
//! What does not pay after some hundred events is left alone ([`Step::Pause`]: the event is disabled there) until it is likely to: at the
//! rate that it was executed at so far. When it is [met](super::listening) after that, its events are enabled again, a few more are
//! counted, and those that went unheard are estimated by the lower of the two rates.

use super::Gil;
use super::function_state::CodeState;
use std::time::Instant;

/// Events of one place that are counted before the first pause.
const EXACT: u64 = 100;
/// Calls or back edges until it pays, if all goes on as before, for which no pause is made: to count them costs less than to be late.
pub const FEW_CALLS: u64 = 4_000;
pub const FEW_TURNS: u64 = 12_000;
/// Events that are counted after a pause, to see how often there are any.
const AGAIN: u64 = 64;
/// The longest pause. What seems not to pay may be called with larger data later, or meet other classes.
const LONGEST: u64 = 60_000_000_000;
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

/// Since when code is listened to.
#[derive(Clone, Copy)]
pub struct Since {
    /// For the first time.
    pub began: u64,
    /// After the last pause.
    pub heard: u64,
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

    /// Count an event. Gives what it was multiplied by as well, where events went unheard.
    pub fn step(&mut self, gil: Gil, state: &CodeState, first: u64) -> (Step, Option<f64>) {
        self.count += 1;
        let Some(pause) = self.pause else {
            let is_due = self.count >= self.look_at.max(first);
            return (if is_due { Step::Look } else { Step::Count }, None);
        };
        let pauses = &gil.runtime().pauses;
        let Since { began, heard } = state.since(gil);
        if pause.since >= heard {
            return (Step::Pause, None);
        }
        if pause.until > heard {
            state.hear_again(pause.until);
            return (Step::Pause, None);
        }
        let again = self.count - pause.count;
        if again < AGAIN {
            return (Step::Count, None);
        }
        let rate = |count: u64, time: u64| count as f64 / time.max(1) as f64;
        let before = rate(pause.count, pause.since - began.min(pause.since));
        let after = rate(again, pauses.now() - heard);
        let unheard = before.min(after) * (heard - pause.since) as f64;
        let known = self.count;
        self.count += unheard as u64;
        self.pause = None;
        (Step::Look, Some(self.count as f64 / known as f64))
    }

    /// Take over what another count of the same code was multiplied by, if this one has gone unheard as well.
    pub fn grow(&mut self, heard: u64, by: f64) {
        if let Some(pause) = &mut self.pause
            && pause.since < heard
        {
            self.count = (self.count as f64 * by) as u64;
            pause.count = self.count;
            pause.since = heard - 1;
        }
    }

    /// Say that a `share` of what would pay was reached: go on counting, if there are `few` events to come, or pause.
    pub fn missed(&mut self, gil: Gil, state: &CodeState, share: f64, few: u64) -> Step {
        // How many times as much it takes; endless where it seems that native code saves nothing.
        let missing = match share > 0.0 {
            true => 1.0 / share,
            false => f64::INFINITY,
        };
        self.look_at = (self.count as f64 * missing.clamp(1.25, 4.0)) as u64;
        let is_near = self.count as f64 * missing <= few as f64;
        if self.count < EXACT || is_near || !gil.runtime().listening.is_sampled() {
            return Step::Count;
        }
        let Since { began, .. } = state.since(gil);
        let now = gil.runtime().pauses.now();
        let needed = (now - began.min(now)) as f64 * (missing - 1.0);
        // A conversion from floats saturates.
        let until = now + (needed as u64).min(LONGEST);
        self.pause = Some(Pause {
            since: now,
            until,
            count: self.count,
        });
        state.hear_again(until);
        Step::Pause
    }
}
