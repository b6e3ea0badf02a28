//! The choice of the calls to inline: the code of the callee that replaces the call, and the
//! references that need not be taken or dropped any more.

use super::splice::taken_at;
use crate::bytecode::{self, Awaited, Code, GeneralOp, Instr, LocalKind, Operation, Pc, Reason};
use crate::facts::{Assumption, Inlinee, MOST_INLINED, Source};
use crate::hir::{
    self, Block, Collected, Entry, FrameState, Function, Op, Shown, Start, Term, Value,
};
use crate::host::code_of;
use crate::opt::{Context, Pass, run_pass};
use crate::types::{ObjectHandle, Type};
use cranelift_entity::{SecondaryMap, packed_option::PackedOption};
use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// The most instructions of bytecode that a callee may have.
pub(super) const MOST_INSTRS: usize = 96;
/// The most locals, and entries of the operand stack, that a callee may have: its frame is not
/// created.
pub(super) const MOST_SLOTS: usize = 16;
/// The most blocks of a callee.
const MOST_BLOCKS: usize = 12;
/// The most instructions of an optimised callee, without constants.
const MOST_INSTS: usize = 96;

pub(super) type Dominators = SecondaryMap<Block, PackedOption<Block>>;

/// The optimised code of the callees that were considered in one function, for each callee and the
/// types of its arguments. `None` marks a callee that can't be built.
#[derive(Default)]
pub(super) struct Bodies(HashMap<(ObjectHandle, Arguments), Option<Arc<Function>>>);

impl Bodies {
    /// The body of a callee for these arguments, which is built if it is not known.
    pub(super) fn of(
        &mut self,
        key: (ObjectHandle, Arguments),
        build: impl FnOnce(&Arguments) -> Option<Function>,
    ) -> Option<Arc<Function>> {
        if let Some(known) = self.0.get(&key) {
            return known.clone();
        }
        let made = build(&key.1).map(Arc::new);
        self.0.insert(key, made.clone());
        made
    }
}

/// What is known of a call.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(super) struct Arguments {
    /// The types of the arguments.
    pub types: Vec<Type>,
    /// For each argument the classes of a check that has found it to have one of them.
    pub classes: Vec<Vec<Type>>,
    /// The content of each tuple and dict that the caller has made.
    pub collected: Vec<Option<Collected>>,
    /// True for a `__next__` whose StopIteration is null ([`Op::CallNext`]).
    pub is_next: bool,
}

/// A call, and the code that replaces it.
pub(super) struct Plan {
    /// The block, and the place of the call in it.
    pub block: Block,
    pub at: usize,
    /// The state of the caller's frame, which waits for the call: its stack is without the
    /// callable. For an operator, the stack has the operands.
    pub waiting: FrameState,
    /// The callable, if the caller's stack owns a reference to it, and the place of the drop of
    /// that reference after the call. Reference and drop are removed. For a virtual bound method it
    /// is the object that the method is bound to, as the method is never allocated.
    pub callable: Option<(Value, Block, usize)>,
    /// The use of the callee's result in the caller's frame.
    pub awaited: Awaited,
    /// The function; or its code, if only the code is known.
    pub object: ObjectHandle,
    /// If only the code is known: the function, and whether the callee's frame owns the reference
    /// that the caller's stack had to it.
    pub function: Option<Entry>,
    pub inlinee: Inlinee,
    /// The callee's code.
    pub code: Arc<Code>,
    pub body: Arc<Function>,
    pub args: Vec<Value>,
    /// The values of named arguments in dicts among these.
    pub named: Vec<Value>,
    /// For each local of the callee, true if it borrows an object that the caller keeps alive.
    pub lent: Vec<bool>,
    /// The lent arguments to which the caller took a reference for the call.
    pub undone: Vec<Value>,
    pub size: usize,
}

impl Plan {
    /// The next call that is inlined. Calls that can't be inlined are added to `refused`, and not
    /// considered again.
    pub(super) fn next(
        f: &Function,
        cx: &Context<'_>,
        within: &[ObjectHandle],
        bodies: &mut Bodies,
        refused: &mut HashSet<Value>,
    ) -> Option<Plan> {
        for &block in &f.order {
            for (at, &call) in f.blocks[block].insts.iter().enumerate() {
                if is_call(f, call) && !refused.contains(&call) {
                    if let Some(plan) = Plan::of(f, cx, within, bodies, (block, at)) {
                        return Some(plan);
                    }
                    refused.insert(call);
                }
            }
        }
        None
    }

    /// Returns true if the call is a part of an operator's instruction: `a + b` calls `__add__`.
    pub(super) fn is_operator(&self) -> bool {
        matches!(self.awaited, Awaited::Operator(_))
    }

    fn of(
        f: &Function,
        cx: &Context<'_>,
        within: &[ObjectHandle],
        bodies: &mut Bodies,
        (block, at): (Block, usize),
    ) -> Option<Plan> {
        let call = f.blocks[block].insts[at];
        let inst = &f.insts[call];
        let mut waiting = f.states[inst.state?].clone();
        let pc = waiting.pc;
        let function = f.resolve(inst.args[0]);
        let kin = match *f.op(function) {
            Op::Kin(code) => Some(code),
            _ => None,
        };
        // A call that was compiled for the code of a function may get another function each time: a
        // failed check of the function's identity does not count.
        let failed = |(at, reason): &(Pc, Reason)| {
            *at == pc && !(kin.is_some() && *reason == Reason::Identity)
        };
        if inst.pc != pc || !waiting.inlined.is_empty() || cx.avoid.iter().any(failed) {
            return None;
        }
        let object = kin.or_else(|| f.ty(function).as_object())?;
        let mut given = None;
        if within.len() >= MOST_INLINED || within.contains(&object) {
            return None;
        }
        let top = waiting.stack.last().map(|e| f.object_of(e.value));
        let this = inst.args.get(1).map(|a| f.object_of(*a));
        let constructs = this.is_some() && top == this && matches!(f.op(this?), Op::New(..));
        let instr = f.code.instr(pc);
        let mut awaited = match constructs {
            true => Awaited::Constructed,
            false => Awaited::Result,
        };
        let callable = match instr.op {
            bytecode::Op::Call | bytecode::Op::CallKw | bytecode::Op::CallFunctionEx
                if constructs =>
            {
                None
            }
            bytecode::Op::Call | bytecode::Op::CallKw | bytecode::Op::CallFunctionEx => {
                let entry = waiting.stack.pop()?;
                let is_it = f.object_of(entry.value) == f.object_of(function);
                let is_bound =
                    bound(f, entry.value).is_some_and(|(known, _)| known == Some(object));
                if !(is_it || is_bound && kin.is_none()) {
                    return None;
                }
                given = kin.map(|_| entry);
                let root = f.object_of(entry.value);
                let is_local = waiting.locals.iter().any(|l| f.object_of(*l) == root);
                let ends = match f.op(root) {
                    _ if !entry.owned || kin.is_some() => None,
                    // The call deallocates the method, and so drops its reference to this object.
                    Op::VirtualMethod(_) if !is_local => Some(f.arg(root, 0)),
                    _ if !is_counted(f, root) => None,
                    // A watched constant or a local has another reference.
                    op if is_local || matches!(op, Op::Const(_)) => Some(entry.value),
                    // The object that it was loaded from has another one.
                    Op::Load(_) if taken_at(f, block, at, root).is_some() => Some(entry.value),
                    _ => return None,
                };
                match ends {
                    None => None,
                    Some(object) => Some(dropped_after(f, block, at, object)?),
                }
            }
            // The call of a property's getter, or of `__enter__`.
            bytecode::Op::LoadAttr | bytecode::Op::BeforeWith
                if !matches!(inst.op, Op::CallGetter(..)) =>
            {
                None
            }
            op if Operation::OPS.contains(&op) => {
                awaited = Awaited::Operator(operation(f, instr, call, &waiting)?);
                None
            }
            _ => return None,
        };
        let inlinee = cx.world.inlinee(object)?;
        let code = code_of(&inlinee)?;
        let args = &inst.args[1..];
        let is_own = code.name == f.code.name && code.line == f.code.line;
        let is_given = kin.is_some() == given.is_some();
        if is_own || !is_given || !is_small(&code) || args.len() != code.arity() as usize {
            return None;
        }
        let (args, classes) = checked(f, block, at, args);
        let types = args.iter().map(|a| f.ty(*a)).collect();
        let within = [within, &[object]].concat();
        let known = Arguments {
            types,
            classes,
            collected: args.iter().map(|arg| collected(f, *arg)).collect(),
            is_next: matches!(inst.op, Op::CallNext(_)),
        };
        let named = named_values(f, &args, &known.collected);
        let key = (object, known);
        let body = bodies.of(key, |known| {
            let cells = kin.is_none().then_some(&inlinee.cells[..]);
            optimised(&code, known, cells, cx, &within)
        })?;
        // The unit keeps some names of its namespace in registers. Where the callee relies on such
        // a name, it would not find the register's value.
        let is_held_back = |assumption: &Assumption| match assumption {
            Assumption::NameUnchanged { name, .. } => {
                let mut names = f.names.iter().map(|k| &f.code.names[*k as usize]);
                names.any(|held| held == name)
            }
            _ => false,
        };
        if body.assumptions.iter().any(is_held_back) {
            return None;
        }
        let mut held: HashSet<Value> = waiting.locals.iter().map(|l| f.object_of(*l)).collect();
        let methods = waiting.locals.iter().filter_map(|l| bound(f, *l));
        held.extend(methods.map(|(_, this)| this));
        match awaited {
            Awaited::Result | Awaited::Item => {}
            Awaited::Constructed => held.extend(top),
            // They are dropped when the operator is complete.
            Awaited::Operator(it) => {
                let operands = &waiting.stack[waiting.stack.len() - it.operands()..];
                held.extend(operands.iter().map(|e| f.object_of(e.value)));
            }
        }
        let assigned: HashSet<u32> = insts(&body)
            .filter_map(|v| match body.insts[v].op {
                Op::StoreSlot(k) => Some(k),
                _ => None,
            })
            .collect();
        let mut lent = lent_cells(&code);
        let mut undone = Vec::new();
        for (k, &arg) in args.iter().enumerate() {
            let root = f.object_of(arg);
            // A default, which the function keeps alive: no code runs that could replace it.
            let is_default = matches!(f.op(root), Op::Load(_))
                && f.object_of(f.arg(root, 0)) == f.object_of(function);
            let is_kept = matches!(f.op(root), Op::Const(_)) || is_default;
            let holds = held.contains(&root) || is_kept;
            lent[k] = holds && !is_unmade(f, root) && !assigned.contains(&(k as u32));
            if lent[k] && is_counted(f, root) {
                undone.push(arg);
            }
        }
        let size = leaf_size(&body)?;
        Some(Plan {
            block,
            at,
            waiting,
            callable,
            awaited,
            object,
            function: given,
            inlinee,
            code,
            body,
            args,
            named,
            lent,
            undone,
            size,
        })
    }
}

/// The operator of an instruction that makes this call of a method; `None` if the arguments are not
/// its operands. For `a + b`, the call is `__add__(a, b)` or, with swapped operands, `__radd__(b,
/// a)`.
fn operation(f: &Function, instr: &Instr, call: Value, waiting: &FrameState) -> Option<Operation> {
    let inst = &f.insts[call];
    let args = match inst.op {
        // The other arguments are constants.
        Op::CallGetter(_, receiver, _) => std::slice::from_ref(&inst.args[1 + receiver as usize]),
        // A descriptor is a constant before the operands.
        _ if instr.op == bytecode::Op::StoreAttr => &inst.args[inst.args.len() - 2..],
        _ => &inst.args[1..],
    };
    let mut it = Operation {
        op: instr.op,
        arg: instr.arg,
        swapped: false,
        flag: instr.arg2 != 0,
    };
    let depth = waiting.stack.len().checked_sub(it.operands())?;
    let operands = waiting.stack[depth..].iter();
    let mut operands: Vec<Value> = operands.map(|e| f.object_of(e.value)).collect();
    if it.op == bytecode::Op::ForIter {
        // The null above an iterator is no argument.
        operands.truncate(1);
    } else if it.op == bytecode::Op::LoadSuperAttr {
        // `super` and the class are no arguments of a getter.
        operands.drain(..2);
    } else if it.op == bytecode::Op::StoreSubscr {
        // The stored value is the deepest operand, and the last argument.
        operands.rotate_left(1);
    } else if it.op == bytecode::Op::StoreAttr {
        // The same of a property's setter, which gets the object first.
        operands.reverse();
    }
    let args: Vec<Value> = args.iter().map(|a| f.object_of(*a)).collect();
    if args != operands {
        operands.reverse();
        it.swapped = true;
    }
    (args == operands).then_some(it)
}

/// The arguments of a call, each as its most precise check since arbitrary user code last ran; and
/// for each argument the classes of a check that has found it to have one of them.
pub(super) fn checked(
    f: &Function,
    mut block: Block,
    at: usize,
    args: &[Value],
) -> (Vec<Value>, Vec<Vec<Type>>) {
    let mut args: Vec<Value> = args.iter().map(|a| f.resolve(*a)).collect();
    let mut classes = vec![Vec::new(); args.len()];
    let mut insts = &f.blocks[block].insts[..at];
    let mut preds = None;
    loop {
        for &v in insts.iter().rev() {
            if f.may_run_host_code(v) {
                return (args, classes);
            }
            if let Op::CheckClasses(types) = f.op(v) {
                note(f, &args, &mut classes, f.arg(v, 0), types);
            }
            if !matches!(f.op(v), Op::GuardType(_) | Op::Refine(_)) {
                continue;
            }
            let root = f.object_of(v);
            let of_it = args.iter_mut().filter(|a| f.object_of(**a) == root);
            for arg in of_it.filter(|a| f.ty(v) <= f.ty(**a)) {
                *arg = v;
            }
        }
        let preds = preds.get_or_insert_with(|| f.predecessors());
        let side = block;
        match preds[block][..] {
            [before] if block != f.entry() => block = before,
            _ => return (args, classes),
        }
        insts = &f.blocks[block].insts;
        if let Term::Branch { cond, then, .. } = &f.blocks[block].term
            && let Op::IsClass(types) = f.op(*cond)
            && then.block == side
            && insts.last().map(|last| f.resolve(*last)) == Some(f.resolve(*cond))
        {
            note(f, &args, &mut classes, f.arg(*cond, 0), types);
        }
    }
}

/// Records the classes of the arguments that are this object, unless some are recorded already.
fn note(f: &Function, args: &[Value], classes: &mut [Vec<Type>], object: Value, types: &[Type]) {
    let root = f.object_of(object);
    for (arg, known) in args.iter().zip(classes) {
        if f.object_of(*arg) == root && known.is_empty() {
            *known = types.to_vec();
        }
    }
}

/// The content of a tuple or a dict that the function has made as an argument.
pub(super) fn collected(f: &Function, arg: Value) -> Option<Collected> {
    let made = f.object_of(arg);
    let content = &f.insts[made].args;
    match f.op(made) {
        Op::General(GeneralOp::BuildTuple, _) => Some(Collected::Items(content.len())),
        Op::General(GeneralOp::BuildKeywords, _) => {
            let names = content.iter().step_by(2);
            let names = names.map(|name| f.ty(*name).as_object());
            names.collect::<Option<_>>().map(Collected::Names)
        }
        _ => None,
    }
}

/// The values of all named arguments in the dicts among the arguments.
pub(super) fn named_values(
    f: &Function,
    args: &[Value],
    known: &[Option<Collected>],
) -> Vec<Value> {
    let dicts = args.iter().zip(known);
    let dicts = dicts.filter(|(_, known)| matches!(known, Some(Collected::Names(_))));
    let values = dicts.flat_map(|(dict, _)| {
        let content = &f.insts[f.object_of(*dict)].args;
        content.iter().skip(1).step_by(2).copied()
    });
    values.collect()
}

/// All instructions in blocks.
pub(super) fn insts(f: &Function) -> impl Iterator<Item = Value> + '_ {
    f.order
        .iter()
        .flat_map(|b| f.blocks[*b].insts.iter().copied())
}

/// Returns true for an object that may never be allocated, and for null.
fn is_unmade(f: &Function, root: Value) -> bool {
    let op = f.op(root);
    op.is_box() || op.is_virtual_aggregate() || *op == Op::Null
}

/// The function that a method calls, if it is known, and the object that the method is bound to and
/// has a reference to.
fn bound(f: &Function, method: Value) -> Option<(Option<ObjectHandle>, Value)> {
    let method = f.object_of(method);
    match *f.op(method) {
        Op::BindMethod => {
            let function = f.ty(f.arg(method, 0)).as_object();
            Some((function, f.object_of(f.arg(method, 1))))
        }
        Op::VirtualMethod(function) => Some((Some(function), f.object_of(f.arg(method, 0)))),
        _ => None,
    }
}

/// Returns true if references to the value are counted: it is allocated, and not an immortal
/// constant.
fn is_counted(f: &Function, v: Value) -> bool {
    let root = f.object_of(v);
    !is_unmade(f, root) && !matches!(f.op(root), Op::Const(object) if object.is_immortal())
}

/// The object and the place of the instruction that drops a reference to it, if that is the first
/// instruction after the call.
pub(super) fn dropped_after(
    f: &Function,
    block: Block,
    at: usize,
    object: Value,
) -> Option<(Value, Block, usize)> {
    let (block, at) = match &f.blocks[block].term {
        Term::MayRaise { op, next, .. } if *op == f.blocks[block].insts[at] => (next.block, 0),
        _ => (block, at + 1),
    };
    let drop = *f.blocks[block].insts.get(at)?;
    let is_it = |v: Value| f.object_of(v) == f.object_of(object);
    let is_drop = f.insts[drop].op == Op::Decref && is_it(f.insts[drop].args[0]);
    is_drop.then_some((object, block, at))
}

/// Returns true for a call that may be inlined.
fn is_call(f: &Function, v: Value) -> bool {
    matches!(
        f.insts[v].op,
        Op::CallDirect(_) | Op::CallNext(_) | Op::CallGetter(..)
    )
}

fn is_small(code: &Code) -> bool {
    code.optimized
        && !code.is_generator
        && code.instrs.len() <= MOST_INSTRS
        && code.locals.len() <= MOST_SLOTS
        && code.stacksize as usize <= MOST_SLOTS
        && !code.instrs.iter().any(|instr| {
            use bytecode::Op;
            matches!(instr.op, Op::JumpBackward | Op::ForIter | Op::MakeCell)
        })
}

/// The callee for arguments of these types, after the passes that make general operations
/// primitive.
pub(super) fn optimised(
    code: &Arc<Code>,
    known: &Arguments,
    cells: Option<&[ObjectHandle]>,
    cx: &Context<'_>,
    within: &[ObjectHandle],
) -> Option<Function> {
    let avoid = HashSet::new();
    let start = Start::Inlined(Shown {
        types: &known.types,
        classes: &known.classes,
        collected: &known.collected,
        cells,
        is_next: known.is_next,
    });
    let body = hir::build(code, start, cx.world, &avoid, &HashMap::new(), None);
    let mut body = body.ok()?;
    for v in insts(&body).collect::<Vec<_>>() {
        // The callee's code is not the unit's own: it may be deallocated before the unit.
        if matches!(body.insts[v].op, Op::Const(object) if !object.is_immortal()) {
            body.insts[v].source = Source::Assumed;
        }
    }
    let inner = Context {
        avoid: &avoid,
        log: RefCell::default(),
        ..*cx
    };
    for round in 0..2 {
        if round == 1 && code.is_generator {
            pass_guarded(&mut body);
        }
        for pass in [
            Pass::Lifetimes,
            Pass::Simplify,
            Pass::Types,
            Pass::Specialise,
            Pass::Lifetimes,
            Pass::Simplify,
        ] {
            run_pass(pass, &mut body, &inner);
        }
        if round == 0 && insts(&body).any(|v| is_call(&body, v)) {
            // What a check has found holds at a call unless a drop between may run user code.
            run_pass(Pass::Refcounts, &mut body, &inner);
            run_pass(Pass::Checks, &mut body, &inner);
        }
        if super::run_within(&mut body, &inner, within) {
            body.apply_aliases();
        }
        for pass in [
            Pass::Merge,
            Pass::Refcounts,
            Pass::Checks,
            Pass::Refcounts,
            Pass::Checks,
        ] {
            run_pass(pass, &mut body, &inner);
        }
    }
    for pass in [Pass::Types, Pass::Simplify, Pass::Dce] {
        run_pass(pass, &mut body, &inner);
    }
    Some(body)
}

/// Lets each edge pass a value as its most precise guard. For example, `x` of `for x in items` that
/// the loop's body has found to be an int is one where the next iteration drops it.
fn pass_guarded(body: &mut Function) {
    let idom = body.dominators();
    for b in body.order.clone() {
        let mut term = std::mem::replace(&mut body.blocks[b].term, Term::Unreachable);
        for edge in term.edges_mut() {
            refine(body, &idom, b, &mut edge.args);
        }
        body.blocks[b].term = term;
    }
}

/// The locals at the end of a block that returns, each as its most precise guard. For example, a
/// local that is passed to an inlined call is guarded in that callee's blocks.
pub(super) fn locals_at_end(body: &Function, idom: &Dominators, b: Block) -> Vec<Value> {
    let mut locals = body.blocks[b].out_locals.to_vec();
    refine(body, idom, b, &mut locals);
    locals
}

/// Replaces values at the end of a block by the guards of their classes, where a drop of the value
/// itself could run code.
fn refine(body: &Function, idom: &Dominators, b: Block, values: &mut [Value]) {
    let mut above = Some(b);
    while let Some(block) = above {
        for &v in &body.blocks[block].insts {
            if !matches!(body.insts[v].op, Op::GuardType(_)) || body.drop_runs_host_code(v) {
                continue;
            }
            for value in values.iter_mut() {
                if body.drop_runs_host_code(*value) && body.object_of(*value) == body.object_of(v) {
                    *value = v;
                }
            }
        }
        above = idom[block].expand().filter(|up| *up != block);
    }
}

/// The number of instructions of the callee, if it is a leaf.
fn leaf_size(body: &Function) -> Option<usize> {
    let mut returns = 0;
    for &b in &body.order {
        let data = &body.blocks[b];
        match data.term {
            _ if data.is_loop_header => return None,
            Term::MayRaise { .. } => return None,
            Term::Return(_) => returns += 1,
            _ => {}
        }
    }
    let all_quiet = insts(body).all(|v| is_quiet(body, v));
    let size = insts(body).filter(|v| counts_as_code(body, *v)).count();
    (all_quiet && returns > 0 && body.order.len() <= MOST_BLOCKS && size <= MOST_INSTS)
        .then_some(size)
}

/// For each local of a callee, true if it is a cell of the closure: that keeps its cells alive, and
/// no code replaces them.
pub(super) fn lent_cells(code: &Code) -> Vec<bool> {
    let kinds = code.locals.iter().map(|(_, kind)| *kind);
    kinds.map(|kind| kind == LocalKind::Free).collect()
}

/// Returns true for an instruction that adds to the size of a body.
pub(super) fn counts_as_code(body: &Function, v: Value) -> bool {
    !matches!(
        body.insts[v].op,
        Op::Const(_)
            | Op::ConstInt(_)
            | Op::ConstDouble(_)
            | Op::ConstBool(_)
            | Op::Null
            | Op::Arg(_)
            | Op::StoreSlot(_)
            | Op::Refine(_)
            | Op::Count(_)
    )
}

/// Returns true if an instruction of a callee is not observable, except by its exit.
pub(super) fn is_quiet(body: &Function, v: Value) -> bool {
    let inst = &body.insts[v];
    match inst.op {
        Op::Decref => !body.drop_runs_host_code(inst.args[0]),
        Op::StoreSlot(_) | Op::Incref | Op::StoreQuiet(_) | Op::InitField(_) | Op::RawSet(_) => {
            true
        }
        // If there is no memory for it, the exit creates the frame that raises.
        Op::General(GeneralOp::BuildTuple | GeneralOp::BuildKeywords, _) => true,
        // These belong to the frame, or to a namespace of the unit's own code.
        Op::LoadSlot(_)
        | Op::CheckValid
        | Op::CheckQuiet
        | Op::YieldItem
        | Op::VirtualGenerator(..)
        | Op::VirtualChain
        | Op::NameGet(_)
        | Op::NameGetRaw(..)
        | Op::VirtualTuple
        | Op::VirtualDict
        | Op::VirtualInstance(..)
        | Op::VirtualIf => false,
        _ => {
            let effects = inst.op.effects();
            !inst.op.raises() && !effects.writes && !effects.runs_host_code && !effects.raises
        }
    }
}
