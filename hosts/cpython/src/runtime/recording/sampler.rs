//! A sampling profiler of this process: the activity of each thread that runs Python, by the
//! processor time that it uses.
//!
//! Each thread has a timer of its own (`timer_create` on the thread's clock), which sends the
//! thread a signal after each [`PERIOD`] of processor time. A waiting thread uses none and gets no
//! signal, so no system call of the program is interrupted. The handler writes the thread's
//! position into a ring of fixed size: it takes no lock and allocates nothing. The kernel checks
//! such timers at its own clock tick (4 ms on most systems), and reports how many periods have
//! passed since; a sample counts as many.
//!
//! # The data that the handler reads
//! The thread's own chain of interpreter frames. Only the thread itself changes it, and the
//! interpreter links a frame only when its fields are set; the handler runs between two
//! instructions of that thread. Code objects are identified by address: the code that
//! [drains](Sampler::drain) the ring owns the GIL, and does so before a code object is deallocated
//! ([`super::code_ends`]).
//!
//! A thread of ours finds new threads, advances the clock of the [timeline](now_in_ticks), and
//! requests that the ring is drained.

use super::super::abi;
use super::super::capi::{Frame, Object, get};
use super::super::{frames, workers};
use abi::{frame as f, thread as t};
use pyo3_ffi::{
    Py_TYPE, PyCode_Type, PyGILState_GetThisThreadState, PyInterpreterState_Main,
    PyThreadState_GetUnchecked,
};
use std::collections::HashMap;
use std::ffi::{c_int, c_void};
use std::sync::atomic::{
    AtomicBool, AtomicI32, AtomicPtr, AtomicU32, AtomicU64, AtomicUsize, Ordering,
};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Processor time of a thread between two of its samples.
pub const PERIOD: Duration = Duration::from_millis(2);
/// Interval at which the thread checks for new threads.
const LOOK: Duration = Duration::from_millis(50);
/// Maximum frames of one sample, the innermost ones.
const MAX_FRAMES: usize = 96;
/// Maximum samples that are not drained yet: more than two seconds of one thread.
const SLOTS: usize = 1024;

/// A flag in the low bits of a frame's recorded position.
const IS_NATIVE: usize = 1;

const FREE: u32 = 0;
const WRITTEN: u32 = 2;

/// The activity of a thread.
#[derive(Clone, Copy)]
pub struct Sample {
    /// The instruction that the processor was at.
    pub pc: usize,
    /// Number of periods that it represents.
    pub weight: u32,
    /// The [tick](now_in_ticks) at which it was taken.
    pub tick: u32,
    /// True if the thread had the GIL.
    pub has_gil: bool,
    /// True if the collector was running.
    pub collects: bool,
    /// True if the compiler was running on this thread.
    pub compiles: bool,
    /// True if there were more frames.
    pub is_cut: bool,
    depth: usize,
    frames: [(usize, usize); MAX_FRAMES],
}

/// A frame of a sample.
#[derive(Clone, Copy)]
pub struct Sampled {
    /// The code object.
    pub code: Object,
    /// The instruction that runs, or is next.
    pub at: *const u8,
    /// True if a unit ran in it.
    pub is_native: bool,
}

impl Sample {
    /// The frames, the innermost first.
    pub fn frames(&self) -> impl DoubleEndedIterator<Item = Sampled> + '_ {
        self.frames[..self.depth].iter().map(|&(code, at)| Sampled {
            code: code as Object,
            at: (at & !IS_NATIVE) as *const u8,
            is_native: at & IS_NATIVE != 0,
        })
    }
}

struct Slot {
    state: AtomicU32,
    sample: std::cell::UnsafeCell<Sample>,
}

/// The waiting samples: written by handlers, read with the GIL.
struct Ring {
    slots: Box<[Slot]>,
    /// Number of slots taken by handlers, and of those read.
    head: AtomicUsize,
    tail: AtomicUsize,
    /// Periods for which there was no room.
    lost: AtomicU64,
}

// SAFETY: a slot is written by the handler that has taken it, before it is marked as written, and
// read only after.
unsafe impl Sync for Ring {}
// SAFETY: as above.
unsafe impl Send for Ring {}

/// The ring, created once and never freed: a handler may still run when sampling has ended.
static RING: AtomicPtr<Ring> = AtomicPtr::new(std::ptr::null_mut());
/// True while handlers write.
static IS_ON: AtomicBool = AtomicBool::new(false);
/// The main interpreter: in other interpreters, the deallocation of code objects is not reported.
static MAIN: AtomicPtr<u8> = AtomicPtr::new(std::ptr::null_mut());
/// The clock of the timeline: number of [`LOOK`] intervals since the start.
static TICK: AtomicU32 = AtomicU32::new(0);
/// True while the collector runs, and while the compiler runs, on the thread that has the GIL.
pub static COLLECTS: AtomicBool = AtomicBool::new(false);
/// See [`COLLECTS`].
pub static COMPILES: AtomicBool = AtomicBool::new(false);

/// Number of [`tick_length`] intervals since sampling began.
pub fn now_in_ticks() -> u32 {
    TICK.load(Ordering::Relaxed)
}

/// The length of a tick of the timeline.
pub fn tick_length() -> Duration {
    LOOK
}

impl Ring {
    fn new() -> Ring {
        let empty = Sample {
            pc: 0,
            weight: 0,
            tick: 0,
            has_gil: false,
            collects: false,
            compiles: false,
            is_cut: false,
            depth: 0,
            frames: [(0, 0); MAX_FRAMES],
        };
        let slot = |_| Slot {
            state: AtomicU32::new(FREE),
            sample: std::cell::UnsafeCell::new(empty),
        };
        Ring {
            slots: (0..SLOTS).map(slot).collect(),
            head: AtomicUsize::new(0),
            tail: AtomicUsize::new(0),
            lost: AtomicU64::new(0),
        }
    }

    /// Takes a slot to write to, if one is free.
    fn claim(&self) -> Option<&Slot> {
        let mut head = self.head.load(Ordering::Relaxed);
        loop {
            if head.wrapping_sub(self.tail.load(Ordering::Acquire)) >= SLOTS {
                return None;
            }
            match self.head.compare_exchange_weak(
                head,
                head.wrapping_add(1),
                Ordering::Relaxed,
                Ordering::Relaxed,
            ) {
                Ok(_) => return Some(&self.slots[head % SLOTS]),
                Err(now) => head = now,
            }
        }
    }

    fn waiting(&self) -> usize {
        let head = self.head.load(Ordering::Relaxed);
        head.wrapping_sub(self.tail.load(Ordering::Relaxed))
    }
}

/// The signal's handler.
extern "C" fn on_signal(_: c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
    // SAFETY: the system passes its own structures. `errno` belongs to the interrupted code.
    unsafe {
        let errno = libc::__errno_location();
        let before = *errno;
        if IS_ON.load(Ordering::Relaxed)
            && let Some(ring) = RING.load(Ordering::Acquire).as_ref()
        {
            let weight = 1 + overrun(info);
            match ring.claim() {
                Some(slot) => {
                    take(&mut *slot.sample.get(), program_counter(context), weight);
                    slot.state.store(WRITTEN, Ordering::Release);
                }
                None => drop(ring.lost.fetch_add(weight.into(), Ordering::Relaxed)),
            }
        }
        *errno = before;
    }
}

/// Number of further expirations of the timer before the signal was delivered.
///
/// # Safety
/// As the system calls a handler.
unsafe fn overrun(info: *const libc::siginfo_t) -> u32 {
    /// The offset of `si_overrun`: after `si_signo`, `si_errno`, `si_code`, padding and the timer's
    /// number.
    const OVERRUN: usize = 20;
    const SI_TIMER: c_int = -2;
    // SAFETY: the caller's promise.
    unsafe {
        if (*info).si_code != SI_TIMER {
            return 0;
        }
        let overrun: i32 = info.cast::<u8>().add(OVERRUN).cast::<i32>().read();
        overrun.max(0) as u32
    }
}

#[cfg(target_arch = "x86_64")]
unsafe fn program_counter(context: *const c_void) -> usize {
    // SAFETY: the system gives a handler the thread's registers.
    unsafe {
        let context = context.cast::<libc::ucontext_t>();
        (*context).uc_mcontext.gregs[libc::REG_RIP as usize] as usize
    }
}

#[cfg(target_arch = "aarch64")]
unsafe fn program_counter(context: *const c_void) -> usize {
    // SAFETY: the system gives a handler the thread's registers.
    unsafe { (*context.cast::<libc::ucontext_t>()).uc_mcontext.pc as usize }
}

/// Records the position of this thread.
///
/// # Safety
/// In the handler.
unsafe fn take(sample: &mut Sample, pc: usize, weight: u32) {
    // SAFETY: the thread's own state and frames: see the head of this file.
    unsafe {
        let mut thread = PyThreadState_GetUnchecked().cast::<u8>();
        sample.has_gil = !thread.is_null();
        if thread.is_null() {
            thread = PyGILState_GetThisThreadState().cast();
        }
        if !thread.is_null() && get::<*mut u8>(thread, t::INTERP) != MAIN.load(Ordering::Relaxed) {
            thread = std::ptr::null_mut();
            sample.has_gil = false;
        }
        sample.pc = pc;
        sample.weight = weight;
        sample.tick = TICK.load(Ordering::Relaxed);
        sample.collects = sample.has_gil && COLLECTS.load(Ordering::Relaxed);
        sample.compiles = sample.has_gil && COMPILES.load(Ordering::Relaxed);
        sample.is_cut = false;
        sample.depth = 0;
        if thread.is_null() {
            return;
        }
        let mut frame: Frame = get(thread, t::CURRENT_FRAME);
        while !frame.is_null() {
            let code: Object = get(frame, f::EXECUTABLE);
            let is_code = !abi::frames::is_entry(frame)
                && !code.is_null()
                && Py_TYPE(code) == &raw mut PyCode_Type;
            if is_code {
                if sample.depth == MAX_FRAMES {
                    sample.is_cut = true;
                    return;
                }
                let at: usize = get(frame, f::INSTR_PTR);
                let native = usize::from(frames::is_native(frame));
                sample.frames[sample.depth] = (code as usize, at & !IS_NATIVE | native);
                sample.depth += 1;
            }
            frame = get(frame, f::PREVIOUS);
        }
    }
}

/// Active sampling. Dropping it ends it.
pub struct Sampler {
    shared: Arc<Shared>,
    /// The time at which the thread is to be started again.
    resume_at: Option<Instant>,
    thread: Option<JoinHandle<()>>,
}

struct Shared {
    stops: Mutex<bool>,
    wakes: Condvar,
    /// Called repeatedly while samples wait.
    ask: fn(),
    began: Instant,
    /// The thread's number in the system.
    number: AtomicI32,
}

impl Sampler {
    /// Starts sampling. Another thread, without the GIL, calls `ask` when samples are to be
    /// [drained](Sampler::drain).
    ///
    /// # Errors
    /// The reason why sampling is impossible here.
    pub fn start(ask: fn(), began: Instant) -> Result<Sampler, String> {
        // SAFETY: the interpreter exists.
        let interpreter = unsafe { PyInterpreterState_Main() };
        MAIN.store(interpreter.cast(), Ordering::Relaxed);
        if RING.load(Ordering::Acquire).is_null() {
            RING.store(Box::into_raw(Box::new(Ring::new())), Ordering::Release);
        }
        // Samples of an earlier recording may name deallocated code objects.
        Sampler::drain(|_| ());
        if let Some(ring) = ring() {
            ring.lost.store(0, Ordering::Relaxed);
        }
        install_handler()?;
        IS_ON.store(true, Ordering::Relaxed);
        let shared = Arc::new(Shared {
            stops: Mutex::new(false),
            wakes: Condvar::new(),
            ask,
            began,
            number: AtomicI32::new(0),
        });
        let mut sampler = Sampler {
            shared,
            resume_at: None,
            thread: None,
        };
        sampler.resume()?;
        Ok(sampler)
    }

    /// Starts the thread: at first, and after a fork.
    ///
    /// # Errors
    /// The reason why it can't be started.
    pub fn resume(&mut self) -> Result<(), String> {
        if self.thread.is_some() {
            return Ok(());
        }
        *self
            .shared
            .stops
            .lock()
            .unwrap_or_else(PoisonError::into_inner) = false;
        self.resume_at = None;
        let shared = self.shared.clone();
        let builder = std::thread::Builder::new().name("cladonia-look".into());
        let own = workers::without_signals(|| builder.spawn(move || look(&shared)));
        self.thread = Some(own.map_err(|error| format!("no thread can be started: {error}"))?);
        Ok(())
    }

    /// Ends the thread, and with it the timers: before a fork, since Python warns if there are
    /// several threads.
    pub fn pause(&mut self) {
        if let Some(thread) = self.thread.take() {
            *self
                .shared
                .stops
                .lock()
                .unwrap_or_else(PoisonError::into_inner) = true;
            self.shared.wakes.notify_all();
            workers::join(thread, &self.shared.number);
        }
    }

    /// A fork is over, and this is the parent. Python counts the threads once all handlers of a
    /// fork have run, ours among the first: the thread is started a while later.
    pub fn resume_later(&mut self) {
        self.resume_at = Some(Instant::now() + workers::AFTER_FORK);
    }

    /// True if it is time to [resume](Sampler::resume).
    pub fn is_due(&self) -> bool {
        self.resume_at.is_some_and(|at| at <= Instant::now())
    }

    /// Adjusts to a fork in the child, which has none of the parent's threads and timers.
    pub fn after_fork_in_child(&mut self) {
        if let Some(ring) = ring() {
            // The waiting samples are the parent's; a handler that was writing does not exist here.
            for slot in &ring.slots {
                slot.state.store(FREE, Ordering::Relaxed);
            }
            let head = ring.head.load(Ordering::Relaxed);
            ring.tail.store(head, Ordering::Release);
        }
    }

    /// Passes each waiting sample to `sink`, all of them: the objects that they name may be
    /// deallocated after this.
    ///
    /// The caller has the GIL, so there is no other reader.
    pub fn drain(mut sink: impl FnMut(&Sample)) {
        let Some(ring) = ring() else { return };
        while ring.waiting() > 0 {
            let slot = &ring.slots[ring.tail.load(Ordering::Relaxed) % SLOTS];
            while slot.state.load(Ordering::Acquire) != WRITTEN {
                // Its handler is still writing, on another thread, and does not need this one to
                // finish.
                std::thread::yield_now();
            }
            // SAFETY: it is written, and no handler takes it before the tail has moved.
            sink(unsafe { &*slot.sample.get() });
            pass(ring);
        }
    }

    /// Number of periods without room in the ring.
    pub fn lost() -> u64 {
        ring().map_or(0, |ring| ring.lost.load(Ordering::Relaxed))
    }
}

impl Drop for Sampler {
    fn drop(&mut self) {
        self.pause();
        IS_ON.store(false, Ordering::Relaxed);
    }
}

fn ring() -> Option<&'static Ring> {
    // SAFETY: null, or a ring that is never freed.
    unsafe { RING.load(Ordering::Acquire).as_ref() }
}

/// Frees the slot at the tail.
fn pass(ring: &Ring) {
    let tail = ring.tail.load(Ordering::Relaxed);
    ring.slots[tail % SLOTS]
        .state
        .store(FREE, Ordering::Relaxed);
    ring.tail.store(tail.wrapping_add(1), Ordering::Release);
}

/// Installs the handler, unless the program has one.
fn install_handler() -> Result<(), String> {
    // SAFETY: the structures are filled before they are read; the handler has the signature that
    // the system expects.
    unsafe {
        let mut known: libc::sigaction = std::mem::zeroed();
        libc::sigaction(libc::SIGPROF, std::ptr::null(), &mut known);
        let ours = on_signal as *const () as usize;
        if known.sa_sigaction == ours {
            return Ok(());
        }
        if known.sa_sigaction != libc::SIG_DFL {
            return Err("SIGPROF is the program's own".to_owned());
        }
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = ours;
        action.sa_flags = libc::SA_SIGINFO | libc::SA_RESTART | libc::SA_ONSTACK;
        libc::sigemptyset(&mut action.sa_mask);
        match libc::sigaction(libc::SIGPROF, &action, std::ptr::null_mut()) {
            0 => Ok(()),
            _ => Err(std::io::Error::last_os_error().to_string()),
        }
    }
}

/// A thread's timer.
struct Timer(libc::timer_t);

// SAFETY: a number of the system's.
unsafe impl Send for Timer {}

impl Timer {
    /// A timer that runs on the processor time of a thread of this process.
    fn new(thread: libc::pid_t) -> Option<Timer> {
        /// `SIGEV_THREAD_ID`: the signal goes to one thread.
        const TO_THREAD: c_int = 4;
        // A thread's clock, from its id: see `CPUCLOCK_PERTHREAD` and `CPUCLOCK_SCHED` of Linux.
        let clock = (!thread << 3) | 6;
        // SAFETY: the structures are filled before they are read.
        unsafe {
            let mut event: libc::sigevent = std::mem::zeroed();
            event.sigev_notify = TO_THREAD;
            event.sigev_signo = libc::SIGPROF;
            event.sigev_notify_thread_id = thread;
            let mut timer: libc::timer_t = std::mem::zeroed();
            if libc::timer_create(clock, &mut event, &mut timer) != 0 {
                return None;
            }
            let timer = Timer(timer);
            let period = libc::timespec {
                tv_sec: 0,
                tv_nsec: PERIOD.as_nanos() as _,
            };
            let times = libc::itimerspec {
                it_interval: period,
                it_value: period,
            };
            let is_set = libc::timer_settime(timer.0, 0, &times, std::ptr::null_mut()) == 0;
            is_set.then_some(timer)
        }
    }
}

impl Drop for Timer {
    fn drop(&mut self) {
        // SAFETY: it was created, and is deleted once.
        unsafe { libc::timer_delete(self.0) };
    }
}

/// The loop of our thread: runs until it is to stop.
fn look(shared: &Shared) {
    // SAFETY: reads an id.
    shared
        .number
        .store(unsafe { libc::gettid() }, Ordering::Relaxed);
    let mut timers: HashMap<libc::pid_t, Option<Timer>> = HashMap::new();
    let mut stops = shared.stops.lock().unwrap_or_else(PoisonError::into_inner);
    while !*stops {
        drop(stops);
        let ticks = shared.began.elapsed().as_millis() / LOOK.as_millis();
        TICK.store(ticks as u32, Ordering::Relaxed);
        let threads = threads();
        timers.retain(|thread, _| threads.contains(thread));
        for thread in threads {
            // A thread that is not to be sampled gets an entry too: it was examined.
            timers
                .entry(thread)
                .or_insert_with(|| (!is_ours(thread)).then(|| Timer::new(thread)).flatten());
        }
        if ring().is_some_and(|ring| ring.waiting() > SLOTS / 4) {
            (shared.ask)();
        }
        stops = shared.stops.lock().unwrap_or_else(PoisonError::into_inner);
        if !*stops {
            let woken = shared.wakes.wait_timeout(stops, LOOK);
            stops = woken.unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

/// The threads of this process.
fn threads() -> Vec<libc::pid_t> {
    let entries = std::fs::read_dir("/proc/self/task").into_iter().flatten();
    let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    names.filter_map(|name| name.parse().ok()).collect()
}

/// True for a thread of Cladonia's own, which runs no Python.
fn is_ours(thread: libc::pid_t) -> bool {
    let name = std::fs::read_to_string(format!("/proc/self/task/{thread}/comm"));
    let is_named = name.is_ok_and(|name| matches!(name.trim_end(), "cladonia" | "cladonia-look"));
    is_named && thread != std::process::id() as libc::pid_t
}
