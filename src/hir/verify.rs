//! The HIR verifier: reports every fault, each with its place.

use super::function::{Block, FrameState, Function, InlinedState, Term, Value};
use super::ops::Op;
use super::rows::{Form, Rule};
use crate::bytecode;
use crate::types::Type;
use cranelift_entity::{EntityRef, EntitySet, SecondaryMap};
use std::fmt;

/// Faults found, each as place and message.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct VerifierErrors(pub Vec<String>);

impl fmt::Display for VerifierErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.join("\n"))
    }
}

impl std::error::Error for VerifierErrors {}

/// Check the canonical form of `f`.
///
/// # Errors
/// All faults: a use that its definition does not dominate, an edge with the wrong number of
/// values, an operand of the wrong kind, an op that may exit without a frame state.
pub fn verify(f: &Function) -> Result<(), VerifierErrors> {
    let mut checker = Checker {
        f,
        faults: Vec::new(),
        place: SecondaryMap::new(),
        maybe: EntitySet::new(),
        depth: SecondaryMap::new(),
    };
    checker.run();
    if checker.faults.is_empty() {
        Ok(())
    } else {
        Err(VerifierErrors(checker.faults))
    }
}

struct Checker<'a> {
    f: &'a Function,
    faults: Vec<String>,
    /// Block and index (parameters are 0) of each definition.
    place: SecondaryMap<Value, Option<(Block, usize)>>,
    /// The virtual objects that are an operand of a `virtual_if`, which may select a constant or
    /// null instead. The fields of such an object may be null: they are, where it is not the one
    /// selected.
    maybe: EntitySet<Value>,
    depth: SecondaryMap<Block, u32>,
}

impl Checker<'_> {
    fn run(&mut self) {
        let f = self.f;
        if f.order.is_empty() {
            self.faults.push("there is no block".into());
            return;
        }
        for &b in &f.order {
            for &(p, _) in &f.blocks[b].params {
                self.place[p] = Some((b, 0));
            }
            for (i, &v) in f.blocks[b].insts.iter().enumerate() {
                if self.place[v].is_some() {
                    self.faults.push(format!("{b}: {v} stands twice"));
                }
                self.place[v] = Some((b, i + 1));
                if *f.op(v) == Op::VirtualIf {
                    self.maybe.insert(f.arg(v, 1));
                }
            }
        }
        let idom = f.dominators();
        let preds = f.predecessors();
        for &b in &f.order {
            let up = idom[b].expect("a reachable block");
            self.depth[b] = if up == b { 0 } else { self.depth[up] + 1 };
        }
        for &b in &f.order {
            self.frame(b, &f.blocks[b].entry_state);
            for (i, &v) in f.blocks[b].insts.iter().enumerate() {
                self.inst(b, i + 1, v, &idom);
            }
            let end = usize::MAX;
            let data = &f.blocks[b];
            match &data.term {
                Term::Branch { cond, .. } => {
                    self.uses(b, end, *cond, &idom);
                    if !(f.ty(*cond) <= Type::CBOOL) {
                        self.faults
                            .push(format!("{b}: branch on {cond}, a {}", f.ty(*cond)));
                    }
                }
                Term::Return(v) => {
                    self.uses(b, end, *v, &idom);
                    self.made(b, "a return", *v);
                }
                Term::MayRaise { op, next, raised } => {
                    if data.insts.last() != Some(op) || !f.insts[*op].op.raises() {
                        self.faults
                            .push(format!("{b}: ends with {op}, which does not raise there"));
                    }
                    for edge in [next, raised] {
                        if preds[edge.block].len() != 1 || !f.blocks[edge.block].params.is_empty() {
                            self.faults
                                .push(format!("{b}: {} is not for {op} alone", edge.block));
                        }
                    }
                }
                _ => {}
            }
            for &v in &data.out_locals {
                self.uses(b, end, v, &idom);
            }
            for edge in data.term.edges() {
                let params = &f.blocks[edge.block].params;
                if params.len() != edge.args.len() {
                    self.faults.push(format!(
                        "{b}: {} values for the {} parameters of {}",
                        edge.args.len(),
                        params.len(),
                        edge.block
                    ));
                }
                for (&a, &(p, _)) in edge.args.iter().zip(params) {
                    self.uses(b, end, a, &idom);
                    self.made(b, "an edge", a);
                    let raw = |v: Value| f.ty(v) <= Type::PRIMITIVE && !(f.ty(v) <= Type::NULLPTR);
                    if raw(p) != raw(a) && !f.ty(a).is_bottom() && !f.ty(p).is_bottom() {
                        self.faults
                            .push(format!("{b}: {a} ({}) for {p} ({})", f.ty(a), f.ty(p)));
                    }
                }
            }
        }
    }

    fn inst(&mut self, b: Block, i: usize, v: Value, idom: &Idom) {
        let f = self.f;
        let inst = &f.insts[v];
        for &a in &inst.args {
            self.uses(b, i, a, idom);
        }
        let name = inst.op.name();
        if !inst.op.takes(inst.args.len()) {
            self.faults.push(format!(
                "{b}: {v} = {name} with {} operands",
                inst.args.len()
            ));
            return;
        }
        let may_name_virtual = match inst.op {
            Op::StoreSlot(_) => {
                let stored = self.f.object_of(inst.args[0]);
                self.f.op(stored).is_virtual_aggregate()
            }
            _ => inst.op.is_virtual_aggregate(),
        };
        if !may_name_virtual {
            inst.args.iter().for_each(|a| self.made(b, name, *a));
        }
        if !self.maybe.contains(v) {
            let fields = match inst.op.row().form {
                // A local may have no value yet, and there may be null above an iterator.
                _ if matches!(inst.op, Op::VirtualGenerator(..)) => &[],
                Form::VirtualObject | Form::VirtualIterator => &inst.args[..],
                Form::Value | Form::Checked | Form::Same | Form::Box | Form::VirtualEither => &[],
            };
            for &item in fields.iter().filter(|a| f.ty(**a).could_be(Type::NULLPTR)) {
                let ty = f.ty(item);
                self.faults
                    .push(format!("{b}: {v} = {name} has {item} in it, a {ty}"));
            }
        }
        if inst.op == Op::VirtualIf {
            let [flag, made, other] = [0, 1, 2].map(|i| f.resolve(inst.args[i]));
            let is_made = f.op(made).is_made_by_exits();
            let is_constant = matches!(f.op(other), Op::Const(_) | Op::Null);
            if !(f.ty(flag) <= Type::CBOOL && is_made && is_constant) {
                self.faults.push(format!(
                    "{b}: {v} = {name} of {flag}, {made} and {other}, which are not such"
                ));
            }
        }
        if let Op::VirtualInstance(_, places) = &inst.op
            && places.len() != inst.args.len()
        {
            self.faults.push(format!(
                "{b}: {v} = {name} with {} places and {} operands",
                places.len(),
                inst.args.len()
            ));
        }
        let slots = f.code.locals.len() as u32;
        match inst.op {
            Op::Arg(slot) | Op::StoreSlot(slot) if slot >= slots => {
                self.faults
                    .push(format!("{b}: {name} of slot {slot} of {slots}"));
            }
            Op::LoadSlot(slot) if slot >= slots + f.code.stacksize => {
                self.faults
                    .push(format!("{b}: {name} of slot {slot}, beyond the stack"));
            }
            _ => {}
        }
        if matches!(inst.op, Op::Yield(_)) {
            self.suspends(b, i, v);
        }
        let leaves = inst.op.exit_reason().is_some() || inst.op.raises();
        if leaves && inst.state.is_none() {
            self.faults.push(format!(
                "{b}: {v} = {} may leave but has no frame state",
                inst.op.name()
            ));
        }
        if let Some(state) = inst.state {
            self.state(b, i, &f.states[state], idom);
        }
        if let Op::GuardType(ty) = inst.op
            && ty != ty.drop_mortality()
        {
            let fault = format!("{b}: {v} = guard_type {ty}: a class says nothing of mortality");
            self.faults.push(fault);
        }
        self.types(b, v);
    }

    /// The types of operands and result lie within those that the table declares.
    fn types(&mut self, b: Block, v: Value) {
        let inst = &self.f.insts[v];
        let row = inst.op.row();
        for (i, &arg) in inst.args.iter().enumerate() {
            let (have, want) = (self.f.ty(arg), row.operand(i).ty);
            // Types that are not inferred yet may include null where the language's rules exclude
            // it: in `f([] if x else y)` the argument is the parameter of a block, an `OptObject`
            // at first.
            let have = if have <= Type::OBJECT.opt() {
                have & Type::OBJECT
            } else {
                have
            };
            if !(have <= want) {
                let name = row.name;
                let fault = match i {
                    0 => format!("{b}: {v} = {name} of {arg}, a {have}"),
                    _ => format!("{b}: {v} = {name} with {arg}, a {have}, as operand {i}"),
                };
                self.faults.push(fault);
            }
        }
        let bound = match row.rule {
            Rule::Nothing => Type::BOTTOM,
            Rule::Is(ty) | Rule::Within(ty) => ty,
            Rule::Operand | Rule::Narrowed | Rule::Bound | Rule::Language => return,
        };
        if !(inst.ty <= bound) {
            let (name, ty) = (row.name, inst.ty);
            self.faults
                .push(format!("{b}: {v} = {name} gives {bound}, not {ty}"));
        }
    }

    /// A frame is suspended by the last instruction of a block that ends there, with a stack that
    /// is its own.
    fn suspends(&mut self, b: Block, i: usize, v: Value) {
        let data = &self.f.blocks[b];
        if i != data.insts.len() || data.term != Term::Unreachable {
            self.faults.push(format!(
                "{b}: {v} suspends the frame, and something comes after it"
            ));
        }
        let Some(state) = self.f.insts[v].state.map(|s| &self.f.states[s]) else {
            self.faults
                .push(format!("{b}: {v} suspends the frame without a state"));
            return;
        };
        if !state.inlined.is_empty() || state.stack.iter().any(|entry| !entry.owned) {
            self.faults.push(format!(
                "{b}: {v} leaves a stack that is not the frame's own"
            ));
        }
        for value in state.values() {
            self.made(b, "a suspended frame", value);
        }
    }

    /// A virtual value has no object: only a frame state may use it as one.
    fn made(&mut self, b: Block, by: &str, v: Value) {
        let v = self.f.object_of(v);
        if self.f.op(v).is_virtual() {
            self.faults
                .push(format!("{b}: {by} uses the virtual {v} as an object"));
        }
    }

    fn state(&mut self, b: Block, i: usize, state: &FrameState, idom: &Idom) {
        self.frame(b, state);
        for v in state.values() {
            self.uses(b, i, v, idom);
        }
    }

    /// A state has a value for each local, and for each name that is in a register.
    fn frame(&mut self, b: Block, state: &FrameState) {
        let wanted = self.f.code.locals.len() + self.f.names.len();
        if state.locals.len() != wanted {
            self.faults.push(format!(
                "{b}: a state at {} has {} locals instead of {wanted}",
                state.pc,
                state.locals.len()
            ));
        }
        let mut waits = (&self.f.code, state.pc);
        for frame in &state.inlined {
            let Some(inlined) = self.f.inlined.get(frame.code as usize) else {
                self.faults
                    .push(format!("{b}: there is no inlined code {}", frame.code));
                return;
            };
            let (code, pc) = waits;
            let instr = code.instrs.get(pc.0 as usize);
            if !instr.is_some_and(|instr| frame.awaited.fits(instr.op, instr.arg)) {
                self.faults.push(format!(
                    "{b}: a frame of `{}` waits at {pc}, which is no such call",
                    code.name
                ));
            }
            self.inlined_frame(b, frame, &inlined.code);
            waits = (&inlined.code, frame.pc);
        }
    }

    fn inlined_frame(&mut self, b: Block, frame: &InlinedState, code: &bytecode::Code) {
        let (locals, stack) = (code.locals.len(), code.stacksize as usize);
        let mut fault = |what: String| {
            let (name, pc) = (&code.name, frame.pc);
            self.faults
                .push(format!("{b}: a frame of `{name}` at {pc} has {what}"));
        };
        if frame.pc.0 as usize >= code.instrs.len() {
            fault("an instruction that is not there".into());
        }
        // One more: the function may be behind the locals.
        if !(locals..=locals + 1).contains(&frame.locals.len()) {
            fault(format!("{} locals instead of {locals}", frame.locals.len()));
        }
        if frame.stack.len() > stack {
            fault(format!(
                "{} entries on a stack for {stack}",
                frame.stack.len()
            ));
        }
        for entry in frame.locals.iter().chain(&frame.stack) {
            let ty = self.f.ty(entry.value);
            if ty <= (Type::CINT64 | Type::CDOUBLE | Type::CBOOL) && !ty.is_bottom() {
                self.faults.push(format!(
                    "{b}: an inlined frame has {} in it, a {ty}",
                    entry.value
                ));
            }
        }
    }

    fn uses(&mut self, b: Block, i: usize, v: Value, idom: &Idom) {
        let v = self.f.resolve(v);
        let Some((at, index)) = self.place[v] else {
            self.faults.push(format!(
                "{b}: {v} ({}) is used but stands nowhere",
                self.f.op(v).name()
            ));
            return;
        };
        let ok = if at == b {
            index < i
        } else {
            let (mut up, mut below) = (b, b);
            while self.depth[up] > self.depth[at] {
                below = up;
                up = idom[up].expect("a reachable block");
            }
            // An instruction that has raised has no value.
            up == at && self.f.landing(at) != Some((v, below))
        };
        if !ok {
            self.faults.push(format!(
                "{b}: {v} is used where {at} does not dominate (index {})",
                v.index()
            ));
        }
    }
}

type Idom = SecondaryMap<Block, cranelift_entity::packed_option::PackedOption<Block>>;
