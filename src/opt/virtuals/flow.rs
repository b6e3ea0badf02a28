//! Where an object dies that may become virtual, and what it holds at each place: the references to it, counted along all paths.

use super::carried::Fields;
use super::{Contents, Use, is_object};
use crate::facts::{InstanceAccess, LOCAL_WORDS};
use crate::hir::{Block, Edge, FrameState, Function, Op, Term, Value};
use cranelift_entity::{SecondaryMap, packed_option::PackedOption};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeMap;

pub(super) type Dominators = SecondaryMap<Block, PackedOption<Block>>;

/// What was found out of an object that may become virtual.
#[derive(Default)]
pub(super) struct Found {
    /// What it holds from each assignment on; the first is what it was made with.
    pub versions: Vec<Contents>,
    /// The instructions that drop the last reference, with the version that dies.
    pub deaths: FxHashMap<Value, usize>,
    /// The attribute that each load gives.
    pub loads: FxHashMap<Value, Value>,
    /// The version that each assignment makes, and the value that it takes out.
    pub stores: BTreeMap<Value, (usize, Option<Value>)>,
    /// The instructions that name the object in their state or as an operand, with the version that it is there.
    pub named: Vec<(Value, usize)>,
    /// The blocks where it is known, with the versions at their start and end.
    pub blocks: Vec<(Block, usize, usize)>,
    /// The edges on which it becomes a parameter.
    pub passed: Vec<Passed>,
    /// What it holds at the function's end, where nobody could drop that.
    pub kept: Vec<Value>,
    /// What must be of a class whose objects can be dropped without anybody noticing.
    pub quiet: Vec<Value>,
}

/// An edge on which the object becomes a parameter: the block it comes from, and the number of the edge there.
pub(super) struct Passed {
    pub edge: (Block, usize),
    pub param: Value,
    /// The version that it is there.
    pub version: usize,
}

/// How a frame state names the object.
#[derive(Clone, Copy, PartialEq)]
enum Mention {
    Itself,
    InAnother,
}

/// What is known of the object where control is. Where there is no reference, it is the first version.
#[derive(Clone, Copy, PartialEq)]
struct At {
    count: usize,
    version: usize,
}

/// The references to the object, counted along all paths.
pub(super) struct Flow<'a> {
    f: &'a Function,
    object: Value,
    uses: FxHashMap<Value, Use>,
    containers: FxHashSet<Value>,
    fields: &'a Fields,
    found: Found,
    /// What may still be looked at, for all objects together.
    steps: &'a mut usize,
}

impl<'a> Flow<'a> {
    pub(super) fn new(
        f: &'a Function,
        object: Value,
        made: Contents,
        uses: &[(Value, Use)],
        containers: FxHashSet<Value>,
        fields: &'a Fields,
        steps: &'a mut usize,
    ) -> Flow<'a> {
        Flow {
            f,
            object,
            uses: uses.iter().copied().collect(),
            containers,
            fields,
            found: Found {
                versions: vec![made],
                ..Found::default()
            },
            steps,
        }
    }

    /// From behind the object, at `start` in `home`; `None` if something forbids that it is virtual.
    pub(super) fn run(mut self, (home, start): (Block, usize), idom: &Dominators) -> Option<Found> {
        let f = self.f;
        let made = At {
            count: 1,
            version: 0,
        };
        let mut known: FxHashMap<Block, At> = FxHashMap::default();
        let mut work = vec![(home, start, made)];
        while let Some((b, from, at)) = work.pop() {
            let end = self.block(b, from, at)?;
            self.found.blocks.push((b, at.version, end.version));
            for (n, edge) in f.blocks[b].term.edges().into_iter().enumerate() {
                let next = edge.block;
                let end = self.pass((b, n), edge, end)?;
                let is_landing_of_it = f.landing(b) == Some((self.object, next));
                if is_landing_of_it {
                    continue;
                }
                if !self.dominates(home, next, idom)? {
                    // Where the object is not known, nobody could drop it.
                    if end.count > 0 {
                        return None;
                    }
                    continue;
                }
                match known.get(&next) {
                    Some(known) if *known != end => return None,
                    Some(_) => {}
                    None => {
                        known.insert(next, end);
                        work.push((next, 0, end));
                    }
                }
            }
        }
        Some(self.found)
    }

    /// What is known of the object on an edge: nothing refers to it any more if it becomes a parameter there.
    fn pass(&mut self, from: (Block, usize), edge: &Edge, at: At) -> Option<At> {
        let f = self.f;
        *self.steps = self.steps.checked_sub(edge.args.len())?;
        let mut passed = (0..edge.args.len()).filter(|i| f.object_of(edge.args[*i]) == self.object);
        let Some(index) = passed.next() else {
            return Some(at);
        };
        let (param, _) = f.blocks[edge.block].params[index];
        // Two parameters would be one object, and another reference has nobody any more who could be named.
        if passed.next().is_some() || at.count != 1 || !self.fields.is_holder(param) {
            return None;
        }
        self.found.passed.push(Passed {
            edge: from,
            param,
            version: at.version,
        });
        Some(At {
            count: 0,
            version: 0,
        })
    }

    /// Whether `b` is behind `home` on every path; `None` if that takes too long to find out.
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

    /// What is known at the end of a block.
    fn block(&mut self, b: Block, from: usize, mut at: At) -> Option<At> {
        let f = self.f;
        for &v in &f.blocks[b].insts[from..] {
            *self.steps = self.steps.checked_sub(1)?;
            let inst = &f.insts[v];
            let state = inst.state.map(|s| &f.states[s]);
            let used = self.uses.get(&v).copied();
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
                // Two objects of which both live are not one; of others nothing is known.
                Some(Use::Is(_)) if at.count == 0 => return None,
                _ => {}
            }
            let Some(state) = state else {
                continue;
            };
            // A frame that is suspended holds objects.
            if matches!(inst.op, Op::Yield(_)) && is_named {
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
        if let Term::Return(v) = data.term {
            let held = self.seen(&data.out_locals, at)?;
            if held != at.count || f.object_of(v) == self.object {
                return None;
            }
            // The frame's end drops what slots hold, in their order; these are in none.
            if at.count > 0 {
                let items = &self.found.versions[at.version].values;
                self.found.kept.extend(items);
            }
        }
        Some(at)
    }

    /// What a plan does with the instance; gives the version from there on.
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
                // What is in another object is there as it was when that was made.
                let state = f.insts[v].state.map(|s| &f.states[s])?;
                let mut named = state.values().map(|v| self.mention(v));
                if !is_object(f, value) || named.any(|m| m == Some(Mention::InAnother)) {
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

    fn is_named(&self, state: &FrameState) -> bool {
        state.values().any(|v| self.mention(v).is_some())
    }

    /// Whether an entry of the stack, or a frame within, names the object.
    fn is_on_stack(&self, state: &FrameState) -> bool {
        let locals = state.locals.len();
        let mut others = state.values().skip(locals);
        others.any(|v| self.mention(v).is_some())
    }

    fn mention(&self, v: Value) -> Option<Mention> {
        let v = self.f.object_of(v);
        if v == self.object {
            return Some(Mention::Itself);
        }
        self.containers.contains(&v).then_some(Mention::InAnother)
    }

    /// Others may look at these locals: the number of those that hold the object, if it can be shown in them.
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

    fn can_be_seen(&self, version: usize) -> bool {
        let items = &self.found.versions[version].values;
        let maybe = self.fields.maybe(self.object);
        let words = maybe
            .filter(|_| version == 0)
            .map_or(0, |maybe| maybe.words(self.f));
        items.len() + words <= LOCAL_WORDS
            && items.iter().all(|v| {
                let op = self.f.op(self.f.object_of(*v));
                !(op.is_virtual_aggregate() || matches!(op, Op::BoxIntIf | Op::BoxFloatIf))
            })
    }
}
