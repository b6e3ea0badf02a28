//! Classes: resolution order, attributes, and the shapes of their instances.

use super::error::{self, Raised, raise};
use super::heap::{self, Function, Head, Instance, Kind, Native, Ref, alloc};
use super::{Result, call, rt, units};
use cladonia::types::{ClassDesc, ClassHandle, HostId, Predefined, Type};
use std::cell::{Cell, OnceCell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;

/// A class.
#[repr(C)]
pub struct Class {
    head: Head,
    /// The layout of its instances.
    pub kind: Kind,
    /// Its name.
    pub name: Box<str>,
    /// The predefined class that it is or inherits from.
    pub predefined: Predefined,
    /// The classes that it inherits from, in order of resolution, without itself.
    pub mro: Vec<Ref>,
    /// Its own attributes.
    attrs: RefCell<HashMap<Rc<str>, Ref>>,
    /// Its handle.
    pub handle: ClassHandle,
    /// True if a unit relies on its attributes.
    pub is_watched: Cell<bool>,
    root: OnceCell<Box<Shape>>,
    exact: OnceCell<Type>,
    /// The shape of an instance at the latest use of one of its attributes.
    pub seen: Cell<*const Shape>,
}

/// The attributes of an instance: a hidden class. Shapes of one class form a tree, and each belongs
/// to one class only.
pub struct Shape {
    /// The names, in the order of the slots.
    pub names: Vec<Rc<str>>,
    next: RefCell<HashMap<Rc<str>, Box<Shape>>>,
}

impl Shape {
    fn new(names: Vec<Rc<str>>) -> Box<Shape> {
        Box::new(Shape {
            names,
            next: RefCell::default(),
        })
    }

    /// The slot of a name.
    pub fn index(&self, name: &str) -> Option<usize> {
        self.names.iter().position(|known| &**known == name)
    }

    /// The shape with one more name.
    fn with(&self, name: &str) -> *const Shape {
        if let Some(next) = self.next.borrow().get(name) {
            return &raw const **next;
        }
        let mut names = self.names.clone();
        names.push(name.into());
        let next = Shape::new(names);
        let shape = &raw const *next;
        self.next.borrow_mut().insert(name.into(), next);
        shape
    }
}

impl Class {
    /// The type of instances of exactly this class.
    pub fn exact(&self) -> Type {
        *self
            .exact
            .get_or_init(|| Type::from_class_exact(self.handle))
    }

    /// The shape of an instance without attributes.
    pub fn root(&self) -> &Shape {
        self.root.get_or_init(|| Shape::new(Vec::new()))
    }

    /// An attribute of the class or of its bases.
    pub fn find(&self, name: &str) -> Option<Ref> {
        if let Some(own) = self.attrs.borrow().get(name) {
            return Some(own.clone());
        }
        self.mro.iter().find_map(|base| {
            let base = base.get::<Class>()?;
            base.attrs.borrow().get(name).cloned()
        })
    }

    /// Sets an attribute (or removes it), after notifying the units that rely on the class.
    pub fn set(&self, name: &str, value: Option<Ref>) -> Option<Ref> {
        self.tell();
        let mut attrs = self.attrs.borrow_mut();
        match value {
            Some(value) => attrs.insert(name.into(), value),
            None => attrs.remove(name),
        }
    }

    fn tell(&self) {
        if self.is_watched.get() {
            units::class_changes(self.handle);
        }
    }

    /// Returns true if the class is `other` or inherits from it.
    pub fn is_subclass(&self, other: &Ref) -> bool {
        std::ptr::eq(self, other.as_ptr().cast()) || self.mro.iter().any(|base| base.is(other))
    }
}

impl Drop for Class {
    fn drop(&mut self) {
        self.tell();
        self.handle.forget();
    }
}

/// A builtin class of the runtime.
pub(super) fn builtin(
    host: HostId,
    kind: Kind,
    predefined: Predefined,
    parents: &[Ref],
    metaclass: Option<&Ref>,
) -> Ref {
    let mro = parents.to_vec();
    // SAFETY: parents are classes; the first one has no class of its own yet, so it can't be read
    // by `get`.
    let bases = mro
        .iter()
        .map(|base| unsafe { (*base.as_ptr().cast::<Class>()).handle })
        .collect();
    heap::alloc_class(
        |head, address| {
            let desc = ClassDesc::builtin(predefined, bases).with_token(address);
            Class {
                head,
                kind,
                name: predefined.spelled().into(),
                predefined,
                mro,
                attrs: RefCell::default(),
                handle: host
                    .register_class(desc)
                    .expect("a builtin class of a new host"),
                is_watched: Cell::new(false),
                root: OnceCell::new(),
                exact: OnceCell::new(),
                seen: Cell::new(std::ptr::null()),
            }
        },
        metaclass,
    )
}

/// A user class.
pub fn define(name: &str, bases: Vec<Ref>, namespace: &super::dict::Dict) -> Result<Ref> {
    let bases = if bases.is_empty() {
        vec![rt().classes.object.clone()]
    } else {
        bases
    };
    for base in &bases {
        match base.get::<Class>() {
            Some(class) if class.kind == Kind::Instance => {}
            Some(class) => {
                return raise(
                    error::TYPE,
                    format!("type '{}' is not an acceptable base type", class.name),
                );
            }
            None => return raise(error::TYPE, "bases must be types"),
        }
    }
    let mro = linearise(&bases)?;
    let class = new(name, mro);
    let content = class.get::<Class>().expect("a class");
    for (key, value) in namespace.items() {
        if let Some(key) = key.as_str() {
            content.attrs.borrow_mut().insert(key.into(), value);
        }
    }
    Ok(class)
}

/// A user class with this resolution order (without itself).
pub(super) fn new(name: &str, mro: Vec<Ref>) -> Ref {
    let handles: Vec<ClassHandle> = mro
        .iter()
        .filter_map(|base| Some(base.get::<Class>()?.handle))
        .collect();
    let predefined = mro
        .iter()
        .filter_map(|base| Some(base.get::<Class>()?.predefined))
        .find(|row| *row != Predefined::Object)
        .unwrap_or(Predefined::Object);
    let host = rt().host_id;
    heap::alloc_class(
        |head, address| Class {
            head,
            kind: Kind::Instance,
            name: name.into(),
            predefined,
            mro,
            attrs: RefCell::default(),
            handle: host
                .register_class(ClassDesc::new(name, handles, predefined).with_token(address))
                .expect("bases in order of resolution"),
            is_watched: Cell::new(false),
            root: OnceCell::new(),
            exact: OnceCell::new(),
            seen: Cell::new(std::ptr::null()),
        },
        Some(&rt().classes.type_),
    )
}

/// C3: merges the bases' orders, so that each class comes before its bases and bases keep their
/// order.
fn linearise(bases: &[Ref]) -> Result<Vec<Ref>> {
    let mut lists: Vec<Vec<Ref>> = bases
        .iter()
        .map(|base| {
            let mut list = vec![base.clone()];
            list.extend(base.get::<Class>().map_or(Vec::new(), |c| c.mro.clone()));
            list
        })
        .collect();
    lists.push(bases.to_vec());
    let mut merged = Vec::new();
    loop {
        lists.retain(|list| !list.is_empty());
        if lists.is_empty() {
            return Ok(merged);
        }
        let head = lists.iter().map(|list| &list[0]).find(|head| {
            lists
                .iter()
                .all(|list| !list[1..].iter().any(|other| other.is(head)))
        });
        let Some(head) = head.cloned() else {
            return raise(
                error::TYPE,
                "Cannot create a consistent method resolution order (MRO) for bases",
            );
        };
        for list in &mut lists {
            if list[0].is(&head) {
                list.remove(0);
            }
        }
        merged.push(head);
    }
}

/// Runs an object's `__del__`; its exception is discarded.
pub(super) fn finalise(object: &Ref) {
    if rt().is_closing.get() {
        return;
    }
    let Some(function) = object.class().find("__del__") else {
        return;
    };
    let pending = rt().thread.take_exception();
    let trace = rt().trace.take();
    let _ = call::call(&function, vec![object.clone()]);
    drop(rt().thread.take_exception());
    rt().thread.set_exception(pending);
    rt().trace.replace(trace);
}

fn missing<T>(object: &Ref, name: &str) -> Result<T> {
    if let Some(class) = object.get::<Class>() {
        return raise(
            error::ATTRIBUTE,
            format!("type object '{}' has no attribute '{name}'", class.name),
        );
    }
    raise(
        error::ATTRIBUTE,
        format!("'{}' object has no attribute '{name}'", object.class().name),
    )
}

/// Returns true if an attribute found in a class binds its receiver.
pub fn binds(found: &Ref) -> bool {
    found.get::<Function>().is_some()
        || found.get::<Native>().is_some_and(|native| native.is_method)
}

/// Finds attribute `name` of `object`: the value, and true if it is a function of the class that
/// binds the object.
fn find_attr(object: &Ref, name: &str) -> Result<(Ref, bool)> {
    if let Some(instance) = object.get::<Instance>() {
        object.class().seen.set(instance.shape.get());
        if let Some(index) = instance.shape().index(name) {
            return Ok((instance.slot(index), false));
        }
    }
    if let Some(class) = object.get::<Class>() {
        match name {
            "__name__" => return Ok((alloc::str(class.name.clone()), false)),
            _ if let Some(found) = class.find(name) => return Ok((found, false)),
            _ => {}
        }
    }
    if name == "__class__" {
        return Ok((object.class_ref(), false));
    }
    if let (Some(function), "__name__") = (object.get::<Function>(), name) {
        return Ok((
            alloc::str(call::code_of(function).code.name.as_str()),
            false,
        ));
    }
    match object.class().find(name) {
        Some(found) => {
            let bind = binds(&found);
            Ok((found, bind))
        }
        None => missing(object, name),
    }
}

/// `object.name`
pub fn get_attr(object: &Ref, name: &str) -> Result<Ref> {
    let (found, bind) = find_attr(object, name)?;
    Ok(if bind {
        alloc::method(found, object.clone())
    } else {
        found
    })
}

/// `object.name` for a call: the callable, and the object to pass first.
pub fn get_method(object: &Ref, name: &str) -> Result<(Ref, Option<Ref>)> {
    let (found, bind) = find_attr(object, name)?;
    Ok((found, bind.then(|| object.clone())))
}

/// `super(class, this).name` for a call.
pub fn get_super(class: &Ref, this: &Ref, name: &str) -> Result<(Ref, Option<Ref>)> {
    let rest = this
        .class()
        .mro
        .iter()
        .skip_while(|base| !base.is(class))
        .skip(1);
    let own = std::ptr::eq(this.class(), class.as_ptr().cast());
    let from: Vec<&Ref> = if own {
        this.class().mro.iter().collect()
    } else {
        rest.collect()
    };
    for base in from {
        if let Some(base) = base.get::<Class>()
            && let Some(found) = base.attrs.borrow().get(name)
        {
            return Ok((found.clone(), binds(found).then(|| this.clone())));
        }
    }
    raise(
        error::ATTRIBUTE,
        format!("'super' object has no attribute '{name}'"),
    )
}

/// `object.name = value`
pub fn set_attr(object: &Ref, name: &str, value: Ref) -> Result<()> {
    if let Some(instance) = object.get::<Instance>() {
        let shape = instance.shape();
        if let Some(index) = shape.index(name) {
            object.class().seen.set(instance.shape.get());
            drop(instance.replace(index, value));
            return Ok(());
        }
        let next = shape.with(name);
        instance.reshape(next, |values| {
            values.push(value);
            None
        });
        object.class().seen.set(next);
        return Ok(());
    }
    if let Some(class) = object.get::<Class>() {
        if class.predefined != Predefined::Object && class.kind != Kind::Instance
            || class.name.as_ref() == "object"
        {
            return raise(
                error::TYPE,
                format!(
                    "cannot set '{name}' attribute of immutable type '{}'",
                    class.name
                ),
            );
        }
        drop(class.set(name, Some(value)));
        return Ok(());
    }
    missing(object, name)
}

/// `del object.name`
pub fn delete_attr(object: &Ref, name: &str) -> Result<()> {
    if let Some(instance) = object.get::<Instance>()
        && let Some(index) = instance.shape().index(name)
    {
        let mut shape: *const Shape = object.class().root();
        for (i, known) in instance.shape().names.iter().enumerate() {
            if i != index {
                // SAFETY: shapes live as long as their class.
                shape = unsafe { (*shape).with(known) };
            }
        }
        drop(instance.reshape(shape, |values| Some(values.remove(index))));
        return Ok(());
    }
    if let Some(class) = object.get::<Class>()
        && class.kind == Kind::Instance
        && let Some(old) = class.set(name, None)
    {
        drop(old);
        return Ok(());
    }
    missing(object, name)
}

/// An instance of a user class: allocated, then initialised by `__init__`.
pub fn instantiate(class: &Ref, args: Vec<Ref>, kwargs: Vec<(Ref, Ref)>) -> Result<Ref> {
    let content = class.get::<Class>().expect("a class");
    let object = alloc::instance(class, content.root());
    if content.predefined == Predefined::BaseException {
        set_attr(&object, "args", alloc::tuple(args.clone()))?;
    }
    match content.find("__init__") {
        Some(init) => {
            let mut all = vec![object.clone()];
            all.extend(args);
            let result = call::call_with(&init, all, kwargs)?;
            if !result.is(&rt().none) {
                return raise(error::TYPE, "__init__() should return None");
            }
        }
        None if content.predefined != Predefined::BaseException
            && !(args.is_empty() && kwargs.is_empty()) =>
        {
            return raise(
                error::TYPE,
                format!("{}() takes no arguments", content.name),
            );
        }
        None => {}
    }
    Ok(object)
}

/// Calls a special method of the object's class, if it has it.
pub fn special(object: &Ref, name: &str, args: &[Ref]) -> Option<Result<Ref>> {
    if object.kind() != Kind::Instance {
        return None;
    }
    let function = object.class().find(name)?;
    let mut all = vec![object.clone()];
    all.extend_from_slice(args);
    Some(call::call(&function, all))
}

impl From<Ref> for Raised {
    fn from(exception: Ref) -> Raised {
        Raised(exception)
    }
}
