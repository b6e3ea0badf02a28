//! Scalar replacement: a tuple, an instance, a cell or a bound method that nothing but this
//! function can ever see is not made.
//!
//! A tuple whose only uses are frame states, slots of locals, and accesses at constant places
//! becomes a **virtual** one ([`Op::VirtualTuple`]): accesses give its items, exits make it from
//! them. The references that it owned are owned by nobody one could name, and dropped one by one
//! where the tuple would have died, the last item first, as a tuple drops them. So each item lives
//! exactly as long as with the tuple, and has the same count.
//!
//! An instance of a class of the program ([`Op::New`]) may be assigned to besides, by plans of
//! which the host says what they do with an object that nobody else has seen
//! ([`crate::facts::InstanceAccess`]). From one assignment to the next it is another
//! [`Op::VirtualInstance`], and states and slots name the one that is it there. It drops what its
//! attributes hold in the order of their places. Where paths meet on which it holds different
//! values, so does a loop's head, the block gets these as parameters, and it is another one from
//! there on.
//!
//! A cell ([`Op::NewCell`]) is such an instance with one place, which may be empty. What makes a
//! closure must have it: there it is made, with what it holds by then, and all that comes behind
//! names that one. So what a closure refers to that is made at a function's end, or on one path, is
//! no more than a local before. (Where that and a path on which it is not made meet, it is made at
//! once.)
//!
//! A bound method ([`Op::BindMethod`]) is a function that is known, with one item. Calls of it were
//! made calls of the function when the HIR was built, so that states and slots are all that names
//! it.
//!
//! A local that is such an object on every path into a block, each time another one, is one there
//! that nobody has made either (`carried.rs`): what it holds comes with the edges, as parameters of
//! the block ([`crate::hir::Place::Field`]). On some edges the local may be unbound, or a constant
//! tuple: another parameter tells ([`Op::VirtualIf`]).
//!
//! Where an object dies must be known: the references to it are counted along every path, and it
//! stays where the count is not the same on all paths to a block, where it would travel as another
//! block's parameter, or where an exit can be taken that does not name it while it lives. Whoever
//! looks at the frame's locals during a call-out (or after a return, through a frame object) must
//! find the object too, so there it may have no more items than there are words for; and then no
//! stack may name it, since what was made for the local is another object than what an exit makes
//! for the stack.
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

/// Make virtual what can be.
pub fn run(f: &mut Function, cx: &Context<'_>) -> bool {
    // Where a collector may move what an exit names, making one object must not let go of the
    // fields of the next.
    if !cx.lifetimes.are_counted() {
        return false;
    }
    let (mut changed, mut may_be_made) = (false, false);
    // What is in another object can follow once that is virtual.
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
            // Of what is in an object of this round, not all uses are known.
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
                // States that are copied where one is made name others as they are now.
                if may_be_made {
                    break;
                }
            }
        }
        if !found {
            // What need not be made at all comes first.
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

/// The instructions of a round that go.
#[derive(Default)]
struct Gone {
    /// What comes in place of each.
    instead: FxHashMap<Value, Vec<Value>>,
    /// What comes before one that stays.
    before: FxHashMap<Value, Vec<Value>>,
    /// Of those where an object ends, what is dropped there.
    dropped: Vec<(Value, Vec<Value>)>,
    /// What comes at the start of blocks. (Until then, instructions stand where they stood.)
    first: Vec<(Block, Vec<Value>)>,
}

/// What there is to be looked at in a block.
fn size_of(f: &Function, b: Block) -> usize {
    let data = &f.blocks[b];
    let args = data.term.edges().into_iter().map(|edge| edge.args.len());
    data.insts.len() + args.sum::<usize>()
}

/// Put into the blocks what stands for the references to objects that were taken and dropped, and
/// for what was done with them.
fn sweep(f: &mut Function, gone: Gone) {
    let Gone {
        instead: mut gone,
        mut before,
        dropped,
        first,
    } = gone;
    // Only now do all states say what is named where an object ends.
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

/// An object that may become virtual: one that is made, or a parameter that nothing else comes to.
#[derive(Clone, Copy)]
struct Candidate {
    object: Value,
    /// Where it has just been made: a block, and the number of its instructions up to there.
    place: (Block, usize),
    /// `None` for a parameter: it is what comes to it.
    kind: Option<Kind>,
    /// A constant tuple, or null, that a parameter may be as well.
    other: Option<Value>,
}

/// What kind of object it is.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Kind {
    Tuple,
    /// An instance of a class of the program, by the host's token, with the type that it has as
    /// long as nobody else has it.
    Instance(u64, Type),
    Cell,
    /// This function, bound to something.
    Method(ObjectHandle),
}

/// The place in a cell of what is in it.
const CONTENT: u32 = 0;

impl Kind {
    /// What an object holds that is made with these operands.
    fn contents(self, args: Vec<Value>, f: &Function) -> Contents {
        match self {
            Kind::Cell if *f.op(args[0]) == Op::Null => Contents::default(),
            Kind::Cell => Contents::default().with(CONTENT, args[0]),
            Kind::Method(_) => Contents::of_items(args[1..].to_vec()),
            Kind::Tuple | Kind::Instance(..) => Contents::of_items(args),
        }
    }

    /// The op of a virtual object that holds this.
    fn op(self, contents: &Contents) -> Op {
        match self {
            Kind::Tuple => Op::VirtualTuple,
            Kind::Instance(class, _) => Op::VirtualInstance(class, contents.places.clone()),
            Kind::Cell => Op::VirtualCell,
            Kind::Method(function) => Op::VirtualMethod(function),
        }
    }
}

/// The objects that are made, and who uses them.
struct Uses<'a> {
    world: &'a dyn World,
    /// Whether an object may be virtual that is made after all, where it must be there.
    may_be_made: bool,
    /// Those that become virtual together or not at all, each in the order of the blocks.
    groups: Vec<Group>,
    /// The instructions that use each.
    users: FxHashMap<Value, Vec<Value>>,
    /// The virtual objects in which a value is.
    holders: FxHashMap<Value, Vec<Value>>,
}

impl<'a> Uses<'a> {
    /// `None` if no object is made.
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

    /// The virtual objects that the object is in, or is in something that is in them; `None` if
    /// they are too many levels.
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

/// What kind of object an instruction makes, if that may become virtual.
fn candidate(f: &Function, world: &dyn World, v: Value) -> Option<Kind> {
    let inst = &f.insts[v];
    match &inst.op {
        Op::General(GeneralOp::BuildTuple, _)
            if !inst.args.is_empty() && inst.args.iter().all(|a| is_object(f, *a)) =>
        {
            Some(Kind::Tuple)
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

/// A use of the object, and what becomes of it.
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
    /// What is in a cell is read.
    Get,
    /// A cell gets something else, or nothing.
    Set,
    /// The object must be there from here on.
    Make,
    /// Whether it is another object.
    Is(bool),
    /// It is named and nothing more.
    Name,
}

/// What an object holds from one place of the function to another.
#[derive(Clone, Default)]
struct Contents {
    /// Of an instance, the place of each attribute, in the order in which they were first assigned.
    places: Vec<u32>,
    values: Vec<Value>,
}

impl Contents {
    /// What a tuple holds, or an instance without attributes.
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

    /// Whether an object of the one class may hold this as well as that, each value in place of
    /// another.
    fn is_like(&self, other: &Contents) -> bool {
        self.places == other.places && self.values.len() == other.values.len()
    }

    /// What the object holds, in the order in which it drops that.
    fn dropped(&self, kind: Kind) -> Vec<Value> {
        match kind {
            Kind::Tuple | Kind::Cell | Kind::Method(_) => {
                self.values.iter().rev().copied().collect()
            }
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

/// How the objects of a group become virtual, and what those hold that are parameters.
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
    // What a parameter holds is known once something has come to it.
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

/// What is found of an object, with new parameters in the blocks that it comes to holding one thing
/// or another.
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
    /// Let edges bring what the object holds from where they come, wherever that may be one thing
    /// or another.
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

    /// Change all but what takes and drops references, or assigns: what becomes of those, `gone`
    /// gets.
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
        // Nothing has to look at the object for its type to be believed.
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

    /// Drop what the object holds at the function's end and a local holds as well.
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

    /// Make the object where it must be there, and let all that comes behind name that one.
    fn make(&self, f: &mut Function, versions: &[Value], gone: &mut Gone) {
        let object = self.object;
        for made in &self.found.made {
            let last = versions[made.version];
            let is_it = |f: &Function, v: Value| [object, last].contains(&f.object_of(v));
            let Inst {
                args, state, pc, ..
            } = f.insts[made.at].clone();
            // The interpreter has what the tuple is made of on its stack before the instruction.
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

    /// In a block, from an instruction on, let the object (as itself, or as it was last) be the one
    /// that was made.
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

    /// Let whoever names the object name it as it is there.
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

/// What names an object names a value in its place.
struct Renaming {
    object: Value,
    /// Another value that stands for the object.
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

/// What an object's end does, in place of `death`.
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

/// Whether the value holds no reference that could be dropped: a box that is not made, or an object
/// that stays.
fn is_uncounted(f: &Function, v: Value) -> bool {
    let v = f.object_of(v);
    matches!(f.op(v), Op::Const(object) if object.is_immortal()) || is_box(f, v)
}

fn is_box(f: &Function, v: Value) -> bool {
    matches!(
        f.op(f.object_of(v)),
        Op::BoxInt | Op::BoxFloat | Op::BoxBool
    )
}

/// What every instruction that uses the object wants of it; `None` if one of them needs it to be
/// there.
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
            // Whether it is there was not looked at.
            _ if inst.args.iter().any(|a| is_it(*a) && !is_bound(*a)) => return None,
            Op::GuardType(known) if ty <= *known => Use::Alias,
            Op::TupleLen => Use::Length,
            Op::TupleGet => Use::Item(constant_offset(f, object, count, f.arg(v, 1))?),
            Op::Is if may_be_constant => return None,
            Op::Is => Use::Is(inst.args.iter().all(|a| is_it(*a))),
            Op::Check(call) | Op::Load(call) | Op::Store(call) | Op::StoreQuiet(call) => {
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
