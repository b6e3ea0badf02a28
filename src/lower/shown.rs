//! The known contents of the words after the frame, in which raw locals are published for code that
//! inspects the frame. A word that already holds its value at the start of a block is not stored
//! again.
//!
//! For example, in `def f(n): s = 0; for i in range(n): s += i` the locals `s` and `i` are raw.
//! Their words are stored only before a call-out, such as a handler of a signal that prints
//! `sys._getframe(1).f_locals`.

use super::{Lower, Repr};
use crate::hir::{Block, Function, Op, Place, Predecessors, Term, Value};
use crate::lir::Opcode;
use crate::ll::{Ty, Width};
use cranelift_entity::SecondaryMap;
use rustc_hash::FxHashMap;
use smallvec::{SmallVec, smallvec};

/// The number of cold places that need a word from which on a single store before all of them is
/// better.
const WORTH_A_STORE: u32 = 3;

/// The raw value that was last stored in each word: first the words of the locals, then those of
/// the flags that a local is bound.
pub(super) type Shadows = FxHashMap<u32, Value>;

/// The contents of the words at the start of a block that all edges so far agree on.
struct Arrival {
    edges: usize,
    position: Option<u32>,
    shadows: Shadows,
}

/// The contents of the words along the edges of a function, as it is lowered block by block.
pub(super) struct Shown {
    predecessors: Predecessors,
    /// The indexes of blocks in their order.
    places: SecondaryMap<Block, usize>,
    arrivals: FxHashMap<Block, Arrival>,
    /// The words at the entry of loops: each back edge restores them.
    loops: FxHashMap<Block, Vec<(u32, Value)>>,
    /// For each value, the number of exits and possible deallocations where a word could hold it.
    /// Counted at the first use.
    asked: Option<SecondaryMap<Value, u32>>,
}

impl Shown {
    pub(super) fn new(f: &Function) -> Shown {
        Shown {
            predecessors: f.predecessors(),
            places: f.places(),
            arrivals: FxHashMap::default(),
            loops: FxHashMap::default(),
            asked: None,
        }
    }
}

impl<'a> Lower<'a> {
    /// The words in which a local is published, with their raw values.
    pub(super) fn words(&self, k: usize, local: Value) -> SmallVec<[(u32, Value); 2]> {
        let bound_word = (self.f.code.locals.len() + k) as u32;
        match self.repr(local) {
            Repr::Int(raw) | Repr::Double(raw) | Repr::Bool(raw) => smallvec![(k as u32, raw)],
            Repr::IntIf(raw, bound) | Repr::DoubleIf(raw, bound) => {
                smallvec![(k as u32, raw), (bound_word, bound)]
            }
            _ => smallvec![],
        }
    }

    /// The locals at an instruction's exit.
    pub(super) fn locals_at(&self, v: Value) -> &'a [Value] {
        let state = self.f.inst(v).state;
        state.map_or(&[], |state| {
            &self.f.states[state].locals[..self.f.code.locals.len()]
        })
    }

    /// Before an instruction that may exit or deallocate an object: publishes values that many such
    /// places would have to publish, or to pass to an exit, each in its own cold block. Only in
    /// large functions, and where the store runs once per call.
    pub(super) fn show_ahead(&mut self, v: Value) {
        if self.policy.prefers_few(self.place) && self.asks(v) {
            self.publish_needed(self.locals_at(v), &[]);
        }
    }

    /// Returns true if an instruction may exit, or deallocate an object whose finaliser may inspect
    /// the frame.
    fn asks(&self, v: Value) -> bool {
        match self.f.op(v) {
            Op::Decref => self.f.drop_runs_host_code(self.f.arg(v, 0)),
            op => op.exit_reason().is_some(),
        }
    }

    /// Before a jump that enters a loop: publishes values that the loop does not change and that
    /// many places in it would have to publish or to pass.
    pub(super) fn show_before(&mut self, header: Block) {
        let data = &self.f.blocks[header];
        let enters = data.is_loop_header && self.shown.places[header] > self.place;
        if !enters || !self.policy.prefers_few_behind(self.place) {
            return;
        }
        let locals = &data.entry_state.locals[..self.f.code.locals.len()];
        self.publish_needed(locals, &data.params);
    }

    /// Publishes those of the locals that enough places need, except the parameters of a block that
    /// begins next.
    fn publish_needed(&mut self, locals: &[Value], params: &[(Value, Place)]) {
        // A closed unit has no frame.
        if self.closed.is_some() {
            return;
        }
        let asked = self
            .shown
            .asked
            .take()
            .unwrap_or_else(|| self.count_needs());
        for (k, local) in locals.iter().enumerate() {
            for (word, raw) in self.words(k, *local) {
                let is_known = || self.shadows.get(&word) == Some(&raw);
                let is_there = || params.iter().all(|(param, _)| *param != raw);
                if asked[raw] >= WORTH_A_STORE && !is_known() && is_there() {
                    self.show(word, raw);
                    self.shadows.insert(word, raw);
                }
            }
        }
        self.shown.asked = Some(asked);
    }

    fn count_needs(&self) -> SecondaryMap<Value, u32> {
        let mut counts = SecondaryMap::with_capacity(self.f.insts.len());
        for &v in self.f.order.iter().flat_map(|b| &self.f.blocks[*b].insts) {
            if self.asks(v) {
                for (k, local) in self.locals_at(v).iter().enumerate() {
                    for (_, raw) in self.words(k, *local) {
                        counts[raw] += 1;
                    }
                }
            }
        }
        counts
    }

    /// The word after the frame that holds a raw value, if it belongs to one of these locals and
    /// that local has the value. Publishing before an exit does not change such a word.
    pub(super) fn shown_as(&self, locals: &[Value], raw: Value) -> Option<u32> {
        // If the words are not after the frame, a record cannot refer to them.
        if self.resumed.is_some() || self.closed.is_some() {
            return None;
        }
        let count = self.f.code.locals.len();
        let is_of_local = |word: u32| {
            let k = word as usize % count;
            self.words(k, locals[k]).contains(&(word, raw))
        };
        let words = self.shadows.iter().filter(|(_, shown)| **shown == raw);
        let words = words.map(|(word, _)| *word);
        words.filter(|word| is_of_local(*word)).min()
    }

    /// Restores the words at the start of a block: those on which all edges agree. If some edges
    /// are still to come, the block is a loop header, and keeps the words of its locals; values
    /// that change in the loop are unknown.
    pub(super) fn arrive(&mut self, block: Block) {
        (self.position, self.shadows) = (None, Shadows::default());
        let Some(arrival) = self.shown.arrivals.remove(&block) else {
            return;
        };
        let from = &self.shown.predecessors[block];
        if arrival.edges == from.len() {
            (self.position, self.shadows) = (arrival.position, arrival.shadows);
            return;
        }
        let jumps = |b: &&Block| matches!(self.f.blocks[**b].term, Term::Jump(_));
        let jumps = from.iter().filter(jumps).count();
        if jumps < from.len() {
            return;
        }
        let locals = &self.f.blocks[block].entry_state.locals[..self.f.code.locals.len()];
        let stays = |shown: &(u32, Value)| {
            let k = shown.0 as usize % locals.len();
            self.words(k, locals[k]).contains(shown)
        };
        let mut kept: Vec<(u32, Value)> = arrival.shadows.into_iter().filter(stays).collect();
        kept.sort_unstable();
        self.shadows = kept.iter().copied().collect();
        self.shown.loops.insert(block, kept);
    }

    /// Notes the words at an edge to a block. At a loop's back edge, stores the words that the loop
    /// was entered with.
    pub(super) fn depart(&mut self, to: Block) {
        if let Some(kept) = self.shown.loops.get(&to) {
            for (word, shown) in kept.clone() {
                if self.shadows.get(&word) != Some(&shown) {
                    self.show(word, shown);
                }
            }
            return;
        }
        let Some(arrival) = self.shown.arrivals.get_mut(&to) else {
            let arrival = Arrival {
                edges: 1,
                position: self.position,
                shadows: self.shadows.clone(),
            };
            self.shown.arrivals.insert(to, arrival);
            return;
        };
        arrival.edges += 1;
        arrival.position = arrival.position.filter(|p| self.position == Some(*p));
        let here = &self.shadows;
        arrival
            .shadows
            .retain(|word, shown| here.get(word) == Some(shown));
    }

    /// Stores a raw value into its word.
    pub(super) fn show(&mut self, word: u32, shown: Value) {
        let value = self.raw(shown);
        let (width, value) = match self.b.func.values[value] {
            Ty::F64 => (Width::F64, value),
            Ty::Bool => (Width::I64, self.b.op(Opcode::B2i, &[value])),
            _ => (Width::I64, value),
        };
        self.store_word(width, word, value);
    }
}
