//! The subject of a function's graph: the values that are followed, their members, and the
//! questions.

use super::members::{MAX_TESTS, add, are_too_many, is_stable, may_fail, may_pass, split};
use super::{BUDGET, Cost, Disagreement, Fact, Finding, MAX_QUESTIONS, QuestionCost, Subjects};
use crate::bytecode::GeneralOp as G;
use crate::hir::{
    Block, Cmp, Expressions, Function, Op, Operands, Passed, Term, Value, is_builtin_exact,
};
use crate::host::World;
use crate::typegraph::{Node, Program, Variable};
use crate::types::Type;
use cranelift_entity::SecondaryMap;
use cranelift_entity::packed_option::PackedOption;
use rustc_hash::FxHashMap;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

/// The way in which a value follows from another.
pub(super) enum Derived {
    /// True if the operand is of one of these types.
    Test(Value, Vec<Type>),
    /// The truth of a bool object.
    Truth(Value),
    /// The comparison of an int with a constant.
    Compare(Cmp, Value, i64),
    /// An object if the truth value holds, otherwise none.
    ObjectIf(Truth, Type),
}

/// A truth value: a constant, or a value with the truth that it must have for this one to hold.
#[derive(Clone, Copy)]
pub(super) enum Truth {
    Constant(bool),
    Of(Value, bool),
}

/// An instruction that is queried: a check, which ends a path where it fails, or a use of an
/// operand.
pub(super) struct Site {
    pub inst: Value,
    pub subject: Value,
    pub kind: SiteKind,
}

#[derive(Clone, Copy)]
pub(super) enum SiteKind {
    /// The type that passes.
    Guard(Type),
    /// The index of an operand of a general operation.
    Operand(usize),
}

impl Site {
    /// The type that passes, if it is a check.
    pub(super) fn passes(&self) -> Option<Type> {
        match self.kind {
            SiteKind::Guard(passes) => Some(passes),
            SiteKind::Operand(_) => None,
        }
    }
}

enum Question {
    Guard(Value, Value, Vec<Type>),
    Operand(Value, usize, Value),
    /// The guard and its operand: would a split of the join before it separate the types?
    Join(Value, Value),
    Branch(Block, Value, bool),
}

/// The types for which a general operation is specialised.
const TELLING: [Type; 7] = [
    Type::LONG_EXACT,
    Type::FLOAT_EXACT,
    Type::BOOL,
    Type::UNICODE_EXACT,
    Type::LIST_EXACT,
    Type::TUPLE_EXACT,
    Type::DICT_EXACT,
];

/// The types of `TELLING` that some member of the type is within.
fn telling(members: &[Type]) -> Vec<Type> {
    let mut types = Vec::new();
    for member in members {
        if let Some(ty) = TELLING.iter().find(|ty| *member <= **ty) {
            add(&mut types, *ty);
        }
    }
    types
}

fn is_within(types: &[Type], member: Type) -> bool {
    types.iter().any(|ty| member <= *ty)
}

/// The number of operands whose types decide the specialised form of an operation: of a general
/// one, of `unbox_number`, or of a test for builtin classes.
fn deciding_operands(op: &Op) -> usize {
    match op {
        Op::General(G::Binary | G::CompareBool | G::GetItem | G::SetItem, _) => 2,
        Op::General(G::Truth | G::Negative | G::Invert, _) | Op::UnboxNumber => 1,
        Op::IsClass(types) if types.iter().all(|ty| is_builtin_exact(*ty)) => 1,
        _ => 0,
    }
}

/// The graph under construction, then the graph.
pub(super) struct Graph<'a> {
    pub(super) f: &'a Function,
    pub(super) world: &'a dyn World,
    pub(super) home: SecondaryMap<Value, PackedOption<Block>>,
    pub(super) rank: SecondaryMap<Block, u32>,
    /// Equal computations.
    equal: Expressions,
    /// The first of each set of equal computations, by number.
    firsts: Vec<Value>,
    /// For each parameter, the values that edges pass.
    pub(super) passed: Passed,
    tests: BTreeMap<Value, Vec<Type>>,
    pub(super) members: BTreeMap<Value, Vec<Type>>,
    pub(super) sites: BTreeMap<Block, Vec<Site>>,
    pub(super) program: Program<Type>,
    pub(super) variables: BTreeMap<Value, Variable>,
    /// The nodes right before a guard, at a block's start, and at its end.
    pub(super) before: FxHashMap<Value, Node>,
    /// The guards that a path passes only with some members, each with the node behind it.
    pub(super) guards: Vec<(Value, Node)>,
    pub(super) first: SecondaryMap<Block, PackedOption<Node>>,
    pub(super) last: SecondaryMap<Block, PackedOption<Node>>,
    questions: Vec<Question>,
    asked: Vec<QuestionCost>,
}

impl<'a> Graph<'a> {
    /// The graph with its questions. None if there are no questions.
    pub fn build(f: &'a Function, world: &'a dyn World, subjects: Subjects) -> Option<Graph<'a>> {
        let mut graph = Graph {
            f,
            world,
            home: SecondaryMap::new(),
            rank: SecondaryMap::new(),
            equal: Expressions::default(),
            firsts: Vec::new(),
            passed: Passed::default(),
            tests: BTreeMap::new(),
            members: BTreeMap::new(),
            sites: BTreeMap::new(),
            program: Program::new(Type::TOP),
            variables: BTreeMap::new(),
            before: FxHashMap::default(),
            guards: Vec::new(),
            first: SecondaryMap::new(),
            last: SecondaryMap::new(),
            questions: Vec::new(),
            asked: Vec::new(),
        };
        graph.find_subjects(subjects);
        graph.find_tests();
        graph.find_members();
        graph.find_questions(subjects);
        if graph.questions.is_empty() {
            return None;
        }
        graph.make_nodes();
        graph.make_edges();
        Some(graph)
    }

    fn find_homes(&mut self) {
        let f = self.f;
        for (index, &b) in f.order.iter().enumerate() {
            self.rank[b] = index as u32;
            let data = &f.blocks[b];
            for &v in data.params.iter().map(|(p, _)| p).chain(&data.insts) {
                self.home[v] = b.into();
            }
        }
        self.passed = Passed::of(f);
    }

    // ---- followed values
    // --------------------------------------------------------------------------

    /// The value that is followed instead of `v`: without guards, and one for all equal
    /// computations.
    pub(super) fn subject(&mut self, v: Value) -> Value {
        let v = self.f.object_of(v);
        let op = self.f.op(v);
        let is_test = matches!(
            op,
            Op::IsNone | Op::IsNull | Op::Is | Op::UnboxBool | Op::IntCmp(_) | Op::FloatCmp(_)
        );
        if !is_test {
            return v;
        }
        let args = self.f.inst(v).args.iter();
        let args: Operands = args.map(|a| self.f.object_of(*a)).collect();
        let number = self.equal.number(op, &args) as usize;
        if number == self.firsts.len() {
            self.firsts.push(v);
        }
        self.firsts[number]
    }

    pub(super) fn truth(&mut self, v: Value) -> Truth {
        let (mut v, mut holds) = (self.f.object_of(v), true);
        while let Op::BoolNot = self.f.op(v) {
            v = self.f.object_of(self.f.arg(v, 0));
            holds = !holds;
        }
        match self.f.op(v) {
            Op::ConstBool(value) => Truth::Constant(*value == holds),
            _ => Truth::Of(self.subject(v), holds),
        }
    }

    /// The type of a constant, which describes it completely.
    pub(super) fn constant(&self, v: Value) -> Option<Type> {
        Some(match self.f.op(v) {
            Op::ConstInt(n) => Type::from_cint(Type::CINT64, *n).unwrap_or(Type::CINT64),
            Op::ConstBool(value) => Type::from_cbool(*value),
            Op::Null => Type::NULLPTR,
            Op::Const(_) | Op::ConstDouble(_) => self.f.ty(v),
            _ => return None,
        })
    }

    pub(super) fn derived(&mut self, v: Value) -> Option<Derived> {
        let f = self.f;
        let derived = match f.op(v) {
            Op::IsNone => Derived::Test(f.arg(v, 0), vec![Type::NONE_TYPE]),
            Op::IsNull => Derived::Test(f.arg(v, 0), vec![Type::NULLPTR]),
            Op::Is => {
                let object = f.ty(f.arg(v, 1));
                object.as_object()?;
                Derived::Test(f.arg(v, 0), vec![object])
            }
            Op::IsClass(types) if types.iter().all(|t| is_stable(*t)) => {
                Derived::Test(f.arg(v, 0), types.clone())
            }
            Op::UnboxBool => Derived::Truth(f.arg(v, 0)),
            Op::IntCmp(cmp) => match f.op(f.arg(v, 1)) {
                Op::ConstInt(n) => {
                    let raw = f.arg(v, 0);
                    let object = matches!(f.op(raw), Op::UnboxInt).then(|| f.arg(raw, 0));
                    Derived::Compare(*cmp, object.unwrap_or(raw), *n)
                }
                _ => return None,
            },
            Op::BoxIntIf => Derived::ObjectIf(self.truth(f.arg(v, 1)), Type::LONG_EXACT),
            Op::BoxFloatIf => Derived::ObjectIf(self.truth(f.arg(v, 1)), Type::FLOAT_EXACT),
            _ => return None,
        };
        Some(match derived {
            Derived::Test(operand, types) => Derived::Test(self.subject(operand), types),
            Derived::Truth(operand) => Derived::Truth(self.subject(operand)),
            Derived::Compare(cmp, operand, n) => Derived::Compare(cmp, self.subject(operand), n),
            other => other,
        })
    }

    /// The values from which a value follows: its operand, or those that edges pass.
    fn sources(&mut self, v: Value) -> Vec<Value> {
        if let Op::Param = self.f.op(v) {
            let passed = self.passed.values(v).to_vec();
            return passed.into_iter().map(|arg| self.followed(arg)).collect();
        }
        match self.derived(v) {
            Some(Derived::Test(operand, _) | Derived::Truth(operand))
            | Some(Derived::Compare(_, operand, _))
            | Some(Derived::ObjectIf(Truth::Of(operand, _), _)) => vec![operand],
            _ => Vec::new(),
        }
    }

    /// The subject of a value of any kind.
    pub(super) fn followed(&mut self, v: Value) -> Value {
        match self.truth(v) {
            Truth::Of(subject, _) => subject,
            Truth::Constant(_) => self.f.object_of(v),
        }
    }

    /// Finds the guards, and all values on which a question about a guard or a branch may depend.
    fn find_subjects(&mut self, subjects: Subjects) {
        let f = self.f;
        let mut work = Vec::new();
        let mut branches: BTreeMap<Value, usize> = BTreeMap::new();
        for &b in &f.order {
            for &v in &f.blocks[b].insts {
                if subjects == Subjects::Operands {
                    for index in 0..deciding_operands(f.op(v)) {
                        let subject = self.subject(f.arg(v, index));
                        let is_joined = matches!(f.op(subject), Op::Param);
                        if is_joined && !is_builtin_exact(f.ty(f.arg(v, index))) {
                            work.push(subject);
                            let kind = SiteKind::Operand(index);
                            let site = Site {
                                inst: v,
                                subject,
                                kind,
                            };
                            self.sites.entry(b).or_default().push(site);
                        }
                    }
                }
                let (subject, passes) = match f.op(v) {
                    Op::GuardType(ty) if is_stable(*ty) => (self.subject(f.arg(v, 0)), *ty),
                    Op::GuardIs(object) => (self.subject(f.arg(v, 0)), Type::from_object(*object)),
                    Op::GuardBound => (self.subject(f.arg(v, 0)), Type::OBJECT),
                    Op::GuardTrue(_) => match self.truth(f.arg(v, 0)) {
                        Truth::Of(subject, holds) => (subject, Type::from_cbool(holds)),
                        Truth::Constant(_) => continue,
                    },
                    _ => continue,
                };
                work.extend(self.is_joined(subject).then_some(subject));
                let kind = SiteKind::Guard(passes);
                let site = Site {
                    inst: v,
                    subject,
                    kind,
                };
                self.sites.entry(b).or_default().push(site);
            }
            if let Term::Branch { cond, .. } = &f.blocks[b].term
                && let Truth::Of(subject, _) = self.truth(*cond)
            {
                let count = branches.entry(subject).or_default();
                *count += 1;
                work.extend((self.is_joined(subject) || *count > 1).then_some(subject));
            }
        }
        if work.is_empty() {
            return;
        }
        self.find_homes();
        // A branch gives facts about the operand that its condition tests.
        let mut tellers: BTreeMap<Value, Vec<Value>> = BTreeMap::new();
        for &subject in branches.keys() {
            for source in self.sources(subject) {
                tellers.entry(source).or_default().push(subject);
            }
        }
        let mut seen = BTreeSet::new();
        while let Some(v) = work.pop() {
            if self.constant(v).is_some() || !seen.insert(v) {
                continue;
            }
            work.extend(self.sources(v));
            work.extend(tellers.get(&v).into_iter().flatten());
        }
        self.members = seen.into_iter().map(|v| (v, Vec::new())).collect();
    }

    /// Returns true if the value is, or follows from, a parameter: paths may bring different
    /// members of it.
    fn is_joined(&mut self, v: Value) -> bool {
        let is_param = |v: &Value| matches!(self.f.op(*v), Op::Param);
        is_param(&v) || self.sources(v).iter().any(is_param)
    }

    pub(super) fn is_followed(&self, v: Value) -> bool {
        self.members.contains_key(&v)
    }

    // ---- members
    // ----------------------------------------------------------------------------------

    /// Finds the tests that separate members of a value: those of the value, and those of the
    /// parameters that it is passed for.
    fn find_tests(&mut self) {
        let mut tests: Vec<(Value, Type)> = Vec::new();
        for site in self.sites.values().flatten() {
            tests.extend(site.passes().map(|passes| (site.subject, passes)));
        }
        let followed: Vec<Value> = self.members.keys().copied().collect();
        for v in followed {
            if let Some(Derived::Test(operand, types)) = self.derived(v) {
                tests.extend(types.into_iter().map(|ty| (operand, ty)));
            }
        }
        while let Some((v, test)) = tests.pop() {
            if !self.is_followed(v) || test <= Type::CBOOL {
                continue;
            }
            let known = self.tests.entry(v).or_default();
            if known.contains(&test) || known.len() >= MAX_TESTS {
                continue;
            }
            known.push(test);
            if let Op::Param = self.f.op(v) {
                let sources = self.sources(v);
                tests.extend(sources.into_iter().map(|source| (source, test)));
            }
        }
    }

    fn find_members(&mut self) {
        let followed: Vec<Value> = self.members.keys().copied().collect();
        for &v in &followed {
            if !matches!(self.f.op(v), Op::Param) {
                let members = match self.derived(v) {
                    Some(Derived::ObjectIf(_, ty)) => vec![ty, Type::NULLPTR],
                    _ => {
                        let tests = self.tests.get(&v).map_or(&[][..], |tests| tests);
                        split(self.f.ty(v), tests)
                    }
                };
                self.members.insert(v, members);
            }
        }
        let mut changed = true;
        while std::mem::take(&mut changed) {
            for &v in &followed {
                let Op::Param = self.f.op(v) else { continue };
                let passed = self.passed.values(v).to_vec();
                let mut members = self.members[&v].clone();
                for arg in passed {
                    for (member, _) in self.ways(arg) {
                        changed |= add(&mut members, member);
                    }
                }
                self.members.insert(v, members);
            }
        }
        // A value with too many members gets one.
        for members in self.members.values_mut() {
            if are_too_many(members) {
                members.clear();
            }
        }
        let is_coarse = |v: &Value| self.members[v].is_empty();
        let mut work: Vec<Value> = followed.iter().copied().filter(is_coarse).collect();
        if work.is_empty() {
            return;
        }
        // A parameter that receives such a value gets one member too.
        let mut taken: BTreeMap<Value, Vec<Value>> = BTreeMap::new();
        for v in followed {
            if let Op::Param = self.f.op(v) {
                for source in self.sources(v) {
                    taken.entry(source).or_default().push(v);
                }
            }
        }
        while let Some(v) = work.pop() {
            if self.members.remove(&v).is_some() {
                work.extend(taken.get(&v).into_iter().flatten());
            }
        }
    }

    /// The members that a value passed for a parameter brings, each with its condition.
    pub(super) fn ways(&mut self, arg: Value) -> Vec<(Type, Option<(Value, Type)>)> {
        let truth = self.truth(arg);
        if let Truth::Constant(value) = truth {
            return vec![(Type::from_cbool(value), None)];
        }
        if let Truth::Of(subject, holds) = truth
            && self.f.ty(subject) <= Type::CBOOL
        {
            let flip = |member: Type| match member.as_cbool() {
                Some(value) => Type::from_cbool(value == holds),
                None => member,
            };
            let members = self.members.get(&subject).cloned().unwrap_or_default();
            let way = |member| (flip(member), Some((subject, member)));
            return members.into_iter().map(way).collect();
        }
        if let Some(ty) = self.constant(self.f.object_of(arg)) {
            return vec![(ty, None)];
        }
        let ty = self.f.ty(arg);
        let subject = self.subject(arg);
        let members = self.members.get(&subject).cloned().unwrap_or_default();
        let way = |member| (member, Some((subject, member)));
        let members = members.into_iter().filter(|m| m.could_be(ty)).map(way);
        members.collect()
    }

    // ---- questions
    // --------------------------------------------------------------------------------

    fn find_questions(&mut self, subjects: Subjects) {
        let mut questions = Vec::new();
        let mut counts: BTreeMap<Value, usize> = BTreeMap::new();
        for b in self.f.order.clone() {
            for site in self.sites.get(&b).into_iter().flatten() {
                let Some(members) = self.members.get(&site.subject) else {
                    continue;
                };
                let is_mixed = members.len() > 1 && members.iter().any(|m| is_builtin_exact(*m));
                let passes = match site.kind {
                    SiteKind::Guard(passes) => passes,
                    SiteKind::Operand(index) => {
                        if is_mixed {
                            questions.push(Question::Operand(site.inst, index, site.subject));
                        }
                        continue;
                    }
                };
                if subjects == Subjects::Operands {
                    // A join is split only if several of the telling types arrive.
                    let is_guard = matches!(self.f.op(site.inst), Op::GuardType(_));
                    if is_mixed && is_guard && telling(members).len() > 1 {
                        questions.push(Question::Join(site.inst, site.subject));
                    }
                    continue;
                }
                let fails = |m: &&Type| may_fail(**m, passes);
                let failing: Vec<Type> = members.iter().filter(fails).copied().collect();
                // If some values of a member pass and others fail, the member alone does not
                // decide.
                let is_sharp = failing.iter().all(|m| !may_pass(*m, passes));
                if is_sharp && !failing.is_empty() && failing.len() < members.len() {
                    questions.push(Question::Guard(site.inst, site.subject, failing));
                }
            }
            let Term::Branch { cond, .. } = &self.f.blocks[b].term else {
                continue;
            };
            if let Truth::Of(subject, holds) = self.truth(*cond)
                && self.is_followed(subject)
                && subjects == Subjects::Checks
            {
                let count = counts.entry(subject).or_default();
                *count += 1;
                if *count > 1 || self.is_joined(subject) {
                    questions.push(Question::Branch(b, subject, holds));
                }
            }
        }
        self.questions = questions;
    }

    pub fn ask_all(mut self) -> (Vec<Finding>, Cost) {
        self.program.set_budget(BUDGET);
        let mut found = Vec::new();
        for question in std::mem::take(&mut self.questions) {
            if self.asked.len() >= MAX_QUESTIONS {
                break;
            }
            let mut proof = String::new();
            match question {
                Question::Guard(inst, subject, failing) => {
                    let node = self.before[&inst];
                    let is_proved = failing
                        .iter()
                        .all(|&member| self.is_infeasible(node, subject, member, &mut proof));
                    if is_proved {
                        found.push(Finding {
                            fact: Fact::Holds(inst),
                            pc: self.f.inst(inst).pc,
                            proof,
                            guards: self.guards_before(node),
                        });
                    }
                }
                Question::Operand(inst, index, subject) => {
                    let members = self.members[&subject].len();
                    let left = self.feasible(inst, subject, &mut proof);
                    let all = left.iter().fold(Type::BOTTOM, |all, member| all | *member);
                    let pc = self.f.inst(inst).pc;
                    if !left.is_empty() && left.len() < members {
                        let fact = Fact::Narrowed(inst, index, all);
                        let guards = self.guards_before(self.before[&inst]);
                        found.push(Finding {
                            fact,
                            pc,
                            proof,
                            guards,
                        });
                    } else {
                        found.extend(self.disagreement(inst, subject, left));
                    }
                }
                Question::Join(inst, subject) => {
                    let left = self.feasible(inst, subject, &mut proof);
                    found.extend(self.disagreement(inst, subject, left));
                }
                Question::Branch(b, subject, holds) => {
                    let Some(node) = self.last[b].expand() else {
                        continue;
                    };
                    for value in [true, false] {
                        let member = Type::from_cbool(value);
                        if self.is_infeasible(node, subject, member, &mut proof) {
                            // It is the other value; the condition holds if that is the required
                            // one.
                            found.push(Finding {
                                fact: Fact::Taken(b, holds != value),
                                pc: self.f.blocks[b].end,
                                proof,
                                guards: self.guards_before(node),
                            });
                            break;
                        }
                    }
                }
            }
        }
        let cost = Cost {
            nodes: self.program.node_count(),
            bindings: self.program.binding_count(),
            questions: self.asked,
        };
        (found, cost)
    }

    /// The members that may reach an instruction, as far as the queries can prove.
    fn feasible(&mut self, inst: Value, subject: Value, proof: &mut String) -> Vec<Type> {
        let node = self.before[&inst];
        let mut left = self.members[&subject].clone();
        left.retain(|&member| !self.is_infeasible(node, subject, member, proof));
        left
    }

    /// The finding that several types may reach an instruction that could be specialised for each
    /// of them.
    fn disagreement(&self, inst: Value, subject: Value, left: Vec<Type>) -> Option<Finding> {
        let block = self.home[subject].expand()?;
        let types = telling(&left);
        // Operations are not specialised for any other type.
        if types.len() < 2 || !left.iter().all(|member| is_within(&types, *member)) {
            return None;
        }
        let named: Vec<String> = types.iter().map(Type::to_string).collect();
        let node = self.program.node_name(self.before[&inst]);
        Some(Finding {
            fact: Fact::Disagrees(Disagreement {
                block,
                param: subject,
                types,
                at: inst,
            }),
            pc: self.f.inst(inst).pc,
            proof: format!("{node}? {{{subject}={}}} feasible", named.join(" or ")),
            guards: Vec::new(),
        })
    }

    /// The guards that paths to a node may pass.
    fn guards_before(&mut self, node: Node) -> Vec<Value> {
        let program = &mut self.program;
        let guards = self.guards.iter();
        let guards = guards.filter(|(_, behind)| program.is_reachable(*behind, node));
        guards.map(|(guard, _)| *guard).collect()
    }

    fn is_infeasible(
        &mut self,
        node: Node,
        subject: Value,
        member: Type,
        proof: &mut String,
    ) -> bool {
        let goal = self.binding(subject, member);
        let is_infeasible = self.program.ask(node, &[goal]).is_infeasible();
        if let Some(walk) = self.program.backward_walk(node) {
            let queries = self.program.solver_metrics().map(|m| &m.queries);
            let steps = queries.and_then(|q| q.last()).map_or(0, |q| q.steps);
            let walk = walk as u64;
            self.asked.push(QuestionCost { steps, walk });
        }
        if is_infeasible {
            let comma = if proof.is_empty() { "" } else { ", " };
            let name = self.program.node_name(node);
            let _ = write!(proof, "{comma}{name}? {{{subject}={member}}}");
        }
        is_infeasible
    }
}
