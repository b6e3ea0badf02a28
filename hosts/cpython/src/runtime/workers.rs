//! Machine code beside the program: orders, and the threads that carry them out.
//!
//! Reading a function's bytecode, with the interpreter's feedback, and querying the state of the
//! program need the GIL. Building HIR, LIR and machine code from them does not, and takes most of
//! the time. So the program's thread hands this work over, with the answers that the compile will
//! probably need, and continues in the interpreter. The counters that request the unit repeat the
//! request at each call and each back edge, until one of these requests installs the finished unit.
//!
//! # How a unit is ordered
//! ```text
//! program's thread                                       worker
//! compile_unit: freeze, watch, order                     build, inline
//! collect: answer, watch, order (for open questions)     optimise, generate
//! collect, compile_unit: install
//! ```
//! If the compiler has a question without an answer, the order comes back, mostly once for each
//! level of inlined calls. The worker takes the next order meanwhile, and later continues with this
//! one at the point where it stopped.
//!
//! The assumptions behind the answers are watched as soon as the answers are given, so a change in
//! between invalidates the unit like any other: then the order is withdrawn, and the worker's
//! result is dropped. Orders have numbers of their own, since a unit may be freed and another be
//! allocated at its address meanwhile.
//!
//! # Forks
//! A child has no worker, a lock that a worker held at the fork stays locked there, and Python
//! warns about forks in processes with several threads. So [`Workers::before_fork`] ends the
//! workers. Orders from before the fork are carried out in both processes, by workers that are
//! started for the next order.
//!
//! C code may fork without Python's handlers, or with those of the child alone. So `pthread_atfork`
//! locks the queue across any fork, once no worker is busy, and the child forgets the workers that
//! it does not have.
//!
//! # Mutexes of the interpreter
//! A tick requests a pending call, for which the interpreter locks a mutex of its own. A thread of
//! the program that finds it locked releases the GIL, becomes the owner of the mutex, and then
//! waits for the GIL as its owner. So a worker that requests a call waits for the GIL in effect: no
//! lock of ours is locked meanwhile, and the GIL is released where the end of such a thread is
//! awaited.
//!
//! # The end of the process
//! Nothing waits for a worker then: orders are dropped, and a result in progress is never
//! collected.

use super::Gil;
use super::healing;
use super::units::UnitRef;
use crate::memory;
use cladonia::engine::CompiledCode;
use cladonia::engine::{CompileError, FrozenRequest, Generator, Unit};
use cladonia::lir::Func;
use pyo3_ffi::{PyEval_RestoreThread, PyEval_SaveThread, PyThreadState_GetUnchecked};
use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::ffi::c_int;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, LazyLock, Mutex, MutexGuard, Once, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Maximum orders that are not carried out yet; further requests are answered with "busy".
const MAX_WAITING: usize = 256;

/// The niceness of a worker: it yields to the program's threads if they compete for a processor.
const NICENESS: c_int = 10;

/// Time between two ticks, and the longest one while the program is idle.
const TICK: Duration = Duration::from_millis(1);
const LONGEST_TICK: Duration = Duration::from_millis(64);

/// Stack size of a worker: the code generator recurses over expressions.
const STACK: usize = 8 << 20;

/// Time after its last order at which a worker frees memory that it would reuse.
const UNTIL_REST: Duration = Duration::from_millis(100);

/// The number in place of an order while a worker writes to the cache or frees memory.
const SETTLING: u64 = u64::MAX;

/// A unit to be compiled.
pub struct Order {
    /// The request.
    pub request: Box<FrozenRequest>,
    /// The stub through which interpreted code will call it, if there is none yet.
    pub stub: Option<Func>,
}

/// The result of an order.
pub enum Outcome {
    /// The compiler has questions, to be answered before it is ordered again.
    Asks(Order),
    /// The unit, and its stub, if one was ordered as well.
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
    /// Orders that workers are carrying out.
    busy: Vec<u64>,
    /// Code generators for workers that have none yet.
    generators: Vec<Generator>,
    /// True once no order is carried out any more.
    stopped: bool,
    /// True if the workers are to end.
    resting: bool,
    /// Called at each [`TICK`] in which the program has used a processor.
    ticker: Option<Ticker>,
    /// Number of workers that are calling it.
    ticking: usize,
}

struct Ticker {
    call: unsafe fn(),
    at: Instant,
    gap: Duration,
    /// Processor time that the program's threads had used at the last tick.
    used: Duration,
}

impl Ticker {
    /// A tick is due or overdue: returns the function to call, if the program has used a processor.
    /// An idle program is checked less and less often.
    fn tick(&mut self, now: Instant) -> Option<unsafe fn()> {
        let used = used_by_program();
        // In a forked child the time starts again.
        let since = used.checked_sub(self.used);
        let is_idle = since.is_some_and(|since| since < TICK / 4);
        self.used = used;
        self.gap = if is_idle {
            (2 * self.gap).min(LONGEST_TICK)
        } else {
            TICK
        };
        self.at = now + self.gap;
        (!is_idle).then_some(self.call)
    }
}

/// Processor time that the process has used, without this thread.
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

/// State shared by the program's threads and the workers.
#[derive(Default)]
struct Shared {
    queue: Mutex<Queue>,
    /// Signals new orders, or that there will be none.
    ordered: Condvar,
    /// An order was carried out.
    carried_out: Condvar,
    /// Number of orders that workers have carried out so far.
    delivered: AtomicU64,
}

impl Shared {
    /// A poisoned lock is ignored: nothing panics while the queue is locked.
    fn lock(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait_until_done<'a>(&self, queue: MutexGuard<'a, Queue>) -> MutexGuard<'a, Queue> {
        let woken = self.carried_out.wait(queue);
        woken.unwrap_or_else(PoisonError::into_inner)
    }
}

static SHARED: LazyLock<Shared> = LazyLock::new(Shared::default);

/// The workers, as seen by the program's threads.
#[derive(Default)]
pub struct Workers {
    threads: RefCell<Vec<Worker>>,
    /// Orders that were not collected yet, and their units.
    open: RefCell<Vec<(u64, UnitRef)>>,
    /// Number of orders so far.
    orders: Cell<u64>,
    /// Number of threads that were given code generators: none before the first order.
    supplied: Cell<usize>,
    /// The value of [`Shared::delivered`] when orders were last collected.
    collected: Cell<u64>,
    /// Number of threads between the start and the end of a fork.
    forking: Cell<u32>,
    /// The time at which the last fork was over.
    forked: Cell<Option<Instant>>,
    /// Number of active compiles that need the unit at once.
    insisting: Cell<u32>,
}

/// A thread, and its system id, once it has begun.
struct Worker {
    thread: JoinHandle<()>,
    number: Arc<AtomicI32>,
}

impl Worker {
    fn join(self) {
        join(self.thread, &self.number);
    }
}

/// Waits for the end of the thread with this id, until the system has removed it as well. The GIL
/// is released meanwhile.
pub(super) fn join(thread: JoinHandle<()>, number: &AtomicI32) {
    without_gil(|| {
        // It does not panic.
        let _ = thread.join();
        let path = format!("/proc/self/task/{}", number.load(Ordering::Relaxed));
        for _ in 0..1000 {
            if !std::fs::exists(&path).unwrap_or(false) {
                break;
            }
            std::thread::sleep(Duration::from_micros(10));
        }
    });
}

/// Runs `wait` with the GIL released, if this thread has it.
fn without_gil(wait: impl FnOnce()) {
    // SAFETY: a thread with a current thread state has the GIL, and gets it back.
    unsafe {
        if PyThreadState_GetUnchecked().is_null() {
            wait();
        } else {
            let thread = PyEval_SaveThread();
            wait();
            PyEval_RestoreThread(thread);
        }
    }
}

/// Python counts the threads when all handlers of a fork have run, ours among the first: no worker
/// is started for this long after a fork.
pub(super) const AFTER_FORK: Duration = Duration::from_millis(2);

/// While this lives, a compile returns the unit at once instead of ordering it.
pub struct Insisting(Gil);

impl Insisting {
    /// Starts this mode.
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
    /// True if a worker is to generate the code.
    pub fn are_wanted(&self, gil: Gil) -> bool {
        let options = gil.runtime().options.get();
        self.insisting.get() == 0 && options.works_beside()
    }

    /// Number of orders carried out so far. A caller that got "busy" need not repeat its request
    /// before this has changed, unless [nothing](Workers::are_idle) is open any more.
    pub fn delivered(&self) -> u64 {
        SHARED.delivered.load(Ordering::Acquire)
    }

    /// True if all orders are collected.
    pub fn are_idle(&self) -> bool {
        self.open.borrow().is_empty()
    }

    /// True if there is something to collect, or to be ordered again.
    pub fn have_news(&self) -> bool {
        let is_open = !self.open.borrow().is_empty();
        is_open && (self.delivered() != self.collected.get() || !self.are_there())
    }

    /// True if nothing will be delivered in the present state.
    pub fn is_empty_handed(&self) -> bool {
        self.are_idle() || !self.are_there()
    }

    /// True if no more orders are accepted now.
    pub fn are_full(&self) -> bool {
        self.open.borrow().len() >= MAX_WAITING
    }

    /// Orders a unit; `generator` creates a code generator for a worker that has none.
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

    /// Forgets the workers of the parent process if this one was forked without
    /// [`Workers::before_fork`].
    fn forget_lost(&self) {
        if !WAS_FORKED.load(Ordering::Relaxed) {
            return;
        }
        WAS_FORKED.store(false, Ordering::Relaxed);
        // There are no such threads to join or detach.
        self.threads.take().into_iter().for_each(std::mem::forget);
        self.supplied.set(0);
        SHARED.lock().generators.clear();
    }

    /// Starts the configured number of workers. If the system gives no thread, orders wait for a
    /// caller that [insists](Workers::wait_for), and the program stays interpreted.
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
                // SAFETY: reads an id; and only this thread gets the niceness.
                unsafe {
                    own.store(libc::gettid(), Ordering::Relaxed);
                    libc::setpriority(libc::PRIO_PROCESS, 0, NICENESS);
                }
                work();
            };
            let thread = std::thread::Builder::new()
                .name("cladonia".into())
                .stack_size(STACK);
            // Signals are for the program's threads: a thread starts with the mask of the one that
            // starts it.
            match without_signals(|| thread.spawn(begin)) {
                Ok(thread) => threads.push(Worker { thread, number }),
                Err(_) => return,
            }
        }
    }

    /// Makes sure that each worker has a code generator.
    pub fn supply(&self, generator: &dyn Fn() -> Generator) {
        let missing = self.threads.borrow().len() - self.supplied.get();
        if missing != 0 {
            let more: Vec<_> = std::iter::repeat_with(generator).take(missing).collect();
            SHARED.lock().generators.extend(more);
            self.supplied.update(|supplied| supplied + missing);
            // A worker that was started for older orders may be waiting for a code generator.
            SHARED.ordered.notify_all();
        }
    }

    /// True if orders wait and there is no worker: after a fork.
    pub fn are_missing(&self) -> bool {
        !self.are_there() && !self.are_idle()
    }

    /// True if there is any worker.
    pub fn are_there(&self) -> bool {
        self.forget_lost();
        !self.threads.borrow().is_empty()
    }

    /// Lets a worker call this at each [`TICK`] in which the program has used a processor.
    pub fn tick(&self, call: unsafe fn()) {
        SHARED.lock().ticker = Some(Ticker {
            call,
            at: Instant::now() + TICK,
            gap: TICK,
            used: used_by_program(),
        });
        SHARED.ordered.notify_all();
    }

    /// Undoes [`Workers::tick`].
    pub fn stop_ticking(&self) {
        SHARED.lock().ticker = None;
    }

    /// The next finished order, with its unit. One at a time: taking one may run arbitrary user
    /// code, which may withdraw others.
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
            // It was withdrawn: its result is dropped here, where no table is borrowed.
            drop(open);
        }
    }

    /// Withdraws a unit's order; true if there was one.
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

    /// For tests that carry out each order before the program continues: this order, if it came
    /// back with questions.
    pub fn returned_at_once(&self, unit: UnitRef) -> Option<Order> {
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

    /// The state of a unit's order, once no worker is busy with it; the order is withdrawn.
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

    /// Number of open orders: waiting, being carried out, or carried out but not collected.
    pub fn open_orders(&self) -> usize {
        self.open.borrow().len()
    }

    /// Ends the workers, and starts none until the fork is over.
    pub fn before_fork(&self) {
        self.forking.update(|forking| forking + 1);
        let threads = self.threads.take();
        if threads.is_empty() {
            return;
        }
        self.supplied.set(0);
        SHARED.lock().resting = true;
        SHARED.ordered.notify_all();
        threads.into_iter().for_each(Worker::join);
        let mut queue = SHARED.lock();
        queue.generators.clear();
        queue.resting = false;
    }

    /// The fork is over; `in_child` distinguishes its two sides.
    pub fn after_fork(&self, in_child: bool) {
        // The child has only this thread.
        let others = self.forking.get().saturating_sub(1);
        self.forking.set(if in_child { 0 } else { others });
        self.forked.set((!in_child).then(Instant::now));
    }

    /// Stops carrying out orders.
    pub fn stop(&self) {
        let mut queue = SHARED.lock();
        queue.stopped = true;
        queue.waiting.clear();
        queue.ticker = None;
        let is_ticking = queue.ticking != 0;
        drop(queue);
        SHARED.ordered.notify_all();
        if is_ticking {
            without_gil(|| {
                let mut queue = SHARED.lock();
                while queue.ticking != 0 {
                    queue = SHARED.wait_until_done(queue);
                }
            });
        }
        self.open.take();
    }
}

/// Lets a worker check for data to write to the cache, if there is a worker.
pub fn wake() {
    SHARED.ordered.notify_one();
}

/// True if this process was forked while there were workers.
static WAS_FORKED: AtomicBool = AtomicBool::new(false);

thread_local! {
    /// The queue, in a thread that forks.
    static LOCKED: Cell<Option<MutexGuard<'static, Queue>>> = const { Cell::new(None) };
}

extern "C" fn before_any_fork() {
    let mut queue = SHARED.lock();
    // Workers that are busy own more locks than this.
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
    if let Some(mut queue) = LOCKED.take() {
        // Another thread may have been forking, too, and a worker may have been ticking.
        (queue.resting, queue.ticking) = (false, 0);
    }
}

/// Makes sure that no child finds the queue locked or half changed.
fn lock_over_forks() {
    static DONE: Once = Once::new();
    DONE.call_once(|| {
        // SAFETY: the functions stay, since the library is never unloaded; they only lock and
        // unlock.
        unsafe {
            libc::pthread_atfork(
                Some(before_any_fork),
                Some(after_any_fork),
                Some(in_any_child),
            );
        }
    });
}

/// The loop of a worker: runs until it is stopped.
fn work() {
    let delay = delay();
    let mut generator = None;
    // The time at which it became idle, while it still keeps memory that it does not need for that.
    let mut idle_since = None;
    let mut queue = SHARED.lock();
    while !queue.stopped && !queue.resting {
        let now = Instant::now();
        let ticker = queue.ticker.as_mut().filter(|ticker| ticker.at <= now);
        if let Some(call) = ticker.and_then(|ticker| ticker.tick(now)) {
            queue.ticking += 1;
            drop(queue);
            // SAFETY: the interpreter exists until the workers are stopped, which waits for this.
            unsafe { call() };
            queue = SHARED.lock();
            queue.ticking -= 1;
            SHARED.carried_out.notify_all();
            continue;
        }
        generator = generator.or_else(|| queue.generators.pop());
        let order = generator.as_mut().and_then(|generator| {
            let (number, order) = queue.waiting.pop_front()?;
            Some((generator, number, order))
        });
        let Some((generator, number, order)) = order else {
            let rest_at = idle_since.map(|since: Instant| since + UNTIL_REST);
            let is_to_rest = rest_at.is_some_and(|at| at <= now);
            // While no order waits, there is time to write to the cache.
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
            // It may have got a code generator while the queue was not locked.
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

/// For tests: the time at which orders are carried out.
#[derive(Clone, Copy)]
enum Delay {
    /// Each is carried out before the program continues, and collected at its next request.
    Next,
    /// Each after a time that depends on the unit, of up to this many microseconds.
    UpTo(u64),
}

/// The value of `CLADONIA_DELAY`: `next`, or a number of microseconds.
fn delay() -> Option<Delay> {
    static DELAY: LazyLock<Option<Delay>> =
        LazyLock::new(|| match std::env::var("CLADONIA_DELAY").as_deref() {
            Ok("next") => Some(Delay::Next),
            Ok(text) => text.parse().ok().map(Delay::UpTo),
            Err(_) => None,
        });
    *DELAY
}

/// Runs `act` with all signals blocked on this thread.
pub(super) fn without_signals<R>(act: impl FnOnce() -> R) -> R {
    // SAFETY: the sets are filled before they are read; the thread's mask is restored.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::with_python;
    use pyo3_ffi::{PyGILState_Ensure, PyGILState_Release};

    static IS_TICKING: AtomicBool = AtomicBool::new(false);
    static OWNER_HAS_RUN: AtomicBool = AtomicBool::new(false);
    static HAS_WAITED_IN_VAIN: AtomicBool = AtomicBool::new(false);

    /// A pending call is requested while a thread that waits for the GIL owns the interpreter's
    /// mutex.
    unsafe fn request() {
        IS_TICKING.store(true, Ordering::Release);
        let until = Instant::now() + Duration::from_secs(5);
        while !OWNER_HAS_RUN.load(Ordering::Acquire) {
            if Instant::now() > until {
                HAS_WAITED_IN_VAIN.store(true, Ordering::Relaxed);
                return;
            }
            std::thread::yield_now();
        }
    }

    #[test]
    fn a_tick_that_needs_the_gil_blocks_no_other_thread() {
        with_python(|| {
            let workers = Workers::default();
            let number = Arc::new(AtomicI32::new(0));
            let thread = std::thread::spawn(work);
            workers.threads.borrow_mut().push(Worker { thread, number });
            workers.tick(request);
            while !IS_TICKING.load(Ordering::Acquire) {
                std::hint::spin_loop();
            }
            let owner = std::thread::spawn(|| {
                // SAFETY: the interpreter exists; the lock is released again.
                unsafe {
                    let state = PyGILState_Ensure();
                    OWNER_HAS_RUN.store(true, Ordering::Release);
                    PyGILState_Release(state);
                }
            });
            assert!(workers.collect().is_none());
            workers.stop_ticking();
            workers.before_fork();
            assert!(!HAS_WAITED_IN_VAIN.load(Ordering::Relaxed));
            owner.join().unwrap();
        });
    }
}
