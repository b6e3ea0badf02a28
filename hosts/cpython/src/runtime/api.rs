//! The module `_cladonia`: the interface to Python.

use super::capi::*;
use super::compiling::{self, Refusal};
use super::function_state;
use super::healing::ForceExit;
use super::monitoring::{self, Monitor};
use super::units;
use super::workers::Insisting;
use super::{Gil, Options, ended, generators, listing, locals_proxy, recording, stats, symbols};
use crate::abi::AbiError;
use crate::capi::in_main_interpreter;
use crate::intrinsics;
use crate::objects::{self, collector, list_iterators};
use crate::{accesses, memory};
use cladonia::engine::Execution;
use pyo3_ffi::*;
use std::cell::UnsafeCell;
use std::ffi::{CString, c_int};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::null_mut;
use std::sync::atomic::{AtomicBool, AtomicPtr, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The reason why the JIT cannot work here, if it cannot: determined when the module is created.
static UNAVAILABLE: Mutex<Option<String>> = Mutex::new(None);
/// `NotCompiled`.
static NOT_COMPILED: AtomicPtr<PyObject> = AtomicPtr::new(null_mut());

/// A table that Python reads and that is constant after it was created.
struct Table<T>(UnsafeCell<T>);
// SAFETY: read by Python under the GIL.
unsafe impl<T> Sync for Table<T> {}

macro_rules! fastcall {
    ($name:literal, $function:expr, $doc:literal) => {
        PyMethodDef {
            ml_name: $name.as_ptr(),
            ml_meth: PyMethodDefPointer {
                PyCFunctionFast: $function,
            },
            ml_flags: METH_FASTCALL,
            ml_doc: $doc.as_ptr(),
        }
    };
}

static METHODS: Table<[PyMethodDef; 26]> = Table(UnsafeCell::new([
    fastcall!(
        c"available",
        available,
        c"None, or one line with the reason why the JIT cannot work here."
    ),
    fastcall!(
        c"interpreter",
        interpreter,
        c"A description of the running interpreter."
    ),
    fastcall!(
        c"enable",
        enable,
        c"enable(threshold, force_exit, oracle, without, check_facts, compile_threads, cache): compile and enter hot code."
    ),
    fastcall!(
        c"disable",
        disable,
        c"Undo every entry and compile nothing more."
    ),
    fastcall!(
        c"compile",
        compile,
        c"compile(f): compile a function now, or raise NotCompiled."
    ),
    fastcall!(
        c"is_compiled",
        is_compiled,
        c"is_compiled(f): True if calls of f enter machine code."
    ),
    fastcall!(
        c"why_not",
        why_not,
        c"why_not(f): the reason why f is not compiled, or None."
    ),
    fastcall!(c"stats", stats_dict, c"Counters, as a dict."),
    fastcall!(
        c"annotate",
        annotate,
        c"annotate(f, types, classes): the bindings and annotations of a function; its argument types, one per line, and the classes that they name."
    ),
    fastcall!(
        c"dump",
        dump,
        c"dump(f, stage): the text of f at one stage of compilation."
    ),
    fastcall!(
        c"inspect",
        inspect,
        c"inspect(f): the text of f at each stage of one compilation, with that of its unit and its host."
    ),
    fastcall!(
        c"record",
        record,
        c"record(): keep the input of each compilation."
    ),
    fastcall!(
        c"recorded",
        recorded,
        c"recorded(): the inputs that were kept, as sections of a document."
    ),
    fastcall!(
        c"export",
        export,
        c"export(code): a code object and all inside it as typed bytecode."
    ),
    fastcall!(
        c"compile_program",
        compile_program,
        c"compile_program(source, filename, has_cookie): the code of a main program."
    ),
    fastcall!(
        c"observe",
        observe,
        c"observe(samples): start a recording of the run, for the report."
    ),
    fastcall!(
        c"observed",
        observed,
        c"observed(): end the recording and return it as a dict; None if there is none."
    ),
    fastcall!(
        c"functions",
        functions,
        c"functions(): the record of each function, as dicts."
    ),
    fastcall!(c"live", live, c"live(): counters that are cheap to read, as a dict."),
    fastcall!(
        c"choose",
        choose,
        c"choose(only, not): compile only functions of modules in one list, and none of those in the other."
    ),
    fastcall!(
        c"advise",
        advise,
        c"advise(f): warn once if f is slower as machine code."
    ),
    fastcall!(
        c"soon",
        soon,
        c"soon(f): call f some milliseconds from now, from a pending call; at once if there is no worker."
    ),
    fastcall!(
        c"name_code",
        name_code,
        c"name_code(map, dump, debugger): give the names of machine code to profilers and debuggers."
    ),
    fastcall!(
        c"render",
        render,
        c"render(template, context): the text of a template with a dict's values, escaped for HTML."
    ),
    fastcall!(c"type_class", type_class, c"The class cladonia.Type."),
    PyMethodDef::zeroed(),
]));

/// The callbacks given to other modules: monitoring's two, and those that the process runs when it
/// forks or ends.
static CALLBACKS: Table<[PyMethodDef; 3]> = Table(UnsafeCell::new([
    fastcall!(c"cladonia_start", monitoring::on_start, c""),
    fastcall!(c"cladonia_jump", monitoring::on_jump, c""),
    PyMethodDef::zeroed(),
]));
static HOOKS: Table<[PyMethodDef; 5]> = Table(UnsafeCell::new([
    fastcall!(c"cladonia_after_fork", after_fork_in_child, c""),
    fastcall!(c"cladonia_at_exit", at_exit, c""),
    fastcall!(c"cladonia_gc", on_collection, c""),
    fastcall!(c"cladonia_before_fork", before_fork, c""),
    fastcall!(c"cladonia_forked", after_fork_in_parent, c""),
]));

static MODULE: Table<PyModuleDef> = Table(UnsafeCell::new(PyModuleDef {
    m_base: PyModuleDef_HEAD_INIT,
    m_name: c"_cladonia".as_ptr(),
    m_doc: c"The native part of cladonia.".as_ptr(),
    m_size: -1,
    m_methods: METHODS.0.get().cast(),
    m_slots: null_mut(),
    m_traverse: None,
    m_clear: None,
    m_free: None,
}));

/// Creates the module. `start` starts the runtime (it calls [`super::start`]) or returns the reason
/// why that is impossible.
///
/// # Safety
/// Called by the import system, with the GIL.
pub unsafe fn make_module(start: impl FnOnce(Gil, Object) -> Result<(), String>) -> Object {
    ended::pass_over_our_frames();
    // SAFETY: the tables live forever; statics are written under the GIL.
    unsafe {
        let module = PyModule_Create(MODULE.0.get());
        if module.is_null() {
            return module;
        }
        let mut not_compiled = NOT_COMPILED.load(Ordering::Relaxed);
        if not_compiled.is_null() {
            not_compiled = PyErr_NewExceptionWithDoc(
                c"cladonia.NotCompiled".as_ptr(),
                c"A function can't be compiled; the message is the reason.".as_ptr(),
                null_mut(),
                null_mut(),
            );
            if not_compiled.is_null() {
                Py_DECREF(module);
                return null_mut();
            }
            NOT_COMPILED.store(not_compiled, Ordering::Relaxed);
        }
        if PyModule_AddObjectRef(module, c"NotCompiled".as_ptr(), not_compiled) < 0 {
            Py_DECREF(module);
            return null_mut();
        }
        let gil = Gil::held();
        if gil.started().is_none() {
            let started = catch_unwind(AssertUnwindSafe(|| start(gil, not_compiled)))
                .unwrap_or_else(|_| Err("it failed while it started".to_owned()));
            *why_unavailable() = started.err();
            PyErr_Clear();
        }
        module
    }
}

/// The vectorcall that CPython gives to plain functions, read from a new one.
///
/// # Safety
/// The caller has the GIL.
pub unsafe fn pristine_vectorcall() -> Option<*const std::ffi::c_void> {
    // SAFETY: objects are created and dropped here.
    unsafe {
        let globals = PyDict_New();
        let func = PyRun_StringFlags(
            c"lambda: None".as_ptr(),
            Py_eval_input,
            globals,
            globals,
            null_mut(),
        );
        Py_XDECREF(globals);
        if func.is_null() {
            PyErr_Clear();
            return None;
        }
        let entry = get(func.cast(), super::abi::function::VECTORCALL);
        Py_DECREF(func);
        Some(entry)
    }
}

fn why_unavailable() -> MutexGuard<'static, Option<String>> {
    UNAVAILABLE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The reason why the JIT cannot work here. Interpreters that share the main one's lock can load
/// the module, too.
fn unavailable() -> Option<String> {
    if !in_main_interpreter() {
        return Some(AbiError::NotMainInterpreter.to_string());
    }
    why_unavailable().clone()
}

/// Runs the body of a function of the module; a panic becomes an exception.
pub(crate) fn guarded(body: impl FnOnce() -> Result<Object, ()>) -> Object {
    match catch_unwind(AssertUnwindSafe(body)) {
        Ok(Ok(object)) => object,
        Ok(Err(())) => null_mut(),
        Err(_) => raise(
            unsafe { PyExc_SystemError },
            "cladonia failed; the function stays interpreted",
        ),
    }
}

pub(crate) fn raise(class: Object, message: &str) -> Object {
    let message = CString::new(message.replace('\0', "?")).unwrap_or_default();
    // SAFETY: the class is an exception class.
    unsafe { PyErr_SetString(class, message.as_ptr()) };
    null_mut()
}

fn not_compiled(reason: &str) -> Result<Object, ()> {
    raise(NOT_COMPILED.load(Ordering::Relaxed), reason);
    Err(())
}

fn none() -> Result<Object, ()> {
    // SAFETY: None is immortal.
    Ok(unsafe { Py_NewRef(Py_None()) })
}

fn boolean(value: bool) -> Result<Object, ()> {
    // SAFETY: this thread has the GIL.
    Ok(unsafe { PyBool_FromLong(value as _) })
}

/// Exactly `N` arguments.
unsafe fn arguments<const N: usize>(
    args: *mut Object,
    count: Py_ssize_t,
) -> Result<[Object; N], ()> {
    if count as usize != N {
        // SAFETY: the class is an exception class.
        raise(
            unsafe { PyExc_TypeError },
            &format!("{N} arguments are needed, not {count}"),
        );
        return Err(());
    }
    // SAFETY: the array has `count` entries.
    Ok(std::array::from_fn(|i| unsafe { *args.add(i) }))
}

/// The one argument, a Python function.
unsafe fn function(object: Object) -> Result<Object, ()> {
    // SAFETY: the argument is an object.
    unsafe {
        if PyFunction_Check(object) == 0 {
            raise(PyExc_TypeError, "f must be a Python function");
            return Err(());
        }
    }
    Ok(object)
}

unsafe extern "C" fn available(_: Object, _: *mut Object, _: Py_ssize_t) -> Object {
    guarded(|| match unavailable() {
        Some(reason) => Ok(stats::text(&reason)),
        None => none(),
    })
}

/// Compiles bytes like the builtin `compile`, but without creating the classes of syntax trees,
/// which take a quarter of the instructions of the interpreter's start.
unsafe extern "C" fn compile_program(_: Object, args: *mut Object, count: Py_ssize_t) -> Object {
    // SAFETY: the interpreter's calling convention; the bytes live for the call.
    guarded(|| unsafe {
        let [source, filename, has_cookie] = arguments::<3>(args, count)?;
        let mut text = null_mut();
        // With a null size, bytes that contain a zero are rejected.
        if PyBytes_AsStringAndSize(source, &mut text, null_mut()) < 0 {
            raise(
                PyExc_SyntaxError,
                "source code string cannot contain null bytes",
            );
            return Err(());
        }
        let ignoring = match PyObject_IsTrue(has_cookie) {
            0 => IGNORE_COOKIE,
            1 => 0,
            _ => return Err(()),
        };
        let mut flags = PyCompilerFlags {
            cf_flags: SOURCE_IS_UTF8 | ignoring,
            cf_feature_version: super::abi::MINOR as c_int,
        };
        let code = Py_CompileStringObject(text, filename, Py_file_input, &mut flags, -1);
        if code.is_null() { Err(()) } else { Ok(code) }
    })
}

unsafe extern "C" fn interpreter(_: Object, _: *mut Object, _: Py_ssize_t) -> Object {
    guarded(|| Ok(stats::text(&super::abi::describe())))
}

unsafe extern "C" fn enable(_: Object, args: *mut Object, count: Py_ssize_t) -> Object {
    // SAFETY: the interpreter's calling convention.
    guarded(|| unsafe {
        let gil = Gil::held();
        let [
            threshold,
            force,
            oracle,
            without,
            check_facts,
            threads,
            cache,
        ] = arguments::<7>(args, count)?;
        if unavailable().is_some() {
            return none();
        }
        let mut options = Options::default();
        if threshold != Py_None() {
            let value = PyLong_AsLongLong(threshold);
            if value < 0 {
                if PyErr_Occurred().is_null() {
                    raise(PyExc_ValueError, "threshold must not be negative");
                }
                return Err(());
            }
            options.threshold = value as u64;
            options.weighs = false;
        }
        if force != Py_None() {
            options.force = ForceExit::parse(&text(force));
            if options.force.is_none() {
                raise(
                    PyExc_ValueError,
                    "force_exit must be 'none', 'count', 'first', 'seed:N' or 'one-by-one:K'",
                );
                return Err(());
            }
        }
        match PyObject_IsTrue(oracle) {
            0 => {}
            1 => options.execution = Execution::Oracle,
            _ => return Err(()),
        }
        // Counts must be deterministic.
        options.weighs &= options.force.is_none() && options.execution == Execution::Machine;
        options.check_facts = match PyObject_IsTrue(check_facts) {
            -1 => return Err(()),
            truth => truth != 0,
        };
        if threads != Py_None() {
            let value = PyLong_AsLong(threads);
            if value < 0 {
                if PyErr_Occurred().is_null() {
                    raise(PyExc_ValueError, "compile_threads must not be negative");
                }
                return Err(());
            }
            options.compile_threads = value as u32;
        }
        let mut folder = None;
        if cache != Py_None() {
            let (mut bytes, mut size) = (std::ptr::null_mut(), 0);
            if PyBytes_AsStringAndSize(cache, &mut bytes, &mut size) < 0 {
                return Err(());
            }
            let bytes = std::slice::from_raw_parts(bytes.cast::<u8>(), size as usize);
            folder = Some(crate::cache::path(bytes));
        }
        let mut passes = Vec::new();
        if without != Py_None() {
            passes = match cladonia::engine::optional_passes(&text(without)) {
                Ok(without) => without,
                Err(error) => {
                    raise(PyExc_ValueError, &error.to_string());
                    return Err(());
                }
            };
        }
        ready(gil)?;
        accesses::enable(options.force == Some(ForceExit::Count));
        gil.runtime().options.set(options);
        gil.runtime().without.replace(passes);
        gil.runtime().use_cache(folder);
        gil.runtime().on.set(true);
        if Monitor::start(gil, &*CALLBACKS.0.get()).is_err() {
            gil.runtime().on.set(false);
            return Err(());
        }
        // The memory used for examining the interpreter is not needed again.
        memory::give_back();
        none()
    })
}

/// Installs all watchers and hooks that compiled code relies on; `disable` undoes them.
fn ready(gil: Gil) -> Result<(), ()> {
    // SAFETY: this thread has the GIL.
    unsafe {
        if let Err(kind) = gil.runtime().watches.start(gil) {
            raise(PyExc_RuntimeError, &format!("no {kind} watcher is free"));
            return Err(());
        }
        locals_proxy::interpose();
        listing::interpose(gil);
        generators::slots::interpose();
        intrinsics::keep_deallocated_ints(true);
        collector::interpose();
        list_iterators::interpose();
        static HOOKED: AtomicBool = AtomicBool::new(false);
        if HOOKED.swap(true, Ordering::Relaxed) {
            return Ok(());
        }
        let hooks = HOOKS.0.get().cast::<PyMethodDef>();
        let os = PyImport_ImportModule(c"os".as_ptr());
        let register = if os.is_null() {
            null_mut()
        } else {
            PyObject_GetAttrString(os, c"register_at_fork".as_ptr())
        };
        if !register.is_null() {
            let (args, named) = (PyTuple_New(0), PyDict_New());
            for (name, row) in [
                (c"before", 3),
                (c"after_in_parent", 4),
                (c"after_in_child", 0),
            ] {
                let hook = PyCFunction_NewEx(hooks.add(row), null_mut(), null_mut());
                if !named.is_null() && !hook.is_null() {
                    PyDict_SetItemString(named, name.as_ptr(), hook);
                }
                Py_XDECREF(hook);
            }
            if !args.is_null() && !named.is_null() {
                Py_XDECREF(PyObject_Call(register, args, named));
            }
            Py_XDECREF(args);
            Py_XDECREF(named);
        }
        Py_XDECREF(register);
        Py_XDECREF(os);
        // A platform without fork needs no hook.
        PyErr_Clear();
        let atexit = PyImport_ImportModule(c"atexit".as_ptr());
        let hook = PyCFunction_NewEx(hooks.add(1), null_mut(), null_mut());
        if !atexit.is_null() && !hook.is_null() {
            Py_XDECREF(PyObject_CallMethod(
                atexit,
                c"register".as_ptr(),
                c"O".as_ptr(),
                hook,
            ));
        }
        Py_XDECREF(hook);
        Py_XDECREF(atexit);
        let gc = PyImport_ImportModule(c"gc".as_ptr());
        let callbacks = if gc.is_null() {
            null_mut()
        } else {
            PyObject_GetAttrString(gc, c"callbacks".as_ptr())
        };
        let hook = PyCFunction_NewEx(hooks.add(2), null_mut(), null_mut());
        if !callbacks.is_null() && !hook.is_null() {
            PyList_Append(callbacks, hook);
        }
        Py_XDECREF(hook);
        Py_XDECREF(callbacks);
        Py_XDECREF(gc);
        if PyErr_Occurred().is_null() {
            Ok(())
        } else {
            Err(())
        }
    }
}

unsafe extern "C" fn disable(_: Object, _: *mut Object, _: Py_ssize_t) -> Object {
    guarded(|| {
        // SAFETY: the interpreter calls with its lock held.
        let gil = unsafe { Gil::held() };
        if gil.started().is_some() {
            undo(gil);
            // Options of the last `enable` do not apply to `compile` alone.
            gil.runtime().options.set(Options::default());
            gil.runtime().without.take();
        }
        none()
    })
}

/// Undoes every entry, retires every unit, and removes the watchers.
fn undo(gil: Gil) {
    // SAFETY: functions and units in the tables are alive; this thread has the GIL.
    unsafe {
        let runtime = gil.runtime();
        runtime.on.set(false);
        let functions: Vec<usize> = runtime.functions.borrow().keys().copied().collect();
        for func in functions {
            function_state::uninstall(gil, func as Object);
        }
        let invalidated = runtime.totals.invalidated.get();
        runtime.recording.because("the JIT was turned off", || {
            for unit in runtime.units() {
                units::invalidate(gil, unit);
            }
        });
        runtime.totals.invalidated.set(invalidated);
        for state in runtime.codes.borrow().values() {
            for entry in &*state.entries.borrow() {
                entry.versions.set(0);
                entry.recompile.set(false);
            }
            state.loops.take();
            state.generator.versions.set(0);
            state.calls.set(0);
        }
        Monitor::stop(gil);
        runtime.recording.unwatched();
        gil.runtime().watches.stop(gil);
        locals_proxy::restore(gil);
        listing::restore(gil);
        generators::slots::restore();
        intrinsics::keep_deallocated_ints(false);
        collector::restore();
        list_iterators::restore();
        units::reclaim(gil);
        objects::release_unused();
    }
}

unsafe extern "C" fn compile(_: Object, args: *mut Object, count: Py_ssize_t) -> Object {
    // SAFETY: the interpreter's calling convention.
    guarded(|| unsafe {
        let gil = Gil::held();
        let [func] = arguments::<1>(args, count)?;
        let func = function(func)?;
        if let Some(reason) = unavailable() {
            return not_compiled(&reason);
        }
        ready(gil)?;
        let _insisting = Insisting::new(gil);
        match compiling::compile_function(gil, func, &[]) {
            Ok(()) if !gil.runtime().is_installed(func) => {
                not_compiled("its calls already go somewhere else")
            }
            Ok(()) => none(),
            Err(Refusal::Lasting(reason)) => not_compiled(&reason),
            Err(Refusal::Busy) => not_compiled("the compiler is at work"),
        }
    })
}

unsafe extern "C" fn is_compiled(_: Object, args: *mut Object, count: Py_ssize_t) -> Object {
    // SAFETY: the interpreter's calling convention.
    guarded(|| unsafe {
        let gil = Gil::held();
        let [func] = arguments::<1>(args, count)?;
        let func = function(func)?;
        boolean(gil.started().is_some() && is_native(gil, func))
    })
}

unsafe fn is_native(gil: Gil, func: Object) -> bool {
    // SAFETY: the caller has a function.
    unsafe {
        let (code, globals, builtins) = function_state::parts_of(func);
        gil.runtime().is_installed(func)
            && gil.runtime().state(code).is_some_and(|state| {
                let entry = state.entry(globals, builtins);
                let has_generators = state.generator.unit.get().is_some();
                entry.is_some_and(|e| e.unit.get().is_some() || has_generators)
            })
    }
}

unsafe extern "C" fn why_not(_: Object, args: *mut Object, count: Py_ssize_t) -> Object {
    // SAFETY: the interpreter's calling convention.
    guarded(|| unsafe {
        let gil = Gil::held();
        let [func] = arguments::<1>(args, count)?;
        let func = function(func)?;
        if let Some(reason) = unavailable() {
            return Ok(stats::text(&reason));
        }
        let (code, ..) = function_state::parts_of(func);
        let state = gil.runtime().state(code);
        match state.as_ref().and_then(|s| s.refused.get()) {
            Some(reason) if !is_native(gil, func) => Ok(stats::text(reason)),
            _ => none(),
        }
    })
}

unsafe extern "C" fn stats_dict(_: Object, _: *mut Object, _: Py_ssize_t) -> Object {
    guarded(|| {
        // SAFETY: the interpreter calls with its lock held.
        let gil = unsafe { Gil::held() };
        if let Some(reason) = unavailable() {
            raise(unsafe { PyExc_RuntimeError }, &reason);
            return Err(());
        }
        let dict = stats::dict(gil);
        if dict.is_null() { Err(()) } else { Ok(dict) }
    })
}

/// Runs a function of the module that needs a working JIT, with the lock held.
fn available_only(body: impl FnOnce(Gil) -> Object) -> Object {
    guarded(|| {
        if let Some(reason) = unavailable() {
            raise(unsafe { PyExc_RuntimeError }, &reason);
            return Err(());
        }
        // SAFETY: the interpreter calls with its lock held.
        let object = body(unsafe { Gil::held() });
        if object.is_null() {
            Err(())
        } else {
            Ok(object)
        }
    })
}

unsafe extern "C" fn observe(_: Object, args: *mut Object, count: Py_ssize_t) -> Object {
    // SAFETY: the interpreter's calling convention.
    guarded(|| unsafe {
        let gil = Gil::held();
        let [samples] = arguments::<1>(args, count)?;
        let samples = match PyObject_IsTrue(samples) {
            -1 => return Err(()),
            truth => truth != 0,
        };
        if unavailable().is_some() {
            return none();
        }
        // Code objects are watched: the recording needs to know when they are deallocated.
        ready(gil)?;
        recording::start(gil, samples);
        none()
    })
}

unsafe extern "C" fn observed(_: Object, _: *mut Object, _: Py_ssize_t) -> Object {
    available_only(recording::take)
}

unsafe extern "C" fn functions(_: Object, _: *mut Object, _: Py_ssize_t) -> Object {
    available_only(recording::functions)
}

unsafe extern "C" fn live(_: Object, _: *mut Object, _: Py_ssize_t) -> Object {
    available_only(recording::live)
}

unsafe extern "C" fn choose(_: Object, args: *mut Object, count: Py_ssize_t) -> Object {
    // SAFETY: the interpreter's calling convention.
    guarded(|| unsafe {
        let gil = Gil::held();
        let [only, not] = arguments::<2>(args, count)?;
        if unavailable().is_none() {
            gil.runtime().chosen.set(&text(only), &text(not));
        }
        none()
    })
}

unsafe extern "C" fn advise(_: Object, args: *mut Object, count: Py_ssize_t) -> Object {
    // SAFETY: the interpreter's calling convention.
    guarded(|| unsafe {
        let gil = Gil::held();
        let [func] = arguments::<1>(args, count)?;
        let (code, ..) = function_state::parts_of(function(func)?);
        if unavailable().is_none() {
            gil.runtime().advice.ask(code);
        }
        none()
    })
}

unsafe extern "C" fn soon(_: Object, args: *mut Object, count: Py_ssize_t) -> Object {
    // SAFETY: the interpreter's calling convention.
    guarded(|| unsafe {
        let gil = Gil::held();
        let [func] = arguments::<1>(args, count)?;
        if unavailable().is_none() {
            gil.runtime().listening.call_later(func);
        }
        none()
    })
}

unsafe extern "C" fn name_code(_: Object, args: *mut Object, count: Py_ssize_t) -> Object {
    // SAFETY: the interpreter's calling convention.
    guarded(|| unsafe {
        let gil = Gil::held();
        let [map, dump, debugger] = arguments::<3>(args, count)?;
        if unavailable().is_some() {
            return none();
        }
        let (map, debugger) = (PyObject_IsTrue(map), PyObject_IsTrue(debugger));
        if map < 0 || debugger < 0 {
            return Err(());
        }
        let wanted = symbols::Wanted {
            map: map != 0,
            dump: (dump != Py_None()).then(|| text(dump).into()),
            debugger: debugger != 0,
        };
        match gil.runtime().symbols.tell(gil, wanted) {
            Ok(()) => none(),
            Err(error) => {
                raise(PyExc_OSError, &error.to_string());
                Err(())
            }
        }
    })
}

unsafe extern "C" fn render(_: Object, args: *mut Object, count: Py_ssize_t) -> Object {
    // SAFETY: the interpreter's calling convention.
    guarded(|| unsafe {
        let [template, context] = arguments::<2>(args, count)?;
        match crate::template::render(&text(template), context) {
            Ok(rendered) => Ok(stats::text(&rendered)),
            Err(error) => {
                PyErr_Clear();
                raise(PyExc_ValueError, &error);
                Err(())
            }
        }
    })
}

unsafe extern "C" fn type_class(_: Object, _: *mut Object, _: Py_ssize_t) -> Object {
    // SAFETY: this thread has the GIL.
    guarded(|| match unsafe { crate::type_object::class() } {
        class if class.is_null() => Err(()),
        class => Ok(class),
    })
}

unsafe extern "C" fn annotate(_: Object, args: *mut Object, count: Py_ssize_t) -> Object {
    // SAFETY: the interpreter's calling convention.
    guarded(|| unsafe {
        let gil = Gil::held();
        let [func, types, classes] = arguments::<3>(args, count)?;
        let func = function(func)?;
        if let Some(reason) = unavailable() {
            return not_compiled(&reason);
        }
        ready(gil)?;
        // The text can name only classes that have a handle.
        for place in 0..PyTuple_GET_SIZE(classes) {
            objects::class_handle(PyTuple_GET_ITEM(classes, place).cast());
        }
        match crate::annotate::annotate(func, &text(types)) {
            Ok(found) => Ok(stats::text(&found)),
            Err(error) => not_compiled(&error),
        }
    })
}

unsafe extern "C" fn dump(_: Object, args: *mut Object, count: Py_ssize_t) -> Object {
    // SAFETY: the interpreter's calling convention.
    guarded(|| unsafe {
        let gil = Gil::held();
        let [func, stage] = arguments::<2>(args, count)?;
        let func = function(func)?;
        if let Some(reason) = unavailable() {
            return not_compiled(&reason);
        }
        let stage = text(stage);
        if stage == "bytecode" {
            // Code that can't be compiled can still be printed.
            return match crate::decode::decode(pyo3_ffi::PyFunction_GetCode(func)) {
                Ok(code) => Ok(stats::text(&cladonia::bytecode::Document::print(&[code]))),
                Err(error) => not_compiled(&error.to_string()),
            };
        }
        ready(gil)?;
        match compiling::inspect(gil, func).stages {
            Ok(dumps) => match dumps.into_iter().find(|(name, _)| *name == stage) {
                Some((_, found)) => Ok(stats::text(&found)),
                None => not_compiled(&format!("there is no text of the stage {stage}")),
            },
            Err(refusal) => not_compiled(&refusal.to_string()),
        }
    })
}

unsafe extern "C" fn inspect(_: Object, args: *mut Object, count: Py_ssize_t) -> Object {
    // SAFETY: the interpreter's calling convention.
    guarded(|| unsafe {
        let gil = Gil::held();
        let [func] = arguments::<1>(args, count)?;
        let func = function(func)?;
        if let Some(reason) = unavailable() {
            return not_compiled(&reason);
        }
        ready(gil)?;
        let inspected = compiling::inspect(gil, func);
        let mut texts = match inspected.stages {
            Ok(dumps) => dumps,
            Err(refusal) => vec![("error", refusal.to_string())],
        };
        texts.extend(inspected.unit.map(|text| ("unit", text)));
        texts.extend(compiling::host_text(gil).map(|text| ("host", text)));
        let dict = PyDict_New();
        for (stage, found) in texts {
            let (key, value) = (stats::text(stage), stats::text(&found));
            let set = if dict.is_null() || key.is_null() || value.is_null() {
                -1
            } else {
                PyDict_SetItem(dict, key, value)
            };
            Py_XDECREF(key);
            Py_XDECREF(value);
            if set < 0 {
                Py_XDECREF(dict);
                return Err(());
            }
        }
        Ok(dict)
    })
}

unsafe extern "C" fn record(_: Object, _: *mut Object, _: Py_ssize_t) -> Object {
    guarded(|| {
        // SAFETY: the interpreter calls with its lock held.
        let gil = unsafe { Gil::held() };
        if let Some(reason) = unavailable() {
            return not_compiled(&reason);
        }
        compiling::record(gil);
        none()
    })
}

unsafe extern "C" fn recorded(_: Object, _: *mut Object, _: Py_ssize_t) -> Object {
    guarded(|| {
        // SAFETY: the interpreter calls with its lock held.
        let gil = unsafe { Gil::held() };
        if let Some(reason) = unavailable() {
            return not_compiled(&reason);
        }
        let texts = compiling::host_text(gil).into_iter();
        let texts: Vec<String> = texts.chain(compiling::recorded(gil)).collect();
        Ok(stats::text(&texts.concat()))
    })
}

unsafe extern "C" fn export(_: Object, args: *mut Object, count: Py_ssize_t) -> Object {
    // SAFETY: the interpreter's calling convention.
    guarded(|| unsafe {
        let [code] = arguments::<1>(args, count)?;
        if Py_TYPE(code) != &raw mut PyCode_Type {
            raise(PyExc_TypeError, "a code object is needed");
            return Err(());
        }
        if let Some(reason) = unavailable() {
            return not_compiled(&reason);
        }
        match crate::export::export(code) {
            Ok(document) => Ok(stats::text(&document)),
            Err(error) => not_compiled(&error.to_string()),
        }
    })
}

unsafe extern "C" fn before_fork(_: Object, _: *mut Object, _: Py_ssize_t) -> Object {
    guarded(|| {
        // SAFETY: the interpreter calls with its lock held.
        let gil = unsafe { Gil::held() };
        gil.runtime().recording.before_fork();
        gil.runtime().workers.before_fork();
        none()
    })
}

unsafe extern "C" fn after_fork_in_parent(_: Object, _: *mut Object, _: Py_ssize_t) -> Object {
    guarded(|| {
        // SAFETY: the interpreter calls with its lock held.
        let gil = unsafe { Gil::held() };
        gil.runtime().workers.after_fork(false);
        gil.runtime().listening.after_fork(gil, false);
        gil.runtime().recording.after_fork(false);
        none()
    })
}

unsafe extern "C" fn after_fork_in_child(_: Object, _: *mut Object, _: Py_ssize_t) -> Object {
    guarded(|| {
        // SAFETY: the interpreter calls with its lock held.
        let gil = unsafe { Gil::held() };
        gil.runtime().workers.after_fork(true);
        gil.runtime().listening.after_fork(gil, true);
        gil.runtime().recording.after_fork(true);
        gil.runtime().compiler.after_fork_in_child();
        none()
    })
}

/// Callback of the collector: `(phase, info)`. Before a full collection, objects that only the
/// compiler's tables keep alive are released, so that the collector can free the program's garbage.
unsafe extern "C" fn on_collection(_: Object, args: *mut Object, count: Py_ssize_t) -> Object {
    // SAFETY: the collector calls with a str and a dict.
    guarded(|| unsafe {
        let gil = Gil::held();
        let [phase, info] = arguments::<2>(args, count)?;
        let generation = PyDict_GetItemString(info, c"generation".as_ptr());
        let generation = if generation.is_null() {
            -1
        } else {
            PyLong_AsLong(generation)
        };
        let (full, recording) = (generation == 2, &gil.runtime().recording);
        // Young collections are frequent: they are checked only while recording.
        let begins = (full || recording.is_on()) && text(phase) == "start";
        recording.collects(begins, generation);
        if full && begins && !gil.runtime().compiler.is_at_work() {
            function_state::forget_unused(gil);
            units::reclaim(gil);
            objects::release_unused();
        }
        PyErr_Clear();
        none()
    })
}

unsafe extern "C" fn at_exit(_: Object, _: *mut Object, _: Py_ssize_t) -> Object {
    guarded(|| {
        // SAFETY: the interpreter calls with its lock held.
        let gil = unsafe { Gil::held() };
        gil.runtime().advice.look(gil);
        gil.runtime().advice.tell(gil);
        gil.runtime().finished.set(true);
        recording::stop(gil);
        gil.runtime().workers.stop();
        // Objects that units keep alive must not outlive the modules that are deallocated now.
        // Statistics can still be read by handlers that were registered earlier and so run later.
        undo(gil);
        none()
    })
}
