//! Loops over a range count in a register.
//!
//! Only the loop has the iterator of `for i in range(n)`: `iter` has just allocated it, only the
//! operand stack has a reference, and no collector tracks it. So the loop need not keep it up to
//! date, and its state becomes parameters of the loop. If the bounds are known
//! ([`GeneralOp::RangeIter`]), it is not allocated at all: frame states name a
//! [`virtual_range_iter`](Op::VirtualRangeIter), which an exit materialises. Otherwise they name
//! the iterator as a [`range_at`](Op::RangeAt), which an exit writes back. (Scalar replacement, in
//! the second case of the fields only: at its end a loop drops the object without reading it.)
//!
//! With the step 1, the number of values left follows from the next value.

use super::Context;
use crate::bytecode::{ConstValue, GeneralOp};
use crate::hir::{
    Block, Cmp, Edge, FrameState, Function, Inst, Op, Place, Predecessors, StateId, Term, Value,
};
use crate::types::Type;
use cranelift_entity::SecondaryMap;
use cranelift_entity::packed_option::PackedOption;
use rustc_hash::FxHashMap;

/// A loop over an iterator that only the loop may have.
pub(super) struct Loop {
    /// The block that advances the iterator.
    pub header: Block,
    /// The instruction that does.
    pub next: Value,
    /// The iterator, of which the class is known.
    pub iter: Value,
    /// The instruction that allocates the iterator.
    pub made: Value,
    /// The one block that leads into the loop.
    pub before: Block,
    /// The first block of each iteration.
    pub body: Block,
    /// The uses of the object, which [`naming`] finds.
    pub named: Vec<Mention>,
}

/// An instruction or a place that names an object, or defines it.
#[derive(Clone, Copy)]
pub(super) struct Mention {
    block: Block,
    by: Namer,
    /// True if the object is an operand.
    is_operand: bool,
    /// The number of times that the frame state names it.
    times: u32,
    /// True if a stack of the frame state names it.
    is_on_stack: bool,
}

/// The places of a block that name an object.
#[derive(Clone, Copy, PartialEq)]
enum Namer {
    /// This instruction, or its frame state.
    Inst(Value),
    /// The frame state that the block begins with.
    Entry,
    /// The values that the block passes on.
    End,
}

/// The operands of a [`GeneralOp::RangeIter`].
#[derive(Clone, Copy)]
struct Bounds {
    start: Bound,
    end: Bound,
    step: i64,
}

#[derive(Clone, Copy)]
enum Bound {
    Raw(Value),
    Constant(i64),
}

/// Count in registers.
pub fn run(f: &mut Function, cx: &Context<'_>) -> bool {
    // A frame that is suspended must have its objects up to date.
    let mut insts = f.order.iter().flat_map(|&b| &f.blocks[b].insts);
    if insts.any(|v| matches!(f.op(*v), Op::Yield(_) | Op::ResumePoint)) {
        return false;
    }
    let asks = |cond: &Value| *f.op(*cond) == Op::RangeNext;
    let counts = |b: &Block| matches!(&f.blocks[*b].term, Term::Branch { cond, .. } if asks(cond));
    let headers: Vec<Block> = f.order.iter().copied().filter(counts).collect();
    if headers.is_empty() {
        return false;
    }
    let mut tree = Tree::of(f);
    let found = headers
        .iter()
        .filter_map(|header| find_loop(f, &tree, *header));
    let mut named = naming(f, found.map(|found| found.made));
    let mut changed = false;
    for header in headers {
        // Blocks that only an exception of the range reached have been removed.
        if !f.order.contains(&header) {
            continue;
        }
        let Some(mut found) = find_loop(f, &tree, header) else {
            continue;
        };
        found.named = named.remove(&found.made).unwrap_or_default();
        if let Some(bounds) = asked_for(f, cx, &found)
            && is_private(f, &tree, &found, &[])
        {
            match bounds {
                // If a collector may move objects that an exit names, exits do not materialise
                // objects.
                Some(bounds) if cx.lifetimes.are_counted() => {
                    if unmake(f, &tree, &found, bounds) {
                        tree = Tree::of(f);
                    }
                }
                _ => keep_outside(f, &tree, &found, bounds),
            }
            changed = true;
        }
    }
    changed
}

/// The places that name objects, or define them, block by block.
fn naming(
    f: &Function,
    objects: impl IntoIterator<Item = Value>,
) -> FxHashMap<Value, Vec<Mention>> {
    let mut named: FxHashMap<Value, Vec<Mention>> =
        objects.into_iter().map(|v| (v, Vec::new())).collect();
    // A value that is one of them.
    let mut aliases: SecondaryMap<Value, PackedOption<Value>> =
        SecondaryMap::with_capacity(f.insts.len());
    for &v in f.order.iter().flat_map(|b| &f.blocks[*b].insts) {
        let object = f.object_of(v);
        if named.contains_key(&object) {
            aliases[v] = object.into();
        }
    }
    let object_of = |v: Value| aliases[f.resolve(v)].expand();
    // Those that one place names.
    let mut here: Vec<(Value, Mention)> = Vec::new();
    let note = |here: &mut Vec<(Value, Mention)>, block: Block, by, v: Value| -> Option<usize> {
        let object = object_of(v)?;
        let known = here.iter().position(|(known, _)| *known == object);
        known.or_else(|| {
            let mention = Mention {
                block,
                by,
                is_operand: false,
                times: 0,
                is_on_stack: false,
            };
            here.push((object, mention));
            Some(here.len() - 1)
        })
    };
    let note_state = |here: &mut Vec<(Value, Mention)>, block, by, state: &FrameState| {
        for v in state.values() {
            if let Some(at) = note(here, block, by, v) {
                here[at].1.times += 1;
            }
        }
        if !here.is_empty() {
            let inlined = state.inlined.iter().flat_map(|frame| &frame.stack);
            for entry in state.stack.iter().chain(inlined) {
                if let Some(at) = note(here, block, by, entry.value) {
                    here[at].1.is_on_stack = true;
                }
            }
        }
    };
    for &b in &f.order {
        let data = &f.blocks[b];
        let mut settle = |here: &mut Vec<(Value, Mention)>| {
            for (object, mention) in here.drain(..) {
                let mentions = named.get_mut(&object).expect("one of the objects");
                mentions.push(mention);
            }
        };
        note_state(&mut here, b, Namer::Entry, &data.entry_state);
        settle(&mut here);
        for &v in &data.insts {
            let by = Namer::Inst(v);
            note(&mut here, b, by, v);
            let inst = f.inst(v);
            for &arg in &inst.args {
                if let Some(at) = note(&mut here, b, by, arg) {
                    here[at].1.is_operand = true;
                }
            }
            if let Some(state) = inst.state {
                note_state(&mut here, b, by, &f.states[state]);
            }
            settle(&mut here);
        }
        let last = match data.term {
            Term::Branch { cond: v, .. } | Term::Return(v) => Some(v),
            _ => None,
        };
        let given = data.term.edges().into_iter().flat_map(|edge| &edge.args);
        for &v in given.chain(&data.out_locals).chain(&last) {
            note(&mut here, b, Namer::End, v);
        }
        settle(&mut here);
    }
    named
}

/// The dominators, and the predecessors.
pub(super) struct Tree {
    idom: SecondaryMap<Block, PackedOption<Block>>,
    preds: Predecessors,
}

impl Tree {
    pub fn of(f: &Function) -> Tree {
        Tree {
            idom: f.dominators(),
            preds: f.predecessors(),
        }
    }

    /// The blocks that lead to a block, once for each edge.
    pub fn predecessors(&self, b: Block) -> &[Block] {
        &self.preds[b]
    }

    /// The immediate dominator of a block; none of the entry.
    pub fn dominator(&self, b: Block) -> Option<Block> {
        self.idom[b].expand().filter(|up| *up != b)
    }

    /// The one block that leads into a loop from outside, if there is one and it does nothing else,
    /// and those that lead back to its head.
    pub fn ways_into(&self, f: &Function, header: Block) -> Option<(Block, Vec<Block>)> {
        let preds = self.preds[header].iter();
        let (back, outside): (Vec<Block>, Vec<Block>) =
            preds.partition(|p| self.dominates(header, **p));
        match outside[..] {
            [before] if !back.is_empty() && matches!(f.blocks[before].term, Term::Jump(_)) => {
                Some((before, back))
            }
            _ => None,
        }
    }

    pub fn dominates(&self, a: Block, mut b: Block) -> bool {
        loop {
            if a == b {
                return true;
            }
            match self.dominator(b) {
                Some(up) => b = up,
                None => return false,
            }
        }
    }
}

/// The loop whose header is the block, if it is a loop over an iterator that was allocated before
/// it.
pub(super) fn find_loop(f: &Function, tree: &Tree, header: Block) -> Option<Loop> {
    let Term::Branch { cond, then, els } = &f.blocks[header].term else {
        return None;
    };
    let next = f.resolve(*cond);
    let (body, end) = (then.block, els.block);
    if !matches!(f.op(next), Op::RangeNext | Op::IterMore)
        || !f.blocks[header].insts.contains(&next)
    {
        return None;
    }
    let iter = f.arg(next, 0);
    let preds = &tree.preds;
    let (back, outside): (Vec<Block>, Vec<Block>) = preds[header]
        .iter()
        .partition(|&&p| tree.dominates(body, p));
    let [before] = outside[..] else { return None };
    let is_before = |v: Value| {
        let mut blocks = std::iter::successors(Some(before), |b| tree.dominator(*b));
        blocks.any(|b| f.blocks[b].insts.contains(&v))
    };
    let is_one = !back.is_empty()
        && body != end
        && preds[body] == [header]
        && matches!(f.blocks[before].term, Term::Jump(_))
        && tree.dominates(before, header)
        && is_before(iter);
    is_one.then_some(Loop {
        header,
        next,
        iter,
        made: f.object_of(iter),
        before,
        body,
        named: Vec::new(),
    })
}

/// The bounds of the range that a loop is over, as far as they are known; `None` if the loop is
/// over another object.
fn asked_for(f: &Function, cx: &Context<'_>, found: &Loop) -> Option<Option<Bounds>> {
    match f.op(found.made) {
        Op::General(GeneralOp::GetIter, _) if f.ty(f.arg(found.made, 0)) <= Type::RANGE => {
            Some(None)
        }
        Op::General(GeneralOp::RangeIter, _) => Some(bounds_of(f, cx, found.made)),
        _ => None,
    }
}

/// The bounds of an iterator, if the step is a known one of 1 or -1.
fn bounds_of(f: &Function, cx: &Context<'_>, made: Value) -> Option<Bounds> {
    let bound = |index| {
        let operand = f.object_of(f.arg(made, index));
        match *f.op(operand) {
            Op::BoxInt => match *f.op(f.arg(operand, 0)) {
                Op::ConstInt(n) => Some(Bound::Constant(n)),
                _ => Some(Bound::Raw(f.arg(operand, 0))),
            },
            Op::Const(object) => match cx.world.value(object) {
                ConstValue::Int(n) => Some(Bound::Constant(n)),
                _ => None,
            },
            _ => None,
        }
    };
    match [bound(0)?, bound(1)?, bound(2)?] {
        [start, end, Bound::Constant(step @ (1 | -1))] => Some(Bounds { start, end, step }),
        _ => None,
    }
}

/// The places where a frame state names the iterator.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Where {
    /// Before the loop: it is true.
    Before,
    /// Before the loop advances it.
    Head,
    /// In an iteration.
    Turn,
    /// Anywhere else.
    Outside,
}

impl Loop {
    /// The position of a use of the iterator.
    fn place(&self, f: &Function, tree: &Tree, mention: &Mention) -> Where {
        let b = mention.block;
        if tree.dominates(self.body, b) {
            Where::Turn
        } else if b == self.header {
            let mut insts = f.blocks[b].insts.iter();
            // Behind the instruction that advances it the position is ambiguous.
            match mention.by {
                Namer::Inst(v)
                    if v != self.next
                        && insts.find(|w| **w == v || **w == self.next) == Some(&self.next) =>
                {
                    Where::Outside
                }
                _ => Where::Head,
            }
        } else if tree.dominates(b, self.before) {
            Where::Before
        } else {
            Where::Outside
        }
    }
}

/// Returns true if only the loop, these instructions, and stacks of frame states in the loop depend
/// on the iterator's state.
pub(super) fn is_private(f: &Function, tree: &Tree, found: &Loop, known: &[Value]) -> bool {
    found.named.iter().all(|mention| {
        let is_known = match mention.by {
            Namer::Inst(v) => match f.op(v) {
                Op::GuardType(_) | Op::Refine(_) | Op::Decref => true,
                _ => v == found.next || known.contains(&v),
            },
            Namer::Entry => true,
            Namer::End => return false,
        };
        if mention.is_operand && !is_known {
            return false;
        }
        if mention.times == 0 {
            return true;
        }
        let is_elsewhere = found.place(f, tree, mention) == Where::Outside;
        match mention.by {
            // If the block is not in the loop, no exit resumes at its start.
            Namer::Entry => !is_elsewhere,
            _ => mention.times == 1 && mention.is_on_stack && !is_elsewhere,
        }
    })
}

/// The counter of a loop.
pub(super) struct Counting {
    /// The values that the loop carries: before the first iteration, and after each one.
    pub params: Vec<Value>,
    pub first: Vec<Value>,
    pub following: Vec<Value>,
    /// The instructions at the start of each iteration.
    pub turn: Vec<Value>,
    /// The value of an iteration.
    pub value: Value,
    /// The condition that there is a value: an op and its operands.
    pub more: (Op, Vec<Value>),
    /// The values that frame states name: before the loop, if it is not the iterator itself; where
    /// the loop advances it; in an iteration.
    pub at_before: Option<Value>,
    pub at_head: Value,
    pub at_turn: Value,
}

impl Loop {
    /// Finds the instructions and places that name the object.
    pub fn look(&mut self, f: &Function) {
        let named = naming(f, [self.made]);
        self.named = named.into_values().next().unwrap_or_default();
    }

    /// A new instruction, at the loop's head.
    pub fn add(&self, f: &mut Function, op: Op, args: Vec<Value>, ty: Type) -> Value {
        let pc = f.insts[self.next].pc;
        f.insts.push(Inst::proved(op, args, ty, pc))
    }
}

/// Lets the loop count without an iterator. Returns true if an edge was removed.
fn unmake(f: &mut Function, tree: &Tree, found: &Loop, bounds: Bounds) -> bool {
    let int = Type::CINT64;
    let Bounds { start, end, step } = bounds;
    let mut instead = Vec::new();
    let mut known = |f: &mut Function, bound| match bound {
        Bound::Raw(v) => v,
        Bound::Constant(n) => {
            let v = found.add(f, Op::ConstInt(n), vec![], int);
            instead.push(v);
            v
        }
    };
    let (start, end) = (known(f, start), known(f, end));
    let by = known(f, Bound::Constant(step));
    let at = |f: &mut Function, next| {
        let fields = vec![next, end, by];
        found.add(f, Op::VirtualRangeIter, fields, Type::RANGE_ITER)
    };
    let at_before = at(f, start);
    instead.push(at_before);
    let next = found.add(f, Op::Param, vec![], int);
    // The value is below the end, or above it: the sum is an int of the same size.
    let after = found.add(f, Op::IntStep, vec![next, by], int);
    let (at_head, at_turn) = (at(f, next), at(f, after));
    let cmp = if step > 0 { Cmp::Lt } else { Cmp::Gt };
    let counting = Counting {
        params: vec![next],
        first: vec![start],
        following: vec![after],
        turn: vec![after, at_turn],
        value: next,
        more: (Op::IntCmp(cmp), vec![next, end]),
        at_before: Some(at_before),
        at_head,
        at_turn,
    };
    rewrite(f, tree, found, counting);
    remove(f, found, instead, None)
}

/// Replaces the iterator, which no instruction names any more, and drops the range that it owned
/// where it was dropped. Returns true if an edge was removed: the edge to the handler of an
/// exception of the iterator's allocation.
pub(super) fn remove(
    f: &mut Function,
    found: &Loop,
    instead: Vec<Value>,
    held: Option<Value>,
) -> bool {
    let made = found.made;
    let mut is_edge_gone = false;
    let mut gone: Vec<(Block, Value)> = Vec::new();
    for mention in &found.named {
        let (b, Namer::Inst(v)) = (mention.block, mention.by) else {
            continue;
        };
        let data = &mut f.blocks[b];
        if v == made {
            if let Some(place) = data.insts.iter().position(|v| *v == made) {
                data.insts.splice(place..=place, instead.iter().copied());
            }
            if let Term::MayRaise { op, next, .. } = &data.term
                && *op == made
            {
                data.term = Term::Jump(next.clone());
                is_edge_gone = true;
            }
        } else if mention.is_operand {
            match (f.op(v), held) {
                (Op::Decref, Some(held)) => f.insts[v].args[0] = held,
                (op, _) if *op == Op::Decref || op.gives_operand() => gone.push((b, v)),
                _ => {}
            }
        }
    }
    for of_block in gone.chunk_by(|a, b| a.0 == b.0) {
        let data = &mut f.blocks[of_block[0].0];
        data.insts
            .retain(|v| of_block.iter().all(|(_, gone)| gone != v));
    }
    if is_edge_gone {
        let entry = f.entry();
        f.compute_order(entry);
    }
    is_edge_gone
}

/// Lets the loop count. The iterator stays, but only exits update it to the loop's position.
fn keep_outside(f: &mut Function, tree: &Tree, found: &Loop, bounds: Option<Bounds>) {
    let (iter, before) = (found.iter, found.before);
    let int = Type::CINT64;
    let add = |f: &mut Function, op, args, ty| found.add(f, op, args, ty);
    let start = match bounds.map(|bounds| bounds.start) {
        Some(Bound::Constant(n)) => add(f, Op::ConstInt(n), vec![], int),
        _ => add(f, Op::RangeStart, vec![iter], int),
    };
    let left = add(f, Op::RangeLeft, vec![iter], int);
    let mut prepared = vec![start, left];
    let next = add(f, Op::Param, vec![], int);
    let mut params = vec![next];
    let mut first = vec![start];
    let mut following = Vec::new();
    // The other values in the frame state of an iterator that is at `next`.
    let (at_head, at_turn, more);
    let by_ones = bounds.is_some_and(|bounds| bounds.step == 1);
    if by_ones {
        let one = add(f, Op::ConstInt(1), vec![], int);
        let end = add(f, Op::IntStep, vec![start, left], int);
        prepared.extend([one, end]);
        let after = add(f, Op::IntStep, vec![next, one], int);
        following.push(after);
        (at_head, at_turn) = (vec![iter, next, end], vec![iter, after, end]);
        more = (Op::IntCmp(Cmp::Lt), vec![next, end]);
    } else {
        let step = add(f, Op::RangeStep, vec![iter], int);
        let none = add(f, Op::ConstInt(0), vec![], int);
        let less = add(f, Op::ConstInt(-1), vec![], int);
        prepared.extend([step, none, less]);
        let count = add(f, Op::Param, vec![], int);
        params.push(count);
        first.push(left);
        let after = add(f, Op::IntStep, vec![next, step], int);
        let fewer = add(f, Op::IntStep, vec![count, less], int);
        following.extend([after, fewer]);
        (at_head, at_turn) = (vec![iter, next, count], vec![iter, after, fewer]);
        more = (Op::IntCmp(Cmp::Gt), vec![count, none]);
    }
    let ty = f.ty(iter);
    let at_head = add(f, Op::RangeAt(by_ones), at_head, ty);
    let at_turn = add(f, Op::RangeAt(by_ones), at_turn, ty);
    f.blocks[before].insts.extend(prepared);
    let mut turn = following.clone();
    turn.push(at_turn);
    let counting = Counting {
        params,
        first,
        following,
        turn,
        value: next,
        more,
        at_before: None,
        at_head,
        at_turn,
    };
    rewrite(f, tree, found, counting);
}

/// Lets the loop carry its counter, and frame states name the iterator by it.
pub(super) fn rewrite(f: &mut Function, tree: &Tree, found: &Loop, counting: Counting) {
    let &Loop {
        header,
        next: asks,
        made,
        before,
        body,
        ..
    } = found;
    // The replacement of each state. Mentions of the same state are next to each other.
    let mut last: Option<(StateId, Value, StateId)> = None;
    for mention in found.named.iter().filter(|mention| mention.times > 0) {
        let at = match found.place(f, tree, mention) {
            Where::Head => counting.at_head,
            Where::Turn => counting.at_turn,
            Where::Before => match counting.at_before {
                Some(at) => at,
                None => continue,
            },
            Where::Outside => continue,
        };
        match mention.by {
            Namer::Inst(v) => {
                let state = f.insts[v].state.expect("what names it");
                let new = match last {
                    Some((known, name, new)) if (known, name) == (state, at) => new,
                    _ => {
                        let renamed = renamed(f, &f.states[state], made, at);
                        f.states.push(renamed)
                    }
                };
                last = Some((state, at, new));
                f.insts[v].state = Some(new);
            }
            Namer::Entry => {
                let b = mention.block;
                f.blocks[b].entry_state = renamed(f, &f.blocks[b].entry_state, made, at);
            }
            Namer::End => {}
        }
    }

    let mut preds = tree.preds[header].to_vec();
    preds.dedup();
    for pred in preds {
        let values = match pred == before {
            true => &counting.first,
            false => &counting.following,
        };
        for edge in f.blocks[pred].term.edges_mut() {
            if edge.block == header {
                let Edge { args, .. } = edge;
                args.extend(values);
            }
        }
    }
    let params = counting.params.into_iter().map(|p| (p, Place::Carried));
    f.blocks[header].params.extend(params);
    f.blocks[header].insts.insert(0, counting.at_head);
    f.blocks[body].insts.splice(0..0, counting.turn);
    (f.insts[asks].op, f.insts[asks].args) = counting.more;
    let outputs = [header, body].into_iter().flat_map(|b| &f.blocks[b].insts);
    let outputs = outputs.filter(|v| *f.op(**v) == Op::Output(0) && f.arg(**v, 0) == asks);
    for output in outputs.copied().collect::<Vec<_>>() {
        f.replace(output, counting.value);
    }
}

/// A state that names the iterator on a stack, with the iterator's value at that place.
fn renamed(f: &Function, state: &FrameState, made: Value, at: Value) -> FrameState {
    let mut state = state.clone();
    for entry in state.entries_mut() {
        if f.object_of(entry.value) == made {
            entry.value = at;
        }
    }
    state
}
