//! Block parameters that carry numbers become raw: loop variables stay in registers.
//!
//! A parameter of one numeric class becomes raw if some edge passes it a fresh box (or a numeric
//! constant, or another such parameter). The other edges unbox; an int that has too many digits
//! exits there, with the state of the target's start. For example, `total` in `total += x` is a C
//! double for the whole loop.

use super::Context;
use crate::bytecode::Reason;
use crate::hir::{
    Block, BlockData, Edge, FrameState, Function, Inst, Locals, Op, Place, StateId, Term, Value,
};
use crate::types::Type;
use cranelift_entity::SecondaryMap;
use rustc_hash::FxHashSet;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Int,
    Float,
    Bool,
}

/// A parameter that becomes raw.
#[derive(Clone, Copy)]
struct Chosen {
    block: Block,
    param: Value,
    kind: Kind,
    /// The local may be unbound: a truth value goes with the number.
    maybe: bool,
}

impl Kind {
    fn of(ty: Type) -> Option<Kind> {
        if ty.is_bottom() {
            None
        } else if ty <= Type::BOOL {
            Some(Kind::Bool)
        } else if ty <= Type::LONG_EXACT {
            Some(Kind::Int)
        } else if ty <= Type::FLOAT_EXACT {
            Some(Kind::Float)
        } else {
            None
        }
    }

    fn boxing(self) -> (Op, Op, Type, Type) {
        match self {
            Kind::Int => (Op::BoxInt, Op::UnboxInt, Type::CINT64, Type::LONG_EXACT),
            Kind::Float => (
                Op::BoxFloat,
                Op::UnboxFloat,
                Type::CDOUBLE,
                Type::FLOAT_EXACT,
            ),
            Kind::Bool => (Op::BoxBool, Op::UnboxBool, Type::CBOOL, Type::BOOL),
        }
    }
}

/// The blocks that have an edge to a block, each once.
type EnteredFrom = SecondaryMap<Block, Vec<Block>>;

fn entered_from(f: &Function) -> EnteredFrom {
    let mut all = EnteredFrom::new();
    for &b in &f.order {
        for edge in f.blocks[b].term.edges() {
            if all[edge.block].last() != Some(&b) {
                all[edge.block].push(b);
            }
        }
    }
    all
}

/// Unbox parameters.
pub fn run(f: &mut Function, cx: &Context<'_>) -> bool {
    let preds = entered_from(f);
    let chosen = choose(f, cx, &preds);
    if chosen.is_empty() {
        return false;
    }
    unbox(f, preds, &chosen);
    true
}

/// Makes these parameters raw, which [can be](can_be_raw).
pub(super) fn make_raw(f: &mut Function, params: &[(Block, Value)]) {
    if params.is_empty() {
        return;
    }
    let chosen = params.iter().map(|&(block, param)| Chosen {
        block,
        param,
        kind: Kind::of(f.ty(param) - Type::NULLPTR).expect("a parameter that can be raw"),
        maybe: false,
    });
    let chosen: Vec<Chosen> = chosen.collect();
    let preds = entered_from(f);
    unbox(f, preds, &chosen);
}

fn unbox(f: &mut Function, mut preds: EnteredFrom, chosen: &[Chosen]) {
    // First every parameter gets its raw twin and a box for its uses, so that edges between them
    // need nothing.
    for &Chosen {
        block: b,
        param: p,
        kind,
        maybe,
    } in chosen
    {
        let (mut boxing, _, raw_ty, mut ty) = kind.boxing();
        let pc = f.insts[p].pc;
        let raw = f.insts.push(Inst {
            op: Op::Param,
            args: vec![],
            ty: raw_ty,
            ..f.insts[p].clone()
        });
        let mut args = vec![raw];
        if maybe {
            let bound = f.insts.push(Inst {
                op: Op::Param,
                args: vec![],
                ty: Type::CBOOL,
                ..f.insts[p].clone()
            });
            let index = f.blocks[b]
                .params
                .iter()
                .position(|(v, _)| *v == p)
                .expect("a parameter of its block");
            let Place::Local(k) = f.blocks[b].params[index].1 else {
                unreachable!("only locals may be unbound")
            };
            f.blocks[b].params.push((bound, Place::Bound(k)));
            // The edges carry the object once more, until they are rewritten below.
            for &pred in &preds[b] {
                for edge in f.blocks[pred].term.edges_mut() {
                    if edge.block == b {
                        let arg = edge.args[index];
                        edge.args.push(arg);
                    }
                }
            }
            args.push(bound);
            ty = ty.opt();
            boxing = if kind == Kind::Int {
                Op::BoxIntIf
            } else {
                Op::BoxFloatIf
            };
        }
        let boxed = f.insts.push(Inst::proved(boxing, args, ty, pc));
        let slot = f.blocks[b]
            .params
            .iter_mut()
            .find(|(v, _)| *v == p)
            .expect("a parameter of its block");
        slot.0 = raw;
        f.blocks[b].insts.insert(0, boxed);
        f.replace(p, boxed);
    }
    let mut dropped = Vec::new();
    for &Chosen {
        block: target,
        param,
        kind,
        maybe,
    } in chosen
    {
        let raw = f.arg(param, 0);
        let bound = maybe.then(|| f.arg(param, 1));
        for pred in preds[target].clone() {
            let ways = f.blocks[pred].term.edges().len();
            for n in 0..ways {
                let to = f.blocks[pred].term.edges()[n].block;
                if to == target {
                    if let Some(bound) = bound {
                        bound_on_edge(f, pred, n, target, bound);
                    }
                    let edge = (pred, n);
                    let new = unbox_on_edge(f, edge, target, raw, kind, &mut dropped);
                    preds[target].extend(new);
                }
            }
        }
    }
    // Until all that may exit has, an exit's object has it.
    for field in dropped {
        field.drop(f);
    }
    let entry = f.entry();
    f.compute_order(entry);
    f.apply_aliases();
}

/// The parameter with its plan, if it may become raw.
fn choosable(
    f: &Function,
    cx: &Context<'_>,
    block: Block,
    param: Value,
    place: Place,
) -> Option<Chosen> {
    // Raw names are raw from the start; other names are objects that the namespace has, or that the
    // frame has.
    if matches!(place, Place::Name(_)) {
        return None;
    }
    let ty = f.ty(param);
    let maybe = !(ty <= Type::OBJECT) && ty.could_be(Type::OBJECT);
    let kind = Kind::of(if maybe { ty - Type::NULLPTR } else { ty })?;
    // For a field, another parameter is the flag that there is an object which has the field.
    let maybe = maybe && place != Place::Field;
    if maybe && (kind == Kind::Bool || !matches!(place, Place::Local(_))) {
        return None;
    }
    let pc = f.blocks[block].entry_state.pc;
    if kind == Kind::Int && cx.avoid.contains(&(pc, Reason::IntTooLarge)) {
        return None;
    }
    Some(Chosen {
        block,
        param,
        kind,
        maybe,
    })
}

/// The parameter with the kind of its raw value, if it may become raw.
pub(super) fn can_be_raw(
    f: &Function,
    cx: &Context<'_>,
    block: Block,
    param: Value,
    place: Place,
) -> bool {
    choosable(f, cx, block, param, place).is_some()
}

fn choose(f: &Function, cx: &Context<'_>, preds: &EnteredFrom) -> Vec<Chosen> {
    let mut candidate: SecondaryMap<Value, Option<Kind>> = SecondaryMap::new();
    let mut list = Vec::new();
    for &b in &f.order {
        let params = f.blocks[b].params.iter();
        list.extend(params.filter_map(|&(p, place)| choosable(f, cx, b, p, place)));
    }
    let mut changed = true;
    while changed {
        changed = false;
        for &Chosen {
            block: b,
            param: p,
            kind,
            ..
        } in &list
        {
            if candidate[p].is_some() {
                continue;
            }
            let index = f.blocks[b]
                .params
                .iter()
                .position(|(v, _)| *v == p)
                .expect("a parameter of its block");
            let fresh = preds[b]
                .iter()
                .flat_map(|&pred| f.blocks[pred].term.edges())
                .any(|edge| {
                    edge.block == b && {
                        let a = f.resolve(edge.args[index]);
                        match f.op(a) {
                            op if op.is_box() => true,
                            Op::Param => a != p && candidate[a] == Some(kind),
                            _ => false,
                        }
                    }
                });
            if fresh {
                candidate[p] = Some(kind);
                changed = true;
            }
        }
    }
    list.retain(|c| candidate[c.param].is_some());
    // For a parameter that may be null, each edge must know whether it is, even if the value is not
    // read then; a parameter that relies on another one is dropped with it.
    loop {
        let before = list.len();
        let chosen: FxHashSet<Value> = list.iter().map(|c| c.param).collect();
        list.retain(|c| f.ty(c.param) <= Type::OBJECT || null_is_known(f, c, &chosen, preds));
        if list.len() == before {
            return list;
        }
    }
}

/// Returns true if each edge passes the parameter a value that carries a flag, or that is known to
/// be null or not to be null.
fn null_is_known(f: &Function, c: &Chosen, chosen: &FxHashSet<Value>, preds: &EnteredFrom) -> bool {
    let index = f.blocks[c.block]
        .params
        .iter()
        .position(|(v, _)| *v == c.param)
        .expect("a parameter of its block");
    preds[c.block]
        .iter()
        .flat_map(|&pred| f.blocks[pred].term.edges())
        .filter(|edge| edge.block == c.block)
        .all(|edge| {
            let a = f.resolve(edge.args[index]);
            chosen.contains(&a) || can_come_raw(f, a, f.ty(a))
        })
}

/// Returns true if an edge can pass a raw parameter the number of an object of this type that is no
/// raw parameter itself: null is not unboxed.
pub(super) fn can_come_raw(f: &Function, v: Value, ty: Type) -> bool {
    ty <= Type::OBJECT || matches!(f.op(v), Op::Null | Op::BoxIntIf | Op::BoxFloatIf)
}

/// Makes an edge pass the flag that the local is bound.
fn bound_on_edge(f: &mut Function, pred: Block, n: usize, target: Block, bound: Value) {
    let index = f.blocks[target]
        .params
        .iter()
        .position(|(v, _)| *v == bound)
        .expect("a parameter of its block");
    let arg = f.resolve(f.blocks[pred].term.edges()[n].args[index]);
    let flag = match f.op(arg) {
        Op::BoxIntIf | Op::BoxFloatIf => f.arg(arg, 1),
        op => {
            let op = Op::ConstBool(!matches!(op, Op::Null));
            append_constant(f, pred, op, Type::CBOOL)
        }
    };
    f.blocks[pred].term.edges_mut()[n].args[index] = flag;
}

/// Appends a constant to a block.
pub(super) fn append_constant(f: &mut Function, block: Block, op: Op, ty: Type) -> Value {
    let pc = f.blocks[block].entry_state.pc;
    let v = f.insts.push(Inst::proved(op, vec![], ty, pc));
    f.blocks[block].insts.push(v);
    v
}

/// Passes the parameter `raw` its number on an edge; returns the block that splits the edge, if
/// there is one. `dropped` gets the drop of a field's object and its place.
fn unbox_on_edge(
    f: &mut Function,
    (pred, n): (Block, usize),
    target: Block,
    raw: Value,
    kind: Kind,
    dropped: &mut Vec<DroppedField>,
) -> Option<Block> {
    let index = f.blocks[target]
        .params
        .iter()
        .position(|(v, _)| *v == raw)
        .expect("a parameter of its block");
    let mut arg = f.resolve(f.blocks[pred].term.edges()[n].args[index]);
    let (boxing, unboxing, raw_ty, ty) = kind.boxing();
    // A check that was added while less was known has a wider type than the object.
    if !(f.ty(arg) <= ty) && f.ty(f.object_of(arg)) <= ty {
        arg = f.object_of(arg);
    }
    if *f.op(arg) == boxing || matches!(f.op(arg), Op::BoxIntIf | Op::BoxFloatIf) {
        let inner = f.arg(arg, 0);
        f.blocks[pred].term.edges_mut()[n].args[index] = inner;
        return None;
    }
    if matches!(f.op(arg), Op::Null) {
        // Never read: the local is not bound.
        let op = match kind {
            Kind::Float => Op::ConstDouble(0),
            Kind::Int => Op::ConstInt(0),
            Kind::Bool => Op::ConstBool(false),
        };
        let nothing = append_constant(f, pred, op, raw_ty);
        f.blocks[pred].term.edges_mut()[n].args[index] = nothing;
        return None;
    }
    // An unboxing that may exit must not run where the edge is not taken.
    let ways = f.blocks[pred].term.edges().len();
    let new = (ways > 1).then(|| split(f, pred, n));
    let (pred, n) = match new {
        Some(new) => (new, 0),
        None => (pred, n),
    };
    let state = (kind == Kind::Int).then(|| edge_state(f, pred, n, target));
    let pc = f.blocks[target].entry_state.pc;
    let v = f.insts.push(Inst {
        op: unboxing,
        args: vec![arg],
        ty: raw_ty,
        source: crate::facts::Source::Proved,
        state,
        pc,
    });
    f.blocks[pred].insts.push(v);
    f.blocks[pred].term.edges_mut()[n].args[index] = v;
    // A local's slot keeps its object; the reference of a stack entry, of a field, or of an inlined
    // frame has no owner any more.
    let place = f.blocks[target].params[index].1;
    match place {
        Place::Stack(_) => {
            let decref = Inst::proved(Op::Decref, vec![arg], Type::BOTTOM, pc);
            let decref = f.insts.push(decref);
            f.blocks[pred].insts.push(decref);
        }
        Place::Inlined if !f.owns(target, raw) => {}
        Place::Field | Place::Inlined => dropped.push(DroppedField {
            pred,
            target,
            param: raw,
            object: arg,
            raw: v,
            kind,
        }),
        _ => {}
    }
    new
}

/// The object that an edge brought a field of a virtual object, which is a raw parameter now.
struct DroppedField {
    pred: Block,
    target: Block,
    /// The raw parameter.
    param: Value,
    object: Value,
    /// The number in it.
    raw: Value,
    kind: Kind,
}

impl DroppedField {
    /// Drops the object at the end of the block before the edge. An exit behind that (such as a
    /// check that the loop does not repeat) finds the number in a local's virtual object in place
    /// of the object.
    fn drop(&self, f: &mut Function) {
        let pc = f.insts[self.raw].pc;
        let (boxing, _, _, ty) = self.kind.boxing();
        let boxed = Inst::proved(boxing, vec![self.raw], ty, pc);
        let boxed = f.insts.push(boxed);
        let drop = Inst::proved(Op::Decref, vec![self.object], Type::BOTTOM, pc);
        let drop = f.insts.push(drop);
        let mut insts = vec![drop, boxed];
        for k in 0..f.blocks[self.pred].out_locals.len() {
            let there = f.blocks[self.target].entry_state.locals[k];
            let here = f.blocks[self.pred].out_locals[k];
            if let Some(object) = self.anew(f, there, here, boxed, &mut insts) {
                f.blocks[self.pred].out_locals[k] = object;
            }
        }
        f.blocks[self.pred].insts.extend(insts);
    }

    /// The virtual object `here` with `boxed` for the field that is the parameter in `there`, which
    /// it is behind the edge; nothing if there is none.
    fn anew(
        &self,
        f: &mut Function,
        there: Value,
        here: Value,
        boxed: Value,
        insts: &mut Vec<Value>,
    ) -> Option<Value> {
        let (mut there, here) = (f.object_of(there), f.object_of(here));
        if f.op(there).is_box() && f.arg(there, 0) == self.param {
            return Some(boxed);
        }
        if *f.op(there) == Op::VirtualIf && *f.op(here) != Op::VirtualIf {
            there = f.object_of(f.arg(there, 1));
        }
        if !f.op(there).is_virtual_aggregate() || f.op(there) != f.op(here) {
            return None;
        }
        let mut new = f.insts[here].clone();
        let mut is_new = false;
        for i in 0..new.args.len() {
            let (there, here) = (f.arg(there, i), f.arg(here, i));
            if let Some(field) = self.anew(f, there, here, boxed, insts) {
                new.args[i] = field;
                is_new = true;
            }
        }
        is_new.then(|| {
            let new = f.insts.push(new);
            insts.push(new);
            new
        })
    }
}

/// A new block on an edge.
pub(super) fn split(f: &mut Function, pred: Block, n: usize) -> Block {
    let edge = f.blocks[pred].term.edges()[n].clone();
    let target = edge.block;
    let out_locals = f.blocks[pred].out_locals.clone();
    let mut entry_state = f.blocks[target].entry_state.clone();
    substitute(f, &mut entry_state, (pred, target), &edge.args, &out_locals);
    let new = f.blocks.push(BlockData {
        term: Term::Jump(edge),
        out_locals,
        ..BlockData::new(entry_state, f.blocks[pred].end)
    });
    *f.blocks[pred].term.edges_mut()[n] = Edge {
        block: new,
        args: Vec::new(),
    };
    // Keep the order usable: right after its predecessor.
    let at = f
        .order
        .iter()
        .position(|b| *b == pred)
        .expect("a reachable block");
    f.order.insert(at + 1, new);
    new
}

/// The frame state at the end of an edge, in terms of the values that the edge passes.
pub(super) fn edge_state(f: &mut Function, pred: Block, n: usize, target: Block) -> StateId {
    let mut state = f.blocks[target].entry_state.clone();
    let args = f.blocks[pred].term.edges()[n].args.clone();
    let locals = f.blocks[pred].out_locals.clone();
    substitute(f, &mut state, (pred, target), &args, &locals);
    f.states.push(state)
}

fn substitute(
    f: &mut Function,
    state: &mut FrameState,
    (pred, target): (Block, Block),
    args: &[Value],
    out_locals: &Locals,
) {
    // Locals come from the end of the predecessor; stack entries from the parameters.
    match out_locals.len() == state.locals.len() {
        true => state.locals.clone_from(out_locals),
        false => state.locals = out_locals[..state.locals.len()].iter().copied().collect(),
    }
    for (i, &(_, place)) in f.blocks[target].params.iter().enumerate() {
        if let Place::Stack(k) = place {
            let arg = args[i];
            // An edge that already passes a raw value: the state needs its box.
            state.stack[k as usize].value = arg;
        }
    }
    // An inlined frame needs objects: a number that the edge passes raw is boxed before the edge.
    for (i, (param, place)) in f.blocks[target].params.clone().into_iter().enumerate() {
        let names_it = |f: &Function, v: Value| {
            let v = f.resolve(v);
            v == param || f.op(v).is_box() && f.arg(v, 0) == param
        };
        let inlined = state.inlined.iter_mut();
        let entries = inlined.flat_map(|frame| frame.locals.iter_mut().chain(&mut frame.stack));
        let mut entries: Vec<_> = entries.filter(|e| names_it(f, e.value)).collect();
        if place != Place::Inlined || entries.is_empty() {
            continue;
        }
        let arg = f.resolve(args[i]);
        let raw = f.ty(arg);
        let object = if raw <= Type::PRIMITIVE && !(raw <= Type::NULLPTR) {
            let (boxing, ty) = match raw {
                _ if raw <= Type::CINT64 => (Op::BoxInt, Type::LONG_EXACT),
                _ if raw <= Type::CDOUBLE => (Op::BoxFloat, Type::FLOAT_EXACT),
                _ => (Op::BoxBool, Type::BOOL),
            };
            let pc = f.blocks[target].entry_state.pc;
            let boxed = f.insts.push(Inst::proved(boxing, vec![arg], ty, pc));
            f.blocks[pred].insts.push(boxed);
            boxed
        } else {
            arg
        };
        entries.iter_mut().for_each(|entry| entry.value = object);
    }
}
