//! The classes and functions that every program has, and the start and end of a runtime.

use super::class::{self, Class};
use super::dict::Dict;
use super::error::{self, raise};
use super::frame::Thread;
use super::heap::{self, Function, Instance, Kind, List, Method, Native, NativeFn, Ref, alloc};
use super::number::{self, Number};
use super::{CURRENT, Late, Options, Result, Runtime, call, iter, ops, rt, units};
use cladonia::bytecode::CompareOp;
use cladonia::types::{HostId, Predefined};
use std::cell::{Cell, OnceCell, RefCell};
use std::sync::Arc;

macro_rules! classes {
    ($($field:ident: $kind:ident, $row:ident < $($parent:ident),*;)*) => {
        /// The builtin classes of the runtime.
        pub struct Classes {
            $(#[doc = concat!("`", stringify!($row), "`")] pub $field: Ref,)*
        }

        impl Classes {
            fn new(host: HostId) -> Classes {
                let object = class::builtin(host, Kind::Instance, Predefined::Object, &[], None);
                let type_ = class::builtin(host, Kind::Class, Predefined::Type, std::slice::from_ref(&object), None);
                heap::close_metaclass(&type_);
                heap::set_metaclass(&object, &type_);
                $(let $field = match Predefined::$row {
                    Predefined::Object => object.clone(),
                    Predefined::Type => type_.clone(),
                    row => {
                        let parents = [$($parent.clone(),)* object.clone()];
                        class::builtin(host, Kind::$kind, row, &parents, Some(&type_))
                    }
                }.make_immortal();)*
                Classes { $($field),* }
            }
        }
    };
}

classes! {
    object: Instance, Object <;
    type_: Class, Type <;
    base_exception: Instance, BaseException <;
    int: Int, Long <;
    bool: Bool, Bool < int;
    float: Float, Float <;
    none_type: Plain, NoneType <;
    str: Str, Unicode <;
    tuple: Tuple, Tuple <;
    list: List, List <;
    dict: Dict, Dict <;
    set: Set, Set <;
    range: Range, Range <;
    range_iter: RangeIter, RangeIter <;
    list_iter: ListIter, ListIter <;
    tuple_iter: TupleIter, TupleIter <;
    cell: Cell, Cell <;
    function: Function, Func <;
    method: Method, Method <;
    native: Native, BuiltinMethod <;
    code: Code, Code <;
    slice: Slice, Slice <;
}

/// Creates a runtime and makes it this thread's.
pub(super) fn bootstrap(
    options: Options,
) -> std::result::Result<*const Runtime, Box<dyn std::error::Error>> {
    let host_id = HostId::new();
    let classes = Classes::new(host_id);
    let none = alloc::plain(&classes.none_type).make_immortal();
    let true_ = alloc::new_bool(&classes.bool, true).make_immortal();
    let false_ = alloc::new_bool(&classes.bool, false).make_immortal();
    let not_implemented = alloc::plain(&classes.none_type).make_immortal();
    let host = Arc::new(super::describe(host_id, &none, &true_, &false_)?);
    let engine = super::engine(host.clone(), &options)?;
    let runtime = Box::new(Runtime {
        thread: Thread::new(options.max_depth),
        host_id,
        host,
        jit: units::Jit::new(engine, options.seed),
        options: Cell::new(options),
        classes,
        none,
        true_,
        false_,
        not_implemented,
        builtins: Late::default(),
        build_class: Late::default(),
        exceptions: RefCell::default(),
        small_ints: OnceCell::new(),
        characters: OnceCell::new(),
        objects: RefCell::default(),
        namespaces: RefCell::default(),
        is_closing: Cell::new(false),
        steps: Cell::new(0),
        is_broken: Cell::new(false),
        max_steps: Cell::new(options.max_steps),
        output: RefCell::default(),
        trace: RefCell::default(),
        on_compile: RefCell::new(None),
        on_step: RefCell::new(None),
        is_observed: Cell::new(false),
    });
    let runtime = Box::into_raw(runtime).cast_const();
    CURRENT.with(|current| current.set(runtime));
    fill();
    Ok(runtime)
}

/// Frees a runtime's memory, except the objects in its own fields.
///
/// # Safety
/// `runtime` was created by [`bootstrap`], and is not used any more.
pub(super) unsafe fn dismantle(runtime: *mut Runtime) {
    // SAFETY: the caller's promise; the dropped fields own no references.
    unsafe {
        std::ptr::drop_in_place(&raw mut (*runtime).thread);
        std::ptr::drop_in_place(&raw mut (*runtime).objects);
        std::ptr::drop_in_place(&raw mut (*runtime).namespaces);
        std::ptr::drop_in_place(&raw mut (*runtime).jit);
        std::ptr::drop_in_place(&raw mut (*runtime).host);
        drop(Box::from_raw(
            runtime.cast::<std::mem::ManuallyDrop<Runtime>>(),
        ));
    }
}

/// Creates the objects that need an existing runtime: small ints, exceptions, functions.
fn fill() {
    let rt = rt();
    let ints = (-5..=256)
        .map(|n| alloc::new_int(n).make_immortal())
        .collect();
    let _ = rt.small_ints.set(ints);
    let characters = (0..128u8)
        .map(|c| alloc::str(char::from(c).to_string()).make_immortal())
        .collect();
    let _ = rt.characters.set(characters);
    let builtins = alloc::dict().make_immortal();
    let dict = builtins.get::<Dict>().expect("a dict");
    let set = |name: &str, value: &Ref| {
        let stored = dict.set(alloc::str(name).make_immortal(), value.clone());
        assert!(stored.is_ok(), "names are strings");
    };
    for (name, base) in error::ALL {
        let base = match *base {
            "BaseException" => rt.classes.base_exception.clone(),
            base => rt.exception_class(base),
        };
        let mut mro = vec![base.clone()];
        mro.extend(base.get::<Class>().expect("a class").mro.iter().cloned());
        let class = class::new(name, mro).make_immortal();
        set(name, &class);
        rt.exceptions.borrow_mut().insert(name, class);
    }
    rt.exceptions
        .borrow_mut()
        .insert("BaseException", rt.classes.base_exception.clone());
    set("BaseException", &rt.classes.base_exception);
    set("NotImplemented", &rt.not_implemented);
    let c = &rt.classes;
    for (name, class) in [
        ("object", &c.object),
        ("type", &c.type_),
        ("int", &c.int),
        ("bool", &c.bool),
        ("float", &c.float),
        ("str", &c.str),
        ("tuple", &c.tuple),
        ("list", &c.list),
        ("dict", &c.dict),
        ("set", &c.set),
        ("range", &c.range),
    ] {
        set(name, class);
    }
    for &(name, run) in FUNCTIONS {
        set(name, &alloc::native(name, run, false).make_immortal());
    }
    for (class, methods) in [
        (&c.list, LIST),
        (&c.dict, DICT),
        (&c.str, STR),
        (&c.set, SET),
    ] {
        let content = class.get::<Class>().expect("a class");
        for &(name, run) in methods {
            content.set(name, Some(alloc::native(name, run, true).make_immortal()));
        }
    }
    let build_class = alloc::native("__build_class__", call::build_class, false).make_immortal();
    let _ = rt.build_class.0.set(build_class);
    let _ = rt.builtins.0.set(builtins);
}

fn arguments<const N: usize>(args: &[Ref], name: &str) -> Result<[Ref; N]> {
    match <[Ref; N]>::try_from(args.to_vec()) {
        Ok(args) => Ok(args),
        Err(args) => raise(
            error::TYPE,
            format!("{name}() takes {N} arguments ({} given)", args.len()),
        ),
    }
}

/// The constructor of a builtin class; none for user classes.
pub(super) fn constructor(class: &Ref) -> Option<NativeFn> {
    let c = &rt().classes;
    Some(if class.is(&c.int) {
        int
    } else if class.is(&c.float) {
        float
    } else if class.is(&c.bool) {
        |args| match args {
            [] => Ok(rt().false_.clone()),
            _ => Ok(rt().bool(ops::truth(&arguments::<1>(args, "bool")?[0])?)),
        }
    } else if class.is(&c.str) {
        |args| match args {
            [] => Ok(alloc::str("")),
            _ => Ok(alloc::str(ops::str(&arguments::<1>(args, "str")?[0])?)),
        }
    } else if class.is(&c.list) {
        |args| match args {
            [] => Ok(alloc::list(Vec::new())),
            _ => Ok(alloc::list(iter::collect(
                &arguments::<1>(args, "list")?[0],
            )?)),
        }
    } else if class.is(&c.tuple) {
        |args| match args {
            [] => Ok(alloc::tuple(Vec::new())),
            _ => Ok(alloc::tuple(iter::collect(
                &arguments::<1>(args, "tuple")?[0],
            )?)),
        }
    } else if class.is(&c.dict) {
        |args| {
            let dict = alloc::dict();
            if let [from, ..] = args {
                super::names::dict_update(&dict, from, false)?;
            }
            Ok(dict)
        }
    } else if class.is(&c.set) {
        |args| {
            let items = match args {
                [] => Vec::new(),
                _ => iter::collect(&arguments::<1>(args, "set")?[0])?,
            };
            super::names::build_set(items)
        }
    } else if class.is(&c.range) {
        range
    } else if class.is(&c.type_) {
        |args| Ok(arguments::<1>(args, "type")?[0].class_ref())
    } else if class.is(&c.object) {
        |args| {
            arguments::<0>(args, "object")?;
            let class = &rt().classes.object;
            Ok(alloc::instance(
                class,
                class.get::<Class>().expect("a class").root(),
            ))
        }
    } else if class
        .get::<Class>()
        .is_some_and(|class| class.kind != Kind::Instance)
    {
        |_| raise(error::TYPE, "cannot create instances")
    } else {
        return None;
    })
}

fn int(args: &[Ref]) -> Result<Ref> {
    let [] = args else {
        let [value] = arguments::<1>(args, "int")?;
        if let Some(number) = Number::of(&value) {
            return number::to_int(&number);
        }
        if let Some(text) = value.as_str() {
            return match text.trim().replace('_', "").parse::<num_bigint::BigInt>() {
                Ok(number) => Ok(alloc::big(number)),
                Err(_) => raise(
                    error::VALUE,
                    format!(
                        "invalid literal for int() with base 10: {}",
                        ops::repr(&value)?
                    ),
                ),
            };
        }
        return class::special(&value, "__int__", &[]).unwrap_or_else(|| {
            raise(
                error::TYPE,
                format!(
                    "int() argument must be a string or a number, not '{}'",
                    value.class().name
                ),
            )
        });
    };
    Ok(alloc::int(0))
}

fn float(args: &[Ref]) -> Result<Ref> {
    let [] = args else {
        let [value] = arguments::<1>(args, "float")?;
        if ops::as_f64(&value).is_some() {
            return Ok(value);
        }
        if let Some(number) = Number::of(&value) {
            return match number.to_f64() {
                Some(number) => Ok(alloc::float(number)),
                None => raise(error::OVERFLOW, "int too large to convert to float"),
            };
        }
        if let Some(number) = value.as_str().and_then(|text| text.trim().parse().ok()) {
            return Ok(alloc::float(number));
        }
        return class::special(&value, "__float__", &[]).unwrap_or_else(|| {
            raise(
                error::TYPE,
                format!(
                    "float() argument must be a string or a number, not '{}'",
                    value.class().name
                ),
            )
        });
    };
    Ok(alloc::float(0.0))
}

/// `range(*args)`.
pub fn range(args: &[Ref]) -> Result<Ref> {
    let values: Option<Vec<i64>> = args.iter().map(ops::index_of).collect();
    match values.as_deref() {
        Some([stop]) => Ok(alloc::range(0, *stop, 1)),
        Some([start, stop]) => Ok(alloc::range(*start, *stop, 1)),
        Some([_, _, 0]) => raise(error::VALUE, "range() arg 3 must not be zero"),
        Some([start, stop, step]) => Ok(alloc::range(*start, *stop, *step)),
        _ => raise(error::TYPE, "range() takes 1 to 3 ints of 64 bits"),
    }
}

/// The best of some values by a comparison.
fn best(args: &[Ref], op: CompareOp, name: &str) -> Result<Ref> {
    let items = match args {
        [one] => iter::collect(one)?,
        several => several.to_vec(),
    };
    let mut items = items.into_iter();
    let Some(mut best) = items.next() else {
        return raise(error::VALUE, format!("{name}() iterable argument is empty"));
    };
    for item in items {
        let better = ops::compare(op, &item, &best)?;
        if ops::truth(&better)? {
            best = item;
        }
    }
    Ok(best)
}

fn is_instance(object: &Ref, class: &Ref) -> Result<bool> {
    if let Some(classes) = class.as_tuple() {
        for class in classes {
            if is_instance(object, class)? {
                return Ok(true);
            }
        }
        return Ok(false);
    }
    match class.get::<Class>() {
        Some(_) => Ok(object.class().is_subclass(class)),
        None => raise(
            error::TYPE,
            "isinstance() arg 2 must be a type or tuple of types",
        ),
    }
}

fn text(object: &Ref, what: &str) -> Result<String> {
    match object.as_str() {
        Some(text) => Ok(text.to_owned()),
        None => raise(
            error::TYPE,
            format!("{what} must be str, not {}", object.class().name),
        ),
    }
}

const FUNCTIONS: &[(&str, NativeFn)] = &[
    ("print", |args| {
        let texts = args.iter().map(ops::str).collect::<Result<Vec<_>>>()?;
        let mut output = rt().output.borrow_mut();
        output.push_str(&texts.join(" "));
        output.push('\n');
        Ok(rt().none.clone())
    }),
    ("len", |args| {
        Ok(alloc::int(ops::length(&arguments::<1>(args, "len")?[0])?))
    }),
    ("abs", |args| {
        let [value] = arguments::<1>(args, "abs")?;
        match Number::of(&value) {
            Some(Number::Float(value)) => Ok(alloc::float(value.abs())),
            Some(number) if number::compare(CompareOp::Lt, &number, &Number::Int(0)) => {
                Ok(number::negative(&number))
            }
            Some(number) => Ok(number.into_object()),
            None => class::special(&value, "__abs__", &[]).unwrap_or_else(|| {
                raise(
                    error::TYPE,
                    format!("bad operand type for abs(): '{}'", value.class().name),
                )
            }),
        }
    }),
    ("min", |args| best(args, CompareOp::Lt, "min")),
    ("max", |args| best(args, CompareOp::Gt, "max")),
    ("sum", |args| {
        let mut total = match args {
            [_, start] => start.clone(),
            _ => alloc::int(0),
        };
        let Some(items) = args.first() else {
            return raise(error::TYPE, "sum() takes at least 1 argument");
        };
        for item in iter::collect(items)? {
            total = ops::binary(0, &total, &item)?;
        }
        Ok(total)
    }),
    ("isinstance", |args| {
        let [object, class] = arguments::<2>(args, "isinstance")?;
        Ok(rt().bool(is_instance(&object, &class)?))
    }),
    ("repr", |args| {
        Ok(alloc::str(ops::repr(&arguments::<1>(args, "repr")?[0])?))
    }),
    ("hash", |args| {
        Ok(alloc::int(
            ops::hash(&arguments::<1>(args, "hash")?[0])? as i64
        ))
    }),
    ("iter", |args| iter::iter(&arguments::<1>(args, "iter")?[0])),
    ("next", |args| {
        iter::next_or_stop(&arguments::<1>(args, "next")?[0])
    }),
    ("super", |_| {
        raise(
            error::NOT_IMPLEMENTED,
            "super() other than for an attribute",
        )
    }),
    ("callable", |args| {
        let [object] = arguments::<1>(args, "callable")?;
        let is = object.get::<Function>().is_some()
            || object.get::<Native>().is_some()
            || object.get::<Method>().is_some()
            || object.get::<Class>().is_some()
            || object.get::<Instance>().is_some() && object.class().find("__call__").is_some();
        Ok(rt().bool(is))
    }),
    ("getattr", |args| {
        let (object, name) = match args {
            [object, name] | [object, name, _] => (object, text(name, "attribute name")?),
            _ => return raise(error::TYPE, "getattr() takes 2 or 3 arguments"),
        };
        match (class::get_attr(object, &name), args.get(2)) {
            (Err(raised), Some(default)) if error::is_a(&raised.0, error::ATTRIBUTE) => {
                Ok(default.clone())
            }
            (result, _) => result,
        }
    }),
    ("hasattr", |args| {
        let [object, name] = arguments::<2>(args, "hasattr")?;
        match class::get_attr(&object, &text(&name, "attribute name")?) {
            Ok(_) => Ok(rt().true_.clone()),
            Err(raised) if error::is_a(&raised.0, error::ATTRIBUTE) => Ok(rt().false_.clone()),
            Err(raised) => Err(raised),
        }
    }),
    ("setattr", |args| {
        let [object, name, value] = arguments::<3>(args, "setattr")?;
        class::set_attr(&object, &text(&name, "attribute name")?, value)?;
        Ok(rt().none.clone())
    }),
    ("sqrt", |args| {
        let [value] = arguments::<1>(args, "sqrt")?;
        match Number::of(&value).and_then(|number| number.to_f64()) {
            Some(value) if value < 0.0 => raise(error::VALUE, "math domain error"),
            Some(value) => Ok(alloc::float(value.sqrt())),
            None => raise(error::TYPE, "must be real number"),
        }
    }),
    ("chr", |args| {
        let [value] = arguments::<1>(args, "chr")?;
        let code = ops::index_of(&value)
            .and_then(|n| u32::try_from(n).ok())
            .and_then(char::from_u32);
        match code {
            Some(c) => Ok(alloc::str(c.to_string())),
            None => raise(error::VALUE, "chr() arg not in range(0x110000)"),
        }
    }),
    ("ord", |args| {
        let [value] = arguments::<1>(args, "ord")?;
        let text = text(&value, "ord() argument")?;
        let mut chars = text.chars();
        match (chars.next(), chars.next()) {
            (Some(c), None) => Ok(alloc::int(u32::from(c).into())),
            _ => raise(error::TYPE, "ord() expected a character"),
        }
    }),
];

fn list_of(args: &[Ref]) -> Result<&List> {
    match args.first().and_then(|list| list.get::<List>()) {
        Some(list) => Ok(list),
        None => raise(error::TYPE, "a method of lists needs a list"),
    }
}

const LIST: &[(&str, NativeFn)] = &[
    ("append", |args| {
        let [_, item] = arguments::<2>(args, "append")?;
        list_of(args)?.push(item);
        Ok(rt().none.clone())
    }),
    ("extend", |args| {
        let [list, items] = arguments::<2>(args, "extend")?;
        ops::extend(&list, &items)?;
        Ok(rt().none.clone())
    }),
    ("pop", |args| {
        let list = list_of(args)?;
        let at = match args.get(1) {
            Some(index) => ops::index_of(index).unwrap_or(-1),
            None => -1,
        };
        let at = if at < 0 { at + list.len() as i64 } else { at };
        if list.is_empty() {
            return raise(error::INDEX, "pop from empty list");
        }
        if !(0..list.len() as i64).contains(&at) {
            return raise(error::INDEX, "pop index out of range");
        }
        Ok(list.with(|items| items.remove(at as usize)))
    }),
    ("insert", |args| {
        let [_, index, item] = arguments::<3>(args, "insert")?;
        let list = list_of(args)?;
        let len = list.len() as i64;
        let at = ops::index_of(&index).unwrap_or(0);
        let at = if at < 0 { at + len } else { at }.clamp(0, len);
        list.with(|items| items.insert(at as usize, item));
        Ok(rt().none.clone())
    }),
    ("reverse", |args| {
        list_of(args)?.with(|items| items.reverse());
        Ok(rt().none.clone())
    }),
    ("clear", |args| {
        drop(list_of(args)?.take());
        Ok(rt().none.clone())
    }),
    ("index", |args| {
        let [_, wanted] = arguments::<2>(args, "index")?;
        for (i, item) in list_of(args)?.to_vec().iter().enumerate() {
            if item.is(&wanted) || ops::equal(item, &wanted)? {
                return Ok(alloc::int(i as i64));
            }
        }
        raise(error::VALUE, "the item is not in the list")
    }),
];

fn dict_of(args: &[Ref]) -> Result<&Dict> {
    match args.first().and_then(|dict| dict.get::<Dict>()) {
        Some(dict) => Ok(dict),
        None => raise(error::TYPE, "a method of dicts needs a dict"),
    }
}

const DICT: &[(&str, NativeFn)] = &[
    ("get", |args| {
        let Some(key) = args.get(1) else {
            return raise(error::TYPE, "get expected at least 1 argument");
        };
        let found = dict_of(args)?.get(key)?;
        Ok(found
            .or_else(|| args.get(2).cloned())
            .unwrap_or_else(|| rt().none.clone()))
    }),
    ("keys", |args| {
        Ok(alloc::list(
            dict_of(args)?
                .items()
                .into_iter()
                .map(|(key, _)| key)
                .collect(),
        ))
    }),
    ("values", |args| {
        Ok(alloc::list(
            dict_of(args)?
                .items()
                .into_iter()
                .map(|(_, value)| value)
                .collect(),
        ))
    }),
    ("items", |args| {
        let pairs = dict_of(args)?.items().into_iter();
        Ok(alloc::list(
            pairs
                .map(|(key, value)| alloc::tuple(vec![key, value]))
                .collect(),
        ))
    }),
    ("pop", |args| {
        let Some(key) = args.get(1) else {
            return raise(error::TYPE, "pop expected at least 1 argument");
        };
        match (dict_of(args)?.remove(key)?, args.get(2)) {
            (Some(value), _) => Ok(value),
            (None, Some(default)) => Ok(default.clone()),
            (None, None) => Err(error::new(error::KEY, key.clone())),
        }
    }),
];

const STR: &[(&str, NativeFn)] = &[
    ("upper", |args| {
        Ok(alloc::str(
            text(&arguments::<1>(args, "upper")?[0], "self")?.to_uppercase(),
        ))
    }),
    ("lower", |args| {
        Ok(alloc::str(
            text(&arguments::<1>(args, "lower")?[0], "self")?.to_lowercase(),
        ))
    }),
    ("join", |args| {
        let [separator, items] = arguments::<2>(args, "join")?;
        let items = iter::collect(&items)?;
        let texts = items
            .iter()
            .map(|item| text(item, "sequence item"))
            .collect::<Result<Vec<_>>>()?;
        Ok(alloc::str(texts.join(&text(&separator, "self")?)))
    }),
    ("split", |args| {
        let this = text(&args[0], "self")?;
        let parts: Vec<Ref> = match args.get(1) {
            Some(separator) => this
                .split(&text(separator, "separator")?)
                .map(alloc::str)
                .collect(),
            None => this.split_whitespace().map(alloc::str).collect(),
        };
        Ok(alloc::list(parts))
    }),
    ("startswith", |args| {
        let [this, prefix] = arguments::<2>(args, "startswith")?;
        Ok(rt().bool(text(&this, "self")?.starts_with(&text(&prefix, "prefix")?)))
    }),
];

const SET: &[(&str, NativeFn)] = &[("add", |args| {
    let [set, item] = arguments::<2>(args, "add")?;
    super::names::set_add(&set, item)?;
    Ok(rt().none.clone())
})];
