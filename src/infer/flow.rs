//! Edges: the facts that arrive at a block, the predicates that a branch implies, and the edges
//! that are followed at all.
//!
//! For example, in `if isinstance(x, C): ...` the true edge implies that `x` is an instance of `C`,
//! and the false edge that it is not. If the facts about `x` show that it never is one, the true
//! edge is not followed.

use super::engine::{EdgeIn, Engine, Status};
use super::identity::Kind;
use super::predicate::{Env, Predicate, common, extend, negated};
use super::value::{Facts, Sv};
use crate::bytecode::{CompareOp, GeneralOp as G};
use crate::hir::{Block, Edge, Op, Term, Value};
use crate::types::Type;

/// The number of operations through which a condition is traced back.
const DEPTH: u32 = 12;

impl Engine<'_> {
    /// Computes the predicates that hold on all paths to the block.
    pub(super) fn enter_block(&mut self) {
        let (version, block) = (self.here.version, self.here.block);
        let state = self.block(version, block);
        let mut edges = state.edges.values();
        let mut env = edges.next().map_or_else(Env::new, |edge| edge.env.clone());
        for edge in edges {
            env = common(&env, &edge.env);
        }
        state.env = env;
    }

    /// Follows the edges at the end of the block.
    pub(super) fn leave_block(&mut self) {
        let f = self.function(self.here.version);
        match &f.blocks[self.here.block].term {
            Term::Jump(edge) => self.follow(0, edge, &Env::new()),
            Term::Branch { cond, then, els } => {
                self.here.op = *cond;
                let facts = self.read(*cond);
                for (truth, edge) in [(true, then), (false, els)] {
                    if facts.is_impossible() || facts.as_truth() == Some(!truth) {
                        continue;
                    }
                    if let Some(told) = self.tests(*cond, truth, DEPTH)
                        && self.is_possible(&told)
                    {
                        self.follow(!truth as u8, edge, &told);
                    }
                }
            }
            Term::MayRaise { next, .. } => self.follow(0, next, &Env::new()),
            Term::Return(v) => {
                let facts = self.read(*v);
                let ret = self.versions[self.here.version].ret;
                self.merge_traced(ret, facts, |_| "retval".to_owned());
            }
            Term::Unreachable => {}
        }
    }

    /// Returns true if the operation ends its block and has a landing block for exceptions.
    pub(super) fn is_protected(&self, v: Value) -> bool {
        let f = self.function(self.here.version);
        matches!(f.blocks[self.here.block].term, Term::MayRaise { op, .. } if op == v)
    }

    /// Follows the edge of the exceptions that the current operation may raise.
    pub(super) fn land(&mut self) {
        if self.unit.is_some() {
            // A signal's handler may raise any exception there, besides those of the operation
            // itself.
            self.raises = Facts::of_type(Type::BASE_EXCEPTION);
        }
        if self.raises.is_impossible() {
            return;
        }
        let f = self.function(self.here.version);
        let Term::MayRaise { raised, .. } = &f.blocks[self.here.block].term else {
            return;
        };
        let version = self.here.version;
        let sv = match self.block(version, raised.block).exception {
            Some(sv) => sv,
            None => {
                let sv = self.set.fresh(Facts::IMPOSSIBLE);
                self.block(version, raised.block).exception = Some(sv);
                sv
            }
        };
        let facts = self.raises.clone();
        self.set.widen(sv, facts.clone());
        self.set.widen(self.handled, facts);
        self.follow(1, raised, &Env::new());
    }

    /// Returns true if all the predicates can hold at once, given the known facts.
    fn is_possible(&mut self, told: &Env) -> bool {
        for (index, (v, _)) in told.iter().enumerate() {
            let mut facts = self.read(*v);
            if facts.is_impossible() {
                continue;
            }
            for (_, predicate) in told[..=index].iter().filter(|other| other.0 == *v) {
                facts = self.refine(facts, predicate);
            }
            if facts.is_impossible() {
                return false;
            }
        }
        true
    }

    fn follow(&mut self, number: u8, edge: &Edge, told: &Env) {
        let (version, from) = (self.here.version, self.here.block);
        let rank = self.rank(edge.block);
        let mut all = self.block(version, from).env.clone();
        extend(&mut all, told);
        let f = self.function(version);
        let mut tests = Vec::new();
        for ((param, _), arg) in f.blocks[edge.block].params.iter().zip(&edge.args) {
            let mut facts = self.read(*arg);
            for (subject, predicate) in told {
                if subject == arg {
                    facts = self.refine(facts, predicate);
                }
            }
            let test = [true, false].map(|truth| match facts.as_truth() {
                Some(known) if known != truth => None,
                _ => self.arrival_tests(*arg, truth, &all, &facts),
            });
            tests.push(test);
            let own = self.own_param(*param);
            self.merge_traced(own, facts, |engine| {
                let block = engine.place_name(version, edge.block);
                format!("{block}, {param:?}")
            });
        }
        let last_use = &self.versions[version].last_use;
        all.retain(|(v, _)| last_use[*v] >= rank);
        let arrived = EdgeIn { env: all, tests };
        let state = self.block(version, edge.block);
        let before = state.edges.get(&(from, number));
        let (is_new, changed) = (before.is_none(), before != Some(&arrived));
        let other_tests = before.is_none_or(|edge| edge.tests != arrived.tests);
        state.edges.insert((from, number), arrived);
        if !state.reached || is_new || changed {
            self.reach(version, edge.block);
        }
        if other_tests {
            for (param, _) in &f.blocks[edge.block].params {
                let own = self.own_param(*param);
                self.set.tell(own);
            }
        }
    }

    /// The predicates that hold on an edge if the value that it carries is true, or false.
    fn arrival_tests(&mut self, arg: Value, truth: bool, all: &Env, facts: &Facts) -> Option<Env> {
        let truthy = if truth {
            Predicate::Truthy
        } else {
            Predicate::Falsy
        };
        if !facts.is_impossible() && self.refine(facts.clone(), &truthy).is_impossible() {
            return None;
        }
        let mut told = self.tests(arg, truth, DEPTH)?;
        extend(&mut told, all);
        Some(told)
    }

    fn own_param(&mut self, param: Value) -> Sv {
        self.bind_facts(param, Facts::IMPOSSIBLE);
        self.binding(param)
    }

    /// The predicates that hold if the value is true, or false. None if it cannot be so.
    pub(super) fn tests(&mut self, v: Value, truth: bool, depth: u32) -> Option<Env> {
        let known = self.known(v).as_truth();
        if known == Some(!truth) {
            return None;
        }
        if depth == 0 {
            return Some(Env::new());
        }
        let f = self.function(self.here.version);
        let inst = &f.insts[v];
        let arg = |i: usize| inst.args[i];
        let truthy = |truth| {
            if truth {
                Predicate::Truthy
            } else {
                Predicate::Falsy
            }
        };
        Some(match &inst.op {
            Op::BoolNot => self.tests(arg(0), !truth, depth - 1)?,
            Op::UnboxBool | Op::BoxBool => self.tests(arg(0), truth, depth - 1)?,
            Op::Refine(_) | Op::GuardType(_) => {
                let mut told = self.tests(arg(0), truth, depth - 1)?;
                extend(&mut told, &vec![(v, truthy(truth))]);
                told
            }
            Op::General(G::Truth, _) => {
                let mut told = self.tests(arg(0), truth, depth - 1)?;
                extend(&mut told, &self.about(arg(0), truthy(truth)));
                told
            }
            Op::IsNone => {
                if truth {
                    self.about(arg(0), Predicate::IsNone)
                } else {
                    self.about(arg(0), Predicate::NotNone)
                }
            }
            Op::Is => self.identity_tests(arg(0), arg(1), truth),
            Op::IsClass(types) if truth => {
                let ty = types.iter().fold(Type::BOTTOM, |a, b| a | *b);
                self.about(arg(0), Predicate::InType(ty))
            }
            // If the iterator gives an item, its container has at least one.
            Op::General(G::IterNext, _) if truth => {
                let insts = &f.blocks[self.here.block].insts;
                let item = insts.iter().find(|item| {
                    matches!(f.insts[**item].op, Op::Output(0)) && f.insts[**item].args == [v]
                });
                item.map_or_else(Env::new, |item| {
                    self.about(*item, Predicate::InType(Type::OBJECT))
                })
            }
            Op::General(G::CheckExcMatch, _) => self.class_tests(arg(0), arg(1), truth),
            Op::General(G::Compare | G::CompareBool, imms) => {
                let op = CompareOp::from_arg(imms[0] as u32);
                op.map_or_else(Env::new, |op| {
                    self.order_tests(op.symbol(), arg(0), arg(1), truth)
                })
            }
            Op::General(G::Call | G::CallLent, _) if inst.args.len() == 5 => {
                match self.builtin_of(arg(1)).as_deref() {
                    Some("isinstance") => self.class_tests(arg(3), arg(4), truth),
                    _ => Env::new(),
                }
            }
            Op::Param => self.param_tests(v, truth)?,
            _ => Env::new(),
        })
    }

    /// The predicates that hold on all edges on which the parameter can have this truth.
    fn param_tests(&mut self, v: Value, truth: bool) -> Option<Env> {
        let version = self.here.version;
        let home = self.versions[version].home[v].expand()?;
        let f = self.function(version);
        let index = f.blocks[home].params.iter().position(|p| p.0 == v)?;
        let state = self.block(version, home);
        let mut all: Option<Env> = None;
        for edge in state.edges.values() {
            let tests = edge.tests.get(index).map(|tests| &tests[!truth as usize]);
            let Some(Some(told)) = tests else { continue };
            all = Some(match all {
                None => told.clone(),
                Some(before) => common(&before, told),
            });
        }
        all
    }

    /// The predicate of the value, and of those that are the same object.
    fn about(&self, v: Value, predicate: Predicate) -> Env {
        let f = self.function(self.here.version);
        let mut told = vec![(v, predicate.clone())];
        let mut v = v;
        while f.insts[v].op.gives_operand() {
            v = f.insts[v].args[0];
            told.push((v, predicate.clone()));
        }
        told
    }

    fn identity_tests(&mut self, a: Value, b: Value, truth: bool) -> Env {
        let mut told = Env::new();
        for (x, y) in [(a, b), (b, a)] {
            let other = self.known(y);
            if other.is(Type::NONE_TYPE) {
                let predicate = if truth {
                    Predicate::IsNone
                } else {
                    Predicate::NotNone
                };
                extend(&mut told, &self.about(x, predicate));
            } else if truth && let Some(object) = other.ty.as_object() {
                let ty = Type::from_object(object);
                extend(&mut told, &self.about(x, Predicate::InType(ty)));
            }
            // `type(x) is C`
            let f = self.function(self.here.version);
            let inst = &f.insts[x];
            if truth
                && matches!(inst.op, Op::General(G::Call | G::CallLent, _))
                && inst.args.len() == 4
                && self.builtin_of(inst.args[1]).as_deref() == Some("type")
                && let Some(classes) = self.classes_of(&other)
            {
                extend(
                    &mut told,
                    &self.about(inst.args[3], Predicate::Exactly(classes)),
                );
            }
        }
        told
    }

    fn class_tests(&mut self, subject: Value, classes: Value, truth: bool) -> Env {
        let facts = self.known(classes);
        let Some(classes) = self.classes_of(&facts) else {
            return Env::new();
        };
        let predicate = if truth {
            Predicate::Instance(classes)
        } else if self.names_all(&facts) {
            Predicate::NotInstance(classes)
        } else {
            // If the operand may be one class or another, a failed test excludes neither.
            return Env::new();
        };
        self.about(subject, predicate)
    }

    fn order_tests(&mut self, symbol: &str, a: Value, b: Value, truth: bool) -> Env {
        let (x, y) = (self.read(a), self.read(b));
        let symbol = if truth { symbol } else { negated(symbol) };
        let (first, second) = self.order_tells(symbol, &x, &y);
        let mut told = Env::new();
        for (v, holds) in [(a, first), (b, second)] {
            if holds {
                extend(&mut told, &self.about(v, Predicate::NotNegative));
            }
        }
        told
    }

    /// The facts about a value on all paths. The block is notified when they are widened.
    fn known(&mut self, v: Value) -> Facts {
        let sv = self.binding(v);
        self.set.read(sv, self.here.reader)
    }

    /// The name of the builtin that a value must be, if it can only be one.
    pub(super) fn builtin_of(&mut self, v: Value) -> Option<String> {
        let facts = self.known(v);
        let [id] = facts.objects.ids[..] else {
            return None;
        };
        let heap = self.set.own_heap(id);
        let known = matches!(heap.kind, Kind::Builtin | Kind::Class) && !facts.objects.open;
        (known && self.builtins.get(&*heap.name) == Some(&id)).then(|| heap.name.to_string())
    }

    /// Widens a value, and notes that in the steps if they are kept.
    pub(super) fn merge_traced(
        &mut self,
        sv: Sv,
        facts: Facts,
        place: impl FnOnce(&Self) -> String,
    ) {
        if !self.trace.on {
            self.set.widen(sv, facts);
            return;
        }
        let before = self.set.get(sv);
        let changed = self.set.widen(sv, facts.clone());
        let after = self.set.get(sv);
        if changed && !before.is_impossible() {
            let texts = [&before, &facts, &after].map(|facts| self.facts_text(facts));
            let place = place(self);
            self.trace.merged(&place, &texts);
        }
    }

    fn rank(&self, block: Block) -> u32 {
        self.versions[self.here.version].rank[block]
    }

    /// The blocks that are blocked now, each with its operation.
    pub(super) fn blocked(&self) -> Vec<(super::engine::VersionId, Block, Value)> {
        let mut found = Vec::new();
        for (id, version) in self.versions.iter() {
            for (block, state) in version.blocks.iter() {
                if let Some(state) = state
                    && let Status::Blocked(v) = state.status
                {
                    found.push((id, block, v));
                }
            }
        }
        found
    }
}
