//! Machine code beside the program: orders, and the threads that carry them out.
//!
//! To read a function's bytecode, with what the interpreter has observed, and to ask what the program is like needs the GIL. To make HIR,
//! LIR and machine code of that does not, and takes most of the time. So the program's thread hands it over, with the answers that will
//! probably be needed, and goes on in the interpreter; whoever asks for the unit later (the same counters ask at each call and each back edge
//! until they have it) installs it.
//!
//! # How a unit is ordered
//! ```text
//! compile_unit: freeze -> watch -> order ... collect: answer -> watch -> order ... collect, compile_unit: install
//!                        worker: build, inline ->             worker: optimise, generate ->
//! ```
//! Where the compiler asks what it has no answer to, the order comes back, mostly once for each level of calls that are inlined; the worker
//! goes on with the next one meanwhile, and with this one where it stopped.
//!
//! What the answers rely on is watched from the moment at which they are given, so a change in between makes the unit invalid as it would
//! any other: then the order is withdrawn, and what a worker makes of it nonetheless is dropped. Orders have numbers of their
//! own, since a unit may be freed and its address be another's meanwhile.
//!
//! # Forks
//! A child has no worker, whatever lock one held at the fork stays locked there, and Python warns of forks in processes with
//! several threads. So [`Workers::before_fork`] ends the workers. What was ordered before is carried out in both processes, by
//! workers that are started when they are next asked for something.
//!
//! C code may fork without Python's handlers, or with those of the child alone. So the queue is locked over any fork (by
//! `pthread_atfork`) once no worker is at anything, and the child forgets the workers that it does not have.
//!
//! # The end
//! Nothing waits for a worker when the process ends: orders are dropped, and what it is at is nobody's.

use super::Gil;
use super::healing;
use super::units::UnitRef;
use crate::memory;
use cladonia::codegen::CompiledCode;
use cladonia::engine::{CompileError, FrozenRequest, Generator, Unit};
use cladonia::lir::Func;
use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::ffi::c_int;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, LazyLock, Mutex, MutexGuard, Once, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Orders that are not carried out yet, at most: who asks for more is told to ask again later.
const MOST_WAITING: usize = 256;

/// How far a worker gives way to the program's threads, where they want the same processor.
const NICENESS: c_int = 10;

/// Time between two looks at what runs, and the longest while nothing does.
const TICK: Duration = Duration::from_millis(1);
const LONGEST_TICK: Duration = Duration::from_millis(64);

/// What a worker may need of its stack: the code generator recurses over expressions.
const STACK: usize = 8 << 20;

/// So long after its last order, a worker gives back memory that it would use again.
const UNTIL_REST: Duration = Duration::from_millis(100);

/// What stands for an order where a worker is at none: it writes to the cache, or gives memory back.
const SETTLING: u64 = u64::MAX;

/// What is to be made.
pub struct Order {
    /// The unit.
    pub request: Box<FrozenRequest>,
    /// The stub through which interpreted code is to call it, if there is none yet.
    pub stub: Option<Func>,
}

/// What a worker has made of an order.
pub enum Outcome {
    /// It has asked what is to be answered before it is ordered again.
    Asks(Order),
    /// The unit, and its stub, if that was ordered as well.
    Made(
        Result<Box<Unit>, CompileError>,
        Option<Result<CompiledCode, CompileError>>,
    ),
}

struct Done {
    number: u64,
    outcome: Outcome,
}

#[derive(Default)]
struct Queue {
    waiting: VecDeque<(u64, Order)>,
    done: VecDeque<Done>,
    /// Orders that workers are at.
    busy: Vec<u64>,
    /// Code generators for workers that have none yet.
    generators: Vec<Generator>,
    /// No order is carried out any more.
    stopped: bool,
    /// The workers are to end.
    resting: bool,
    /// What is done each [`TICK`] in which the program has used a processor.
    ticker: Option<Ticker>,
}

struct Ticker {
    call: unsafe fn(),
    at: Instant,
    gap: Duration,
    /// How long the program's threads had used processors when it ticked last.
    used: Duration,
}

impl Ticker {
    /// It is time, or it was when nobody had any for this. What is idle is looked at less and less often.
    fn tick(&mut self, now: Instant) {
        let used = used_by_program();
        // In a forked child it begins anew.
        let since = used.checked_sub(self.used);
        let is_idle = since.is_some_and(|since| since < TICK / 4);
        self.used = used;
        self.gap = match is_idle {
            true => (2 * self.gap).min(LONGEST_TICK),
            false => TICK,
        };
        self.at = now + self.gap;
        if !is_idle {
            // SAFETY: the interpreter is there until the workers are stopped, for which the queue is locked.
            unsafe { (self.call)() };
        }
    }
}

/// How long the process has used processors, but for this thread.
fn used_by_program() -> Duration {
    let used = |clock| {
        let mut time = libc::timespec {
            tv_sec: 0,
            tv_nsec: 0,
        };
        // SAFETY: it writes the time.
        unsafe { libc::clock_gettime(clock, &mut time) };
        Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
    };
    let own = used(libc::CLOCK_THREAD_CPUTIME_ID);
    used(libc::CLOCK_PROCESS_CPUTIME_ID).saturating_sub(own)
}

/// What the program's threads and the workers share.
#[derive(Default)]
struct Shared {
    queue: Mutex<Queue>,
    /// There are orders, or there will be none.
    ordered: Condvar,
    /// An order was carried out.
    carried_out: Condvar,
    /// Orders that workers have carried out so far.
    delivered: AtomicU64,
}

impl Shared {
    /// Nothing panics while the queue is locked.
    fn lock(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait_until_done<'a>(&self, queue: MutexGuard<'a, Queue>) -> MutexGuard<'a, Queue> {
        let woken = self.carried_out.wait(queue);
        woken.unwrap_or_else(PoisonError::into_inner)
    }
}

static SHARED: LazyLock<Shared> = LazyLock::new(Shared::default);

/// The workers, as the program's threads see them.
#[derive(Default)]
pub struct Workers {
    threads: RefCell<Vec<Worker>>,
    /// Orders that nobody has collected, and their units.
    open: RefCell<Vec<(u64, UnitRef)>>,
    /// How many there ever were.
    orders: Cell<u64>,
    /// How many of the threads were given code generators: none before the first order.
    supplied: Cell<usize>,
    /// What [`Shared::delivered`] was when orders were collected last.
    collected: Cell<u64>,
    /// How many threads are between the start and the end of a fork.
    forking: Cell<u32>,
    /// When the last fork was over.
    forked: Cell<Option<Instant>>,
    /// How many of those who compile now want the unit at once.
    insisting: Cell<u32>,
}

/// A thread, and its number in the system, once it has begun.
struct Worker {
    thread: JoinHandle<()>,
    number: Arc<AtomicI32>,
}

impl Worker {
    fn join(self) {
        join(self.thread, &self.number);
    }
}

/// Wait for the end of a thread that has this number, until the system has forgotten it as well.
pub(super) fn join(thread: JoinHandle<()>, number: &AtomicI32) {
    // It does not panic.
    let _ = thread.join();
    let path = format!("/proc/self/task/{}", number.load(Ordering::Relaxed));
    for _ in 0..1000 {
        if !std::fs::exists(&path).unwrap_or(false) {
            break;
        }
        std::thread::sleep(Duration::from_micros(10));
    }
}

/// Python counts the threads when all handlers of a fork have run, ours among the first: so long after it, no worker is started.
pub(super) const AFTER_FORK: Duration = Duration::from_millis(2);

/// Who compiles while this lives has the unit at once.
pub struct Insisting(Gil);

impl Insisting {
    /// From now on.
    pub fn new(gil: Gil) -> Insisting {
        gil.runtime().workers.insisting.update(|n| n + 1);
        Insisting(gil)
    }
}

impl Drop for Insisting {
    fn drop(&mut self) {
        self.0.runtime().workers.insisting.update(|n| n - 1);
    }
}

impl Workers {
    /// Whether code is to be generated by a worker.
    pub fn are_wanted(&self, gil: Gil) -> bool {
        let options = gil.runtime().options.get();
        self.insisting.get() == 0 && options.works_beside()
    }

    /// How many orders were carried out so far. Who was told that the compiler is busy need not ask again before this has
    /// changed, unless [nothing](Workers::are_idle) is open any more.
    pub fn delivered(&self) -> u64 {
        SHARED.delivered.load(Ordering::Acquire)
    }

    /// Whether all that was ordered is collected.
    pub fn are_idle(&self) -> bool {
        self.open.borrow().is_empty()
    }

    /// Whether there is something to collect, or to be ordered again.
    pub fn have_news(&self) -> bool {
        let is_open = !self.open.borrow().is_empty();
        is_open && (self.delivered() != self.collected.get() || !self.are_there())
    }

    /// Whether nothing will be delivered as things are.
    pub fn is_empty_handed(&self) -> bool {
        self.are_idle() || !self.are_there()
    }

    /// Whether no more orders are taken now.
    pub fn are_full(&self) -> bool {
        self.open.borrow().len() >= MOST_WAITING
    }

    /// Order a unit; `generator` makes a code generator for a worker that has none.
    pub fn order(&self, gil: Gil, unit: UnitRef, order: Order, generator: &dyn Fn() -> Generator) {
        let number = self.orders.get() + 1;
        self.orders.set(number);
        SHARED.lock().waiting.push_back((number, order));
        self.open.borrow_mut().push((number, unit));
        self.start(gil);
        self.supply(generator);
        SHARED.ordered.notify_one();
        if let Some(Delay::Next) = delay()
            && self.are_there()
        {
            let mut queue = SHARED.lock();
            while !queue.done.iter().any(|done| done.number == number) {
                queue = SHARED.wait_until_done(queue);
            }
        }
    }

    /// Forget the workers of the process that this one was forked from without [`Workers::before_fork`].
    fn forget_lost(&self) {
        if !WAS_FORKED.load(Ordering::Relaxed) {
            return;
        }
        WAS_FORKED.store(false, Ordering::Relaxed);
        // There are no such threads to wait for or to let go of.
        self.threads.take().into_iter().for_each(std::mem::forget);
        self.supplied.set(0);
        SHARED.lock().generators.clear();
    }

    /// Start the workers that there are to be. Where the system gives no thread, orders wait for whoever
    /// [insists](Workers::wait_for), and the program stays interpreted.
    pub fn start(&self, gil: Gil) {
        lock_over_forks();
        self.forget_lost();
        let wanted = gil.runtime().options.get().compile_threads as usize;
        let has_just_forked = self
            .forked
            .get()
            .is_some_and(|at| at.elapsed() < AFTER_FORK);
        if self.forking.get() != 0 || has_just_forked {
            return;
        }
        let mut threads = self.threads.borrow_mut();
        while threads.len() < wanted {
            let number = Arc::new(AtomicI32::new(0));
            let own = Arc::clone(&number);
            let begin = move || {
                // SAFETY: a number; and only this thread gives way to others.
                unsafe {
                    own.store(libc::gettid(), Ordering::Relaxed);
                    libc::setpriority(libc::PRIO_PROCESS, 0, NICENESS);
                }
                work();
            };
            let thread = std::thread::Builder::new()
                .name("cladonia".into())
                .stack_size(STACK);
            // Signals are for the program's threads: a thread starts with the mask of the one that starts it.
            match without_signals(|| thread.spawn(begin)) {
                Ok(thread) => threads.push(Worker { thread, number }),
                Err(_) => return,
            }
        }
    }

    /// See to it that each worker has a code generator.
    pub fn supply(&self, generator: &dyn Fn() -> Generator) {
        let missing = self.threads.borrow().len() - self.supplied.get();
        if missing != 0 {
            let more: Vec<_> = std::iter::repeat_with(generator).take(missing).collect();
            SHARED.lock().generators.extend(more);
            self.supplied.update(|supplied| supplied + missing);
            // A worker that was started for orders of before may have found that it can do nothing.
            SHARED.ordered.notify_all();
        }
    }

    /// Whether orders wait that no worker is there for: after a fork.
    pub fn are_missing(&self) -> bool {
        !self.are_there() && !self.are_idle()
    }

    /// Whether there is any.
    pub fn are_there(&self) -> bool {
        self.forget_lost();
        !self.threads.borrow().is_empty()
    }

    /// Have a worker call this each [`TICK`] in which the program has used a processor.
    pub fn tick(&self, call: unsafe fn()) {
        SHARED.lock().ticker = Some(Ticker {
            call,
            at: Instant::now() + TICK,
            gap: TICK,
            used: used_by_program(),
        });
        SHARED.ordered.notify_all();
    }

    /// Undo [`Workers::tick`].
    pub fn tick_no_more(&self) {
        SHARED.lock().ticker = None;
    }

    /// The next of what was carried out, with its unit. One at a time: to take one may run code of the program, which may withdraw others.
    pub fn collect(&self) -> Option<(UnitRef, Outcome)> {
        loop {
            let delivered = self.delivered();
            let done = SHARED.lock().done.pop_front();
            let Some(done) = done else {
                self.collected.set(delivered);
                return None;
            };
            let mut open = self.open.borrow_mut();
            let place = open.iter().position(|(number, _)| *number == done.number);
            if let Some(place) = place {
                return Some((open.swap_remove(place).1, done.outcome));
            }
            // It was withdrawn: what was made of it goes here, where no table is borrowed.
            drop(open);
        }
    }

    /// Whether a unit was ordered; then it is no more.
    pub fn withdraw(&self, unit: UnitRef) -> bool {
        let mut open = self.open.borrow_mut();
        let Some(place) = open.iter().position(|(_, other)| *other == unit) else {
            return false;
        };
        let (withdrawn, _) = open.swap_remove(place);
        let waiting = &mut SHARED.lock().waiting;
        waiting.retain(|(number, _)| *number != withdrawn);
        true
    }

    /// For tests where each order is carried out before the program goes on: what has come back of this one to be answered.
    pub fn asked_at_once(&self, unit: UnitRef) -> Option<Order> {
        let Some(Delay::Next) = delay() else {
            return None;
        };
        let mut open = self.open.borrow_mut();
        let place = open.iter().position(|(_, other)| *other == unit)?;
        let mut queue = SHARED.lock();
        let is_asked =
            |done: &Done| done.number == open[place].0 && matches!(done.outcome, Outcome::Asks(_));
        let asked = queue.done.iter().position(is_asked)?;
        let done = queue.done.remove(asked)?;
        open.swap_remove(place);
        match done.outcome {
            Outcome::Asks(order) => Some(order),
            Outcome::Made(..) => None,
        }
    }

    /// What has come of a unit that was ordered, once no worker is at it: it is ordered no more.
    pub fn take_back(&self, unit: UnitRef) -> Option<Outcome> {
        let place = {
            let open = self.open.borrow();
            open.iter().position(|(_, other)| *other == unit)?
        };
        let (number, _) = self.open.borrow_mut().swap_remove(place);
        let mut queue = SHARED.lock();
        while queue.busy.contains(&number) {
            queue = SHARED.wait_until_done(queue);
        }
        if let Some(place) = queue.done.iter().position(|done| done.number == number) {
            return queue.done.remove(place).map(|done| done.outcome);
        }
        let mut waiting = queue.waiting.iter();
        let place = waiting.position(|(other, _)| *other == number)?;
        let (_, order) = queue.waiting.remove(place)?;
        Some(Outcome::Asks(order))
    }

    /// How many orders are open: waiting, being carried out, or carried out but not collected.
    pub fn open_orders(&self) -> usize {
        self.open.borrow().len()
    }

    /// End the workers, and start none until the fork is over.
    pub fn before_fork(&self) {
        self.forking.update(|forking| forking + 1);
        let threads = self.threads.take();
        if threads.is_empty() {
            return;
        }
        SHARED.lock().resting = true;
        SHARED.ordered.notify_all();
        threads.into_iter().for_each(Worker::join);
        self.supplied.set(0);
        let mut queue = SHARED.lock();
        queue.generators.clear();
        queue.resting = false;
    }

    /// The fork is over; `in_child` says on which side of it this is.
    pub fn after_fork(&self, in_child: bool) {
        // Of all threads there is only this one in the child.
        let others = self.forking.get().saturating_sub(1);
        self.forking.set(if in_child { 0 } else { others });
        self.forked.set((!in_child).then(Instant::now));
    }

    /// Carry nothing out any more.
    pub fn stop(&self) {
        let mut queue = SHARED.lock();
        queue.stopped = true;
        queue.waiting.clear();
        queue.ticker = None;
        drop(queue);
        SHARED.ordered.notify_all();
        self.open.take();
    }
}

/// Have a worker look for what is to be written to the cache, if there is one.
pub fn wake() {
    SHARED.ordered.notify_one();
}

/// Whether this process was forked while there were workers.
static WAS_FORKED: AtomicBool = AtomicBool::new(false);

thread_local! {
    /// The queue, in a thread that forks.
    static LOCKED: Cell<Option<MutexGuard<'static, Queue>>> = const { Cell::new(None) };
}

extern "C" fn before_any_fork() {
    let mut queue = SHARED.lock();
    // Workers that are at something have more locks than this.
    while !queue.busy.is_empty() {
        queue = SHARED.wait_until_done(queue);
    }
    LOCKED.set(Some(queue));
}

extern "C" fn after_any_fork() {
    drop(LOCKED.take());
}

extern "C" fn in_any_child() {
    WAS_FORKED.store(true, Ordering::Relaxed);
    drop(LOCKED.take());
}

/// See to it that no child finds the queue locked, or half changed.
fn lock_over_forks() {
    static DONE: Once = Once::new();
    DONE.call_once(|| {
        // SAFETY: the functions stay, since the library is never unloaded; they only lock and unlock.
        unsafe {
            libc::pthread_atfork(
                Some(before_any_fork),
                Some(after_any_fork),
                Some(in_any_child),
            );
        }
    });
}

/// What a worker does until there are no orders any more.
fn work() {
    let delay = delay();
    let mut generator = None;
    // When it had nothing to do any more, while it still has what it does not need for that.
    let mut idle_since = None;
    let mut queue = SHARED.lock();
    while !queue.stopped && !queue.resting {
        let now = Instant::now();
        if let Some(ticker) = queue.ticker.as_mut().filter(|ticker| ticker.at <= now) {
            ticker.tick(now);
        }
        generator = generator.or_else(|| queue.generators.pop());
        let order = generator.as_mut().and_then(|generator| {
            let (number, order) = queue.waiting.pop_front()?;
            Some((generator, number, order))
        });
        let Some((generator, number, order)) = order else {
            let rest_at = idle_since.map(|since: Instant| since + UNTIL_REST);
            let is_to_rest = rest_at.is_some_and(|at| at <= now);
            // While nobody waits, there is time to write to the cache.
            queue.busy.push(SETTLING);
            drop(queue);
            let has_settled = match &mut generator {
                Some(generator) if is_to_rest => {
                    generator.rest();
                    memory::give_back();
                    idle_since = None;
                    true
                }
                Some(generator) => generator.settle(),
                None => false,
            };
            queue = SHARED.lock();
            queue.busy.retain(|&other| other != SETTLING);
            SHARED.carried_out.notify_all();
            // It may have been supplied while the queue was not locked.
            let is_supplied = generator.is_some() || !queue.generators.is_empty();
            let has_orders = !queue.waiting.is_empty() && is_supplied;
            if has_settled || has_orders || queue.stopped || queue.resting {
                continue;
            }
            let tick_at = queue.ticker.as_ref().map(|ticker| ticker.at);
            queue = match rest_at.into_iter().chain(tick_at).min() {
                None => SHARED
                    .ordered
                    .wait(queue)
                    .unwrap_or_else(PoisonError::into_inner),
                Some(at) => {
                    let time = at.saturating_duration_since(now);
                    let woken = SHARED.ordered.wait_timeout(queue, time);
                    woken.unwrap_or_else(PoisonError::into_inner).0
                }
            };
            continue;
        };
        queue.busy.push(number);
        drop(queue);
        if let Some(Delay::UpTo(most)) = delay {
            let mixed = healing::scramble(number);
            std::thread::sleep(Duration::from_micros(mixed % most.max(1)));
        }
        let outcome = carry_out(order, generator);
        idle_since = Some(Instant::now());
        queue = SHARED.lock();
        queue.busy.retain(|&other| other != number);
        queue.done.push_back(Done { number, outcome });
        SHARED.delivered.fetch_add(1, Ordering::Release);
        SHARED.carried_out.notify_all();
    }
}

fn carry_out(mut order: Order, generator: &mut Generator) -> Outcome {
    match generator.compile(&mut order.request) {
        None => Outcome::Asks(order),
        Some(made) => {
            let stub = order.stub.map(|stub| generator.compile_stub(&stub));
            Outcome::Made(made.map(Box::new), stub)
        }
    }
}

/// For tests: when orders are carried out.
#[derive(Clone, Copy)]
enum Delay {
    /// Each is, before the program goes on, and collected when the program next asks.
    Next,
    /// Each after a time that depends on the unit, of up to so many microseconds.
    UpTo(u64),
}

/// What `CLADONIA_DELAY` says: `next`, or a number of microseconds.
fn delay() -> Option<Delay> {
    static DELAY: LazyLock<Option<Delay>> =
        LazyLock::new(|| match std::env::var("CLADONIA_DELAY").as_deref() {
            Ok("next") => Some(Delay::Next),
            Ok(text) => text.parse().ok().map(Delay::UpTo),
            Err(_) => None,
        });
    *DELAY
}

/// Do something while all signals are blocked on this thread.
pub(super) fn without_signals<R>(act: impl FnOnce() -> R) -> R {
    // SAFETY: the sets are filled before they are read; the thread's mask is put back.
    unsafe {
        let mut all = std::mem::zeroed();
        let mut before = std::mem::zeroed();
        libc::sigfillset(&mut all);
        libc::pthread_sigmask(libc::SIG_SETMASK, &all, &mut before);
        let result = act();
        libc::pthread_sigmask(libc::SIG_SETMASK, &before, std::ptr::null_mut());
        result
    }
}
