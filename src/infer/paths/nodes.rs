//! The graph itself: nodes of blocks, guards and edges, and the bindings in them.

use super::build::{Derived, Graph, Truth};
use super::members::{may_fail, may_pass};
use crate::bytecode::ConstValue;
use crate::hir::{Block, Edge, Op, Term, Value};
use crate::typegraph::{Binding, Node, Variable};
use crate::types::Type;
use std::collections::BTreeMap;

impl Graph<'_> {
    fn variable(&mut self, v: Value) -> Variable {
        let program = &mut self.program;
        *self
            .variables
            .entry(v)
            .or_insert_with(|| program.variable(v.to_string()))
    }

    pub(super) fn binding(&mut self, v: Value, member: Type) -> Binding {
        let variable = self.variable(v);
        self.program.bind(variable, member)
    }

    fn bind(&mut self, v: Value, member: Type, node: Node, sources: &[Binding]) {
        let binding = self.binding(v, member);
        self.program.add_origin(binding, node, sources);
    }

    /// The block in which a value is bound: its own or, for equal computations, that of the last
    /// operand.
    fn bound_in(&self, v: Value) -> Option<Block> {
        let inst = self.f.inst(v);
        let is_equal = inst.op.is_pure() && self.f.ty(v) <= Type::CBOOL;
        let homes = || inst.args.iter().map(|a| self.f.object_of(*a));
        let homes = || homes().filter_map(|a| self.home[a].expand());
        if is_equal && !matches!(inst.op, Op::Param) {
            (homes().max_by_key(|b| self.rank[*b])).or(self.home[v].expand())
        } else {
            self.home[v].expand()
        }
    }

    pub(super) fn make_nodes(&mut self) {
        let mut bound: BTreeMap<Block, (Vec<Value>, Vec<Value>)> = BTreeMap::new();
        for v in self.members.keys().copied().collect::<Vec<_>>() {
            let Some(b) = self.bound_in(v) else { continue };
            if matches!(self.f.op(v), Op::Param) {
                continue;
            }
            let is_derived = self.derived(v).is_some();
            let (leaves, derived) = bound.entry(b).or_default();
            if is_derived {
                derived.push(v)
            } else {
                leaves.push(v)
            }
        }
        for b in self.f.order.clone() {
            let first = self.program.node(b.to_string());
            let mut node = first;
            self.first[b] = first.into();
            let (leaves, derived) = bound.remove(&b).unwrap_or_default();
            for v in leaves {
                for member in self.members[&v].clone() {
                    self.bind(v, member, node, &[]);
                }
            }
            if !derived.is_empty() {
                node = self.program.node_after(node, format!("{b}.tests"));
            }
            for v in derived {
                self.derive(v, node);
            }
            self.add_guards(b, node);
        }
        if let Some(node) = self.first[self.f.entry()].expand() {
            self.program.set_entry(node);
        }
    }

    /// Binds a value that follows from another.
    fn derive(&mut self, v: Value, node: Node) {
        for (member, source) in self.outcomes(v) {
            let source = source.map(|(operand, member)| self.binding(operand, member));
            self.bind(v, member, node, source.as_slice());
        }
    }

    /// The members of a value that follows from another, each with the required member of the
    /// other.
    fn outcomes(&mut self, v: Value) -> Vec<(Type, Option<(Value, Type)>)> {
        let all: Vec<_> = self.members[&v].iter().map(|m| (*m, None)).collect();
        let Some(derived) = self.derived(v) else {
            return all;
        };
        let operand = match derived {
            Derived::Test(operand, _) | Derived::Truth(operand) => operand,
            Derived::Compare(_, operand, _) => operand,
            Derived::ObjectIf(Truth::Of(operand, _), _) => operand,
            Derived::ObjectIf(Truth::Constant(holds), ty) => {
                return vec![(if holds { ty } else { Type::NULLPTR }, None)];
            }
        };
        let (members, is_followed) = match (self.constant(operand), self.members.get(&operand)) {
            (Some(ty), _) => (vec![ty], false),
            (None, Some(members)) => (members.clone(), true),
            (None, None) => return all,
        };
        let mut outcomes = Vec::new();
        for member in members {
            let (can_be, can_fail) = match &derived {
                Derived::Test(_, types) => (
                    types.iter().any(|ty| may_pass(member, *ty)),
                    types.iter().all(|ty| may_fail(member, *ty)),
                ),
                Derived::Truth(_) => match member.as_object().map(|o| self.world.value(o)) {
                    Some(ConstValue::Bool(value)) => (value, !value),
                    _ => (true, true),
                },
                Derived::Compare(cmp, _, n) => match self.int(member) {
                    Some(value) => {
                        let holds = cmp.of(value, *n);
                        (holds, !holds)
                    }
                    None => (true, true),
                },
                Derived::ObjectIf(Truth::Of(_, holds), _) => {
                    let value = member.as_cbool();
                    (value != Some(!holds), value != Some(*holds))
                }
                Derived::ObjectIf(Truth::Constant(_), _) => (true, true),
            };
            let (yes, no) = match derived {
                Derived::ObjectIf(_, ty) => (ty, Type::NULLPTR),
                _ => (Type::from_cbool(true), Type::from_cbool(false)),
            };
            let source = is_followed.then_some((operand, member));
            outcomes.extend(can_be.then_some((yes, source)));
            outcomes.extend(can_fail.then_some((no, source)));
        }
        outcomes
    }

    /// The int that a member consists of, boxed or raw, if it is a single one.
    fn int(&self, member: Type) -> Option<i64> {
        let object = || member.as_object().map(|o| self.world.value(o));
        member.as_cint().or_else(|| match object() {
            Some(ConstValue::Int(value)) => Some(value),
            _ => None,
        })
    }

    /// Adds nodes behind those guards of a block that restrict a followed value.
    fn add_guards(&mut self, b: Block, mut node: Node) {
        for (index, site) in (self.sites.remove(&b).into_iter().flatten()).enumerate() {
            self.before.insert(site.inst, node);
            let Some(passes) = site.passes() else {
                continue;
            };
            let Some(members) = self.members.get(&site.subject) else {
                continue;
            };
            let passes = |m: &&Type| may_pass(**m, passes);
            let passing: Vec<Type> = members.iter().filter(passes).copied().collect();
            if passing.is_empty() || passing.len() == members.len() {
                continue;
            }
            let behind = self.program.node_after(node, format!("{b}.{}", index + 1));
            let condition = match passing[..] {
                [only] => self.binding(site.subject, only),
                _ => {
                    let passed = self.program.variable(format!("{} passed", site.inst));
                    let passed = self.program.bind(passed, Type::from_cbool(true));
                    for member in passing {
                        let source = self.binding(site.subject, member);
                        self.program.add_origin(passed, behind, &[source]);
                    }
                    passed
                }
            };
            self.program.set_condition(behind, Some(condition));
            self.guards.push((site.inst, behind));
            node = behind;
        }
        self.last[b] = node.into();
    }

    pub(super) fn make_edges(&mut self) {
        let f = self.f;
        for &b in &f.order {
            let term = &f.blocks[b].term;
            let condition = match term {
                Term::Branch { cond, .. } => match self.truth(*cond) {
                    Truth::Of(subject, holds) if self.is_followed(subject) => {
                        Some((subject, holds))
                    }
                    _ => None,
                },
                _ => None,
            };
            for (index, edge) in term.edges().into_iter().enumerate() {
                let mut node = self.last[b].expect("a node of each block");
                if let Some((subject, holds)) = condition {
                    let side = if index == 0 { "then" } else { "else" };
                    node = self.program.node_after(node, format!("{b}.{side}"));
                    let member = Type::from_cbool(holds == (index == 0));
                    let condition = self.binding(subject, member);
                    self.program.set_condition(node, Some(condition));
                }
                node = self.pass(b, edge, node);
                let target = self.first[edge.block].expect("a node of each block");
                self.program.connect(node, target);
            }
        }
    }

    /// Adds nodes that write the values that an edge passes to the parameters of its target.
    /// Returns the last one.
    fn pass(&mut self, b: Block, edge: &Edge, mut node: Node) -> Node {
        let params = self.f.blocks[edge.block].params.iter();
        let passed: Vec<(Value, Value)> = params
            .zip(&edge.args)
            .map(|(&(param, _), &arg)| (param, arg))
            .filter(|&(param, arg)| self.is_followed(param) && self.f.object_of(arg) != param)
            .collect();
        if passed.is_empty() {
            return node;
        }
        // All are written at once: the target's own parameters are read before any is written.
        let target = edge.block;
        let mut old: BTreeMap<Value, Variable> = BTreeMap::new();
        for &(_, arg) in &passed {
            let source = self.followed(arg);
            let is_own = self.home[source].expand() == Some(target);
            if is_own && matches!(self.f.op(source), Op::Param) && !old.contains_key(&source) {
                if old.is_empty() {
                    node = self.program.node_after(node, format!("{b}.read"));
                }
                let copy = self.program.variable(format!("old {source}"));
                old.insert(source, copy);
                for member in self.members[&source].clone() {
                    let from = self.binding(source, member);
                    self.program.bind_at(copy, member, node, &[from]);
                }
            }
        }
        node = self.program.node_after(node, format!("{b}.to.{target}"));
        for (param, arg) in passed {
            let ways = self.ways(arg);
            if ways.is_empty() {
                let none = self.binding(param, Type::BOTTOM);
                self.program.add_empty_origin(none, node);
            }
            for (member, source) in ways {
                let source = source.map(|(v, member)| match old.get(&v) {
                    Some(copy) => self.program.bind(*copy, member),
                    None => self.binding(v, member),
                });
                self.bind(param, member, node, source.as_slice());
            }
        }
        node
    }
}
