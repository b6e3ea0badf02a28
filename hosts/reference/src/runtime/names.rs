//! Operations on names and code that need the frame, and those of rarer instructions. Both the
//! interpreter and the helpers use them.

use super::class::{self, Class};
use super::dict::Dict;
use super::error::{self, Raised, raise};
use super::frame::FrameRef;
use super::heap::{CellObject, Function, Kind, List, Ref, Set, alloc};
use super::{Result, call, iter, ops, rt};
use cladonia::bytecode::{Conversion, FunctionAttribute, SpecialMethod, UnaryIntrinsic};

fn dict_of(object: &Ref) -> Result<&Dict> {
    match object.get::<Dict>() {
        Some(dict) => Ok(dict),
        None => raise(error::SYSTEM, "something that is no dict"),
    }
}

fn globals(frame: FrameRef) -> Ref {
    let function = frame.function();
    let content = function.get::<Function>().expect("a frame runs a function");
    content.globals.clone()
}

fn undefined<T>(name: &str) -> Result<T> {
    raise(error::NAME, format!("name '{name}' is not defined"))
}

/// A global or builtin.
pub fn load_global(frame: FrameRef, name: usize) -> Result<Ref> {
    let name = &frame.code().names[name];
    let globals = globals(frame);
    if let Some(value) = dict_of(&globals)?.name(name) {
        return Ok(value);
    }
    match dict_of(&rt().builtins)?.name(name) {
        Some(value) => Ok(value),
        None => undefined(name),
    }
}

/// Stores a global.
pub fn store_global(frame: FrameRef, name: usize, value: Ref) -> Result<()> {
    dict_of(&globals(frame))?.set(frame.code().name_objects[name].clone(), value)
}

/// Deletes a global.
pub fn delete_global(frame: FrameRef, name: usize) -> Result<()> {
    delete_from(&globals(frame), frame, name)
}

fn delete_from(dict: &Ref, frame: FrameRef, name: usize) -> Result<()> {
    match dict_of(dict)?.remove(&frame.code().name_objects[name])? {
        Some(old) => {
            drop(old);
            Ok(())
        }
        None => undefined(&frame.code().names[name]),
    }
}

/// The namespace of a module or class body.
pub fn load_locals(frame: FrameRef) -> Result<Ref> {
    match frame.namespace() {
        Some(namespace) => Ok(namespace),
        None => raise(error::SYSTEM, "a function has no namespace"),
    }
}

/// A name of the namespace, the globals or the builtins.
pub fn load_name(frame: FrameRef, name: usize) -> Result<Ref> {
    match dict_of(&load_locals(frame)?)?.name(&frame.code().names[name]) {
        Some(value) => Ok(value),
        None => load_global(frame, name),
    }
}

/// Stores into the namespace.
pub fn store_name(frame: FrameRef, name: usize, value: Ref) -> Result<()> {
    dict_of(&load_locals(frame)?)?.set(frame.code().name_objects[name].clone(), value)
}

/// Deletes from the namespace.
pub fn delete_name(frame: FrameRef, name: usize) -> Result<()> {
    delete_from(&load_locals(frame)?, frame, name)
}

/// A name of a mapping, the globals or the builtins.
pub fn load_from_dict_or_globals(frame: FrameRef, mapping: &Ref, name: usize) -> Result<Ref> {
    match dict_of(mapping)?.name(&frame.code().names[name]) {
        Some(value) => Ok(value),
        None => load_global(frame, name),
    }
}

/// A name of a mapping, or the content of a cell.
pub fn load_from_dict_or_deref(frame: FrameRef, mapping: &Ref, slot: usize) -> Result<Ref> {
    let name = &frame.code().code.locals[slot].0;
    match dict_of(mapping)?.name(name) {
        Some(value) => Ok(value),
        None => load_deref(frame, slot),
    }
}

/// The content of a cell.
pub fn load_deref(frame: FrameRef, slot: usize) -> Result<Ref> {
    let cell = frame.local(slot);
    match cell.as_ref().and_then(|cell| cell.get::<CellObject>()) {
        Some(cell) => match cell.content() {
            Some(value) => Ok(value),
            None => unbound(frame, slot),
        },
        None => raise(error::SYSTEM, "a local is no cell"),
    }
}

/// Raises the exception for a local without a value.
pub fn unbound<T>(frame: FrameRef, slot: usize) -> Result<T> {
    let name = &frame.code().code.locals[slot].0;
    raise(
        error::UNBOUND_LOCAL,
        format!("cannot access local variable '{name}' where it is not associated with a value"),
    )
}

/// Moves a local into a new cell in its slot.
pub fn make_cell(frame: FrameRef, slot: usize) {
    let content = frame.replace_local(slot, None);
    frame.set_local(slot, Some(alloc::cell(content)));
}

/// Copies the closure's cells into the last slots.
pub fn copy_free_vars(frame: FrameRef, count: usize) {
    let function = frame.function();
    let closure = function
        .get::<Function>()
        .and_then(|f| f.closure.borrow().clone());
    let first = frame.code().code.locals.len() - count;
    let cells = closure.as_ref().and_then(Ref::as_tuple).unwrap_or_default();
    for k in 0..count {
        let cell = cells.get(k).cloned().unwrap_or_else(|| alloc::cell(None));
        frame.set_local(first + k, Some(cell));
    }
}

/// A function of a code object.
pub fn make_function(frame: FrameRef, code: &Ref) -> Result<Ref> {
    if code.kind() != Kind::Code {
        return raise(error::SYSTEM, "a function of something that is no code");
    }
    Ok(alloc::function(code.clone(), globals(frame)))
}

/// Sets an attribute of a function, by the number of a [`FunctionAttribute`].
pub fn set_function_attribute(function: &Ref, which: u32, value: Ref) {
    if let Some(function) = function.get::<Function>() {
        let place = match FunctionAttribute::from_arg(which) {
            Some(FunctionAttribute::Defaults) => &function.defaults,
            Some(FunctionAttribute::KeywordDefaults) => &function.kwdefaults,
            Some(FunctionAttribute::Closure) => &function.closure,
            Some(FunctionAttribute::Annotations | FunctionAttribute::Annotate) | None => return,
        };
        let old = place.replace(Some(value));
        drop(old);
    }
}

/// A call as the stack has it: a receiver that may be missing, and arguments of which the last have
/// the names in `names`.
pub fn call_stack(
    callee: Ref,
    this: Option<Ref>,
    args: Vec<Ref>,
    names: Option<&Ref>,
) -> Result<Ref> {
    let mut all: Vec<Ref> = this.into_iter().chain(args).collect();
    let names = names.and_then(Ref::as_tuple).unwrap_or_default();
    if names.len() > all.len() {
        return raise(error::SYSTEM, "more names than arguments");
    }
    let named = all.split_off(all.len() - names.len());
    let kwargs = names.iter().cloned().zip(named).collect();
    call::call_with(&callee, all, kwargs)
}

/// `callee(*args, **kwargs)`
pub fn call_ex(callee: &Ref, args: &Ref, kwargs: Option<&Ref>) -> Result<Ref> {
    let args = iter::collect(args)?;
    let mut named = Vec::new();
    if let Some(kwargs) = kwargs {
        named = dict_of(kwargs)?.items();
    }
    call::call_with(callee, args, named)
}

/// Intrinsics with one operand, by the number of a [`UnaryIntrinsic`].
pub fn intrinsic_1(number: u32, operand: &Ref) -> Result<Ref> {
    match UnaryIntrinsic::from_arg(number) {
        Some(UnaryIntrinsic::Positive) => ops::positive(operand),
        Some(UnaryIntrinsic::ListToTuple) => Ok(alloc::tuple(iter::collect(operand)?)),
        _ => raise(error::NOT_IMPLEMENTED, format!("intrinsic {number}")),
    }
}

/// A dict of alternating keys and values.
pub fn build_map(items: Vec<Ref>) -> Result<Ref> {
    let dict = alloc::dict();
    let mut items = items.into_iter();
    while let (Some(key), Some(value)) = (items.next(), items.next()) {
        dict_of(&dict)?.set(key, value)?;
    }
    Ok(dict)
}

/// A dict of values and a tuple of keys.
pub fn build_const_key_map(keys: &Ref, values: Vec<Ref>) -> Result<Ref> {
    let dict = alloc::dict();
    for (key, value) in keys.as_tuple().unwrap_or_default().iter().zip(values) {
        dict_of(&dict)?.set(key.clone(), value)?;
    }
    Ok(dict)
}

/// A set.
pub fn build_set(items: Vec<Ref>) -> Result<Ref> {
    let set = alloc::set();
    for item in items {
        set_add(&set, item)?;
    }
    Ok(set)
}

/// Adds to a set.
pub fn set_add(set: &Ref, item: Ref) -> Result<()> {
    match set.get::<Set>() {
        Some(set) => dict_of(&set.items)?.set(item, rt().none.clone()),
        None => raise(error::SYSTEM, "something that is no set"),
    }
}

/// Adds an iterable's items to a set.
pub fn set_update(set: &Ref, by: &Ref) -> Result<()> {
    for item in iter::collect(by)? {
        set_add(set, item)?;
    }
    Ok(())
}

/// A string of strings.
pub fn build_string(parts: &[Ref]) -> Result<Ref> {
    let mut text = String::new();
    for part in parts {
        match part.as_str() {
            Some(part) => text.push_str(part),
            None => return raise(error::SYSTEM, "a part that is no string"),
        }
    }
    Ok(alloc::str(text))
}

/// Appends to a list.
pub fn list_append(list: &Ref, item: Ref) -> Result<()> {
    match list.get::<List>() {
        Some(list) => {
            list.push(item);
            Ok(())
        }
        None => raise(error::SYSTEM, "something that is no list"),
    }
}

/// Sets a key of a dict.
pub fn map_add(dict: &Ref, key: Ref, value: Ref) -> Result<()> {
    dict_of(dict)?.set(key, value)
}

/// Updates a dict by a mapping; with `unique`, an existing key raises.
pub fn dict_update(dict: &Ref, by: &Ref, unique: bool) -> Result<()> {
    let Some(by) = by.get::<Dict>() else {
        return raise(
            error::TYPE,
            format!("'{}' object is not a mapping", by.class().name),
        );
    };
    for (key, value) in by.items() {
        if unique && dict_of(dict)?.get(&key)?.is_some() {
            let key = ops::str(&key)?;
            return raise(
                error::TYPE,
                format!("got multiple values for keyword argument '{key}'"),
            );
        }
        dict_of(dict)?.set(key, value)?;
    }
    Ok(())
}

/// `str`, `repr`, `ascii`, by the number of a [`Conversion`].
pub fn convert(which: u32, value: &Ref) -> Result<Ref> {
    Ok(alloc::str(match Conversion::from_arg(which) {
        Some(Conversion::Str) => ops::str(value)?,
        _ => ops::repr(value)?,
    }))
}

/// `raise`, with this operand.
pub fn raise_varargs(exception: Option<&Ref>) -> Raised {
    let made = match exception {
        None => {
            return match rt().thread.handled() {
                Some(handled) => Raised(handled),
                None => error::new(error::RUNTIME, alloc::str("No active exception to reraise")),
            };
        }
        Some(class) if class.get::<Class>().is_some() => match call::call(class, Vec::new()) {
            Ok(made) => made,
            Err(raised) => return raised,
        },
        Some(object) => object.clone(),
    };
    if !error::is_a(&made, "BaseException") {
        return error::new(
            error::TYPE,
            alloc::str("exceptions must derive from BaseException"),
        );
    }
    rt().trace.borrow_mut().clear();
    Raised(made)
}

/// Returns true if an exception is of a class, or of one of a tuple of classes.
pub fn matches(exception: &Ref, class: &Ref) -> Result<bool> {
    if let Some(classes) = class.as_tuple() {
        for class in classes {
            if matches(exception, class)? {
                return Ok(true);
            }
        }
        return Ok(false);
    }
    match class.get::<Class>() {
        Some(content) if content.is_subclass(&rt().classes.base_exception) => {
            Ok(exception.class().is_subclass(class))
        }
        _ => raise(
            error::TYPE,
            "catching classes that do not inherit from BaseException is not allowed",
        ),
    }
}

/// `__exit__`, bound, and the result of `__enter__`.
pub fn before_with(manager: &Ref) -> Result<(Ref, Ref)> {
    let class = manager.class();
    let (Some(enter), Some(exit)) = (class.find("__enter__"), class.find("__exit__")) else {
        return raise(
            error::TYPE,
            format!(
                "'{}' object does not support the context manager protocol",
                class.name
            ),
        );
    };
    let exit = alloc::method(exit, manager.clone());
    let entered = call::call(&enter, vec![manager.clone()])?;
    Ok((exit, entered))
}

/// A method of a context manager, bound, by the number of a [`SpecialMethod`].
pub fn load_special(manager: &Ref, which: u32) -> Result<Ref> {
    let class = manager.class();
    let name = match SpecialMethod::from_arg(which) {
        Some(SpecialMethod::Enter) => "__enter__",
        Some(SpecialMethod::Exit) => "__exit__",
        Some(SpecialMethod::AsyncEnter) => "__aenter__",
        Some(SpecialMethod::AsyncExit) | None => "__aexit__",
    };
    match class.find(name) {
        Some(method) => Ok(alloc::method(method, manager.clone())),
        None => raise(
            error::TYPE,
            format!(
                "'{}' object does not support the context manager protocol",
                class.name
            ),
        ),
    }
}

/// Raises, since there are no template strings.
pub fn no_templates() -> Result<Ref> {
    raise(error::SYSTEM, "a template string")
}

/// Values of keys in a mapping, or None.
pub fn match_keys(subject: &Ref, keys: &Ref) -> Result<Ref> {
    let mut values = Vec::new();
    for key in keys.as_tuple().unwrap_or_default() {
        match subject
            .get::<Dict>()
            .map(|dict| dict.get(key))
            .transpose()?
            .flatten()
        {
            Some(value) => values.push(value),
            None => return Ok(rt().none.clone()),
        }
    }
    Ok(alloc::tuple(values))
}

/// Attributes of a class pattern, or None.
pub fn match_class(subject: &Ref, class: &Ref, names: &Ref, positional: u32) -> Result<Ref> {
    if class.get::<Class>().is_none() {
        return raise(error::TYPE, "called match pattern must be a class");
    }
    if !subject.class().is_subclass(class) {
        return Ok(rt().none.clone());
    }
    if positional != 0 {
        return raise(error::NOT_IMPLEMENTED, "positional sub-patterns");
    }
    let mut values = Vec::new();
    for name in names.as_tuple().unwrap_or_default() {
        match class::get_attr(subject, name.as_str().unwrap_or_default()) {
            Ok(value) => values.push(value),
            Err(Raised(raised)) if error::is_a(&raised, error::ATTRIBUTE) => {
                return Ok(rt().none.clone());
            }
            Err(raised) => return Err(raised),
        }
    }
    Ok(alloc::tuple(values))
}

/// Runs the pending work.
pub fn handle_pending() -> Result<()> {
    super::chaos::do_pending();
    Ok(())
}

/// Intrinsics with two operands: there are none.
pub fn intrinsic_2(number: u32) -> Result<Ref> {
    raise(error::NOT_IMPLEMENTED, format!("intrinsic {number}"))
}

/// `import`: this host has no modules.
pub fn no_modules() -> Result<Ref> {
    raise(error::IMPORT, "there are no modules")
}

/// Creates `__annotations__`.
pub fn setup_annotations(frame: FrameRef) -> Result<()> {
    let key = alloc::str("__annotations__");
    map_add(&load_locals(frame)?, key, alloc::dict())
}
