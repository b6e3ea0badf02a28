//! Loops over a list or a tuple that run no user code.
//!
//! Nothing changes the list while such a loop runs, and no code looks at its iterator, although a
//! collector tracks that. So the loop counts in a register, and only an exit allocates the iterator
//! ([`Op::VirtualSeqIter`]). The list keeps its items alive: the local that they are stored to
//! needs no reference of its own in the loop. Frame states name it as [`Op::Borrowed`], and an exit
//! or the end of the loop takes a reference. The old value of the local is dropped before the first
//! iteration, which is not observable unless that deallocates it; then the interpreter runs the
//! loop.

use super::Context;
use super::ranges::{Counting, Loop, Tree, find_loop, is_private, remove, rewrite};
use super::unbox::{edge_state, split};
use crate::bytecode::{GeneralOp, Reason};
use crate::hir::{Block, Cmp, Function, Op, Place, Term, Value};
use crate::types::Type;

/// Count in registers, and borrow.
pub fn run(f: &mut Function, cx: &Context<'_>) -> bool {
    // If a collector may move objects that an exit names, exits do not materialise objects. A frame
    // that is suspended must have its objects.
    let mut insts = f.order.iter().flat_map(|&b| &f.blocks[b].insts);
    if !cx.lifetimes.are_counted()
        || insts.any(|v| matches!(f.op(*v), Op::Yield(_) | Op::ResumePoint))
    {
        return false;
    }
    let mut changed = false;
    for header in f.order.clone() {
        let asks = |cond: &Value| *f.op(*cond) == Op::IterMore;
        if !matches!(&f.blocks[header].term, Term::Branch { cond, .. } if asks(cond)) {
            continue;
        }
        let tree = Tree::of(f);
        if let Some(mut found) = find(f, cx, &tree, header) {
            borrow(f, &found);
            found.over.look(f);
            // There are blocks on the edges out of the loop now.
            let tree = Tree::of(f);
            unmake(f, &tree, &found);
            let entry = f.entry();
            f.compute_order(entry);
            f.apply_aliases();
            changed = true;
        }
    }
    changed
}

/// A loop that runs no user code.
struct Quiet {
    over: Loop,
    /// The list or tuple.
    seq: Value,
    /// Its blocks.
    blocks: Vec<Block>,
    /// The next item, in the first block of each iteration.
    item: Value,
    /// The local that it is stored to, the parameter of the loop that this is, and its index among
    /// them.
    local: u32,
    param: Value,
    index: usize,
    /// The store of the item, and its slot.
    stored: Block,
    /// The `incref` of the item, the store of the item, and the drop of the value that the slot had
    /// before.
    owning: [Value; 3],
    /// The instruction that drops the iterator behind the loop.
    ends: Vec<Value>,
}

/// The loop that a block begins, if it is such a one.
fn find(f: &Function, cx: &Context<'_>, tree: &Tree, header: Block) -> Option<Quiet> {
    let mut over = find_loop(f, tree, header)?;
    let Loop { body, before, .. } = over;
    if !matches!(f.op(over.made), Op::General(GeneralOp::GetIter, _))
        || cx
            .avoid
            .contains(&(f.blocks[header].entry_state.pc, Reason::Shape))
    {
        return None;
    }
    let seq = f.arg(over.made, 0);
    if !(f.ty(seq) <= Type::LIST_EXACT || f.ty(seq) <= Type::TUPLE_EXACT) {
        return None;
    }
    let mut back = tree.predecessors(header).to_vec();
    back.retain(|b| *b != before);
    let mut blocks = vec![header];
    let mut work = back.clone();
    while let Some(b) = work.pop() {
        if !blocks.contains(&b) {
            blocks.push(b);
            work.extend(tree.predecessors(b));
        }
    }
    if blocks[1..].iter().any(|b| f.blocks[*b].is_loop_header) {
        return None;
    }
    let gives = |v: &Value| {
        matches!(f.op(*v), Op::ListIterNext | Op::TupleIterNext)
            && f.object_of(f.arg(*v, 0)) == over.made
    };
    let item = f.blocks[body].insts.iter().copied().find(gives)?;
    let is_item = |v: Value| f.object_of(v) == item;

    // The store moves the reference of the stack's entry to the local.
    let stored = match &f.blocks[body].term {
        _ if stores(f, body, item).next().is_some() => body,
        Term::Jump(edge) if *tree.predecessors(edge.block) == [body] => edge.block,
        _ => return None,
    };
    let (store, local) = stores(f, stored, item).next()?;
    let insts = blocks.iter().flat_map(|b| &f.blocks[*b].insts);
    let again = insts.filter(|v| *f.op(**v) == Op::StoreSlot(local)).count();
    if again != 1 || back.iter().any(|b| !tree.dominates(stored, *b)) {
        return None;
    }
    let mut way = f.blocks[body].insts.clone();
    if stored != body {
        way.extend(&f.blocks[stored].insts);
    }
    let at = |v| way.iter().position(|w| *w == v);
    let mut taking = way[at(item)?..at(store)?].iter();
    let taken = *taking.find(|v| *f.op(**v) == Op::Incref && is_item(f.arg(**v, 0)))?;
    if taking.any(|v| f.insts[*v].state.is_some()) {
        return None;
    }
    let places = f.blocks[header].params.iter();
    let index = places
        .clone()
        .position(|(_, place)| *place == Place::Local(local))?;
    let (param, _) = f.blocks[header].params[index];
    let mut after = way[at(store)?..].iter();
    let dropped =
        *after.find(|v| *f.op(**v) == Op::Decref && f.object_of(f.arg(**v, 0)) == param)?;
    let given = |b: &Block| {
        let edges = f.blocks[*b].term.edges();
        let mut edges = edges.into_iter().filter(|e| e.block == header);
        edges.all(|e| is_item(e.args[index]))
    };
    let first = f.object_of(f.blocks[before].term.edges()[0].args[index]);
    let is_made = !f.op(first).is_box() && !f.op(first).is_virtual();
    if !back.iter().all(given) || !is_made {
        return None;
    }

    let owning = [taken, store, dropped];
    let is_known = |v: Value| is_item(v) || f.object_of(v) == param;
    for &b in &blocks {
        let data = &f.blocks[b];
        let quiet = |v: &Value| owning.contains(v) || is_quiet(f, *v);
        let states = data.insts.iter().filter_map(|v| f.insts[*v].state);
        let mut locals = states.map(|s| f.states[s].locals[local as usize]);
        if !data.insts.iter().all(quiet)
            || !matches!(data.term, Term::Jump(_) | Term::Branch { .. })
            || !locals.all(is_known)
            || !is_known(data.entry_state.locals[local as usize])
            || !is_known(data.out_locals[local as usize])
        {
            return None;
        }
    }
    let insts = f.order.iter().flat_map(|b| &f.blocks[*b].insts).copied();
    let ends: Vec<Value> = insts
        .filter(|v| {
            matches!(f.op(*v), Op::General(GeneralOp::IterNext, _))
                && f.settled.contains(v)
                && f.object_of(f.arg(*v, 0)) == over.made
        })
        .collect();
    let mut known = ends.clone();
    known.push(item);
    over.look(f);
    is_private(f, tree, &over, &known).then_some(Quiet {
        over,
        seq,
        blocks,
        item,
        local,
        param,
        index,
        stored,
        owning,
        ends,
    })
}

/// The stores of an item to locals in a block.
fn stores(f: &Function, b: Block, item: Value) -> impl Iterator<Item = (Value, u32)> + '_ {
    f.blocks[b]
        .insts
        .iter()
        .filter_map(move |&v| match *f.op(v) {
            Op::StoreSlot(k) if f.object_of(f.arg(v, 0)) == item => Some((v, k)),
            _ => None,
        })
}

/// Returns true if an instruction runs no user code and changes no list.
fn is_quiet(f: &Function, v: Value) -> bool {
    match f.op(v) {
        // In such a loop these exit if work is pending.
        Op::CheckPending | Op::CheckValid => true,
        Op::Decref => !f.drop_runs_host_code(f.arg(v, 0)),
        Op::StoreSlot(_) | Op::Incref | Op::StoreQuiet(_) => true,
        Op::RangeNext | Op::ListIterNext | Op::TupleIterNext => true,
        op => !op.effects().runs_host_code && !op.effects().writes,
    }
}

/// Lets the local borrow the item from the list.
fn borrow(f: &mut Function, found: &Quiet) {
    let &Quiet {
        item,
        param,
        index,
        stored,
        ..
    } = found;
    let Loop {
        header,
        body,
        before,
        ..
    } = found.over;
    let local = found.local as usize;
    let add = |f: &mut Function, op, args, ty| found.over.add(f, op, args, ty);
    let nothing = Type::BOTTOM;

    // The slot is empty in the loop.
    let state = edge_state(f, before, 0, header);
    let first = f.blocks[before].term.edges()[0].args[index];
    let drop = add(f, Op::DropShared, vec![first], nothing);
    f.insts[drop].state = Some(state);
    let null = add(f, Op::Null, vec![], Type::NULLPTR);
    let clear = add(f, Op::StoreSlot(found.local), vec![null], nothing);
    f.blocks[before].insts.extend([drop, null, clear]);
    f.blocks[before].out_locals[local] = null;

    let ty = f.ty(param);
    let of_param = add(f, Op::Borrowed, vec![param], ty);
    f.blocks[header].insts.insert(0, of_param);
    let ty = f.ty(item);
    let of_item = add(f, Op::Borrowed, vec![item], ty);
    let at = f.blocks[body].insts.iter().position(|v| *v == item);
    let after = at.expect("the block has the item") + 1;
    f.blocks[body].insts.insert(after, of_item);
    for &b in &found.blocks {
        f.blocks[b].insts.retain(|v| !found.owning.contains(v));
        let name = |f: &Function, v: &mut Value| {
            *v = match f.object_of(*v) == item {
                true => of_item,
                false => of_param,
            };
        };
        for v in f.blocks[b].insts.clone() {
            if *f.op(v) == Op::CheckPending {
                f.insts[v].op = Op::CheckQuiet;
            }
            if let Some(state) = f.insts[v].state {
                let mut state = f.states[state].clone();
                name(f, &mut state.locals[local]);
                f.insts[v].state = Some(f.states.push(state));
            }
        }
        let mut data = f.blocks[b].clone();
        name(f, &mut data.entry_state.locals[local]);
        name(f, &mut data.out_locals[local]);
        if b == stored {
            let entries = data.entry_state.entries_mut();
            let of_stack = entries.filter(|entry| f.object_of(entry.value) == item);
            of_stack.for_each(|entry| entry.owned = false);
        }
        f.blocks[b] = data;
    }

    // An edge out of the loop takes a reference.
    for &b in &found.blocks {
        let ways = f.blocks[b].term.edges().len();
        for n in 0..ways {
            let target = f.blocks[b].term.edges()[n].block;
            if found.blocks.contains(&target) {
                continue;
            }
            let held = f.object_of(f.blocks[b].out_locals[local]);
            let way = split(f, b, n);
            let take = add(f, Op::Incref, vec![held], nothing);
            let keep = add(f, Op::StoreSlot(found.local), vec![held], nothing);
            f.blocks[way].insts.extend([take, keep]);
            f.blocks[way].out_locals[local] = held;
        }
    }
}

/// Lets the loop count without an iterator.
fn unmake(f: &mut Function, tree: &Tree, found: &Quiet) {
    let &Quiet {
        ref over,
        seq,
        item,
        ..
    } = found;
    let (int, iter) = (Type::CINT64, f.ty(over.iter));
    let is_list = f.ty(seq) <= Type::LIST_EXACT;
    let add = |f: &mut Function, op, args, ty| over.add(f, op, args, ty);
    let hold = add(f, Op::Incref, vec![seq], Type::BOTTOM);
    let zero = add(f, Op::ConstInt(0), vec![], int);
    let at_before = add(f, Op::VirtualSeqIter, vec![seq, zero], iter);
    let len = if is_list { Op::ListLen } else { Op::TupleLen };
    let end = add(f, len, vec![seq], int);
    let one = add(f, Op::ConstInt(1), vec![], int);
    f.blocks[over.before].insts.extend([end, one]);
    let next = add(f, Op::Param, vec![], int);
    let after = add(f, Op::IntStep, vec![next, one], int);
    let at_head = add(f, Op::VirtualSeqIter, vec![seq, next], iter);
    let at_turn = add(f, Op::VirtualSeqIter, vec![seq, after], iter);
    let counting = Counting {
        params: vec![next],
        first: vec![zero],
        following: vec![after],
        turn: vec![after, at_turn],
        value: next,
        more: (Op::IntCmp(Cmp::Lt), vec![next, end]),
        at_before: Some(at_before),
        at_head,
        at_turn,
    };
    rewrite(f, tree, over, counting);
    let get = if is_list { Op::ListGet } else { Op::TupleGet };
    (f.insts[item].op, f.insts[item].args) = (get, vec![seq, next]);
    for b in f.order.clone() {
        let data = &mut f.blocks[b];
        data.insts.retain(|v| !found.ends.contains(v));
        if let Term::MayRaise { op, next, .. } = &data.term
            && found.ends.contains(op)
        {
            data.term = Term::Jump(next.clone());
        }
    }
    for end in &found.ends {
        f.settled.remove(end);
    }
    remove(f, over, vec![hold, zero, at_before], Some(seq));
}
