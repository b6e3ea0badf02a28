//! Scalar replacement: a tuple, an instance, a cell or a bound method that only this function can
//! observe is not allocated.
//!
//! A tuple whose only uses are frame states, slots of locals, and accesses at constant places
//! becomes a **virtual** one ([`Op::VirtualTuple`]): accesses return its items, and exits
//! materialise it from them. No object owns its references then; they are dropped one by one where
//! the tuple would have been deallocated, the last item first, as a tuple drops them. So each item
//! lives exactly as long as with the tuple, and has the same count. For example, `a, b = b, a`
//! allocates nothing.
//!
//! An instance of a user class ([`Op::New`]) may also be assigned to, by plans whose effect on an
//! object that no other code has is known to the host ([`crate::facts::InstanceAccess`]). From one
//! assignment to the next it is another [`Op::VirtualInstance`], and states and slots name the one
//! that is valid there. It drops its attributes' values in the order of their places. Where paths
//! join on which it has different values, as at a loop's header, the values become parameters of
//! the block, and from there on it is another virtual instance.
//!
//! The dict of a call's named arguments is virtual where the called function is inlined and only
//! passes them on: frame states name it, for the callee's local.
//!
//! A cell ([`Op::NewCell`]) is such an instance with one place, which may be empty. An instruction
//! that makes a closure needs it: the cell is allocated there, with its content at that point, and
//! the instructions behind that name it. So a variable of a closure that is created at a function's
//! end, or on one path, is an ordinary local before. (Where that path and one on which the cell is
//! virtual join, it is allocated at once.)
//!
//! A bound method ([`Op::BindMethod`]) is a known function, with one item. Calls of it became calls
//! of the function when the HIR was built, so that only states and slots name it.
//!
//! A local that is such an object on every path into a block, each time another one, is virtual in
//! the block too (`carried.rs`): edges pass its fields, as parameters of the block
//! ([`crate::hir::Place::Field`]). On some edges the local may be unbound, or a constant tuple:
//! another parameter is the flag for that ([`Op::VirtualIf`]).
//!
//! It must be known where an object is deallocated: the references to it are counted along every
//! path, and it stays an object if the count is not the same on all paths to a block, if it would
//! travel as another block's parameter, or if an exit can be taken that does not name it while it
//! lives. Code that looks at the frame's locals during a call-out (or after a return, through a
//! frame object) must find the object too, so there it may have no more items than there are words
//! for; and then no stack may name it, since the object that is materialised for the local is
//! another one than the one that an exit materialises for the stack.
//!
//! (Escape analysis with virtual objects in frame states: Stadler, Würthinger, Mössenböck, "Partial
//! Escape Analysis and Scalar Replacement for Java", 2014; here partial for cells alone, and with
//! reference counts.)

mod carried;
mod flow;

use super::Context;
use crate::bytecode::{self, GeneralOp, Reason};
use crate::facts::{InstanceAccess, Source, World};
use crate::hir::{Block, Entry, FrameState, Function, Inst, Op, Place, StateId, Term, Value};
use crate::types::{ObjectHandle, Type};
use carried::{Fields, Group, Maybe};
use flow::{Dominators, Flow, Found, Stop, Subject};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::{BTreeMap, VecDeque};

/// Objects in objects in objects: so many at most.
const MOST_LEVELS: usize = 8;
/// For each instruction of the function, so many may be looked at to count references.
const STEPS_AN_INST: usize = 16;

/// Makes objects virtual where possible.
pub fn run(f: &mut Function, cx: &Context<'_>) -> bool {
    // If a collector may move objects that an exit names, the allocation of one object must not let
    // the fields of the next one go.
    if !cx.lifetimes.are_counted() {
        return false;
    }
    let (mut changed, mut may_be_made) = (false, false);
    // An object inside another one can follow once that one is virtual.
    for _ in 0..MOST_LEVELS {
        let Some(mut world) = Uses::of(f, cx.world) else {
            break;
        };
        world.may_be_made = may_be_made;
        let idom = f.dominators();
        let size: usize = f.order.iter().map(|&b| size_of(f, b)).sum();
        let mut steps = STEPS_AN_INST * size;
        let mut gone = Gone::default();
        let mut items: FxHashSet<Value> = FxHashSet::default();
        let mut raw: Vec<(Block, Value)> = Vec::new();
        let mut found = false;
        for group in &world.groups {
            // For values that are in an object of this round, not all uses are known.
            if group.members.iter().any(|c| items.contains(&c.object)) {
                continue;
            }
            if let Some((plans, fields)) = plan(f, &world, cx, &idom, &mut steps, group) {
                for plan in &plans {
                    let held = plan.found.versions.iter().flat_map(|all| &all.values);
                    items.extend(held.map(|item| f.object_of(*item)));
                }
                gone.first.extend(fields.travel(f, cx, &plans));
                for plan in &plans {
                    plan.join(f);
                    plan.carry_out(f, &mut gone);
                }
                raw.extend(fields.raw);
                found = true;
                // States that are copied where one is allocated name others as they are now.
                if may_be_made {
                    break;
                }
            }
        }
        if !found {
            // Objects that need not be allocated at all come first.
            let made = world.groups.iter().flat_map(|group| &group.members);
            let has_cells = made.filter(|c| c.kind == Some(Kind::Cell)).count() > 0;
            if std::mem::replace(&mut may_be_made, true) || !has_cells {
                break;
            }
            continue;
        }
        sweep(f, gone);
        super::unbox::make_raw(f, &raw);
        changed = true;
    }
    changed
}

/// The instructions that a round removes, and their replacements.
#[derive(Default)]
struct Gone {
    /// The instructions in place of each.
    instead: FxHashMap<Value, Vec<Value>>,
    /// The instructions before one that stays.
    before: FxHashMap<Value, Vec<Value>>,
    /// For those that deallocate an object: the drops in place of that.
    dropped: Vec<(Value, Vec<Value>)>,
    /// The instructions at the start of blocks. (Until then, instructions keep their places.)
    first: Vec<(Block, Vec<Value>)>,
}

/// The number of instructions and of edges' arguments of a block, which an analysis visits.
fn size_of(f: &Function, b: Block) -> usize {
    let data = &f.blocks[b];
    let args = data.term.edges().into_iter().map(|edge| edge.args.len());
    data.insts.len() + args.sum::<usize>()
}

/// Puts into the blocks the instructions that replace the references to the objects, and the
/// accesses to them.
fn sweep(f: &mut Function, gone: Gone) {
    let Gone {
        instead: mut gone,
        mut before,
        dropped,
        first,
    } = gone;
    // Only now do all states name the fields where an object is deallocated.
    for (death, items) in dropped {
        let drops = drops(f, death, items);
        gone.insert(death, drops);
    }
    let mut fewer_edges = false;
    for b in f.order.clone() {
        let old = std::mem::take(&mut f.blocks[b].insts);
        let mut insts = Vec::with_capacity(old.len());
        for v in old {
            insts.extend(before.remove(&v).into_iter().flatten());
            match gone.remove(&v) {
                Some(instead) => insts.extend(instead),
                None => insts.push(v),
            }
        }
        f.blocks[b].insts = insts;
        if let Term::MayRaise { op, next, .. } = &f.blocks[b].term
            && f.insts[*op].op.is_made_by_exits()
        {
            f.blocks[b].term = Term::Jump(next.clone());
            fewer_edges = true;
        }
    }
    for (b, insts) in first {
        f.blocks[b].insts.splice(0..0, insts);
    }
    f.apply_aliases();
    if fewer_edges {
        let entry = f.entry();
        f.compute_order(entry);
    }
}

/// An object that may become virtual: one that is allocated, or a parameter that only such objects
/// are passed to.
#[derive(Clone, Copy)]
struct Candidate {
    object: Value,
    /// The place behind its allocation: a block, and the number of its instructions up to there.
    place: (Block, usize),
    /// `None` for a parameter: it has the kind of the objects that are passed to it.
    kind: Option<Kind>,
    /// A constant tuple, or null, that a parameter may be as well.
    other: Option<Value>,
}

/// The kind of an object.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Kind {
    Tuple,
    /// Of named arguments, of which only frame states know.
    Dict,
    /// An instance of a user class, by the host's token, with the type that it has as long as no
    /// other code has it.
    Instance(u64, Type),
    Cell,
    /// This function, bound to an object.
    Method(ObjectHandle),
}

/// The place of a cell's content.
const CONTENT: u32 = 0;

impl Kind {
    /// The contents of an object that is allocated with these operands.
    fn contents(self, args: Vec<Value>, f: &Function) -> Contents {
        match self {
            Kind::Cell if *f.op(args[0]) == Op::Null => Contents::default(),
            Kind::Cell => Contents::default().with(CONTENT, args[0]),
            Kind::Method(_) => Contents::of_items(args[1..].to_vec()),
            Kind::Tuple | Kind::Dict | Kind::Instance(..) => Contents::of_items(args),
        }
    }

    /// The op of a virtual object that holds this.
    fn op(self, contents: &Contents) -> Op {
        match self {
            Kind::Tuple => Op::VirtualTuple,
            Kind::Dict => Op::VirtualDict,
            Kind::Instance(class, _) => Op::VirtualInstance(class, contents.places.clone()),
            Kind::Cell => Op::VirtualCell,
            Kind::Method(function) => Op::VirtualMethod(function),
        }
    }
}

/// The allocated objects and their uses.
struct Uses<'a> {
    world: &'a dyn World,
    /// True if an object may become virtual although it is allocated later, where it is needed.
    may_be_made: bool,
    /// Those that become virtual together or not at all, each in the order of the blocks.
    groups: Vec<Group>,
    /// The instructions that use each.
    users: FxHashMap<Value, Vec<Value>>,
    /// The virtual objects in which a value is.
    holders: FxHashMap<Value, Vec<Value>>,
}

impl<'a> Uses<'a> {
    /// `None` if no object is allocated.
    fn of(f: &Function, world: &'a dyn World) -> Option<Uses<'a>> {
        let mut made = Vec::new();
        for &b in &f.order {
            for (i, &object) in f.blocks[b].insts.iter().enumerate() {
                made.extend(candidate(f, world, object).map(|kind| Candidate {
                    object,
                    place: (b, i + 1),
                    kind: Some(kind),
                    other: None,
                }));
            }
        }
        if made.is_empty() {
            return None;
        }
        let groups = carried::groups(f, world, made);
        let mut users: FxHashMap<Value, Vec<Value>> = groups
            .iter()
            .flat_map(|group| &group.members)
            .map(|c| (c.object, Vec::new()))
            .collect();
        let mut holders = FxHashMap::<Value, Vec<Value>>::default();
        for &b in &f.order {
            for &v in &f.blocks[b].insts {
                let inst = &f.insts[v];
                for object in inst.args.iter().map(|a| f.object_of(*a)) {
                    if let Some(users) = users.get_mut(&object)
                        && users.last() != Some(&v)
                    {
                        users.push(v);
                    }
                    if inst.op.is_virtual_aggregate() {
                        holders.entry(object).or_default().push(v);
                    }
                }
            }
        }
        Some(Uses {
            world,
            may_be_made: false,
            groups,
            users,
            holders,
        })
    }

    /// The virtual objects that contain the object, directly or inside another object; `None` if
    /// they are nested too deeply.
    fn containers(&self, object: Value) -> Option<FxHashSet<Value>> {
        let mut all = FxHashSet::default();
        let mut level = vec![object];
        for _ in 0..MOST_LEVELS {
            let holders = level.iter().filter_map(|v| self.holders.get(v)).flatten();
            level = holders.copied().filter(|v| all.insert(*v)).collect();
            if level.is_empty() {
                return Some(all);
            }
        }
        None
    }
}

/// The kind of the object that an instruction allocates, if that may become virtual.
fn candidate(f: &Function, world: &dyn World, v: Value) -> Option<Kind> {
    let inst = &f.insts[v];
    match &inst.op {
        Op::General(GeneralOp::BuildTuple, _)
            if !inst.args.is_empty() && inst.args.iter().all(|a| is_object(f, *a)) =>
        {
            Some(Kind::Tuple)
        }
        Op::General(GeneralOp::BuildKeywords, _) if inst.args.iter().all(|a| is_object(f, *a)) => {
            let names = inst.args.iter().step_by(2);
            let is_kept = |name: &Value| matches!(f.op(f.object_of(*name)), Op::Const(name) if name.is_immortal());
            names.clone().all(is_kept).then_some(Kind::Dict)
        }
        Op::New(ty, call) => match world.instance_access(*ty, call)? {
            InstanceAccess::New(class) => Some(Kind::Instance(class, *ty)),
            _ => None,
        },
        Op::NewCell(_) => {
            let content = f.arg(v, 0);
            (*f.op(content) == Op::Null || is_object(f, content)).then_some(Kind::Cell)
        }
        Op::BindMethod => match *f.op(f.object_of(f.arg(v, 0))) {
            Op::Const(function) if is_object(f, f.arg(v, 1)) => Some(Kind::Method(function)),
            _ => None,
        },
        _ => None,
    }
}

fn is_object(f: &Function, v: Value) -> bool {
    f.ty(v) <= Type::OBJECT && !f.ty(v).is_bottom()
}

/// A use of the object, by its effect on the rewrite.
#[derive(Clone, Copy, PartialEq)]
enum Use {
    /// A reference is taken or dropped.
    Count,
    /// The object itself, of which more is known.
    Alias,
    /// The same, if it is bound.
    Bound,
    /// A tuple's length.
    Length,
    /// A tuple's item.
    Item(usize),
    /// A plan does it with an instance.
    Access(InstanceAccess),
    /// Reads the content of a cell.
    Get,
    /// Sets or clears the content of a cell.
    Set,
    /// The object must be there from here on.
    Make,
    /// Compares it with another object.
    Is(bool),
    /// It is named and nothing more.
    Name,
}

/// The contents of an object from one place of the function to another.
#[derive(Clone, Default)]
struct Contents {
    /// Of an instance, the place of each attribute, in the order in which they were first assigned.
    places: Vec<u32>,
    values: Vec<Value>,
}

impl Contents {
    /// The contents of a tuple, or of an instance without attributes.
    fn of_items(values: Vec<Value>) -> Contents {
        Contents {
            places: Vec::new(),
            values,
        }
    }

    /// The attribute at a place.
    fn get(&self, place: u32) -> Option<Value> {
        let at = self.places.iter().position(|known| *known == place)?;
        Some(self.values[at])
    }

    /// The same after an assignment.
    fn with(&self, place: u32, value: Value) -> Contents {
        let mut new = self.clone();
        match self.places.iter().position(|known| *known == place) {
            Some(at) => new.values[at] = value,
            None => {
                new.places.push(place);
                new.values.push(value);
            }
        }
        new
    }

    /// Returns true if an object may have either contents, each value in place of another: they
    /// have the same places.
    fn is_like(&self, other: &Contents) -> bool {
        self.places == other.places && self.values.len() == other.values.len()
    }

    /// The values of the object, in the order in which it drops them.
    fn dropped(&self, kind: Kind) -> Vec<Value> {
        match kind {
            Kind::Tuple | Kind::Cell | Kind::Method(_) => {
                self.values.iter().rev().copied().collect()
            }
            // The names are immortal.
            Kind::Dict => self.values.iter().skip(1).step_by(2).copied().collect(),
            Kind::Instance(..) => {
                let mut all: Vec<_> = self.places.iter().zip(&self.values).collect();
                all.sort_by_key(|(place, _)| **place);
                all.into_iter().map(|(_, value)| *value).collect()
            }
        }
    }
}

struct Plan {
    object: Value,
    kind: Kind,
    maybe: Option<Maybe>,
    uses: Vec<(Value, Use)>,
    found: Found,
}

/// The plans by which the objects of a group become virtual, and the contents of those that are
/// parameters.
fn plan(
    f: &mut Function,
    world: &Uses<'_>,
    cx: &Context<'_>,
    idom: &Dominators,
    steps: &mut usize,
    group: &Group,
) -> Option<(Vec<Plan>, Fields)> {
    let mut fields = Fields::new(group);
    let mut plans = Vec::new();
    // The contents of a parameter are known once those of an object that is passed to it are known.
    // So parameters come last.
    let (made, params): (Vec<_>, Vec<_>) = group.members.iter().partition(|c| c.kind.is_some());
    let mut work: VecDeque<&Candidate> = made.into_iter().chain(params).collect();
    let mut put_off = 0;
    while let Some(candidate) = work.pop_front() {
        if candidate.kind.is_none() && fields.held_by(candidate.object).is_none() {
            work.push_back(candidate);
            put_off += 1;
            if put_off > work.len() {
                return None;
            }
            continue;
        }
        put_off = 0;
        let &Candidate {
            object,
            place,
            kind,
            ..
        } = candidate;
        let (kind, made, maybe) = match kind {
            Some(kind) => {
                let args = f.insts[object].args.iter();
                let args = args.map(|a| f.resolve(*a)).collect();
                (kind, kind.contents(args, f), None)
            }
            None => fields.held_by(object)?,
        };
        let uses = uses(f, world, candidate, kind, made.values.len())?;
        let subject = Subject {
            object,
            start: place,
            made,
            may_be_shown: kind != Kind::Dict,
            uses: uses.iter().copied().collect(),
            containers: world.containers(object)?,
        };
        let found = followed(f, &subject, &fields, idom, steps)?;
        for passed in &found.passed {
            let contents = &found.versions[passed.version];
            fields.receive(f, passed.param, kind, contents)?;
        }
        plans.push(Plan {
            object,
            kind,
            maybe,
            uses,
            found,
        });
    }
    fields.settle(f, cx, &plans)?;
    Some((plans, fields))
}

/// The analysis of an object, with new parameters in the blocks that it reaches with different
/// contents.
fn followed(
    f: &mut Function,
    subject: &Subject,
    fields: &Fields,
    idom: &Dominators,
    steps: &mut usize,
) -> Option<Found> {
    let mut joins = BTreeMap::new();
    loop {
        let flow = Flow::new(f, subject, fields, &joins, steps);
        let (block, like) = match flow.run(idom) {
            Ok(found) => return Some(found),
            Err(Stop::Forbidden) => return None,
            Err(Stop::Join(block, like)) => (block, like),
        };
        let pc = f.blocks[block].entry_state.pc;
        let mut param = |_: &Value| {
            let param = Inst::proved(Op::Param, Vec::new(), Type::OBJECT, pc);
            f.insts.push(param)
        };
        let contents = Contents {
            values: like.values.iter().map(&mut param).collect(),
            places: like.places,
        };
        joins.insert(block, contents);
    }
}

impl Plan {
    /// Lets edges pass the object's values to the blocks that it reaches with different contents.
    fn join(&self, f: &mut Function) {
        for (&block, &version) in &self.found.joins {
            let params = self.found.versions[version].values.iter();
            let params = params.map(|param| (*param, Place::Field));
            f.blocks[block].params.extend(params);
        }
        for joined in &self.found.joined {
            let (from, n) = joined.edge;
            let values = &self.found.versions[joined.version].values;
            f.blocks[from].term.edges_mut()[n].args.extend(values);
        }
    }

    /// Rewrites all uses, except that `gone` gets the replacements of instructions that take or
    /// drop references, or assign.
    fn carry_out(&self, f: &mut Function, gone: &mut Gone) {
        let object = self.object;
        let versions = self.versions(f);
        for (block, version) in &self.found.joins {
            gone.first.push((*block, vec![versions[*version]]));
        }
        self.name_versions(f, &versions);
        self.make(f, &versions, gone);
        self.let_go(f);
        for &(v, u) in &self.uses {
            if self.found.is_made.contains(&v) {
                continue;
            }
            match u {
                Use::Alias => f.replace(v, object),
                Use::Bound => {
                    if let Some(maybe) = &self.maybe {
                        let check = f.insts.push(Inst {
                            op: Op::GuardTrue(Reason::Unbound),
                            args: vec![maybe.is_made],
                            ty: Type::BOTTOM,
                            ..f.insts[v].clone()
                        });
                        gone.instead.insert(v, vec![check]);
                    }
                    f.replace(v, object);
                }
                Use::Item(i) => {
                    // The place is known to be one of the tuple's.
                    let offset = f.arg(v, 1);
                    let inst = &mut f.insts[offset];
                    (inst.op, inst.state) = (Op::ConstInt(i as i64), None);
                    inst.args.clear();
                    f.replace(v, self.found.versions[0].values[i]);
                }
                Use::Length => {
                    let inst = &mut f.insts[v];
                    inst.op = Op::ConstInt(self.found.versions[0].values.len() as i64);
                    inst.args.clear();
                }
                Use::Is(same) => {
                    let inst = &mut f.insts[v];
                    inst.op = Op::ConstBool(same);
                    inst.args.clear();
                }
                Use::Get if !self.found.loads.contains_key(&v) => {
                    let inst = &mut f.insts[v];
                    (inst.op, inst.ty) = (Op::Null, Type::NULLPTR);
                    inst.args.clear();
                }
                Use::Get | Use::Access(InstanceAccess::Load(_)) => {
                    f.replace(v, self.found.loads[&v]);
                }
                Use::Set | Use::Access(InstanceAccess::Store(_)) => {
                    let (version, old) = self.found.stores[&v];
                    let mut instead = Vec::new();
                    let old = old.unwrap_or_else(|| {
                        let null = f.insts.push(Inst::proved(
                            Op::Null,
                            Vec::new(),
                            Type::NULLPTR,
                            f.insts[v].pc,
                        ));
                        instead.push(null);
                        null
                    });
                    instead.push(versions[version]);
                    f.replace(v, old);
                    gone.instead.insert(v, instead);
                }
                Use::Access(_) => {
                    gone.instead.insert(v, Vec::new());
                }
                Use::Count => match self.found.deaths.get(&v) {
                    Some(version) => {
                        let contents = &self.found.versions[*version];
                        gone.dropped.push((v, contents.dropped(self.kind)));
                    }
                    None => {
                        gone.instead.insert(v, Vec::new());
                    }
                },
                Use::Name | Use::Make => {}
            }
        }
        // No instruction needs to check the object's type.
        let mut relied_on = std::mem::take(&mut f.relied_on);
        relied_on.retain(|v| f.object_of(*v) != object);
        f.relied_on = relied_on;
    }

    /// The object from each assignment on; the first is itself.
    fn versions(&self, f: &mut Function) -> Vec<Value> {
        let first = &self.found.versions[0];
        let inst = &mut f.insts[self.object];
        (inst.state, inst.source) = (None, Source::Proved);
        inst.args.clone_from(&first.values);
        inst.op = self.kind.op(first);
        if let (Kind::Instance(_, ty), None) = (self.kind, &self.maybe) {
            inst.ty = ty;
        }
        let made = Inst {
            ty: inst.ty - Type::NULLPTR,
            ..inst.clone()
        };
        if let Some(maybe) = &self.maybe {
            inst.op = Op::VirtualIf;
            inst.args = vec![maybe.is_made, maybe.made, maybe.other];
            f.insts[maybe.made] = made.clone();
        }
        let mut versions = vec![self.object; self.found.versions.len()];
        let stored = self.found.stores.iter();
        let stored = stored.map(|(store, (version, _))| (*version, f.insts[*store].pc));
        let joined = self.found.joins.iter();
        let joined = joined.map(|(block, version)| (*version, f.blocks[*block].entry_state.pc));
        for (version, pc) in stored.chain(joined).collect::<Vec<_>>() {
            let contents = &self.found.versions[version];
            versions[version] = f.insts.push(Inst {
                op: self.kind.op(contents),
                args: contents.values.clone(),
                pc,
                ..made.clone()
            });
        }
        versions
    }

    /// Drops the values at the function's end that a local has as well.
    fn let_go(&self, f: &mut Function) {
        for &(b, item) in &self.found.shared {
            let Term::Return(result) = f.blocks[b].term else {
                unreachable!("{b} was found to return");
            };
            let pc = f.blocks[b].end;
            let takes = f.code.instr(pc).op == bytecode::Op::ReturnValue;
            let result = takes.then_some(Entry {
                value: result,
                owned: true,
            });
            let state = f.states.push(FrameState {
                pc,
                locals: f.blocks[b].out_locals.clone(),
                stack: result.into_iter().collect(),
                inlined: Vec::new(),
            });
            let dropped = f.insts.push(Inst {
                op: Op::Decref,
                args: vec![item],
                ty: Type::BOTTOM,
                source: Source::Proved,
                state: Some(state),
                pc,
            });
            f.blocks[b].insts.push(dropped);
        }
    }

    /// Allocates the object where it is needed, and lets the instructions behind name the allocated
    /// one.
    fn make(&self, f: &mut Function, versions: &[Value], gone: &mut Gone) {
        let object = self.object;
        for made in &self.found.made {
            let last = versions[made.version];
            let is_it = |f: &Function, v: Value| [object, last].contains(&f.object_of(v));
            let Inst {
                args, state, pc, ..
            } = f.insts[made.at].clone();
            // The interpreter has the tuple's items on its stack before the instruction.
            let mut before = f.states[state.expect("a tuple is made at a state")].clone();
            before.stack.extend(args.iter().map(|arg| Entry {
                value: match is_it(f, *arg) {
                    true => last,
                    false => *arg,
                },
                owned: true,
            }));
            let locals = (0u32..).zip(&before.locals).take(f.code.locals.len());
            let slots = locals.filter(|(_, local)| is_it(f, **local));
            let slots: Vec<u32> = slots.map(|(k, _)| k).collect();
            let values = &self.found.versions[made.version].values;
            let state = Some(f.states.push(before));
            let mut insts = Vec::new();
            let content = values.first().copied().unwrap_or_else(|| {
                let null = Inst::proved(Op::Null, Vec::new(), Type::NULLPTR, pc);
                insts.push(f.insts.push(null));
                insts[0]
            });
            let cell = f.insts.push(Inst {
                op: Op::NewCell(made.slot),
                args: vec![content],
                ty: Type::CELL,
                state,
                source: Source::Proved,
                pc,
            });
            insts.push(cell);
            let mut then = |op| {
                let inst = Inst::proved(op, vec![cell], Type::BOTTOM, pc);
                insts.push(f.insts.push(inst));
            };
            (1..made.count).for_each(|_| then(Op::Incref));
            // Nothing is in the slots of the locals that it is.
            slots.into_iter().for_each(|k| then(Op::StoreSlot(k)));
            gone.before.entry(made.at).or_default().extend(insts);
            for &(b, from) in &made.blocks {
                self.name_made(f, (last, cell), b, from);
            }
        }
    }

    /// In a block, from an instruction on, replaces the object (or its last version) by the one
    /// that was allocated.
    fn name_made(&self, f: &mut Function, (last, cell): (Value, Value), b: Block, from: usize) {
        let renaming = Renaming {
            object: self.object,
            last,
            now: cell,
        };
        let insts = f.blocks[b].insts[from..].to_vec();
        for v in insts {
            renaming.in_args(f, v);
            if let Some(id) = f.insts[v].state
                && f.states[id].values().any(|v| renaming.is_it(f, v))
            {
                let state = renaming.of_state(f, &f.states[id]);
                f.insts[v].state = Some(f.states.push(state));
            }
        }
        if from == 0 {
            f.blocks[b].entry_state = renaming.of_state(f, &f.blocks[b].entry_state);
        }
        renaming.in_out_locals(f, b);
        let mut term = f.blocks[b].term.clone();
        for edge in term.edges_mut() {
            renaming.among(f, &mut edge.args);
        }
        if let Term::Return(v) = &mut term {
            renaming.among(f, std::slice::from_mut(v));
        }
        f.blocks[b].term = term;
    }

    /// Lets each use of the object name the version that is valid there.
    fn name_versions(&self, f: &mut Function, versions: &[Value]) {
        let renaming = |version: usize| Renaming {
            object: self.object,
            last: self.object,
            now: versions[version],
        };
        let mut states: FxHashMap<(StateId, usize), StateId> = FxHashMap::default();
        // The first one is the object itself.
        for &(v, version) in self.found.named.iter().filter(|(_, version)| *version > 0) {
            let renaming = renaming(version);
            if let Some(id) = f.insts[v].state {
                let new = *states.entry((id, version)).or_insert_with(|| {
                    let state = renaming.of_state(f, &f.states[id]);
                    f.states.push(state)
                });
                f.insts[v].state = Some(new);
            }
            if f.insts[v].op.is_virtual_aggregate() || matches!(f.insts[v].op, Op::StoreSlot(_)) {
                renaming.in_args(f, v);
            }
        }
        for &(b, at_start, at_end) in &self.found.blocks {
            f.blocks[b].entry_state = renaming(at_start).of_state(f, &f.blocks[b].entry_state);
            renaming(at_end).in_out_locals(f, b);
        }
    }
}

/// The uses of an object name a value in its place.
struct Renaming {
    object: Value,
    /// Another value that is the object.
    last: Value,
    now: Value,
}

impl Renaming {
    fn is_it(&self, f: &Function, v: Value) -> bool {
        [self.object, self.last].contains(&f.object_of(v))
    }

    fn among(&self, f: &Function, values: &mut [Value]) {
        for v in values.iter_mut().filter(|v| self.is_it(f, **v)) {
            *v = self.now;
        }
    }

    fn of_state(&self, f: &Function, state: &FrameState) -> FrameState {
        let mut state = state.clone();
        state.change_values(|v| self.among(f, std::slice::from_mut(v)));
        state
    }

    fn in_args(&self, f: &mut Function, v: Value) {
        let mut args = std::mem::take(&mut f.insts[v].args);
        self.among(f, &mut args);
        f.insts[v].args = args;
    }

    fn in_out_locals(&self, f: &mut Function, b: Block) {
        let mut locals = std::mem::take(&mut f.blocks[b].out_locals);
        self.among(f, &mut locals);
        f.blocks[b].out_locals = locals;
    }
}

/// The drops in place of `death`, which deallocates an object.
fn drops(f: &mut Function, death: Value, items: Vec<Value>) -> Vec<Value> {
    let mut drops = Vec::new();
    for item in items {
        if is_uncounted(f, item) {
            continue;
        }
        let dropped = f.insts.push(Inst {
            args: vec![item],
            ..f.insts[death].clone()
        });
        if f.settled.contains(&death) {
            f.settled.insert(dropped);
        }
        drops.push(dropped);
    }
    drops
}

/// Returns true if the value has no reference that could be dropped: a virtual box, an immortal
/// constant, or a parameter of the kind that only such constants come to.
fn is_uncounted(f: &Function, v: Value) -> bool {
    let v = f.object_of(v);
    let is_immortal = |ty: Type| (ty & Type::OBJECT).mortal().is_bottom();
    match f.op(v) {
        Op::Const(object) => object.is_immortal(),
        Op::Param => is_immortal(f.ty(v)),
        _ => is_box(f, v),
    }
}

fn is_box(f: &Function, v: Value) -> bool {
    matches!(
        f.op(f.object_of(v)),
        Op::BoxInt | Op::BoxFloat | Op::BoxBool
    )
}

/// The use that each instruction makes of the object; `None` if one of them needs it allocated.
fn uses(
    f: &Function,
    world: &Uses<'_>,
    candidate: &Candidate,
    kind: Kind,
    count: usize,
) -> Option<Vec<(Value, Use)>> {
    let &Candidate { object, other, .. } = candidate;
    let is_cell = candidate.kind == Some(Kind::Cell);
    let ty = match kind {
        Kind::Instance(_, ty) => ty,
        _ => f.ty(object) - Type::NULLPTR,
    };
    let may_be_constant = other.is_some_and(|other| *f.op(other) != Op::Null);
    let is_it = |v: Value| f.object_of(v) == object;
    let found = |v: Value| {
        let inst = &f.insts[v];
        let is_bound = |v: Value| f.ty(v) <= Type::OBJECT;
        Some(match &inst.op {
            Op::Incref | Op::Decref => Use::Count,
            Op::StoreSlot(_) => Use::Name,
            Op::CellGet => Use::Get,
            Op::CellSet if !is_it(f.arg(v, 1)) => Use::Set,
            // Of a closure, mostly.
            Op::General(GeneralOp::BuildTuple, _) if is_cell && world.may_be_made => Use::Make,
            // It would have to be the second operand.
            Op::VirtualIf => return None,
            op if op.is_virtual_aggregate() => Use::Name,
            Op::Refine(known) if ty <= *known => Use::Alias,
            Op::GuardBound => Use::Bound,
            // Whether it is null was not tested.
            _ if inst.args.iter().any(|a| is_it(*a) && !is_bound(*a)) => return None,
            Op::GuardType(known) if ty <= *known => Use::Alias,
            Op::TupleLen => Use::Length,
            Op::TupleGet => Use::Item(constant_offset(f, object, count, f.arg(v, 1))?),
            Op::Is if may_be_constant => return None,
            Op::Is => Use::Is(inst.args.iter().all(|a| is_it(*a))),
            Op::Check(call)
            | Op::Load(call)
            | Op::Store(call)
            | Op::StoreQuiet(call)
            | Op::InitField(call) => {
                if inst
                    .args
                    .get(1)
                    .is_some_and(|a| is_it(*a) || !is_object(f, *a))
                {
                    return None;
                }
                Use::Access(world.world.instance_access(ty, call)?)
            }
            _ => return None,
        })
    };
    let users = world.users[&object].iter();
    users.map(|&v| Some((v, found(v)?))).collect()
}

/// The place that an access at `offset` means, if that is constant and there is such an item.
fn constant_offset(f: &Function, tuple: Value, count: usize, offset: Value) -> Option<usize> {
    let is_length = |v: Value| matches!(f.op(v), Op::TupleLen) && f.object_of(f.arg(v, 0)) == tuple;
    let place = match f.op(offset) {
        Op::ConstInt(n) => *n,
        Op::Index => {
            let Op::ConstInt(n) = *f.op(f.arg(offset, 0)) else {
                return None;
            };
            let length = f.arg(offset, 1);
            let known = matches!(f.op(length), Op::ConstInt(n) if *n == count as i64);
            if !known && !is_length(length) {
                return None;
            }
            if n < 0 { n + count as i64 } else { n }
        }
        _ => return None,
    };
    usize::try_from(place).ok().filter(|n| *n < count)
}
