//! Calls: of user functions, natively or in the interpreter, of classes, methods and native
//! functions.

use super::class::{self, Class};
use super::code::CodeData;
use super::dict::Dict;
use super::error::{self, raise};
use super::frame::{self, FrameRef};
use super::heap::{CodeObject, Function, Method, Native, Ref, alloc};
use super::{Result, Step, interp, rt, units};
use std::rc::Rc;

/// The code of a function.
pub fn code_of(function: &Function) -> &Rc<CodeData> {
    &function
        .code
        .get::<CodeObject>()
        .expect("a function has a code")
        .data
}

/// Calls with positional arguments.
pub fn call(callee: &Ref, args: Vec<Ref>) -> Result<Ref> {
    call_with(callee, args, Vec::new())
}

/// Calls with positional arguments and named ones.
pub fn call_with(callee: &Ref, mut args: Vec<Ref>, kwargs: Vec<(Ref, Ref)>) -> Result<Ref> {
    if let Some(function) = callee.get::<Function>() {
        return call_function(callee, function, args, kwargs);
    }
    if let Some(method) = callee.get::<Method>() {
        args.insert(0, method.this.clone());
        return call_with(&method.function, args, kwargs);
    }
    if let Some(native) = callee.get::<Native>() {
        if !kwargs.is_empty() {
            return raise(
                error::TYPE,
                format!("{}() takes no keyword arguments", native.name),
            );
        }
        return (native.run)(&args);
    }
    if let Some(content) = callee.get::<Class>() {
        if let Some(make) = super::builtins::constructor(callee) {
            if !kwargs.is_empty() {
                return raise(
                    error::TYPE,
                    format!("{}() takes no keyword arguments", content.name),
                );
            }
            return make(&args);
        }
        return class::instantiate(callee, args, kwargs);
    }
    if let Some(function) = callee.class().find("__call__") {
        args.insert(0, callee.clone());
        return call_with(&function, args, kwargs);
    }
    raise(
        error::TYPE,
        format!("'{}' object is not callable", callee.class().name),
    )
}

fn call_function(
    callee: &Ref,
    function: &Function,
    args: Vec<Ref>,
    kwargs: Vec<(Ref, Ref)>,
) -> Result<Ref> {
    let code = code_of(function).clone();
    let slots = bind(function, &code, args, kwargs)?;
    units::count_call(&code, &slots);
    // The slots of parameters are all bound, so they are the arguments of a native entry.
    if let Some(unit) = units::native(&code) {
        let args = slots
            .into_iter()
            .map(|slot| slot.expect("a bound parameter"))
            .collect();
        return units::call_native(callee, &unit, args);
    }
    interpret(callee, &code, slots, None)
}

/// Runs a function in the interpreter; `slots` are its parameters.
pub fn interpret(
    callee: &Ref,
    code: &Rc<CodeData>,
    slots: Vec<Option<Ref>>,
    namespace: Option<Ref>,
) -> Result<Ref> {
    if code.code.is_generator {
        return raise(error::NOT_IMPLEMENTED, "generators");
    }
    let frame = frame::push(callee, code, namespace)?;
    for (k, value) in slots.into_iter().enumerate() {
        frame.set_local(k, value);
    }
    let result = interp::run(frame);
    match &result {
        Ok(object) => rt().tell_step(frame, Step::Returned(object)),
        Err(raised) => rt().tell_step(frame, Step::Raised(&raised.0)),
    }
    frame::pop(frame);
    result
}

/// A call from native code whose arguments are bound: in the interpreter.
pub fn call_interpreted(callee: &Ref, args: Vec<Ref>) -> Result<Ref> {
    let Some(function) = callee.get::<Function>() else {
        return raise(
            error::SYSTEM,
            "a native call of something that is no function",
        );
    };
    let code = code_of(function).clone();
    interpret(callee, &code, args.into_iter().map(Some).collect(), None)
}

/// Arguments to parameters: positional ones, keyword-only ones, `*args`, `**kwargs`.
fn bind(
    function: &Function,
    data: &CodeData,
    args: Vec<Ref>,
    kwargs: Vec<(Ref, Ref)>,
) -> Result<Vec<Option<Ref>>> {
    let code = &data.code;
    let (positional, kwonly) = (code.argcount as usize, code.kwonly as usize);
    let given = args.len();
    let mut args = args.into_iter();
    let mut slots: Vec<Option<Ref>> = args.by_ref().take(positional).map(Some).collect();
    let rest: Vec<Ref> = args.collect();
    slots.resize(positional + kwonly, None);
    if !rest.is_empty() && !code.varargs {
        return raise(
            error::TYPE,
            format!(
                "{}() takes {positional} positional arguments but {given} were given",
                code.name
            ),
        );
    }
    let extra = code.varkeywords.then(alloc::dict);
    for (key, value) in kwargs {
        let name = key.as_str().unwrap_or("?").to_owned();
        let place = code.locals[..positional + kwonly]
            .iter()
            .position(|local| local.0 == name);
        match (place, extra.as_ref().and_then(|extra| extra.get::<Dict>())) {
            (Some(at), _) if slots[at].is_some() => {
                return raise(
                    error::TYPE,
                    format!("{}() got multiple values for argument '{name}'", code.name),
                );
            }
            (Some(at), _) => slots[at] = Some(value),
            (None, Some(extra)) => extra.set(key, value)?,
            (None, None) => {
                return raise(
                    error::TYPE,
                    format!(
                        "{}() got an unexpected keyword argument '{name}'",
                        code.name
                    ),
                );
            }
        }
    }
    let defaults = function.defaults.borrow().clone();
    let defaults = defaults
        .as_ref()
        .and_then(Ref::as_tuple)
        .unwrap_or_default();
    for (at, slot) in slots.iter_mut().enumerate().take(positional) {
        if slot.is_none() {
            *slot = (at + defaults.len())
                .checked_sub(positional)
                .and_then(|i| defaults.get(i).cloned());
        }
    }
    let kwdefaults = function.kwdefaults.borrow().clone();
    for (at, slot) in slots.iter_mut().enumerate().skip(positional) {
        if slot.is_none() {
            let dict = kwdefaults.as_ref().and_then(|dict| dict.get::<Dict>());
            *slot = dict.and_then(|dict| dict.name(&code.locals[at].0));
        }
    }
    if let Some(at) = slots.iter().position(Option::is_none) {
        return raise(
            error::TYPE,
            format!(
                "{}() missing a required argument: '{}'",
                code.name, code.locals[at].0
            ),
        );
    }
    if code.varargs {
        slots.push(Some(alloc::tuple(rest)));
    }
    slots.extend(extra.map(Some));
    Ok(slots)
}

/// Runs a module or class body in a namespace.
pub fn run_body(function: &Ref, namespace: Ref) -> Result<Ref> {
    let content = function.get::<Function>().expect("a function");
    let code = code_of(content).clone();
    interpret(function, &code, Vec::new(), Some(namespace))
}

/// `__build_class__(body, name, *bases)`
pub fn build_class(args: &[Ref]) -> Result<Ref> {
    let [body, name, bases @ ..] = args else {
        return raise(error::TYPE, "__build_class__: not enough arguments");
    };
    let (Some(_), Some(name)) = (body.get::<Function>(), name.as_str()) else {
        return raise(error::TYPE, "__build_class__: func must be a function");
    };
    let namespace = alloc::dict();
    let cell = run_body(body, namespace.clone())?;
    let dict = namespace.get::<Dict>().expect("a dict");
    let class = class::define(name, bases.to_vec(), dict)?;
    // The body returns the cell of `__class__`, if a method uses it.
    if let Some(cell) = cell.get::<super::heap::CellObject>() {
        cell.content.set(Some(class.clone()));
    }
    Ok(class)
}

/// The innermost frame of the thread, for helpers that need it.
pub fn current_frame() -> FrameRef {
    rt().thread.frame()
}
