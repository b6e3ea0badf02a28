//! Virtual objects where paths join: a local that is one of them on each edge into a block, each
//! time another one, is a parameter of the block. The block gets their fields in its place.
//!
//! Objects and parameters that are passed to each other are a group, of which all become virtual or
//! none. The parameter owns the only reference, so the object that an edge passes has no other name
//! afterwards, and it is not observable which of them is which.
//!
//! Besides them, an edge may pass one constant of the code: null, since most locals of a loop are
//! unbound before it, or a tuple. For a tuple the parameters get its items, so code that reads an
//! item need not know which one it is; only an exit does. For null they get nulls.

use super::{Candidate, Contents, Kind, Plan, Use, is_uncounted};
use crate::facts::{Source, World};
use crate::hir::{Block, Function, Inst, Op, Place, Term, Value};
use crate::opt::{Context, unbox};
use crate::types::Type;
use rustc_hash::FxHashMap;

/// The most parameters in place of one.
pub(super) const MOST_FIELDS: usize = 16;

/// Objects that become virtual together or not at all.
#[derive(Default)]
pub(super) struct Group {
    /// In the order of the blocks.
    pub members: Vec<Candidate>,
    /// The edges on which a constant comes.
    others: Vec<Other>,
}

/// An edge on which a constant tuple comes to a parameter, or null.
#[derive(Clone, Copy)]
struct Other {
    edge: (Block, usize),
    param: Value,
    value: Value,
}

/// The allocated objects, with the parameters that only they are passed to, as far as none of them
/// is passed elsewhere.
pub(super) fn groups(f: &Function, world: &dyn World, made: Vec<Candidate>) -> Vec<Group> {
    let mut order = Vec::new();
    let mut made = made.into_iter().peekable();
    for &b in &f.order {
        for &(param, place) in &f.blocks[b].params {
            if matches!(place, Place::Local(_) | Place::Field) {
                order.push(Candidate {
                    object: param,
                    place: (b, 0),
                    kind: None,
                    other: None,
                });
            }
        }
        while let Some(object) = made.next_if(|c| c.place.0 == b) {
            order.push(object);
        }
    }
    let places = order.iter().enumerate();
    let places: FxHashMap<Value, usize> = places.map(|(place, c)| (c.object, place)).collect();
    let mut sets = Sets((0..order.len()).collect());
    let mut is_lost = vec![false; order.len()];
    let mut others = Vec::new();
    let mut passed: FxHashMap<usize, Vec<usize>> = FxHashMap::default();
    for &b in &f.order {
        let term = &f.blocks[b].term;
        for (n, edge) in term.edges().into_iter().enumerate() {
            for (&arg, (param, _)) in edge.args.iter().zip(&f.blocks[edge.block].params) {
                let value = f.object_of(arg);
                match (places.get(&value), places.get(param)) {
                    (Some(&object), Some(&param)) => {
                        sets.join(object, param);
                        passed.entry(object).or_default().push(param);
                    }
                    (None, Some(_)) if is_constant(f, world, term, value) => others.push(Other {
                        edge: (b, n),
                        param: *param,
                        value,
                    }),
                    (Some(one), None) | (None, Some(one)) => is_lost[*one] = true,
                    (None, None) => {}
                }
            }
        }
        if let Term::Return(v) = term
            && let Some(returned) = places.get(&f.object_of(*v))
        {
            is_lost[*returned] = true;
        }
    }
    // A parameter that may be a constant passes that on.
    for &Other { param, value, .. } in &others {
        let mut work = vec![places[&param]];
        while let Some(place) = work.pop() {
            match order[place].other {
                Some(known) if is_same(f, known, value) => {}
                Some(_) => is_lost[place] = true,
                None => {
                    order[place].other = Some(value);
                    work.extend(passed.get(&place).into_iter().flatten());
                }
            }
        }
    }
    let mut by_set: Vec<Group> = order.iter().map(|_| Group::default()).collect();
    let mut is_set_lost = vec![false; order.len()];
    for (place, &candidate) in order.iter().enumerate() {
        let set = sets.of(place);
        is_set_lost[set] |= is_lost[place];
        by_set[set].members.push(candidate);
    }
    for other in others {
        let set = sets.of(places[&other.param]);
        by_set[set].others.push(other);
    }
    let found = by_set.into_iter().zip(is_set_lost);
    let has_made = |group: &Group| group.members.iter().any(|c| c.kind.is_some());
    let found = found.filter(|(group, is_lost)| !is_lost && has_made(group));
    found.map(|(group, _)| group).collect()
}

/// Returns true if a value is null, or a tuple of the code's own constants that only a jump passes.
fn is_constant(f: &Function, world: &dyn World, term: &Term, v: Value) -> bool {
    match *f.op(v) {
        Op::Null => true,
        Op::Const(tuple) => {
            let is_own = f.inst(v).source == Source::Proved && f.ty(v) <= Type::TUPLE_EXACT;
            let is_alone = matches!(term, Term::Jump(_));
            is_own && is_alone && world.tuple_items(tuple).is_some()
        }
        _ => false,
    }
}

fn is_same(f: &Function, a: Value, b: Value) -> bool {
    f.op(a) == f.op(b)
}

/// Disjoint sets of numbers: for each number another one of its set, or itself.
struct Sets(Vec<usize>);

impl Sets {
    fn of(&mut self, mut n: usize) -> usize {
        while self.0[n] != n {
            self.0[n] = self.0[self.0[n]];
            n = self.0[n];
        }
        n
    }

    fn join(&mut self, a: usize, b: usize) {
        let (a, b) = (self.of(a), self.of(b));
        // The first one of the group names it.
        self.0[a.max(b)] = a.min(b);
    }
}

/// The contents of a parameter that becomes virtual.
struct Held {
    kind: Kind,
    contents: Contents,
    maybe: Option<Maybe>,
}

/// A parameter that may be a constant.
#[derive(Clone, Copy)]
pub(super) struct Maybe {
    /// The parameter that is false if it is the constant.
    pub is_made: Value,
    /// The virtual object that it is then.
    pub made: Value,
    /// The constant.
    pub other: Value,
}

impl Maybe {
    /// The words behind a frame that showing it takes beside those of the items.
    pub(super) fn words(&self, f: &Function) -> usize {
        1 + usize::from(*f.op(self.other) != Op::Null)
    }
}

/// The contents of the parameters of a group.
pub(super) struct Fields {
    /// The parameters, in order. Their contents are known once the contents of one of the objects
    /// that are passed to them are known.
    params: Vec<Candidate>,
    held: FxHashMap<Value, Option<Held>>,
    others: Vec<Other>,
    /// The new parameters that must be raw.
    pub raw: Vec<(Block, Value)>,
}

impl Fields {
    pub(super) fn new(group: &Group) -> Fields {
        let params = group.members.iter().filter(|c| c.kind.is_none());
        let params: Vec<_> = params.copied().collect();
        Fields {
            held: params.iter().map(|param| (param.object, None)).collect(),
            params,
            others: group.others.clone(),
            raw: Vec::new(),
        }
    }

    /// Returns true if the parameter belongs to the group.
    pub(super) fn is_holder(&self, param: Value) -> bool {
        self.held.contains_key(&param)
    }

    /// The kind of a parameter, and its contents.
    pub(super) fn held_by(&self, param: Value) -> Option<(Kind, Contents, Option<Maybe>)> {
        let held = self.held.get(&param)?.as_ref()?;
        Some((held.kind, held.contents.clone(), held.maybe))
    }

    /// The constant that an object may be, if it is a parameter that may be one.
    pub(super) fn maybe(&self, object: Value) -> Option<Maybe> {
        self.held.get(&object)?.as_ref()?.maybe
    }

    /// An object comes to a parameter; `None` if it is not like others that do.
    pub(super) fn receive(
        &mut self,
        f: &mut Function,
        param: Value,
        kind: Kind,
        contents: &Contents,
    ) -> Option<()> {
        let held = self.held.get_mut(&param)?;
        if let Some(known) = held {
            let is_like = known.kind == kind && known.contents.is_like(contents);
            return is_like.then_some(());
        }
        if contents.values.len() > MOST_FIELDS {
            return None;
        }
        let pc = f.insts[param].pc;
        let mut push = |op: Op, ty: Type| f.insts.push(Inst::proved(op, Vec::new(), ty, pc));
        let values = contents.values.iter();
        let values = values.map(|_| push(Op::Param, Type::OBJECT)).collect();
        let candidate = self.params.iter().find(|c| c.object == param)?;
        let is_made = push(Op::Param, Type::CBOOL);
        let maybe = candidate.other.map(|other| {
            let (op, ty) = (f.op(other).clone(), f.ty(other));
            Maybe {
                is_made,
                // The plan has its kind.
                made: f.insts.push(f.insts[param].clone()),
                other: f.insts.push(Inst::proved(op, Vec::new(), ty, pc)),
            }
        });
        *held = Some(Held {
            kind,
            contents: Contents {
                places: contents.places.clone(),
                values,
            },
            maybe,
        });
        Some(())
    }

    /// Finds the types of the new parameters; `None` if a use needs a type that does not hold.
    pub(super) fn settle(
        &mut self,
        f: &mut Function,
        cx: &Context<'_>,
        plans: &[Plan],
    ) -> Option<()> {
        let stands_for = stands_for(plans);
        let (mut types, mut homes) = (FxHashMap::default(), FxHashMap::default());
        for Candidate { object, place, .. } in &self.params {
            for field in &self.held[object].as_ref()?.contents.values {
                types.insert(*field, Type::BOTTOM);
                homes.insert(*field, place.0);
            }
        }
        for found in plans.iter().map(|plan| &plan.found) {
            for (block, version) in &found.joins {
                for field in &found.versions[*version].values {
                    types.insert(*field, Type::BOTTOM);
                    homes.insert(*field, *block);
                }
            }
        }
        for Other { param, value, .. } in &self.others {
            let held = self.held[param].as_ref()?;
            let fields = &held.contents.values;
            let comes: Vec<Type> = match *f.op(*value) {
                Op::Const(tuple) if held.kind == Kind::Tuple => {
                    let items = cx.world.tuple_items(tuple)?;
                    items.into_iter().map(Type::from_object).collect()
                }
                Op::Null => vec![Type::NULLPTR; fields.len()],
                _ => return None,
            };
            if comes.len() != fields.len() {
                return None;
            }
            for (field, ty) in fields.iter().zip(comes) {
                let known = types[field];
                types.insert(*field, known.join(super::super::types::widen(ty)));
            }
        }
        // Types only grow, as those of all parameters do.
        let mut changed = true;
        while changed {
            changed = false;
            for (field, value) in self.arrivals(plans) {
                let root = root(f, &stands_for, value);
                let ty = match types.get(&root) {
                    Some(ty) => *ty,
                    None => f.ty(root),
                };
                // A guard may have a more precise type.
                let ty = if ty <= f.ty(value) { ty } else { f.ty(value) };
                let known = types[&field];
                let new = known.join(super::super::types::widen(ty));
                changed |= new != known;
                types.insert(field, new);
            }
        }
        for (field, ty) in &types {
            f.insts[*field].ty = *ty;
        }
        let found = plans.iter().map(|plan| &plan.found);
        for v in found.clone().flat_map(|found| &found.quiet) {
            if f.drop_runs_host_code(root(f, &stands_for, *v)) {
                return None;
            }
        }
        let mut raw = Vec::new();
        for v in found.flat_map(|found| &found.kept) {
            let v = root(f, &stands_for, *v);
            if is_uncounted(f, v) {
                continue;
            }
            let block = *homes.get(&v)?;
            if !unbox::can_be_raw(f, cx, block, v, Place::Field) {
                return None;
            }
            if !raw.contains(&(block, v)) {
                raw.push((block, v));
            }
        }
        for (field, value) in self.arrivals(plans) {
            let v = root(f, &stands_for, value);
            let is_raw = |v: Value| raw.iter().any(|(_, raw)| *raw == v);
            let ty = types.get(&v).copied().unwrap_or(f.ty(v));
            if is_raw(field) && !is_raw(v) && !unbox::can_come_raw(f, v, ty) {
                return None;
            }
        }
        self.raw = raw;
        Some(())
    }

    /// Each new parameter with each value that comes to it.
    fn arrivals<'a>(&'a self, plans: &'a [Plan]) -> impl Iterator<Item = (Value, Value)> + 'a {
        let passed = plans
            .iter()
            .flat_map(|plan| plan.found.passed.iter().map(move |passed| (plan, passed)));
        let passed = passed.flat_map(|(plan, passed)| {
            let held = self.held[&passed.param].as_ref();
            let fields = held.into_iter().flat_map(|held| &held.contents.values);
            let values = &plan.found.versions[passed.version].values;
            fields.copied().zip(values.iter().copied())
        });
        let joined = plans.iter().flat_map(|Plan { found, .. }| {
            let joined = found.joined.iter();
            joined.flat_map(|joined| {
                let [fields, values] = [joined.into, joined.version];
                let [fields, values] = [fields, values].map(|n| &found.versions[n].values);
                fields.iter().copied().zip(values.iter().copied())
            })
        });
        passed.chain(joined)
    }

    /// Lets edges pass the contents of the parameters in place of these. The virtual objects come
    /// at the start of their blocks.
    pub(super) fn travel(
        &self,
        f: &mut Function,
        cx: &Context<'_>,
        plans: &[Plan],
    ) -> Vec<(Block, Vec<Value>)> {
        let mut first = Vec::new();
        let mut edges: FxHashMap<Value, Vec<Arrival>> = FxHashMap::default();
        for plan in plans {
            for passed in &plan.found.passed {
                let maybe = plan.maybe.filter(|_| passed.version == 0);
                edges.entry(passed.param).or_default().push(Arrival {
                    edge: passed.edge,
                    is_made: maybe.map(|maybe| maybe.is_made),
                    values: plan.found.versions[passed.version].values.clone(),
                });
            }
        }
        for other in &self.others {
            let arrival = self.bring(f, cx, other);
            edges.entry(other.param).or_default().push(arrival);
        }
        for &Candidate { object, place, .. } in &self.params {
            let Some(held) = &self.held[&object] else {
                continue;
            };
            let block = &mut f.blocks[place.0];
            let params = block.params.iter();
            let index = params.clone().position(|(known, _)| *known == object);
            let index = index.expect("a parameter of its block");
            block.params.remove(index);
            let fields = held.contents.values.iter();
            block
                .params
                .extend(fields.map(|field| (*field, Place::Field)));
            let mut becomes = vec![object];
            if let Some(maybe) = held.maybe {
                block.params.push((maybe.is_made, Place::Carried));
                becomes = vec![maybe.other, maybe.made, object];
            }
            first.push((place.0, becomes));
            for arrival in edges.remove(&object).into_iter().flatten() {
                let (from, n) = arrival.edge;
                let is_made = held.maybe.map(|_| {
                    let append =
                        |f| unbox::append_constant(f, from, Op::ConstBool(true), Type::CBOOL);
                    arrival.is_made.unwrap_or_else(|| append(&mut *f))
                });
                let mut edges = f.blocks[from].term.edges_mut();
                let args = &mut edges[n].args;
                args.remove(index);
                args.extend(arrival.values);
                args.extend(is_made);
            }
        }
        first
    }

    /// Passes a parameter its constant: the items, each with a reference of its own. The code keeps
    /// the tuple alive.
    fn bring(&self, f: &mut Function, cx: &Context<'_>, other: &Other) -> Arrival {
        let &Other { edge, param, value } = other;
        let (block, target) = (edge.0, f.blocks[edge.0].term.edges()[edge.1].block);
        let pc = f.blocks[block].entry_state.pc;
        let add = |f: &mut Function, op: Op, args: Vec<Value>, ty: Type| {
            let v = f.insts.push(Inst::proved(op, args, ty, pc));
            f.blocks[block].insts.push(v);
            v
        };
        let is_made = add(f, Op::ConstBool(false), Vec::new(), Type::CBOOL);
        let held = self.held[&param].as_ref().expect("a group that is settled");
        let Op::Const(tuple) = *f.op(value) else {
            let nulls = held.contents.values.iter();
            let nulls = nulls.map(|_| add(f, Op::Null, Vec::new(), Type::NULLPTR));
            return Arrival {
                edge,
                is_made: Some(is_made),
                values: nulls.collect(),
            };
        };
        let mut values = Vec::new();
        for item in cx.world.tuple_items(tuple).into_iter().flatten() {
            let item = add(f, Op::Const(item), Vec::new(), Type::from_object(item));
            if !is_uncounted(f, item) {
                add(f, Op::Incref, vec![item], Type::BOTTOM);
            }
            values.push(item);
        }
        let params = &f.blocks[target].params;
        let place = params.iter().find(|(known, _)| *known == param);
        if let Some((_, Place::Local(k))) = place.copied() {
            let made = add(f, Op::VirtualTuple, values.clone(), Type::TUPLE_EXACT);
            let args = vec![is_made, made, value];
            let shown = add(f, Op::VirtualIf, args, f.ty(value));
            add(f, Op::StoreSlot(k), vec![shown], Type::BOTTOM);
            f.blocks[block].out_locals[k as usize] = shown;
        }
        if !is_uncounted(f, value) {
            add(f, Op::Decref, vec![value], Type::BOTTOM);
        }
        Arrival {
            edge,
            is_made: Some(is_made),
            values,
        }
    }
}

/// The value that an edge passes to a parameter.
struct Arrival {
    edge: (Block, usize),
    /// The flag that it is not the constant; `None` if it is never the constant.
    is_made: Option<Value>,
    values: Vec<Value>,
}

/// The results of the accesses that go.
fn stands_for(plans: &[Plan]) -> FxHashMap<Value, Value> {
    let mut all = FxHashMap::default();
    for Plan { uses, found, .. } in plans {
        all.extend(found.loads.iter().map(|(load, value)| (*load, *value)));
        let items = uses.iter().filter_map(|(v, u)| match u {
            Use::Item(i) => Some((*v, found.versions[0].values[*i])),
            _ => None,
        });
        all.extend(items);
    }
    all
}

/// The object that a value will be.
fn root(f: &Function, stands_for: &FxHashMap<Value, Value>, v: Value) -> Value {
    let mut v = f.object_of(v);
    while let Some(value) = stands_for.get(&v) {
        v = f.object_of(*value);
    }
    v
}
