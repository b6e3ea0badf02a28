//! The driver: chooses the next block to analyse, and stops at the fixpoint.
//!
//! A block is *pending*, *blocked* or *done*. A block is analysed from its first instruction on. An
//! operation on an impossible value blocks it there, until the operand becomes possible. A block is
//! notified of changes to every fact that it has read. So a blocked block is revived, and the call
//! sites of a function are analysed again when its result is more general.
//!
//! All stored facts only grow more general, and every decision (budgets included) depends on stored
//! facts, not on the time at which they were stored. So the result does not depend on the order in
//! which blocks are taken.

use super::annset::{AnnotationSet, Reader};
use super::identity::{Identity, Kind, Slot};
use super::names::Names;
use super::predicate::Env;
use super::program::{FuncId, Program};
use super::special::{Group, Plan, Site};
use super::trace::Trace;
use super::value::{Facts, Sv};
use crate::facts::Source;
use crate::hir::{Block, Function, Value};
use crate::types::Type;
use cranelift_entity::{
    EntityRef, PrimaryMap, SecondaryMap, entity_impl, packed_option::PackedOption,
};
use rustc_hash::FxHashSet;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// A function analysed for one group of its call sites.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct VersionId(u32);
entity_impl!(VersionId, "version");

/// The key that distinguishes the versions of a function.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct VersionKey {
    pub func: FuncId,
    /// The argument types of the call sites that it is for. None for all other sites.
    pub group: Option<Group>,
    /// The number of arguments that `*args` takes up.
    pub extra: u32,
    /// The namespace, for a module's or a class's body.
    pub namespace: Option<Identity>,
}

/// The state of a block's analysis.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Status {
    /// Waits to be analysed.
    Pending,
    /// Stopped at an operation.
    Blocked(Value),
    /// Analysed; no fact that it has read has changed since.
    Done,
}

/// The facts that arrive on an edge.
#[derive(Clone, Default, PartialEq)]
pub(super) struct EdgeIn {
    pub env: Env,
    /// For each parameter, the predicates that hold if it is true and those that hold if it is
    /// false. None if it cannot be so.
    pub tests: Vec<[Option<Env>; 2]>,
}

/// A block of a version.
#[derive(Clone)]
pub(super) struct BlockState {
    pub reader: Reader,
    pub reached: bool,
    pub status: Status,
    /// The facts that arrive on each followed edge, by the edge's source block and its number
    /// there.
    pub edges: BTreeMap<(Block, u8), EdgeIn>,
    pub env: Env,
    /// For a landing block: the exceptions that arrive.
    pub exception: Option<Sv>,
    /// The number of times it was analysed.
    pub visits: u32,
    /// The operation at which the last analysis of the block stopped.
    pub stops: Option<Value>,
}

/// A version.
pub(super) struct Version {
    pub key: VersionKey,
    pub params: Vec<Sv>,
    /// The cells of the closure.
    pub free: Vec<Sv>,
    pub ret: Sv,
    pub raised: Sv,
    pub bindings: SecondaryMap<Value, PackedOption<Sv>>,
    own: SecondaryMap<Value, PackedOption<Sv>>,
    pub outputs: HashMap<(Value, u32), Sv>,
    pub blocks: SecondaryMap<Block, Option<BlockState>>,
    /// Each block's place in reverse postorder.
    pub rank: SecondaryMap<Block, u32>,
    /// The last use of each value.
    pub last_use: SecondaryMap<Value, u32>,
    /// The block that defines each value.
    pub home: SecondaryMap<Value, PackedOption<Block>>,
}

/// The engine's position.
#[derive(Clone, Copy)]
pub(super) struct Here {
    pub version: VersionId,
    pub block: Block,
    pub reader: Reader,
    pub op: Value,
}

/// Budgets of the analysis, and the order in which blocks are taken.
#[derive(Clone, Debug)]
pub struct Options {
    /// Take blocks in an order that follows from this number, instead of the best one.
    pub shuffle: Option<u64>,
    /// Keep a text of the steps.
    pub trace: bool,
    /// The most versions of one function. A function that would have more gets one.
    pub max_versions: usize,
    /// The most rounds. Each round separates call sites by the facts of the round before.
    pub max_rounds: usize,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            shuffle: None,
            trace: false,
            max_versions: 4,
            max_rounds: 4,
        }
    }
}

/// Readers from this number on are not blocks, but functions that outside code calls, each by its
/// identity.
pub(super) const BEYOND: u32 = 1 << 31;

/// The most functions into which one call site is followed. A call of more is treated as unknown.
pub const MAX_CALLEES: usize = 32;

/// The state of a running analysis.
pub(super) struct Engine<'p> {
    pub program: &'p Program,
    pub set: AnnotationSet,
    pub versions: PrimaryMap<VersionId, Version>,
    pub by_key: BTreeMap<VersionKey, VersionId>,
    pub plan: &'p Plan,
    places: Vec<(VersionId, Block)>,
    pending: BTreeSet<(u32, u32, u32, Reader)>,
    queued: BTreeMap<Reader, (u32, u32, u32, Reader)>,
    random: Option<u64>,
    /// Identities by the place that allocates their objects.
    pub sites: BTreeMap<(VersionId, Value, u32), Identity>,
    /// The names of the module.
    pub globals: Identity,
    pub builtins: HashMap<&'static str, Identity>,
    /// The body of each user class.
    pub bodies: HashMap<Identity, FuncId>,
    /// Classes that are created at one place which runs once.
    pub made_once: BTreeSet<Identity>,
    /// The facts about names that follow from the program's text.
    pub names: Names,
    /// All exceptions that some handler has caught.
    pub handled: Sv,
    /// Namespaces of bodies that outside code runs.
    pub foreign: BTreeMap<FuncId, Identity>,
    /// Identities of program functions that are reached without a place that creates them.
    pub plain_functions: BTreeMap<FuncId, Identity>,
    /// Represents code outside the analysed program: every object that flows here escapes.
    pub sink: Sv,
    pub here: Here,
    /// The exceptions that the current operation raises.
    pub raises: Facts,
    /// The weakest source of the current operation's operands.
    pub weakest: Source,
    /// The argument types of each call of a program function.
    pub calls: BTreeMap<Site, BTreeMap<FuncId, Vec<Facts>>>,
    /// Call sites with too many possible callees.
    pub crowded: BTreeSet<Site>,
    /// The number of operations evaluated.
    pub steps: u64,
    pub trace: Trace,
    /// In a [unit](super::unit): the slots that are read again.
    pub unit: Option<FxHashSet<u32>>,
    called_from_beyond: BTreeSet<Identity>,
}

impl<'p> Engine<'p> {
    pub fn new(program: &'p Program, plan: &'p Plan, options: &Options) -> Engine<'p> {
        let mut set = AnnotationSet::new();
        let globals = set.identity(Kind::Namespace, "<module>");
        set.publish(globals);
        let sink = set.beyond();
        let handled = set.fresh(Facts::IMPOSSIBLE);
        let nowhere = Here {
            version: VersionId::new(0),
            block: Block::new(0),
            reader: Reader(u32::MAX),
            op: Value::new(0),
        };
        Engine {
            program,
            set,
            versions: PrimaryMap::new(),
            by_key: BTreeMap::new(),
            plan,
            places: Vec::new(),
            pending: BTreeSet::new(),
            queued: BTreeMap::new(),
            random: options.shuffle,
            sites: BTreeMap::new(),
            globals,
            builtins: HashMap::new(),
            bodies: HashMap::new(),
            made_once: BTreeSet::new(),
            names: Names::new(program),
            handled,
            foreign: BTreeMap::new(),
            plain_functions: BTreeMap::new(),
            sink,
            here: nowhere,
            raises: Facts::IMPOSSIBLE,
            weakest: Source::Proved,
            calls: BTreeMap::new(),
            crowded: BTreeSet::new(),
            steps: 0,
            trace: Trace::new(options.trace),
            unit: None,
            called_from_beyond: BTreeSet::new(),
        }
    }

    pub fn function(&self, version: VersionId) -> &'p Function {
        let program: &'p Program = self.program;
        &program.functions[self.versions[version].key.func]
    }

    /// The version for this key. A new one starts with its first block pending.
    pub fn version(&mut self, key: VersionKey) -> VersionId {
        if let Some(&version) = self.by_key.get(&key) {
            return version;
        }
        let f = &self.program.functions[key.func];
        let mut slots =
            |n: usize| -> Vec<Sv> { (0..n).map(|_| self.set.fresh(Facts::IMPOSSIBLE)).collect() };
        let params = slots(f.code.arity() as usize);
        let locals = f.code.locals.iter();
        let free = locals.filter(|local| local.1 == crate::bytecode::LocalKind::Free);
        let free = slots(free.count());
        let (ret, raised) = (slots(1)[0], slots(1)[0]);
        let (mut rank, mut home) = (SecondaryMap::new(), SecondaryMap::new());
        let mut last_use = SecondaryMap::new();
        for (index, &block) in f.order.iter().enumerate() {
            rank[block] = index as u32;
            let data = &f.blocks[block];
            for v in data.insts.iter().chain(data.params.iter().map(|p| &p.0)) {
                home[*v] = block.into();
                for arg in &f.insts[*v].args {
                    last_use[*arg] = index as u32;
                }
            }
            let args = data.term.edges().into_iter().flat_map(|edge| &edge.args);
            args.for_each(|arg| last_use[*arg] = index as u32);
            if let crate::hir::Term::Return(v) = data.term {
                last_use[v] = index as u32;
            }
        }
        let id = self.versions.push(Version {
            key: key.clone(),
            params,
            free,
            ret,
            raised,
            bindings: SecondaryMap::new(),
            own: SecondaryMap::new(),
            outputs: HashMap::new(),
            blocks: SecondaryMap::new(),
            rank,
            last_use,
            home,
        });
        self.by_key.insert(key, id);
        self.reach(id, f.entry());
        id
    }

    // ---- the work list
    // --------------------------------------------------------------------------------------------

    /// The state of a block, created on the first request.
    pub fn block(&mut self, version: VersionId, block: Block) -> &mut BlockState {
        if self.versions[version].blocks[block].is_none() {
            let reader = Reader(self.places.len() as u32);
            self.places.push((version, block));
            self.versions[version].blocks[block] = Some(BlockState {
                reader,
                reached: false,
                status: Status::Done,
                edges: BTreeMap::new(),
                env: Env::new(),
                exception: None,
                visits: 0,
                stops: None,
            });
        }
        self.versions[version].blocks[block]
            .as_mut()
            .expect("made above")
    }

    /// Marks a block as reached, and queues it.
    pub fn reach(&mut self, version: VersionId, block: Block) {
        let state = self.block(version, block);
        state.reached = true;
        let reader = state.reader;
        self.queue(reader);
    }

    fn queue(&mut self, reader: Reader) {
        if let Some(id) = reader.0.checked_sub(BEYOND) {
            self.call_from_beyond(Identity::from_u32(id));
            return;
        }
        let Some(&(version, block)) = self.places.get(reader.0 as usize) else {
            return;
        };
        let rank = self.versions[version].rank[block];
        let state = self.block(version, block);
        if !state.reached {
            return;
        }
        let (visits, before) = (state.visits, state.status);
        state.status = Status::Pending;
        if self.queued.contains_key(&reader) {
            return;
        }
        if visits > 0 && self.trace.on {
            let name = self.place_name(version, block);
            self.trace
                .queued(&name, matches!(before, Status::Blocked(_)));
        }
        let entry = (visits, version.as_u32(), rank, reader);
        self.queued.insert(reader, entry);
        self.pending.insert(entry);
    }

    fn next(&mut self) -> Option<Reader> {
        let entry = match &mut self.random {
            None => *self.pending.first()?,
            Some(state) => {
                *state = state
                    .wrapping_mul(6364136223846793005)
                    .wrapping_add(1442695040888963407);
                let index = (*state >> 33) as usize % self.pending.len().max(1);
                *self.pending.iter().nth(index)?
            }
        };
        self.pending.remove(&entry);
        self.queued.remove(&entry.3);
        Some(entry.3)
    }

    /// Analyses blocks until none is pending.
    pub fn run(&mut self) {
        self.run_within(u64::MAX);
    }

    /// Analyses blocks until none is pending or `most` operations were evaluated. Returns true if
    /// none is pending.
    pub fn run_within(&mut self, most: u64) -> bool {
        self.notify_readers();
        while let Some(reader) = self.next() {
            if self.steps > most {
                return false;
            }
            let (version, block) = self.places[reader.0 as usize];
            self.look(version, block);
            self.notify_readers();
        }
        true
    }

    /// Recomputes the sources of the final facts, and the arguments of call sites. Earlier results
    /// do not count: a fact with a weaker source, or a callee, that was noted while less was known.
    /// All reached blocks are analysed once more.
    pub fn find_sources(&mut self) {
        self.trace.on = false;
        self.calls.clear();
        self.crowded.clear();
        self.set.forget_sources();
        for reader in 0..self.places.len() as u32 {
            self.queue(Reader(reader));
        }
    }

    /// Queues the readers of widened facts, and analyses the functions that outside code may call.
    fn notify_readers(&mut self) {
        loop {
            let changed = self.set.take_changed();
            let escaped = std::mem::take(&mut self.set.escaped);
            if changed.is_empty() && escaped.is_empty() {
                return;
            }
            for reader in changed {
                self.queue(reader);
            }
            for id in escaped {
                if self.called_from_beyond.insert(id) {
                    self.call_from_beyond(id);
                }
            }
        }
    }

    fn look(&mut self, version: VersionId, block: Block) {
        let name = self.place_name(version, block);
        self.trace.analyse(&name);
        let state = self.block(version, block);
        state.visits += 1;
        state.status = Status::Done;
        let reader = state.reader;
        self.here = Here {
            version,
            block,
            reader,
            op: Value::new(0),
        };
        self.enter_block();
        let f = self.function(version);
        let mut end = None;
        for &v in &f.blocks[block].insts {
            self.here.op = v;
            self.steps += 1;
            self.raises = Facts::IMPOSSIBLE;
            self.weakest = Source::Proved;
            let outcome = self.transfer(v);
            let outcome = self.weakened(outcome);
            let goes_on = self.bind(v, outcome);
            if self.is_protected(v) {
                self.land();
            } else if !self.raises.is_impossible() {
                let raised = self.versions[version].raised;
                let facts = self.raises.clone();
                self.set.widen(raised, facts);
            }
            if !goes_on {
                end = Some(v);
                break;
            }
        }
        self.block(version, block).stops = end;
        if end.is_none() {
            self.leave_block();
        }
    }

    /// Limits the source of a new value to the weakest source of the operands.
    fn weakened(&self, outcome: Outcome) -> Outcome {
        match outcome {
            Outcome::Value(facts) => Outcome::Value(facts.because(self.weakest)),
            other => other,
        }
    }

    /// Records the result of an operation. Returns true if the operation returns.
    fn bind(&mut self, v: Value, outcome: Outcome) -> bool {
        let version = self.here.version;
        match outcome {
            Outcome::Nothing => return true,
            Outcome::Never => return false,
            Outcome::Blocked => {
                if self.trace.on {
                    self.trace.blocked(&self.op_text(v));
                }
                let block = self.here.block;
                self.block(version, block).status = Status::Blocked(v);
                return false;
            }
            Outcome::Value(facts) if facts.is_impossible() => {
                return self.bind(v, Outcome::Blocked);
            }
            Outcome::Value(facts) => self.bind_facts(v, facts),
            Outcome::Same(sv) => {
                let sv = self.set.find(sv);
                let facts = self.set.read(sv, self.here.reader);
                if facts.is_impossible() {
                    return self.bind(v, Outcome::Blocked);
                }
                match self.versions[version].bindings[v].expand() {
                    None => self.versions[version].bindings[v] = sv.into(),
                    Some(old) if self.set.find(old) == sv => {}
                    Some(_) => self.bind_facts(v, facts),
                }
            }
        }
        if self.trace.on {
            let sv = self.binding(v);
            let text = self.describe(sv);
            self.trace.bound(v, &text);
        }
        true
    }

    /// Joins facts into the value's own abstract value.
    pub fn bind_facts(&mut self, v: Value, facts: Facts) {
        let version = self.here.version;
        let own = match self.versions[version].own[v].expand() {
            Some(own) => own,
            None => {
                let own = self.set.fresh(Facts::IMPOSSIBLE);
                self.versions[version].own[v] = own.into();
                own
            }
        };
        let bound = self.versions[version].bindings[v].expand();
        if bound != Some(own) {
            if let Some(old) = bound {
                // Readers of the value have read the one that it shared.
                self.set.tell(old);
                self.set.flow(old, own);
            }
            self.versions[version].bindings[v] = own.into();
        }
        self.set.widen(own, facts);
    }

    /// The abstract value of a value.
    pub fn binding(&self, v: Value) -> Sv {
        self.versions[self.here.version].bindings[v]
            .expand()
            .map_or(Sv::IMPOSSIBLE, |sv| self.set.find(sv))
    }

    /// The facts about a value at this place, refined by the branches on the path here.
    pub fn read(&mut self, v: Value) -> Facts {
        let sv = self.binding(v);
        let version = &self.versions[self.here.version];
        let f = &self.program.functions[version.key.func];
        // A value that this block computes is computed again whenever the block is analysed.
        let is_own = version.home[v].expand() == Some(self.here.block)
            && version.own[v].expand() == Some(sv)
            && !matches!(f.insts[v].op, crate::hir::Op::Param);
        let mut facts = if is_own {
            self.set.get(sv)
        } else {
            self.set.read(sv, self.here.reader)
        };
        let (version, block) = (self.here.version, self.here.block);
        let env = std::mem::take(&mut self.block(version, block).env);
        for (subject, predicate) in &env {
            if *subject == v {
                facts = self.refine(facts, predicate);
            }
        }
        self.block(version, block).env = env;
        facts
    }

    /// Notes that the operation may raise this.
    pub fn raise(&mut self, facts: Facts) {
        // No fact relies on the exceptions that may be raised.
        let source = Source::Proved;
        self.raises = self.raises.join(&Facts { source, ..facts });
    }

    /// The identity of the objects that the current operation allocates.
    pub fn site(&mut self, which: u32, kind: Kind, name: &str) -> Identity {
        let key = (self.here.version, self.here.op, which);
        if let Some(&id) = self.sites.get(&key) {
            return id;
        }
        let id = self.set.identity(kind, name);
        self.sites.insert(key, id);
        id
    }

    /// Reads a slot of an identity.
    pub fn read_slot(&mut self, id: Identity, slot: Slot) -> (Sv, Facts) {
        let holds_objects = slot != Slot::Content;
        let sv = self.set.slot(id, slot);
        let mut facts = self.set.read(sv, self.here.reader);
        // Slots hold objects; only a cell may be empty.
        if holds_objects {
            facts.ty -= Type::NULLPTR;
        }
        (sv, facts)
    }

    /// The facts about an argument whose type the caller promises: a check guards them.
    pub fn entry_facts(ty: Type) -> Facts {
        Facts::of_type(ty).because(Source::Guarded)
    }
}

/// The result of an operation.
pub(super) enum Outcome {
    /// A value.
    Value(Facts),
    /// A value that exists already.
    Same(Sv),
    /// No value; the operation returns.
    Nothing,
    /// An operand is impossible so far.
    Blocked,
    /// The operation never returns.
    Never,
}
