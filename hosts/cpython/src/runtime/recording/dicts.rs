//! A recording as Python objects. While objects are allocated the collector may run, and with it
//! the code that records: so nothing is borrowed then.

use super::super::Gil;
use super::super::capi::Object;
use super::super::stats::{Dict, number, text};
use super::functions::{Row, rows};
use super::profile::{Counts, Doing};
use super::sampler::{self, PERIOD, Sampler};
use super::{Event, What};
use pyo3_ffi::*;
use std::ptr::null_mut;
use std::sync::atomic::Ordering;
use std::time::Duration;

/// The recording as a dict, and ends it; `None` if there is none.
pub fn take(gil: Gil) -> Object {
    let recording = &gil.runtime().recording;
    recording.drain();
    let rows = {
        let state = recording.state.borrow();
        rows(gil, state.as_deref())
    };
    recording.is_on.set(false);
    let Some(state) = recording.state.take() else {
        // SAFETY: None is immortal.
        return unsafe { Py_NewRef(Py_None()) };
    };
    let mut state = *state;
    let seconds = state.began.elapsed();
    let (profile, codes) = (&state.profile, &state.codes);
    let dict = Dict::new();
    dict.set("seconds", float(seconds));
    dict.set("period", float(PERIOD));
    let reason = state.sampler.as_ref().err();
    dict.set(
        "not_sampled",
        reason.map_or_else(none, |reason| text(reason)),
    );
    dict.set("samples", number(profile.samples));
    dict.set("periods", number(profile.periods));
    dict.set("lost", number(Sampler::lost()));
    dict.set("cut", number(profile.cut));
    dict.set("loop_known", boolean(profile.is_loop_known()));
    dict.set("doing", list(Doing::ALL.iter().map(|(_, name)| text(name))));
    dict.set(
        "codes",
        list(codes.infos.iter().map(|info| {
            tuple([
                text(&info.name),
                text(&info.file),
                number(info.line.max(0) as u64),
            ])
        })),
    );
    dict.set(
        "tree",
        list(profile.nodes.iter().map(|node| {
            let native = match node.is_native {
                None => none(),
                Some(native) => boolean(native),
            };
            tuple([
                number(node.parent.into()),
                number(node.code.into()),
                native,
                counts(&node.own),
            ])
        })),
    );
    dict.set(
        "lines",
        list(profile.lines.iter().map(|(&(code, line, native), &count)| {
            tuple([
                number(code.into()),
                integer(line.into()),
                boolean(native),
                number(count),
            ])
        })),
    );
    let ticks = Dict::new();
    ticks.set(
        "seconds",
        float(sampler::tick_length() * (1 << profile.shift)),
    );
    ticks.set("doing", list(profile.ticks.iter().map(counts)));
    ticks.set(
        "exits",
        list(profile.exits.iter().map(|&count| number(count))),
    );
    dict.set("ticks", ticks.0);
    dict.set("events", list(state.events.iter().map(event)));
    dict.set("events_lost", number(state.events_lost));
    dict.set(
        "met",
        list(state.met.iter().map(|(met, &count)| {
            let row = Dict::new();
            row.set("code", number(met.code.into()));
            row.set("pc", number(met.pc.into()));
            row.set("line", integer(met.line.into()));
            row.set("reason", text(met.reason));
            row.set("classes", list(met.classes.iter().map(|class| text(class))));
            row.set("count", number(count));
            row.0
        })),
    );
    dict.set("met_lost", number(state.met_lost));
    let collections = Dict::new();
    collections.set("count", number(state.collections));
    collections.set("seconds", float(state.collected));
    dict.set("collections", collections.0);
    dict.set("functions", list(rows.iter().map(function)));
    sampler::COLLECTS.store(false, Ordering::Relaxed);
    sampler::COMPILES.store(false, Ordering::Relaxed);
    state.sampler = Err(String::new());
    given(dict)
}

/// The record of each function.
pub fn functions(gil: Gil) -> Object {
    let recording = &gil.runtime().recording;
    let rows = {
        let state = recording.state.borrow();
        rows(gil, state.as_deref())
    };
    list(rows.iter().map(function))
}

/// Counters, which are read often while a program runs.
pub fn live(gil: Gil) -> Object {
    let runtime = gil.runtime();
    let totals = &runtime.totals;
    let (mut entries, mut iterations, mut bytes) = (0, 0, 0);
    let units = runtime.units();
    for &unit in &units {
        // SAFETY: units in tables are alive.
        let unit = unsafe { &*unit };
        entries += unit.all_entries();
        iterations += unit.iterations.get();
        bytes += unit.unit.as_ref().map_or(0, |made| made.code.size());
    }
    let sums = totals.past_counts();
    let dict = Dict::new();
    dict.set("on", boolean(runtime.on.get()));
    dict.set("units", number(totals.units.get()));
    dict.set("units_live", number(units.len() as u64));
    dict.set(
        "units_waiting",
        number(runtime.retired.borrow().len() as u64),
    );
    dict.set("invalidated", number(totals.invalidated.get()));
    dict.set("exits", number(totals.exits.get()));
    dict.set("entries", number(entries + sums.0));
    dict.set("iterations", number(iterations + sums.1));
    dict.set("interpreted_calls", number(totals.interpreted_calls.get()));
    dict.set(
        "interpreted_iterations",
        number(totals.interpreted_iterations.get()),
    );
    dict.set("queue", number(runtime.workers.open_orders() as u64));
    dict.set(
        "compile_seconds",
        float(Duration::from_nanos(totals.compile_ns.get())),
    );
    dict.set(
        "compile_beside_seconds",
        float(Duration::from_nanos(totals.beside_ns.get())),
    );
    dict.set("longest_stall_seconds", float(totals.longest_stall.get()));
    dict.set("code_bytes", number(bytes as u64));
    dict.set("refused", number(sums.2));
    given(dict)
}

fn event(event: &Event) -> Object {
    let row = Dict::new();
    row.set("at", float(event.at));
    row.set("took", float(event.took));
    let kind = match event.what {
        What::Compiled => "compiled",
        What::Installed => "installed",
        What::Invalidated => "invalidated",
        What::Refused => "refused",
        What::Collected => "collected",
    };
    row.set("kind", text(kind));
    row.set(
        "code",
        event.code.map_or_else(none, |code| number(code.into())),
    );
    row.set("unit", event.unit.map_or_else(none, number));
    row.set("text", text(&event.text));
    row.0
}

fn function(row: &Row) -> Object {
    let dict = Dict::new();
    dict.set("name", text(&row.name));
    dict.set("file", text(&row.file));
    dict.set("line", integer(row.line.into()));
    dict.set(
        "function",
        if row.function.is_null() {
            none()
        } else {
            row.function
        },
    );
    dict.set(
        "code",
        row.code.map_or_else(none, |code| number(code.into())),
    );
    dict.set("native", boolean(row.is_native));
    dict.set("compiled", boolean(row.is_compiled));
    dict.set("refused", row.refused.as_deref().map_or_else(none, text));
    dict.set(
        "loops_refused",
        row.loops_refused.as_deref().map_or_else(none, text),
    );
    dict.set("interpreted_calls", number(row.calls));
    dict.set("fallbacks", number(row.fallbacks));
    dict.set("entries", number(row.entries));
    dict.set("iterations", number(row.iterations));
    dict.set("mismatches", number(row.mismatches));
    // SAFETY: this thread has the GIL.
    dict.set("gain_seconds", unsafe {
        PyFloat_FromDouble(row.gain as f64 / 1e9)
    });
    dict.set("versions", number(row.versions));
    dict.set("compile_seconds", float(row.compiled));
    dict.set("code_bytes", number(row.bytes));
    dict.set(
        "exits",
        list(row.exits.iter().map(|&(line, reason, count)| {
            let exit = Dict::new();
            exit.set("line", integer(line.into()));
            exit.set("reason", text(reason));
            exit.set("count", number(count));
            exit.0
        })),
    );
    let invalidated = Dict::new();
    for &(why, count) in &row.invalidated {
        invalidated.set(why, number(count));
    }
    dict.set("invalidated", invalidated.0);
    dict.set(
        "units",
        list(row.units.iter().map(|unit| {
            let row = Dict::new();
            row.set("number", number(unit.number));
            row.set("kind", text(unit.kind));
            row.set("line", integer(unit.line.into()));
            row.set("bytes", number(unit.bytes));
            row.set("entries", number(unit.entries));
            row.set("iterations", number(unit.iterations));
            row.set("exits", number(unit.exits));
            row.set("compile_seconds", float(unit.took));
            row.0
        })),
    );
    dict.0
}

/// The dict, unless an operation has failed.
fn given(dict: Dict) -> Object {
    // SAFETY: this thread has the GIL; the dict is ours.
    unsafe {
        if PyErr_Occurred().is_null() {
            return dict.0;
        }
        Py_XDECREF(dict.0);
        null_mut()
    }
}

fn none() -> Object {
    // SAFETY: None is immortal.
    unsafe { Py_NewRef(Py_None()) }
}

fn boolean(value: bool) -> Object {
    // SAFETY: this thread has the GIL.
    unsafe { PyBool_FromLong(value.into()) }
}

fn integer(value: i64) -> Object {
    // SAFETY: this thread has the GIL.
    unsafe { PyLong_FromLongLong(value) }
}

/// Seconds.
fn float(time: Duration) -> Object {
    // SAFETY: this thread has the GIL.
    unsafe { PyFloat_FromDouble(time.as_secs_f64()) }
}

fn counts(counts: &Counts) -> Object {
    list(counts.iter().map(|&count| number(count)))
}

/// A list that takes its items over. A failure leaves an exception, which is checked at the end.
fn list(items: impl Iterator<Item = Object>) -> Object {
    // SAFETY: this thread has the GIL; the items are ours.
    unsafe {
        let list = PyList_New(0);
        for item in items {
            if !list.is_null() && !item.is_null() {
                PyList_Append(list, item);
            }
            Py_XDECREF(item);
        }
        list
    }
}

/// A tuple that takes its items over.
fn tuple<const N: usize>(items: [Object; N]) -> Object {
    // SAFETY: this thread has the GIL; the items are ours, and a tuple takes them over.
    unsafe {
        let tuple = PyTuple_New(N as Py_ssize_t);
        if tuple.is_null() || items.iter().any(|item| item.is_null()) {
            items.iter().for_each(|&item| Py_XDECREF(item));
            Py_XDECREF(tuple);
            return null_mut();
        }
        for (place, item) in items.into_iter().enumerate() {
            PyTuple_SetItem(tuple, place as Py_ssize_t, item);
        }
        tuple
    }
}
