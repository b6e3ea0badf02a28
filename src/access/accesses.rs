//! The attribute accesses of a function, with chains joined, and the values on which each accesses
//! its first attribute.
//!
//! An **accessor** is a value on which an attribute is accessed: an argument, the result of an
//! operation, the value of a name. For example, `p` in `p.x.y`. Where paths join, an access has
//! several accessors. In SSA these are the versions of a name.

use super::text_of_tuple;
use super::world::Name;
use crate::hir::{Function, GeneralOp as G, Op, Passed, Pc, Value};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// The action at the end of an access.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Action {
    /// The attribute is loaded.
    Load,
    /// It is stored.
    Store,
    /// It is deleted.
    Delete,
}

/// A call of an access's result.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Invocation {
    /// The number of positional arguments; none if it is not known.
    pub args: Option<usize>,
    /// The names of the keyword arguments.
    pub keywords: Vec<String>,
}

/// An access to an attribute, or to a chain of attributes such as `p.x.y`.
#[derive(Clone, Debug)]
pub struct Access {
    /// The operation that ends it.
    pub value: Value,
    /// Its instruction.
    pub pc: Pc,
    /// Its line.
    pub line: u32,
    /// The value on which the first attribute is accessed.
    pub accessor: Value,
    /// The accessor's name in the source, if it is a name.
    pub name: Option<String>,
    /// The attributes from the first.
    pub attrs: Vec<Name>,
    /// The action on the last attribute.
    pub action: Action,
    /// The call of the result, if there is one.
    pub invocation: Option<Invocation>,
    /// True for `super().name`; the accessor is the instance then.
    pub is_super: bool,
}

/// The possible definitions of a value, found through joins.
pub(super) fn roots(f: &Function, v: Value) -> BTreeSet<Value> {
    match f.op(f.object_of(v)) {
        Op::Param => Passed::of(f).roots(f, v),
        _ => [f.object_of(v)].into(),
    }
}

/// Every access of a function, in order.
pub(super) fn find(f: &Function) -> Vec<Access> {
    let uses = uses(f);
    let calls = calls(f);
    let mut chains: BTreeMap<Value, Access> = BTreeMap::new();
    let mut order = Vec::new();
    for &block in &f.order {
        for &v in &f.blocks[block].insts {
            let inst = &f.insts[v];
            let Op::General(op, imms) = &inst.op else {
                continue;
            };
            let action = match op {
                G::LoadAttr | G::LoadMethod | G::LoadSuperAttr => Action::Load,
                G::StoreAttr => Action::Store,
                G::DeleteAttr => Action::Delete,
                _ => continue,
            };
            let is_super = *op == G::LoadSuperAttr;
            let operand = if is_super { 2 } else { 0 };
            let receiver = f.object_of(f.arg(v, operand));
            let attr: Name = f.code.names[imms[0] as usize].as_str().into();
            let line = f.code.instrs.get(inst.pc.0 as usize).map_or(0, |i| i.line);
            let inner = match uses.get(&receiver) {
                Some(1) if !is_super => chains.remove(&receiver),
                _ => None,
            };
            let inner = match inner {
                Some(inner) if inner.invocation.is_some() || inner.is_super => {
                    chains.insert(receiver, inner);
                    None
                }
                inner => inner,
            };
            let (accessor, name, mut attrs) = match inner {
                Some(inner) => {
                    order.retain(|v| *v != receiver);
                    (inner.accessor, inner.name, inner.attrs)
                }
                None => (receiver, name_of(f, v, receiver), Vec::new()),
            };
            attrs.push(attr);
            let access = Access {
                value: v,
                pc: inst.pc,
                line,
                accessor,
                name,
                attrs,
                action,
                invocation: calls.get(&v).cloned(),
                is_super,
            };
            order.push(v);
            chains.insert(v, access);
        }
    }
    order.iter().filter_map(|v| chains.remove(v)).collect()
}

/// The number of uses of each value. Reference counting does not count as use.
fn uses(f: &Function) -> HashMap<Value, usize> {
    let mut uses = HashMap::new();
    let mut note = |v: Value| *uses.entry(f.object_of(v)).or_insert(0) += 1;
    for &block in &f.order {
        let data = &f.blocks[block];
        for &v in &data.insts {
            let inst = &f.insts[v];
            if !matches!(inst.op, Op::Incref | Op::Decref) && !inst.op.gives_operand() {
                inst.args.iter().for_each(|v| note(*v));
            }
        }
        for edge in data.term.edges() {
            edge.args.iter().for_each(|v| note(*v));
        }
        if let crate::hir::Term::Return(v) = data.term {
            note(v);
        }
    }
    uses
}

/// The calls of operations' results, by the result.
fn calls(f: &Function) -> BTreeMap<Value, Invocation> {
    let mut calls = BTreeMap::new();
    for &block in &f.order {
        for &v in &f.blocks[block].insts {
            let (callable, invocation) = match f.op(v) {
                Op::General(G::Call | G::CallLent, _) => {
                    let args = &f.inst(v).args;
                    let keywords = match f.op(f.object_of(args[0])) {
                        Op::Const(names) => text_of_tuple(&names.name()),
                        _ => Vec::new(),
                    };
                    let quotes = ['\'', '"'];
                    let keywords: Vec<String> = keywords
                        .iter()
                        .map(|name| name.trim_matches(quotes).to_owned())
                        .collect();
                    let callable = f.object_of(f.arg(v, 1));
                    // An operand in the receiver's place that is no receiver is an argument.
                    let is_method = matches!(f.op(callable), Op::Output(0));
                    let this = f.object_of(f.arg(v, 2));
                    let extra = !is_method && !matches!(f.op(this), Op::Null);
                    let count = args.len() - 3 - keywords.len() + usize::from(extra);
                    let args = Some(count);
                    (callable, Invocation { args, keywords })
                }
                Op::General(G::CallEx, _) => {
                    let keywords = Vec::new();
                    let callable = f.object_of(f.arg(v, 0));
                    let args = None;
                    (callable, Invocation { args, keywords })
                }
                _ => continue,
            };
            let source = match f.op(callable) {
                Op::Output(0) => f.object_of(f.arg(callable, 0)),
                _ => callable,
            };
            calls.insert(source, invocation);
        }
    }
    calls
}

/// The name of an operation's receiver in the source.
fn name_of(f: &Function, v: Value, receiver: Value) -> Option<String> {
    if let Op::General(G::LoadGlobal | G::LoadName, imms) = f.op(receiver) {
        return f.code.names.get(imms[0] as usize).cloned();
    }
    let state = &f.states[f.inst(v).state?];
    let cell = match f.op(receiver) {
        Op::CellGet => Some(f.arg(receiver, 0)),
        _ => None,
    };
    let is_it = |local: &Value| {
        let local = f.object_of(*local);
        local == receiver || cell == Some(local)
    };
    let index = state.locals.iter().position(is_it)?;
    f.code.locals.get(index).map(|local| local.0.clone())
}
