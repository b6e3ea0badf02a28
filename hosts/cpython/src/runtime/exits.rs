//! The exit hook: from an exit record back to the interpreter.
//!
//! A function unit's frame becomes the interpreter's, and the hook runs the rest of the function in
//! it. A loop unit's frame already is the interpreter's: the hook returns [`GO_ON`] through the
//! unit, and the interpreter continues in the frame.
//!
//! For example, `x + 1` was compiled for ints, and `x` is a float. The exit record lists the locals
//! and the operand stack before the addition, and the interpreter repeats the addition.

use super::capi::*;
use super::rebuilt::{self, Continues, Rebuilt};
use super::units::{InlinedShape, Kind, UnitRef, UnitState};
use super::{Gil, abi, frames, generators, healing, local_events, recording};
use crate::helpers::traceback;
use abi::tables::{self, HandlerEntry};
use abi::{code_units, eval_breaker, frame as f, frames as state, slots, thread as t};
use cladonia::exits::{CONTEXT_WORDS, ExitKind, ExitRecord, Source, VirtualKind};
use pyo3_ffi::*;

/// The value that a loop unit returns to make the interpreter continue in the frame.
pub const GO_ON: usize = 1;

/// A code unit that raises the exception on the stack again, with the position of the raising
/// instruction below it. It lies outside the code of `shape`, so no handler of `shape` covers it.
fn reraise_unit(shape: &CodeShape) -> Option<*const u8> {
    let units = unit_count(shape);
    code_units::reraise_units().find(|&p| {
        let distance = ((p as isize - shape.units() as isize) / 2) as i32;
        distance < 0 || distance as i64 > units
    })
}

/// Code units of a code object.
fn unit_count(shape: &CodeShape) -> i64 {
    // SAFETY: the code object is alive.
    unsafe { get::<isize>(shape.code.cast(), abi::object::VAR_SIZE) as i64 }
}

/// The exit hook, which compiled code calls for a side exit: see [`cladonia::host`] for the
/// convention.
///
/// # Safety
/// Called by a unit with its own token, one of its exits, and that exit's words.
pub unsafe extern "C" fn exit(token: u64, number: u64, buffer: *const u64) -> Object {
    // SAFETY: compiled code runs with the interpreter's lock held.
    let gil = unsafe { Gil::held() };
    generators::announce();
    // SAFETY: the unit is running, so its state is alive, and stays so until the hook returns.
    unsafe {
        let unit = token as UnitRef;
        let ts = *buffer as Thread;
        let frame = *buffer.add(1) as Frame;
        // Nothing changes the shared record: units are only ever replaced.
        let record: *const ExitRecord =
            &(&(*unit).unit).as_ref().expect("a running unit").exits[number as usize];
        // The values that the frame makes visible are copied before anything can change them.
        let words = if (*record).shown.is_empty() {
            None
        } else {
            Some((*record).all_words(buffer))
        };
        let buffer = words.as_ref().map_or(buffer, |words| words.as_ptr());
        let result = side_exit(gil, ts, frame, unit, &*record, number, buffer);
        // The frame that the unit pushed and counted is the interpreter's now, and has returned or
        // is suspended. A loop's frame was borrowed from the interpreter.
        if !matches!((*unit).kind, Kind::Loop { .. }) {
            (*unit).leave();
        }
        result
    }
}

unsafe fn side_exit(
    gil: Gil,
    ts: Thread,
    frame: Frame,
    unit: UnitRef,
    record: &ExitRecord,
    number: u64,
    buffer: *const u64,
) -> Object {
    // SAFETY: the exit hook's promises.
    unsafe {
        let state = &*unit;
        let (shape, kind) = (state.shape, state.kind);
        let (pos, resume) = state.positions[record.pc.0 as usize];
        // The frame is visible from here on.
        traceback::complete(ts);
        let is_open = frames::is_materialised(frame);
        let raises = match record.kind {
            ExitKind::Pending => !get::<Object>(ts, t::CURRENT_EXCEPTION).is_null(),
            kind => kind.raises(),
        };
        if raises {
            traceback::ensure_raised(ts);
        }
        let raised_out = raises && !is_open && is_raised_out(state, record, ts, pos);
        if kind == Kind::Generator {
            // The words that the record needs were copied. The interpreter pushes its frames over
            // them.
            frames::give_up_words(ts, frames::words(frame, &shape));
        }
        // From here on the interpreter owns the contents of the slots.
        frames::unmark(frame);
        if is_open {
            healing::count_opened(gil, unit);
        }
        if raised_out {
            gil.runtime().recording.exited(&*unit, record, &[]);
            healing::count_exit(gil, unit, number as usize, record);
            return raise_out(ts, frame, state, record, buffer, pos);
        }
        let at = shape.units().add(2 * pos as usize);
        // A pending exception must survive the boxing and dropping below.
        let exception = if raises {
            take_exception(ts)
        } else {
            std::ptr::null_mut()
        };
        if record.kind != ExitKind::Reraise {
            put(frame, f::INSTR_PTR, at);
        }
        let mut drops = Vec::new();
        let mut values = Values::new(record, buffer, &state.inlined);
        if !is_open {
            for &(slot, source) in &record.locals {
                let place = f::LOCALSPLUS + 8 * slot as i32;
                let value = values.of(source, get(frame, place));
                let old: Object = get(frame, place);
                if old != value {
                    put(frame, place, value);
                    if !old.is_null() {
                        drops.push(old);
                    }
                }
            }
        } else {
            for &(_, source) in &record.locals {
                if let Source::Owned(n) = source {
                    drops.push(*buffer.add(n as usize) as Object);
                }
            }
        }
        let base = f::LOCALSPLUS + 8 * shape.nlocalsplus;
        for (index, &source) in record.stack.iter().enumerate() {
            let place = base + 8 * index as i32;
            let value = values.of(source, get(frame, place));
            put(frame, place, value);
        }
        let top = shape.nlocalsplus + record.stack.len() as i32;
        state::set_depth(frame, top);
        slots::show(frame, top);
        write_names(frame, shape, record, &mut values);
        let mut within = Rebuilt::inlined(state, record, &mut values);
        let lost = values.finish(&mut drops);
        if gil.runtime().recording.is_on() {
            let operands = recording::operands_of(&*unit, record, frame);
            gil.runtime().recording.exited(&*unit, record, &operands);
        }
        healing::note_class(gil, unit, record, frame);
        healing::note_function(gil, unit, record, frame);
        healing::count_exit(gil, unit, number as usize, record);
        for object in drops {
            Py_XDECREF(object);
        }

        if let Some(innermost) = within.last_mut() {
            // Inlined code exits before it raises, except for lack of memory for a tuple.
            match (exception.is_null(), lost.is_null()) {
                (true, true) => {}
                (true, false) => innermost.lose(lost),
                (false, _) => {
                    innermost.lose(exception);
                    Py_XDECREF(lost);
                }
            }
            // From here on the frame's slots are visible as they are now.
            disown(frame, kind);
            let behind = match rebuilt::run(gil, ts, within).come_back(frame) {
                Continues::Behind => 1,
                Continues::Again => 0,
                Continues::Raised => return raise(gil, ts, frame, &shape, kind, pos, true),
            };
            let next = state.positions[record.pc.0 as usize + behind].1;
            put(frame, f::INSTR_PTR, shape.units().add(2 * next as usize));
            return go_on(gil, ts, frame, kind, true);
        }
        let raised = if !exception.is_null() {
            exception
        } else {
            lost
        };
        if !lost.is_null() && lost != raised {
            Py_DECREF(lost);
        }
        if raised.is_null() {
            put(frame, f::INSTR_PTR, shape.units().add(2 * resume as usize));
            return go_on(gil, ts, frame, kind, false);
        }
        raise_again(ts, raised);
        drop_consumed(frame, state.consumed[record.pc.0 as usize]);
        if record.kind == ExitKind::Reraise {
            return unwind(gil, ts, frame, &shape, kind, pos, false);
        }
        raise(gil, ts, frame, &shape, kind, pos, false)
    }
}

/// True if an exit only unwinds the frame with the pending exception: the frame has no handler for
/// it, no monitoring tool listens, and only boxes have to be allocated.
unsafe fn is_raised_out(unit: &UnitState, record: &ExitRecord, ts: Thread, pos: u32) -> bool {
    // SAFETY: the exit hook's promises.
    unsafe {
        matches!(unit.kind, Kind::Function | Kind::Generator)
            && record.names.is_empty()
            && record.virtuals.is_empty()
            && record.inlined.is_empty()
            && eval_breaker::version(ts) == unit.checked.pending.get()
            && handler_of(&unit.shape, pos).is_none()
    }
}

/// Unwinds the frame with the pending exception: the fast path of [`side_exit`] and [`unwind`].
unsafe fn raise_out(
    ts: Thread,
    frame: Frame,
    unit: &UnitState,
    record: &ExitRecord,
    buffer: *const u64,
    pos: u32,
) -> Object {
    // SAFETY: the exit hook's promises, and `is_raised_out`.
    unsafe {
        let is_first = record.kind != ExitKind::Reraise;
        if is_first {
            put(
                frame,
                f::INSTR_PTR,
                unit.shape.units().add(2 * pos as usize),
            );
        }
        if !record.locals.is_empty() {
            box_locals(ts, frame, record, buffer);
        }
        let drop_entry = |index: usize| {
            if let Source::Owned(n) = record.stack[index] {
                Py_XDECREF(*buffer.add(n as usize) as Object);
            }
        };
        let top = record.stack.len();
        let consumed = unit.consumed[record.pc.0 as usize];
        for depth in consumed {
            drop_entry(top - 1 - *depth as usize);
        }
        if is_first {
            traceback::add(ts);
        }
        for index in (0..top - consumed.len()).rev() {
            drop_entry(index);
        }
        disown(frame, unit.kind);
        slots::show(frame, state::depth(frame));
        unlink(ts, frame);
        _PyEval_FrameClearAndPop(ts, frame);
        std::ptr::null_mut()
    }
}

/// Stores the raw locals of a frame into their slots while an exception is pending. A local whose
/// box cannot be allocated becomes None.
unsafe fn box_locals(ts: Thread, frame: Frame, record: &ExitRecord, buffer: *const u64) {
    // SAFETY: the exit hook's promises; the record has no virtual objects.
    unsafe {
        let exception = take_exception(ts);
        let mut values = Values::new(record, buffer, &[]);
        for &(slot, source) in &record.locals {
            let place = f::LOCALSPLUS + 8 * slot as i32;
            let old: Object = get(frame, place);
            let value = values.of(source, old);
            if value != old {
                put(frame, place, value);
                Py_XDECREF(old);
            }
        }
        Py_XDECREF(values.finish(&mut Vec::new()));
        raise_again(ts, exception);
    }
}

/// Drops the operands that the raising instruction itself drops, in its order.
unsafe fn drop_consumed(frame: Frame, depths: &[u8]) {
    // SAFETY: the operands are the top of the frame's stack, complete and owned.
    unsafe {
        let top: i32 = state::depth(frame);
        state::set_depth(frame, top - depths.len() as i32);
        // Code that inspects the frame meanwhile sees a stack without them: nothing is pushed in
        // their place before the exception is handled.
        for depth in depths {
            let operand: slots::Word = get(frame, f::LOCALSPLUS + 8 * (top - 1 - *depth as i32));
            slots::close(operand);
        }
    }
}

/// Takes the pending exception from the thread; null if there is none.
///
/// # Safety
/// `ts` is the current thread.
#[inline(always)]
unsafe fn take_exception(ts: Thread) -> Object {
    // SAFETY: the caller's promise.
    unsafe {
        let exception = get(ts, t::CURRENT_EXCEPTION);
        put::<Object>(ts, t::CURRENT_EXCEPTION, std::ptr::null_mut());
        exception
    }
}

/// Makes an exception pending. It replaces one that is pending already.
///
/// # Safety
/// `ts` is the current thread; the reference is taken over.
#[inline(always)]
unsafe fn raise_again(ts: Thread, exception: Object) {
    // SAFETY: the caller's promise.
    unsafe {
        let old: Object = get(ts, t::CURRENT_EXCEPTION);
        put(ts, t::CURRENT_EXCEPTION, exception);
        Py_XDECREF(old);
    }
}

/// A word of an exit buffer.
///
/// # Safety
/// The buffer has it.
unsafe fn word(buffer: *const u64, n: u32) -> u64 {
    debug_assert!(n >= CONTEXT_WORDS, "a source in the context words");
    // SAFETY: the caller's promise.
    unsafe { *buffer.add(n as usize) }
}

/// The objects that an exit's record describes, allocated on first use.
pub(super) struct Values<'a> {
    record: &'a ExitRecord,
    buffer: *const u64,
    /// The unit's table of inlined code.
    inlined: &'a [InlinedShape],
    /// The virtual objects that were materialised; they own their fields now.
    made: Vec<Object>,
    /// Fields of objects that could not be allocated.
    orphans: Vec<Object>,
    /// The exception of the first object that could not be allocated.
    lost: Object,
}

impl<'a> Values<'a> {
    /// # Safety
    /// `buffer` has the record's words and is not read after it is gone.
    pub(super) unsafe fn new(
        record: &'a ExitRecord,
        buffer: *const u64,
        inlined: &'a [InlinedShape],
    ) -> Values<'a> {
        Values {
            record,
            buffer,
            inlined,
            made: vec![std::ptr::null_mut(); record.virtuals.len()],
            orphans: Vec::new(),
            lost: std::ptr::null_mut(),
        }
    }

    /// The object of a source, owned; None if it cannot be allocated.
    ///
    /// # Safety
    /// Words that the record calls objects are objects or null; each owned one is requested once.
    pub(super) unsafe fn of(&mut self, source: Source, current: Object) -> Object {
        let buffer = self.buffer;
        // SAFETY: the record's words are in the buffer.
        let word = |n: u32| unsafe { word(buffer, n) };
        // SAFETY: the caller's promise.
        let value = unsafe {
            match source {
                Source::Keep => return current,
                Source::Null => return std::ptr::null_mut(),
                Source::Owned(n) => return word(n) as Object,
                Source::Borrowed(n) => {
                    Py_XINCREF(word(n) as Object);
                    return word(n) as Object;
                }
                Source::Const(object) => return Py_NewRef(object as Object),
                Source::Int(n) => PyLong_FromLongLong(word(n) as i64),
                Source::IntPlus(n, more) => {
                    PyLong_FromLongLong((word(n) as i64).wrapping_add(more.into()))
                }
                Source::ConstInt(n) => PyLong_FromLongLong(n),
                Source::Float(n) => PyFloat_FromDouble(f64::from_bits(word(n))),
                Source::Bool(n) => PyBool_FromLong((word(n) & 1 != 0) as _),
                Source::IntIf(_, bound) | Source::FloatIf(_, bound) if word(bound) & 1 == 0 => {
                    return std::ptr::null_mut();
                }
                Source::IntIf(n, _) => PyLong_FromLongLong(word(n) as i64),
                Source::FloatIf(n, _) => PyFloat_FromDouble(f64::from_bits(word(n))),
                Source::Virtual(n) => return self.virtual_object(n as usize),
            }
        };
        self.or_none(value)
    }

    /// The value, or None if it could not be allocated; the first such exception is kept.
    fn or_none(&mut self, value: Object) -> Object {
        if !value.is_null() {
            return value;
        }
        // SAFETY: the allocation failed, so an exception is pending.
        unsafe {
            let error = PyErr_GetRaisedException();
            if self.lost.is_null() {
                self.lost = error;
            } else {
                Py_XDECREF(error);
            }
            Py_NewRef(Py_None())
        }
    }

    /// A reference to the virtual object, which is materialised on first use.
    unsafe fn virtual_object(&mut self, n: usize) -> Object {
        // SAFETY: the caller's promise. An object's fields have smaller numbers than the object, so
        // the recursion terminates.
        unsafe {
            if !self.made[n].is_null() {
                return Py_NewRef(self.made[n]);
            }
            let object = &self.record.virtuals[n];
            if let Some((flag, other)) = object.instead
                && word(self.buffer, flag) & 1 == 0
            {
                return self.of(other, std::ptr::null_mut());
            }
            let mut fields = Vec::with_capacity(object.fields.len());
            for &field in &object.fields {
                fields.push(self.of(field, std::ptr::null_mut()));
            }
            let made = match object.kind {
                VirtualKind::Generator { code, at } => {
                    let InlinedShape {
                        func,
                        shape,
                        positions,
                    } = &self.inlined[code as usize];
                    let at = shape.units().add(2 * positions[at.0 as usize].1 as usize);
                    if func.is_null() {
                        // The function is behind the locals; the generator takes a reference.
                        let mut contents = fields.clone();
                        let function = contents.remove(shape.nlocalsplus as usize);
                        let made = generators::suspended(function, shape.code, at, &contents);
                        if !made.is_null() {
                            Py_DECREF(function);
                        }
                        made
                    } else {
                        generators::suspended(*func, shape.code, at, &fields)
                    }
                }
                _ => frames::virtual_of(&object.kind, &fields),
            };
            if made.is_null() {
                self.orphans.extend(fields);
            }
            self.made[n] = self.or_none(made);
            self.made[n]
        }
    }

    /// The exception of the first failed allocation, or null. References that nothing has taken
    /// over are added to `drops`.
    ///
    /// # Safety
    /// As for [`Values::of`].
    pub(super) unsafe fn finish(self, drops: &mut Vec<Object>) -> Object {
        drops.extend(self.orphans);
        for (object, made) in self.record.virtuals.iter().zip(self.made) {
            for field in object.fields.iter().filter(|_| made.is_null()) {
                if let Source::Owned(n) = field {
                    // SAFETY: the record's words are in the buffer.
                    drops.push(unsafe { *self.buffer.add(*n as usize) } as Object);
                }
            }
        }
        self.lost
    }
}

/// Stores the globals that the unit kept in registers.
unsafe fn write_names(
    frame: Frame,
    shape: CodeShape,
    record: &ExitRecord,
    values: &mut Values<'_>,
) {
    // SAFETY: a frame has globals; names are a tuple of strings.
    unsafe {
        if record.names.is_empty() {
            return;
        }
        let namespace: Object = get(frame, f::GLOBALS);
        let names: Object = get(shape.code.cast(), abi::code::NAMES);
        for write in &record.names {
            let name = PyTuple_GetItem(names, write.name as Py_ssize_t);
            let value = values.of(write.source, std::ptr::null_mut());
            let failed = if value.is_null() {
                PyObject_DelItem(namespace, name) < 0
            } else {
                PyObject_SetItem(namespace, name, value) < 0
            };
            Py_XDECREF(value);
            if failed {
                Py_DECREF(values.or_none(std::ptr::null_mut()));
            }
        }
    }
}

/// Lets the interpreter continue at the frame's `instr_ptr`.
unsafe fn go_on(gil: Gil, ts: Thread, frame: Frame, kind: Kind, owned: bool) -> Object {
    // SAFETY: the caller's: the frame is the thread's.
    unsafe { local_events::renew(gil, ts, frame) };
    match kind {
        Kind::Loop { .. } => GO_ON as Object,
        // SAFETY: the frame is complete and the innermost one of its thread.
        Kind::Function | Kind::Generator => unsafe {
            if !owned {
                disown(frame, kind);
            }
            unlink(ts, frame);
            _PyEval_EvalFrameDefault(ts, frame, 0)
        },
    }
}

/// Makes a native frame the interpreter's.
unsafe fn disown(frame: Frame, kind: Kind) {
    // SAFETY: the caller's frame is native; a generator's and a borrowed one own their references
    // already.
    unsafe {
        match kind {
            Kind::Generator | Kind::Loop { .. } => state::set_mark(frame, 0),
            Kind::Function => frames::own(frame),
        }
    }
}

/// Lets the interpreter continue at `resume` in a frame that is its own already.
///
/// # Safety
/// The frame is complete, owns its references, and is the innermost one of its thread.
pub(super) unsafe fn run_owned(
    gil: Gil,
    ts: Thread,
    frame: Frame,
    shape: &CodeShape,
    resume: u32,
) -> Object {
    // SAFETY: the caller's promise.
    unsafe {
        put(frame, f::INSTR_PTR, shape.units().add(2 * resume as usize));
        go_on_owned(gil, ts, frame)
    }
}

/// Raises the pending exception at `pos` of a frame that is the interpreter's own already.
///
/// # Safety
/// As for [`run_owned`].
pub(super) unsafe fn raise_owned(
    gil: Gil,
    ts: Thread,
    frame: Frame,
    shape: &CodeShape,
    pos: u32,
) -> Object {
    // SAFETY: the caller's promise.
    unsafe {
        abi::recursion::take_native(ts);
        raise(gil, ts, frame, shape, Kind::Function, pos, true)
    }
}

/// Raises the pending exception at `pos` of a generator's frame that is the interpreter's own
/// already.
///
/// # Safety
/// As for [`run_owned`].
pub(super) unsafe fn raise_in_generator(
    gil: Gil,
    ts: Thread,
    frame: Frame,
    shape: &CodeShape,
    pos: u32,
) -> Object {
    // SAFETY: the caller's promise.
    unsafe {
        abi::recursion::take_native(ts);
        raise(gil, ts, frame, shape, Kind::Generator, pos, true)
    }
}

/// Lets the interpreter continue in a frame that is its own already.
///
/// # Safety
/// As for [`run_owned`].
pub(super) unsafe fn go_on_owned(gil: Gil, ts: Thread, frame: Frame) -> Object {
    // SAFETY: the caller's promise.
    unsafe {
        abi::recursion::take_native(ts);
        go_on(gil, ts, frame, Kind::Generator, true)
    }
}

/// Removes a native frame from the thread's chain and gives back its recursion count.
unsafe fn unlink(ts: Thread, frame: Frame) {
    // SAFETY: the frame is `current_frame`.
    unsafe {
        put::<Frame>(ts, t::CURRENT_FRAME, get(frame, f::PREVIOUS));
        abi::recursion::give_back(ts);
    }
}

/// The interpreter's actions at its label `error`, for the pending exception.
unsafe fn raise(
    gil: Gil,
    ts: Thread,
    frame: Frame,
    shape: &CodeShape,
    kind: Kind,
    pos: u32,
    owned: bool,
) -> Object {
    // SAFETY: as for `unwind`.
    unsafe {
        traceback::add(ts);
        _PyEval_MonitorRaise(ts, frame, shape.units().add(2 * pos as usize));
        unwind(gil, ts, frame, shape, kind, pos, owned)
    }
}

/// The interpreter's actions at its label `exception_unwind`, for the pending exception.
///
/// `owned` is true if the frame of a function owns its references already.
unsafe fn unwind(
    gil: Gil,
    ts: Thread,
    frame: Frame,
    shape: &CodeShape,
    kind: Kind,
    pos: u32,
    owned: bool,
) -> Object {
    // SAFETY: the frame is the innermost one, `instr_ptr` at the raising instruction (or at the one
    // that raised first), the stack as the record says.
    unsafe {
        let at: *mut u8 = get(frame, f::INSTR_PTR);
        let lasti = (at as isize - shape.units() as isize) / 2;
        let handler = handler_of(shape, pos);
        let depth = handler.map_or(0, |h| h.depth as i32);
        let exception = take_exception(ts);
        let mut top: i32 = state::depth(frame);
        let base = shape.nlocalsplus;
        while top > base + depth {
            top -= 1;
            let word: slots::Word = get(frame, f::LOCALSPLUS + 8 * top);
            state::set_depth(frame, top);
            slots::close(word);
        }
        let mut push = |word: slots::Word| {
            put(frame, f::LOCALSPLUS + 8 * top, word);
            top += 1;
            state::set_depth(frame, top);
        };
        if let Some(handler) = handler {
            if handler.lasti {
                push(slots::position(lasti as i64));
            }
            push(slots::word(exception));
            put(
                frame,
                f::INSTR_PTR,
                shape.units().add(2 * handler.target as usize),
            );
            return go_on(gil, ts, frame, kind, owned);
        }
        // No handler here. The interpreter unwinds the frame if a monitoring tool has to be told,
        // or if the frame is the interpreter's own.
        let told = super::monitoring::is_observed(gil, shape);
        let leaves = matches!(kind, Kind::Function | Kind::Generator);
        if (!leaves || told)
            && let Some(unit) = reraise_unit(shape)
        {
            push(slots::position(lasti as i64));
            push(slots::word(exception));
            put(frame, f::INSTR_PTR, unit);
            return go_on(gil, ts, frame, kind, owned);
        }
        raise_again(ts, exception);
        if !leaves {
            return std::ptr::null_mut();
        }
        if !owned {
            disown(frame, kind);
        }
        unlink(ts, frame);
        _PyEval_FrameClearAndPop(ts, frame);
        std::ptr::null_mut()
    }
}

/// A loop unit has returned null without an exit: raises the pending exception (with its traceback)
/// out of the frame, past its handlers.
///
/// # Safety
/// The frame is the interpreter's and the innermost one, its stack empty; an exception is pending.
pub unsafe fn raise_from(frame: Frame, shape: &CodeShape) {
    // SAFETY: the caller's promise; the stack has room, because it had for the unit's operands.
    unsafe {
        let exception = PyErr_GetRaisedException();
        let Some(unit) = reraise_unit(shape) else {
            return PyErr_SetRaisedException(exception);
        };
        let at: *mut u8 = get(frame, f::INSTR_PTR);
        let pos = (at as isize - shape.units() as isize) / 2;
        let slot = |entry: i32| f::LOCALSPLUS + 8 * (shape.nlocalsplus + entry);
        put(frame, slot(0), slots::position(pos as i64));
        slots::put(frame, slot(1), exception);
        state::set_depth(frame, shape.nlocalsplus + 2);
        put(frame, f::INSTR_PTR, unit);
    }
}

/// The handler of an exception raised at `pos`.
fn handler_of(shape: &CodeShape, pos: u32) -> Option<HandlerEntry> {
    // SAFETY: the table is a bytes object that the code object owns.
    let table = unsafe {
        let bytes: Object = get(shape.code.cast(), abi::code::EXCEPTION_TABLE);
        let size: isize = get(bytes.cast(), abi::object::VAR_SIZE);
        std::slice::from_raw_parts(
            bytes.cast::<u8>().offset(abi::bytes::DATA as isize),
            size as usize,
        )
    };
    tables::handler_at(table, pos)
}
