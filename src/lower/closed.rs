//! Closed units and raw calls: see [`RawEntry`].
//!
//! For example, `def fib(n): return n if n < 2 else fib(n - 1) + fib(n - 2)` with ints: its calls
//! of itself pass `n` in a register and return a status and a raw int, and no frame is created.

use super::hop::HighLevelOp;
use super::objects::{boxing, unboxing};
use super::routines::nothing;
use super::{Faults, Lower, Lowered, Wanted, finish};
use crate::exits::{EXITING, ExitKind, NOT_ENTERED, Reason, VALUE};
use crate::facts::{RawEntry, RawKind};
use crate::hir::{Function, Op, StateId, Value};
use crate::host::{
    CALL_BOXED, ClosedParts, DEALLOC, Entry, Host, RECORD_EXIT, RESUME_EXITS, UnitParts, names,
    raw_signature, raw_type,
};
use crate::lir::{self, BlockCall, Builder, End, Func, IntCond, Opcode, Signature, Term};
use crate::ll::{Ty, Width};
use cranelift_entity::EntityRef;

/// Data for lowering a closed unit.
#[derive(Clone, Copy)]
pub(super) struct Closed<'a> {
    parts: &'a ClosedParts,
    own: &'a RawEntry,
    /// The number of nested calls of the unit itself that are expanded in its code. None for a body
    /// that replaces such a call, and has no entry check.
    levels: Option<u32>,
    /// The body that replaces calls of the unit itself.
    body: Option<&'a Func>,
}

/// The most levels of nested bodies in place of the unit's calls of itself, ...
const MAX_LEVELS: u32 = 3;
/// ... as long as there are fewer instructions than this.
const MAX_INSTS: usize = 400;
/// The stack slot for the words of exits in such bodies.
const RECORD_SLOT: i64 = 0;

/// Lowers `f` as the closed unit of `own`; see [`lower`](super::lower) for `planted`.
///
/// # Errors
/// Faults of lowering itself.
///
/// # Panics
/// If `f` is not in canonical form, or not closed, or `parts` has nothing for closed units.
pub fn lower_closed(
    f: &Function,
    own: &RawEntry,
    host: &Host,
    parts: &UnitParts,
    planted: bool,
) -> Result<Lowered, Faults> {
    let closed = parts.closed.as_ref().expect("parts of a closed unit");
    let lower = |levels: Option<u32>, body: Option<&Func>| {
        let mut func = Func::new(f.code.name.clone(), raw_signature(&own.signature));
        func.slots.push(8);
        let closed = Closed {
            parts: closed,
            own,
            levels,
            body,
        };
        let closed = Some(closed);
        finish(
            func,
            f,
            host,
            parts,
            Entry::Function,
            closed,
            planted,
            &|_| None,
        )
    };
    let (mut body, mut levels) = (None, 0);
    let calls = own_calls(f, own);
    while calls > 0 && levels < MAX_LEVELS {
        let next = lower(None, body.as_ref())?.func;
        // A body with stack slots would need its own for each copy.
        if next.slots.len() > 1 || size(&next) * calls > MAX_INSTS {
            break;
        }
        body = Some(next);
        levels += 1;
    }
    lower(Some(levels), body.as_ref())
}

/// The number of times that the unit calls itself.
fn own_calls(f: &Function, own: &RawEntry) -> usize {
    let insts = f.order.iter().flat_map(|b| &f.blocks[*b].insts);
    insts
        .filter(|v| matches!(f.op(**v), Op::CallRaw(entry, _) if entry.cell == own.cell))
        .count()
}

/// The number of instructions in blocks that are not cold.
fn size(func: &Func) -> usize {
    let blocks = func.order.iter().map(|b| &func.blocks[*b]);
    let warm = blocks.filter(|block| !block.cold);
    warm.map(|block| block.insts.len()).sum()
}

impl Lower<'_> {
    /// Checks that the call may be entered, and refuses it otherwise.
    pub(super) fn enter_closed(&mut self, args: &[lir::Value]) {
        for &v in &self.f.blocks[self.f.entry()].insts {
            if let Op::Arg(k) = self.f.op(v) {
                self.values[v] = args[*k as usize].into();
            }
        }
        let closed = self.closed.expect("a closed unit");
        let Some(levels) = closed.levels else {
            return;
        };
        let refused = self.b.cold_block();
        // The nested bodies need no check of their own: nothing changes while they run.
        let room = self.b.icmp_imm(IntCond::Sgt, self.room, i64::from(levels));
        self.b.guard(room, refused);
        self.b
            .inline(&closed.parts.enter, &[self.thread], Some(refused));
        let after = self.b.current();
        self.b.switch_to(refused);
        let status = self.b.iconst(NOT_ENTERED);
        let result = self.b.func.signature.results[1];
        let nothing = nothing(&mut self.b, result);
        self.b.ret(&[status, nothing]);
        self.b.switch_to(after);
    }

    /// Returns a raw value.
    pub(super) fn return_raw(&mut self, v: Value) {
        let wanted = Wanted::of(self.b.func.signature.results[1]);
        let (raw, _) = self.convert(v, wanted);
        let status = self.b.iconst(VALUE);
        self.b.ret(&[status, raw]);
    }
}

impl HighLevelOp<'_, '_> {
    /// A call through a raw entry.
    pub(super) fn call_raw(&mut self, entry: &RawEntry, consumed: u32) -> lir::Value {
        let function = self.object(0);
        let kinds = entry.signature.params.iter().enumerate();
        let raw: Vec<lir::Value> = kinds
            .map(|(i, &kind)| self.input(i + 1, Wanted::Raw(kind)))
            .collect();
        let thread = self.lower.thread;
        let room = match self.lower.closed {
            // The omitted frame counts too.
            Some(_) => {
                let (room, one) = (self.lower.room, self.b().iconst(1));
                self.b().op(Opcode::Isub, &[room, one])
            }
            None => self.intrinsic(names::CALL_ROOM, &[thread]),
        };
        let mut operands = vec![thread, function, room];
        operands.extend(&raw);
        let state = self.state();
        if let Some(closed) = self.lower.closed {
            // An exception is raised only in the interpreter, after one of these exits.
            self.exception_cannot_occur();
            return self.call_in_closed(closed, entry, consumed, &operands);
        }
        let (exiting, go, result) = self.call_entry(entry, &operands);
        let before = self.lower.published();
        self.publish();
        let [resume, other, got] = [(); 3].map(|()| self.b().cold_block());
        let object = self.b().param(got, Ty::Ptr);
        self.b().br(exiting, resume, &[], other, &[]);
        self.b().switch_to(resume);
        let token = self.lower.parts.token;
        let token = self.b().address(token);
        let resumed = self.call(RESUME_EXITS, &[thread, token])[0];
        self.b().jump(got, &[resumed]);
        self.b().switch_to(other);
        self.call_with_objects(entry, function, &raw, got);

        // Host code has run: the unit continues only if it is still valid, with a result of the
        // right class.
        self.b().switch_to(got);
        let failed = self.b().is_null(object);
        let raise = self.exception_is_here();
        let ok = self.b().cold_block();
        self.b().br(failed, raise, &[], ok, &[]);
        self.b().switch_to(ok);
        let after = self.exit_with_result(state, consumed, object);
        let valid = self.lower.still_valid();
        let next = self.b().cold_block();
        self.b().br(valid, next, &[], after, &[]);
        self.b().switch_to(next);
        let (host, kind) = (self.lower.host, entry.signature.result);
        let value = unbox(self.b(), host, kind, object, after, true);
        drop_box(self.b(), host, kind, object);
        self.b().jump(go, &[value]);
        self.b().switch_to(go);
        self.lower.forget_published(before);
        result
    }

    /// The same in a closed unit, which deoptimises if the call does.
    fn call_in_closed(
        &mut self,
        closed: Closed<'_>,
        entry: &RawEntry,
        consumed: u32,
        operands: &[lir::Value],
    ) -> lir::Value {
        let state = self.state();
        let (waits, observed) = (ExitKind::Await, Reason::Observed);
        if let Some(body) = closed.body
            && entry.cell == closed.own.cell
        {
            let lower = &mut *self.lower;
            let wait = lower.exit_at_call(waits, observed, state, consumed, None);
            // This exit is not used here. It keeps the numbers of exits the same in the unit and in
            // all bodies.
            lower.exit_block(ExitKind::Resume, observed, state);
            lower.b.func.order.pop();
            return lower.call_inside(body, operands, wait);
        }
        let (exiting, go, result) = self.call_entry(entry, operands);
        let lower = &mut *self.lower;
        let wait = lower.exit_at_call(waits, observed, state, consumed, None);
        let again = lower.exit_block(ExitKind::Resume, observed, state);
        self.b().br(exiting, wait, &[], again, &[]);
        self.b().switch_to(go);
        result
    }

    /// Calls a raw entry, and switches to a cold block for calls that return no value. Returns a
    /// flag that is true there if the callee deoptimised, the block where calls with a value
    /// continue, and that value.
    fn call_entry(
        &mut self,
        entry: &RawEntry,
        operands: &[lir::Value],
    ) -> (lir::Value, lir::Block, lir::Value) {
        let b = self.b();
        let (status, value) = call_cell(b, entry, operands);
        let done = b.icmp_imm(IntCond::Eq, status, VALUE);
        let (left, go) = (b.cold_block(), b.block());
        let result = b.param(go, raw_type(entry.signature.result));
        b.br(done, go, &[value], left, &[]);
        b.switch_to(left);
        (b.icmp_imm(IntCond::Eq, status, EXITING), go, result)
    }

    /// Calls the entry for objects instead, and continues at `got` with its result.
    fn call_with_objects(
        &mut self,
        entry: &RawEntry,
        function: lir::Value,
        raw: &[lir::Value],
        got: lir::Block,
    ) {
        let mut operands = vec![self.lower.thread, function];
        for (&raw, kind) in raw.iter().zip(&entry.signature.params) {
            operands.push(self.intrinsic(boxing(*kind), &[raw]));
        }
        let host = self.lower.host;
        let incref = &host.intrinsics[host.intrinsic(names::INCREF)].func;
        self.b().inline(incref, &[function], None);
        let called = self.lower.call_boxed(entry.boxed_cell, &operands);
        let last = self.b().cold_block();
        let drop = &host.intrinsics[host.intrinsic(names::DROP)].func;
        self.b().inline(drop, &[function], Some(last));
        self.b().jump(got, &[called]);
        self.b().switch_to(last);
        self.call(DEALLOC, &[function]);
        self.b().jump(got, &[called]);
    }

    /// A cold block that deoptimises after the call, with its result. It drops the stack's
    /// reference to the callable.
    fn exit_with_result(
        &mut self,
        state: StateId,
        consumed: u32,
        result: lir::Value,
    ) -> lir::Block {
        let (kind, reason) = (ExitKind::Resume, Reason::Observed);
        let lower = &mut *self.lower;
        let exit = lower.exit_at_call(kind, reason, state, consumed, Some(result));
        let stack = &lower.f.states[state].stack;
        let callable = stack[stack.len() - consumed as usize];
        if !callable.owned {
            return exit;
        }
        let here = lower.b.current();
        let block = lower.b.cold_block();
        lower.b.switch_to(block);
        lower.decref(self.v, callable.value);
        lower.b.jump(exit, &[]);
        lower.b.switch_to(here);
        block
    }
}

impl Lower<'_> {
    /// A body of the unit in place of a call. Its exits are recorded as the call would record them,
    /// then this frame's at `wait`.
    fn call_inside(
        &mut self,
        body: &Func,
        operands: &[lir::Value],
        wait: lir::Block,
    ) -> lir::Value {
        let (go, result) = (self.b.block(), body.signature.results[1]);
        let result = self.b.param(go, result);
        let size = body.slots[RECORD_SLOT as usize];
        let own = &mut self.b.func.slots[RECORD_SLOT as usize];
        *own = size.max(*own);
        // One block for all exits with the same types of values, as in `codegen`.
        let mut shared: Vec<(Vec<Ty>, lir::Block)> = Vec::new();
        self.b
            .copy_body(body, operands, RECORD_SLOT, &mut |b, end| match end {
                End::Return(values) => Term::Jump(BlockCall::new(go, vec![values[1]])),
                End::Exit(exit, mut args) => {
                    let shape: Vec<Ty> = args.iter().map(|v| b.func.values[*v]).collect();
                    let block = match shared.iter().find(|known| known.0 == shape) {
                        Some(known) => known.1,
                        None => {
                            let block = b.cold_block();
                            shared.push((shape, block));
                            block
                        }
                    };
                    args.insert(0, b.iconst(exit.index() as i64));
                    Term::Jump(BlockCall::new(block, args))
                }
                End::Fail => unreachable!("a unit does not fail"),
            });
        for (shape, block) in shared {
            self.b.switch_to(block);
            let number = self.b.param(block, Ty::I64);
            let own = &mut self.b.func.slots[RECORD_SLOT as usize];
            *own = (8 * shape.len() as u32).max(*own);
            let buffer = self.b.stack_addr(RECORD_SLOT);
            for (n, ty) in (0..).zip(shape) {
                let value = self.b.param(block, ty);
                let (width, word) = match ty {
                    Ty::Bool => (Width::I64, self.b.op(Opcode::B2i, &[value])),
                    Ty::I64 => (Width::I64, value),
                    Ty::F64 => (Width::F64, value),
                    Ty::Ptr => (Width::Ptr, value),
                };
                self.b.store(width, buffer, 8 * n, word);
            }
            let token = self.b.address(self.parts.token);
            let helper = self.host.helper(RECORD_EXIT);
            self.b.call(helper, &[token, number, buffer], &[Ty::Ptr]);
            self.b.jump(wait, &[]);
        }
        self.b.switch_to(go);
        result
    }
}

/// The status and the result of a call through a raw entry.
fn call_cell(
    b: &mut Builder<'_>,
    entry: &RawEntry,
    operands: &[lir::Value],
) -> (lir::Value, lir::Value) {
    let cell = b.pconst(entry.cell);
    let target = b.load(Width::Ptr, cell, 0);
    let results = b.call_indirect(raw_signature(&entry.signature), target, operands);
    (results[0], results[1])
}

/// The raw value of an object. Jumps to `other` if it is of another class, or an int that is too
/// large.
fn unbox(
    b: &mut Builder<'_>,
    host: &Host,
    kind: RawKind,
    object: lir::Value,
    other: lir::Block,
    cold: bool,
) -> lir::Value {
    let class = kind
        .boxed()
        .runtime_class()
        .or_else(|| kind.boxed().unique_class_in(host.id))
        .expect("numbers are of one class");
    let intrinsic = |b: &mut Builder<'_>, name: &str, fail| {
        let id = host.intrinsic(name);
        b.inline(&host.intrinsics[id].func, &[object], fail)[0]
    };
    let found = intrinsic(b, names::CLASS_OF, None);
    let class = b.pconst(class.token());
    let same = b.icmp(IntCond::Eq, found, class);
    let next = if cold { b.cold_block() } else { b.block() };
    b.br(same, next, &[], other, &[]);
    b.switch_to(next);
    let fail = (kind == RawKind::Int).then_some(other);
    intrinsic(b, unboxing(kind), fail)
}

/// Drops a reference to an object of a kind.
fn drop_box(b: &mut Builder<'_>, host: &Host, kind: RawKind, object: lir::Value) {
    let name = match kind {
        RawKind::Int => names::DECREF_INT,
        RawKind::Float => names::DECREF_FLOAT,
        RawKind::Bool => return,
    };
    let id = host.intrinsic(name);
    b.inline(&host.intrinsics[id].func, &[object], None);
}

/// The entry for objects of the closed unit of `own`: `(thread, function, objects...) -> object`,
/// with the calling convention of function units.
pub fn adapter(name: &str, own: &RawEntry, host: &Host, token: u64) -> Func {
    let params = vec![Ty::Ptr; own.signature.params.len() + 2];
    let mut func = Func::new(
        format!("objects of {name}"),
        Signature {
            params,
            results: vec![Ty::Ptr],
        },
    );
    let (thread, function) = (func.params()[0], func.params()[1]);
    let objects: Vec<lir::Value> = func.params()[2..].to_vec();
    let mut b = Builder::new(&mut func);
    let token = b.address(token);
    let (other, refused) = (b.cold_block(), b.cold_block());
    let id = host.intrinsic(names::CALL_ROOM);
    let room = b.inline(&host.intrinsics[id].func, &[thread], None)[0];
    let mut operands = vec![thread, function, room];
    for (&object, &kind) in objects.iter().zip(&own.signature.params) {
        operands.push(unbox(&mut b, host, kind, object, other, false));
    }
    let (status, value) = call_cell(&mut b, own, &operands);
    let done = b.icmp_imm(IntCond::Eq, status, VALUE);
    let (go, left, resume) = (b.block(), b.cold_block(), b.cold_block());
    b.br(done, go, &[], left, &[]);
    b.switch_to(left);
    let exiting = b.icmp_imm(IntCond::Eq, status, EXITING);
    b.br(exiting, resume, &[], refused, &[]);

    let drop_all = |b: &mut Builder<'_>| {
        for (&object, &kind) in objects.iter().zip(&own.signature.params) {
            drop_box(b, host, kind, object);
        }
    };
    b.switch_to(go);
    drop_all(&mut b);
    let id = host.intrinsic(boxing(own.signature.result));
    let result = b.inline(&host.intrinsics[id].func, &[value], None);
    b.ret(&result);

    b.switch_to(resume);
    drop_all(&mut b);
    let result = b.call(host.helper(RESUME_EXITS), &[thread, token], &[Ty::Ptr]);
    b.ret(&result);

    for (block, mismatch) in [(other, 1), (refused, 0)] {
        b.switch_to(block);
        let slot = b.slot(8 * objects.len().max(1) as u32);
        let array = b.stack_addr(slot);
        for (i, &object) in objects.iter().enumerate() {
            b.store(Width::Ptr, array, 8 * i as i32, object);
        }
        let (count, mismatch) = (b.iconst(objects.len() as i64), b.iconst(mismatch));
        let helper = host.helper(CALL_BOXED);
        let operands = [thread, function, array, count, token, mismatch];
        let result = b.call(helper, &operands, &[Ty::Ptr]);
        b.ret(&result);
    }
    func
}
