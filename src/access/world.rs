//! The analysed program: its classes, modules and functions, with the values stored under each of
//! their names.
//!
//! All of this follows from the text of the program. Changes by other code are the matter of a
//! plan's watches and checks.

use super::builtins;
use super::text_of_tuple;
use crate::hir::{Function, FunctionAttribute, GeneralOp as G, Op, Value};
use crate::infer::{FuncId, Program};
use crate::types::{ConstValue, Predefined, Type};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// A name.
pub type Name = Arc<str>;

/// The referent of a name or an attribute.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Reference {
    /// This class.
    Class(Name),
    /// This function.
    Function(Name),
    /// An instance of this class.
    Instance(Name),
    /// This module.
    Module(Name),
    /// A property with this getter.
    Property(Name),
    /// A static method around this function.
    StaticMethod(Name),
    /// A class method around this function.
    ClassMethod(Name),
    /// Any object.
    Var,
}

impl Reference {
    /// Returns true if it is one object that a plan may refer to: a class, a function or a module.
    pub fn is_static(&self) -> bool {
        self.identity().is_some()
    }

    /// The name of the one object that it is, if any.
    pub fn identity(&self) -> Option<&Name> {
        match self {
            Reference::Class(name) | Reference::Function(name) | Reference::Module(name) => {
                Some(name)
            }
            _ => None,
        }
    }
}

impl std::fmt::Display for Reference {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Reference::Class(name) => write!(f, "<class>:{name}"),
            Reference::Function(name) => write!(f, "<function>:{name}"),
            Reference::Instance(name) => write!(f, "<instance>:{name}"),
            Reference::Module(name) => write!(f, "<module>:{name}"),
            Reference::Property(name) => write!(f, "<property>:{name}"),
            Reference::StaticMethod(name) => write!(f, "<staticmethod>:{name}"),
            Reference::ClassMethod(name) => write!(f, "<classmethod>:{name}"),
            Reference::Var => f.write_str("<var>"),
        }
    }
}

/// The possible referents of a value.
pub type References = BTreeSet<Reference>;

/// An attribute as the program stores it.
#[derive(Clone, Debug, Default)]
pub(super) struct Attribute {
    /// The values that are stored under the name, by their functions.
    pub stores: Vec<(FuncId, Value)>,
    /// True if some code deletes it, or stores it outside its owner's body.
    pub is_shaky: bool,
    /// Its value without any store, if the host defines one.
    pub given: Option<Reference>,
}

/// A class.
#[derive(Clone, Debug, Default)]
pub(super) struct Class {
    /// Its bases. None if one is unknown.
    pub bases: Option<Vec<Name>>,
    /// The place of the class statement, and the operands for the bases.
    pub made: Option<(FuncId, Vec<Value>)>,
    /// The attributes that its body stores.
    pub attributes: BTreeMap<Name, Attribute>,
    /// The attributes of its instances: those that its methods store through their first parameter.
    pub instance: BTreeSet<Name>,
    /// The method resolution order.
    pub mro: Vec<Name>,
    /// True if lookups may take another path: there is a metaclass, an unknown base, `__getattr__`
    /// or a similar method.
    pub is_opaque: bool,
    /// True if it is one of the host's classes.
    pub is_builtin: bool,
    /// Names in its `__slots__`, if it has one that is constant.
    pub slots: Option<Vec<Name>>,
}

/// A module.
#[derive(Clone, Debug, Default)]
pub(super) struct Module {
    pub attributes: BTreeMap<Name, Attribute>,
}

/// The facts about a function besides its HIR.
#[derive(Clone, Debug)]
pub(super) struct FunctionInfo {
    pub name: Name,
    pub module: Name,
    /// The class whose body defines it.
    pub class: Option<Name>,
    /// Its wrapper there.
    pub wrapper: Option<Wrapper>,
    /// The number of parameters with defaults.
    pub defaults: u32,
}

/// A wrapper of a function in a class.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Wrapper {
    Static,
    Class,
    Property,
}

/// The analysed program.
pub struct World<'a> {
    pub(super) program: &'a Program,
    pub(super) functions: BTreeMap<FuncId, FunctionInfo>,
    pub(super) classes: BTreeMap<Name, Class>,
    pub(super) modules: BTreeMap<Name, Module>,
    /// The class of each class body.
    pub(super) body_of: BTreeMap<FuncId, Name>,
    pub(super) by_name: BTreeMap<Name, FuncId>,
    /// The bodies of modules.
    module_bodies: BTreeMap<FuncId, Name>,
}

/// The name of the module whose body this code is.
fn module_name(code: &str) -> Option<&str> {
    match code {
        "<module>" => Some("__main__"),
        _ => code.strip_prefix("<module ")?.strip_suffix('>'),
    }
}

impl<'a> World<'a> {
    /// The classes and modules that the program's text defines.
    pub fn new(program: &'a Program) -> World<'a> {
        let mut world = World {
            program,
            functions: BTreeMap::new(),
            classes: BTreeMap::new(),
            modules: BTreeMap::new(),
            body_of: BTreeMap::new(),
            by_name: BTreeMap::new(),
            module_bodies: BTreeMap::new(),
        };
        builtins::add(&mut world.classes);
        world.modules.insert("__main__".into(), Module::default());
        for (id, f) in program.functions() {
            let name: Name = f.code.name.as_str().into();
            let module = module_name(&name);
            if let Some(module) = module {
                world.modules.entry(module.into()).or_default();
                world.module_bodies.insert(id, module.into());
            }
            let info = FunctionInfo {
                name: name.clone(),
                module: module.unwrap_or("__main__").into(),
                class: None,
                wrapper: None,
                defaults: 0,
            };
            world.functions.insert(id, info);
            world.by_name.insert(name, id);
        }
        // A code object is nested in the one that holds it as a constant.
        let bodies: Vec<(FuncId, Name)> = world
            .module_bodies
            .iter()
            .map(|(id, name)| (*id, name.clone()))
            .collect();
        for (body, module) in bodies {
            world.place(body, &module);
        }
        for (name, func) in program.globals() {
            if module_name(name).is_none() {
                let code = world.functions[&func].name.clone();
                let main = world.modules.entry("__main__".into()).or_default();
                let attribute = main.attributes.entry(name.as_str().into()).or_default();
                attribute.given = Some(Reference::Function(code));
            }
        }
        world.find_classes();
        world.find_stores();
        world.find_bases();
        world
    }

    fn place(&mut self, func: FuncId, module: &Name) {
        let program = self.program;
        for constant in &program.function(func).code.consts {
            let Some(inner) = program.of_object(constant.object).filter(|i| *i != func) else {
                continue;
            };
            if let Some(info) = self.functions.get_mut(&inner) {
                info.module = module.clone();
            }
            self.place(inner, module);
        }
    }

    fn insts(&self) -> Vec<(FuncId, Value)> {
        let mut all = Vec::new();
        for (id, f) in self.program.functions() {
            for &block in &f.order {
                all.extend(f.blocks[block].insts.iter().map(|v| (id, *v)));
            }
        }
        all
    }

    /// Class statements.
    fn find_classes(&mut self) {
        for (id, v) in self.insts() {
            let f = self.program.function(id);
            let Some((body, bases, keywords)) = class_statement(self.program, f, v) else {
                continue;
            };
            let name: Name = f_name(self.program, body);
            self.body_of.insert(body, name.clone());
            let class = self.classes.entry(name).or_default();
            class.made = Some((id, bases));
            class.is_opaque |= keywords;
        }
    }

    fn find_stores(&mut self) {
        for (id, v) in self.insts() {
            let f = self.program.function(id);
            let Op::General(op, imms) = f.op(v) else {
                continue;
            };
            let is_name = matches!(
                op,
                G::StoreName | G::DeleteName | G::StoreGlobal | G::DeleteGlobal
            );
            if *op == G::SetFunctionAttribute && imms[0] == FunctionAttribute::Defaults as i64 {
                let count = tuple_length(f, f.arg(v, 1));
                if let Some(func) = made_function(self.program, f, f.arg(v, 0))
                    && let Some(info) = self.functions.get_mut(&func)
                {
                    info.defaults = count.unwrap_or(0) as u32;
                }
            }
            if !is_name {
                continue;
            }
            let name: Name = f.code.names[imms[0] as usize].as_str().into();
            let of_class = match op {
                G::StoreName | G::DeleteName => self.body_of.get(&id).cloned(),
                _ => None,
            };
            let is_delete = matches!(op, G::DeleteName | G::DeleteGlobal);
            let is_body = self.module_bodies.contains_key(&id);
            let module = self.functions[&id].module.clone();
            let attributes = match &of_class {
                Some(class) => {
                    &mut self
                        .classes
                        .get_mut(class)
                        .expect("its body was found")
                        .attributes
                }
                None => &mut self.modules.entry(module).or_default().attributes,
            };
            let attribute = attributes.entry(name.clone()).or_default();
            if is_delete {
                attribute.is_shaky = true;
            } else {
                attribute.stores.push((id, f.arg(v, 0)));
                attribute.is_shaky |= of_class.is_none() && !is_body;
            }
            let Some(class) = of_class else { continue };
            if !is_delete {
                self.note_method(&class, &name, id, f.arg(v, 0));
            }
        }
        self.find_instance_attributes();
    }

    fn note_method(&mut self, class: &Name, name: &Name, id: FuncId, stored: Value) {
        let f = self.program.function(id);
        if &**name == "__slots__" {
            let slots = match f.op(f.object_of(stored)) {
                Op::Const(object) => Some(text_of_tuple(&object.name())),
                _ => None,
            };
            let entry = self.classes.get_mut(class).expect("its body was found");
            let slots: Option<Vec<Name>> = slots.map(|s| {
                s.iter()
                    .map(|s| s.trim_matches(['\'', '"']).into())
                    .collect()
            });
            entry.instance.extend(slots.iter().flatten().cloned());
            entry.slots = slots;
        }
        if matches!(
            &**name,
            "__getattr__"
                | "__getattribute__"
                | "__setattr__"
                | "__delattr__"
                | "__get__"
                | "__set__"
                | "__new__"
                | "__init_subclass__"
                | "__set_name__"
        ) {
            let entry = self.classes.get_mut(class).expect("its body was found");
            entry.is_opaque |= !matches!(&**name, "__get__" | "__set__" | "__set_name__");
        }
        let (func, wrapper) = unwrapped(self.program, f, stored);
        if let Some(func) = func
            && let Some(info) = self.functions.get_mut(&func)
        {
            info.class = Some(class.clone());
            info.wrapper = wrapper;
        }
    }

    fn find_instance_attributes(&mut self) {
        for (id, v) in self.insts() {
            let f = self.program.function(id);
            let Op::General(G::StoreAttr, imms) = f.op(v) else {
                continue;
            };
            let info = &self.functions[&id];
            let is_self = matches!(f.op(f.object_of(f.arg(v, 0))), Op::Arg(0));
            if let (true, None, Some(class)) = (is_self, info.wrapper, info.class.clone())
                && let Some(entry) = self.classes.get_mut(&class)
            {
                let name = f.code.names[imms[0] as usize].as_str();
                entry.instance.insert(name.into());
            }
        }
    }

    fn find_bases(&mut self) {
        let names: Vec<Name> = self.classes.keys().cloned().collect();
        for name in &names {
            let Some((func, bases)) = self.classes[name].made.clone() else {
                continue;
            };
            let refs: Vec<References> = bases
                .iter()
                .map(|base| super::references::Resolver::early(self).of(func, *base))
                .collect();
            let mut known = Vec::new();
            for one in &refs {
                match one.iter().collect::<Vec<_>>()[..] {
                    [Reference::Class(base)] if self.classes.contains_key(base) => {
                        known.push(base.clone());
                    }
                    _ => {}
                }
            }
            let class = self.classes.get_mut(name).expect("it is there");
            class.is_opaque |= known.len() != refs.len();
            if known.is_empty() && &**name != "object" {
                known.push("object".into());
            }
            class.bases = Some(known);
        }
        for name in &names {
            match self.linearized(name, 0) {
                Some(order) => {
                    let opaque = order.iter().any(|c| self.classes[c].is_opaque);
                    let class = self.classes.get_mut(name).expect("it is there");
                    class.mro = order;
                    class.is_opaque = opaque;
                }
                None => {
                    let class = self.classes.get_mut(name).expect("it is there");
                    class.mro = vec![name.clone()];
                    class.is_opaque = true;
                }
            }
        }
    }

    fn linearized(&self, name: &Name, depth: u32) -> Option<Vec<Name>> {
        if depth > 40 {
            return None;
        }
        let bases = self.classes.get(name)?.bases.clone().unwrap_or_default();
        let mut lists: Vec<Vec<Name>> = Vec::new();
        for base in &bases {
            lists.push(self.linearized(base, depth + 1)?);
        }
        lists.push(bases);
        let mut order = vec![name.clone()];
        loop {
            lists.retain(|list| !list.is_empty());
            if lists.is_empty() {
                return Some(order);
            }
            let heads: Vec<Name> = lists.iter().map(|list| list[0].clone()).collect();
            let next = heads
                .into_iter()
                .find(|head| !lists.iter().any(|list| list[1..].contains(head)))?;
            for list in &mut lists {
                list.retain(|one| *one != next);
            }
            order.push(next);
        }
    }

    /// The class and those derived from it.
    pub(super) fn descendants(&self, class: &Name) -> BTreeSet<Name> {
        let all = self.classes.iter();
        let derived = all.filter(|(_, data)| data.mro.contains(class));
        derived.map(|(name, _)| name.clone()).collect()
    }

    /// The first class in the method resolution order of `class` whose body has the attribute.
    pub(super) fn owner(&self, class: &Name, attr: &str) -> Option<&Name> {
        let order = &self.classes.get(class)?.mro;
        order
            .iter()
            .find(|c| self.classes[*c].attributes.contains_key(attr))
    }

    /// Returns true if instances of the class have own attributes of this name.
    pub(super) fn has_instance_attribute(&self, class: &Name, attr: &str) -> bool {
        let order = self.classes.get(class).map(|c| &c.mro[..]).unwrap_or(&[]);
        order
            .iter()
            .any(|c| self.classes[c].instance.contains(attr))
    }

    /// The function of this name, with its facts.
    pub(super) fn function(&self, name: &str) -> Option<(&Function, &FunctionInfo)> {
        let id = self.by_name.get(name)?;
        Some((self.program.function(*id), &self.functions[id]))
    }
}

fn f_name(program: &Program, func: FuncId) -> Name {
    program.function(func).code.name.as_str().into()
}

/// The program function that a `make_function` operation creates, from its code.
pub(super) fn made_function(program: &Program, f: &Function, v: Value) -> Option<FuncId> {
    let v = f.object_of(v);
    match f.op(v) {
        Op::General(G::MakeFunction, _) => match f.op(f.object_of(f.arg(v, 0))) {
            Op::Const(code) => program.of_object(*code),
            _ => None,
        },
        Op::Const(object)
            if object.class().and_then(|class| class.predefined()) == Some(Predefined::Func) =>
        {
            program.of_object(*object)
        }
        _ => None,
    }
}

/// A class statement: the body, the bases, and true if it has keywords.
pub(super) fn class_statement(
    program: &Program,
    f: &Function,
    v: Value,
) -> Option<(FuncId, Vec<Value>, bool)> {
    let Op::General(G::Call | G::CallLent, _) = f.op(v) else {
        return None;
    };
    let callable = f.object_of(f.arg(v, 1));
    if !matches!(f.op(callable), Op::General(G::LoadBuildClass, _)) {
        return None;
    }
    let args = &f.inst(v).args;
    let body = made_function(program, f, *args.get(3)?)?;
    let keywords = match f.op(f.object_of(args[0])) {
        Op::Const(object) => text_of_tuple(&object.name()).len(),
        _ => 0,
    };
    let bases = args.get(5..args.len() - keywords).unwrap_or(&[]).to_vec();
    Some((body, bases, keywords > 0))
}

/// The function behind a value that a class body stores, and its wrapper.
fn unwrapped(program: &Program, f: &Function, v: Value) -> (Option<FuncId>, Option<Wrapper>) {
    let v = f.object_of(v);
    if let Some(func) = made_function(program, f, v) {
        return (Some(func), None);
    }
    match wrapped(f, v) {
        Some((wrapper, inner)) => (made_function(program, f, inner), Some(wrapper)),
        None => (None, None),
    }
}

/// The wrapper and the wrapped value of a call of `staticmethod`, `classmethod` or `property`.
pub(super) fn wrapped(f: &Function, v: Value) -> Option<(Wrapper, Value)> {
    let v = f.object_of(v);
    let Op::General(G::Call | G::CallLent, _) = f.op(v) else {
        return None;
    };
    let args = &f.inst(v).args;
    let Op::General(G::LoadName | G::LoadGlobal, imms) = f.op(f.object_of(*args.get(1)?)) else {
        return None;
    };
    let wrapper = match f.code.names[imms[0] as usize].as_str() {
        "staticmethod" => Wrapper::Static,
        "classmethod" => Wrapper::Class,
        "property" => Wrapper::Property,
        _ => return None,
    };
    // The function of a decorator is in the place of the call's receiver.
    let operand = args[2..].iter().find(|v| !matches!(f.op(**v), Op::Null))?;
    (args.len() <= 4).then_some((wrapper, *operand))
}

/// The number of items of a tuple.
fn tuple_length(f: &Function, v: Value) -> Option<usize> {
    let v = f.object_of(v);
    match f.op(v) {
        Op::General(G::BuildTuple, _) => Some(f.inst(v).args.len()),
        Op::Const(object) => Some(text_of_tuple(&object.name()).len()),
        _ => None,
    }
}

/// The builtin class of a constant.
pub(super) fn class_of_constant(value: &ConstValue, ty: Type) -> Option<&'static str> {
    Some(match value {
        ConstValue::None => "NoneType",
        ConstValue::Bool(_) => "bool",
        ConstValue::Int(_) => "int",
        ConstValue::Float(_) => "float",
        ConstValue::Str(_) => "str",
        ConstValue::Other if ty <= Type::TUPLE_EXACT => "tuple",
        ConstValue::Other if ty <= Type::BYTES_EXACT => "bytes",
        ConstValue::Other if ty <= Type::LONG_EXACT => "int",
        ConstValue::Other if ty <= Type::UNICODE_EXACT => "str",
        ConstValue::Other => return None,
    })
}
