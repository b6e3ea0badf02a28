//! The places where an object that may become virtual is deallocated, and its contents at each
//! place: the references to it are counted along all paths.

use super::carried::{Fields, MOST_FIELDS};
use super::{CONTENT, Contents, Use, is_object};
use crate::bytecode::{self, GeneralOp};
use crate::facts::{InstanceAccess, LOCAL_WORDS};
use crate::hir::{Block, Edge, FrameState, Function, Op, Term, Value};
use cranelift_entity::{SecondaryMap, packed_option::PackedOption};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeMap;

pub(super) type Dominators = SecondaryMap<Block, PackedOption<Block>>;

/// The analysis of an object that may become virtual.
#[derive(Default)]
pub(super) struct Found {
    /// Its contents from each assignment on; the first are those that it was allocated with.
    pub versions: Vec<Contents>,
    /// The instructions that drop the last reference, with the version that is deallocated.
    pub deaths: FxHashMap<Value, usize>,
    /// The attribute that each load returns.
    pub loads: FxHashMap<Value, Value>,
    /// The version that each assignment creates, and the value that it overwrites.
    pub stores: BTreeMap<Value, (usize, Option<Value>)>,
    /// The instructions that name the object in their state or as an operand, with the version that
    /// it is there.
    pub named: Vec<(Value, usize)>,
    /// The blocks where it is known, with the versions at their start and end.
    pub blocks: Vec<(Block, usize, usize)>,
    /// The edges on which it becomes a parameter.
    pub passed: Vec<Passed>,
    /// The blocks that it reaches with different contents, with its version there.
    pub joins: BTreeMap<Block, usize>,
    /// The edges into those.
    pub joined: Vec<Joined>,
    /// The places where it is allocated after all.
    pub made: Vec<Made>,
    /// The instructions that use the allocated object.
    pub is_made: FxHashSet<Value>,
    /// The values at the function's end that no instruction could drop there.
    pub kept: Vec<Value>,
    /// The values at the function's end that a local has as well, by the block.
    pub shared: Vec<(Block, Value)>,
    /// The values that must have a class whose destructor runs no user code.
    pub quiet: Vec<Value>,
}

/// An edge on which the object becomes a parameter: the block it comes from, and the number of the
/// edge there.
pub(super) struct Passed {
    pub edge: (Block, usize),
    pub param: Value,
    /// The version that it is there.
    pub version: usize,
}

/// An edge into a block that the object reaches with different contents: the block that it comes
/// from, the number of the edge there, and the version on it.
pub(super) struct Joined {
    pub edge: (Block, usize),
    pub version: usize,
    /// The version that it is in the block.
    pub into: usize,
}

/// A place where the object is allocated, before an instruction that needs it.
pub(super) struct Made {
    pub at: Value,
    /// The local that the cell is for.
    pub slot: u32,
    /// The references that there are to it.
    pub count: usize,
    /// The version that it is there.
    pub version: usize,
    /// The blocks where it is allocated, each with the number of the first instruction behind that.
    pub blocks: Vec<(Block, usize)>,
}

/// The reason why an object can't be followed.
pub(super) enum Stop {
    /// The object can't be virtual.
    Forbidden,
    /// It reaches the block with different contents, each like the other.
    Join(Block, Contents),
}

/// The names of the object in a frame state.
#[derive(Clone, Copy, PartialEq)]
enum Mention {
    Itself,
    InAnother,
}

/// The state of the object at a place. If there is no reference, it is the first version.
#[derive(Clone, Copy, PartialEq)]
struct At {
    count: usize,
    version: usize,
    /// The number of the place behind which it is allocated; its references are not counted then.
    made: Option<usize>,
}

impl At {
    const GONE: At = At {
        count: 0,
        version: 0,
        made: None,
    };
}

/// The object that is followed, and the facts that are known of it before.
pub(super) struct Subject {
    pub object: Value,
    /// The block where it begins, and the place of the first instruction behind it there.
    pub start: (Block, usize),
    /// Its contents then.
    pub made: Contents,
    /// False if code that looks at the frame's locals must not find it: it could change a dict.
    pub may_be_shown: bool,
    pub uses: FxHashMap<Value, Use>,
    pub containers: FxHashSet<Value>,
}

/// The references to the object, counted along all paths.
pub(super) struct Flow<'a> {
    f: &'a Function,
    subject: &'a Subject,
    fields: &'a Fields,
    found: Found,
    /// Its contents in the blocks that it reaches with different ones.
    joins: &'a BTreeMap<Block, Contents>,
    /// The number of instructions that may still be looked at, for all objects together.
    steps: &'a mut usize,
}

impl<'a> Flow<'a> {
    pub(super) fn new(
        f: &'a Function,
        subject: &'a Subject,
        fields: &'a Fields,
        joins: &'a BTreeMap<Block, Contents>,
        steps: &'a mut usize,
    ) -> Flow<'a> {
        Flow {
            joins,
            f,
            subject,
            fields,
            found: Found {
                versions: vec![subject.made.clone()],
                ..Found::default()
            },
            steps,
        }
    }

    /// From behind the object.
    pub(super) fn run(mut self, idom: &Dominators) -> Result<Found, Stop> {
        match self.follow(idom) {
            Some(None) => Ok(self.found),
            Some(Some((block, like))) => Err(Stop::Join(block, like)),
            None => Err(Stop::Forbidden),
        }
    }

    /// The first block that it reaches with different contents; `None` if it can't be virtual.
    fn follow(&mut self, idom: &Dominators) -> Option<Option<(Block, Contents)>> {
        let (f, (home, start)) = (self.f, self.subject.start);
        let made = At {
            count: 1,
            version: 0,
            made: None,
        };
        for (block, contents) in self.joins {
            self.found.joins.insert(*block, self.found.versions.len());
            self.found.versions.push(contents.clone());
        }
        let mut known: FxHashMap<Block, At> = FxHashMap::default();
        let mut work = vec![(home, start, made)];
        while let Some((b, from, at)) = work.pop() {
            let end = self.block(b, from, at)?;
            match at.made {
                Some(made) => self.found.made[made].blocks.push((b, 0)),
                None => self.found.blocks.push((b, at.version, end.version)),
            }
            for (n, edge) in f.blocks[b].term.edges().into_iter().enumerate() {
                let next = edge.block;
                let end = self.pass((b, n), edge, end)?;
                let is_landing_of_it = f.landing(b) == Some((self.subject.object, next));
                if is_landing_of_it {
                    continue;
                }
                if !self.dominates(home, next, idom)? {
                    // If the object is not known, it could not be dropped.
                    if end.count > 0 && end.made.is_none() {
                        return None;
                    }
                    continue;
                }
                let end = self.join((b, n), next, end)?;
                match known.get(&next) {
                    Some(known) if *known != end => {
                        let like = self.can_join(*known, end)?;
                        return Some(Some((next, like)));
                    }
                    Some(_) => {}
                    None => {
                        known.insert(next, end);
                        work.push((next, 0, end));
                    }
                }
            }
        }
        Some(None)
    }

    /// The state of the object at a block's start, by an edge into it.
    fn join(&mut self, edge: (Block, usize), next: Block, at: At) -> Option<At> {
        let Some(&version) = self.found.joins.get(&next) else {
            return Some(at);
        };
        let is_like = self.found.versions[version].is_like(&self.found.versions[at.version]);
        if at.count == 0 || at.made.is_some() || !is_like {
            return None;
        }
        self.found.joined.push(Joined {
            edge,
            version: at.version,
            into: version,
        });
        Some(At { version, ..at })
    }

    /// The contents of the object on one of two edges into a block, if it may reach it with
    /// different ones.
    fn can_join(&self, a: At, b: At) -> Option<Contents> {
        let [held, other] = [a, b].map(|at| &self.found.versions[at.version]);
        let is_one = a.count == b.count && a.made.is_none() && b.made.is_none();
        // An object in another one is the version of when that was allocated.
        let is_alone =
            self.subject.containers.is_empty() && self.fields.maybe(self.subject.object).is_none();
        let may = is_one && is_alone && held.is_like(other) && held.values.len() <= MOST_FIELDS;
        may.then(|| held.clone())
    }

    /// The state of the object on an edge: it has no reference any more if it becomes a parameter
    /// there.
    fn pass(&mut self, from: (Block, usize), edge: &Edge, at: At) -> Option<At> {
        let f = self.f;
        *self.steps = self.steps.checked_sub(edge.args.len())?;
        if at.made.is_some() {
            return Some(at);
        }
        let mut passed =
            (0..edge.args.len()).filter(|i| f.object_of(edge.args[*i]) == self.subject.object);
        let Some(index) = passed.next() else {
            return Some(at);
        };
        let (param, _) = f.blocks[edge.block].params[index];
        // Two parameters would be one object, and another reference has no owner any more.
        if passed.next().is_some() || at.count != 1 || !self.fields.is_holder(param) {
            return None;
        }
        self.found.passed.push(Passed {
            edge: from,
            param,
            version: at.version,
        });
        Some(At::GONE)
    }

    /// Returns true if every path to `b` passes `home` before it; `None` if that takes too long to
    /// find out.
    fn dominates(&mut self, home: Block, mut b: Block, idom: &Dominators) -> Option<bool> {
        if b == home {
            return Some(false);
        }
        while b != home {
            *self.steps = self.steps.checked_sub(1)?;
            match idom[b].expand() {
                Some(up) if up != b => b = up,
                _ => return Some(false),
            }
        }
        Some(true)
    }

    /// The state at the end of a block.
    fn block(&mut self, b: Block, from: usize, mut at: At) -> Option<At> {
        let f = self.f;
        for (i, &v) in f.blocks[b].insts.iter().enumerate().skip(from) {
            *self.steps = self.steps.checked_sub(1)?;
            let inst = &f.insts[v];
            let state = inst.state.map(|s| &f.states[s]);
            let used = self.subject.uses.get(&v).copied();
            if at.made.is_some() {
                self.found.is_made.extend(used.map(|_| v));
                continue;
            }
            let is_named = state.is_some_and(|state| self.is_named(state));
            if is_named || used == Some(Use::Name) {
                self.found.named.push((v, at.version));
            }
            let counted = used == Some(Use::Count);
            match used {
                Some(Use::Count) if inst.op == Op::Incref => at.count += 1,
                Some(Use::Count) => {
                    at.count = at.count.checked_sub(1)?;
                    if at.count == 0 {
                        self.found.deaths.insert(v, at.version);
                        at.version = 0;
                    }
                }
                Some(Use::Access(access)) => at.version = self.access(v, access, at.version)?,
                Some(Use::Get) => {
                    let content = self.found.versions[at.version].get(CONTENT);
                    self.found.loads.extend(content.map(|content| (v, content)));
                }
                Some(Use::Set) => at.version = self.set(v, at.version)?,
                Some(Use::Make) => {
                    at = self.make(b, i, at)?;
                    self.found.is_made.insert(v);
                    continue;
                }
                // Two live objects are different objects; of a deallocated one nothing is known.
                Some(Use::Is(_)) if at.count == 0 => return None,
                _ => {}
            }
            let Some(state) = state else {
                continue;
            };
            // A frame that is suspended has real objects, and a generator takes over those of the
            // frame that makes it.
            let suspends = matches!(
                inst.op,
                Op::Yield(_) | Op::General(GeneralOp::MakeGenerator, _)
            );
            if suspends && is_named {
                return None;
            }
            let leaves = inst.op.exit_reason().is_some() || inst.op.raises();
            if leaves && is_named != (at.count > 0) {
                return None;
            }
            let shown = inst.op.raises() || f.may_run_host_code(v);
            if shown && !(counted && at.count > 0) {
                let seen = self.seen(&state.locals, at)?;
                if seen > 0 && self.is_on_stack(state) {
                    return None;
                }
            }
        }
        let data = &f.blocks[b];
        if let Term::Return(v) = data.term
            && at.made.is_none()
        {
            let held = self.seen(&data.out_locals, at)?;
            if held != at.count || f.object_of(v) == self.subject.object {
                return None;
            }
            // The frame's end drops the objects in slots, in their order; these are in none.
            if at.count > 0 {
                let items = &self.found.versions[at.version].values;
                let (shared, kept): (Vec<Value>, _) =
                    items.iter().partition(|item| self.is_shared(b, **item));
                self.found.kept.extend(kept);
                self.found
                    .shared
                    .extend(shared.into_iter().map(|item| (b, item)));
            }
        }
        Some(at)
    }

    /// The effect of a plan on the instance; returns the version from there on.
    fn access(&mut self, v: Value, access: InstanceAccess, version: usize) -> Option<usize> {
        let f = self.f;
        let contents = &self.found.versions[version];
        let holds = match access {
            InstanceAccess::New(_) => false,
            InstanceAccess::Load(place) => {
                self.found.loads.insert(v, contents.get(place)?);
                true
            }
            InstanceAccess::Store(place) => {
                let value = f.arg(v, 1);
                // An object in another one is the version of when that was allocated.
                let state = f.insts[v].state.map(|s| &f.states[s]);
                let mut named = state.iter().flat_map(|s| s.values());
                let is_within = named.any(|v| self.mention(v) == Some(Mention::InAnother));
                if !is_object(f, value) || is_within {
                    return None;
                }
                let (old, new) = (contents.get(place), contents.with(place, value));
                let version = self.found.versions.len();
                self.found.versions.push(new);
                self.found.stores.insert(v, (version, old));
                return Some(version);
            }
            InstanceAccess::Holds => true,
            InstanceAccess::Lacks(place) => contents.get(place).is_none(),
            InstanceAccess::LacksFrom(place) => contents.places.iter().all(|p| *p < place),
            InstanceAccess::Quiet(place) => {
                self.found.quiet.extend(contents.get(place));
                true
            }
        };
        holds.then_some(version)
    }

    /// Sets or clears the content of a cell; returns the version from there on.
    fn set(&mut self, v: Value, version: usize) -> Option<usize> {
        let f = self.f;
        let value = f.arg(v, 1);
        let old = &self.found.versions[version];
        let new = match *f.op(value) == Op::Null {
            true => Contents::default(),
            false => old.with(CONTENT, value),
        };
        // An object in another one is the version of when that was allocated.
        let is_it = f.object_of(value) == self.subject.object;
        if !self.subject.containers.is_empty()
            || is_it
            || !(is_object(f, value) || new.values.is_empty())
        {
            return None;
        }
        let (old, version) = (old.get(CONTENT), self.found.versions.len());
        self.found.versions.push(new);
        self.found.stores.insert(v, (version, old));
        Some(version)
    }

    /// A cell is allocated before an instruction of a block that makes a tuple.
    fn make(&mut self, b: Block, i: usize, at: At) -> Option<At> {
        let f = self.f;
        let v = f.blocks[b].insts[i];
        let Op::NewCell(slot) = *f.op(self.subject.object) else {
            return None;
        };
        // It was allocated for this instruction already.
        let Found { stores, loads, .. } = &self.found;
        if b == self.subject.start.0 && stores.is_empty() && loads.is_empty() {
            return None;
        }
        let state = &f.states[f.insts[v].state?];
        let is_bytecode = f.code.instr(state.pc).op == bytecode::Op::BuildTuple;
        if !is_bytecode
            || !state.inlined.is_empty()
            || !self.subject.containers.is_empty()
            || at.count == 0
        {
            return None;
        }
        let made = self.found.made.len();
        self.found.made.push(Made {
            at: v,
            slot,
            count: at.count,
            version: at.version,
            blocks: vec![(b, i)],
        });
        Some(At {
            made: Some(made),
            ..At::GONE
        })
    }

    fn is_named(&self, state: &FrameState) -> bool {
        state.values().any(|v| self.mention(v).is_some())
    }

    /// Returns true if an entry of the stack, or an inlined frame, names the object.
    fn is_on_stack(&self, state: &FrameState) -> bool {
        let locals = state.locals.len();
        let mut others = state.values().skip(locals);
        others.any(|v| self.mention(v).is_some())
    }

    fn mention(&self, v: Value) -> Option<Mention> {
        let v = self.f.object_of(v);
        if v == self.subject.object {
            return Some(Mention::Itself);
        }
        self.subject
            .containers
            .contains(&v)
            .then_some(Mention::InAnother)
    }

    /// These locals may be visible to introspection: the number of those that have the object, if
    /// it can be shown in them.
    fn seen(&self, locals: &[Value], at: At) -> Option<usize> {
        let mut held = 0;
        for &local in locals {
            match self.mention(local) {
                None => {}
                Some(Mention::Itself) if at.count > 0 && self.can_be_seen(at.version) => held += 1,
                Some(_) => return None,
            }
        }
        Some(held)
    }

    /// Returns true if a local has the object's value at the end of a block that returns, so that
    /// the value is deallocated where it would be with the object, as far as that is observable.
    fn is_shared(&self, b: Block, item: Value) -> bool {
        let f = self.f;
        let data = &f.blocks[b];
        let locals = &data.out_locals[..f.code.locals.len().min(data.out_locals.len())];
        let last = |v: Value| locals.iter().rposition(|local| f.object_of(*local) == v);
        let (Some(own), Some(other)) = (last(self.subject.object), last(f.object_of(item))) else {
            return false;
        };
        let is_quiet = |local: &Value| {
            let op = f.op(f.object_of(*local));
            op.is_virtual_aggregate() || !f.drop_runs_host_code(*local)
        };
        let between = locals.get(other + 1..own).unwrap_or(&[]);
        f.names.is_empty() && is_object(f, item) && between.iter().all(is_quiet)
    }

    fn can_be_seen(&self, version: usize) -> bool {
        let items = &self.found.versions[version].values;
        let maybe = self.fields.maybe(self.subject.object);
        let words = maybe
            .filter(|_| version == 0)
            .map_or(0, |maybe| maybe.words(self.f));
        self.subject.may_be_shown
            && items.len() + words <= LOCAL_WORDS
            && items.iter().all(|v| {
                let op = self.f.op(self.f.object_of(*v));
                !(op.is_virtual_aggregate() || matches!(op, Op::BoxIntIf | Op::BoxFloatIf))
            })
    }
}
