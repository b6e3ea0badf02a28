//! The text forms of the host's answers: assumptions, uses of intrinsics, raw entries, and the
//! answers of a [`Snapshot`], one per line (except those that contain code).
//!
//! ```text
//! global 7 "len" = ImmortalObjectExact[len] assume name_unchanged 7 "len"
//! load_attr ObjectUser[Point:Exact] "x" = field check intrinsic30[8] load intrinsic31[16] \
//!     assume class_unchanged ObjectUser[Point:Exact]
//! load_attr ObjectUser[Point:Exact] "m" = constant FunctionExact[m] method check intrinsic32[24]
//! store_attr ObjectUser[Point:Exact] "x" = field store intrinsic33[16]
//! store_attr ObjectUser[Point:Exact] "m" = setter FunctionExact[set_m]
//! of_class intrinsic32
//! instance ObjectUser[Point:Exact] intrinsic31[16] = load 16
//! operator binary 0 [ObjectUser[Point:Exact], FloatExact] = method FunctionExact[add] \
//!     declined ImmortalObjectExact[declined]
//! operator compare 2 [ObjectUser[Point:Exact], NoneType] = identity \
//!     assume class_unchanged ObjectUser[Point:Exact]
//! operator truth [ObjectUser[Point:Exact]] = true assume class_unchanged ObjectUser[Point:Exact]
//! callee FunctionExact[f] = function 2 [ImmortalLongExact[5]] cell 0x10 raw (int) -> int \
//!     cell 0x18 boxed 0x10
//! callee FunctionExact[g] = function 1 [] cell 0x20 kin intrinsic36[48, 64, 80]
//! callee ImmortalObjectExact[len] = builtin len
//! native ImmortalObjectExact[len] 1 = any intrinsic35[16, 32] gives LongExact
//! inlinee FunctionExact[f] = check intrinsic34[]       and the code on the lines that follow
//! tuple TupleExact[t] = [ImmortalLongExact[5], LongExact[6]]
//! value LongExact[6] = 6
//! ```
//! (A `\` marks a line that is broken here only.)

use super::snapshot::{Answer, Snapshot};
use super::{
    Assumption, AttrPlan, Binds, Builtin, Callee, Computed, FieldAccess, Forwarding, GetterArg,
    Global, InstanceAccess, IntrinsicCall, IntrinsicId, Kin, Missing, NativeCall, Operator,
    OperatorPlan, Parameters, Parts, RawEntry, RawItems, RawKind, RawSignature, StorePlan,
};
use crate::types::{ClassHandle, Line, ObjectHandle, Parsed, Quoted, Scope, Type};
use cranelift_entity::EntityRef;
use std::fmt::{self, Display};

impl Display for IntrinsicCall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{:?}", self.id, self.imms)
    }
}

impl IntrinsicCall {
    pub(crate) fn read(line: &mut Line) -> Parsed<IntrinsicCall> {
        let id = line.entity("intrinsic", "an intrinsic")?;
        line.expect("[")?;
        Ok(IntrinsicCall {
            id: IntrinsicId::new(id as usize),
            imms: line.list("]", Line::integer)?,
        })
    }
}

impl RawKind {
    fn name(self) -> &'static str {
        match self {
            RawKind::Int => "int",
            RawKind::Float => "float",
            RawKind::Bool => "bool",
        }
    }

    fn read(line: &mut Line) -> Parsed<RawKind> {
        let kinds = [RawKind::Int, RawKind::Float, RawKind::Bool];
        match kinds.into_iter().find(|kind| line.eat_word(kind.name())) {
            Some(kind) => Ok(kind),
            None => line.expected("`int`, `float` or `bool`"),
        }
    }
}

impl Display for RawEntry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let params = self.signature.params.iter();
        let params: Vec<&str> = params.map(|kind| kind.name()).collect();
        write!(
            f,
            "({}) -> {} cell {:#x} boxed {:#x}",
            params.join(", "),
            self.signature.result.name(),
            self.cell,
            self.boxed_cell
        )
    }
}

impl RawEntry {
    pub(crate) fn read(line: &mut Line) -> Parsed<RawEntry> {
        line.expect("(")?;
        let params = line.list(")", RawKind::read)?;
        line.expect("->")?;
        let result = RawKind::read(line)?;
        line.expect("cell")?;
        let cell = line.hexadecimal()?;
        line.expect("boxed")?;
        Ok(RawEntry {
            cell,
            boxed_cell: line.hexadecimal()?,
            signature: RawSignature { params, result },
        })
    }
}

impl Display for Assumption {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Assumption::ClassUnchanged(class) => {
                write!(f, "class_unchanged {}", Type::from_class_exact(*class))
            }
            Assumption::NameUnchanged { namespace, name } => {
                write!(f, "name_unchanged {namespace} {}", Quoted(name))
            }
            Assumption::FunctionUnchanged(object) => {
                write!(f, "function_unchanged {}", Type::from_object(*object))
            }
            Assumption::ObjectsPrivate => f.write_str("objects_private"),
        }
    }
}

impl Assumption {
    pub(crate) fn read(line: &mut Line, scope: &Scope) -> Parsed<Assumption> {
        Ok(if line.eat_word("class_unchanged") {
            Assumption::ClassUnchanged(read_class(line, scope)?)
        } else if line.eat_word("name_unchanged") {
            Assumption::NameUnchanged {
                namespace: line.number()?,
                name: line.quoted("the name")?,
            }
        } else if line.eat_word("function_unchanged") {
            Assumption::FunctionUnchanged(scope.single_object(line)?)
        } else if line.eat_word("objects_private") {
            Assumption::ObjectsPrivate
        } else {
            return line.expected("an assumption");
        })
    }
}

/// `[A, B]`
struct Objects<'a>(&'a [ObjectHandle]);

impl Display for Objects<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let objects = self.0.iter().map(|object| Type::from_object(*object));
        let objects: Vec<String> = objects.map(|ty| ty.to_string()).collect();
        write!(f, "[{}]", objects.join(", "))
    }
}

fn read_objects(line: &mut Line, scope: &Scope) -> Parsed<Vec<ObjectHandle>> {
    line.expect("[")?;
    line.list("]", |line| scope.single_object(line))
}

/// The items, each preceded by the word.
struct Each<'a, T>(&'a str, &'a [T]);

impl<T: Display> Display for Each<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Each(word, items) = self;
        items
            .iter()
            .try_for_each(|item| write!(f, " {word} {item}"))
    }
}

fn read_each<T>(
    line: &mut Line,
    word: &str,
    read: impl Fn(&mut Line) -> Parsed<T>,
) -> Parsed<Vec<T>> {
    let mut items = Vec::new();
    while line.eat_word(word) {
        items.push(read(line)?);
    }
    Ok(items)
}

/// The object after a word that may be left out.
fn read_optional_object(
    line: &mut Line,
    word: &str,
    scope: &Scope,
) -> Parsed<Option<ObjectHandle>> {
    if !line.eat_word(word) {
        return Ok(None);
    }
    Ok(Some(scope.single_object(line)?))
}

/// The class of an exact type.
fn read_class(line: &mut Line, scope: &Scope) -> Parsed<ClassHandle> {
    line.space();
    let at = line.at;
    let ty = scope.ty(line)?;
    match ty.unique_class_in(scope.host) {
        Some(class) => Ok(class),
        None => line.error_at(at, format!("`{ty}` is no single class")),
    }
}

fn read_assumptions(line: &mut Line, scope: &Scope) -> Parsed<Vec<Assumption>> {
    read_each(line, "assume", |line| Assumption::read(line, scope))
}

impl Display for AttrPlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            AttrPlan::General => write!(f, "general"),
            AttrPlan::Field {
                guards,
                load,
                now,
                assumptions,
            } => {
                write!(f, "field{} load {load}", Each("check", guards))?;
                if let Some(function) = now {
                    write!(f, " now {}", Type::from_object(*function))?;
                }
                write!(f, "{}", Each("assume", assumptions))
            }
            AttrPlan::Constant {
                guards,
                value,
                binds,
                assumptions,
            } => {
                let (guards, assumed) = (Each("check", guards), Each("assume", assumptions));
                write!(f, "constant {}", Type::from_object(*value))?;
                match binds {
                    Binds::Nothing => {}
                    Binds::Receiver => write!(f, " method")?,
                    Binds::Object(object) => {
                        write!(f, " method of {}", Type::from_object(*object))?;
                    }
                }
                write!(f, "{guards}{assumed}")
            }
            AttrPlan::Getter {
                function,
                assumptions,
            } => {
                let function = Type::from_object(*function);
                write!(f, "getter {function}{}", Each("assume", assumptions))
            }
            AttrPlan::Absent {
                guards,
                assumptions,
            } => {
                let (guards, assumed) = (Each("check", guards), Each("assume", assumptions));
                write!(f, "absent{guards}{assumed}")
            }
            AttrPlan::Computed {
                guards,
                function,
                args,
                assumptions,
            } => {
                write!(f, "computed {}", Type::from_object(*function))?;
                for arg in args {
                    match arg {
                        GetterArg::Receiver => write!(f, " receiver")?,
                        GetterArg::Constant(object) => {
                            write!(f, " given {}", Type::from_object(*object))?;
                        }
                    }
                }
                let (guards, assumed) = (Each("check", guards), Each("assume", assumptions));
                write!(f, "{guards}{assumed}")
            }
        }
    }
}

impl Display for InstanceAccess {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            InstanceAccess::New(class) => write!(f, "new {class:#x}"),
            InstanceAccess::Load(place) => write!(f, "load {place}"),
            InstanceAccess::Store(place) => write!(f, "store {place}"),
            InstanceAccess::Holds => write!(f, "holds"),
            InstanceAccess::Lacks(place) => write!(f, "lacks {place}"),
            InstanceAccess::LacksFrom(place) => write!(f, "lacks_from {place}"),
            InstanceAccess::Quiet(place) => write!(f, "quiet {place}"),
        }
    }
}

impl InstanceAccess {
    fn read(line: &mut Line) -> Parsed<InstanceAccess> {
        Ok(if line.eat_word("new") {
            InstanceAccess::New(line.hexadecimal()?)
        } else if line.eat_word("load") {
            InstanceAccess::Load(line.number()?)
        } else if line.eat_word("store") {
            InstanceAccess::Store(line.number()?)
        } else if line.eat_word("holds") {
            InstanceAccess::Holds
        } else if line.eat_word("lacks") {
            InstanceAccess::Lacks(line.number()?)
        } else if line.eat_word("lacks_from") {
            InstanceAccess::LacksFrom(line.number()?)
        } else if line.eat_word("quiet") {
            InstanceAccess::Quiet(line.number()?)
        } else {
            return line.expected("the effect on an instance");
        })
    }
}

impl Display for FieldAccess {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FieldAccess::Apart => write!(f, "apart"),
            FieldAccess::Reads(place) => write!(f, "reads {place}"),
            FieldAccess::Writes { place, load } => write!(f, "writes {place} load {load}"),
        }
    }
}

impl FieldAccess {
    fn read(line: &mut Line) -> Parsed<FieldAccess> {
        Ok(if line.eat_word("apart") {
            FieldAccess::Apart
        } else if line.eat_word("reads") {
            FieldAccess::Reads(line.number()?)
        } else if line.eat_word("writes") {
            let place = line.number()?;
            line.expect("load")?;
            let load = IntrinsicCall::read(line)?;
            FieldAccess::Writes { place, load }
        } else {
            return line.expected("the access to an object");
        })
    }
}

impl Display for Operator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Operator::Binary(number) => write!(f, "binary {number}"),
            Operator::Compare(number) => write!(f, "compare {number}"),
            Operator::Item => write!(f, "item"),
            Operator::StoreItem => write!(f, "store_item"),
            Operator::Truth => write!(f, "truth"),
            Operator::Negative => write!(f, "negative"),
            Operator::Invert => write!(f, "invert"),
            Operator::Iter => write!(f, "iter"),
            Operator::Next => write!(f, "next"),
            Operator::Call => write!(f, "call"),
            Operator::Unpack(count) => write!(f, "unpack {count}"),
            Operator::UnpackNext(count) => write!(f, "unpack_next {count}"),
        }
    }
}

impl Operator {
    fn read(line: &mut Line) -> Parsed<Operator> {
        Ok(if line.eat_word("binary") {
            Operator::Binary(line.number()?)
        } else if line.eat_word("compare") {
            Operator::Compare(line.number()?)
        } else if line.eat_word("item") {
            Operator::Item
        } else if line.eat_word("store_item") {
            Operator::StoreItem
        } else if line.eat_word("truth") {
            Operator::Truth
        } else if line.eat_word("negative") {
            Operator::Negative
        } else if line.eat_word("invert") {
            Operator::Invert
        } else if line.eat_word("iter") {
            Operator::Iter
        } else if line.eat_word("next") {
            Operator::Next
        } else if line.eat_word("call") {
            Operator::Call
        } else if line.eat_word("unpack") {
            Operator::Unpack(line.number()?)
        } else if line.eat_word("unpack_next") {
            Operator::UnpackNext(line.number()?)
        } else {
            return line.expected("an operator");
        })
    }
}

impl Display for OperatorPlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            OperatorPlan::General => write!(f, "general"),
            OperatorPlan::Method {
                function,
                swapped,
                declined,
                assumptions,
            } => {
                let swapped = if *swapped { " swapped" } else { "" };
                write!(f, "method {}{swapped}", Type::from_object(*function))?;
                if let Some(declined) = declined {
                    write!(f, " declined {}", Type::from_object(*declined))?;
                }
                write!(f, "{}", Each("assume", assumptions))
            }
            OperatorPlan::Identity { assumptions } => {
                write!(f, "identity{}", Each("assume", assumptions))
            }
            OperatorPlan::True { assumptions } => {
                write!(f, "true{}", Each("assume", assumptions))
            }
            OperatorPlan::Operand { assumptions } => {
                write!(f, "operand{}", Each("assume", assumptions))
            }
            OperatorPlan::Forwards(Forwarding {
                guards,
                callable,
                items,
                placeholder,
                assumptions,
            }) => {
                let guards = Each("check", guards);
                write!(f, "forwards{guards} callable {callable} items {items}")?;
                if let Some(placeholder) = placeholder {
                    write!(f, " placeholder {}", Type::from_object(*placeholder))?;
                }
                write!(f, "{}", Each("assume", assumptions))
            }
            OperatorPlan::Iterator { ty, assumptions } => {
                write!(f, "iterator {ty}{}", Each("assume", assumptions))
            }
            OperatorPlan::NextBy { fast, assumptions } => {
                write!(f, "next_by {fast}{}", Each("assume", assumptions))
            }
            OperatorPlan::NextItems {
                guards,
                fast,
                parts,
                assumptions,
            } => {
                write!(f, "next_items{}", Each("check", guards))?;
                write!(f, "{}", Each("fast", fast.as_slice()))?;
                if let Some(parts) = parts {
                    write!(f, " parts{}", Each("check", &parts.guards))?;
                    write!(f, "{}", Each("index", parts.index.as_slice()))?;
                    for loads in &parts.iterators {
                        write!(f, " iterator{}", Each("load", loads))?;
                    }
                }
                write!(f, "{}", Each("assume", assumptions))
            }
            OperatorPlan::Items {
                guards,
                items,
                assumptions,
            } => {
                let (guards, items) = (Each("check", guards), Each("item", items));
                write!(f, "items{guards}{items}{}", Each("assume", assumptions))
            }
        }
    }
}

impl Display for StorePlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StorePlan::General => write!(f, "general"),
            StorePlan::Field {
                guards,
                store,
                quiet,
                assumptions,
            } => {
                let (guards, assumed) = (Each("check", guards), Each("assume", assumptions));
                let quiet = Each("quiet", quiet.as_slice());
                write!(f, "field{guards} store {store}{quiet}{assumed}")
            }
            StorePlan::Setter {
                function,
                descriptor,
                assumptions,
            } => {
                write!(f, "setter {}", Type::from_object(*function))?;
                if let Some(descriptor) = descriptor {
                    write!(f, " of {}", Type::from_object(*descriptor))?;
                }
                write!(f, "{}", Each("assume", assumptions))
            }
        }
    }
}

impl Display for Callee {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Callee::Unknown => write!(f, "unknown"),
            Callee::Builtin(builtin) => write!(f, "builtin {}", builtin.name()),
            Callee::Class {
                class,
                make,
                init,
                assumptions,
            } => {
                let class = Type::from_class_exact(*class);
                write!(f, "class {class} make {make}")?;
                if let Some(init) = init {
                    write!(f, " init {}", Type::from_object(*init))?;
                }
                write!(f, "{}", Each("assume", assumptions))
            }
            Callee::Exception {
                bases,
                is_plain,
                missing,
                assumptions,
            } => {
                let plain = if *is_plain { " plain" } else { "" };
                write!(f, "exception{plain} bases {}", Objects(bases))?;
                for missing in missing {
                    f.write_str(match missing {
                        Missing::Key => " catches_missing_key",
                        Missing::Index => " catches_missing_index",
                    })?;
                }
                write!(f, "{}", Each("assume", assumptions))
            }
            Callee::Tuple {
                class,
                params,
                make,
                stores,
                assumptions,
            } => {
                let class = Type::from_class_exact(*class);
                let (stores, assumed) = (Each("store", stores), Each("assume", assumptions));
                write!(
                    f,
                    "tuple {class} make {make}{stores} params {params}{assumed}"
                )
            }
            Callee::Function {
                params,
                entry_cell,
                raw,
                kin,
                assumptions,
            } => {
                write!(f, "function {params} cell {entry_cell:#x}")?;
                if let Some(raw) = raw {
                    write!(f, " raw {raw}")?;
                }
                if let Some(kin) = kin {
                    write!(f, " kin {}{}", kin.check, Each("test", kin.test.as_slice()))?;
                    if let Some(code) = kin.code {
                        write!(f, " code {}", Type::from_object(code))?;
                    }
                    let default = Each("default", kin.default.as_slice());
                    write!(f, "{default}{}", Each("keyword", &kin.keywords))?;
                }
                write!(f, "{}", Each("assume", assumptions))
            }
        }
    }
}

impl Display for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Answer::GlobalGet(namespace, name, load) => {
                write!(f, "global_get {namespace} {} = {load}", Quoted(name))
            }
            Answer::Global(namespace, name, Global { value, assumptions }) => {
                let value = Type::from_object(*value);
                write!(f, "global {namespace} {} = {value}", Quoted(name))?;
                write!(f, "{}", Each("assume", assumptions))
            }
            Answer::LoadAttr(ty, name, plan) => {
                write!(f, "load_attr {ty} {} = {plan}", Quoted(name))
            }
            Answer::LoadSuper(class, ty, name, plan) => {
                let class = Type::from_object(*class);
                write!(f, "load_super {class} {ty} {} = {plan}", Quoted(name))
            }
            Answer::StoreAttr(ty, name, plan) => {
                write!(f, "store_attr {ty} {} = {plan}", Quoted(name))
            }
            Answer::RawItems(ty, way, items) => write!(f, "raw_items {ty} {way:#x} = {items}"),
            Answer::OfClass(check) => write!(f, "of_class {check}"),
            Answer::Instance(ty, call, access) => write!(f, "instance {ty} {call} = {access}"),
            Answer::Both(a, b, check) => write!(f, "both {a} {b} = {check}"),
            Answer::FirstStore(ty, store, stored, first) => {
                let places: Vec<String> = stored.iter().map(u32::to_string).collect();
                write!(
                    f,
                    "first_store {ty} {store} after [{}] = {first}",
                    places.join(", ")
                )
            }
            Answer::Field(call, access) => write!(f, "field {call} = {access}"),
            Answer::Operator(operator, operands, plan) => {
                let operands: Vec<String> = operands.iter().map(Type::to_string).collect();
                write!(f, "operator {operator} [{}] = {plan}", operands.join(", "))
            }
            Answer::Callee(object, callee) => {
                write!(f, "callee {} = {callee}", Type::from_object(*object))
            }
            Answer::NativeCall(object, given, call) => {
                let object = Type::from_object(*object);
                write!(f, "native {object} {given} = {call}")
            }
            Answer::Computed(object, operands, ways) => {
                let (object, ways) = (Type::from_object(*object), Each("way", ways));
                write!(f, "computed {object}{} ={ways}", Each("with", operands))
            }
            Answer::Inlinee(object, inlinee) => {
                let (function, checks) =
                    (Type::from_object(*object), Each("check", &inlinee.checks));
                // Several lines; the caller parses the code.
                write!(f, "inlinee {function} ={checks}")?;
                if !inlinee.cells.is_empty() {
                    write!(f, " cells {}", Objects(&inlinee.cells))?;
                }
                if let Some(closure) = &inlinee.closure {
                    write!(f, " closure {closure}")?;
                }
                write!(f, "\n{}", inlinee.code)
            }
            Answer::Tuple(object, items) => {
                write!(
                    f,
                    "tuple {} = {}",
                    Type::from_object(*object),
                    Objects(items)
                )
            }
            Answer::Value(object, value) => {
                write!(f, "value {} = {value}", Type::from_object(*object))
            }
        }
    }
}

impl IntrinsicCall {
    /// Checks, each preceded by its word.
    pub(crate) fn read_checks(line: &mut Line) -> Parsed<Vec<IntrinsicCall>> {
        read_each(line, "check", IntrinsicCall::read)
    }

    /// The cells of an inlinee, if any.
    pub(crate) fn read_cells(line: &mut Line, scope: &Scope) -> Parsed<Vec<ObjectHandle>> {
        if line.eat_word("cells") {
            read_objects(line, scope)
        } else {
            Ok(Vec::new())
        }
    }

    /// The intrinsic that reads cells of a closure, if there is one.
    pub(crate) fn read_closure(line: &mut Line) -> Parsed<Option<IntrinsicCall>> {
        if line.eat_word("closure") {
            IntrinsicCall::read(line).map(Some)
        } else {
            Ok(None)
        }
    }
}

impl Snapshot {
    /// Reads an answer without code, if the line has one.
    pub(crate) fn read(&mut self, line: &mut Line, scope: &Scope) -> Parsed<bool> {
        let answer = if line.eat_word("global_get") {
            let (namespace, name) = (line.number()?, line.quoted("the name")?);
            line.expect("=")?;
            Answer::GlobalGet(namespace, name, IntrinsicCall::read(line)?)
        } else if line.eat_word("global") {
            let (namespace, name) = (line.number()?, line.quoted("the name")?);
            line.expect("=")?;
            let value = scope.single_object(line)?;
            let assumptions = read_assumptions(line, scope)?;
            Answer::Global(namespace, name, Global { value, assumptions })
        } else if line.eat_word("load_attr") {
            let (ty, name) = (scope.ty(line)?, line.quoted("the attribute")?);
            line.expect("=")?;
            Answer::LoadAttr(ty, name, read_load(line, scope)?)
        } else if line.eat_word("load_super") {
            let class = scope.single_object(line)?;
            let (ty, name) = (scope.ty(line)?, line.quoted("the attribute")?);
            line.expect("=")?;
            Answer::LoadSuper(class, ty, name, read_load(line, scope)?)
        } else if line.eat_word("store_attr") {
            let (ty, name) = (scope.ty(line)?, line.quoted("the attribute")?);
            line.expect("=")?;
            Answer::StoreAttr(ty, name, read_store(line, scope)?)
        } else if line.eat_word("raw_items") {
            let (ty, way) = (scope.ty(line)?, line.hexadecimal()?);
            line.expect("=")?;
            Answer::RawItems(ty, way, RawItems::read(line)?)
        } else if line.eat_word("of_class") {
            let check = line.entity("intrinsic", "an intrinsic")?;
            Answer::OfClass(IntrinsicId::new(check as usize))
        } else if line.eat_word("instance") {
            let (ty, call) = (scope.ty(line)?, IntrinsicCall::read(line)?);
            line.expect("=")?;
            Answer::Instance(ty, call, InstanceAccess::read(line)?)
        } else if line.eat_word("both") {
            let (a, b) = (IntrinsicCall::read(line)?, IntrinsicCall::read(line)?);
            line.expect("=")?;
            Answer::Both(a, b, IntrinsicCall::read(line)?)
        } else if line.eat_word("first_store") {
            let (ty, store) = (scope.ty(line)?, IntrinsicCall::read(line)?);
            line.expect("after")?;
            line.expect("[")?;
            let stored = line.list("]", |line| line.number())?;
            line.expect("=")?;
            Answer::FirstStore(ty, store, stored, IntrinsicCall::read(line)?)
        } else if line.eat_word("field") {
            let call = IntrinsicCall::read(line)?;
            line.expect("=")?;
            Answer::Field(call, FieldAccess::read(line)?)
        } else if line.eat_word("operator") {
            let operator = Operator::read(line)?;
            line.expect("[")?;
            let operands = line.list("]", |line| scope.ty(line))?;
            line.expect("=")?;
            Answer::Operator(operator, operands, read_operator(line, scope)?)
        } else if line.eat_word("callee") {
            let object = scope.single_object(line)?;
            line.expect("=")?;
            Answer::Callee(object, read_callee(line, scope)?)
        } else if line.eat_word("native") {
            let object = scope.single_object(line)?;
            let given = line.number()?;
            line.expect("=")?;
            Answer::NativeCall(object, given, read_native(line, scope)?)
        } else if line.eat_word("computed") {
            let object = scope.single_object(line)?;
            let operands = read_each(line, "with", |line| scope.ty(line))?;
            line.expect("=")?;
            let ways = read_each(line, "way", |line| Computed::read(line, scope))?;
            Answer::Computed(object, operands, ways)
        } else if line.eat_word("tuple") {
            let object = scope.single_object(line)?;
            line.expect("=")?;
            Answer::Tuple(object, read_objects(line, scope)?)
        } else if line.eat_word("value") {
            let object = scope.single_object(line)?;
            line.expect("=")?;
            match line.literal()? {
                Some(value) => Answer::Value(object, value),
                None => return line.expected("a literal"),
            }
        } else {
            return Ok(false);
        };
        line.end()?;
        self.add(answer);
        Ok(true)
    }
}

fn read_load(line: &mut Line, scope: &Scope) -> Parsed<AttrPlan> {
    if line.eat_word("field") {
        let guards = read_each(line, "check", IntrinsicCall::read)?;
        line.expect("load")?;
        return Ok(AttrPlan::Field {
            guards,
            load: IntrinsicCall::read(line)?,
            now: read_optional_object(line, "now", scope)?,
            assumptions: read_assumptions(line, scope)?,
        });
    }
    if line.eat_word("getter") {
        return Ok(AttrPlan::Getter {
            function: scope.single_object(line)?,
            assumptions: read_assumptions(line, scope)?,
        });
    }
    if line.eat_word("absent") {
        return Ok(AttrPlan::Absent {
            guards: read_each(line, "check", IntrinsicCall::read)?,
            assumptions: read_assumptions(line, scope)?,
        });
    }
    if line.eat_word("computed") {
        let function = scope.single_object(line)?;
        let mut args = Vec::new();
        loop {
            if line.eat_word("receiver") {
                args.push(GetterArg::Receiver);
            } else if let Some(object) = read_optional_object(line, "given", scope)? {
                args.push(GetterArg::Constant(object));
            } else {
                break;
            }
        }
        return Ok(AttrPlan::Computed {
            guards: read_each(line, "check", IntrinsicCall::read)?,
            function,
            args,
            assumptions: read_assumptions(line, scope)?,
        });
    }
    if !line.eat_word("constant") {
        return line.expected("`field`, `constant`, `absent`, `getter` or `computed`");
    }
    let value = scope.single_object(line)?;
    let binds = if line.eat_word("method") {
        if line.eat_word("of") {
            Binds::Object(scope.single_object(line)?)
        } else {
            Binds::Receiver
        }
    } else {
        Binds::Nothing
    };
    Ok(AttrPlan::Constant {
        guards: read_each(line, "check", IntrinsicCall::read)?,
        value,
        binds,
        assumptions: read_assumptions(line, scope)?,
    })
}

fn read_parts(line: &mut Line) -> Parsed<Option<Parts>> {
    if !line.eat_word("parts") {
        return Ok(None);
    }
    let mut parts = Parts {
        guards: read_each(line, "check", IntrinsicCall::read)?,
        index: match line.eat_word("index") {
            true => Some(IntrinsicCall::read(line)?),
            false => None,
        },
        iterators: Vec::new(),
    };
    while line.eat_word("iterator") {
        let loads = read_each(line, "load", IntrinsicCall::read)?;
        parts.iterators.push(loads);
    }
    Ok(Some(parts))
}

fn read_operator(line: &mut Line, scope: &Scope) -> Parsed<OperatorPlan> {
    if line.eat_word("identity") {
        let assumptions = read_assumptions(line, scope)?;
        return Ok(OperatorPlan::Identity { assumptions });
    }
    if line.eat_word("true") {
        let assumptions = read_assumptions(line, scope)?;
        return Ok(OperatorPlan::True { assumptions });
    }
    if line.eat_word("operand") {
        let assumptions = read_assumptions(line, scope)?;
        return Ok(OperatorPlan::Operand { assumptions });
    }
    if line.eat_word("forwards") {
        let guards = read_each(line, "check", IntrinsicCall::read)?;
        line.expect("callable")?;
        let callable = IntrinsicCall::read(line)?;
        line.expect("items")?;
        return Ok(OperatorPlan::Forwards(Forwarding {
            guards,
            callable,
            items: IntrinsicCall::read(line)?,
            placeholder: read_optional_object(line, "placeholder", scope)?,
            assumptions: read_assumptions(line, scope)?,
        }));
    }
    if line.eat_word("iterator") {
        return Ok(OperatorPlan::Iterator {
            ty: scope.ty(line)?,
            assumptions: read_assumptions(line, scope)?,
        });
    }
    if line.eat_word("next_by") {
        return Ok(OperatorPlan::NextBy {
            fast: IntrinsicCall::read(line)?,
            assumptions: read_assumptions(line, scope)?,
        });
    }
    if line.eat_word("next_items") {
        return Ok(OperatorPlan::NextItems {
            guards: read_each(line, "check", IntrinsicCall::read)?,
            fast: match line.eat_word("fast") {
                true => Some(IntrinsicCall::read(line)?),
                false => None,
            },
            parts: read_parts(line)?,
            assumptions: read_assumptions(line, scope)?,
        });
    }
    if line.eat_word("items") {
        return Ok(OperatorPlan::Items {
            guards: read_each(line, "check", IntrinsicCall::read)?,
            items: read_each(line, "item", IntrinsicCall::read)?,
            assumptions: read_assumptions(line, scope)?,
        });
    }
    if !line.eat_word("method") {
        let plans = "`method`, `identity`, `true`, `operand`, `forwards`, `iterator`, `next_by`, \
                     `next_items` or `items`";
        return line.expected(plans);
    }
    Ok(OperatorPlan::Method {
        function: scope.single_object(line)?,
        swapped: line.eat_word("swapped"),
        declined: read_optional_object(line, "declined", scope)?,
        assumptions: read_assumptions(line, scope)?,
    })
}

fn read_store(line: &mut Line, scope: &Scope) -> Parsed<StorePlan> {
    if line.eat_word("setter") {
        return Ok(StorePlan::Setter {
            function: scope.single_object(line)?,
            descriptor: read_optional_object(line, "of", scope)?,
            assumptions: read_assumptions(line, scope)?,
        });
    }
    line.expect("field")?;
    let guards = read_each(line, "check", IntrinsicCall::read)?;
    line.expect("store")?;
    Ok(StorePlan::Field {
        guards,
        store: IntrinsicCall::read(line)?,
        quiet: if line.eat_word("quiet") {
            Some(IntrinsicCall::read(line)?)
        } else {
            None
        },
        assumptions: read_assumptions(line, scope)?,
    })
}

impl Display for RawItems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let RawItems { len, get, .. } = self;
        let (kind, guards) = (self.kind.name(), Each("check", &self.guards));
        let set = Each("set", self.set.as_slice());
        write!(f, "{kind}{guards} len {len} get {get}{set}")
    }
}

impl RawItems {
    fn read(line: &mut Line) -> Parsed<RawItems> {
        let kind = RawKind::read(line)?;
        let guards = read_each(line, "check", IntrinsicCall::read)?;
        line.expect("len")?;
        let len = IntrinsicCall::read(line)?;
        line.expect("get")?;
        Ok(RawItems {
            kind,
            guards,
            len,
            get: IntrinsicCall::read(line)?,
            set: if line.eat_word("set") {
                Some(IntrinsicCall::read(line)?)
            } else {
                None
            },
        })
    }
}

impl Display for NativeCall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NativeCall::Any {
                call,
                first,
                result,
            } => {
                write!(f, "any {call}")?;
                if let Some(first) = first {
                    write!(f, " first {first}")?;
                }
                write!(f, " gives {result}")
            }
            NativeCall::Number { checks, call, kind } => {
                let checks = Each("check", checks);
                write!(f, "number {}{checks} call {call}", kind.name())
            }
        }
    }
}

fn read_native(line: &mut Line, scope: &Scope) -> Parsed<NativeCall> {
    if line.eat_word("number") {
        let kind = RawKind::read(line)?;
        let checks = read_each(line, "check", IntrinsicCall::read)?;
        line.expect("call")?;
        let call = IntrinsicCall::read(line)?;
        return Ok(NativeCall::Number { checks, call, kind });
    }
    if !line.eat_word("any") {
        return line.expected("`any` or `number`");
    }
    let call = IntrinsicCall::read(line)?;
    let first = if line.eat_word("first") {
        Some(scope.ty(line)?)
    } else {
        None
    };
    line.expect("gives")?;
    Ok(NativeCall::Any {
        call,
        first,
        result: scope.ty(line)?,
    })
}

impl Display for Computed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Computed { call, result, .. } = self;
        write!(f, "{}{call} gives {result}", Each("of", &self.params))?;
        f.write_str(if self.reads { " reads" } else { "" })
    }
}

impl Computed {
    fn read(line: &mut Line, scope: &Scope) -> Parsed<Computed> {
        let params = read_each(line, "of", |line| scope.ty(line))?;
        let call = IntrinsicCall::read(line)?;
        line.expect("gives")?;
        Ok(Computed {
            params,
            call,
            result: scope.ty(line)?,
            reads: line.eat_word("reads"),
        })
    }
}

impl Display for Parameters {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.positional, Objects(&self.defaults))?;
        if self.positional_only > 0 {
            write!(f, " positional_only {}", self.positional_only)?;
        }
        let names: Vec<_> = self.names.iter().map(|name| Quoted(name)).collect();
        write!(f, "{}", Each("name", &names))?;
        for (name, value) in &self.keywords {
            write!(f, " keyword {}", Quoted(name))?;
            if let Some(value) = value {
                write!(f, " default {}", Type::from_object(*value))?;
            }
        }
        if let Some(none) = self.rest {
            write!(f, " rest {}", Type::from_object(none))?;
        }
        f.write_str(if self.has_named_rest {
            " named_rest"
        } else {
            ""
        })
    }
}

fn read_parameters(line: &mut Line, scope: &Scope) -> Parsed<Parameters> {
    Ok(Parameters {
        positional: line.number()?,
        defaults: read_objects(line, scope)?,
        positional_only: if line.eat_word("positional_only") {
            line.number()?
        } else {
            0
        },
        names: read_each(line, "name", |line| line.quoted("the name"))?,
        keywords: read_each(line, "keyword", |line| {
            let name = line.quoted("the name")?;
            let value = read_optional_object(line, "default", scope)?;
            Ok((name, value))
        })?,
        rest: read_optional_object(line, "rest", scope)?,
        has_named_rest: line.eat_word("named_rest"),
    })
}

fn read_callee(line: &mut Line, scope: &Scope) -> Parsed<Callee> {
    if line.eat_word("builtin") {
        line.space();
        let at = line.at;
        let word = line.word("a builtin")?;
        let found = Builtin::ALL.iter().find(|builtin| builtin.name() == word);
        return match found {
            Some(builtin) => Ok(Callee::Builtin(*builtin)),
            None => line.error_at(at, format!("there is no builtin `{word}`")),
        };
    }
    if line.eat_word("class") {
        let class = read_class(line, scope)?;
        line.expect("make")?;
        return Ok(Callee::Class {
            class,
            make: IntrinsicCall::read(line)?,
            init: read_optional_object(line, "init", scope)?,
            assumptions: read_assumptions(line, scope)?,
        });
    }
    if line.eat_word("exception") {
        let is_plain = line.eat_word("plain");
        line.expect("bases")?;
        let bases = read_objects(line, scope)?;
        let mut missing = Vec::new();
        if line.eat_word("catches_missing_key") {
            missing.push(Missing::Key);
        }
        if line.eat_word("catches_missing_index") {
            missing.push(Missing::Index);
        }
        return Ok(Callee::Exception {
            bases,
            is_plain,
            missing,
            assumptions: read_assumptions(line, scope)?,
        });
    }
    if line.eat_word("tuple") {
        let class = read_class(line, scope)?;
        line.expect("make")?;
        let make = IntrinsicCall::read(line)?;
        let stores = read_each(line, "store", IntrinsicCall::read)?;
        line.expect("params")?;
        return Ok(Callee::Tuple {
            class,
            params: read_parameters(line, scope)?,
            make,
            stores,
            assumptions: read_assumptions(line, scope)?,
        });
    }
    if !line.eat_word("function") {
        return line.expected("`function`, `class`, `tuple`, `exception` or `builtin`");
    }
    let params = read_parameters(line, scope)?;
    line.expect("cell")?;
    let entry_cell = line.hexadecimal()?;
    let raw = if line.eat_word("raw") {
        Some(RawEntry::read(line)?)
    } else {
        None
    };
    let kin = if line.eat_word("kin") {
        Some(Kin {
            check: IntrinsicCall::read(line)?,
            test: if line.eat_word("test") {
                Some(IntrinsicCall::read(line)?)
            } else {
                None
            },
            code: read_optional_object(line, "code", scope)?,
            default: if line.eat_word("default") {
                Some(IntrinsicCall::read(line)?)
            } else {
                None
            },
            keywords: read_each(line, "keyword", IntrinsicCall::read)?,
        })
    } else {
        None
    };
    Ok(Callee::Function {
        params,
        entry_cell,
        raw,
        kin,
        assumptions: read_assumptions(line, scope)?,
    })
}
