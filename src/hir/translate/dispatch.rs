//! Sites that observe several classes. Where one plan serves them all, the site has one check of
//! the class. Otherwise tests branch to the plan of each class, or to the general operation for the
//! rest, and join again.

use crate::bytecode::{Instr, Met, Op as B, Pc, Reason};
use crate::facts::{AttrPlan, IntrinsicCall, StorePlan, World};
use crate::hir::Op;
use crate::hir::build::{Builder, is_builtin_exact};
use crate::hir::function::{
    Block, BlockData, Edge, Entry, FrameState, Inst, Locals, Place, Term, Value,
};
use crate::hir::names::Known;
use crate::types::Type;

/// Classes that one site is compiled for; the others are left to the general operation.
const MOST_CLASSES: usize = 8;

/// Two plans that are carried out alike may become one, for an object whose class is one of both.
/// Its checks run on objects of either class, so a check that only one plan has must not read the
/// object's fields.
pub(super) trait Merge: Sized + Clone {
    /// The plan for both, if there is one.
    fn merge(&self, other: &Self, world: &dyn World) -> Option<Self>;
}

/// The checks of both plans, if all may run on objects of either class.
fn checks_of_both(
    a: &[IntrinsicCall],
    b: Vec<IntrinsicCall>,
    world: &dyn World,
) -> Option<Vec<IntrinsicCall>> {
    let shared = |check: &IntrinsicCall| {
        a.contains(check) && b.contains(check) || world.is_of_class(check.id)
    };
    let fits = a.iter().chain(&b).all(shared);
    fits.then(|| {
        let mut both = a.to_vec();
        for check in b {
            let merged = both.iter().enumerate().find_map(|(i, known)| {
                let is_shared = *known == check;
                let merged = is_shared.then(|| check.clone());
                Some((i, merged.or_else(|| world.check_of_both(known, &check))?))
            });
            match merged {
                Some((i, merged)) => both[i] = merged,
                None => both.push(check),
            }
        }
        both
    })
}

impl Merge for AttrPlan {
    fn merge(&self, other: &AttrPlan, world: &dyn World) -> Option<AttrPlan> {
        match (self.clone(), other.clone()) {
            (
                AttrPlan::Field {
                    guards,
                    load,
                    now,
                    mut assumptions,
                },
                AttrPlan::Field {
                    guards: more,
                    load: same,
                    now: also,
                    assumptions: further,
                },
            ) if load == same => {
                let guards = checks_of_both(&guards, more, world)?;
                extend(&mut assumptions, further);
                Some(AttrPlan::Field {
                    guards,
                    load,
                    now: now.filter(|_| now == also),
                    assumptions,
                })
            }
            (
                AttrPlan::Constant {
                    guards,
                    value,
                    binds,
                    mut assumptions,
                },
                AttrPlan::Constant {
                    guards: more,
                    value: same,
                    binds: alike,
                    assumptions: further,
                },
            ) if value == same && binds == alike => {
                let guards = checks_of_both(&guards, more, world)?;
                extend(&mut assumptions, further);
                Some(AttrPlan::Constant {
                    guards,
                    value,
                    binds,
                    assumptions,
                })
            }
            (
                AttrPlan::Absent {
                    guards,
                    mut assumptions,
                },
                AttrPlan::Absent {
                    guards: more,
                    assumptions: further,
                },
            ) => {
                let guards = checks_of_both(&guards, more, world)?;
                extend(&mut assumptions, further);
                Some(AttrPlan::Absent {
                    guards,
                    assumptions,
                })
            }
            _ => None,
        }
    }
}

impl Merge for StorePlan {
    fn merge(&self, other: &StorePlan, world: &dyn World) -> Option<StorePlan> {
        match (self.clone(), other.clone()) {
            (
                StorePlan::Field {
                    guards,
                    store,
                    quiet,
                    mut assumptions,
                },
                StorePlan::Field {
                    guards: more,
                    store: same,
                    quiet: silent,
                    assumptions: further,
                },
            ) if store == same && quiet == silent => {
                let guards = checks_of_both(&guards, more, world)?;
                extend(&mut assumptions, further);
                Some(StorePlan::Field {
                    guards,
                    store,
                    quiet,
                    assumptions,
                })
            }
            (
                StorePlan::Setter {
                    function,
                    descriptor,
                    mut assumptions,
                },
                StorePlan::Setter {
                    function: same,
                    descriptor: alike,
                    assumptions: further,
                },
            ) if function == same && descriptor == alike => {
                extend(&mut assumptions, further);
                Some(StorePlan::Setter {
                    function,
                    descriptor,
                    assumptions,
                })
            }
            _ => None,
        }
    }
}

fn extend<T: PartialEq>(list: &mut Vec<T>, more: Vec<T>) {
    for item in more {
        if !list.contains(&item) {
            list.push(item);
        }
    }
}

/// The code of a site.
pub(super) enum Site<P> {
    /// The general operation.
    General,
    /// One plan, after a check for these types.
    One(Vec<Type>, P),
    /// A plan for each of these groups of types, and the general operation for the rest.
    Several(Vec<(Vec<Type>, P)>),
}

/// A type to plan for.
#[derive(Clone, Copy)]
pub(super) struct Expected {
    pub(super) ty: Type,
    /// The class was not observed here, but related classes were.
    guess: bool,
}

impl Expected {
    pub(super) fn seen(ty: Type) -> Expected {
        Expected { ty, guess: false }
    }

    pub(super) fn guessed(ty: Type) -> Expected {
        Expected { ty, guess: true }
    }
}

/// The state of the builder before the first arm. Each arm starts with it, and so does the code
/// after the join.
pub(super) struct BeforeArms {
    pub(super) stack: Vec<Entry>,
    start_stack: Vec<Entry>,
    names_of_call: Option<Entry>,
    locals: Locals,
    names: Option<Known>,
    unchecked: bool,
}

/// Types whose plans are carried out alike.
struct Group<P> {
    members: Vec<(Type, P)>,
    /// The plan for all.
    plan: P,
}

impl<P: Merge> Group<P> {
    /// The types by their names, observed or guessed, and a plan whose checks are in this order.
    fn in_order(mut self, world: &dyn World) -> (Vec<Type>, P) {
        if self.members.len() > 1 {
            self.members.sort_by_cached_key(|(ty, _)| ty.to_string());
            let mut plans = self.members.iter().map(|(_, plan)| plan);
            let first = plans.next().cloned();
            let all = plans.fold(first, |all, plan| all?.merge(plan, world));
            self.plan = all.unwrap_or(self.plan);
        }
        (
            self.members.into_iter().map(|member| member.0).collect(),
            self.plan,
        )
    }
}

/// Choose the code of a site with these plans, one a type. The order in which the types were
/// observed carries no information, and differs in each run. So the types are sorted by their
/// names: the same classes give the same code.
pub(super) fn site<P: Merge>(mut plans: Vec<(Expected, Option<P>)>, world: &dyn World) -> Site<P> {
    if plans.len() > 1 {
        plans.sort_by_cached_key(|(expected, _)| (expected.guess, expected.ty.to_string()));
    }
    let seen = plans.iter().filter(|p| !p.0.guess);
    let all_planned = seen.clone().count() <= MOST_CLASSES && seen.clone().all(|p| p.1.is_some());
    let mut groups: Vec<Group<P>> = Vec::new();
    for (expected, plan) in plans {
        let Some(plan) = plan else { continue };
        let same = groups
            .iter()
            .enumerate()
            .find_map(|(i, group)| group.plan.merge(&plan, world).map(|both| (i, both)));
        if let Some((i, both)) = same {
            groups[i].members.push((expected.ty, plan));
            groups[i].plan = both;
        } else if !expected.guess && groups.len() < MOST_CLASSES {
            groups.push(Group {
                members: vec![(expected.ty, plan.clone())],
                plan,
            });
        }
    }
    let groups = groups.into_iter().map(|group| group.in_order(world));
    let mut groups: Vec<(Vec<Type>, P)> = groups.collect();
    match groups.len() {
        0 => Site::General,
        1 if all_planned => {
            let (types, plan) = groups.remove(0);
            Site::One(types, plan)
        }
        _ => Site::Several(groups),
    }
}

impl Builder<'_> {
    /// The types to plan for: the proved type of the receiver, or else the observed types (which
    /// the caller then checks).
    pub(super) fn receiver_types(&self, v: Value, instr: &Instr) -> Vec<Expected> {
        let ty = self.ty(v);
        let expect = |ty, guess| Expected { ty, guess };
        if ty.as_object().is_some() || is_one_class(ty) {
            return vec![expect(ty, false)];
        }
        if let Some(classes) = self.shown_classes(v) {
            let classes = classes.iter().enumerate();
            return classes
                .map(|(i, &ty)| expect(ty, i >= MOST_CLASSES))
                .collect();
        }
        let failed = |reason: &Reason| self.avoids(*reason);
        if [Reason::Type, Reason::Shape, Reason::Identity]
            .iter()
            .any(failed)
        {
            return Vec::new();
        }
        if let Op::New(ty, _) = self.f.op(self.f.object_of(v)) {
            return vec![expect(*ty, false)];
        }
        // The receiver is the last operand: a value to store lies below it.
        let hint = instr.hint.last();
        let met = self
            .met
            .get(&self.pc)
            .or_else(|| self.met_elsewhere(*hint?));
        let seen = hint.into_iter();
        let seen = seen.chain(met.iter().flat_map(|m| &m.seen));
        let related = met.iter().flat_map(|m| &m.related);
        let hints = seen
            .map(|&ty| expect(ty, false))
            .chain(related.map(|&ty| expect(ty, true)));
        let mut types: Vec<Expected> = Vec::new();
        for hint in hints {
            if hint.ty.is_bottom() || hint.ty == Type::OBJECT || !hint.ty.could_be(ty) {
                continue;
            }
            if hint.ty.as_object().is_some() {
                return vec![hint];
            }
            if is_one_class(hint.ty) && !types.iter().any(|t| t.ty == hint.ty) {
                types.push(hint);
            }
        }
        types
    }

    /// The classes of which an argument is one, as the check before an inlined call has found.
    fn shown_classes(&self, v: Value) -> Option<&[Type]> {
        let Op::Arg(k) = self.f.op(self.f.object_of(v)) else {
            return None;
        };
        let classes = self.inlined?.classes.get(*k as usize)?;
        (!classes.is_empty()).then_some(classes)
    }

    /// The profile of another instruction that observed this class: its receiver is often the same
    /// object. A test of truth does not count: in `if x:` the value None is expected, but only
    /// there.
    fn met_elsewhere(&self, ty: Type) -> Option<&Met> {
        let expected = |(pc, met): &(&Pc, &Met)| {
            let instr = self.code.instr(**pc);
            let expects = instr.hint.last() == Some(&ty)
                || met.seen.contains(&ty)
                || met.related.contains(&ty);
            expects && instr.op != B::ToBool
        };
        let found = self.met.iter().filter(expected);
        found.min_by_key(|(pc, _)| **pc).map(|(_, met)| met)
    }

    /// Check that `v` is of one of these types.
    pub(super) fn check_receivers(&mut self, v: Value, types: Vec<Type>) -> Value {
        if let [ty] = types[..] {
            return self.check_receiver(v, ty);
        }
        let state = self.state();
        let op = Op::CheckClasses(types);
        self.emit_with(op, vec![v], Type::BOTTOM, Some(state));
        v
    }

    /// Branch by the class of `receiver` to `fast` with each group's plan, or to `general`. Each of
    /// them does the whole instruction and replaces the same operands by results of the types
    /// `results`. Returns the results, which are on the stack.
    pub(super) fn dispatch<P>(
        &mut self,
        receiver: Value,
        arms: Vec<(Vec<Type>, P)>,
        results: &[Type],
        mut fast: impl FnMut(&mut Self, P),
        general: impl FnOnce(&mut Self),
    ) -> Vec<Value> {
        let join = self.inner_block();
        let before = self.before_arms();
        for (types, plan) in arms {
            let is = self.emit(Op::IsClass(types), vec![receiver], Type::CBOOL);
            let next = self.fork(is);
            fast(self, plan);
            self.end_arm(join, results.len());
            self.next_arm(next, &before);
        }
        general(self);
        self.end_arm(join, results.len());
        self.enter_join(join, results, before)
    }

    /// The state of the builder here, where arms begin.
    pub(super) fn before_arms(&self) -> BeforeArms {
        BeforeArms {
            stack: self.stack.clone(),
            start_stack: self.start_stack.clone(),
            names_of_call: self.names_of_call,
            locals: self.locals.clone(),
            names: self.names_here(),
            unchecked: self.unchecked,
        }
    }

    /// Continue in the block of the next arm.
    pub(super) fn next_arm(&mut self, arm: Block, before: &BeforeArms) {
        self.cur = arm;
        self.restart(&before.start_stack);
        self.names_of_call = before.names_of_call;
        self.stack.clone_from(&before.stack);
        self.locals.clone_from(&before.locals);
        self.restore_names(&before.names);
        self.unchecked = before.unchecked;
    }

    /// Continue where arms join, with their results on top of the stack; returns the results as the
    /// block's parameters. The entries below are those from before the arms: a refinement of them
    /// is valid only inside its arm.
    pub(super) fn enter_join(
        &mut self,
        join: Block,
        results: &[Type],
        before: BeforeArms,
    ) -> Vec<Value> {
        self.locals = before.locals;
        self.restore_names(&before.names);
        let base = self.stack.len() - results.len();
        self.stack[..base].copy_from_slice(&before.stack[..base]);
        let mut values = Vec::new();
        for (i, &ty) in results.iter().enumerate() {
            let v = self
                .f
                .insts
                .push(Inst::proved(Op::Param, vec![], ty, self.pc));
            let place = Place::Stack((base + i) as u32);
            self.f.blocks[join].params.push((v, place));
            self.stack[base + i].value = v;
            values.push(v);
        }
        self.cur = join;
        self.f.blocks[join].entry_state = FrameState {
            pc: Pc(self.pc.0 + 1),
            locals: self.locals.clone(),
            stack: self.stack.clone(),
            inlined: Vec::new(),
        };
        values
    }

    /// Branch on `cond` to two new blocks, and continue in the first; returns the second.
    pub(super) fn fork(&mut self, cond: Value) -> Block {
        let (then, els) = (self.inner_block(), self.inner_block());
        self.end_block(Term::Branch {
            cond,
            then: plain_edge(then),
            els: plain_edge(els),
        });
        self.cur = then;
        // Each side has frame states of its own: a pass that borrows a reference on one side
        // changes its states.
        self.state = None;
        els
    }

    /// End an arm: check that the unit is still valid, if the arm has called out, and jump to the
    /// join.
    pub(super) fn end_arm(&mut self, join: Block, results: usize) {
        let len = self.stack.len();
        for i in len - results..len {
            self.own(i);
        }
        if std::mem::take(&mut self.unchecked) {
            let state = self.state_after();
            self.emit_with(Op::CheckValid, vec![], Type::BOTTOM, Some(state));
        }
        let args = self.top_values(results);
        self.end_block(Term::Jump(Edge { block: join, args }));
    }

    /// A block in the middle of an instruction.
    pub(super) fn inner_block(&mut self) -> Block {
        let state = self.frame_state(self.pc);
        self.f.blocks.push(BlockData::new(state, self.pc))
    }
}

/// Returns true if all objects of the type are of one class exactly.
pub(super) fn is_one_class(ty: Type) -> bool {
    ty.is_exact() && ty.runtime_class().is_some() || is_builtin_exact(ty)
}

pub(super) fn plain_edge(block: Block) -> Edge {
    Edge {
        block,
        args: Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::facts::IntrinsicId;
    use cranelift_entity::EntityRef;

    /// A `World` in which check number 0 does not read the object's fields.
    struct Keys;

    impl World for Keys {
        fn is_of_class(&self, check: IntrinsicId) -> bool {
            check == IntrinsicId::new(0)
        }
    }

    fn field(place: i64, guard: i64) -> Option<AttrPlan> {
        let call = |id, imm| IntrinsicCall {
            id: IntrinsicId::new(id),
            imms: vec![imm],
        };
        Some(AttrPlan::Field {
            guards: vec![call(0, guard)],
            load: call(1, place),
            now: None,
            assumptions: Vec::new(),
        })
    }

    fn seen(ty: Type) -> Expected {
        Expected { ty, guess: false }
    }

    fn guessed(ty: Type) -> Expected {
        Expected { ty, guess: true }
    }

    /// The chosen code as text: `one` or `several`, and the types of each group.
    #[track_caller]
    fn check(plans: Vec<(Expected, Option<AttrPlan>)>, expected: &str) {
        let names = |types: &[Type]| {
            types
                .iter()
                .map(Type::to_string)
                .collect::<Vec<_>>()
                .join("|")
        };
        let found = match site(plans, &Keys) {
            Site::General => "general".to_string(),
            Site::One(types, _) => format!("one {}", names(&types)),
            Site::Several(arms) => {
                let arms: Vec<String> = arms.iter().map(|arm| names(&arm.0)).collect();
                format!("several {}", arms.join(", "))
            }
        };
        assert_eq!(found, expected);
    }

    const A: Type = Type::LIST_EXACT;
    const B: Type = Type::DICT_EXACT;
    const C: Type = Type::SET_EXACT;

    #[test]
    fn classes_with_a_field_at_one_place_share_a_check() {
        check(
            vec![(seen(A), field(8, 1)), (seen(B), field(8, 2))],
            "one DictExact|ListExact",
        );
    }

    #[test]
    fn classes_with_fields_at_different_places_branch() {
        check(
            vec![
                (seen(A), field(8, 1)),
                (seen(B), field(16, 1)),
                (seen(C), field(8, 1)),
            ],
            "several DictExact, ListExact|SetExact",
        );
    }

    #[test]
    fn a_class_without_a_plan_is_left_to_the_general_arm() {
        check(
            vec![(seen(A), field(8, 1)), (seen(B), None)],
            "several ListExact",
        );
        check(vec![(seen(B), None)], "general");
    }

    #[test]
    fn a_class_that_was_not_seen_joins_a_group_and_makes_none() {
        check(
            vec![(seen(A), field(8, 1)), (guessed(B), None)],
            "one ListExact",
        );
        check(
            vec![
                (seen(A), field(8, 1)),
                (guessed(B), field(16, 1)),
                (guessed(C), field(8, 3)),
            ],
            "one ListExact|SetExact",
        );
    }

    #[test]
    fn a_merged_plan_has_the_checks_of_both() {
        let merged = field(8, 1).and_then(|a| a.merge(&field(8, 2)?, &Keys));
        let Some(AttrPlan::Field { guards, .. }) = merged else {
            panic!("not merged")
        };
        assert_eq!(guards.len(), 2);
    }

    #[test]
    fn a_check_that_reads_the_object_is_not_made_of_another_class() {
        let reading = |place| {
            let mut plan = field(8, 1);
            if let Some(AttrPlan::Field { guards, .. }) = &mut plan {
                guards.push(IntrinsicCall {
                    id: IntrinsicId::new(2),
                    imms: vec![place],
                });
            }
            plan
        };
        check(
            vec![(seen(A), reading(24)), (seen(B), field(8, 1))],
            "several DictExact, ListExact",
        );
        check(
            vec![(seen(A), reading(24)), (seen(B), reading(24))],
            "one DictExact|ListExact",
        );
    }
}
